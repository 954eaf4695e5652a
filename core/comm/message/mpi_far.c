/* mpi_far.c - communication with MPI ranks whose memory is not accessible: parcels use persistent
 * requests, which the next trade with the same ranks and sizes reuses; memory uses MPI's windows.
 *
 * A parcel begins with a stamp, the number of its call and its size, so that the receiver detects a
 * parcel for another call, or of another size. */
#include <stdio.h>
#include <string.h>

#include "base/bits.h"
#include "comm/header.h"
#include "comm/boot/mpi.h"

enum { MAX_LINKS = 32 };

typedef struct Stamp {
  uint64_t doing, size_bytes;
} Stamp;

typedef struct Link {
  struct Link *next;
  MpiWork *work;
  uint8_t *stage;
  int32_t out_count, in_count;
  MpiParcel parcels[]; /* the outgoing, then the incoming parcels; each with its stamp */
} Link;

/* -- links ------------------------------------------------------------------------------------- */

static void drop_link(Mpi *mpi, Link **at) {
  Link *link = *at;
  *at = link->next;
  mpi->plugin->unlink(link->work);
  heap_free(mpi->boot.heap, link);
}

/* Frees all links, except of a trade that was running when ranks were lost: MPI may still write
 * there. */
void mpi_forget_links(Mpi *mpi) {
  while (mpi->links && !mpi->is_lost) drop_link(mpi, &mpi->links);
}

static bool matches(const MpiParcel *linked, const Parcel *parcels, int32_t count) {
  for (int32_t k = 0; k < count; k++)
    if (linked[k].rank != parcels[k].rank ||
        linked[k].size_bytes != parcels[k].size_bytes + sizeof(Stamp))
      return false;
  return true;
}

/* Finds a link, and moves it to the front. */
static Link *find_link(Mpi *mpi, const Parcel *out, int32_t out_count, const Parcel *in,
                       int32_t in_count) {
  int count = 0;
  for (Link **at = &mpi->links; *at; at = &(*at)->next, count++) {
    Link *link = *at;
    if (link->out_count == out_count && link->in_count == in_count &&
        matches(link->parcels, out, out_count) &&
        matches(link->parcels + out_count, in, in_count)) {
      *at = link->next;
      link->next = mpi->links;
      return mpi->links = link;
    }
    if (count < MAX_LINKS) continue;
    drop_link(mpi, at);
    break;
  }
  return NULL;
}

static Link *add_link(Mpi *mpi, const Parcel *out, int32_t out_count, const Parcel *in,
                      int32_t in_count, char *why) {
  int32_t count = out_count + in_count;
  Link *link = heap_alloc(mpi->boot.heap, sizeof *link + (size_t)count * sizeof(MpiParcel));
  if (!link) {
    snprintf(why, MPI_WHY, "the host has no memory left");
    return NULL;
  }
  link->out_count = out_count;
  link->in_count = in_count;
  for (int32_t k = 0; k < count; k++) {
    const Parcel *parcel = k < out_count ? &out[k] : &in[k - out_count];
    link->parcels[k] = (MpiParcel){parcel->rank, parcel->size_bytes + sizeof(Stamp)};
  }
  link->work = mpi->plugin->link(link->parcels, out_count, link->parcels + out_count, in_count,
                                 &link->stage, why);
  if (!link->work) {
    heap_free(mpi->boot.heap, link);
    return NULL;
  }
  link->next = mpi->links;
  return mpi->links = link;
}

/* -- trade ------------------------------------------------------------------------------------- */

static uint8_t *pack(Mpi *mpi, const Parcel *out, int32_t count, uint8_t *at) {
  for (int32_t k = 0; k < count; k++) {
    Stamp stamp = {mpi->boot.doing, out[k].size_bytes};
    memcpy(at, &stamp, sizeof stamp);
    if (out[k].size_bytes) memcpy(at + sizeof stamp, out[k].bytes, out[k].size_bytes);
    at += align_up(sizeof stamp + out[k].size_bytes, 64);
  }
  return at;
}

