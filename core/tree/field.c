/* field.c - a field's handle, and access to single elements. */
#include <stdio.h>
#include <string.h>

#include "tree/access/cell.h"
#include "tree/packed.h"

static void field_end(Object *object) {
  Field *field = (Field *)object;
  if (field->node) object_release(&field->node->tree->object);
  if (field->gradient) object_release(&field->gradient->object);
  if (field->dual) object_release(&field->dual->object);
  packed_drop(field);
  heap_free(field->store->heap, field->name);
  heap_free(field->store->heap, field->type_name);
  heap_free(field->store->heap, field->packing);
  object_free(&field->object);
}

Field *field_create(Store *store, const char *type, const char *name, Error *err) {
  Field *field = object_create(store->owner, field_end, sizeof *field, err);
  if (!field) return NULL;
  field->store = store;
  if (packed_read_type(field, type, err)) {
    field->name = heap_copy_text(store->heap, name ? name : "");
    if (field->name) return field;
    error_set(err, RG_ERROR_MEMORY, "the host has no memory left for a field");
  }
  object_release(&field->object);
  return NULL;
}

const char *field_label(const Field *field, char buffer[100]) {
  if (field->name[0]) snprintf(buffer, 100, "field '%.80s'", field->name);
  else
    snprintf(buffer, 100, "a field of %.80s", field->packing ? field->packing : field->type_name);
  return buffer;
}

/* Places each number of a vector or struct as a separate component: contiguous per component (soa),
 * or adjacent to the others in records (aos). */
static int place_parts(SNode *node, const Field *field, Error *err) {
  int first = -1, count = type_parts(field->type);
  for (int k = 0; k < count; k++) {
    char name[200];
    int length = snprintf(name, sizeof name, "%.100s", field->name);
    if (field->name[0])
      type_number_name(&field->store->types, field->type, k, name + length,
                       (int)sizeof name - length);
    int component = snode_place_part(node, &field->store->types, field->type, k, name, err);
    if (component < 0) return -1;
    if (k == 0) first = component;
  }
  return first;
}

static bool has_floats(const Field *field) {
  for (int k = 0; k < type_parts(field->type); k++)
    if (type_is_float(type_number(&field->store->types, field->type, k))) return true;
  return false;
}

/* `what` of a field: "gradient" or "dual", by `option` of rg.field. */
static bool check_derivative(const Field *field, const char *what, const char *option, Error *err) {
  char label[100];
  field_label(field, label);
  if (!owner_check(field->object.owner, err)) return false;
  if (field->node) {
    error_set(err, RG_ERROR_FIELD_PLACED, "%s is already placed without a %s", label, what);
    return error_hint(err, "request it where the field is made: rg.field(T, n, { %s = true })",
                      option);
  }
  if (field->packed.kind) {
    error_set(err, RG_ERROR_TYPE_MISMATCH, "%s has no %s: its numbers are packed", label, what);
    return error_hint(err, "use f32 for fields with derivatives, and pack others");
  }
  if (has_floats(field)) return true;
  return error_set(err, RG_ERROR_TYPE_MISMATCH, "%s has no %s: its elements have no floats", label,
                   what);
}

static Field *add_derivative(const Field *field, const char *what, const char *option, Error *err) {
  char label[100], name[220];
  if (!check_derivative(field, what, option, err)) return NULL;
  if (field->name[0]) snprintf(name, sizeof name, "%.200s.%s", field->name, option);
  else snprintf(name, sizeof name, "%s of %.100s", what, field_label(field, label));
  return field_create(field->store, field->type_name, name, err);
}

Field *field_add_gradient(Field *field, Error *err) {
  if (!field->gradient) field->gradient = add_derivative(field, "gradient", "grad", err);
  return field->gradient;
}

Field *field_add_dual(Field *field, Error *err) {
  if (field->gradient && !field_add_dual(field->gradient, err)) return NULL;
  if (!field->dual) field->dual = add_derivative(field, "dual", "dual", err);
  return field->dual;
}

static bool place_derivatives(Node *node, const Field *field, Error *err) {
  Field *gradient = field->gradient, *dual = field->dual;
  if (!gradient && !dual) return true;
  if (gradient && !field_place(node, gradient, err)) return false;
  if (dual && !field_place(node, dual, err)) return false;
  for (int k = 0; k < type_parts(field->type); k++) {
    if (gradient) snode_set_gradient(node->snode, field->component + k, gradient->component + k);
    if (dual) snode_set_dual(node->snode, field->component + k, dual->component + k);
  }
  return true;
}

