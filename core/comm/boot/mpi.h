/* mpi.h - a rank that MPI started, shared by mpi.c and mpi_far.c only. */
#ifndef RG_COMM_BOOT_MPI_H
#define RG_COMM_BOOT_MPI_H

#include "comm/boot/boot.h"
#include "comm/boot/mpi_plugin.h"

typedef struct Peer {
  int watch; /* a pidfd; -1: on another host, or this process */
  bool has_left;
  uint64_t doing; /* the call in which it waits, or its last call, as it reported */
} Peer;

typedef struct Mpi {
  Boot boot;
  const MpiPlugin *plugin;
  Peer *peers;
  int64_t began_ms;   /* when the current wait began */
  bool has_requested; /* has asked the others in the current wait */
  bool is_lost, has_left;
  char why[MPI_SENTENCE];
  struct Link *links; /* mpi_far.c: links of earlier trades, newest first */
} Mpi;

/* Handles notes; false with err if ranks are lost. */
bool mpi_check(Mpi *mpi, Error *err);
/* Waits for work; NULL: it could not be started, because of `why`. */
bool mpi_finish(Mpi *mpi, MpiWork *work, const char *why, Error *err);
/* Marks all ranks as lost, and tells them. */
bool mpi_fail(Mpi *mpi, const char *sentence, Error *err);

/* mpi_far.c: the table's functions for ranks of different teams. */
bool mpi_all_to_all(Boot *boot, const void *parts, uint64_t size_bytes, void *all, Error *err);
bool mpi_broadcast(Boot *boot, int32_t root, void *bytes, uint64_t size_bytes, Error *err);
bool mpi_trade(Boot *boot, const Parcel *out, int32_t out_count, const Parcel *in, int32_t in_count,
               Error *err);
void *mpi_expose(Boot *boot, void *memory, uint64_t size_bytes, Error *err);
void mpi_unexpose(Boot *boot, void *exposed);
bool mpi_reach(Boot *boot, void *exposed, int32_t rank, uint64_t at, void *to, const void *from,
               uint64_t size_bytes, Error *err);
void mpi_forget_links(Mpi *mpi);

#endif
