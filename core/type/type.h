/* type.h - the types of values: scalars, and vectors and matrices of them.
 * A Type is a value of four bytes: compare with type_equal, pass by value, print with type_text.
 * Rows in type.def. Knows nothing of trees or kernels. */
#ifndef RG_TYPE_TYPE_H
#define RG_TYPE_TYPE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

typedef enum ScalarKind {
  TYPE_NONE, /* no value */
#define SCALAR(NAME, TEXT, BYTES, CLASS) TYPE_##NAME,
#include "type/type.def"
#undef SCALAR
  TYPE_PTR,  /* after the pass `places`: a byte address in the device's memory */
  TYPE_PLACE /* where an element lives; has no address yet */
} ScalarKind;

typedef struct Type {
  uint8_t scalar; /* a ScalarKind */
  uint8_t rows;   /* 1: scalar; vec<n>: n; matrix: rows */
  uint8_t cols;   /* 1: scalar or vector; matrix: columns */
  uint8_t zero;
} Type;

#define TYPE(NAME) ((Type){TYPE_##NAME, 1, 1, 0})
static inline Type type_scalar(ScalarKind kind) { return (Type){(uint8_t)kind, 1, 1, 0}; }
static inline bool type_equal(Type a, Type b) {
  return a.scalar == b.scalar && a.rows == b.rows && a.cols == b.cols;
}
static inline bool type_is_none(Type t) { return t.scalar == TYPE_NONE; }
static inline bool type_is_scalar(Type t) { return t.rows == 1 && t.cols == 1; }

bool type_is_bool(Type t);
bool type_is_integer(Type t);  /* signed or unsigned, not bool */
bool type_is_signed(Type t);   /* signed integer */
bool type_is_unsigned(Type t);
bool type_is_float(Type t);
int type_size(Type t);         /* bytes in memory; bool 1; PTR 8; NONE and PLACE 0 */
int type_bits(Type t);         /* of the scalar: bool 1 */
const char *type_text(Type t); /* "f32", static storage for scalars */
/* "f32" -> TYPE(F32); false when there is no such type. */
bool type_parse(Str text, Type *type);

/* shaped.c: vectors and matrices, whose names are "vec3", "ivec2", "dvec4", "mat2", and in general "vec(5,f64)" and
 * "mat(3,2,f32)". No more than TYPE_MAX_PARTS numbers make one; they are counted row by row. */
enum { TYPE_MAX_PARTS = 16, TYPE_NAME_SIZE = 24 };
static inline Type type_element(Type t) { return type_scalar((ScalarKind)t.scalar); }
static inline int type_parts(Type t) { return t.rows * t.cols; }
bool type_is_vector(Type t); /* one column, several rows */
bool type_is_matrix(Type t);
/* A vector where cols is 1; false where there is no such type. */
bool type_make(Type element, int64_t rows, int64_t cols, Type *type);
const char *type_name(Type t, char buffer[TYPE_NAME_SIZE]);
/* Scalars too. */
bool type_parse_any(Str text, Type *type);

/* The contract's promotion: int op float is float (f16 f32 f64 by the wider float), int op int the
 * wider integer, at one width the unsigned; bool with bool is bool. False where two types do not meet. */
bool type_join(Type a, Type b, Type *joined);

/* Does `value` (a Lua number) have an exact place in the integer type `t`? */
bool type_holds_number(Type t, double value);

#endif
