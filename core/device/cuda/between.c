/* between.c - runs the runtime's services on the GPU between tasks (llvm_bc/service_cuda.c):
 * after a task, trees are refreshed and freed nodes collected; before a task, its list is built.
 * The host also clears levels and visits cells this way, so that it need not copy the tree. Those
 * are launches whose host region, a C function, requests services only. */
#include <stddef.h>
#include <string.h>

#include "base/bits.h"
#include "base/guard.h"
#include "device/cuda/cuda.h"

_Static_assert(sizeof(RtGpuService) <= sizeof(uint64_t) * CUDA_STEP_WORDS &&
                   offsetof(RtGpuService, result) == 8,
               "steps have their parameters in words");

enum { LANES = RT_GPU_LANES };

static void *pointer_to(uint64_t address) { return (void *)(uintptr_t)address; }

/* -- services ---------------------------------------------------------------------------------- */

static bool find_service(CudaDevice *cuda, const char *name, void **function, Error *err) {
  int result = cuda->driver.cuModuleGetFunction(function, cuda->service, name);
  return cuda_check(cuda, result, "find a service", err);
}

static bool ensure_service(CudaDevice *cuda, Error *err) {
  if (cuda->service) return true;
  cuda->service = cuda_load_module(cuda, rt_service_ptx, err);
  return cuda->service && find_service(cuda, "rg_service_trees", &cuda->service_trees, err) &&
         find_service(cuda, "rg_service_zero", &cuda->service_zero, err) &&
         find_service(cuda, "rg_service_list", &cuda->service_list, err) &&
         find_service(cuda, "rg_service_fill", &cuda->service_fill, err) &&
         find_service(cuda, "rg_service_enter", &cuda->service_enter, err) &&
         find_service(cuda, "rg_service_clear", &cuda->service_clear, err) &&
         find_service(cuda, "rg_service_clear_end", &cuda->service_clear_end, err) &&
         find_service(cuda, "rg_service_clear_cells", &cuda->service_clear_cells, err) &&
         find_service(cuda, "rg_service_visit", &cuda->service_visit, err) &&
         find_service(cuda, "rg_service_set", &cuda->service_set, err) &&
         find_service(cuda, "rg_service_copy", &cuda->service_copy, err) &&
         find_service(cuda, "rg_service_order", &cuda->service_order, err) &&
         find_service(cuda, "rg_service_order_look", &cuda->service_order_look, err) &&
         find_service(cuda, "rg_service_order_copy", &cuda->service_order_copy, err) &&
         find_service(cuda, "rg_service_order_merge", &cuda->service_order_merge, err);
}

int64_t cuda_max_blocks(const CudaDevice *cuda) {
  return cuda->about.processors * cuda->guesses[CUDA_GUESS_blocks];
}

/* from_block is CudaStep's. */
static bool start_service(CudaDevice *cuda, void *function, int64_t blocks, unsigned threads,
                          uint32_t from_block, RtGpuService service, Error *err) {
  ASSERT(function && blocks > 0 && threads > 0, "a service is found before it is started");
  CudaStep step = {.blocks = (uint32_t)blocks,
                   .threads = threads,
                   .from_block = from_block,
                   .function = function};
  service.context = NULL; /* relative address: the block's beginning */
  memcpy(step.words, &service, sizeof service);
  return cuda_queue(cuda, &step, NULL, err);
}

static bool start_single(CudaDevice *cuda, void *function, RtGpuService service, Error *err) {
  return start_service(cuda, function, 1, 1, 1, service, err);
}
/* service.result, if set, is an offset into the block. */
static bool start_trees(CudaDevice *cuda, RtGpuService service, Error *err) {
  return start_service(cuda, cuda->service_trees, 1, CUDA_BLOCK_THREADS, service.result ? 3 : 1,
                       service, err);
}
static bool start_all(CudaDevice *cuda, void *function, RtGpuService service, Error *err) {
  return start_service(cuda, function, cuda_max_blocks(cuda), CUDA_BLOCK_THREADS, 1, service, err);
}

bool cuda_refresh_trees(CudaDevice *cuda, DeviceLaunch *launch, bool frees, Error *err) {
  bool is_any = false;
  for (int32_t k = 0; k < launch->tree_count; k++) {
    if (!launch->trees[k]->manager_count) continue;
    is_any = true;
    cuda_note_task(launch->trees[k]->device, true);
  }
  if (!is_any) return true;
  RtGpuService service = {.context = pointer_to(cuda->block_now),
                          .result = pointer_to(CUDA_BLOCK_COLLECTIONS),
                          .number = launch->gc_is_stopped};
  if (!ensure_service(cuda, err) || !start_trees(cuda, service, err)) return false;
  service.result = NULL;
  return !frees || start_all(cuda, cuda->service_zero, service, err);
}

