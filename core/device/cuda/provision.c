/* provision.c - how much GPU memory a sparse tree gets before a launch, which cannot request more
 * while it runs.
 *
 *     in use   | twice that and MIN_FREE, or a part of the free budget, as positions need |
 *     0       top                                                                       mapped
 *
 * and never much more than the tree can fill. How much is in use is only known on the GPU. The host
 * reads it back when a kernel first uses the tree, and then the less often the less the tree grows:
 *
 *     read --launches--> grew little: next time after twice as many;  much: after one
 *
 * so a steady loop that activates as many cells as it frees never waits. Unused memory of a tree is
 * freed when another allocation fails. Decision D-device-04. */
#include "base/bits.h"
#include "device/cuda/cuda.h"

#define MIN_FREE ((uint64_t)16 << 20)
#define MIN_GROWTH ((uint64_t)256 << 20)
#define NO_BOUND (UINT64_MAX / 4)
#define LARGEST_CHUNK ((uint64_t)4 << 20) /* llvm_bc/node_manager.c */

enum {
  MAX_INTERVAL = 256,
  LITTLE_DIVISOR = 8 /* little growth: less than this fraction of the free space */
};

/* -- bounds ------------------------------------------------------------------------------------ */

static uint64_t multiply_saturating(uint64_t a, uint64_t b) {
  uint64_t product;
  if (__builtin_mul_overflow(a, b, &product) || product > NO_BOUND) return NO_BOUND;
  return product;
}

static uint64_t node_cost(const RtManager *manager) {
  return manager->node_size + manager->info_stride + 9;
}

/* Upper bound of a manager's nodes: one per cell of its ancestors. */
static uint64_t max_nodes(const RtTree *tree, int32_t m) {
  uint64_t count = 1;
  for (; m >= 0; m = tree->managers[m].parent) {
    if (tree->managers[m].is_hash) return NO_BOUND;
    for (int32_t k = 0; k < tree->managers[m].level_count; k++)
      count = multiply_saturating(count, tree->managers[m].levels[k].cell_count);
  }
  return count;
}

/* Upper bound of bytes for a manager's chunks, the last of which may be as large as all earlier
 * ones, and orders. Doubled, since deactivated nodes are not reused before the launch has ended. */
static uint64_t max_manager_bytes(const RtTree *tree, int32_t m) {
  const RtManager *manager = &tree->managers[m];
  uint64_t count = max_nodes(tree, m), least = tree->tiny_chunks ? RT_SEGMENT / 2 : 0,
           cost = node_cost(manager),
           bytes = multiply_saturating(count, cost > least ? cost : least),
           order = multiply_saturating(count, 32 * (uint64_t)(manager->axis_count + 1));
  uint64_t last = bytes < LARGEST_CHUNK ? bytes : LARGEST_CHUNK;
  return multiply_saturating(2, bytes + last + RT_SEGMENT + align_up(cost, RT_SEGMENT)) + order;
}

uint64_t cuda_max_bytes(const RtTree *tree) {
  uint64_t most = tree->bottom + 8 * RT_SEGMENT;
  for (int32_t m = 0; m < tree->manager_count && most < NO_BOUND; m++)
    most += max_manager_bytes(tree, m);
  return most < NO_BOUND ? most : NO_BOUND;
}

/* Memory for this many positions if each activates a node of every manager. */
static uint64_t bytes_needed(const RtTree *tree, uint64_t positions) {
  uint64_t cost = 0;
  for (int32_t m = 0; m < tree->manager_count; m++) cost += node_cost(&tree->managers[m]);
  return multiply_saturating(cost, positions);
}

/* -- memory that other processes also map -------------------------------------------------------
 *
 *     used by nodes | as long as the largest node |
 *     0             usable                        mapped, here and there
 *
 * so the whole node is mapped if its handle is below `usable`. */

static uint64_t slack_of(const CudaTree *own) {
  const RtTree *tree = own->tree;
  uint64_t most = 0;
  if (!own->is_window && !cuda_is_view(tree)) return 0;
  for (int32_t m = 0; m < tree->manager_count; m++)
    if (tree->managers[m].node_size > most) most = tree->managers[m].node_size;
  return align_up(most, RT_SEGMENT);
}

uint64_t cuda_usable_bytes(const CudaTree *own, uint64_t mapped) {
  uint64_t slack = slack_of(own);
  ASSERT(slack % RT_SEGMENT == 0, "slack is whole segments");
  return mapped > slack ? mapped - slack : 0;
}

uint64_t cuda_mapped_for(const CudaTree *own, uint64_t usable) { return usable + slack_of(own); }

/* -- when memory is short ---------------------------------------------------------------------- */

static bool trim(CudaDevice *cuda, CudaTree *tree) {
  if (tree->is_used || tree->is_window || !tree->tree->manager_count) return false;
  if (tree->image_state == CUDA_GPU_IS_NEWER && !cuda_pull_counts(cuda, tree, NULL)) return false;
  if (!cuda_shrink(cuda, &tree->memory, tree->tree->top)) return false;
  tree->interval = 1;             /* read counts before the next launch */
  tree->use = cuda_use_now(cuda); /* all streams are idle, and this one gets more work */
  if (tree->image_state != CUDA_HOST_IS_NEWER) cuda_grow_image(cuda, tree, NULL);
  return true;
}

