/* ty.h - types in the making, and how many numbers a value is. */
#ifndef RG_TYPED_TY_H
#define RG_TYPED_TY_H

#include "type/type.h"

/* From the least to the most determined. A LITERAL takes the type it meets if it fits, a SOFT
 * float the float type it meets. A NUMBER is a live number, or made of some, of which it is
 * still open whether it is an integer; none is left after infer. */
typedef enum TyKind { TY_NONE, TY_BOOL, TY_LITERAL, TY_INT, TY_NUMBER, TY_SOFT, TY_FLOAT } TyKind;
typedef struct Ty {
  TyKind kind;
  Type type;        /* INT, FLOAT: which; LITERAL: which when alone */
  uint8_t bits;     /* LITERAL: how many it needs, without a sign */
  bool is_negative; /* LITERAL */
} Ty;

/* How many numbers a value is, its Shape, stands beside the type of one of them. Shapes follow from
 * the text alone, so resolve knows them all. */

#endif
