/* node_list.c - access to lists of dynamic nodes from outside kernels, and to a cell's values in
 * the order in which fields were placed. The indices of a list are those of its level, without the
 * last axis. */
#include <string.h>

#include "tree/access/cell.h"

/* Makes the index of the list's first element. */
static bool make_index(const Node *node, const int64_t *index, int32_t index_count,
                       int64_t full[SNODE_MAX_AXES], Error *err) {
  const SNode *snode = node->snode;
  char label[100];
  if (!snode_has_lists(snode)) {
    error_set(err, RG_ERROR_ARGUMENT, "%s has no lists: its cells are those of a %s node",
              node_label(node, label), snode_kind_text(snode->kind));
    return error_hint(err, "declare a list: node:dynamic(\"k\", 1024):place(x)");
  }
  int own = snode_axis_position(snode, snode->axes[0]);
  if (index_count != snode->rank - 1)
    return error_set(err, RG_ERROR_INDEX_COUNT, "a list of %s takes %d %s, %d given",
                     node_label(node, label), snode->rank - 1,
                     snode->rank == 2 ? "index" : "indices", index_count);
  for (int k = 0; k < snode->rank; k++) full[k] = k == own ? 0 : *index++;
  return node_check_index(node, full, snode->rank, node_label(node, label), err);
}

static bool empty_list(Node *node, RtContext *context, uint32_t *list, Error *err) {
  rt_dynamic_clear(context, context->workers, 0, node->snode->manager, list,
                   (int32_t)node->snode->sizes[0], 0, 0);
  if (!cell_refresh(node->tree, err)) return false;
  store_collect(node->tree);
  return true;
}

/* The memory of a component of element `slot`; zeros past the end of the list. */
static uint8_t *element_at(RtContext *context, const SNode *node, uint32_t *list, int64_t slot,
                           const SNodeComponent *component) {
  uint8_t *chunk = rt_slot_find(context, 0, &list[RT_LIST_SLOTS + slot / node->chunk]);
  return cell_element((Cell){chunk, (uint64_t)(slot % node->chunk)}, component);
}

static void pop_element(const Node *node, RtContext *context, uint32_t *list, int64_t *result) {
  int32_t slot = rt_dynamic_pop(context, list, 0);
  *result = slot >= 0;
  for (int k = 0; slot >= 0 && k < node->snode->component_count; k++) {
    const SNodeComponent *component = &node->snode->components[k];
    memset(element_at(context, node->snode, list, slot, component), 0,
           (size_t)type_size(component->type));
  }
}

/* Lets the device empty the list, if it has the newest contents. */
static bool empty_remote(Node *node, const int64_t *index, bool *is_done, Error *err) {
  CellRequest request = {.way = RT_VISIT_CLEAR, .is_list = true, .index = index};
  bool ok = cell_visit_remote(node->tree, node->snode, &request, err);
  *is_done = request.is_done;
  return ok;
}

/* Lets the device pop and zero the element. */
static bool pop_remote(Node *node, const int64_t *index, int64_t *result, bool *is_done,
                       Error *err) {
  CellRequest request = {.way = RT_VISIT_POP,
                         .is_list = true,
                         .index = index,
                         .components = node->snode->components,
                         .component_count = node->snode->component_count};
  bool ok = cell_visit_remote(node->tree, node->snode, &request, err);
  *is_done = request.is_done;
  if (request.is_done) *result = request.is_there;
  return ok;
}

static bool length_remote(Node *node, const int64_t *index, int64_t *result, bool *is_done,
                          Error *err) {
  CellRequest request = {
      .way = RT_VISIT_FIND, .is_list = true, .index = index, .pages_suffice = true};
  bool ok =
      !cell_is_remote(node->tree) || cell_visit_remote(node->tree, node->snode, &request, err);
  *is_done = request.is_done;
  if (request.is_done && request.is_there) *result = request.value;
  return ok;
}

bool node_list_call(Node *node, NodeAction action, const int64_t *index, int32_t index_count,
                    int64_t *result, Error *err) {
  int64_t full[SNODE_MAX_AXES];
  *result = 0;
  /* node_call has laid the tree out */
  if (!make_index(node, index, index_count, full, err)) return false;
  ASSERT(snode_has_lists(node->snode), "only a level of lists has such indices");
  RtContext *context = storage_context(node->tree);
  uint32_t *list;
  bool is_done = false;
  if (action == NODE_DEACTIVATE && !empty_remote(node, full, &is_done, err)) return false;
  if (action == NODE_POP && !pop_remote(node, full, result, &is_done, err)) return false;
  if (action == NODE_LENGTH && !length_remote(node, full, result, &is_done, err)) return false;
  if (is_done) return true;
  if (action != NODE_LENGTH && !tree_reach(node->tree, DEVICE_WRITES, err)) return false;
  if (!cell_locate_list(node->tree, node->snode, full, &list, err)) return false;
  if (!list) return true;
  if (action == NODE_DEACTIVATE) return empty_list(node, context, list, err);
  if (action == NODE_POP) pop_element(node, context, list, result);
  else *result = list[RT_LIST_LENGTH];
  return true;
}

