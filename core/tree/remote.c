/* remote.c - see remote.h. A level's active cells are described to the device as the live nodes of
 * a manager, or the root's container, with nested runs of cells in each. */
#include <string.h>

#include "tree/kind.h"
#include "tree/remote.h"

static bool describe(const SNodePath *path, RtGpuCells *cells) {
  int first = path->node_step + 1;
  bool has_bits = path->sparse_step > path->node_step, is_list = snode_has_lists(path->node);
  *cells = (RtGpuCells){.manager = path->node_step < 0 ? -1 : path->steps[path->node_step].manager,
                        .masked = has_bits ? path->sparse_step - first : -1,
                        .is_list = is_list};
  for (int k = first; k < path->step_count; k++) {
    const SNodeStep *step = &path->steps[k];
    if (cells->depth == RT_MAX_LEVELS) return false;
    cells->offset += step->offset;
    if (k == path->sparse_step && has_bits) cells->mask_offset = cells->offset + step->mask_offset;
    cells->counts[cells->depth] = step->cell_count;
    cells->strides[cells->depth++] = k + 1 < path->step_count ? step[1].stride : 0;
  }
  if (!cells->depth) cells->counts[cells->depth++] = 1; /* the node is the cell */
  return true;
}

bool remote_fill(Field *field, const uint64_t *bits, bool *is_done, Error *err) {
  Device *device = field->store->device;
  RtTree *tree = &field->node->tree->rt;
  DeviceSet set = {0};
  *is_done = false;
  if (!device->table->remote || !tree->device || !describe(field->node->snode->path, &set.cells))
    return true;
  if (!tree_reach(field->node->tree, DEVICE_COUNTS, err)) return false;
  uint64_t offset = set.cells.offset;
  ASSERT(set.cells.depth > 0, "cells are described by loops over them");
  for (int k = 0; k < type_parts(field->type); k++) {
    const SNodeComponent *number = field_number(field, k);
    set.cells.offset = offset + number->offset;
    set.cells.strides[set.cells.depth - 1] = number->stride;
    set.size = (uint64_t)type_size(number->type);
    set.bits = bits[k];
    if (!device->table->remote->set(device, tree, &set, is_done, err)) return false;
    if (!*is_done) return true;
  }
  return true;
}

/* -- copies ------------------------------------------------------------------------------------ */

static bool has_same_types(const Field *field, const Field *from) {
  for (int k = 0; k < type_parts(field->type); k++)
    if (!type_equal(field_number(field, k)->type, field_number(from, k)->type)) return false;
  return true;
}

/* Do both fields have the same cells in the same nodes, or in roots, and are these cells active
 * together? */
static bool have_same_cells(const SNodePath *path, const SNodePath *from, const RtGpuCells *cells,
                            const RtGpuCells *other) {
  bool in_roots =
      cells->manager < 0 && other->manager < 0 && cells->masked < 0 && other->masked < 0;
  if (cells->depth != other->depth || cells->masked != other->masked) return false;
  if (!in_roots && (path->sparse_step != from->sparse_step || path->sparse_step < 0 ||
                    path->steps[path->sparse_step].node != from->steps[from->sparse_step].node))
    return false;
  for (int k = 0; path->node_step + 1 + k < path->step_count; k++)
    if (!snode_has_same_digits(&path->steps[path->node_step + 1 + k],
                               &from->steps[from->node_step + 1 + k]))
      return false;
  return true;
}

/* Copies between fields in the same cells. */
static bool copy_same_cells(Field *field, Field *from, DeviceSet *set, const RtGpuCells *other,
                            bool *is_done, Error *err) {
  Device *device = field->store->device;
  uint64_t offset = set->cells.offset;
  ASSERT(set->cells.depth == other->depth, "both sides are loops of one depth");
  set->from = &from->node->tree->rt;
  memcpy(set->from_strides, other->strides, sizeof set->from_strides);
  for (int k = 0; k < type_parts(field->type); k++) {
    const SNodeComponent *number = field_number(field, k), *of = field_number(from, k);
    set->cells.offset = offset + number->offset;
    set->cells.strides[set->cells.depth - 1] = number->stride;
    set->from_offset = other->offset + of->offset;
    set->from_strides[set->cells.depth - 1] = of->stride;
    set->size = (uint64_t)type_size(number->type);
    if (!device->table->remote->set(device, &field->node->tree->rt, set, is_done, err))
      return false;
    if (!*is_done) return true;
  }
  return true;
}

