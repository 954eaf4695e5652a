/* ty.h - partial types, and how many numbers a value has. */
#ifndef RG_TYPED_TY_H
#define RG_TYPED_TY_H

#include "type/type.h"

/* From least to most determined. A LITERAL takes the type of the other operand if it fits, a
 * FLEXIBLE float its float type. A NUMBER comes from launch arguments not yet known to be
 * integers or floats; none is left after infer. */
typedef enum PartialKind {
  TY_NONE,
  TY_BOOL,
  TY_STRUCT,
  TY_LITERAL,
  TY_INT,
  TY_NUMBER,
  TY_FLEXIBLE,
  TY_FLOAT
} PartialKind;
typedef struct PartialType {
  PartialKind kind;
  Type type;        /* STRUCT, INT, FLOAT: which; LITERAL: its default */
  uint8_t bits;     /* LITERAL: how many it needs, not counting the sign */
  bool is_negative; /* LITERAL */
} PartialType;

/* A value's Shape, the number and arrangement of its numbers, is separate from the type of one of
 * them. Shapes follow from the source alone, so resolve knows them all. */

#endif
