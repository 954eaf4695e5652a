/* masks.c - describes a tree's bitmasked SNodes to the runtime: where their containers are, and
 * what a cell contains. A cell's memory is a list of runs (RtRun): mask words, then slots, whose
 * nodes are freed with the cell, then the rest. Dense levels in between become loops of a run,
 * unless its bytes are contiguous. */
#include "tree/access/cell.h"

/* Lists are visited one by one. A run of this size in bytes keeps their loops from being merged. */
enum { LIST_BYTES = 1 };

/* in the order of RtMask.runs */
typedef enum Content { CONTENT_WORDS, CONTENT_SLOTS, CONTENT_PLAIN, CONTENT_COUNT } Content;

typedef struct Runs {
  RtRun *runs; /* NULL while runs are only counted */
  int32_t count;
  Content wanted;
} Runs;

static void add_loop(RtRun *run, uint64_t count, uint64_t step) {
  if (count == 1) return;
  if (!run->depth && run->size == step) { /* the runs are contiguous */
    run->size *= count;
    return;
  }
  ASSERT(run->depth < RT_MAX_LEVELS, "a run has at most a loop per level");
  run->counts[run->depth] = count;
  run->steps[run->depth++] = step;
}

/* Builds the loops over the cells of `at`, from the inside out, up to the masked SNode. */
static RtRun run_below(const SNode *masked, const SNode *at, const SNodeComponent *in_at,
                       uint64_t offset, uint64_t size) {
  RtRun run = {
      .offset = offset + in_at->offset, .stride = in_at->stride, .size = size, .manager = -1};
  for (const SNodeStep *step = snode_step(at, at); step->node != masked; step--) {
    add_loop(&run, step->cell_count, run.stride);
    run.offset += step->offset;
    run.stride = step->stride;
  }
  return run;
}

static Content content_of(const RtRun *run) {
  return run->is_words ? CONTENT_WORDS : run->manager >= 0 ? CONTENT_SLOTS : CONTENT_PLAIN;
}

static void add_run(Runs *r, const RtRun *run) {
  if (content_of(run) != r->wanted) return;
  if (r->runs) r->runs[r->count] = *run;
  r->count++;
}

/* Adds the contents of a cell of `at`. Depth is limited by SNODE_MAX_DEPTH. */
static void add_runs(Runs *r, const SNode *masked, const SNode *at) {
  for (int k = 0; k < at->component_count; k++) {
    const SNodeComponent *component = &at->components[k];
    const SNode *child = component->child;
    RtRun run;
    /* a hash has no memory in the cell: fill_hashes */
    if (child && snode_has(child, SNODE_KEYED)) continue;
    if (child && snode_has_slots(child)) {
      bool is_list = snode_has_lists(child);
      run = run_below(masked, at, component, 0, is_list ? LIST_BYTES : 4 * child->cell_count);
      run.manager = child->manager;
      run.list_capacity = is_list ? (int32_t)child->cell_count : 0;
    } else if (child) {
      if (snode_has_bits(child)) {
        run =
            run_below(masked, at, component, child->mask_offset, (child->cell_count + 63) / 64 * 8);
        run.is_words = 1;
        add_run(r, &run);
      }
      add_runs(r, masked, child);
      continue;
    } else {
      run = run_below(masked, at, component, 0, (uint64_t)type_size(component->type));
    }
    add_run(r, &run);
  }
}

static void list_runs(Runs *r, const SNode *masked) {
  for (r->wanted = CONTENT_WORDS; r->wanted < CONTENT_COUNT; r->wanted++)
    add_runs(r, masked, masked);
}

/* Describes the containers of `masked` in a node of the nearest node level, or in the root's
 * container. */
static RtRun containers_of(const SNode *masked) {
  RtRun run = {.manager = -1}; /* size 0 at first: containers are visited one by one */
  const SNodeStep *steps = masked->path->steps, *last = snode_step(masked, masked);
  int first = masked->path->node_step > 0 ? masked->path->node_step : 0;
  for (const SNodeStep *step = last; step > &steps[first]; step--) {
    run.offset += step->offset;
    if (step - 1 > &steps[first]) add_loop(&run, step[-1].cell_count, step->stride);
  }
  run.size = masked->container_size;
  return run;
}

