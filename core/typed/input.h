/* input.h - the input of a compile: a kernel's Ast, and the values of its free names and parameters
 * in this launch.
 *
 * Free names are *paths*: a name and the dots after it ("dt", "self.grid.dt", "rg.range",
 * "math.sin", "x.shape", "t.#1" for t[1] and "t.#" for the length of a list), one entry per
 * distinct maximal path. The host (Lua) walks each path at every launch, stops at the first value
 * that is not a plain table, and passes that value and the number of names used (`depth`); the rest
 * of the path (`.shape`) is read by resolve. */
#ifndef RG_TYPED_INPUT_H
#define RG_TYPED_INPUT_H

#include "front/ast.h"
#include "snode/snode.h"
#include "type/table.h"

typedef struct SemaPath {
  Str name; /* "self.grid.dt" */
  Pos pos;  /* first use */
  /* starts at a parameter of the kernel (`self.dt`): the host walks the argument */
  bool is_parameter_path;
  int parameter;  /* and its number */
  bool is_static; /* a number or bool there is part of the pattern */
  /* 0: the kernel's; n: captured by function n (SemaInput.functions) */
  int function;
  /* 1 + the number of an earlier path for which the host reports the same variable; 0: none */
  int joined;
  uint8_t whole; /* SemaWhole, once a version has compiled its whole number as an integer */
} SemaPath;
typedef VEC(SemaPath) SemaPaths;

/* The value of a path or parameter in this launch. */
/* The values of a number in all launches so far: can loops treat it as an integer? */
typedef enum SemaWhole { WHOLE_UNKNOWN, WHOLE_I32, WHOLE_I64, WHOLE_NOT } SemaWhole;
typedef enum SemaValueKind {
  VALUE_NIL,
  VALUE_NUMBER,
  VALUE_I64,
  VALUE_U64,
  VALUE_BOOL,
  VALUE_STRING,
  VALUE_FIELD,
  VALUE_NODE,
  VALUE_ARRAY,
  /* rg.range, math.sin, bit.band, print..: `name` says which, by the value's identity */
  VALUE_BUILTIN,
  VALUE_TYPE,   /* rg.f32: `name` */
  VALUE_VECTOR, /* or matrix, or struct: `name` is its type's */
  VALUE_FUNCTION,
  VALUE_TABLE,
  VALUE_OTHER /* refused; `name` describes it ("a function", "a thread") */
} SemaValueKind;
/* a number of a vector: of floats, or of integers */
typedef union SemaPart {
  double f64;
  uint64_t bits;
} SemaPart;
/* What kernels are specialised for about an array. */
typedef struct SemaArray {
  int number; /* which of the launch's: equal numbers are one array */
  int axis_count;
  bool is_wide; /* it may have more elements than IR_NARROW */
  bool is_strided;
  bool is_pitched;               /* only along axis 0: the others are row-major without gaps */
  bool is_shared;                /* its elements may have an alias: see IrArray */
  bool is_constant;              /* read-only */
  bool is_empty;                 /* an extent is 0 */
  int64_t shape[SNODE_MAX_AXES]; /* may be read where the value `is_static` */
} SemaArray;
typedef struct SemaValue {
  SemaValueKind kind;
  int depth;  /* names of the path used; 0 for parameters */
  int joined; /* 1 + the number of an earlier path that gave this number; 0: none */
  /* BUILTIN "math.sin", TYPE "f32", OTHER; field, node, array: its own name, for messages; STRING:
   * the text, if it is static */
  const char *name;
  const SNode *node;     /* FIELD: placed here (NULL: not placed yet), NODE */
  int component;         /* FIELD: the first of them */
  const int64_t *offset; /* FIELD: where indices start, per axis; NULL: at 0 */
  bool is_watched;       /* FIELD: writing a number that is not finite is an error */
  /* FIELD: each launch selects it among interchangeable fields (SNodeComponent) */
  bool is_movable;
  Type type; /* FIELD: of an element; its numbers are consecutive components; ARRAY */
  SemaArray array;
  int function; /* FUNCTION: its number if its source is known; otherwise 0 */
  /* NUMBER, BOOL, I64, U64, VECTOR: `number`, `bits`, `parts` may be read */
  bool is_static;
  double number;
  SemaWhole whole;       /* NUMBER */
  uint64_t bits;         /* I64, U64 */
  const SemaPart *parts; /* VECTOR: its numbers */
  int part_count;
} SemaValue;

typedef enum SemaArgKind {
  ARG_NUMBER,  /* itself; of a vector, its number `part` */
  ARG_ADDRESS, /* of an array: of its element 0; */
  ARG_EXTENT,  /* its extent along axis `part`, */
  ARG_STRIDE,  /* and the bytes from one element to the next */
  ARG_HEADER,  /* of an array that is used as a value: the address of its counted header */
  ARG_PLACE    /* of a field: the offset of its elements in a cell's memory */
} SemaArgKind;
/* A capture or parameter, or one number that a launch passes for it. */
typedef struct SemaArg {
  bool is_parameter;
  int index;
  int part;
  SemaArgKind kind;
} SemaArg;
/* Input that was missing when the compile failed: the host may supply it and try again. */
typedef struct SemaRequests {
  SemaPaths paths;      /* more values: `self.dt` of a table passed to a function */
  VEC(SemaArg) statics; /* these values at compile time */
  bool has_function;    /* the source of the function */
  SemaArg function;     /* that is this value */
} SemaRequests;

/* What a kernel checks while it runs: see lower/debug.c. */
/* bits, as RG_DEBUG_ */
typedef enum SemaDebug {
  SEMA_DEBUG_INDICES = 2,
  SEMA_DEBUG_READS = 4,
  SEMA_DEBUG_ARITHMETIC = 8,
  SEMA_DEBUG_LOCALS = 16,
  SEMA_DEBUG_RACES = 32,
} SemaDebug;

typedef struct SemaInput {
  const Ast *ast;
  TypeTable *types; /* those of the launch arguments; NULL: no structs */
  const SemaPaths *paths;
  const SemaValue *captures;   /* by path */
  const SemaValue *parameters; /* by parameter */
  int parameter_count;         /* passed at this launch */
  bool default_f64, fast_math, unchecked;
  /* 1, 2: a derivative of the text is wanted, for which some functions of the library have other
   * texts; 0: none is */
  int derivative_order;
  int32_t debug; /* SemaDebug bits */
  const char *kernel_name;
  /* by number - 1: the functions the kernel calls, each the `function` of its Ast */
  Ast *const *functions;
  int function_count;
  SemaRequests *requests; /* filled when something is missing; may be NULL */
} SemaInput;

#endif
