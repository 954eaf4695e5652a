/* table.h - the types that a program declares: structs, and counted arrays.
 *
 * Equal declarations share one row, so type_equal compares numbers, as for fixed types. A row never
 * changes and lives as long as its table, so a Type is valid as long as the table that it comes
 * from. Fixed types are in every table, even in NULL: their rows are computed on demand.
 *
 * A struct's value is its members' numbers, one after the other, each of its own scalar type:
 *
 *     struct{pos:vec3,child:struct{n:i32,on:bool}}     pos.x pos.y pos.z child.n child.on
 *
 * Its text, as above, is its name everywhere: in C, between Lua and C, in messages (there with
 * spaces). "struct#7{..}" is a different type from "struct{..}": by the number the host
 * distinguishes types with different methods.
 *
 * An array's text is "array(f32)", or "array(f32,2)" with its axes where there are several. Its
 * value is one number, an i64, whatever its elements are, so it can be a member of a struct.
 *
 * Invariant: a row refers only to fixed types and earlier rows. One thread at a time. */
#ifndef RG_TYPE_TABLE_H
#define RG_TYPE_TABLE_H

#include "base/error.h"
#include "base/heap.h"
#include "type/type.h"

typedef struct TypeMember {
  const char *name;
  Type type;
  /* type_struct sets these: */
  int64_t offset; /* bytes */
  int first;      /* of its numbers, among those of the struct */
} TypeMember;

/* One number of a struct's value. */
typedef struct TypeNumber {
  Type type;      /* a scalar */
  int64_t offset; /* bytes */
  bool is_array;  /* it is an array's address */
} TypeNumber;

typedef struct TypeRow {
  TypeKind kind;
  /* VECTOR, MATRIX, an array: of one of them; SCALAR: itself; STRUCT: NONE */
  Type element;
  int rows, cols;            /* VECTOR, MATRIX; others 1 */
  int axis_count;            /* of an array; others 0 */
  const TypeMember *members; /* STRUCT, in its order; borrowed from the table; an array has none */
  int member_count;
  const TypeNumber *numbers; /* STRUCT; borrowed, as many as type_parts */
  const char *name;          /* STRUCT: its text; borrowed */
  int tag;                   /* STRUCT: the number after '#', or 0 */
  int64_t size, alignment;   /* bytes of a value */
} TypeRow;

typedef struct TypeTable {
  Heap *heap;
  TypeRow *rows;
  int count, capacity;
} TypeTable;

enum { TYPE_MAX_AXES = 8, TYPE_DEEPEST = 16 /* structs in structs */, TYPE_ARRAY_WORDS = 48 };

void type_table_init(TypeTable *table, Heap *heap);
void type_table_deinit(TypeTable *table);
TypeRow type_row(const TypeTable *table, Type t);
/* Members lie one after the other, each aligned as C does it. Refuses, each with one sentence: no
 * members, one without a name or with an earlier one's, one whose values have no size (NONE,
 * PLACE), and more than TYPE_MAX_NUMBERS numbers. */
bool type_struct(TypeTable *table, int tag, const TypeMember *members, int count, Type *type,
                 Error *err);
/* Refuses elements that have no size, axes outside 1 to TYPE_MAX_AXES, and arrays that are past the
 * first TYPE_ARRAY_WORDS words of an element. */
bool type_array(TypeTable *table, Type element, int axis_count, Type *type, Error *err);
/* The 8-byte words of a value that are addresses of arrays, one bit each. */
uint64_t type_array_words(const TypeTable *table, Type t);
bool type_has_arrays(const TypeTable *table, Type t);
bool type_number_is_array(const TypeTable *table, Type t, int part);

/* The scalar type of number `part` of a value. */
Type type_number(const TypeTable *table, Type t, int part);
/* Its offset in a value's bytes, laid out as in C. */
int64_t type_offset(const TypeTable *table, Type t, int part);
/* The struct's member of this name, or NULL. */
const TypeMember *type_member(const TypeTable *table, Type t, Str name);

/* Row k's type. */
Type type_table_type(const TypeTable *table, int k);

/* The name of number `part` within a value: ".x", ".pos.y", ".5"; "" for a scalar. */
void type_number_name(const TypeTable *table, Type t, int part, char *out, int room);

/* type_text.c: the name of any type, also of a struct; in `buffer`, or borrowed from the table. */
const char *type_name_in(const TypeTable *table, Type t, char buffer[TYPE_NAME_SIZE]);
/* The inverse; a new struct gets a row. Fails with type.unknown. */
bool type_read(TypeTable *table, Str text, Type *type, Error *err);

#endif
