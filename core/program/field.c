/* field.c - a field's handle, and one element at a time. */
#include <stdio.h>
#include <string.h>

#include "program/cell.h"

Field *field_create(Program *program, const char *type, const char *name, Error *err) {
  Type parsed;
  if (!type_parse(str_of(type), &parsed)) {
    error_set(err, RG_ERROR_TYPE_UNKNOWN, "there is no type '%.40s' for fields", type);
    error_hint(err, "bool, i8 i16 i32 i64, u8 u16 u32 u64, f16 f32 f64");
    return NULL;
  }
  Field *field = object_create(program, OBJECT_FIELD, sizeof *field, err);
  if (!field) return NULL;
  field->type = parsed;
  field->name = heap_copy_text(&program->heap, name ? name : "");
  if (field->name) return field;
  error_set(err, RG_ERROR_MEMORY, "the host has no memory left for a field");
  object_release(&field->object);
  return NULL;
}

void field_free(Field *field) {
  if (field->node) object_release(&field->node->tree->object);
  heap_free(&field->object.program->heap, field->name);
  object_free(&field->object);
}

const char *field_label(const Field *field, char buffer[100]) {
  if (field->name[0])
    snprintf(buffer, 100, "field '%.80s'", field->name);
  else
    snprintf(buffer, 100, "a field of %s", type_text(field->type));
  return buffer;
}

bool field_place(Node *node, Field *field, Error *err) {
  char label[100];
  if (!tree_check(node->tree, err)) return false;
  if (field->object.program != node->tree->object.program)
    return error_set(err, RG_ERROR_RUNTIME_MIX, "%s and the node belong to two runtimes", field_label(field, label));
  if (field->node) return error_set(err, RG_ERROR_FIELD_PLACED, "%s has a place already", field_label(field, label));
  int component = snode_place(node->snode, field->type, field->name, err);
  if (component < 0) return false;
  object_retain(&node->tree->object);
  field->node = node;
  field->component = component;
  return true;
}

bool field_settle(Field *field, const char *where, Error *err) {
  char label[100];
  if (!program_check(field->object.program, err)) return false;
  if (!field->node) {
    error_set(err, RG_ERROR_FIELD_UNPLACED, "%s has no place yet", field_label(field, label));
    return error_hint(err, "place it: node:place(x), or give it a shape");
  }
  return tree_settle(field->node->tree, where ? where : "its first use", err);
}

/* Settled, and `index` inside the shape. */
static bool check_access(Field *field, const int64_t *index, int32_t index_count, Error *err) {
  char label[100];
  return field_settle(field, NULL, err) &&
         node_check_index(field->node, index, index_count, field_label(field, label), err);
}

static const SNodeComponent *component_of(const Field *field) {
  return &field->node->snode->components[field->component];
}

static RgValue zero_of(Type type) {
  static const uint64_t zero;
  return value_load(type, &zero);
}

bool field_get(Field *field, const int64_t *index, int32_t index_count, RgValue *value, Error *err) {
  Cell cell;
  if (!check_access(field, index, index_count, err)) return false;
  bool is_active = cell_find(storage_context(field->node->tree), field->node->path, index, &cell);
  *value = is_active ? value_load(field->type, cell_element(cell, component_of(field))) : zero_of(field->type);
  return true;
}

bool field_set(Field *field, const int64_t *index, int32_t index_count, const RgValue *value, Error *err) {
  char label[100];
  uint64_t bits;
  if (!check_access(field, index, index_count, err)) return false;
  if (!value_convert(field->type, value, &bits, field_label(field, label), err)) return false;
  Cell cell = cell_ensure(storage_context(field->node->tree), field->node->path, index);
  if (!cell_settle(field->node->tree, err)) return false;
  memcpy(cell_element(cell, component_of(field)), &bits, (size_t)type_size(field->type));
  return true;
}

bool field_pointer(Field *field, void **pointer, Error *err) {
  static const int64_t first[SNODE_MAX_AXES];
  char label[100];
  Cell cell;
  if (!field_settle(field, NULL, err)) return false;
  if (field->node->path->listed_step >= 0)
    return error_set(err, RG_ERROR_ARGUMENT, "%s has no one place in memory: its cells come and go",
                     field_label(field, label));
  cell_find(storage_context(field->node->tree), field->node->path, first, &cell);
  *pointer = cell_element(cell, component_of(field));
  return true;
}

bool field_next(Field *field, int64_t *state, int64_t *index, RgValue *value, Error *err) {
  Cell cell;
  if (!field_settle(field, NULL, err) || !node_next(field->node, state, index, err)) return false;
  if (*state < 0) return true;
  bool is_active = cell_find(storage_context(field->node->tree), field->node->path, index, &cell);
  *value = is_active ? value_load(field->type, cell_element(cell, component_of(field))) : zero_of(field->type);
  return true;
}
