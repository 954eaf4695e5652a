/* tree.c - a tree's memory on the GPU, and its mirror on the host: which side has the newest
 * contents, page by page, and what is copied when.
 * Only the pages that the host accesses are copied, also of a sparse tree: code that follows a path
 * there calls device_reach at each slot. Code that walks tables, or changes topology, needs all
 * memory in use, and all of it is copied back later. Counts are cheap to read. */
#include <stddef.h>
#include <string.h>

#include "base/bits.h"
#include "device/cuda/cuda.h"
#include "device/host_memory.h"

static bool is_sparse(const RtTree *tree) { return tree->manager_count > 0; }
static uint64_t used_bytes(const RtTree *tree) {
  return is_sparse(tree) ? tree->top : tree->root_size;
}

/* -- pages ------------------------------------------------------------------------------------- */

static bool ensure_pages(CudaDevice *cuda, CudaTree *tree, CudaPage state_of_new, Error *err) {
  uint64_t count = (used_bytes(tree->tree) + tree->page_bytes - 1) / tree->page_bytes;
  if (count <= tree->page_count) return true;
  uint8_t *pages = heap_resize(cuda->device.heap, tree->pages, count);
  if (!pages) return error_set(err, RG_ERROR_MEMORY, "the host has no memory left for a tree");
  memset(pages + tree->page_count, (int)state_of_new, count - tree->page_count);
  tree->pages = pages;
  tree->page_count = count;
  return true;
}

static bool push_shared(CudaDevice *cuda, CudaTree *tree, uint64_t begin, uint64_t end,
                        Error *err) {
  for (uint64_t k = begin; k < end; k++)
    if (!cuda_priors_push(cuda, tree, k, err)) return false;
  return true;
}

/* Moves the pages in begin..end that are newer on one side to the other. */
static bool move_pages(CudaDevice *cuda, CudaTree *tree, uint64_t begin, uint64_t end,
                       CudaPage newer, Error *err) {
  uint64_t used = used_bytes(tree->tree);
  ASSERT(newer != CUDA_SAME, "pages move from the side that has newer ones");
  if (end > tree->page_count) end = tree->page_count;
  for (uint64_t k = begin, past; k < end; k = past) {
    for (past = k + 1; past < end && tree->pages[past] == tree->pages[k];) past++;
    if (tree->pages[k] != newer) continue;
    uint64_t from = k * tree->page_bytes, size_bytes = past * tree->page_bytes - from;
    if (from >= used) break;
    if (size_bytes > used - from) size_bytes = used - from;
    bool ok = newer == CUDA_HOST_IS_NEWER && tree->is_shared ? push_shared(cuda, tree, k, past, err)
              : newer == CUDA_HOST_IS_NEWER
                  ? cuda_write(cuda, tree->memory.at + from, tree->first + from, size_bytes, err)
                  : cuda_read(cuda, tree->first + from, tree->memory.at + from, size_bytes, err);
    if (!ok) return false;
    memset(tree->pages + k, CUDA_SAME, past - k);
  }
  return true;
}

static bool push_pages(CudaDevice *cuda, CudaTree *tree, Error *err) {
  if (!tree->host_has_some) return true;
  bool ok = move_pages(cuda, tree, 0, tree->page_count, CUDA_HOST_IS_NEWER, err);
  tree->host_has_some = !ok;
  return ok;
}

/* -- creating and freeing ---------------------------------------------------------------------- */

/* If memory cannot be mapped later, reserves up to `plain` bytes, and fewer if memory is short. */
static bool reserve_sparse(CudaDevice *cuda, CudaTree *own, uint64_t plain, Error *err) {
  uint64_t least = own->tree->top + RT_SEGMENT;
  Error failed;
  for (;; plain = plain / 2 > least ? align_up(plain / 2, RT_SEGMENT) : least) {
    error_clear(&failed);
    if (cuda_reserve(cuda, &own->memory, own->tree->reserved, plain, &failed)) return true;
    if (plain <= least || failed.code != RG_ERROR_DEVICE_MEMORY)
      return error_add(err, &failed), false;
  }
}

/* The memory of a peer's tree is already mapped. The host cannot see it if the tree is sparse. */
static void use_window_memory(CudaTree *own) {
  own->is_exposed = own->is_shared = !cuda_is_view(own->tree);
  own->host_has_some = false;
}

