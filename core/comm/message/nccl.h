/* nccl.h - all-reduce and broadcast of GPU memory by NCCL, if its library exists (RG_NCCL_LIBRARY):
 * numbers then go directly from GPU to GPU. NCCL is optional: if it is missing, too old, or does
 * not start, numbers go through the host. The option RG_NCCL selects its uses: since NCCL adds in
 * its own order, by default only operations whose result does not depend on the order. NCCL runs in
 * non-blocking mode (2.14 and later), so that a rank that ends is detected. */
#ifndef RG_COMM_MESSAGE_NCCL_H
#define RG_COMM_MESSAGE_NCCL_H

#include "comm/comm.h"
#include "memory/symmetric_heap.h"

typedef struct CommMemory { /* memory of this process's device */
  const SymmetricHeapTable *table;
  void *device;
  uint64_t at, size_bytes;
} CommMemory;

/* Together; the first call of either finds out whether all ranks can use NCCL. If *is_done is
 * false, without any effect, they cannot, or RG_NCCL excludes this use. */
bool nccl_reduce(Comm *comm, CommOp op, CommType type, const CommMemory *memory, bool *is_done,
                 Error *err);
bool nccl_broadcast(Comm *comm, int32_t root, const CommMemory *memory, bool *is_done, Error *err);
/* "2.30.7"; NULL if it is not used; *why is the reason, or "" before the first use. */
const char *nccl_version(const Comm *comm, const char **why);
void nccl_close(Comm *comm);
/* Call this if the device ends before the ranks: abandons NCCL's state there. */
void nccl_forget(Comm *comm);

#endif