bool cuda_relieve(CudaDevice *cuda) {
  bool any = false;
  if (cuda->is_relieving) return false; /* called by an allocation below cuda_relieve */
  cuda->is_relieving = true;
  if (cuda_wait_all(cuda, NULL)) {
    for (CudaTree *tree = cuda->trees; tree; tree = tree->next) any |= trim(cuda, tree);
    any |= cuda_trim_heap(cuda);
    any |= cuda_trim_stack(cuda);
    any |= cuda_copies_relieve(cuda);
    any |= cuda_trim_plain(cuda);
  }
  cuda->is_relieving = false;
  return any;
}

/* -- before a launch --------------------------------------------------------------------------- */

static uint64_t remaining_budget(const RtBudget *budget) {
  return budget->limit > budget->used ? budget->limit - budget->used : 0;
}

uint64_t cuda_target_bytes(const CudaTree *own, uint64_t positions) {
  const RtTree *tree = own->tree;
  uint64_t left = remaining_budget(tree->budget), more = bytes_needed(tree, positions);
  if (more < MIN_GROWTH) more = MIN_GROWTH;
  if (more > left / 8) more = left / 8;
  more = (uint64_t)max_i64((int64_t)more, (int64_t)(2 * tree->top + MIN_FREE));
  if (more > left + RT_SEGMENT) more = left + RT_SEGMENT;
  uint64_t target_bytes = tree->top + more;
  uint64_t most = (uint64_t)max_i64((int64_t)own->max_bytes, (int64_t)(2 * tree->top));
  if (target_bytes > most) target_bytes = most;
  if (target_bytes > tree->reserved) target_bytes = tree->reserved;
  return target_bytes > tree->top ? target_bytes : tree->top;
}

/* Maps less than `target_bytes` if the device has less; only memory in use is required. */
static bool ensure_memory(CudaDevice *cuda, CudaTree *own, uint64_t target_bytes, Error *err) {
  uint64_t mapped = own->memory.mapped;
  ASSERT(target_bytes >= own->tree->top, "what is in use stays mapped");
  Error unused;
  error_clear(&unused);
  bool was_used = own->is_used;
  own->is_used = true; /* so that cuda_relieve does not free it */
  if (!own->memory.plain)
    cuda_grow(cuda, &own->memory, cuda_mapped_for(own, target_bytes), &unused);
  bool ok = cuda_grow(cuda, &own->memory, cuda_mapped_for(own, own->tree->top), err);
  own->is_used = was_used;
  return ok && (own->memory.mapped == mapped || own->image_state == CUDA_HOST_IS_NEWER ||
                cuda_grow_image(cuda, own, err));
}

/* Has this code used the tree before? Remembers it. */
static bool is_known(CudaTree *own, const void *code) {
  for (int32_t k = 0; k < CUDA_KNOWN_CODE; k++)
    if (own->known_code[k] == code) return true;
  own->known_code[own->next_known_code++ % CUDA_KNOWN_CODE] = code;
  return false;
}

static bool must_read(CudaTree *own, const void *code, uint64_t positions) {
  bool is_new = !is_known(own, code) || positions / 2 > own->max_positions;
  if (is_new) own->interval = 1;
  return is_new || own->tasks_since_read >= own->interval;
}

static bool read_counts(CudaDevice *cuda, CudaTree *own, Error *err) {
  RtTree *tree = own->tree;
  uint64_t before = tree->top;
  if (!cuda_pull_counts(cuda, own, err) || !cuda_pull_budget(cuda, tree->budget, err)) return false;
  ASSERT(tree->top <= own->memory.mapped, "what is in use is mapped");
  uint64_t grown = tree->top - before, room = own->memory.mapped - tree->top;
  bool is_little = tree->top < before || grown <= room / LITTLE_DIVISOR;
  own->interval = !is_little ? 1 : own->interval < MAX_INTERVAL ? 2 * own->interval : MAX_INTERVAL;
  own->tasks_since_read = 0;
  return true;
}

bool cuda_ensure_room(CudaDevice *cuda, CudaTree *own, const void *code, uint64_t positions,
                      Error *err) {
  if (!own->tree->manager_count || cuda_is_view(own->tree)) return true;
  if (!code) return ensure_memory(cuda, own, own->tree->top, err);
  bool must = must_read(own, code, positions);
  if (own->image_state != CUDA_GPU_IS_NEWER) own->tasks_since_read = 0;
  if (own->tasks_since_read && !must) {
    own->tasks_since_read++;
    return true;
  }
  if (own->tasks_since_read && !read_counts(cuda, own, err)) return false;
  own->tasks_since_read = 1;
  if (positions > own->max_positions) own->max_positions = positions;
  own->target_bytes = cuda_target_bytes(own, positions);
  return ensure_memory(cuda, own, own->target_bytes, err);
}
