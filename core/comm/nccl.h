/* nccl.h - all-reduce and broadcast of a GPU's memory by NCCL, where its library is
 * (RG_NCCL_LIBRARY): numbers then go from GPU to GPU. Never needed: where it is missing, too old,
 * or does not begin, they go by way of the host, as ever. RG_NCCL says for what it is used: as NCCL
 * adds in an order of its own, by default only for what has one result in any order.
 * NCCL is asked not to wait (2.14 and later), so that a rank that ends is noticed meanwhile. */
#ifndef RG_COMM_NCCL_H
#define RG_COMM_NCCL_H

#include "comm/comm.h"
#include "memory/commons.h"

typedef struct CommMemory {   /* of this process's device, by its address */
  const CommonsTable *table;
  void *device;
  uint64_t at, size_bytes;
} CommMemory;

/* Together; the first call of either finds out whether all ranks can. *is_done false: none of them
 * can, or it is not to be used for this, and nothing has happened. */
bool nccl_reduce(Comm *comm, CommOp op, CommType type, const CommMemory *memory, bool *is_done,
                 Error *err);
bool nccl_broadcast(Comm *comm, int32_t root, const CommMemory *memory, bool *is_done, Error *err);
/* "2.30.7"; NULL: it is not used, and *why says why not, or "" before anybody asked. */
const char *nccl_version(const Comm *comm, const char **why);
void nccl_close(Comm *comm);
/* The device ends before the ranks: what NCCL has there is left as it is. */
void nccl_forget(Comm *comm);

#endif