static bool reserve_memory(CudaDevice *cuda, CudaTree *cuda_tree, Error *err) {
  const RtTree *tree = cuda_tree->tree;
  ASSERT(!cuda_tree->memory.at, "a tree's memory is reserved once");
  if (cuda_symmetric_range(cuda, cuda_tree->first, &cuda_tree->memory))
    return use_window_memory(cuda_tree), true;
  if (cuda_is_view(tree))
    return error_set(err, RG_ERROR_RANK, "the memory of another rank's tree is not mapped here");
  if (!is_sparse(tree)) return cuda_allocate(cuda, &cuda_tree->memory, tree->root_size, err);
  uint64_t plain = cuda_target_bytes(cuda_tree, 0);
  return reserve_sparse(cuda, cuda_tree, align_up(plain, RT_SEGMENT), err);
}

static bool create(CudaDevice *cuda, RtTree *tree, CudaTree *cuda_tree, Error *err) {
  *cuda_tree = (CudaTree){.tree = tree,
                          .first = is_sparse(tree) ? tree->base : tree->root,
                          .page_bytes = cuda_page_bytes(cuda),
                          .image_state = CUDA_HOST_IS_NEWER,
                          .host_has_some = true,
                          .max_bytes = cuda_max_bytes(tree),
                          .use = cuda_use_now(cuda),
                          .interval = 1,
                          .next = cuda->trees};
  if (cuda->trees) cuda->trees->previous = cuda_tree;
  cuda->trees = cuda_tree;
  tree->device = cuda_tree;
  cuda_tree->lists =
      heap_alloc(cuda->device.heap, sizeof *cuda_tree->lists * (size_t)(tree->manager_count + 1));
  cuda_tree->was =
      heap_alloc(cuda->device.heap, sizeof *cuda_tree->was * (size_t)(tree->mask_count + 1));
  if (!cuda_tree->lists || !cuda_tree->was)
    return error_set(err, RG_ERROR_MEMORY, "the host has no memory left for a tree");
  if (!reserve_memory(cuda, cuda_tree, err)) return false;
  CudaPage state_of_new = cuda_tree->is_shared ? CUDA_GPU_IS_NEWER : CUDA_HOST_IS_NEWER;
  return cuda_is_view(tree) || ensure_pages(cuda, cuda_tree, state_of_new, err);
}

CudaTree *cuda_tree(CudaDevice *cuda, RtTree *tree, Error *err) {
  if (tree->device) return tree->device;
  CudaTree *made = heap_alloc(cuda->device.heap, sizeof *made);
  if (!made) {
    error_set(err, RG_ERROR_MEMORY, "the host has no memory left for a tree");
    return NULL;
  }
  if (create(cuda, tree, made, err)) return made;
  cuda_forget(&cuda->device, tree);
  return NULL;
}

static void free_tree(CudaDevice *cuda, CudaTree *tree) {
  if (tree->is_copy) cuda_free_after(cuda, &tree->memory, tree->use);
  else cuda_free(cuda, &tree->memory);
  cuda_free(cuda, &tree->chunks);
  cuda_free(cuda, &tree->owners);
  cuda_free(cuda, &tree->image);
  for (int32_t m = 0; tree->lists && m < tree->tree->manager_count; m++)
    cuda_free(cuda, &tree->lists[m].memory);
  for (int32_t m = 0; tree->was && m < tree->tree->mask_count; m++) cuda_free(cuda, &tree->was[m]);
}

void cuda_forget(Device *device, RtTree *tree) {
  CudaDevice *cuda = (CudaDevice *)device;
  CudaTree *own = tree->device;
  void *context;
  ASSERT(!own || own->tree == tree, "a tree and its memory know each other");
  CudaTree *owner = cuda_owner(cuda, tree);
  if (tree->foreign && (!owner || owner->is_copy)) cuda_abandon(cuda, tree);
  if (owner && !owner->is_copy && owner != own && !--owner->wrap_count && owner->memory.is_external)
    cuda_forget(device, owner->tree);
  if (!own) return;
  bool owns_tree = own->owns_tree;
  DeviceMemory mirror = own->mirror;
  bool is_entered = !cuda->driver.cuCtxPushCurrent_v2(cuda->context);
  free_tree(cuda, own);
  if (is_entered) cuda->driver.cuCtxPopCurrent_v2(&context);
  *(own->previous ? &own->previous->next : &cuda->trees) = own->next;
  if (own->next) own->next->previous = own->previous;
  heap_free(device->heap, own->lists);
  heap_free(device->heap, own->was);
  cuda_priors_drop(cuda, own);
  heap_free(device->heap, own->pages);
  heap_free(device->heap, own);
  tree->device = NULL;
  if (!owns_tree) return;
  if (mirror.base) host_free(device, &mirror);
  heap_free(device->heap, tree);
}

