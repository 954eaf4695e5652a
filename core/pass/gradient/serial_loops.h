/* serial_loops.h - turns serial loops over ranges and active cells into numeric ones. */
#ifndef RG_PASS_GRADIENT_SERIAL_LOOPS_H
#define RG_PASS_GRADIENT_SERIAL_LOOPS_H

#include "pass/gradient/companion.h"

/* False with err: such a loop has no adjoint. */
bool serial_loops_number(Scratch *scratch, IrKernel *kernel, Companion companion, Error *err);

#endif
