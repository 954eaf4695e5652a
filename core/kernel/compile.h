/* compile.h - one compile on its way, shared by compile.c, which runs it, and variant.c, which keeps its result. */
#ifndef RG_KERNEL_COMPILE_H
#define RG_KERNEL_COMPILE_H

#include "kernel/variant.h"

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

/* notes.c: what kernel:explain() says; and what of it the user is told unasked, once per kernel. */
const char *explain_text(Scratch *scratch, const Source *source, const IrKernel *kernel);
void explain_warn(Kernel *kernel, const IrKernel *ir);

/* private_copies.c: where the elements of `fields` lie, neighbours in a cell taken together; returns how many rows of
 * `out`, which has one per field. */
int32_t sums_describe(const IrKernel *kernel, const int32_t *fields, int32_t field_count, DeviceSum *out);

/* Fills all of `variant` but its code, which is there already. */
bool variant_fill(Compile *compile, Variant *variant, int word_count, Error *err);

#endif
