/* cells.c - copies numbers of all active cells of a level on the GPU: to the cells of another
 * tree, which are activated as in a task; or to a zeroed table, piece by piece, and then to the
 * host. Each copy is a launch whose host region, a C function, requests a service. The copy is
 * declined (is_done is false) if the host has the newest contents, others use the memory, or
 * memory is short. Decision D-device-03. */
#include "base/bits.h"
#include "base/guard.h"
#include "device/cuda/cuda.h"

#define MAX_PIECE ((uint64_t)64 << 20)

/* The data of the host region; the launch's frame is the copy's words. */
typedef struct CellCopy {
  DeviceLaunch launch; /* must be first: the host region casts cuda->launch */
  DeviceCopy *copy;
  RtTree *to, *from;
} CellCopy;

static RtGpuCopy *description_of(CellCopy *job) { return (RtGpuCopy *)(void *)job->copy->words; }

static bool push_from(CudaDevice *cuda, CellCopy *job, Error *err) {
  RtGpuCopy *words = description_of(job);
  if (!cuda_push(cuda, job->from, NULL, 0, err)) return false;
  CudaTree *own = job->from->device;
  ASSERT(own, "a tree that was pushed is on the GPU");
  words->from = (void *)(uintptr_t)cuda_tree_address(own);
  if (words->cells.manager < 0) cuda_add_root_address(own, &words->cells);
  own->is_used = true;
  return true;
}

/* Runs as a task that may activate cells. */
static bool run_to_tree(CudaDevice *cuda, CellCopy *job, Error *err) {
  RtTree *to = job->to;
  CudaTree *own = cuda_tree(cuda, to, err);
  if (!own) return false;
  own->is_used = true;
  /* copies are rarely repeated, so the counts are read */
  own->tasks_since_read = own->tasks_since_read ? own->interval : 0;
  const void *code = to->manager_count ? job->launch.code : NULL;
  if (!cuda_push(cuda, to, code, job->copy->positions, err) ||
      (code && !cuda_push_budget(cuda, to->budget, err)) ||
      !cuda_push_block(cuda, &job->launch, err) || !cuda_start_copy(cuda, err))
    return false;
  cuda_note_task(to->device, true);
  return cuda_refresh_trees(cuda, &job->launch, false, err);
}

static bool run_piece(CudaDevice *cuda, CellCopy *job, CudaRange *table, Error *err) {
  RtGpuCopy *words = description_of(job);
  uint64_t element = job->copy->element_bytes;
  words->table = (void *)(uintptr_t)table->at;
  return cuda_push_block(cuda, &job->launch, err) && cuda_start_copy(cuda, err) &&
         cuda_read(cuda, job->copy->table + (uint64_t)words->first * element, table->at,
                   (uint64_t)words->count * element, err);
}

static bool run_to_table(CudaDevice *cuda, CellCopy *job, Error *err) {
  RtGpuCopy *words = description_of(job);
  ASSERT(job->copy->table && job->copy->element_bytes, "a table of elements on the host");
  int64_t total = 1, most = max_i64(1, (int64_t)(MAX_PIECE / job->copy->element_bytes));
  bool ok = true;
  for (int32_t k = 0; k < words->rank; k++) total *= words->shape[k];
  for (words->first = 0; ok && words->first < total; words->first += words->count) {
    CudaRange table;
    words->count = min_i64(most, total - words->first);
    ok = cuda_allocate(cuda, &table, (uint64_t)words->count * job->copy->element_bytes, err);
    if (!ok) break;
    ok = run_piece(cuda, job, &table, err);
    cuda_free(cuda, &table);
  }
  return ok;
}

static bool run_copy(void *data, Error *err) {
  CellCopy *job = data;
  CudaDevice *cuda = job->launch.context.host;
  if (!push_from(cuda, job, err)) return false;
  return job->to ? run_to_tree(cuda, job, err) : run_to_table(cuda, job, err);
}

static void copy_host(RtContext *context) {
  CudaDevice *cuda = context->host;
  ASSERT(cuda->launch && cuda->err, "the host region of the running launch");
  guard_run(run_copy, cuda->launch, cuda->err);
}

static bool is_ours(const CudaTree *own) { return own && !own->is_exposed && !own->is_shared; }

/* Does the tree have data on the GPU that nobody else may change? */
static bool gpu_has_newest(const RtTree *from) {
  const CudaTree *own = from->device;
  return !from->foreign && is_ours(own) && !own->host_has_all;
}

bool cuda_copy_cells(Device *device, RtTree *to, RtTree *from, DeviceCopy *copy, Error *err) {
  static const CudaCode code = {.code = {.host = copy_host}};
  RtTree *trees[] = {to ? to : from, from};
  Error failed;
  copy->is_done = false;
  if (!gpu_has_newest(from) || (!to && ((CudaTree *)from->device)->is_current)) return true;
  if (to && (to->foreign || (to->device && !is_ours(to->device)))) return true;
  if (!cuda_finish_all((CudaDevice *)device, err))
    return false; /* the launch may need larger blocks */
  CellCopy job = {.launch = {.code = &code.code,
                             .frame = copy->words,
                             .frame_slots = copy->word_count,
                             .trees = trees,
                             .tree_count = to != NULL,
                             .array_count = 1},
                  .copy = copy,
                  .to = to,
                  .from = from};
  error_clear(&failed);
  bool ok = cuda_launch(device, &job.launch, &failed) && cuda_finish(device, &job.launch, &failed);
  ((CudaTree *)from->device)->is_used = false;
  if (!ok) return failed.code == RG_ERROR_DEVICE_MEMORY || (error_add(err, &failed), false);
  copy->error = job.launch.context.error;
  copy->is_done = copy->error.kind != RT_ERROR_BUDGET;
  return true;
}
