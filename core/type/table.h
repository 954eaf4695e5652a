/* table.h - the types that a program declares: structs, and counted arrays.
 *
 * Equal declarations get one row, so type_equal stays the question that it is for fixed types. A
 * row never changes, and goes with its table: a Type is good as long as the table that it comes
 * from. Fixed types are in every table, NULL too: their rows are written when somebody asks.
 *
 * A struct's value is its members' numbers, one after the other, each of its own scalar type:
 *
 *     struct{pos:vec3,child:struct{n:i32,on:bool}}     pos.x pos.y pos.z child.n child.on
 *
 * Its text, as above, is its name everywhere: in C, between Lua and C, in messages (there with
 * spaces). "struct#7{..}" is another type than "struct{..}": the host tells apart by the number
 * what it gives different methods to.
 *
 * An array's text is "array(f32)", or "array(f32,2)" with its axes where there are several. Its
 * value is one number, an i64, whatever its elements are; so it is a struct's member as others are.
 *
 * Invariant: what a row is made of is a fixed type or an earlier row. One thread at a time. */
#ifndef RG_TYPE_TABLE_H
#define RG_TYPE_TABLE_H

#include "base/error.h"
#include "base/heap.h"
#include "type/type.h"

typedef struct TypeMember {
  const char *name;
  Type type;
  /* type_struct sets these: */
  int64_t offset;            /* bytes */
  int first;                 /* of its numbers, among those of the struct */
} TypeMember;

/* One number of a struct's value. */
typedef struct TypeNumber {
  Type type;                 /* a scalar */
  int64_t offset;            /* bytes */
  bool is_array;             /* it is an array's address */
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
/* Which 8-byte words of a value are addresses of arrays: a bit each. */
uint64_t type_array_words(const TypeTable *table, Type t);
bool type_has_arrays(const TypeTable *table, Type t);
bool type_number_is_array(const TypeTable *table, Type t, int part);

/* The scalar type of number `part` of a value. */
Type type_number(const TypeTable *table, Type t, int part);
/* Where it is in a value's bytes, as C lays them. */
int64_t type_offset(const TypeTable *table, Type t, int part);
/* The struct's member of this name; NULL: it has none. */
const TypeMember *type_member(const TypeTable *table, Type t, Str name);

/* Row k's type. */
Type type_table_type(const TypeTable *table, int k);

/* What number `part` is called within a value: ".x", ".pos.y", ".5"; "" for a scalar. */
void type_number_name(const TypeTable *table, Type t, int part, char *out, int room);

/* type_text.c: any type's name, a struct's too; in `buffer`, or borrowed from the table. */
const char *type_name_in(const TypeTable *table, Type t, char buffer[TYPE_NAME_SIZE]);
/* The reverse; a struct that is new gets a row. type.unknown with one sentence. */
bool type_read(TypeTable *table, Str text, Type *type, Error *err);

#endif