/* -- before a launch --------------------------------------------------------------------------- */

bool cuda_sync_tables(CudaDevice *cuda, CudaTree *tree, Error *err) {
  if (tree->image_state != CUDA_GPU_IS_NEWER) return true;
  if (!cuda_pull_tables(cuda, tree, err) || !cuda_pull_budget(cuda, tree->tree->budget, err))
    return false;
  tree->image_state = CUDA_SAME;
  return ensure_pages(cuda, tree, CUDA_GPU_IS_NEWER, err);
}

static bool pull_all(CudaDevice *cuda, CudaTree *tree, Error *err) {
  if (!cuda_sync_tables(cuda, tree, err)) return false;
  if (!move_pages(cuda, tree, 0, tree->page_count, CUDA_GPU_IS_NEWER, err)) return false;
  tree->is_current = !tree->is_exposed;
  return true;
}

/* Memory that cannot grow in place is moved, through the host, while nothing holds its address. */
static CudaTree *move_plain(CudaDevice *cuda, CudaTree *own, Error *err) {
  RtTree *tree = own->tree;
  if (!own->memory.plain || !is_sparse(tree) || cuda->block_is_current ||
      own->target_bytes / 3 * 2 <= own->memory.mapped)
    return own;
  if (!pull_all(cuda, own, err)) return NULL;
  cuda_forget(&cuda->device, tree);
  own = cuda_tree(cuda, tree, err);
  if (own) own->is_used = true;
  return own;
}

/* Tells the GPU whether other processes now look up the tree's hashes. */
static bool push_is_read(CudaDevice *cuda, CudaTree *own, Error *err) {
  const RtTree *tree = own->tree;
  uint64_t at = cuda_tree_address(own) + offsetof(RtTree, is_read);
  if (own->image_state == CUDA_HOST_IS_NEWER || own->is_read == tree->is_read) return true;
  own->is_read = tree->is_read;
  return cuda_write(cuda, at, &tree->is_read, sizeof tree->is_read, err);
}

/* The host's changes may include pages past the tree's earlier end. */
bool cuda_push(CudaDevice *cuda, RtTree *tree, const void *code, uint64_t positions, Error *err) {
  CudaTree *own = cuda_owner(cuda, tree);
  if (tree->foreign && !own) return true; /* foreign.c */
  if (!own) own = cuda_tree(cuda, tree, err);
  if (!own) return false;
  if (!push_is_read(cuda, own, err)) return false;
  bool is_newer = own->image_state == CUDA_GPU_IS_NEWER; /* then the host changed only elements */
  if (is_newer && !code) return push_pages(cuda, own, err);
  if (!cuda_ensure_room(cuda, own, code, positions, err) || !(own = move_plain(cuda, own, err)))
    return false;
  if (own->image_state == CUDA_GPU_IS_NEWER) return push_pages(cuda, own, err);
  if (own->host_has_all && own->page_count) memset(own->pages, CUDA_HOST_IS_NEWER, own->page_count);
  if (own->host_has_all && !ensure_pages(cuda, own, CUDA_HOST_IS_NEWER, err)) return false;
  if (!push_pages(cuda, own, err)) return false;
  own->host_has_all = false;
  if (own->image_state != CUDA_HOST_IS_NEWER) return true;
  if (!cuda_push_image(cuda, own, err)) return false;
  own->image_state = CUDA_SAME;
  own->is_read = tree->is_read;
  return true;
}

void cuda_note_task(CudaTree *tree, bool changes_topology) {
  if (tree->page_count) memset(tree->pages, CUDA_GPU_IS_NEWER, tree->page_count);
  tree->is_current = false;
  tree->visits = 0;
  if (!is_sparse(tree->tree) || !changes_topology || cuda_is_view(tree->tree)) return;
  cuda_note_tables(tree);
  for (int32_t m = 0; m < tree->tree->manager_count; m++) {
    tree->lists[m].is_current = false;
    tree->lists[m].orders_are_current = 0;
  }
}

void cuda_note_tables(CudaTree *tree) {
  tree->image_state = CUDA_GPU_IS_NEWER;
  tree->counts_are_read = tree->chunks_are_read = false;
}

/* -- before accesses by the host --------------------------------------------------------------- */

static bool pull_counts(CudaDevice *cuda, CudaTree *tree, Error *err) {
  if (tree->image_state != CUDA_GPU_IS_NEWER) return true;
  return (tree->counts_are_read || cuda_pull_counts(cuda, tree, err)) &&
         /* it is shared by all trees and may be newer */
         cuda_pull_budget(cuda, tree->tree->budget, err);
}

