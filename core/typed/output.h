/* output.h - what launches of a compiled kernel need besides its IR. */
#ifndef RG_TYPED_OUTPUT_H
#define RG_TYPED_OUTPUT_H

#include "ir/ir.h"
#include "typed/input.h"

/* How a launch may fail: FAULT `k` of the IR is row k. */
typedef struct SemaFault {
  ErrorCode code;
  const char *sentence;   /* followed by the fault's number */
  const char *hint;       /* or NULL */
  const Source *source;
  Pos pos;
  int32_t width;
} SemaFault;
/* Why an argument is an integer; clause NULL: it is not, or it was one from the start. */
typedef struct SemaWhy {
  const char *clause;          /* "which indexes 'x'" */
  const Source *source;
  Pos pos;
  int32_t width;
} SemaWhy;
/* What a number argument must fit besides its own type. */
typedef struct SemaLimit {
  int arg;                     /* among kernel->args */
  Type type;
  bool is_negated;             /* its negative must */
  const Source *source;
  Pos pos;
  int32_t width;
} SemaLimit;
typedef struct SemaOutput {
  struct Sema *typed;          /* the typed tree, from which emit_lua writes Lua */
  IrKernel *kernel;            /* stage 1; its trees, fields, levels borrow the input's SNodes */
  VEC(SemaArg) args;           /* parallel to kernel->args */
  /* parallel to kernel->args: the source its line and column refer to */
  VEC(const Source *) sources;
  VEC(SemaWhy) whys;           /* parallel to kernel->args */
  /* parallel to kernel->fields: which capture or parameter each is (the first of several) */
  VEC(SemaArg) fields;
  VEC(SemaArg) levels;         /* parallel to kernel->levels */
  VEC(SemaFault) faults;
  VEC(SemaLimit) limits;
} SemaOutput;

#endif
