/* mpi_plugin.c - see mpi_plugin.h: the only file that uses MPI, and independent of all other files.
 * Decision D-comm-10. */
#include "comm/boot/mpi_plugin.h"

#include <limits.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if !defined(__clang__) /* MPICH's "no statuses" is an address that is declared as an array */
#pragma GCC diagnostic ignored "-Wstringop-overflow"
#endif

enum { TAG_NOTE = 1, TAG_PARCEL = 2, GRACE_MS = 2000, PART = 1 << 30 };

static struct {
  /* separate communicators, so that messages of the host program do not mix with ours */
  MPI_Comm calls, notes;
  int rank, size;
  pid_t process;
  bool is_begun, is_ours; /* is_ours: we initialised MPI */
  MpiNote farewell;       /* the last farewell sent; number 0: none */
  struct SentNote *sent;
} mpi;

static bool check(int code, const char *what, char *why) {
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  if (code == MPI_SUCCESS) return true;
  MPI_Error_string(code, text, &length);
  snprintf(why, MPI_WHY, "%.70s: %.160s", what, text);
  return false;
}

static bool no_memory(char *why) {
  snprintf(why, MPI_WHY, "the host has no memory left");
  return false;
}

/* -- notes ------------------------------------------------------------------------------------- */

typedef struct SentNote {
  struct SentNote *next;
  MPI_Request request;
  MpiNote note;
} SentNote;

/* Frees notes whose sends have completed. */
static void free_sent_notes(void) {
  for (SentNote **link = &mpi.sent; *link;) {
    SentNote *sent = *link;
    int has_left = 0;
    if (MPI_Test(&sent->request, &has_left, MPI_STATUS_IGNORE) || !has_left) {
      link = &sent->next;
      continue;
    }
    *link = sent->next;
    free(sent);
  }
}

static bool send_note(int32_t rank, const MpiNote *note, char *why) {
  free_sent_notes();
  SentNote *sent = malloc(sizeof *sent);
  if (!sent) return no_memory(why);
  sent->note = *note;
  if (note->kind == MPI_NOTE_FAREWELL) mpi.farewell = *note;
  if (!check(MPI_Isend(&sent->note, sizeof sent->note, MPI_BYTE, rank, TAG_NOTE, mpi.notes,
                       &sent->request),
             "MPI_Isend", why)) {
    free(sent);
    return false;
  }
  sent->next = mpi.sent;
  mpi.sent = sent;
  return true;
}

static bool receive_note(int32_t *rank, MpiNote *note, char *why) {
  int is_found = 0;
  MPI_Status status;
  *rank = -1;
  if (!check(MPI_Iprobe(MPI_ANY_SOURCE, TAG_NOTE, mpi.notes, &is_found, &status), "MPI_Iprobe",
             why))
    return false;
  if (!is_found) return true;
  *rank = status.MPI_SOURCE;
  return check(MPI_Recv(note, sizeof *note, MPI_BYTE, status.MPI_SOURCE, TAG_NOTE, mpi.notes,
                        MPI_STATUS_IGNORE),
               "MPI_Recv", why);
}

/* -- begin and end ----------------------------------------------------------------------------- */

static void notify_end(int code) {
  MpiNote note = {.kind = MPI_NOTE_ENDED, .code = code};
  char why[MPI_WHY];
  for (int k = 0; k < mpi.size; k++)
    if (k != mpi.rank) send_note(k, &note, why);
}

/* Notifies ranks that wait, according to their notes, that this one is about to end. */
static void answer_notes(void) {
  int32_t rank;
  MpiNote note;
  char why[MPI_WHY];
  while (mpi.farewell.number && receive_note(&rank, &note, why) && rank >= 0)
    if (note.kind == MPI_NOTE_DOING) send_note(rank, &mpi.farewell, why);
}

/* Waits for all ranks to reach their end; false if they do not. */
static bool wait_for_end(bool has_failed) {
  MPI_Request request;
  int is_complete = 0;
  if (MPI_Ibarrier(mpi.notes, &request)) return false;
  for (int ms = 0; !is_complete && !(has_failed && ms > GRACE_MS); ms++) {
    if (MPI_Test(&request, &is_complete, MPI_STATUS_IGNORE)) return false;
    free_sent_notes();
    answer_notes();
    if (!is_complete) usleep(1000);
  }
  return is_complete;
}

