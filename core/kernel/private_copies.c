/* private_copies.c - describes the memory of the elements that a task adds to in private copies
 * (device.h: DeviceSum). */
#include "kernel/compile.h"
#include "snode/path.h"

static DeviceScalar scalar_of(Type type) {
  if (type_is_float(type)) return type_size(type) == 8 ? DEVICE_F64 : DEVICE_F32;
  switch (type_size(type)) {
  case 1: return DEVICE_I8;
  case 2: return DEVICE_I16;
  case 4: return DEVICE_I32;
  default: return DEVICE_I64;
  }
}

/* Describes the elements of a field within a node, or the root's container, as nested runs. */
static void describe(const IrField *field, DeviceSum *sum) {
  const SNodePath *path = field->node->path;
  const SNodeComponent *component = &field->node->components[field->component];
  const SNodeComponent *of_field = component - component->part;
  int first = path->node_step < 0 ? 0 : path->node_step;
  *sum = (DeviceSum){.tree = field->tree,
                     .manager = path->node_step < 0 ? -1 : path->steps[first].manager,
                     .scalar = scalar_of(field->type),
                     .offset = component->offset - (field->place ? of_field->offset : 0),
                     .place = field->place};
  for (int i = first + 1; i < path->step_count; i++) {
    bool is_last = i + 1 == path->step_count;
    sum->offset += path->steps[i].offset;
    sum->counts[sum->depth] = path->steps[i].cell_count;
    sum->strides[sum->depth++] = is_last ? component->stride : path->steps[i + 1].stride;
  }
}

/* Describes an array as all of its memory, whatever its extents; each array only once. */
static bool describe_array(const IrKernel *kernel, const IrField *field, DeviceSum *out,
                           int32_t count) {
  int32_t tree = kernel->arrays.items[field->array].tree;
  if (tree < 0) { /* a counted array */
    out[count] = (DeviceSum){.tree = -1, .manager = -1, .scalar = scalar_of(field->type)};
    return true;
  }
  for (int32_t k = 0; k < count; k++)
    if (out[k].tree == tree) return false;
  out[count] = (DeviceSum){.tree = tree,
                           .manager = -1,
                           .scalar = scalar_of(field->type),
                           .is_whole = true,
                           .depth = 1,
                           .strides = {(uint64_t)type_size(field->type)}};
  return true;
}

static bool is_next_to(const DeviceSum *a, uint64_t width, const DeviceSum *b) {
  if (a->tree != b->tree || a->manager != b->manager || a->scalar != b->scalar ||
      a->depth != b->depth || a->place != b->place)
    return false;
  for (int32_t k = 0; k < a->depth; k++)
    if (a->counts[k] != b->counts[k] || a->strides[k] != b->strides[k]) return false;
  return b->offset == a->offset + width;
}

/* Ends a run: `width` contiguous bytes in every cell. */
static void close_run(DeviceSum *sum, uint64_t width, uint64_t size) {
  int32_t last = sum->depth - 1;
  if (sum->depth && sum->strides[last] == width) {
    sum->counts[last] *= width / size;
    sum->strides[last] = size;
    return;
  }
  sum->counts[sum->depth] = width / size;
  sum->strides[sum->depth++] = size;
}

int32_t sums_describe(const IrKernel *kernel, const int32_t *fields, int32_t field_count,
                      DeviceSum *out) {
  int32_t count = 0;
  for (int32_t i = 0; i < field_count; count++) {
    const IrField *first = &kernel->fields.items[fields[i]];
    if (first->array >= 0) {
      count -= !describe_array(kernel, first, out, count);
      i++;
      continue;
    }
    uint64_t size = (uint64_t)type_size(kernel->fields.items[fields[i]].type), width = size;
    describe(&kernel->fields.items[fields[i++]], &out[count]);
    for (DeviceSum next; i < field_count; i++, width += size) {
      if (kernel->fields.items[fields[i]].array >= 0) break;
      describe(&kernel->fields.items[fields[i]], &next);
      if (!is_next_to(&out[count], width, &next)) break;
    }
    close_run(&out[count], width, size);
  }
  return count;
}
