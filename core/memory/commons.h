/* commons.h - memory that is not the host's, as processes of one machine share it: what a device
 * does for windows (comm). Each process reserves addresses of the device, at which it maps, by file
 * descriptors, what others have. `data` is the device. One thread at a time. */
#ifndef RG_MEMORY_COMMONS_H
#define RG_MEMORY_COMMONS_H

#include <stdint.h>

#include "base/error.h"

typedef struct CommonsAbout {
  uint8_t device[16];         /* the same number in every process that has the device */
  uint64_t stride;            /* addresses that are enough for what one process shares */
} CommonsAbout;

typedef struct CommonsPart {   /* memory of this process that others can map */
  uint64_t at, size_bytes;    /* whole pages of the device */
  uint64_t serial;            /* of no other part of this process, ever; not 0 */
  int file;                   /* whose who gets it; -1: none */
  bool grows;                 /* by pieces, up to that size: those come by `piece` */
} CommonsPart;

typedef struct CommonsWork {  /* of somebody else, on the device's stream */
  bool (*begin)(void *context, void *stream, Error *err);
  /* Asked again and again while it is not done; false: it is no use. */
  bool (*goes_on)(void *waits_for, Error *err);
  void *context, *waits_for;
} CommonsWork;

typedef struct CommonsTable {
  /* False: memory of this device cannot be shared, and why. */
  bool (*describe)(void *data, CommonsAbout *about, Error *err);
  /* Does this device reach the memory of the other? */
  bool (*sees)(void *data, const CommonsAbout *other);
  /* Addresses alone; 0: an error. What is mapped there goes with them. */
  uint64_t (*reserve)(void *data, uint64_t size_bytes, Error *err);
  void (*release)(void *data, uint64_t base);
  bool (*map)(void *data, uint64_t at, uint64_t size_bytes, int file, Error *err);
  void (*unmap)(void *data, uint64_t at);
  /* Of a part of this process that grows, which begins at `at`: how many pieces it has, and one of
   * them by its number; part->at is not set. 0: it is not there any more. */
  int32_t (*pieces)(void *data, uint64_t at, uint64_t serial);
  bool (*piece)(void *data, uint64_t at, int32_t number, CommonsPart *piece, Error *err);
  /* The next piece of a part of another process, whose first one is to be at `at`. */
  bool (*extend)(void *data, uint64_t at, uint64_t size_bytes, int file, Error *err);
  /* Is the part still what this process has there? */
  bool (*is_there)(void *data, uint64_t at, uint64_t serial);
  /* Where the host sees what is mapped at `at`. */
  uint8_t *(*host)(void *data, uint64_t at);
  /* Bytes of the host's to or from what is mapped; which of the two is NULL says which way. Done
   * when it returns. */
  bool (*copy)(void *data, uint64_t at, void *to, const void *from, uint64_t size_bytes,
               Error *err);
  /* Returns when the work is done, or is no use. */
  bool (*queue)(void *data, const CommonsWork *work, Error *err);
} CommonsTable;

#endif