static void finalize(int code, void *unused) {
  int is_final = 0;
  (void)unused;
  if (!mpi.is_ours || getpid() != mpi.process || MPI_Finalized(&is_final) || is_final) return;
  if (code) notify_end(code);
  if (wait_for_end(code != 0)) MPI_Finalize();
  else MPI_Abort(MPI_COMM_WORLD, code ? code : 1);
}

static bool begin_mpi(char *why) {
  int is_found = 0, given;
  if (!check(MPI_Initialized(&is_found), "MPI_Initialized", why)) return false;
  if (is_found) return true;
  /* Open MPI 4.1 may choose a component for windows that does not support ours; exclude it. */
  setenv("OMPI_MCA_osc", "^sm", 0);
  if (!check(MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &given), "MPI_Init_thread", why))
    return false;
  mpi.is_ours = true;
  mpi.process = getpid();
  on_exit(finalize, NULL);
  return true;
}

static bool begin(int32_t *rank, int32_t *size, char *why) {
  if (mpi.is_begun) {
    snprintf(why, MPI_WHY, "MPI was begun before");
    return false;
  }
  mpi.is_begun = true;
  if (!begin_mpi(why)) return false;
  if (!check(MPI_Comm_dup(MPI_COMM_WORLD, &mpi.calls), "MPI_Comm_dup", why) ||
      !check(MPI_Comm_dup(MPI_COMM_WORLD, &mpi.notes), "MPI_Comm_dup", why))
    return false;
  MPI_Comm_set_errhandler(mpi.calls, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(mpi.notes, MPI_ERRORS_RETURN);
  MPI_Comm_rank(mpi.calls, &mpi.rank);
  MPI_Comm_size(mpi.calls, &mpi.size);
  *rank = mpi.rank;
  *size = mpi.size;
  return true;
}

/* -- work -------------------------------------------------------------------------------------- */

struct MpiWork {
  MPI_Request *requests;
  MPI_Status *statuses;
  int count;
  bool is_link;
  uint8_t *stage, *from; /* received data, within `stage` */
  void *to;
  uint64_t to_bytes;
};

static void free_work(MpiWork *work) {
  free(work->requests);
  free(work->statuses);
  free(work->stage);
  free(work);
}

static MpiWork *new_work(int count, uint64_t stage_bytes, char *why) {
  MpiWork *work = calloc(1, sizeof *work);
  if (work) {
    work->requests = calloc((size_t)count + 1, sizeof *work->requests);
    work->statuses = calloc((size_t)count + 1, sizeof *work->statuses);
    work->stage = aligned_alloc(64, (stage_bytes + 127) / 64 * 64);
    if (work->requests && work->statuses && work->stage) return work;
    free_work(work);
  }
  no_memory(why);
  return NULL;
}

static bool is_small(uint64_t size_bytes, char *why) {
  if (size_bytes <= INT_MAX) return true;
  snprintf(why, MPI_WHY, "%llu bytes are too many for one call", (unsigned long long)size_bytes);
  return false;
}

/* Work with a copy of `mine`; `all_bytes` are received after it, and then copied to `to`. */
static MpiWork *new_call(const void *mine, uint64_t mine_bytes, void *to, uint64_t all_bytes,
                         char *why) {
  MpiWork *work = new_work(1, mine_bytes + all_bytes, why);
  if (!work) return NULL;
  work->count = 1;
  work->from = work->stage + mine_bytes;
  work->to = to;
  work->to_bytes = all_bytes;
  if (mine_bytes) memcpy(work->stage, mine, mine_bytes);
  return work;
}

static MpiWork *started(MpiWork *work, int code, const char *what, char *why) {
  if (check(code, what, why)) return work;
  free_work(work);
  return NULL;
}

static MpiWork *gather(const void *mine, uint64_t size_bytes, void *all, char *why) {
  if (!is_small(size_bytes, why)) return NULL;
  MpiWork *work = new_call(mine, size_bytes, all, size_bytes * (uint64_t)mpi.size, why);
  if (!work) return NULL;
  int code = MPI_Iallgather(work->stage, (int)size_bytes, MPI_BYTE, work->from, (int)size_bytes,
                            MPI_BYTE, mpi.calls, work->requests);
  return started(work, code, "MPI_Iallgather", why);
}

static MpiWork *all_to_all(const void *parts, uint64_t size_bytes, void *all, char *why) {
  uint64_t total = size_bytes * (uint64_t)mpi.size;
  if (!is_small(size_bytes, why)) return NULL;
  MpiWork *work = new_call(parts, total, all, total, why);
  if (!work) return NULL;
  int code = MPI_Ialltoall(work->stage, (int)size_bytes, MPI_BYTE, work->from, (int)size_bytes,
                           MPI_BYTE, mpi.calls, work->requests);
  return started(work, code, "MPI_Ialltoall", why);
}

static MpiWork *broadcast(int32_t root, void *bytes, uint64_t size_bytes, char *why) {
  if (!is_small(size_bytes, why)) return NULL;
  MpiWork *work = new_call(NULL, 0, bytes, size_bytes, why);
  if (!work) return NULL;
  if (mpi.rank == root && size_bytes) memcpy(work->from, bytes, size_bytes);
  int code = MPI_Ibcast(work->from, (int)size_bytes, MPI_BYTE, root, mpi.calls, work->requests);
  return started(work, code, "MPI_Ibcast", why);
}

static MpiWork *maximum(uint64_t *words, int32_t count, char *why) {
  uint64_t bytes = (uint64_t)count * sizeof *words;
  MpiWork *work = new_call(words, bytes, words, bytes, why);
  if (!work) return NULL;
  int code = MPI_Iallreduce(work->stage, work->from, count, MPI_UINT64_T, MPI_MAX, mpi.calls,
                            work->requests);
  return started(work, code, "MPI_Iallreduce", why);
}

/* Tests all requests; of several that ended at once, reports the first failure. */
static bool test_all(MpiWork *work, int *done, char *why) {
  int code = MPI_Testall(work->count, work->requests, done, work->statuses);
  for (int k = 0; code == MPI_ERR_IN_STATUS && k < work->count; k++) {
    int of_one = work->statuses[k].MPI_ERROR;
    if (of_one == MPI_SUCCESS || of_one == MPI_ERR_PENDING) continue;
    char what[80];
    snprintf(what, sizeof what, "a message to or from rank %d", work->statuses[k].MPI_SOURCE);
    return check(of_one, what, why);
  }
  return check(code, "MPI_Testall", why);
}

static bool test(MpiWork *work, bool *is_done, char *why) {
  int done = 0;
  if (!test_all(work, &done, why)) return false;
  *is_done = done;
  if (!done || work->is_link) return true;
  if (work->to_bytes) memcpy(work->to, work->from, work->to_bytes);
  free_work(work);
  return true;
}

/* -- links ------------------------------------------------------------------------------------- */

static uint64_t next_parcel(uint64_t at, const MpiParcel *parcel) {
  return at + (parcel->size_bytes + 63) / 64 * 64;
}

static bool add_sizes(const MpiParcel *parcels, int32_t count, uint64_t *total, char *why) {
  for (int32_t k = 0; k < count; k++) {
    if (!is_small(parcels[k].size_bytes, why)) return false;
    *total = next_parcel(*total, &parcels[k]);
  }
  return true;
}

static void unlink_parcels(MpiWork *link) {
  for (int k = 0; k < link->count; k++) MPI_Request_free(&link->requests[k]);
  free_work(link);
}

static int send_init(uint8_t *at, int size, int rank, int tag, MPI_Request *request) {
  return MPI_Send_init(at, size, MPI_BYTE, rank, tag, mpi.calls, request);
}

static int receive_init(uint8_t *at, int size, int rank, int tag, MPI_Request *request) {
  return MPI_Recv_init(at, size, MPI_BYTE, rank, tag, mpi.calls, request);
}

/* Each parcel with the same rank has its own tag, as MPI may start them in any order. */
static int tag_of(const MpiParcel *parcels, int32_t k) {
  int tag = TAG_PARCEL;
  for (int32_t j = 0; j < k; j++) tag += parcels[j].rank == parcels[k].rank;
  return tag;
}

static MpiWork *link_parcels(const MpiParcel *out, int32_t out_count, const MpiParcel *in,
                             int32_t in_count, uint8_t **stage, char *why) {
  uint64_t total = 0, at = 0;
  if (!add_sizes(out, out_count, &total, why) || !add_sizes(in, in_count, &total, why)) return NULL;
  MpiWork *link = new_work(out_count + in_count, total, why);
  if (!link) return NULL;
  link->is_link = true;
  *stage = link->stage;
  bool ok = true;
  for (int32_t k = 0; ok && k < out_count + in_count; k++) {
    bool is_out = k < out_count;
    const MpiParcel *parcel = is_out ? &out[k] : &in[k - out_count];
    int size = (int)parcel->size_bytes, tag = is_out ? tag_of(out, k) : tag_of(in, k - out_count);
    int code = (is_out ? send_init : receive_init)(link->stage + at, size, parcel->rank, tag,
                                                   &link->requests[k]);
    ok = check(code, "a persistent request of MPI", why);
    if (ok) link->count++;
    at = next_parcel(at, parcel);
  }
  if (ok) return link;
  unlink_parcels(link);
  return NULL;
}

static bool start(MpiWork *link, char *why) {
  return !link->count || check(MPI_Startall(link->count, link->requests), "MPI_Startall", why);
}

/* -- exposed memory ---------------------------------------------------------------------------- */

struct MpiExposed {
  MPI_Win window;
};

static MpiExposed *expose(void *memory, uint64_t size_bytes, char *why) {
  MpiExposed *exposed = malloc(sizeof *exposed);
  if (!exposed) { /* the others wait for this rank */
    no_memory(why);
    return NULL;
  }
  if (!check(MPI_Win_create(memory, (MPI_Aint)size_bytes, 1, MPI_INFO_NULL, mpi.calls,
                            &exposed->window),
             "MPI_Win_create", why)) {
    free(exposed);
    return NULL;
  }
  MPI_Win_set_errhandler(exposed->window, MPI_ERRORS_RETURN);
  if (check(MPI_Win_lock_all(MPI_MODE_NOCHECK, exposed->window), "MPI_Win_lock_all", why))
    return exposed;
  MPI_Win_free(&exposed->window);
  free(exposed);
  return NULL;
}

static void unexpose(MpiExposed *exposed) {
  MPI_Win_unlock_all(exposed->window);
  MPI_Win_free(&exposed->window);
  free(exposed);
}

static bool put(MpiExposed *exposed, int32_t rank, uint64_t at, const void *bytes,
                uint64_t size_bytes, char *why) {
  bool ok = true;
  for (uint64_t done = 0; ok && done < size_bytes; done += PART) {
    int part = (int)(size_bytes - done < PART ? size_bytes - done : PART);
    ok = check(MPI_Put((const uint8_t *)bytes + done, part, MPI_BYTE, rank, (MPI_Aint)(at + done),
                       part, MPI_BYTE, exposed->window),
               "MPI_Put", why);
  }
  return ok && check(MPI_Win_flush(rank, exposed->window), "MPI_Win_flush", why);
}

static bool get(MpiExposed *exposed, int32_t rank, uint64_t at, void *bytes, uint64_t size_bytes,
                char *why) {
  bool ok = true;
  for (uint64_t done = 0; ok && done < size_bytes; done += PART) {
    int part = (int)(size_bytes - done < PART ? size_bytes - done : PART);
    ok = check(MPI_Get((uint8_t *)bytes + done, part, MPI_BYTE, rank, (MPI_Aint)(at + done), part,
                       MPI_BYTE, exposed->window),
               "MPI_Get", why);
  }
  return ok && check(MPI_Win_flush(rank, exposed->window), "MPI_Win_flush", why);
}

/* -- the table --------------------------------------------------------------------------------- */

static const MpiPlugin table = {.version = MPI_PLUGIN_VERSION,
                                .begin = begin,
                                .gather = gather,
                                .all_to_all = all_to_all,
                                .broadcast = broadcast,
                                .maximum = maximum,
                                .test = test,
                                .link = link_parcels,
                                .start = start,
                                .unlink = unlink_parcels,
                                .send_note = send_note,
                                .receive_note = receive_note,
                                .expose = expose,
                                .unexpose = unexpose,
                                .put = put,
                                .get = get};

__attribute__((visibility("default"))) const MpiPlugin *regolith_mpi_plugin(void);
const MpiPlugin *regolith_mpi_plugin(void) { return &table; }