bool field_check_place(Node *node, Field *field, Error *err) {
  char label[100];
  if (!tree_check(node->tree, err)) return false;
  if (field->store != node->tree->store)
    return error_set(err, RG_ERROR_RUNTIME_MIX, "%s and the node belong to two runtimes",
                     field_label(field, label));
  if (field->node)
    return error_set(err, RG_ERROR_FIELD_PLACED, "%s is already placed", field_label(field, label));
  return true;
}

bool field_place(Node *node, Field *field, Error *err) {
  if (field->packed.kind) return field_place_packed(node, &field, 1, 0, false, err);
  if (!field_check_place(node, field, err)) return false;
  int component = place_parts(node->snode, field, err);
  if (component < 0) return false;
  object_retain(&node->tree->object);
  field->node = node;
  field->component = component;
  return place_derivatives(node, field, err);
}

bool field_lay_out(Field *field, const char *where, Error *err) {
  char label[100];
  const Owner *owner = field->object.owner;
  if (field->node && field->node->tree->has_storage && !owner->has_ended) return true;
  if (!owner_check(owner, err)) return false;
  if (!field->node) {
    error_set(err, RG_ERROR_FIELD_UNPLACED, "%s is not placed yet", field_label(field, label));
    return error_hint(err, "place it: node:place(x), or give it a shape");
  }
  return tree_lay_out(field->node->tree, where ? where : "its first use", err);
}

/* Derivatives have the indices of their field. */
static void set_offset(Field *field, const int64_t *offset, int32_t count) {
  if (!field) return;
  field->has_offset = false;
  for (int k = 0; k < count; k++) field->has_offset |= (field->offset[k] = offset[k]) != 0;
  set_offset(field->gradient, offset, count);
  set_offset(field->dual, offset, count);
}

bool field_set_offset(Field *field, const int64_t *offset, int32_t count, Error *err) {
  char label[100];
  if (!owner_check(field->object.owner, err)) return false;
  const SNode *snode = field->node ? field->node->snode : NULL;
  if (!snode || count != snode->rank)
    return error_set(err, RG_ERROR_ARGUMENT,
                     "an offset needs a number for each axis: %s has %d, not %d",
                     field_label(field, label), snode ? snode->rank : 0, count);
  if (snode_sparse_level(snode) || snode->tree->laid_out)
    return error_set(err, RG_ERROR_ARGUMENT,
                     "an offset can only be set for a dense field that was not used yet");
  for (int k = 0; k < count; k++)
    if (offset[k] < -((int64_t)1 << 53) || offset[k] > (int64_t)1 << 53)
      return error_set(err, RG_ERROR_ARGUMENT, "an offset must be between -2^53 and 2^53");
  set_offset(field, offset, count);
  return true;
}

bool field_prepare(Field *field, DeviceUse use, Error *err) {
  return field_lay_out(field, NULL, err) && tree_reach(field->node->tree, use, err);
}

/* Lays the field out and checks that `index` is inside the shape. *place is the index counted from
 * 0; `room` has space for one. */
static bool check_access(Field *field, const int64_t *index, int32_t index_count, int64_t *room,
                         const int64_t **place, Error *err) {
  char label[100];
  if (!field_lay_out(field, NULL, err)) return false;
  const SNode *snode = field->node->snode;
  if (!index_is_inside(snode->shape, field->offset, snode->rank, index, index_count))
    return node_check_index_from(field->node, field->offset, index, index_count,
                                 field_label(field, label), err);
  *place = index;
  if (!field->has_offset) return true;
  for (int32_t k = 0; k < index_count; k++) room[k] = index[k] - field->offset[k];
  *place = room;
  return true;
}

static const SNodeComponent *component_of(const Field *field) {
  DEBUG_ASSERT(field->component < field->node->snode->component_count, "the field is placed");
  return &field->node->snode->components[field->component];
}

static bool reach_cell(Field *field, Cell cell, DeviceUse use, Error *err) {
  if (!field->store->device->table->access) return true;
  return cell_reach(field->node->tree, cell, component_of(field), type_parts(field->type), use,
                    err);
}

