/* op_half.c - f16 (half.def). */
#include "half.h"

#include <math.h>

#include "ops.h"

typedef u16 h16;
#define X f32_of_half
static inline u16 half_of_f64(f64 value) { return half_of((long double)value); }
#include "half.def"
#undef OP1
#undef OP2
#undef OP3

const Op half_ops[] = {
#define OP1(NAME, ID, ...) OP_ROW(NAME, ID)
#define OP2(NAME, ID, ...) OP_ROW(NAME, ID)
#define OP3(NAME, ID, ...) OP_ROW(NAME, ID)
#include "half.def"
};
const uint32_t half_op_count = sizeof half_ops / sizeof half_ops[0];
