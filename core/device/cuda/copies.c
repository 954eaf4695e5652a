/* copies.c - copies, in GPU memory, of the elements of counted arrays that host and tasks both
 * use (arrays.c), while no task resizes them. Which side has the newest elements:
 *
 *     host --exposed to a task--> both --the task has written--> the GPU --the host reads--> both
 *      ^------------------- the host writes, or a task through headers ----------------------'
 *
 * This is tracked by pages, as for any tree: a copy is the mirror's other side (tree.c), and wraps
 * of the array's memory are parts of it (cuda_owner). The callers are: the host region, right
 * before a loop in which nothing grows, as the pass `array_descriptors` (loop-invariant array
 * descriptors) found, and before it uses elements itself (RtContext.move); Lua and extensions,
 * through device->table; and launches, before a task that finds elements through headers: elements
 * that it may access are copied to the host, and their copies are dropped if arrays may grow. A
 * slice uses its part of the copy of its base array. Arrays of arrays have no copy, as their
 * elements are found by host addresses; a launch that has wraps of such memory in place uses no
 * copies either. If the GPU has no memory for a copy, tasks access the host's memory instead.
 *
 *     a copy --last release of the array, by any thread--> ended, no longer found --later--> freed
 *
 * Invariant: RT_COUNTED_COPIED is set while the object has a copy; its elements then keep the
 * address and count that they had when it was made. Tasks never destroy such an object
 * (counted_wait.c). Decision D-device-14. */
#include "base/guard.h"
#include "device/cuda/cuda.h"

enum { RETRY_AFTER = 64 /* uses of an array until it requests memory again */ };

struct CudaCopy {
  CudaCopy *next;
  RtCounted *counted; /* NULL: the array was destroyed */
  RtTree tree;        /* the elements; tree.device NULL: memory was short */
  uint32_t uses_until_retry;
  bool is_exposed, is_written; /* to the next or the last task; that task may write to it */
};

static void lock(CudaDevice *cuda) {
  for (uint32_t round = 0; atomic_exchange(&cuda->copies_lock, 1); round++) rt_target_wait(round);
}
static void unlock(CudaDevice *cuda) { atomic_store(&cuda->copies_lock, 0); }

static RtCounted *root_of(RtCounted *counted) {
  while (rt_counted_flags(counted) & RT_COUNTED_SLICE) counted = counted->info;
  return counted;
}

static CudaCopy *find_copy(CudaDevice *cuda, const RtCounted *counted) {
  lock(cuda);
  CudaCopy *copy = cuda->copies;
  while (copy && copy->counted != counted) copy = copy->next;
  unlock(cuda);
  return copy;
}

/* -- creating and dropping copies -------------------------------------------------------------- */

static CudaCopy *add_copy(CudaDevice *cuda, RtCounted *counted) {
  ASSERT(!(rt_counted_flags(counted) & RT_COUNTED_SLICE), "a slice is copied with its base array");
  CudaCopy *copy = heap_alloc(cuda->device.heap, sizeof *copy);
  if (!copy) return NULL;
  *copy = (CudaCopy){.next = cuda->copies,
                     .counted = counted,
                     .tree = {.base = counted->data,
                              .root = counted->data,
                              .root_size = counted->size_bytes,
                              .reserved = counted->size_bytes,
                              .budget = cuda->device.budget}};
  lock(cuda);
  cuda->copies = copy;
  unlock(cuda);
  __atomic_fetch_or(&counted->flags, RT_COUNTED_COPIED, __ATOMIC_RELAXED);
  return copy;
}

/* Discards what is newer on the GPU. */
static void drop_copy(CudaDevice *cuda, CudaCopy *copy) {
  CudaCopy **at = &cuda->copies;
  lock(cuda);
  while (*at != copy) at = &(*at)->next;
  *at = copy->next;
  if (copy->counted)
    __atomic_fetch_and(&copy->counted->flags, ~(uint32_t)RT_COUNTED_COPIED, __ATOMIC_RELAXED);
  unlock(cuda);
  cuda_forget(&cuda->device, &copy->tree);
  heap_free(cuda->device.heap, copy);
}

