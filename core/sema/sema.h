/* sema.h - Ast + captured values -> typed tree -> IrKernel: the stages in order.
 *
 *     resolve    what each name, index and call denotes; functions and static loops are written out
 *     infer      a type per expression and variable, and the type errors (check)
 *     lower      the IR
 *
 * A failure ends its statement, not the compile: all errors are reported (typed/report.c). */
#ifndef RG_SEMA_SEMA_H
#define RG_SEMA_SEMA_H

#include "resolve/paths.h"
#include "typed/output.h"

/* The typed tree: output->typed. False with a diagnostic. */
bool sema_types(Scratch *scratch, const SemaInput *input, SemaOutput *output, Error *err);
/* Then its IR: output->kernel. */
bool sema_lower(SemaOutput *output, Error *err);
/* A dump of the typed tree, one line per local, parameter and captured number: "dt: f32", "i:
 * i32". */
void sema_print_types(StrBuf *out, const SemaOutput *output);

#endif
