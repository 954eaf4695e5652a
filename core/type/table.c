/* table.c - rows of structs and arrays. See table.h. */
#include "type/table.h"

#include <stdio.h>
#include <string.h>

void type_table_init(TypeTable *table, Heap *heap) { *table = (TypeTable){.heap = heap}; }

static void free_row(Heap *heap, TypeRow *row) {
  for (int k = 0; row->members && k < row->member_count; k++)
    heap_free(heap, (char *)row->members[k].name);
  heap_free(heap, (TypeMember *)row->members);
  heap_free(heap, (TypeNumber *)row->numbers);
  heap_free(heap, (char *)row->name);
}

void type_table_deinit(TypeTable *table) {
  for (int k = 0; k < table->count; k++) free_row(table->heap, &table->rows[k]);
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

/* Row and kind in one number; see type.c. */
Type type_table_type(const TypeTable *table, int k) {
  const TypeRow *row = &table->rows[k];
  uint32_t low = 1u << TYPE_ARRAY_BIT | 1;
  if (!row->axis_count) {
    const TypeMember *last = &row->members[row->member_count - 1];
    low = (uint32_t)(last->first + type_parts(last->type));
  }
  return (Type){TYPE_TABLE_FIRST * (uint32_t)(k + 1) | low};
}

TypeRow type_row(const TypeTable *table, Type t) {
  if (t.number < TYPE_TABLE_FIRST) return fixed_row(t);
  uint32_t number = t.number / TYPE_TABLE_FIRST - 1;
  ASSERT(table && number < (uint32_t)table->count && table->rows[number].kind == type_kind(t),
         "a type is asked of its own table");
  return table->rows[number];
}

Type type_number(const TypeTable *table, Type t, int part) {
  return type_is_struct(t) ? type_row(table, t).numbers[part].type : type_element(t);
}

int64_t type_offset(const TypeTable *table, Type t, int part) {
  if (type_is_struct(t)) return type_row(table, t).numbers[part].offset;
  return (int64_t)part * type_size(type_element(t));
}

bool type_number_is_array(const TypeTable *table, Type t, int part) {
  return type_is_struct(t) && type_row(table, t).numbers[part].is_array;
}

bool type_has_arrays(const TypeTable *table, Type t) {
  for (int part = 0; part < type_parts(t); part++)
    if (type_number_is_array(table, t, part)) return true;
  return false;
}

uint64_t type_array_words(const TypeTable *table, Type t) {
  uint64_t words = 0;
  for (int part = 0; part < type_parts(t); part++)
    if (type_number_is_array(table, t, part))
      words |= (uint64_t)1 << (type_offset(table, t, part) / 8 & 63);
  return words;
}

const TypeMember *type_member(const TypeTable *table, Type t, Str name) {
  TypeRow row = type_row(table, t);
  for (int k = 0; k < row.member_count; k++)
    if (str_is(name, row.members[k].name)) return &row.members[k];
  return NULL;
}

/* -- rows -------------------------------------------------------------------------------------- */

static bool no_memory(Error *err) {
  return error_set(err, RG_ERROR_MEMORY, "the host has no memory left for a type");
}

static bool same_members(const TypeRow *a, const TypeRow *b) {
  if (a->member_count != b->member_count) return false;
  for (int k = 0; k < a->member_count; k++)
    if (!type_equal(a->members[k].type, b->members[k].type) ||
        strcmp(a->members[k].name, b->members[k].name))
      return false;
  return true;
}

static bool same_row(const TypeRow *a, const TypeRow *b) {
  return a->kind == b->kind && type_equal(a->element, b->element) &&
         a->axis_count == b->axis_count && a->tag == b->tag && same_members(a, b);
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

static bool keep_members(TypeTable *table, TypeRow *row) {
  TypeMember *members = heap_alloc(table->heap, sizeof *members * (size_t)row->member_count);
  if (!members) return false;
  memcpy(members, row->members, sizeof *members * (size_t)row->member_count);
  row->members = members;
  for (int k = 0; k < row->member_count; k++) members[k].name = NULL;
  return true;
}

static bool keep_names(TypeTable *table, const TypeRow *row, const TypeMember *from) {
  for (int k = 0; k < row->member_count; k++) {
    TypeMember *member = (TypeMember *)&row->members[k];
    if (!(member->name = heap_copy_text(table->heap, from[k].name))) return false;
  }
  return true;
}

static bool keep_numbers(TypeTable *table, TypeRow *row, int count) {
  TypeNumber *numbers = heap_alloc(table->heap, sizeof *numbers * (size_t)count);
  row->numbers = numbers;
  for (int k = 0; numbers && k < row->member_count; k++) {
    const TypeMember *member = &row->members[k];
    int size = type_is_struct(member->type) ? 0 : type_size(type_element(member->type));
    for (int part = 0; part < type_parts(member->type); part++) {
      TypeNumber inner = {.type = type_element(member->type), .offset = size * part};
      if (!size) inner = type_row(table, member->type).numbers[part];
      inner.offset += member->offset;
      numbers[member->first + part] = inner;
    }
  }
  return numbers != NULL;
}

/* Writes "struct{pos:vec3,mass:f32}" to `out` unless that is NULL; returns the length. */
static int write_name(const TypeTable *table, const TypeRow *row, char *out) {
  char buffer[TYPE_NAME_SIZE], tag[16] = "";
  int length = 0;
  if (row->tag) snprintf(tag, sizeof tag, "#%d", row->tag);
#define PUT(...) length += snprintf(out ? out + length : NULL, out ? 1024 * 1024 : 0, __VA_ARGS__)
  if (row->axis_count) {
    PUT("array(%s", type_name_in(table, row->element, buffer));
    if (row->axis_count > 1) PUT(",%d", row->axis_count);
    PUT(")");
    return length;
  }
  PUT("struct%s{", tag);
  for (int k = 0; k < row->member_count; k++)
    PUT("%s%s:%s", k ? "," : "", row->members[k].name,
        type_name_in(table, row->members[k].type, buffer));
  PUT("}");
#undef PUT
  return length;
}

static bool keep_name(TypeTable *table, TypeRow *row) {
  char *name = heap_alloc(table->heap, (size_t)write_name(table, row, NULL) + 1);
  if (name) write_name(table, row, name);
  row->name = name;
  return name != NULL;
}

/* Copies the borrowed parts of a struct's row into the table. */
static bool keep_struct(TypeTable *table, TypeRow *row) {
  const TypeMember *given = row->members, *last = &given[row->member_count - 1];
  int count = last->first + type_parts(last->type);
  if (!keep_members(table, row)) return false;
  if (keep_names(table, row, given) && keep_numbers(table, row, count) && keep_name(table, row))
    return true;
  free_row(table->heap, row);
  return false;
}

static bool keep_array(TypeTable *table, TypeRow *row) {
  TypeNumber *number = heap_alloc(table->heap, sizeof *number);
  row->numbers = number;
  if (!number) return false;
  *number = (TypeNumber){.type = TYPE(I64), .is_array = true};
  if (keep_name(table, row)) return true;
  free_row(table->heap, row);
  return false;
}

enum { MOST_ROWS = 30000 };

/* Finds the row, or adds it. */
static bool intern(TypeTable *table, TypeRow row, Type *type, Error *err) {
  int k = 0;
  while (k < table->count && !same_row(&table->rows[k], &row)) k++;
  if (k == MOST_ROWS)
    return error_set(err, RG_ERROR_TYPE_UNKNOWN, "a program has at most %d structs", MOST_ROWS);
  if (k == table->count) {
    if (!make_room(table)) return no_memory(err);
    if (!(row.axis_count ? keep_array : keep_struct)(table, &row)) return no_memory(err);
    table->rows[table->count++] = row;
  }
  *type = type_table_type(table, k);
  return true;
}

/* -- declarations ------------------------------------------------------------------------------ */

static bool has_size(const TypeTable *table, Type t) { return type_row(table, t).size > 0; }

static bool check_member(const TypeTable *table, const TypeMember *members, int number,
                         Error *err) {
  const char *name = members[number].name;
  if (!name || !name[0])
    return error_set(err, RG_ERROR_TYPE_UNKNOWN, "a member of a struct has no name");
  for (int k = 0; k < number; k++)
    if (!strcmp(members[k].name, name))
      return error_set(err, RG_ERROR_TYPE_UNKNOWN, "a struct has two members '%.40s'", name);
  return has_size(table, members[number].type) ||
         error_set(err, RG_ERROR_TYPE_UNKNOWN, "member '%.40s' of a struct has no fixed size",
                   name);
}

static int64_t align(int64_t offset, int64_t alignment) {
  return (offset + alignment - 1) / alignment * alignment;
}

/* The next member of `row`, after those before it, which have `first` numbers. */
static bool place_member(const TypeTable *table, TypeMember *members, int number, int first,
                         TypeRow *row, Error *err) {
  if (!check_member(table, members, number, err)) return false;
  TypeRow member = type_row(table, members[number].type);
  members[number].offset = align(row->size, member.alignment);
  members[number].first = first;
  row->size = members[number].offset + member.size;
  if (member.alignment > row->alignment) row->alignment = member.alignment;
  if (first + type_parts(members[number].type) <= TYPE_MAX_NUMBERS) return true;
  return error_set(err, RG_ERROR_TYPE_UNKNOWN,
                   "a struct has at most %d numbers, counting those of "
                   "its vectors and structs",
                   TYPE_MAX_NUMBERS);
}

bool type_struct(TypeTable *table, int tag, const TypeMember *members, int count, Type *type,
                 Error *err) {
  if (count < 1) return error_set(err, RG_ERROR_TYPE_UNKNOWN, "a struct needs at least one member");
  TypeMember *placed = heap_alloc(table->heap, sizeof *placed * (size_t)count);
  if (!placed) return no_memory(err);
  TypeRow row = {.kind = TYPE_KIND_STRUCT,
                 .rows = 1,
                 .cols = 1,
                 .members = placed,
                 .member_count = count,
                 .tag = tag,
                 .alignment = 1};
  memcpy(placed, members, sizeof *placed * (size_t)count);
  bool ok = true;
  for (int k = 0, first = 0; ok && k < count; k++) {
    ok = place_member(table, placed, k, first, &row, err);
    first += ok ? type_parts(placed[k].type) : 0;
  }
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
  for (int part = 0; part < type_parts(element); part++)
    if (type_number_is_array(table, element, part) &&
        type_offset(table, element, part) / 8 >= TYPE_ARRAY_WORDS)
      return error_set(err, RG_ERROR_TYPE_UNKNOWN,
                       "an array inside an element of an array must be in its first %d bytes: "
                       "declare it earlier in the struct",
                       8 * TYPE_ARRAY_WORDS);
  TypeRow row = {.kind = TYPE_KIND_STRUCT,
                 .element = element,
                 .rows = 1,
                 .cols = 1,
                 .axis_count = axis_count,
                 .size = 8,
                 .alignment = 8};
  return intern(table, row, type, err);
}