static bool unpack(Mpi *mpi, const Parcel *in, int32_t count, const uint8_t *at, Error *err) {
  char text[MPI_SENTENCE];
  for (int32_t k = 0; k < count; k++) {
    Stamp stamp;
    memcpy(&stamp, at, sizeof stamp);
    if (stamp.doing != mpi->boot.doing) {
      snprintf(text, sizeof text,
               "ranks do not make the same calls: rank %d awaits parcels of "
               "call %llu of rank %d, which is in call %llu, '%s'",
               mpi->boot.rank, (unsigned long long)(mpi->boot.doing / CALL_COUNT), in[k].rank,
               (unsigned long long)(stamp.doing / CALL_COUNT),
               call_words[stamp.doing % CALL_COUNT]);
      return mpi_fail(mpi, text, err);
    }
    if (stamp.size_bytes != in[k].size_bytes) {
      comm_parcel_differs(text, sizeof text, mpi->boot.rank, &in[k], stamp.size_bytes);
      return mpi_fail(mpi, text, err);
    }
    if (in[k].size_bytes) memcpy(in[k].bytes, at + sizeof stamp, in[k].size_bytes);
    at += align_up(sizeof stamp + in[k].size_bytes, 64);
  }
  return true;
}

bool mpi_trade(Boot *boot, const Parcel *out, int32_t out_count, const Parcel *in, int32_t in_count,
               Error *err) {
  Mpi *mpi = (Mpi *)boot;
  char why[MPI_WHY];
  if (!mpi_check(mpi, err)) return false;
  Link *link = find_link(mpi, out, out_count, in, in_count);
  if (!link) link = add_link(mpi, out, out_count, in, in_count, why);
  if (!link) return mpi_fail(mpi, why, err);
  const uint8_t *received = pack(mpi, out, out_count, link->stage);
  if (!mpi->plugin->start(link->work, why)) return mpi_fail(mpi, why, err);
  return mpi_finish(mpi, link->work, NULL, err) && unpack(mpi, in, in_count, received, err);
}

/* -- the other functions ----------------------------------------------------------------------- */

bool mpi_all_to_all(Boot *boot, const void *parts, uint64_t size_bytes, void *all, Error *err) {
  Mpi *mpi = (Mpi *)boot;
  char why[MPI_WHY];
  return mpi_check(mpi, err) &&
         mpi_finish(mpi, mpi->plugin->all_to_all(parts, size_bytes, all, why), why, err);
}

bool mpi_broadcast(Boot *boot, int32_t root, void *bytes, uint64_t size_bytes, Error *err) {
  Mpi *mpi = (Mpi *)boot;
  char why[MPI_WHY];
  return mpi_check(mpi, err) &&
         mpi_finish(mpi, mpi->plugin->broadcast(root, bytes, size_bytes, why), why, err);
}

void *mpi_expose(Boot *boot, void *memory, uint64_t size_bytes, Error *err) {
  char why[MPI_WHY];
  MpiExposed *exposed = ((Mpi *)boot)->plugin->expose(memory, size_bytes, why);
  if (!exposed)
    error_set(err, RG_ERROR_RANK, "MPI cannot create a window of %llu bytes: %s",
              (unsigned long long)size_bytes, why);
  return exposed;
}

void mpi_unexpose(Boot *boot, void *exposed) { ((Mpi *)boot)->plugin->unexpose(exposed); }

bool mpi_reach(Boot *boot, void *exposed, int32_t rank, uint64_t at, void *to, const void *from,
               uint64_t size_bytes, Error *err) {
  const MpiPlugin *plugin = ((Mpi *)boot)->plugin;
  char why[MPI_WHY];
  if (!mpi_check((Mpi *)boot, err)) return false;
  if (to ? plugin->get(exposed, rank, at, to, size_bytes, why)
         : plugin->put(exposed, rank, at, from, size_bytes, why))
    return true;
  return error_set(err, RG_ERROR_RANK, "the memory of rank %d is not accessible: %s", rank, why);
}