void cuda_forget_array(Device *device, RtCounted *counted) {
  CudaDevice *cuda = (CudaDevice *)device;
  lock(cuda);
  for (CudaCopy *copy = cuda->copies; copy; copy = copy->next) {
    if (copy->counted != counted) continue;
    CudaTree *own = copy->tree.device;
    if (own) own->has_ended = true;
    copy->counted = NULL;
  }
  unlock(cuda);
}

static bool is_idle(CudaDevice *cuda, const CudaTree *own) {
  return !own || own->use.launch <= cuda->streams[own->use.stream].finished ||
         cuda_is_idle(cuda, own->use.stream);
}

/* Drops copies of destroyed arrays; with `waits`, also those still in use. */
static bool drop_ended(CudaDevice *cuda, bool waits) {
  bool any = false;
  for (CudaCopy *copy = cuda->copies, *next; copy; copy = next) {
    next = copy->next;
    if (copy->counted || !(waits || is_idle(cuda, copy->tree.device))) continue;
    any |= copy->tree.device != NULL;
    drop_copy(cuda, copy);
  }
  return any;
}

/* -- copying the newest elements to the host --------------------------------------------------- */

/* Copies elements to the host during a launch. */
static bool copy_back(CudaDevice *cuda, CudaCopy *copy, const uint8_t *from, uint64_t size_bytes,
                      DeviceUse use, Error *err) {
  CudaTree *own = copy->tree.device;
  if (!own) return true;
  if (!from) from = copy->tree.root, size_bytes = copy->tree.root_size;
  if (use == DEVICE_WRITES) copy->is_exposed = false;
  return cuda_reach_in_launch(cuda, own, from, size_bytes, use, err);
}

/* Takes a reference, as any thread may release the last one meanwhile. An object that waits for the
 * end of a task (RT_COUNTED_WAITS) has none, but still exists. NULL: it is being destroyed. */