static bool pull_chunks(CudaDevice *cuda, CudaTree *tree, Error *err) {
  if (tree->image_state != CUDA_GPU_IS_NEWER || tree->chunks_are_read) return true;
  return cuda_pull_chunks(cuda, tree, err);
}

typedef struct Pages { /* begin..end */
  uint64_t begin, end;
} Pages;

static Pages pages_of(const CudaTree *tree, const uint8_t *from, uint64_t size_bytes) {
  ASSERT(from >= tree->first, "the host's address is in the mirror");
  uint64_t at = (uint64_t)(from - tree->first), page = tree->page_bytes;
  return (Pages){at / page, (at + size_bytes + page - 1) / page};
}

/* Are all these pages tracked, and none newer on the GPU? */
static bool host_has(const CudaTree *tree, Pages pages) {
  if (pages.end > tree->page_count || tree->is_exposed) return false;
  for (uint64_t k = pages.begin; k < pages.end; k++)
    if (tree->pages[k] == CUDA_GPU_IS_NEWER) return false;
  return true;
}

/* A tree that has grown on the GPU has more pages than the host knew. */
static bool pull_pages(CudaDevice *cuda, CudaTree *tree, Pages pages, Error *err) {
  bool has_grown = tree->image_state == CUDA_GPU_IS_NEWER && pages.end > tree->page_count;
  if (has_grown && !tree->counts_are_read && !cuda_pull_counts(cuda, tree, err)) return false;
  if (has_grown && !ensure_pages(cuda, tree, CUDA_GPU_IS_NEWER, err)) return false;
  return move_pages(cuda, tree, pages.begin, pages.end, CUDA_GPU_IS_NEWER, err);
}

/* Other code may have changed any page of exposed memory without notifying us. */
static void assume_changed(CudaTree *tree) {
  if (tree->host_has_all) return; /* the host came later */
  for (uint64_t k = 0; tree->is_exposed && k < tree->page_count; k++)
    if (tree->pages[k] == CUDA_SAME) tree->pages[k] = CUDA_GPU_IS_NEWER;
}

static bool pull_some(CudaDevice *cuda, CudaTree *tree, const Pages *pages, DeviceUse use,
                      Error *err) {
  assume_changed(tree);
  if (use == DEVICE_COUNTS) return pull_counts(cuda, tree, err);
  if (use == DEVICE_TABLES) return pull_chunks(cuda, tree, err);
  return pages ? pull_pages(cuda, tree, *pages, err) : pull_all(cuda, tree, err);
}

static bool pull(CudaDevice *cuda, CudaTree *tree, const uint8_t *from, uint64_t size_bytes,
                 DeviceUse use, Error *err) {
  Pages pages = from ? pages_of(tree, from, size_bytes) : (Pages){0};
  if (from && host_has(tree, pages) && !cuda_is_lost(cuda)) return true;
  if (!cuda_enter(cuda, err)) return false;
  bool ok = cuda_select(cuda, tree->use.stream, err) &&
            pull_some(cuda, tree, from ? &pages : NULL, use, err);
  cuda_select(cuda, 0, NULL);
  cuda_leave(cuda);
  return ok;
}

void cuda_note_bytes(CudaTree *tree, const uint8_t *from, uint64_t size_bytes) {
  Pages pages = pages_of(tree, from, size_bytes);
  for (uint64_t k = pages.begin; k < pages.end && k < tree->page_count; k++)
    tree->pages[k] = CUDA_GPU_IS_NEWER;
  tree->is_current = false;
}

static bool note_host_writes(CudaDevice *cuda, CudaTree *tree, const uint8_t *from,
                             uint64_t size_bytes, Error *err) {
  Pages all = {0, tree->page_count}, pages = from ? pages_of(tree, from, size_bytes) : all;
  tree->host_has_some = true;
  if (!from && !tree->is_shared) {
    tree->host_has_all = true;
    tree->image_state = CUDA_HOST_IS_NEWER;
    return true;
  }
  if (tree->is_shared && !cuda_priors_make(cuda, tree, pages.begin, pages.end, err)) return false;
  for (uint64_t k = pages.begin; k < pages.end && k < tree->page_count; k++)
    tree->pages[k] = CUDA_HOST_IS_NEWER;
  return true;
}

bool cuda_host_has(const CudaTree *tree, const uint8_t *from, uint64_t size_bytes) {
  return tree->is_current || host_has(tree, pages_of(tree, from, size_bytes));
}

