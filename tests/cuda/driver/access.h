/* access.h - the functions that execute loads and stores, by types in memory and registers. */
#ifndef PTX_ACCESS_H
#define PTX_ACCESS_H

#include "exec.h"

typedef struct Access {
  bool is_signed;
  uint32_t memory_bytes, register_bytes;
  Run load, load_all, store, store_all;
} Access;
const Access *access_find(bool is_signed, uint32_t memory_bytes, uint32_t register_bytes);

#endif
