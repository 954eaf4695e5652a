/* near.c - see near.h. Each rank's buffer has a list of its parcels, followed by the bytes of the
 * outgoing ones; bytes that do not fit follow in more rounds, whose number all ranks compute. All
 * ranks compare all lists, so they all find the same mismatch.
 *
 *     round 0   | counts | to, size .. | from, size .. | bytes ..       |
 *     round 1   | bytes ..                                              |    and so on
 *
 * Decision D-comm-01. */
#include "comm/message/near.h"

#include <string.h>

#include "comm/header.h"

typedef struct Entry {
  int64_t rank;
  uint64_t size_bytes;
} Entry;
/* outgoing, then incoming */
typedef struct List {
  uint64_t out_count, in_count;
  Entry entries[];
} List;

enum { MAX_LIST_BYTES = HEADER_BUFFER / 8 }; /* a limit, as each entry is searched for in a list */
#define TOO_MANY UINT64_MAX

/* bytes in round 0; in all rounds */
typedef struct Stream {
  uint64_t first_bytes, total_bytes;
} Stream;

static uint64_t minimum(uint64_t a, uint64_t b) { return a < b ? a : b; }
static uint64_t maximum(uint64_t a, uint64_t b) { return a > b ? a : b; }

typedef struct Trade {
  Comm *comm;
  const Parcel *out, *in;
  int32_t out_count, in_count;
  uint64_t *starts; /* per incoming parcel: its offset in the sender's stream */
  Stream *streams;  /* by rank */
} Trade;

static const List *list_of(const Comm *comm, int32_t rank) {
  return (const List *)(const void *)comm_buffer(comm, rank);
}

static uint64_t list_bytes(uint64_t out_count, uint64_t in_count) {
  return sizeof(List) + (out_count + in_count) * sizeof(Entry);
}

static void write_list(const Trade *t) {
  List *list = (List *)(void *)comm_buffer(t->comm, t->comm->rank);
  *list = (List){(uint64_t)t->out_count, (uint64_t)t->in_count};
  if (list_bytes(list->out_count, list->in_count) > MAX_LIST_BYTES) {
    *list = (List){.out_count = TOO_MANY};
    return;
  }
  for (int32_t k = 0; k < t->out_count; k++)
    list->entries[k] = (Entry){t->out[k].rank, t->out[k].size_bytes};
  for (int32_t k = 0; k < t->in_count; k++)
    list->entries[t->out_count + k] = (Entry){t->in[k].rank, t->in[k].size_bytes};
}

static bool all_fit(const Comm *comm) {
  for (int32_t k = 0; k < comm->size; k++)
    if (list_of(comm, k)->out_count == TOO_MANY) return false;
  return true;
}

/* Finds parcel number `skip` that `from` sends to `to`, and its offset; NULL if there is none. */
static const Entry *find_sent(const Comm *comm, int32_t from, int32_t to, uint64_t skip,
                              uint64_t *start) {
  const List *list = list_of(comm, from);
  *start = 0;
  for (uint64_t k = 0; k < list->out_count; k++) {
    const Entry *entry = &list->entries[k];
    if (entry->rank == to && !skip--) return entry;
    *start += entry->size_bytes;
  }
  return NULL;
}

/* Checks that a rank receives the parcels that it expects. For this rank, also records offsets. */
static bool check_parcels(const Trade *t, int32_t rank, Error *err) {
  const List *list = list_of(t->comm, rank);
  const Entry *expected = list->entries + list->out_count;
  char text[200];
  for (uint64_t k = 0; k < list->in_count; k++) {
    uint64_t skip = 0, start;
    for (uint64_t j = 0; j < k; j++) skip += expected[j].rank == expected[k].rank;
    const Entry *sent = find_sent(t->comm, (int32_t)expected[k].rank, rank, skip, &start);
    if (rank == t->comm->rank) t->starts[k] = start;
    if (sent && sent->size_bytes == expected[k].size_bytes) continue;
    Parcel parcel = {(int32_t)expected[k].rank, NULL, expected[k].size_bytes};
    comm_parcel_differs(text, sizeof text, rank, &parcel, sent ? sent->size_bytes : 0);
    return error_set(err, RG_ERROR_RANK, "%s", text);
  }
  return true;
}

static Stream stream_of(const Comm *comm, int32_t rank) {
  const List *list = list_of(comm, rank);
  Stream stream = {.first_bytes = HEADER_BUFFER - list_bytes(list->out_count, list->in_count)};
  for (uint64_t k = 0; k < list->out_count; k++) stream.total_bytes += list->entries[k].size_bytes;
  return stream;
}

