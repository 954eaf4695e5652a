/* table.h - the types that a program declares: structs, and arrays whose extents a launch brings.
 *
 * Row k has the number TYPE_TABLE_FIRST + 2 * k, and one more if it is an array's. Equal
 * declarations get one row, so type_equal stays the question that it is for fixed types. A row
 * never changes, and goes with its table: a Type is good as long as the table that it comes from.
 * Fixed types are in every table, NULL too: their rows are written when somebody asks.
 *
 * Invariant: what a row is made of is a fixed type or an earlier row. One thread at a time. */
#ifndef RG_TYPE_TABLE_H
#define RG_TYPE_TABLE_H

#include "base/error.h"
#include "base/heap.h"
#include "type/type.h"

typedef struct TypeField {
  const char *name;
  Type type;
  int64_t offset;          /* bytes; type_struct sets it */
} TypeField;

typedef struct TypeRow {
  TypeKind kind;
  Type element;            /* ARRAY, VECTOR, MATRIX: of one of them; SCALAR: itself; STRUCT: NONE */
  int rows, cols;          /* VECTOR, MATRIX; others 1 */
  int axis_count;          /* ARRAY; others 0 */
  const TypeField *fields; /* STRUCT, in its order; borrowed from the table */
  int field_count;
  int64_t size, alignment; /* bytes of a value; ARRAY: of one element */
} TypeRow;

typedef struct TypeTable {
  Heap *heap;
  TypeRow *rows;
  int count, capacity;
} TypeTable;

enum { TYPE_MAX_AXES = 8 };

void type_table_init(TypeTable *table, Heap *heap);
void type_table_deinit(TypeTable *table);
TypeRow type_row(const TypeTable *table, Type t);
/* Fields lie one after the other, each aligned as C does it; offsets that are given do not matter.
 * Refuses, each with one sentence: no fields, a field without a name or with an earlier one's, and
 * one whose values have no size (NONE, PLACE, an array). */
bool type_struct(TypeTable *table, const TypeField *fields, int count, Type *type, Error *err);
/* Refuses elements that have no size, and axes outside 1 to TYPE_MAX_AXES. */
bool type_array(TypeTable *table, Type element, int axis_count, Type *type, Error *err);

#endif
