/* symmetric_heap.h - a symmetric heap: device memory that the processes of one machine share. This
 * is what a device provides for windows (room comm). Each process reserves addresses of the device,
 * and maps other processes' memory there by file descriptors. `data` is the device. One thread at a
 * time. Decision D-comm-05. */
#ifndef RG_MEMORY_SYMMETRIC_HEAP_H
#define RG_MEMORY_SYMMETRIC_HEAP_H

#include <stdint.h>

#include "base/error.h"

typedef struct SymmetricHeapAbout {
  uint8_t device[16]; /* an id that is the same in every process using the device */
  uint64_t stride;    /* bytes of addresses that suffice for what one process shares */
} SymmetricHeapAbout;

typedef struct SymmetricHeapPart { /* memory of this process that others can map */
  uint64_t at, size_bytes;         /* whole pages of the device */
  uint64_t serial;                 /* unique among all parts of this process, ever; not 0 */
  int file;                        /* owned by the receiver; -1: none */
  bool grows;                      /* it grows by pieces, up to size_bytes: see `piece` */
} SymmetricHeapPart;

typedef struct SymmetricHeapWork { /* work of another library, on the device's stream */
  bool (*begin)(void *context, void *stream, Error *err);
  /* Called repeatedly until the work is done; returns false to give up. */
  bool (*continues)(void *waits_for, Error *err);
  void *context, *waits_for;
} SymmetricHeapWork;

typedef struct SymmetricHeapTable {
  /* Fills `about`; false with err if memory of this device cannot be shared. */
  bool (*describe)(void *data, SymmetricHeapAbout *about, Error *err);
  /* Can this device access the memory of the other? */
  bool (*sees)(void *data, const SymmetricHeapAbout *other);
  /* Reserves addresses only; 0 with err. `release` also unmaps what is mapped there. */
  uint64_t (*reserve)(void *data, uint64_t size_bytes, Error *err);
  void (*release)(void *data, uint64_t base);
  bool (*map)(void *data, uint64_t at, uint64_t size_bytes, int file, Error *err);
  void (*unmap)(void *data, uint64_t at);
  /* For a growing part of this process that begins at `at`: the number of its pieces (0 if it no
   * longer exists), and one of them by number, with part->at not set. */
  int32_t (*pieces)(void *data, uint64_t at, uint64_t serial);
  bool (*piece)(void *data, uint64_t at, int32_t number, SymmetricHeapPart *piece, Error *err);
  /* Maps the next piece of another process's part, which begins at `at`. */
  bool (*extend)(void *data, uint64_t at, uint64_t size_bytes, int file, Error *err);
  /* Is this process's part still at `at`? */
  bool (*is_there)(void *data, uint64_t at, uint64_t serial);
  /* The address at which the host sees what is mapped at `at`. */
  uint8_t *(*host)(void *data, uint64_t at);
  /* Copies bytes of the host to mapped memory, or back if `from` is NULL. Done when it returns. */
  bool (*copy)(void *data, uint64_t at, void *to, const void *from, uint64_t size_bytes,
               Error *err);
  /* Queues the work, and returns when it is done or given up. */
  bool (*queue)(void *data, const SymmetricHeapWork *work, Error *err);
} SymmetricHeapTable;

#endif
