/* gpu.h - windows of a GPU's memory: the same as those of the host's (window.h), but their offsets
 * count from addresses of the device, which each process reserves with its first such window:
 * as many for each rank of the team, `stride` apart. Ranks of another team do not reach them. */
#ifndef RG_COMM_GPU_H
#define RG_COMM_GPU_H

#include "comm/window.h"
#include "memory/commons.h"

struct CommGpu {
  const CommonsTable *table;
  void *data;                 /* the device */
  uint64_t base, stride;
  Space space;
};

/* Together: the addresses, if they are not reserved yet, on devices that all of the team reach.
 * `size_bytes`: of the window that is about to be opened. */
bool comm_gpu_open(Comm *comm, const CommonsTable *table, void *data, uint64_t size_bytes,
                   Error *err);
void comm_gpu_close(Comm *comm);
/* The device ends before the ranks: it gives all of it back itself. */
void comm_gpu_forget(Comm *comm);
/* Together, after comm_gpu_open: memory that the device shares; part->file is the window's from now
 * on. `failed`: why this rank has none, which all are told. */
Window *window_open_gpu(Comm *comm, const CommonsPart *part, uint64_t size_bytes, uint64_t declared,
                        const Error *failed, Error *err);

#endif
