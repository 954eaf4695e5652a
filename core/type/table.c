/* table.c - rows of structs and arrays. See table.h. */
#include "type/table.h"

#include <string.h>

void type_table_init(TypeTable *table, Heap *heap) { *table = (TypeTable){.heap = heap}; }

static void free_fields(Heap *heap, const TypeField *fields, int count) {
  for (int k = 0; fields && k < count; k++) heap_free(heap, (char *)fields[k].name);
  heap_free(heap, (TypeField *)fields);
}

void type_table_deinit(TypeTable *table) {
  for (int k = 0; k < table->count; k++)
    free_fields(table->heap, table->rows[k].fields, table->rows[k].field_count);
  heap_free(table->heap, table->rows);
  type_table_init(table, table->heap);
}

static TypeRow fixed_row(Type t) {
  Type element = type_element(t);
  return (TypeRow){.kind = type_kind(t),
                   .element = element,
                   .rows = type_rows(t),
                   .cols = type_cols(t),
                   .size = type_size(t),
                   .alignment = type_size(element)};
}

TypeRow type_row(const TypeTable *table, Type t) {
  if (t.number < TYPE_TABLE_FIRST) return fixed_row(t);
  uint32_t number = (t.number - TYPE_TABLE_FIRST) / 2;
  ASSERT(table && number < (uint32_t)table->count && table->rows[number].kind == type_kind(t),
         "a type is asked of its own table");
  return table->rows[number];
}

/* -- rows -------------------------------------------------------------------------------------- */

static bool no_memory(Error *err) {
  return error_set(err, RG_ERROR_MEMORY, "the host has no memory left for a type");
}

static bool same_fields(const TypeRow *a, const TypeRow *b) {
  if (a->field_count != b->field_count) return false;
  for (int k = 0; k < a->field_count; k++)
    if (!type_equal(a->fields[k].type, b->fields[k].type) ||
        strcmp(a->fields[k].name, b->fields[k].name))
      return false;
  return true;
}

static bool same_row(const TypeRow *a, const TypeRow *b) {
  return a->kind == b->kind && type_equal(a->element, b->element) &&
         a->axis_count == b->axis_count && same_fields(a, b);
}

static bool make_room(TypeTable *table) {
  if (table->count < table->capacity) return true;
  int capacity = table->capacity ? 2 * table->capacity : 8;
  TypeRow *rows = heap_resize(table->heap, table->rows, sizeof *rows * (size_t)capacity);
  if (!rows) return false;
  table->rows = rows;
  table->capacity = capacity;
  return true;
}

/* What `row` borrows becomes the table's. */
static bool keep_fields(TypeTable *table, TypeRow *row) {
  if (!row->field_count) return true;
  TypeField *fields = heap_alloc(table->heap, sizeof *fields * (size_t)row->field_count);
  for (int k = 0; fields && k < row->field_count; k++) {
    fields[k] = row->fields[k];
    fields[k].name = heap_copy_text(table->heap, row->fields[k].name);
    if (fields[k].name) continue;
    free_fields(table->heap, fields, k);
    return false;
  }
  row->fields = fields;
  return fields != NULL;
}

/* The number of `row`, which may be there already. */
static bool intern(TypeTable *table, TypeRow row, Type *type, Error *err) {
  int k = 0;
  while (k < table->count && !same_row(&table->rows[k], &row)) k++;
  if (k == table->count) {
    if (!make_room(table) || !keep_fields(table, &row)) return no_memory(err);
    table->rows[table->count++] = row;
  }
  *type = (Type){TYPE_TABLE_FIRST + 2 * (uint32_t)k + (row.kind == TYPE_KIND_ARRAY)};
  return true;
}

/* -- what is declared -------------------------------------------------------------------------- */

static bool has_size(const TypeTable *table, Type t) {
  return type_kind(t) != TYPE_KIND_ARRAY && type_row(table, t).size > 0;
}

static bool check_field(const TypeTable *table, const TypeField *fields, int number, Error *err) {
  const char *name = fields[number].name;
  if (!name || !name[0])
    return error_set(err, RG_ERROR_TYPE_UNKNOWN, "a field of a struct has no name");
  for (int k = 0; k < number; k++)
    if (!strcmp(fields[k].name, name))
      return error_set(err, RG_ERROR_TYPE_UNKNOWN, "a struct has two fields '%.40s'", name);
  return has_size(table, fields[number].type) ||
         error_set(err, RG_ERROR_TYPE_UNKNOWN, "field '%.40s' of a struct has no fixed size", name);
}

static int64_t align(int64_t offset, int64_t alignment) {
  return (offset + alignment - 1) / alignment * alignment;
}

/* The next field of `row`, after those before it. */
static bool place_field(const TypeTable *table, TypeField *fields, int number, TypeRow *row,
                        Error *err) {
  if (!check_field(table, fields, number, err)) return false;
  TypeRow field = type_row(table, fields[number].type);
  fields[number].offset = align(row->size, field.alignment);
  row->size = fields[number].offset + field.size;
  if (field.alignment > row->alignment) row->alignment = field.alignment;
  return true;
}

bool type_struct(TypeTable *table, const TypeField *fields, int count, Type *type, Error *err) {
  if (count < 1) return error_set(err, RG_ERROR_TYPE_UNKNOWN, "a struct has a field at least");
  TypeField *placed = heap_alloc(table->heap, sizeof *placed * (size_t)count);
  if (!placed) return no_memory(err);
  TypeRow row = {.kind = TYPE_KIND_STRUCT,
                 .rows = 1,
                 .cols = 1,
                 .fields = placed,
                 .field_count = count,
                 .alignment = 1};
  memcpy(placed, fields, sizeof *placed * (size_t)count);
  bool ok = true;
  for (int k = 0; ok && k < count; k++) ok = place_field(table, placed, k, &row, err);
  row.size = align(row.size, row.alignment);
  ok = ok && intern(table, row, type, err);
  heap_free(table->heap, placed);
  return ok;
}

bool type_array(TypeTable *table, Type element, int axis_count, Type *type, Error *err) {
  if (axis_count < 1 || axis_count > TYPE_MAX_AXES)
    return error_set(err, RG_ERROR_TYPE_UNKNOWN, "an array has 1 to %d axes", TYPE_MAX_AXES);
  if (!has_size(table, element))
    return error_set(err, RG_ERROR_TYPE_UNKNOWN, "an element of an array has no fixed size");
  TypeRow of = type_row(table, element);
  TypeRow row = {.kind = TYPE_KIND_ARRAY, .element = element, .rows = 1, .cols = 1,
                 .axis_count = axis_count, .size = of.size, .alignment = of.alignment};
  return intern(table, row, type, err);
}
