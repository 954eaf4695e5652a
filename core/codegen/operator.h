/* operator.h - operators of values: on lanes of any type, conversions, arithmetic. */
#ifndef RG_CODEGEN_OPERATOR_H
#define RG_CODEGEN_OPERATOR_H

#include "codegen/call.h"

/* -- lanes.c ----------------------------------------------------------------------------------- */
/* base + k * step in lane k; of a ptr in bytes */
LLVMValueRef lanes_step(Codegen *g, LLVMValueRef base, Type type, int64_t step, int width);
LLVMValueRef lanes_some(Codegen *g, LLVMValueRef value, int first, int count);
/* mask & condition: that of an inactive lane may be poison */
LLVMValueRef lanes_both(Codegen *g, LLVMValueRef mask, LLVMValueRef condition);
LLVMValueRef lanes_any(Codegen *g, LLVMValueRef mask);
LLVMValueRef lanes_bits(Codegen *g, LLVMValueRef mask); /* a bit per lane, as an i64 */
/* A mask from the low bits of an integer; not of an i8, by a comparison with a vector constant:
 * machines without mask registers would extract the bits one by one. */
LLVMValueRef lanes_of_bits(Codegen *g, LLVMValueRef bits, int width);
/* Loads a vector of `type` under a mask, from adjacent places or one per lane; inactive lanes are
 * those of `otherwise`, NULL: 0. lanes_put stores one. `align`: bytes of an element. */
LLVMValueRef lanes_take(Codegen *g, LLVMTypeRef type, LLVMValueRef at, int64_t align,
                        LLVMValueRef mask, LLVMValueRef otherwise);
LLVMValueRef lanes_put(Codegen *g, LLVMValueRef value, LLVMValueRef at, int64_t align,
                       LLVMValueRef mask);

/* -- arith.c, math.c: operators of values ------------------------------------------------------ */
/* `type`: of the operands */
LLVMValueRef arith_binary(Codegen *g, IrOp op, Type type, LLVMValueRef a, LLVMValueRef b);
LLVMValueRef arith_unary(Codegen *g, IrOp op, Type type, LLVMValueRef a);
LLVMValueRef arith_convert(Codegen *g, Type from, Type to, LLVMValueRef a);
LLVMValueRef arith_select(Codegen *g, LLVMValueRef condition, LLVMValueRef yes, LLVMValueRef no);
LLVMValueRef arith_update(Codegen *g, IrUpdate op, Type type, LLVMValueRef old, LLVMValueRef value);
/* FLOORDIV and MOD of integers by multiplication with the reciprocal */
LLVMValueRef reciprocal_divide(Codegen *g, IrOp op, Type type, LLVMValueRef a, LLVMValueRef b);
/* adds fast-math flags if the kernel is fast_math; returns `value` */
LLVMValueRef arith_fast(Codegen *g, LLVMValueRef value);
bool math_is_call(IrOp op);
/* b NULL: unary */
LLVMValueRef math_call(Codegen *g, IrOp op, Type type, LLVMValueRef a, LLVMValueRef b);
void math_reciprocal_root(Codegen *g, const IrInst *inst); /* RSQRT, RSQRT_CUBE */

#endif
