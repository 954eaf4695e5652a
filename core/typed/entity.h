/* entity.h - what an expression denotes. */
#ifndef RG_TYPED_ENTITY_H
#define RG_TYPED_ENTITY_H

#include "ir/ir.h"
#include "typed/input.h"
#include "typed/ty.h"

typedef enum EntityKind {
  ENTITY_NONE,     /* the kernel failed before */
  ENTITY_VALUE,    /* a number or bool: a local, a literal, an operation, a call */
  ENTITY_LIVE,     /* a captured number or an unassigned parameter: `live` */
  ENTITY_CONSTANT, /* an integer that layouts fix: `#x`, `x.shape[0]`: `constant` */
  ENTITY_ELEMENT,  /* a field with all its indices: a value, and what can be assigned */
  ENTITY_PART,  /* some numbers of the vector or matrix `left`: `v.x` `v.zy` `v[i]`; can be assigned where `left` can */
  ENTITY_FIELD, /* with `indexed` of its indices, fewer than all */
  ENTITY_NODE,
  ENTITY_SHAPE,
  ENTITY_TYPE,
  ENTITY_BUILTIN,
  ENTITY_LOOP, /* rg.range(..) or x:active(): the head of a loop */
  ENTITY_VOID, /* a call that gives nothing */
  ENTITY_OTHER /* a function, a table, a string ..: `what` */
} EntityKind;

typedef enum Algebra {
  ALGEBRA_NONE,
  ALGEBRA_DOT,
  ALGEBRA_CROSS,
  ALGEBRA_NORM,
  ALGEBRA_NORMALIZE,
  ALGEBRA_OUTER,
  ALGEBRA_TRANSPOSE,
  ALGEBRA_TRACE,
  ALGEBRA_DETERMINANT,
  ALGEBRA_INVERSE,
  ALGEBRA_CLAMP,
  ALGEBRA_MIX,
  ALGEBRA_STEP,
  ALGEBRA_SMOOTHSTEP,
  ALGEBRA_SELECT
} Algebra;

typedef enum BuiltinForm {
  FORM_RANGE,
  FORM_FLOAT,
  FORM_LOG,
  FORM_ANGLE,
  FORM_JOIN,
  FORM_ROUND,
  FORM_BITS,
  FORM_SHIFT,
  FORM_TOBIT,
  FORM_RESCALE, /* a function that is written out: rescale.c */
  FORM_SHAPER, /* rg.vec, rg.mat: makes a type */
  FORM_DECOMPOSE, /* of a square matrix, with several results: decompose.c */
  FORM_ALGEBRA /* of vectors and matrices as a whole, and what shaders have: algebra.c */
} BuiltinForm;
typedef struct Builtin {
  const char *name;
  BuiltinForm form;
  IrOp op;
  int least, most;
  int algebra; /* ALGEBRA: which */
} Builtin;

typedef enum MethodForm {
  METHOD_RMW, METHOD_CAS, METHOD_TOPOLOGY, METHOD_IS_ACTIVE, METHOD_COUNT, METHOD_CLEAR,
  METHOD_LIST, METHOD_ITEMS, METHOD_ACTIVE, METHOD_MODIFIER, METHOD_OUTSIDE
} MethodForm;
typedef struct Method {
  const char *name;
  MethodForm form;
  int op;
  int values;
} Method;

typedef struct Entity {
  EntityKind kind;
  const SNode *node;      /* ELEMENT, FIELD, NODE, SHAPE; of a METHOD call: of its object */
  int component;          /* ELEMENT, FIELD: the first of them, where an element has several numbers */
  const int64_t *offset;  /* ELEMENT, FIELD, SHAPE: where its indices start, per axis; NULL: at 0 */
  Shape shape;            /* of a value; ELEMENT, FIELD: of an element; TYPE: of its values */
  int part_count;         /* PART by names, LIVE with names behind: which numbers, counted row by row */
  uint8_t parts[4];
  int indexed;            /* FIELD; of a METHOD call: indices that its object has already */
  SemaArg source;         /* ELEMENT, FIELD, NODE, SHAPE: the capture or parameter it comes from */
  const char *name;       /* how the kernel calls it */
  Type type;              /* ELEMENT, FIELD: the element's; TYPE: itself */
  int live;
  int64_t constant;
  const Builtin *builtin; /* BUILTIN, a CALL of it, and a METHOD of a vector: then its object is the first argument */
  const Method *method;   /* a METHOD call */
  int taken;              /* a METHOD call of a list: how many of its arguments name the list */
  bool is_conversion;     /* a CALL of a type: `type` */
  bool is_offset;         /* SHAPE: of the offsets */
  SemaValueKind value;    /* OTHER */
  const char *what;       /* OTHER: "a function" */
  const AstFunction *callee; /* OTHER, a function: its text, when that is known */
  const Source *callee_source;
  int callee_number;      /* whose paths its free names are */
} Entity;

#endif