/* One thread decides what must be done, and then threads that fill the GPU do it. Lists are built
 * on one stream at a time, because trees with nodes share the budget; so one array of warp counts
 * suffices. */
static bool make_list(CudaDevice *cuda, RtGpuService service, Error *err) {
  if (!start_single(cuda, cuda->service_list, service, err)) return false;
  if (!service.in_order) return start_all(cuda, cuda->service_fill, service, err);
  uint64_t warps = (uint64_t)cuda_max_blocks(cuda) * CUDA_BLOCK_THREADS / LANES;
  if (!cuda_enlarge(cuda, &cuda->counts, warps * sizeof(uint64_t), false, err)) return false;
  service.result = pointer_to(cuda->counts.at);
  return start_all(cuda, cuda->service_fill, service, err) &&
         start_all(cuda, cuda->service_enter, service, err);
}

static bool ensure_list(CudaDevice *cuda, CudaTree *own, RtGpuService service, Error *err) {
  ASSERT(service.number >= 0 && service.number < own->tree->manager_count, "a manager of the tree");
  CudaList *list = &own->lists[service.number];
  if (list->is_current) return true;
  if (!make_list(cuda, service, err)) return false;
  cuda_note_tables(own);
  cuda_note_task(own, false);
  list->is_current = true;
  return true;
}

static RtGpuService list_service(const CudaDevice *cuda, const DeviceTask *task, int32_t tree,
                                 int32_t manager) {
  return (RtGpuService){.context = pointer_to(cuda->block_now),
                        .tree = tree,
                        .number = manager,
                        .in_order = task->lists_are_ordered,
                        .nodes_per_change = (int32_t)cuda->guesses[CUDA_GUESS_nodes_per_change]};
}

bool cuda_ensure_list(CudaDevice *cuda, DeviceLaunch *launch, const DeviceTask *task, Error *err) {
  CudaTree *own = launch->trees[task->tree]->device;
  ASSERT(own, "a launch's trees are on the GPU before they are listed");
  RtGpuService service = list_service(cuda, task, task->tree, task->manager);
  return own->lists[task->manager].is_current ||
         (ensure_service(cuda, err) && ensure_list(cuda, own, service, err));
}

/* The number of merge steps for as many rows as fit in the tree's memory. */
static int32_t count_merges(const CudaTree *own, int32_t manager) {
  uint64_t most = own->memory.mapped / own->tree->managers[manager].node_size;
  int32_t merges = 0;
  for (uint64_t run = RT_ORDER_RUN; run < most; run *= RT_ORDER_RUNS) merges++;
  return merges;
}

static bool make_order(CudaDevice *cuda, const CudaTree *own, RtGpuService service, Error *err) {
  if (!start_single(cuda, cuda->service_order, service, err) ||
      !start_all(cuda, cuda->service_order_look, service, err) ||
      !start_all(cuda, cuda->service_order_copy, service, err))
    return false;
  int32_t merges = count_merges(own, service.number);
  for (service.merge = 0; service.merge < merges; service.merge++)
    if (!start_all(cuda, cuda->service_order_merge, service, err)) return false;
  return true;
}

static bool ensure_order(CudaDevice *cuda, DeviceLaunch *launch, const DeviceTask *task,
                         const DeviceOrder *order, Error *err) {
  CudaTree *own = launch->trees[order->tree]->device;
  ASSERT(own, "a launch's trees are on the GPU before its tasks");
  CudaList *list = &own->lists[order->manager];
  uint32_t bit = order->depth < 32 ? 1u << order->depth : 0;
  if (!bit || cuda_is_view(own->tree)) return true; /* the task itself builds it */
  if (list->is_current && list->orders_are_current & bit) return true;
  RtGpuService service = list_service(cuda, task, order->tree, order->manager);
  if (!ensure_service(cuda, err) || !ensure_list(cuda, own, service, err)) return false;
  service.depth = order->depth;
  if (!make_order(cuda, own, service, err)) return false;
  cuda_note_tables(own);
  cuda_note_task(own, false);
  list->orders_are_current |= bit;
  return true;
}

bool cuda_ensure_orders(CudaDevice *cuda, DeviceLaunch *launch, const DeviceTask *task,
                        Error *err) {
  for (int32_t k = 0; k < task->order_count; k++)
    if (!ensure_order(cuda, launch, task, &task->orders[k], err)) return false;
  return true;
}