bool cuda_reach_in_launch(CudaDevice *cuda, CudaTree *tree, const uint8_t *from,
                          uint64_t size_bytes, DeviceUse use, Error *err) {
  Pages pages = pages_of(tree, from, size_bytes);
  bool ok = cuda_host_has(tree, from, size_bytes) ||
            (cuda_join(cuda, tree->use, err) && pull_pages(cuda, tree, pages, err));
  return ok && (use != DEVICE_WRITES || note_host_writes(cuda, tree, from, size_bytes, err));
}

static bool expose(CudaDevice *cuda, RtTree *tree, Error *err) {
  if (!cuda_finish_all(cuda, err) || !cuda_enter(cuda, err)) return false;
  bool ok = cuda_push(cuda, tree, NULL, 0, err) && cuda_wait_all(cuda, err);
  CudaTree *own = tree->foreign ? cuda_owner(cuda, tree) : tree->device;
  if (ok && own) own->is_exposed = true, own->is_current = false;
  cuda_leave(cuda);
  return ok;
}

/* Finishes and reports queued work on the tree, or all work if it is sparse, as all trees share the
 * budget. */
static bool report_queued(CudaDevice *cuda, const CudaTree *own, Error *err) {
  Device *device = &cuda->device;
  if (!own || own->is_exposed || is_sparse(own->tree)) return cuda_finish_all(cuda, err);
  return !device->report_stream ||
         device->report_stream(device->report_data, own->use.stream, UINT64_MAX, err);
}

bool cuda_reach(Device *device, RtTree *tree, const uint8_t *from, uint64_t size_bytes,
                DeviceUse use, Error *err) {
  if (use == DEVICE_EXPOSES) return expose((CudaDevice *)device, tree, err);
  CudaDevice *cuda = (CudaDevice *)device;
  CudaTree *own = tree->foreign ? cuda_owner(cuda, tree) : tree->device;
  if ((own || tree->foreign) && !report_queued(cuda, own, err)) return false;
  if (!own) return true; /* no task has used it, or its memory is the host's */
  if (!own->is_current && !pull(cuda, own, from, size_bytes, use, err)) return false;
  return use != DEVICE_WRITES || note_host_writes(cuda, own, from, size_bytes, err);
}

bool cuda_locate(Device *device, RtTree *tree, const uint8_t *at, uint64_t *address, Error *err) {
  CudaDevice *cuda = (CudaDevice *)device;
  if (!cuda_enter(cuda, err)) return false;
  CudaTree *own = cuda_owner(cuda, tree);
  bool is_foreign = tree->foreign && !own;
  if (!own && !is_foreign) own = cuda_tree(cuda, tree, err);
  if (own) *address = own->memory.at + (uint64_t)(at - own->first);
  if (own) own->is_located = own->is_copy;
  bool ok = is_foreign ? cuda_locate_foreign(cuda, tree, at, address, err) : own != NULL;
  cuda->now->launched++; /* creating the tree may have queued work that clears memory */
  cuda_leave(cuda);
  return ok;
}

/* -- the budget -------------------------------------------------------------------------------- */

/* Both sides allocate from the budget: what the host took since the last exchange is added to what
 * tasks left. The GPU cannot query the host, so the whole rest is its limit. */
bool cuda_push_budget(CudaDevice *cuda, RtBudget *budget, Error *err) {
  bool is_known = budget->used == cuda->budget_used && budget->limit == cuda->budget_limit;
  if (cuda->budget_is_newer && is_known) return true;
  if (cuda->budget_is_newer && !cuda_pull_budget(cuda, budget, err)) return false;
  RtBudget shown = {.limit = budget->limit, .used = budget->used, .peak = budget->peak};
  cuda->budget_used = budget->used;
  cuda->budget_limit = budget->limit;
  cuda->budget_is_newer = true;
  return cuda_write(cuda, cuda->budget.at, &shown, sizeof shown, err);
}

/* What the host took meanwhile is kept separate from what the GPU reported. */
bool cuda_pull_budget(CudaDevice *cuda, RtBudget *budget, Error *err) {
  RtBudget shown;
  if (!cuda->budget_is_newer) return true;
  if (!cuda_read(cuda, &shown, cuda->budget.at, sizeof shown, err)) return false;
  budget->used += shown.used - cuda->budget_used;
  cuda->budget_used = shown.used;
  if (shown.peak > budget->peak) budget->peak = shown.peak;
  if (budget->used > budget->peak) budget->peak = budget->used;
  return true;
}
