/* sema.h - Ast + what it captured -> IrKernel. Resolves names, infers types, checks, lowers.
 *
 * capture: the free names of a kernel as *paths*: a name and the dots after it ("dt", "self.grid.dt",
 * "rg.range", "math.sin", "x.shape", "t.#1" for t[1] and "t.#" for the length of a list), one entry per distinct maximal path. The host (Lua) walks each path
 * at every launch, stops at the first value that is not a plain table, and says what it met and how many
 * names it used (`depth`); what is left of the path (`.shape`) is sema's. */
#ifndef RG_SEMA_SEMA_H
#define RG_SEMA_SEMA_H

#include "front/ast.h"
#include "ir/ir.h"

typedef struct SemaPath {
  Str name;             /* "self.grid.dt" */
  Pos pos;              /* first use */
  bool is_parameter_path; /* rooted in a parameter of the kernel (`self.dt`): the host walks the argument */
  int parameter;        /* its number, then */
  bool is_static;       /* a number or bool there is part of the pattern */
  int function;         /* 0: the kernel's; n: taken by function n from around itself (SemaInput.functions) */
} SemaPath;
typedef VEC(SemaPath) SemaPaths;
/* All captured paths, in order of first use. */
SemaPaths sema_paths(Scratch *scratch, const Ast *ast);
/* Those of a function that the kernel calls, its number `function`. */
SemaPaths sema_function_paths(Scratch *scratch, const Ast *ast, int function);

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
  VALUE_BUILTIN, /* rg.range, math.sin, bit.band, print..: `name` says which, by the value's identity */
  VALUE_TYPE,    /* rg.f32: `name` */
  VALUE_VECTOR,  /* or matrix: `name` is its type's */
  VALUE_FUNCTION,
  VALUE_TABLE,
  VALUE_OTHER /* refused by name; `name` says what it is ("a function", "a thread") */
} SemaValueKind;
typedef union SemaPart { double f64; uint64_t bits; } SemaPart; /* of a vector of floats; of integers */
typedef struct SemaValue {
  SemaValueKind kind;
  int depth;            /* names of the path used; 0 for parameters */
  const char *name;     /* BUILTIN "math.sin", TYPE "f32", OTHER; field's or node's own name for messages */
  const SNode *node;    /* FIELD: placed here (NULL: not placed yet), NODE */
  int component;        /* FIELD: the first of them */
  const int64_t *offset; /* FIELD: where indices start, per axis; NULL: at 0 */
  Type type;            /* FIELD: of an element; its numbers are components one behind the other */
  int function;         /* FUNCTION: its number, when its text is known; else 0 */
  bool is_static;       /* NUMBER, BOOL, I64, U64, VECTOR: `number`, `bits`, `parts` may be looked at */
  double number;
  uint64_t bits;        /* I64, U64 */
  const SemaPart *parts; /* VECTOR: its numbers */
} SemaValue;

/* What sema_run misses when it has failed: the host may bring it and try again. */
/* A capture or parameter; of a vector the number `part`. */
typedef struct SemaArg {
  bool is_parameter;
  int index;
  int part;
} SemaArg;
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
  Ast *const *functions;       /* by number - 1: what the kernel calls, each the `function` of its Ast */
  SemaWants *wants;            /* filled when something is missing; may be NULL */
} SemaInput;

/* Where each number argument of the result comes from: kernel->args[k] is capture or parameter `index`. */
struct Sema;
/* How a launch may end by itself: FAULT `k` of the IR is row k. */
typedef struct SemaFault {
  ErrorCode code;
  const char *sentence;   /* the fault's number comes behind it */
  const char *hint;       /* or NULL */
  const Source *source;
  Pos pos;
  int32_t width;
} SemaFault;
/* Why an argument is an integer; clause NULL: it is none, or that is what it is. */
typedef struct SemaWhy {
  const char *clause;          /* "which indexes 'x'" */
  const Source *source;
  Pos pos;
  int32_t width;
} SemaWhy;
typedef struct SemaOutput {
  struct Sema *typed;          /* the Ast with its types: what emit_lua writes as text */
  IrKernel *kernel;            /* stage 1; its trees, fields, levels borrow the input's SNodes */
  VEC(SemaArg) args;           /* beside kernel->args */
  VEC(const Source *) sources; /* beside kernel->args: the text that its line and column are in */
  VEC(SemaWhy) whys;           /* beside kernel->args */
  VEC(SemaArg) fields;         /* beside kernel->fields: which capture or parameter each is (the first, when several are one) */
  VEC(SemaArg) levels;         /* beside kernel->levels */
  VEC(SemaFault) faults;
} SemaOutput;

/* False with a diagnostic. */
bool sema_run(Scratch *scratch, const SemaInput *input, SemaOutput *output, Error *err);
/* The same up to inference, printed: what RG_DUMP=infer shows and the tests compare: one line per local, parameter
 * and captured number: "dt: f32", "i: i32". */
bool sema_print_types(Scratch *scratch, const SemaInput *input, StrBuf *out, Error *err);

#endif