static bool plan_rounds(const Trade *t, Error *err) {
  for (int32_t k = 0; k < t->comm->size; k++) {
    if (!check_parcels(t, k, err)) return false;
    t->streams[k] = stream_of(t->comm, k);
  }
  return true;
}

/* In this round, bytes from..past of a stream are in the buffer, at offset `at`. */
typedef struct Part {
  uint64_t from, past, at;
} Part;
static Part part_of(const Stream *stream, uint64_t round) {
  Part part = {.past = stream->first_bytes, .at = HEADER_BUFFER - stream->first_bytes};
  if (round) {
    part.from = stream->first_bytes + (round - 1) * HEADER_BUFFER;
    part.past = part.from + HEADER_BUFFER;
    part.at = 0;
  }
  part.past = minimum(part.past, stream->total_bytes);
  return part;
}

/* Copies the bytes of a parcel at offset `start` that are in the part, to or from the buffer. */
static void copy_overlap(uint8_t *buffer, Part part, const Parcel *parcel, uint64_t start,
                         bool is_out) {
  uint64_t from = maximum(part.from, start), past = minimum(part.past, start + parcel->size_bytes);
  if (from >= past) return;
  uint8_t *in_buffer = buffer + part.at + (from - part.from);
  uint8_t *in_parcel = (uint8_t *)parcel->bytes + (from - start);
  memcpy(is_out ? in_buffer : in_parcel, is_out ? in_parcel : in_buffer, past - from);
}

static void write_part(const Trade *t, const Stream *stream, uint64_t round) {
  Part part = part_of(stream, round);
  uint64_t start = 0;
  for (int32_t k = 0; k < t->out_count; k++) {
    copy_overlap(comm_buffer(t->comm, t->comm->rank), part, &t->out[k], start, true);
    start += t->out[k].size_bytes;
  }
}

static void read_parts(const Trade *t, uint64_t round) {
  for (int32_t k = 0; k < t->in_count; k++) {
    int32_t rank = t->in[k].rank;
    copy_overlap(comm_buffer(t->comm, rank), part_of(&t->streams[rank], round), &t->in[k],
                 t->starts[k], false);
  }
}

static uint64_t count_rounds(const Trade *t) {
  uint64_t most = 1;
  for (int32_t k = 0; k < t->comm->size; k++) {
    const Stream *stream = &t->streams[k];
    if (stream->total_bytes <= stream->first_bytes) continue;
    uint64_t left = stream->total_bytes - stream->first_bytes;
    most = maximum(most, 1 + (left + HEADER_BUFFER - 1) / HEADER_BUFFER);
  }
  return most;
}

static bool run_trade(const Trade *t, bool *is_done, Error *err) {
  Comm *comm = t->comm;
  if (!comm_pass_begin(comm, CALL_TRADE, err)) return false;
  write_list(t);
  if (list_of(comm, comm->rank)->out_count != TOO_MANY) {
    Stream mine = stream_of(comm, comm->rank);
    write_part(t, &mine, 0);
  }
  if (!comm_pass(comm, CALL_TRADE, 0, err)) return false;
  *is_done = all_fit(comm);
  if (!*is_done) return true;
  if (!plan_rounds(t, err)) return false;
  read_parts(t, 0);
  uint64_t rounds = count_rounds(t);
  for (uint64_t round = 1; round < rounds; round++) {
    if (!comm_pass_begin(comm, CALL_TRADE, err)) return false;
    write_part(t, &t->streams[comm->rank], round);
    if (!comm_pass(comm, CALL_TRADE, 0, err)) return false;
    read_parts(t, round);
  }
  return true;
}

bool near_trade(Comm *comm, const Parcel *out, int32_t out_count, const Parcel *in,
                int32_t in_count, bool *is_done, Error *err) {
  Trade trade = {.comm = comm,
                 .out = out,
                 .in = in,
                 .out_count = out_count,
                 .in_count = in_count,
                 .starts = heap_alloc(comm->heap, ((size_t)in_count + 1) * sizeof(uint64_t)),
                 .streams = heap_alloc(comm->heap, (size_t)comm->size * sizeof(Stream))};
  *is_done = true;
  if (!trade.starts || !trade.streams) comm_abort(comm, "the host has no memory left");
  bool ok = run_trade(&trade, is_done, err);
  heap_free(comm->heap, trade.starts);
  heap_free(comm->heap, trade.streams);
  return ok;
}