/* -- between different cells ------------------------------------------------------------------ */

static RtGpuDigits digits_of(const SNodeStep *step) {
  RtGpuDigits digits = {.count = step->digit_count};
  for (int k = 0; k < step->digit_count; k++) {
    digits.positions[k] = step->digits[k].position;
    digits.sizes[k] = step->digits[k].size;
    digits.weights[k] = step->digits[k].weight;
    digits.wraps[k] = step->digits[k].above >= 0;
  }
  return digits;
}

static void fill_copy(const SNode *level, const RtGpuCells *cells, int step_count, int part_count,
                      RtGpuCopy *copy) {
  const SNodePath *path = level->path;
  *copy = (RtGpuCopy){
      .rank = level->rank, .step_count = step_count, .part_count = part_count, .cells = *cells};
  for (int k = 0; k < level->rank; k++) {
    copy->shape[k] = level->shape[k];
    copy->positions[k] = path->node_step < 0 ? -1 : path->steps[path->node_step].coordinate[k];
    copy->weights[k] = path->node_step < 0 ? 0 : path->steps[path->node_step].weight[k];
  }
}

/* The words of a copy of `from` to the cells at `to`, or, if NULL, to a table. In heap memory that
 * the caller frees; NULL with err. */
static RtGpuCopy *make_copy(const Field *from, const RtGpuCells *cells, const SNodePath *to,
                            int32_t *word_count, Error *err) {
  const SNodePath *path = from->node->snode->path;
  int steps = to ? to->step_count : 0, parts = type_parts(from->type), own = path->node_step + 1;
  size_t size_bytes = sizeof(RtGpuCopy) + sizeof(RtGpuDigits) * (size_t)cells->depth +
                      sizeof(RtGpuCopyStep) * (size_t)steps + sizeof(RtGpuCopyPart) * (size_t)parts;
  RtGpuCopy *copy = heap_alloc(from->store->heap, size_bytes);
  if (!copy) {
    error_set(err, RG_ERROR_MEMORY, "the host has no memory left for a copy");
    return NULL;
  }
  *word_count = (int32_t)(size_bytes / sizeof(uint64_t));
  fill_copy(from->node->snode, cells, steps, parts, copy);
  RtGpuDigits *digits = (RtGpuDigits *)(copy + 1);
  for (int k = 0; k < cells->depth; k++) /* without digits if the node is the cell */
    digits[k] = own + k < path->step_count ? digits_of(&path->steps[own + k]) : (RtGpuDigits){0};
  RtGpuCopyStep *step = (RtGpuCopyStep *)(digits + cells->depth);
  for (int k = 0; k < steps; k++)
    step[k] = (RtGpuCopyStep){visit_step(&to->steps[k]), digits_of(&to->steps[k])};
  return copy;
}

static RtGpuCopyPart *parts_of(RtGpuCopy *copy) {
  RtGpuDigits *digits = (RtGpuDigits *)(copy + 1);
  return (RtGpuCopyPart *)((RtGpuCopyStep *)(digits + copy->cells.depth) + copy->step_count);
}

static RtGpuCopyPart part_from(const Field *from, int k) {
  const SNodeComponent *of = field_number(from, k);
  return (RtGpuCopyPart){
      .from_offset = of->offset, .from_stride = of->stride, .size = (uint64_t)type_size(of->type)};
}

static uint64_t cells_in(const RtGpuCells *cells) {
  uint64_t count = 1;
  for (int k = 0; k < cells->depth; k++) count *= cells->counts[k];
  return count;
}

static bool check_copy(Tree *tree, const DeviceCopy *copy, Error *err) {
  return !copy->is_done ||
         cell_check_remote(tree, &copy->error, "the cells could not be copied on the GPU", err);
}

/* An estimate of the target's nodes, if the source's nodes are full. */
static uint64_t positions_of(const Field *from, const RtGpuCells *cells, const RtGpuCells *to) {
  RtTree *tree = &from->node->tree->rt;
  uint64_t nodes = cells->manager < 0 ? 1 : (uint64_t)rt_manager_live(tree, cells->manager);
  return nodes + nodes * cells_in(cells) / cells_in(to);
}

