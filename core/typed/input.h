/* input.h - what a kernel is compiled from: its Ast, and what the free names and parameters are
 * in this launch.
 *
 * Free names are *paths*: a name and the dots after it ("dt", "self.grid.dt", "rg.range",
 * "math.sin", "x.shape", "t.#1" for t[1] and "t.#" for the length of a list), one entry per
 * distinct maximal path. The host (Lua) walks each path at every launch, stops at the first
 * value that is not a plain table, and says what it met and how many names it used (`depth`);
 * what is left of the path (`.shape`) is read by resolve. */
#ifndef RG_TYPED_INPUT_H
#define RG_TYPED_INPUT_H

#include "front/ast.h"
#include "snode/tree.h"

typedef struct SemaPath {
  Str name;             /* "self.grid.dt" */
  Pos pos;              /* first use */
  /* rooted in a parameter of the kernel (`self.dt`): the host walks the argument */
  bool is_parameter_path;
  int parameter;        /* its number, then */
  bool is_static;       /* a number or bool there is part of the pattern */
  /* 0: the kernel's; n: taken by function n from around itself (SemaInput.functions) */
  int function;
} SemaPath;
typedef VEC(SemaPath) SemaPaths;

/* What a path or a parameter is in this launch. */
typedef enum SemaValueKind {
  VALUE_NIL,
  VALUE_NUMBER,
  VALUE_I64,
  VALUE_U64,
  VALUE_BOOL,
  VALUE_STRING,
  VALUE_FIELD,
  VALUE_NODE,
  /* rg.range, math.sin, bit.band, print..: `name` says which, by the value's identity */
  VALUE_BUILTIN,
  VALUE_TYPE,    /* rg.f32: `name` */
  VALUE_VECTOR,  /* or matrix: `name` is its type's */
  VALUE_FUNCTION,
  VALUE_TABLE,
  VALUE_OTHER /* refused by name; `name` says what it is ("a function", "a thread") */
} SemaValueKind;
/* of a vector of floats; of integers */
typedef union SemaPart { double f64; uint64_t bits; } SemaPart;
typedef struct SemaValue {
  SemaValueKind kind;
  int depth;            /* names of the path used; 0 for parameters */
  /* BUILTIN "math.sin", TYPE "f32", OTHER; field's or node's own name for messages */
  const char *name;
  const SNode *node;    /* FIELD: placed here (NULL: not placed yet), NODE */
  int component;        /* FIELD: the first of them */
  const int64_t *offset; /* FIELD: where indices start, per axis; NULL: at 0 */
  Type type;            /* FIELD: of an element; its numbers are components one behind the other */
  int function;         /* FUNCTION: its number, when its text is known; else 0 */
  /* NUMBER, BOOL, I64, U64, VECTOR: `number`, `bits`, `parts` may be looked at */
  bool is_static;
  double number;
  uint64_t bits;        /* I64, U64 */
  const SemaPart *parts; /* VECTOR: its numbers */
} SemaValue;

/* A capture or parameter; of a vector the number `part`. */
typedef struct SemaArg {
  bool is_parameter;
  int index;
  int part;
} SemaArg;
/* What was missing when the compile failed: the host may bring it and try again. */
typedef struct SemaWants {
  SemaPaths paths;      /* more values: `self.dt` of a table that a function was given */
  VEC(SemaArg) statics; /* these values while it is compiled */
  bool has_function;    /* the text of the function */
  SemaArg function;     /* that is this value */
} SemaWants;

typedef struct SemaInput {
  const Ast *ast;
  const SemaPaths *paths;
  const SemaValue *captures;   /* by path */
  const SemaValue *parameters; /* by parameter */
  int parameter_count;         /* given at this launch */
  bool default_f64, fast_math, unchecked;
  const char *kernel_name;
  /* by number - 1: what the kernel calls, each the `function` of its Ast */
  Ast *const *functions;
  SemaWants *wants;            /* filled when something is missing; may be NULL */
} SemaInput;

#endif
