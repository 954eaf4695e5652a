/* gpu.h - windows of GPU memory. They work as windows of host memory (window.h), but their offsets
 * are relative to device addresses, which each process reserves with its first such window: the
 * same number for each rank of the team, `stride` apart. Ranks of other teams cannot access
 * them. */
#ifndef RG_COMM_WINDOW_GPU_H
#define RG_COMM_WINDOW_GPU_H

#include "comm/window/window.h"
#include "memory/symmetric_heap.h"

struct CommGpu {
  const SymmetricHeapTable *table;
  void *data; /* the device */
  uint64_t base, stride;
  Space space;
};

/* Together: reserves the addresses, if necessary, on devices that the whole team can access.
 * `size_bytes` is that of the window to be opened. */
bool comm_gpu_open(Comm *comm, const SymmetricHeapTable *table, void *data, uint64_t size_bytes,
                   Error *err);
void comm_gpu_close(Comm *comm);
/* Call this if the device ends before the ranks: the device frees all of this itself. */
void comm_gpu_forget(Comm *comm);
/* Together, after comm_gpu_open: opens a window of memory that the device shares. Takes over
 * part->file. With `failed`, the reason why this rank has no memory, the call fails on all
 * ranks. */
Window *window_open_gpu(Comm *comm, const SymmetricHeapPart *part, uint64_t size_bytes,
                        uint64_t declared, const Error *failed, Error *err);

#endif
