/* private_copies.c - see private_copies.h.
 * One reserved range holds the copies of all workers but the first, which works in the tree itself:
 *
 *     | worker 1: as large as the tree's arena, sinks included | gap | worker 2 .. |
 *
 * Invariant: between launches all of it reads zero. The device says by rt.own = NULL that it could not keep that. The gap
 * keeps the same element of two copies from lying a multiple of a page apart. */
#include "tree/private_copies.h"

#include "base/bits.h"

enum { GAP = 33 * RT_GRANULE };

static uint64_t copies_of(const Tree *tree) { return (uint64_t)tree->object.program->device->worker_count - 1; }

static uint64_t distance(const Tree *tree) { return align_up(tree->arena.reserved, RT_SEGMENT) + GAP; }

static bool reserve(Tree *tree) {
  Error unused;
  error_clear(&unused);
  uint64_t copies = copies_of(tree), bytes = copies * distance(tree);
  if (tree->own_is_refused) return false;
  tree->own_offsets = heap_alloc(&tree->object.program->heap, sizeof *tree->own_offsets * (size_t)(copies + 1));
  tree->own_is_refused = !tree->own_offsets || (copies && !arena_reserve(&tree->own, bytes, bytes, &unused));
  if (tree->own_is_refused) return false;
  int64_t first = tree->own.base - tree->rt.base;
  for (uint64_t w = 1; w <= copies; w++) tree->own_offsets[w] = first + (int64_t)((w - 1) * distance(tree));
  return true;
}

/* What the copies may hold is charged as the tree grows. Half of the budget is left to what must have it. */
static bool charge(Tree *tree) {
  RtBudget *budget = &tree->object.program->budget;
  uint64_t needed = copies_of(tree) * (tree->layout->root_size + rt_tree_bytes(&tree->rt));
  if (needed <= tree->own_charged) return true;
  uint64_t more = needed - tree->own_charged;
  if (more > budget->limit / 2 || budget->used > budget->limit / 2 - more) return false;
  budget->used += more;
  if (budget->used > budget->peak) budget->peak = budget->used;
  tree->own_charged = needed;
  return true;
}

void own_prepare(Tree *tree) {
  bool exists = tree->own_offsets && !tree->own_is_refused, was_lost = exists && !tree->rt.own;
  if ((!exists && !reserve(tree)) || !charge(tree)) {
    tree->rt.own = NULL;
    return;
  }
  if (was_lost) arena_discard(tree->own.base, tree->own.reserved);
  tree->rt.own = tree->own_offsets;
}

void own_free(Tree *tree) {
  Program *program = tree->object.program;
  program->budget.used -= tree->own_charged;
  heap_free(&program->heap, tree->own_offsets);
  arena_release(&tree->own);
  tree->own_offsets = NULL;
  tree->own_charged = 0;
  tree->own_is_refused = false;
  tree->rt.own = NULL;
}

void own_trim(Tree *tree) {
  if (tree->own.base) arena_discard(tree->own.base, tree->own.reserved);
  tree->object.program->budget.used -= tree->own_charged;
  tree->own_charged = 0;
}

/* -- where elements lie ------------------------------------------------------------------------------------------------ */

static DeviceScalar scalar_of(Type type) {
  if (type_is_float(type)) return type_size(type) == 8 ? DEVICE_F64 : DEVICE_F32;
  switch (type_size(type)) {
  case 1: return DEVICE_I8;
  case 2: return DEVICE_I16;
  case 4: return DEVICE_I32;
  default: return DEVICE_I64;
  }
}

static void describe(const IrField *field, DeviceOwn *own) {
  const SNode *path[SNODE_MAX_DEPTH], *listed = snode_listed(field->node);
  int count = snode_path(field->node, path), first = listed ? listed->depth : 0;
  *own = (DeviceOwn){.tree = field->tree, .manager = listed ? listed->manager : -1, .scalar = scalar_of(field->type)};
  for (int i = first; i < count; i++) {
    int into = i + 1 < count ? (int)path[i + 1]->component_in_parent : field->component;
    const SNodeComponent *component = &path[i]->components[into];
    own->offset += component->offset;
    if (i == first) continue; /* a node, or the root's container: one cell */
    own->counts[own->depth] = path[i]->cell_count;
    own->strides[own->depth++] = component->stride;
  }
}

static bool is_next_to(const DeviceOwn *a, uint64_t width, const DeviceOwn *b) {
  if (a->tree != b->tree || a->manager != b->manager || a->scalar != b->scalar || a->depth != b->depth) return false;
  for (int32_t k = 0; k < a->depth; k++)
    if (a->counts[k] != b->counts[k] || a->strides[k] != b->strides[k]) return false;
  return b->offset == a->offset + width;
}

/* `width` bytes next to each other in every cell. */
static void close_run(DeviceOwn *own, uint64_t width, uint64_t size) {
  int32_t last = own->depth - 1;
  if (own->depth && own->strides[last] == width) {
    own->counts[last] *= width / size;
    own->strides[last] = size;
    return;
  }
  own->counts[own->depth] = width / size;
  own->strides[own->depth++] = size;
}

int32_t own_describe(const IrKernel *kernel, const int32_t *fields, int32_t field_count, DeviceOwn *out) {
  int32_t count = 0;
  for (int32_t i = 0; i < field_count; count++) {
    uint64_t size = (uint64_t)type_size(kernel->fields.items[fields[i]].type), width = size;
    describe(&kernel->fields.items[fields[i++]], &out[count]);
    for (DeviceOwn next; i < field_count; i++, width += size) {
      describe(&kernel->fields.items[fields[i]], &next);
      if (!is_next_to(&out[count], width, &next)) break;
    }
    close_run(&out[count], width, size);
  }
  return count;
}