/* The argument is passed by value, and the number of threads fills the GPU. */
bool cuda_start_set(CudaDevice *cuda, RtGpuSet *set, Error *err) {
  void *parameters[] = {set};
  if (!ensure_service(cuda, err)) return false;
  int result =
      cuda->driver.cuLaunchKernel(cuda->service_set, (unsigned)cuda_max_blocks(cuda), 1, 1,
                                  CUDA_BLOCK_THREADS, 1, 1, 0, cuda->stream, parameters, NULL);
  return cuda_check(cuda, result, "set elements", err);
}

bool cuda_start_copy(CudaDevice *cuda, Error *err) {
  RtGpuService service = {.context = pointer_to(cuda->block_now)};
  return ensure_service(cuda, err) && start_all(cuda, cuda->service_copy, service, err);
}

/* -- launches on behalf of the host ------------------------------------------------------------ */

static bool push_tree(CudaDevice *cuda, DeviceLaunch *launch, const void *code, Error *err) {
  RtTree *tree = launch->trees[0];
  CudaTree *own = tree->device;
  own->is_used = true;
  return cuda_push(cuda, tree, code, 1, err) &&
         (!code || cuda_push_budget(cuda, tree->budget, err)) && cuda_push_block(cuda, launch, err);
}

/* -- clear ------------------------------------------------------------------------------------- */

static bool clear_nodes(CudaDevice *cuda, RtGpuService service, int32_t manager, Error *err) {
  service.number = manager;
  return start_all(cuda, cuda->service_clear, service, err) &&
         start_single(cuda, cuda->service_clear_end, service, err);
}

/* As rt_mask_clear_all. */
static bool clear_cells(CudaDevice *cuda, RtGpuService service, const RtMask *mask, int32_t number,
                        Error *err) {
  for (int32_t r = 0; r < mask->run_count; r++)
    if (mask->runs[r].manager >= 0 && !clear_nodes(cuda, service, mask->runs[r].manager, err))
      return false;
  for (int32_t h = 0; h < mask->hash_count; h++)
    if (!clear_nodes(cuda, service, mask->hashes[h].manager, err)) return false;
  service.number = number;
  return start_all(cuda, cuda->service_clear_cells, service, err);
}

bool cuda_start_clear(CudaDevice *cuda, DeviceLaunch *launch, const DeviceTask *task, Error *err) {
  RtGpuService service = {.context = pointer_to(cuda->block_now), .tree = task->tree, .number = 1};
  if (!ensure_service(cuda, err) || !start_trees(cuda, service, err)) return false;
  if (task->kind == DEVICE_CLEAR) return clear_nodes(cuda, service, task->manager, err);
  const RtMask *mask = &launch->trees[task->tree]->masks[task->manager];
  return clear_cells(cuda, service, mask, task->manager, err);
}

/* Frame slot 0 holds the manager. */
static bool run_clear(void *data, Error *err) {
  DeviceLaunch *launch = data;
  CudaDevice *cuda = launch->context.host;
  if (!ensure_service(cuda, err) || !push_tree(cuda, launch, NULL, err)) return false;
  RtGpuService service = {.context = pointer_to(cuda->block_now), .number = 1};
  if (!start_trees(cuda, service, err)) return false;
  return clear_nodes(cuda, service, (int32_t)launch->frame[0], err) &&
         cuda_refresh_trees(cuda, launch, !launch->gc_is_stopped, err);
}

static void clear_host(RtContext *context) {
  CudaDevice *cuda = context->host;
  guard_run(run_clear, cuda->launch, cuda->err);
}

/* Are the GPU's tables at least as new as the host's? */
static bool gpu_has_tables(const CudaTree *own) {
  return own && own->image_state != CUDA_HOST_IS_NEWER;
}

bool cuda_clear(Device *device, RtTree *tree, int32_t manager, DeviceClear *clear, Error *err) {
  static const CudaCode code = {.code = {.host = clear_host}};
  uint64_t frame = (uint64_t)manager;
  clear->is_done = false;
  if (!gpu_has_tables(tree->device)) return true;
  DeviceLaunch launch = {.code = &code.code,
                         .frame = &frame,
                         .frame_slots = 1,
                         .trees = &tree,
                         .tree_count = 1,
                         .gc_is_stopped = clear->gc_is_stopped};
  if (!cuda_launch(device, &launch, err) || !cuda_finish(device, &launch, err)) return false;
  clear->is_done = true;
  clear->collections = launch.collections;
  return true;
}

/* -- publishing tables ------------------------------------------------------------------------- */