/* Loads zeros if the cell is inactive. */
static RgValue load_numbers(Field *field, bool is_there, Cell cell) {
  uint64_t bits[TYPE_MAX_NUMBERS];
  const SNodeComponent *component = component_of(field);
  int count = type_parts(field->type);
  memset(bits, 0, sizeof *bits * (size_t)count);
  for (int k = 0; is_there && k < count; k++)
    memcpy(&bits[k], cell_element(cell, component + k), (size_t)type_size(component[k].type));
  return vector_value(field->store, field->type, bits);
}

/* Does the path to its cells contain a hash table? Such a table is fetched as a whole. */
static bool has_table(const Field *field) {
  const SNodePath *path = field->node->snode->path;
  for (int k = 0; k < path->step_count; k++)
    if (snode_kind_has(path->steps[k].kind, SNODE_KEYED)) return true;
  return false;
}

static CellRequest request_numbers(const Field *field, const int64_t *index, RtVisitWay way,
                                   uint64_t *bits) {
  return (CellRequest){.way = way,
                       .index = index,
                       .pages_suffice = true,
                       .components = component_of(field),
                       .component_count = type_parts(field->type),
                       .bits = bits};
}

/* Can the device visit single cells? */
static bool visits_remotely(const Field *field) {
  return field->store->device->table->remote != NULL;
}

/* Reads through the device, if it has the newest contents. */
static bool read_remote(Field *field, const int64_t *index, RgValue *value, bool *is_done,
                        Error *err) {
  uint64_t bits[TYPE_MAX_NUMBERS];
  int count = type_parts(field->type);
  memset(bits, 0, sizeof *bits * (size_t)count);
  CellRequest request = request_numbers(field, index, RT_VISIT_FIND, bits);
  request.reads = true;
  *is_done = false;
  if (!has_table(field) && !cell_is_remote(field->node->tree)) return true;
  if (!cell_visit_remote(field->node->tree, field->node->snode, &request, err)) return false;
  *is_done = request.is_done;
  if (request.is_done)
    *value = type_is_scalar(field->type) ? value_load(field->type, bits)
                                         : vector_value(field->store, field->type, bits);
  return true;
}

/* Reads zeros for an inactive cell. */
static bool read_cell(Field *field, const int64_t *index, RgValue *value, Error *err) {
  if (field->words) return packed_get(field, index, value, err);
  Cell cell = {0};
  bool is_there, is_read = false;
  if (visits_remotely(field) && !read_remote(field, index, value, &is_read, err)) return false;
  if (is_read) return true;
  if (!cell_locate(field->node->tree, field->node->snode, index, &cell, &is_there, err))
    return false;
  if (is_there && !reach_cell(field, cell, DEVICE_READS, err)) return false;
  *value = is_there && type_is_scalar(field->type)
               ? value_load(field->type, cell_element(cell, component_of(field)))
               : load_numbers(field, is_there, cell);
  return true;
}

bool field_get(Field *field, const int64_t *index, int32_t index_count, RgValue *value,
               Error *err) {
  int64_t room[SNODE_MAX_AXES];
  return check_access(field, index, index_count, room, &index, err) &&
         read_cell(field, index, value, err);
}

bool field_convert(const Field *field, const RgValue *from, RgValue *to, Error *err) {
  char label[100];
  uint64_t bits[TYPE_MAX_NUMBERS];
  if (!vector_convert(field->store, field->type, from, bits, field_label(field, label), err))
    return false;
  if (field->words && !packed_check_fit(field, bits, err)) return false;
  if (field->words) packed_round(field, bits);
  *to = vector_value(field->store, field->type, bits);
  return true;
}

/* Lets the device write. With pages_suffice, the host could fetch the cell's pages instead. */
static bool write_remote(Field *field, const int64_t *index, uint64_t *bits, bool pages_suffice,
                         bool *is_done, Error *err) {
  *is_done = false;
  if (!visits_remotely(field)) return true;
  CellRequest request = request_numbers(field, index, RT_VISIT_ENSURE, bits);
  request.pages_suffice = pages_suffice;
  bool ok = cell_visit_remote(field->node->tree, field->node->snode, &request, err);
  *is_done = request.is_done;
  return ok;
}

/* Activates the cell if it is inactive. The tree does not count mask bits, but the store notes
 * changes. */
