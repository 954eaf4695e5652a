/* output.h - what a compiled kernel asks of its launches, beside its IR. */
#ifndef RG_TYPED_OUTPUT_H
#define RG_TYPED_OUTPUT_H

#include "ir/ir.h"
#include "typed/input.h"

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
  struct Sema *typed;          /* the typed tree: what emit_lua writes as text */
  IrKernel *kernel;            /* stage 1; its trees, fields, levels borrow the input's SNodes */
  VEC(SemaArg) args;           /* beside kernel->args */
  VEC(const Source *) sources; /* beside kernel->args: the text that its line and column are in */
  VEC(SemaWhy) whys;           /* beside kernel->args */
  /* beside kernel->fields: which capture or parameter each is (the first, when several are one) */
  VEC(SemaArg) fields;
  VEC(SemaArg) levels;         /* beside kernel->levels */
  VEC(SemaFault) faults;
} SemaOutput;

#endif