/* -- hashes in a cell -------------------------------------------------------------------------- */

static bool is_in_cell(const SNode *hash, const SNode *masked) {
  if (!snode_has(hash, SNODE_KEYED)) return false;
  const SNode *at = hash->parent;
  while (at && at != masked && !snode_is_managed(at)) at = at->parent;
  return at == masked;
}

static void fill_in_cell(RtInCell *in_cell, const SNode *hash, const SNode *masked) {
  const SNodeStep *own = snode_step(hash, hash), *last = snode_step(masked, hash);
  const SNode *holder = snode_node_level(masked);
  const SNodeStep *step = holder ? snode_step(holder, hash) : hash->path->steps;
  ASSERT(hash->manager >= 0, "the cells of a hash are nodes");
  in_cell->manager = hash->manager;
  for (bool is_first = true; step++ != last; is_first = false)
    storage_fill_level(&in_cell->levels[in_cell->level_count++], step, own, is_first);
  for (int k = 0; k < hash->rank; k++)
    in_cell->spans[k] = last->coordinate[k] < 0 ? 0 : last->weight[k];
}

static bool fill_hashes(Heap *heap, RtMask *mask, const SNode *masked, Error *err) {
  const SNodeTree *layout = masked->tree;
  int count = 0;
  for (int m = 0; m < layout->manager_count; m++) count += is_in_cell(layout->managers[m], masked);
  if (!count) return true;
  RtInCell *hashes = heap_alloc(heap, sizeof *hashes * (size_t)count);
  if (!hashes)
    return error_set(err, RG_ERROR_MEMORY, "the host has no memory left for the masks of a tree");
  mask->hashes = hashes;
  for (int m = 0; m < layout->manager_count; m++)
    if (is_in_cell(layout->managers[m], masked))
      fill_in_cell(&hashes[mask->hash_count++], layout->managers[m], masked);
  return true;
}

static const SNode *mask_at(const SNodeTree *layout, int number) {
  for (int k = 0; k < layout->node_count; k++)
    if (layout->nodes[k]->mask == number) return layout->nodes[k];
  return NULL;
}

static bool fill_mask(Heap *heap, RtMask *mask, const SNode *masked, Error *err) {
  ASSERT(masked && snode_has_bits(masked), "each mask number has its SNode");
  const SNode *holder = snode_node_level(masked);
  *mask = (RtMask){.holder = holder ? holder->manager : -1,
                   .mask_offset = masked->mask_offset,
                   .cell_count = masked->cell_count,
                   .containers = containers_of(masked)};
  Runs r = {0};
  list_runs(&r, masked);
  r.runs = heap_alloc(heap, sizeof *r.runs * (size_t)(r.count ? r.count : 1));
  if (!r.runs)
    return error_set(err, RG_ERROR_MEMORY, "the host has no memory left for the masks of a tree");
  int32_t counted = r.count;
  r.count = 0;
  list_runs(&r, masked);
  ASSERT(r.count == counted, "as many runs are filled in as were counted");
  mask->runs = r.runs;
  mask->run_count = r.count;
  return fill_hashes(heap, mask, masked, err);
}

bool masks_create(Tree *tree, Error *err) {
  Heap *heap = tree->store->heap;
  const SNodeTree *layout = tree->layout;
  if (!layout->mask_count) return true;
  tree->rt.masks = heap_alloc(heap, sizeof *tree->rt.masks * (size_t)layout->mask_count);
  if (!tree->rt.masks)
    return error_set(err, RG_ERROR_MEMORY, "the host has no memory left for the masks of a tree");
  tree->rt.mask_count = layout->mask_count;
  for (int m = 0; m < layout->mask_count; m++)
    if (!fill_mask(heap, &tree->rt.masks[m], mask_at(layout, m), err)) return false;
  return true;
}

void masks_free(Tree *tree) {
  Heap *heap = tree->store->heap;
  for (int m = 0; m < tree->rt.mask_count; m++) {
    heap_free(heap, (void *)tree->rt.masks[m].runs);
    heap_free(heap, (void *)tree->rt.masks[m].hashes);
    heap_free(heap, tree->rt.masks[m].was);
  }
  heap_free(heap, tree->rt.masks);
}
