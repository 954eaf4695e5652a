/* far.c - see far.h. A rank has one file for what it sends, which is written before one collective
 * call and read before the next: so no rank rewrites its file, or ends, while others read it.
 *
 *     count | rank, offset, size of each parcel | parcels */
#include "comm/message/far.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "comm/header.h"
#include "comm/window/share.h"

typedef struct Entry {
  int64_t rank;
  uint64_t offset, size_bytes;
} Entry;

static bool transfer(int file, uint64_t at, void *to, const void *from, uint64_t size_bytes) {
  for (uint64_t done = 0; done < size_bytes;) {
    uint64_t left = size_bytes - done;
    ssize_t transferred = to ? pread(file, (uint8_t *)to + done, left, (off_t)(at + done))
                             : pwrite(file, (const uint8_t *)from + done, left, (off_t)(at + done));
    if (transferred < 0 && errno == EINTR) continue;
    if (transferred <= 0) return false;
    done += (uint64_t)transferred;
  }
  return true;
}

bool far_reach(Origin origin, uint64_t at, void *to, const void *from, uint64_t size_bytes,
               Error *err) {
  int file = share_open_file(origin.process, origin.file, err);
  if (file < 0) return false;
  bool ok = transfer(file, at, to, from, size_bytes) ||
            error_set(err, RG_ERROR_RANK, "the memory of process %d cannot be %s (%s)",
                      origin.process, to ? "read" : "written", strerror(errno));
  close(file);
  return ok;
}

/* -- sending ----------------------------------------------------------------------------------- */

static int open_outbox(Comm *comm, Error *err) {
  if (comm->outbox < 0) comm->outbox = share_create_growing(err);
  return comm->outbox;
}

static bool write_parcels(int file, const Parcel *out, int32_t count, Error *err) {
  uint64_t at = 8, offset = 8 + (uint64_t)count * sizeof(Entry), number = (uint64_t)count;
  bool ok = transfer(file, 0, NULL, &number, 8);
  for (int32_t k = 0; ok && k < count; k++) {
    Entry entry = {out[k].rank, offset, out[k].size_bytes};
    ok = transfer(file, at, NULL, &entry, sizeof entry) &&
         transfer(file, offset, NULL, out[k].bytes, out[k].size_bytes);
    at += sizeof entry;
    offset += out[k].size_bytes;
  }
  return ok || error_set(err, RG_ERROR_MEMORY, "the system has no shared memory left for parcels");
}

/* -- receiving --------------------------------------------------------------------------------- */

static bool differs(Comm *comm, const Parcel *parcel, uint64_t size_bytes, Error *err) {
  char text[200];
  comm_parcel_differs(text, sizeof text, comm->rank, parcel, size_bytes);
  return error_set(err, RG_ERROR_RANK, "%s", text);
}

/* Reads `in`, which is number `skip` of the parcels that its rank sends here. */
static bool read_parcel(Comm *comm, int file, int32_t skip, const Parcel *in, Error *err) {
  uint64_t count = 0;
  Entry entry;
  bool ok = transfer(file, 0, &count, NULL, 8);
  for (uint64_t k = 0; ok && k < count; k++) {
    ok = transfer(file, 8 + k * sizeof entry, &entry, NULL, sizeof entry);
    if (!ok || entry.rank != comm->rank || skip-- > 0) continue;
    if (entry.size_bytes != in->size_bytes) return differs(comm, in, entry.size_bytes, err);
    ok = transfer(file, entry.offset, in->bytes, NULL, in->size_bytes);
    if (ok) return true;
  }
  if (ok) return differs(comm, in, 0, err);
  return error_set(err, RG_ERROR_RANK, "the parcels of rank %d cannot be read (%s)", in->rank,
                   strerror(errno));
}

static bool read_parcels(Comm *comm, const uint8_t *origins, const Parcel *in, int32_t count,
                         Error *err) {
  bool ok = true;
  for (int32_t k = 0; ok && k < count; k++) {
    Origin origin;
    int32_t skip = 0;
    for (int32_t j = 0; j < k; j++) skip += in[j].rank == in[k].rank;
    memcpy(&origin, origins + (size_t)in[k].rank * CALL_BYTES, sizeof origin);
    int file = in[k].rank == comm->rank ? dup(origin.file)
                                        : share_open_file(origin.process, origin.file, err);
    ok = file >= 0 && read_parcel(comm, file, skip, &in[k], err);
    if (file >= 0) close(file);
  }
  return ok;
}

bool far_trade(Comm *comm, const Parcel *out, int32_t out_count, const Parcel *in, int32_t in_count,
               Error *err) {
  Error why = {0};
  uint8_t *origins = heap_alloc(comm->heap, (size_t)comm->size * CALL_BYTES);
  if (!origins) error_set(&why, RG_ERROR_MEMORY, "the host has no memory left");
  Origin mine = {(int32_t)getpid(), open_outbox(comm, &why)};
  if (mine.file >= 0) write_parcels(mine.file, out, out_count, &why);
  CallOptions call = {.call = CALL_TRADE, .mine = &mine, .mine_bytes = sizeof mine, .failed = &why};
  bool ok = comm_call(comm, &call, origins, err);
  if (ok) read_parcels(comm, origins, in, in_count, &why);
  CallOptions done = {.call = CALL_TRADE, .failed = &why};
  ok = ok && comm_call(comm, &done, NULL, err);
  heap_free(comm->heap, origins);
  return ok;
}