static bool ensure_cell(Field *field, const int64_t *index, uint64_t *bits, Cell *cell,
                        bool *is_written, Error *err) {
  Tree *tree = field->node->tree;
  const SNode *level = field->node->snode;
  bool is_there;
  if (!tree_check_own(tree, err)) return false;
  if (!write_remote(field, index, bits, true, is_written, err)) return false;
  if (*is_written) return true;
  if (!cell_locate(tree, level, index, cell, &is_there, err)) return false;
  if (is_there) return true;
  if (!write_remote(field, index, bits, false, is_written, err)) return false;
  if (*is_written) return true;
  if (!tree_reach(tree, DEVICE_WRITES, err)) return false;
  if (level->path->sparse_step != level->path->node_step) tree->store->changes++;
  *cell = cell_ensure(storage_context(tree), level, index);
  return cell_refresh(tree, err);
}

bool field_set(Field *field, const int64_t *index, int32_t index_count, const RgValue *value,
               Error *err) {
  char label[100];
  uint64_t bits[TYPE_MAX_NUMBERS];
  int64_t room[SNODE_MAX_AXES];
  if (!check_access(field, index, index_count, room, &index, err)) return false;
  if (!vector_convert(field->store, field->type, value, bits, NULL, NULL))
    return vector_convert(field->store, field->type, value, bits, field_label(field, label), err);
  if (field->words) return packed_set(field, index, bits, err);
  Cell cell;
  bool is_written;
  if (!ensure_cell(field, index, bits, &cell, &is_written, err)) return false;
  if (is_written) return true;
  if (!reach_cell(field, cell, DEVICE_WRITES, err)) return false;
  const SNodeComponent *component = component_of(field);
  int count = type_parts(field->type);
  for (int k = 0; k < count; k++)
    memcpy(cell_element(cell, component + k), &bits[k], (size_t)type_size(component[k].type));
  return true;
}

/* Are its elements one contiguous row-major block, as a C array? */
static bool is_one_block(const Field *field, Cell cell) {
  const SNodeComponent *first = component_of(field);
  TypeRow row = type_row(&field->store->types, field->type);
  const uint8_t *start = cell_element(cell, first);
  int64_t size = type_is_struct(field->type) ? 0 : type_size(type_element(field->type));
  for (int k = 1; k < type_parts(field->type); k++)
    if (cell_element(cell, first + k) - start != (size ? k * size : row.numbers[k].offset))
      return false;
  return size || first->stride == (uint64_t)row.size;
}

/* From now on, code that has the address may write there. */
static bool reach_pointer(Field *field, const uint8_t *at, void **pointer, Error *err) {
  uint64_t address;
  Device *device = field->store->device;
  RtTree *tree = &field->node->tree->rt;
  if (!device_reach(device, tree, NULL, 0, DEVICE_EXPOSES, err) ||
      !device_locate(device, tree, at, &address, err))
    return false;
  *pointer = (void *)(uintptr_t)address;
  return true;
}

bool field_pointer(Field *field, void **pointer, Error *err) {
  static const int64_t first[SNODE_MAX_AXES];
  char label[100];
  Cell cell;
  if (!field_lay_out(field, NULL, err)) return false;
  if (field->words) {
    error_set(err, RG_ERROR_ARGUMENT, "%s has no address: its numbers are packed in words",
              field_label(field, label));
    return error_hint(err, "copy them to a field of their type: y:copy_from(x), y:pointer()");
  }
  if (field->node->snode->path->sparse_step >= 0)
    return error_set(err, RG_ERROR_ARGUMENT, "%s is not contiguous in memory: it is sparse",
                     field_label(field, label));
  cell_find(storage_context(field->node->tree), field->node->snode, first, &cell);
  if (!is_one_block(field, cell)) {
    error_set(err, RG_ERROR_ARGUMENT,
              "%s is not contiguous in memory: each of its components is stored separately",
              field_label(field, label));
    return error_hint(err, "layout = \"aos\" keeps vectors together");
  }
  return reach_pointer(field, cell_element(cell, component_of(field)), pointer, err);
}

bool field_next(Field *field, int64_t *state, int64_t *index, RgValue *value, Error *err) {
  if (!field_lay_out(field, NULL, err) || !node_next(field->node, state, index, err)) return false;
  if (*state < 0) return true;
  if (!read_cell(field, index, value, err)) return false;
  for (int k = 0; field->has_offset && k < field->node->snode->rank; k++)
    index[k] += field->offset[k];
  return true;
}
