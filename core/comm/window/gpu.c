/* gpu.c - see gpu.h: creates and frees the addresses that window.c uses. Decision D-comm-05. */
#include "comm/window/gpu.h"

#include <string.h>

#include "base/bits.h"
#include "comm/header.h"

enum {
  ON_GPU = 0x67, /* declared in the call, as other ranks may wrongly open a window of host memory */
  MIN_STRIDE_DIVISOR =
      8 /* in a large team, a rank gets at least this fraction of the stride that it requested */
};
#define STRIDES ((uint64_t)8 << 40) /* for all ranks, if that is enough */
#define STRIDE_ROUND ((uint64_t)4 << 30)

static SymmetricHeapAbout about_of(const uint8_t *abouts, int32_t rank) {
  SymmetricHeapAbout about;
  memcpy(&about, abouts + (size_t)rank * CALL_BYTES, sizeof about);
  return about;
}

/* Computes the same stride on all ranks, and checks that the team's devices can access each
 * other. */
static bool choose_stride(const Comm *comm, CommGpu *gpu, const uint8_t *abouts, Error *err) {
  gpu->stride = 0;
  for (int32_t k = 0; k < comm->size; k++)
    if (about_of(abouts, k).stride > gpu->stride) gpu->stride = about_of(abouts, k).stride;
  uint64_t most = STRIDES / (uint64_t)comm->team_size, least = gpu->stride / MIN_STRIDE_DIVISOR;
  if (gpu->stride > most) gpu->stride = align_up(most > least ? most : least, STRIDE_ROUND);
  for (int32_t k = comm->team_first; k < comm->team_first + comm->team_size; k++) {
    SymmetricHeapAbout other = about_of(abouts, k);
    if (k != comm->rank && !gpu->table->sees(gpu->data, &other))
      return error_set(
          err, RG_ERROR_DEVICE,
          "the GPU of rank %d cannot access the memory of rank %d's GPU, which a window needs",
          comm->rank, k);
  }
  return true;
}

static bool reserve(const Comm *comm, CommGpu *gpu, const uint8_t *abouts, Error *err) {
  if (!choose_stride(comm, gpu, abouts, err)) return false;
  gpu->base = gpu->table->reserve(gpu->data, gpu->stride * (uint64_t)comm->team_size, err);
  if (!gpu->base) return false;
  space_init(&gpu->space, comm->heap, gpu->stride);
  return true;
}

static bool begin(Comm *comm, CommGpu *gpu, uint64_t size_bytes, uint8_t *abouts, Error *err) {
  Error why = {0};
  SymmetricHeapAbout mine = {0};
  gpu->table->describe(gpu->data, &mine, &why);
  CallOptions call = {.call = CALL_WINDOW,
                      .size_bytes = size_bytes,
                      .declared = ON_GPU,
                      .mine = &mine,
                      .mine_bytes = sizeof mine,
                      .failed = &why};
  if (!comm_call(comm, &call, abouts, err)) return false;
  reserve(comm, gpu, abouts, &why);
  CallOptions done = {.call = CALL_WINDOW, .failed = &why};
  return comm_call(comm, &done, NULL, err);
}

bool comm_gpu_open(Comm *comm, const SymmetricHeapTable *table, void *data, uint64_t size_bytes,
                   Error *err) {
  if (comm->gpu) return true;
  uint8_t *abouts = heap_alloc(comm->heap, (size_t)comm->size * CALL_BYTES);
  comm->gpu = heap_alloc(comm->heap, sizeof *comm->gpu);
  if (!abouts || !comm->gpu) {
    comm_abort(comm, "the host has no memory left for a window");
    error_add(err, &comm->lost);
  } else {
    *comm->gpu = (CommGpu){.table = table, .data = data};
  }
  bool ok = abouts && comm->gpu && begin(comm, comm->gpu, size_bytes, abouts, err);
  heap_free(comm->heap, abouts);
  if (!ok) comm_gpu_close(comm);
  return ok;
}

static void free_state(Comm *comm) {
  space_deinit(&comm->gpu->space);
  heap_free(comm->heap, comm->gpu);
  comm->gpu = NULL;
}

void comm_gpu_close(Comm *comm) {
  if (!comm->gpu) return;
  if (comm->gpu->base) comm->gpu->table->release(comm->gpu->data, comm->gpu->base);
  free_state(comm);
}

void comm_gpu_forget(Comm *comm) {
  if (comm->gpu) comm->gpu->base = 0;
}