static RtCounted *retain_array(CudaDevice *cuda, CudaCopy *copy) {
  lock(cuda);
  RtCounted *counted = copy->counted;
  int64_t count = counted ? __atomic_load_n(&counted->count, __ATOMIC_RELAXED) : 0;
  bool waits = counted && rt_counted_flags(counted) & RT_COUNTED_WAITS;
  while ((count > 0 || waits) && !__atomic_compare_exchange_n(&counted->count, &count, count + 1, 0,
                                                              __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
  }
  unlock(cuda);
  return count > 0 || waits ? counted : NULL;
}

static void release_array(RtCounted *counted) {
  int64_t before = __atomic_fetch_sub(&counted->count, 1, __ATOMIC_ACQ_REL);
  if (before <= 1) rt_counted_end(counted, before);
}

static bool copy_back_all(CudaDevice *cuda, CudaCopy *copy, DeviceUse use, Error *err) {
  RtCounted *counted = retain_array(cuda, copy);
  bool ok = !counted || copy_back(cuda, copy, NULL, 0, use, err);
  if (counted) release_array(counted);
  return ok;
}

/* Is the copy's address in the frame of the running launch, through a wrap of the array? */
static bool is_wrapped_now(const CudaDevice *cuda, const CudaCopy *copy) {
  const DeviceLaunch *launch = cuda->launch;
  if (!cuda->is_in_launch || !copy->tree.device) return false;
  for (int32_t k = 0; k < launch->tree_count + launch->array_count; k++)
    if (cuda_owner(cuda, launch->trees[k]) == copy->tree.device) return true;
  return false;
}

/* May the task access the array's elements? array_count is -1 if it follows arrays of arrays, and
 * so may access any array. */
static bool may_reach(const DeviceLaunch *launch, const DeviceTask *task, const CudaCopy *copy) {
  if (task->array_count < 0 || launch->has_arrays_in_place) return true;
  for (int32_t k = 0; k < task->array_count; k++) {
    RtCounted *counted = (RtCounted *)(uintptr_t)launch->frame[task->array_slots[k]];
    if (counted && root_of(counted) == copy->counted) return true;
  }
  return false;
}

bool cuda_copies_yield(CudaDevice *cuda, const DeviceLaunch *launch, const DeviceTask *task,
                       Error *err) {
  for (CudaCopy *copy = cuda->copies, *next; copy; copy = next) {
    next = copy->next;
    if (!copy->counted || is_wrapped_now(cuda, copy) || !may_reach(launch, task, copy)) continue;
    if (!copy_back_all(cuda, copy, DEVICE_WRITES, err)) return false;
    if (launch->grows_arrays) drop_copy(cuda, copy);
  }
  return true;
}

void cuda_copies_note_task(CudaDevice *cuda) {
  for (CudaCopy *copy = cuda->copies; copy; copy = copy->next)
    if (copy->is_exposed && copy->is_written) cuda_note_task(copy->tree.device, false);
  cuda->copies_are_stale = true;
}

static void unexpose_copies(CudaDevice *cuda) {
  for (CudaCopy *copy = cuda->copies; copy; copy = copy->next)
    copy->is_exposed = copy->is_written = false;
}

/* Does a frame, or code outside the runtime, have the copy's address? */
static bool is_referenced(const CudaDevice *cuda, const CudaCopy *copy) {
  const CudaTree *own = copy->tree.device;
  return copy->is_exposed || own->is_located || own->is_exposed || is_wrapped_now(cuda, copy);
}

void cuda_copies_unexpose(CudaDevice *cuda) {
  if (!cuda->copies) return;
  unexpose_copies(cuda);
  for (CudaCopy *copy = cuda->copies; copy; copy = copy->next)
    if (copy->tree.device) ((CudaTree *)copy->tree.device)->is_located = false;
  drop_ended(cuda, false);
}

bool cuda_copies_relieve(CudaDevice *cuda) {
  bool any = drop_ended(cuda, true);
  for (CudaCopy *copy = cuda->copies, *next; copy; copy = next) {
    next = copy->next;
    if (!copy->tree.device || is_referenced(cuda, copy)) continue;
    if (!copy_back_all(cuda, copy, DEVICE_READS, NULL)) continue;
    drop_copy(cuda, copy);
    any = true;
  }
  return any;
}

/* -- requests of the host region --------------------------------------------------------------- */

static bool may_copy(const CudaDevice *cuda, const RtCounted *root) {
  uint32_t flags = rt_counted_flags(root);
  return !cuda->has_no_copies && !cuda->launch->has_arrays_in_place && root->size_bytes &&
         flags & (RT_COUNTED_OWN | RT_COUNTED_WHOLE) &&
         !(flags & (RT_COUNTED_ITEMS | RT_COUNTED_LENT));
}

/* Makes sure that the copy has memory; false if memory is short. */
static bool ensure_copy(CudaDevice *cuda, CudaCopy *copy) {
  Error unused;
  error_clear(&unused);
  if (copy->tree.device) return true;
  if (copy->uses_until_retry) {
    copy->uses_until_retry--;
    return false;
  }
  drop_ended(cuda, false);
  copy->is_exposed = true; /* keeps cuda_copies_relieve from dropping it */
  CudaTree *own = cuda_tree(cuda, &copy->tree, &unused);
  if (!own) return copy->uses_until_retry = RETRY_AFTER, copy->is_exposed = false;
  own->is_copy = true;
  own->image_state = CUDA_SAME; /* it needs no image: tasks use only its address */
  return true;
}

typedef struct ArrayRequest {
  CudaDevice *cuda;
  RtCounted *counted;
  const uint8_t *from; /* in: the host's address; out: the address to use */
  uint64_t size_bytes;
  RtArrayUse use;
} ArrayRequest;

/* Lets tasks use the elements in host memory. */
static bool use_host_memory(ArrayRequest *request, CudaCopy *copy, Error *err) {
  request->cuda->arrays_are_used = true;
  return !copy || copy_back(request->cuda, copy, NULL, 0, DEVICE_WRITES, err);
}

static bool expose_copy(ArrayRequest *request, RtCounted *root, CudaCopy *copy, Error *err) {
  CudaDevice *cuda = request->cuda;
  if (cuda->copies_are_stale) unexpose_copies(cuda);
  cuda->copies_are_stale = false;
  if (request->use == RT_ARRAY_TASKS_FOLLOW || !may_copy(cuda, root))
    return use_host_memory(request, copy, err);
  if (!copy) copy = add_copy(cuda, root);
  if (!copy || !ensure_copy(cuda, copy)) return use_host_memory(request, copy, err);
  CudaTree *own = copy->tree.device;
  copy->is_exposed = true;
  ASSERT(request->from >= copy->tree.root, "an address among the copied elements");
  copy->is_written |= request->use == RT_ARRAY_TASKS_WRITE;
  if (!cuda_join(cuda, own->use, err) || !cuda_push(cuda, &copy->tree, NULL, 0, err)) return false;
  own->use = cuda_use_now(cuda);
  request->from =
      (const uint8_t *)(uintptr_t)(own->memory.at + (uint64_t)(request->from - copy->tree.root));
  return true;
}

static bool is_unchanged(const CudaCopy *copy, const RtCounted *root) {
  return copy->tree.root == root->data && copy->tree.root_size == root->size_bytes;
}

/* Without this, a loop of the host region that waits for a task's write would never end, as no task
 * runs after a failed one. */
static bool check_stop(CudaDevice *cuda, const ArrayRequest *request, const CudaCopy *copy,
                       Error *err) {
  const CudaTree *own = copy->tree.device;
  bool waits = own && !cuda_host_has(own, request->from, request->size_bytes);
  return !waits || !cuda->unchecked_tasks || cuda_check_stop(cuda, err);
}

static bool handle_request(void *data, Error *err) {
  ArrayRequest *request = data;
  RtCounted *root = root_of(request->counted);
  CudaCopy *copy = find_copy(request->cuda, root);
  ASSERT(!copy || is_unchanged(copy, root), "an array with a copy stays where it is");
  if (request->use < RT_ARRAY_HOST_READS) return expose_copy(request, root, copy, err);
  if (!copy) return true;
  bool resizes = request->use == RT_ARRAY_HOST_RESIZES;
  DeviceUse use = request->use == RT_ARRAY_HOST_READS ? DEVICE_READS : DEVICE_WRITES;
  if (!check_stop(request->cuda, request, copy, err)) return false;
  if (!copy_back(request->cuda, copy, resizes ? NULL : request->from, request->size_bytes, use,
                 err))
    return false;
  if (resizes) drop_copy(request->cuda, copy);
  return true;
}

const uint8_t *RT_CALL cuda_array_move(RtContext *context, RtCounted *counted, const uint8_t *from,
                                       uint64_t size_bytes, int32_t use) {
  CudaDevice *cuda = context->host;
  ArrayRequest request = {cuda, counted, from, size_bytes, (RtArrayUse)use};
  if (!rt_stopped(context) && !guard_run(handle_request, &request, cuda->err)) context->stop = 1;
  return request.from;
}

/* -- between launches -------------------------------------------------------------------------- */

bool cuda_reach_array(Device *device, RtCounted *counted, const uint8_t *from, uint64_t size_bytes,
                      DeviceUse use, Error *err) {
  CudaDevice *cuda = (CudaDevice *)device;
  CudaCopy *copy = find_copy(cuda, root_of(counted));
  bool is_all = !from;
  if (!copy) return true;
  if (is_all) from = copy->tree.root, size_bytes = copy->tree.root_size;
  if (cuda->is_in_launch ? !copy_back(cuda, copy, from, size_bytes, use, err)
                         : !cuda_reach(device, &copy->tree, from, size_bytes, use, err))
    return false;
  if (is_all) drop_copy(cuda, copy);
  return true;
}

bool cuda_reach_arrays(Device *device, bool forever, Error *err) {
  CudaDevice *cuda = (CudaDevice *)device;
  bool ok = true;
  cuda->has_no_copies |= forever;
  for (CudaCopy *copy = cuda->copies, *next; copy; copy = next) {
    next = copy->next;
    RtCounted *counted = retain_array(cuda, copy);
    if (!counted) continue;
    ok &= cuda_reach_array(device, counted, NULL, 0, DEVICE_WRITES, err);
    release_array(counted);
  }
  return ok;
}

/* Frees all copies, after the runtime has ended. */
void cuda_copies_free(CudaDevice *cuda) {
  while (cuda->copies) drop_copy(cuda, cuda->copies);
}
