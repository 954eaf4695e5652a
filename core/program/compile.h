/* compile.h - one compile on its way, shared by compile.c, which runs it, and variant.c, which keeps its result. */
#ifndef RG_PROGRAM_COMPILE_H
#define RG_PROGRAM_COMPILE_H

#include "program/kernel.h"

typedef struct Compile {
  Kernel *kernel;
  const RgValue *values;
  int32_t value_count;
  Scratch scratch;
  SemaOutput sema;
  SemaWants wants;
  IrBytes bytes;
  const char *texts[TEXT_COUNT]; /* by VariantText */
  double sema_ms, pass_ms;
  bool is_from_cache;     /* the code */
} Compile;

/* Fills all of `variant` but its code, which is there already. */
bool variant_fill(Compile *compile, Variant *variant, int word_count, Error *err);

#endif
