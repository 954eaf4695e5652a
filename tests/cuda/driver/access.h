/* access.h - what a load or a store runs, by the types in memory and in the register. */
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
