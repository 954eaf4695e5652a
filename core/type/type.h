/* type.h - the types of values: scalars, vectors and matrices of them, and structs (table.h).
 *
 * A Type is a number: compare with type_equal, pass by value, print with type_name. Only this room
 * knows its meaning. The numbers of scalars, vectors and matrices are fixed, so they mean the same
 * in every program and need no table: they encode element, rows and columns (type.c). Those from
 * TYPE_TABLE_FIRST on are rows of a TypeTable (table.h): structs and arrays. They also encode how
 * many numbers make a value, so that type_parts needs no table.
 *
 * Invariant: a scalar's number is its ScalarKind; zero is TYPE(NONE).
 * Rows in type.def. Knows nothing of trees or kernels. */
#ifndef RG_TYPE_TYPE_H
#define RG_TYPE_TYPE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

typedef enum ScalarKind {
  TYPE_NONE, /* no value */
#define SCALAR(NAME, ...) TYPE_##NAME,
#include "type/type.def"
#undef SCALAR
  TYPE_PTR,  /* after the pass `places`: a byte address in the device's memory */
  TYPE_PLACE /* the location of an element; has no address yet */
} ScalarKind;

typedef struct Type {
  uint32_t number;
} Type;
enum { TYPE_TABLE_FIRST = 1 << 16, TYPE_ARRAY_BIT = 15 };

#define TYPE(NAME) ((Type){TYPE_##NAME})
static inline Type type_scalar(ScalarKind kind) { return (Type){(uint32_t)kind}; }
static inline bool type_equal(Type a, Type b) { return a.number == b.number; }
static inline bool type_is(Type t, ScalarKind kind) { return t.number == (uint32_t)kind; }
static inline bool type_is_none(Type t) { return type_is(t, TYPE_NONE); }

typedef enum TypeKind {
  TYPE_KIND_SCALAR,
  TYPE_KIND_VECTOR, /* one column, several rows */
  TYPE_KIND_MATRIX,
  TYPE_KIND_STRUCT /* a row of a TypeTable; or an array, whose value is one number: its address */
} TypeKind;
TypeKind type_kind(Type t);
static inline bool type_is_scalar(Type t) { return type_kind(t) == TYPE_KIND_SCALAR; }
static inline bool type_is_vector(Type t) { return type_kind(t) == TYPE_KIND_VECTOR; }
static inline bool type_is_matrix(Type t) { return type_kind(t) == TYPE_KIND_MATRIX; }

static inline bool type_is_struct(Type t) { return type_kind(t) == TYPE_KIND_STRUCT; }
/* Is it a counted array? Its value is the address of a header, as a number; 0: no array. */
static inline bool type_is_array(Type t) {
  return t.number >= TYPE_TABLE_FIRST && (t.number >> TYPE_ARRAY_BIT & 1);
}

/* The type of a scalar, or of every number of a vector or matrix; NONE for others. */
ScalarKind type_scalar_kind(Type t);
bool type_is_bool(Type t);
bool type_is_integer(Type t); /* signed or unsigned, not bool */
bool type_is_signed(Type t);  /* signed integer */
bool type_is_unsigned(Type t);
bool type_is_float(Type t);
int type_size(Type t); /* bytes in memory; bool 1; PTR 8; NONE and PLACE 0; no struct's */
int type_bits(Type t); /* of the scalar: bool 1 */
/* The least and the largest number of an integer type; that of u64 counts as INT64_MAX. */
int64_t type_least(Type t);
int64_t type_most(Type t);
/* In what an element of this scalar type is computed; `t` itself for most, and for other types. */
Type type_computed(Type t);
int type_digits(Type t); /* significant bits of a float */
/* Rounds to the nearest number of a float type, ties to even. */
double type_round(Type t, double value);
/* The smallest magnitude that a float type rounds to infinity; INFINITY for f64. */
double type_overflow(Type t);
/* The bits of a number of a float type narrower than f64, and the number of such bits. */
uint64_t type_encode(Type t, double value);
double type_decode(Type t, uint64_t bits);
/* The first float or unsigned type of this size; NONE: there is none. */
Type type_of_size(bool is_float, int bytes);
const char *type_text(Type t); /* "f32", static storage for scalars */
/* "f32" -> TYPE(F32); false when there is no such type. */
bool type_parse(Str text, Type *type);

/* shaped.c: vectors and matrices, whose names are "vec3", "ivec2", "bvec4", "mat2", and in general
 * "vec(5,f64)" and "mat(3,2,f32)". They have at most TYPE_MAX_PARTS numbers, which are counted row
 * by row. A scalar has one row and one column. A bool counts as a number. */
enum { TYPE_MAX_PARTS = 64, TYPE_NAME_SIZE = 24 };
enum { TYPE_MAX_NUMBERS = 256 }; /* of any value: structs have more than vectors */
int type_rows(Type t);           /* of fixed types */
int type_cols(Type t);
static inline Type type_element(Type t) { return type_scalar(type_scalar_kind(t)); }
/* The number of numbers of a value; of a struct, including all members. */
int type_parts(Type t);
/* A vector if cols is 1, a matrix if it is more; false if there is no such type. */
bool type_make(Type element, int64_t rows, int64_t cols, Type *type);
const char *type_name(Type t, char buffer[TYPE_NAME_SIZE]);
/* The same, and scalars. */
bool type_parse_any(Str text, Type *type);

/* A type whose numbers are of unknown type: its element is NONE.
 * TYPE(NONE) itself is the shape of one number. A struct's shape is the struct. */
typedef Type Shape;
Shape type_shape(Type t);
Shape type_make_shape(int rows, int cols);   /* of numbers that fit: both 1 to TYPE_MAX_PARTS */
Type type_shaped(Type element, Shape shape); /* numbers of this type, in this shape */
/* The type of one number of a value; of a struct, whose numbers have several types, the struct
 * itself. So type_shaped(type_base(t), type_shape(t)) is t. */
static inline Type type_base(Type t) { return type_is_struct(t) ? t : type_element(t); }

/* The contract's promotion: int op float is float (f16 f32 f64 by the wider float), int op int the
 * wider integer, of equal widths the unsigned; bool with bool is bool. False if the two types
 * cannot be combined. */
bool type_join(Type a, Type b, Type *joined);

/* Can the integer type `t` represent `value` (a Lua number) exactly? */
bool type_holds_number(Type t, double value);

#endif