/* -- values, field by field -------------------------------------------------------------------- */

static const SNodeComponent *field_number(const SNode *node, int32_t number) {
  for (int k = 0; k < node->component_count; k++)
    if (!node->components[k].child && node->components[k].part == 0 &&
        !snode_is_derivative(node, k) && number-- == 0)
      return &node->components[k];
  return NULL;
}

/* Converts all values before the list grows, so that it is unchanged if one does not fit. */
static bool convert_values(const Node *node, const RgValue *values, int32_t value_count,
                           uint64_t *bits, Error *err) {
  char label[100];
  const SNodeComponent *field;
  int32_t number = 0;
  for (; (field = field_number(node->snode, number)); number++)
    if (number < value_count &&
        !vector_convert(node->tree->store, field->whole, &values[number],
                        bits + (field - node->snode->components), node_label(node, label), err))
      return false;
  return number == value_count ||
         error_set(err, RG_ERROR_ARGUMENT, "an element of %s has %d %s, %d given",
                   node_label(node, label), number, number == 1 ? "value" : "values", value_count);
}

static bool append_bits(Node *node, const int64_t *full, uint64_t *bits, int64_t *slot,
                        Error *err) {
  const SNode *snode = node->snode;
  CellRequest request = {.way = RT_VISIT_APPEND,
                         .is_list = true,
                         .index = full,
                         .components = snode->components,
                         .component_count = snode->component_count,
                         .bits = bits};
  if (!cell_visit_remote(node->tree, snode, &request, err)) return false;
  *slot = request.value;
  if (request.is_done) return true;
  if (!tree_reach(node->tree, DEVICE_WRITES, err)) return false;
  RtContext *context = storage_context(node->tree);
  uint32_t *list = cell_find_list(context, node->snode, full, true);
  int32_t at = list
                   ? rt_dynamic_append(context, context->workers, 0, snode->manager, list,
                                       (int32_t)snode->chunk, (int32_t)snode->sizes[0], RT_LIST_OWN)
                   : -1;
  if (!cell_refresh(node->tree, err)) return false;
  for (int k = 0; k < snode->component_count; k++)
    memcpy(element_at(context, snode, list, at, &snode->components[k]), &bits[k],
           (size_t)type_size(snode->components[k].type));
  *slot = at;
  return true;
}

bool node_append(Node *node, const int64_t *index, int32_t index_count, const RgValue *values,
                 int32_t value_count, int64_t *slot, Error *err) {
  int64_t full[SNODE_MAX_AXES];
  Heap *heap = node->tree->store->heap;
  *slot = -1;
  if (!tree_lay_out(node->tree, "its first use", err) || !tree_check_own(node->tree, err) ||
      !make_index(node, index, index_count, full, err))
    return false;
  uint64_t *bits =
      heap_alloc(heap, sizeof *bits * ((size_t)node->snode->component_count + TYPE_MAX_NUMBERS));
  if (!bits) return error_set(err, RG_ERROR_MEMORY, "the host has no memory left for an element");
  bool ok = convert_values(node, values, value_count, bits, err) &&
            append_bits(node, full, bits, slot, err);
  heap_free(heap, bits);
  return ok;
}

bool node_value(Node *node, int32_t number, const int64_t *index, int32_t index_count,
                RgValue *value, Error *err) {
  char label[100];
  uint64_t bits[TYPE_MAX_NUMBERS] = {0};
  Cell cell;
  *value = (RgValue){.kind = RG_VALUE_NIL};
  bool is_there;
  if (!tree_lay_out(node->tree, "its first use", err)) return false;
  if (!node_check_index(node, index, index_count, node_label(node, label), err)) return false;
  const SNodeComponent *field = field_number(node->snode, number);
  if (!field) return true;
  CellRequest request = {.way = RT_VISIT_FIND,
                         .index = index,
                         .components = field,
                         .component_count = type_parts(field->whole),
                         .reads = true,
                         .bits = bits,
                         .pages_suffice = true};
  if (cell_is_remote(node->tree) && !cell_visit_remote(node->tree, node->snode, &request, err))
    return false;
  if (request.is_done) {
    *value = vector_value(node->tree->store, field->whole, bits);
    return true;
  }
  if (!cell_locate(node->tree, node->snode, index, &cell, &is_there, err) ||
      (is_there &&
       !cell_reach(node->tree, cell, field, type_parts(field->whole), DEVICE_READS, err)))
    return false;
  if (is_there)
    for (int k = 0; k < type_parts(field->whole); k++)
      memcpy(&bits[k], cell_element(cell, field + k), (size_t)type_size(field[k].type));
  *value = vector_value(node->tree->store, field->whole, bits);
  return true;
}

const char *node_field_type(Node *node, int32_t number) {
  const SNodeComponent *field = field_number(node->snode, number);
  if (!field) return NULL;
  return type_name_in(&node->tree->store->types, field->whole, node->tree->store->vector_type);
}
