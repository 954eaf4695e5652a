/* ir_maker.h - kernels as IR text, made from bytes: those that `lower` could have made, and more.
 *
 * In one loop a field is only read, or accessed at the iteration's own index, or updated by one
 * operator that commutes, and no float that is stored is a NaN: so a kernel over dense memory has
 * one result, whatever passes do. Those of sparse trees are to be verified alone. */
#ifndef RG_TESTS_IR_MAKER_H
#define RG_TESTS_IR_MAKER_H

#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

/* Its two arguments are an i32 and an f32; tree t0 is dense. Equal bytes make equal kernels. */
const char *ir_make(Scratch *scratch, const uint8_t *data, size_t size, bool is_sparse);

#endif