static bool copy_to_other_cells(Field *field, Field *from, const RtGpuCells *to,
                                const RtGpuCells *cells, bool *is_done, Error *err) {
  Device *device = field->store->device;
  Tree *tree = field->node->tree;
  DeviceCopy all = {.positions = positions_of(from, cells, to)};
  RtGpuCopy *copy = make_copy(from, cells, field->node->snode->path, &all.word_count, err);
  if (!copy) return false;
  RtGpuCopyPart *parts = parts_of(copy);
  for (int k = 0; k < copy->part_count; k++) {
    parts[k] = part_from(from, k);
    parts[k].to_offset = field_number(field, k)->offset;
    parts[k].to_stride = field_number(field, k)->stride;
  }
  all.words = (uint64_t *)(void *)copy;
  bool ok = device->table->remote->copy_cells(device, &tree->rt, &from->node->tree->rt, &all, err);
  heap_free(field->store->heap, copy);
  *is_done = ok && all.is_done;
  if (*is_done) tree->store->changes++;
  return ok && check_copy(tree, &all, err);
}

bool remote_copy(Field *field, Field *from, bool *is_done, Error *err) {
  const SNodePath *path = field->node->snode->path, *other_path = from->node->snode->path;
  DeviceSet set = {0};
  RtGpuCells other;
  *is_done = false;
  if (!field->store->device->table->remote || !from->node->tree->rt.device ||
      !describe(path, &set.cells) || !describe(other_path, &other) || !has_same_types(field, from))
    return true;
  if (!tree_reach(from->node->tree, DEVICE_COUNTS, err) ||
      !tree_reach(field->node->tree, DEVICE_COUNTS, err))
    return false;
  if (field->node->tree->rt.device && have_same_cells(path, other_path, &set.cells, &other))
    return copy_same_cells(field, from, &set, &other, is_done, err);
  /* copying would activate cells of the tree that it reads */
  if (field->node->tree == from->node->tree) return true;
  return copy_to_other_cells(field, from, &set.cells, &other, is_done, err);
}

/* -- tables ------------------------------------------------------------------------------------ */

uint64_t remote_offset(const Field *field, int part) {
  uint64_t offset = 0;
  for (int k = 0; k < part; k++) offset += (uint64_t)type_size(field_number(field, k)->type);
  return offset;
}

/* Is every number in the table at a multiple of its size? */
static bool is_aligned(const Field *field) {
  bool does = true;
  for (int k = 0; k < type_parts(field->type); k++) {
    uint64_t size = (uint64_t)type_size(field_number(field, k)->type);
    does &= remote_offset(field, k) % size == 0 &&
            remote_offset(field, type_parts(field->type)) % size == 0;
  }
  return does;
}

static bool read_table(Field *field, const RtGpuCells *cells, uint8_t *table, bool *is_done,
                       Error *err) {
  Device *device = field->store->device;
  uint64_t element = remote_offset(field, type_parts(field->type));
  DeviceCopy all = {.table = table, .element_bytes = element};
  RtGpuCopy *copy = make_copy(field, cells, NULL, &all.word_count, err);
  if (!copy) return false;
  RtGpuCopyPart *parts = parts_of(copy);
  for (int k = 0; k < copy->part_count; k++) {
    parts[k] = part_from(field, k);
    parts[k].to_offset = remote_offset(field, k);
    parts[k].to_stride = element;
  }
  all.words = (uint64_t *)(void *)copy;
  bool ok = device->table->remote->copy_cells(device, NULL, &field->node->tree->rt, &all, err);
  heap_free(field->store->heap, copy);
  *is_done = ok && all.is_done;
  return ok && check_copy(field->node->tree, &all, err);
}

bool remote_read(Field *field, uint8_t **table, Error *err) {
  const SNode *level = field->node->snode;
  uint64_t size_bytes = remote_offset(field, type_parts(field->type));
  RtGpuCells cells;
  bool is_done = false;
  *table = NULL;
  if (!field->store->device->table->remote || !field->node->tree->rt.device ||
      level->path->sparse_step < 0 || !describe(level->path, &cells) || !is_aligned(field))
    return true;
  if (!tree_reach(field->node->tree, DEVICE_COUNTS, err)) return false;
  for (int k = 0; k < level->rank; k++) size_bytes *= (uint64_t)level->shape[k];
  uint8_t *made = heap_alloc(field->store->heap, size_bytes);
  if (!made) return true; /* the host can read the field without a table */
  bool ok = read_table(field, &cells, made, &is_done, err);
  if (ok && is_done) *table = made;
  else heap_free(field->store->heap, made);
  return ok;
}