/* Refreshes the tree as if a task had changed it. */
static bool run_publish(void *data, Error *err) {
  DeviceLaunch *launch = data;
  CudaDevice *cuda = launch->context.host;
  uint32_t yes = 1;
  if (!ensure_service(cuda, err) || !push_tree(cuda, launch, NULL, err)) return false;
  uint64_t image = cuda_tree_address(launch->trees[0]->device);
  return cuda_write(cuda, image + offsetof(RtTree, changed), &yes, sizeof yes, err) &&
         cuda_refresh_trees(cuda, launch, false, err);
}

static void publish_host(RtContext *context) {
  CudaDevice *cuda = context->host;
  guard_run(run_publish, cuda->launch, cuda->err);
}

bool cuda_publish(Device *device, RtTree *tree, bool compacts, Error *err) {
  static const CudaCode code = {.code = {.host = publish_host}};
  CudaDevice *cuda = (CudaDevice *)device;
  DeviceLaunch launch = {
      .code = &code.code, .trees = &tree, .tree_count = 1, .gc_is_stopped = true};
  tree->is_read = 0;
  bool ok = !compacts || (cuda_launch(device, &launch, err) && cuda_finish(device, &launch, err));
  tree->is_read = 1;
  if (!ok || !cuda_enter(cuda, err)) return false;
  ok = cuda_push(cuda, tree, NULL, 0, err) && cuda_wait_all(cuda, err);
  cuda_leave(cuda);
  return ok && cuda_reach(device, tree, NULL, 0, DEVICE_TABLES, err);
}

/* -- visits ------------------------------------------------------------------------------------ */

static bool may_activate(const RtVisit *visit) {
  return visit->way == RT_VISIT_ENSURE || visit->way == RT_VISIT_APPEND;
}

/* The visit itself refreshes the tree. */
static bool run_visit(void *data, Error *err) {
  DeviceLaunch *launch = data;
  CudaDevice *cuda = launch->context.host;
  const RtVisit *visit = (const RtVisit *)(const void *)launch->frame;
  if (!ensure_service(cuda, err) ||
      !push_tree(cuda, launch, may_activate(visit) ? cuda->service_visit : NULL, err))
    return false;
  RtGpuService service = {.context = pointer_to(cuda->block_now)};
  if (!start_single(cuda, cuda->service_visit, service, err)) return false;
  if (visit->way == RT_VISIT_CLEAR)
    return cuda_refresh_trees(cuda, launch, !launch->gc_is_stopped, err);
  if (visit->way != RT_VISIT_FIND) cuda_note_task(launch->trees[0]->device, true);
  return true;
}

static void visit_host(RtContext *context) {
  CudaDevice *cuda = context->host;
  guard_run(run_visit, cuda->launch, cuda->err);
}

/* May the GPU visit? It must if the host cannot access the tree. */
static bool can_visit(const CudaTree *own) {
  return cuda_is_view(own->tree) || (gpu_has_tables(own) && !own->is_exposed);
}

/* Copying the whole used tree to the host and back costs about one visit per page. */
static bool is_profitable(const CudaDevice *cuda, const CudaTree *own, const DeviceVisit *visit) {
  uint64_t most = (uint64_t)cuda->guesses[CUDA_GUESS_visits],
           per_page = (uint64_t)cuda->guesses[CUDA_GUESS_visits_per_page];
  if (cuda_is_view(own->tree)) return true;
  if (!visit->pages_suffice) most += per_page * (own->tree->top / own->page_bytes);
  return own->visits < most;
}

bool cuda_visit(Device *device, RtTree *tree, DeviceVisit *visit, Error *err) {
  static const CudaCode code = {.code = {.host = visit_host}};
  CudaDevice *cuda = (CudaDevice *)device;
  CudaTree *own = tree->device;
  visit->is_done = false;
  if (!own) return true;
  if (!cuda_finish_all(cuda, err)) return false;
  if (!can_visit(own) || !is_profitable(cuda, own, visit)) return true;
  DeviceLaunch launch = {.code = &code.code,
                         .frame = visit->words,
                         .frame_slots = visit->word_count,
                         .trees = &tree,
                         .tree_count = 1,
                         .gc_is_stopped = visit->gc_is_stopped};
  uint64_t visits = own->visits + 1;
  if (!cuda_launch(device, &launch, err) || !cuda_finish(device, &launch, err)) return false;
  cuda_take_frame(cuda, &launch);
  own = tree->device; /* the launch may have moved it */
  own->visits = visits;
  visit->error = launch.context.error;
  visit->collections = launch.collections;
  visit->is_done = launch.context.error.kind != RT_ERROR_BUDGET;
  return true;
}
