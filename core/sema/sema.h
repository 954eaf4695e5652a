/* sema.h - Ast + what it captured -> typed tree -> IrKernel: the stages in their order.
 *
 *     resolve    what each name, index and call denotes; functions and static loops are written out
 *     infer      a type per expression and variable, and what must hold of them (check)
 *     lower      the IR
 *
 * A failure ends its statement, not the compile: all that can be said is said (typed/report.c). */
#ifndef RG_SEMA_SEMA_H
#define RG_SEMA_SEMA_H

#include "resolve/paths.h"
#include "typed/output.h"

/* The typed tree: output->typed. False with a diagnostic. */
bool sema_types(Scratch *scratch, const SemaInput *input, SemaOutput *output, Error *err);
/* Then its IR: output->kernel. */
bool sema_lower(SemaOutput *output, Error *err);
/* What a typed tree says, one line per local, parameter and captured number: "dt: f32", "i:
 * i32". */
void sema_print_types(StrBuf *out, const SemaOutput *output);

#endif
