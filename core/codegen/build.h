/* build.h - LLVM's instructions at the place of the kernel's builder, without names. Those that
 * have a name or a flag of their own are built by LLVM's functions. */
#ifndef RG_CODEGEN_BUILD_H
#define RG_CODEGEN_BUILD_H

#include "codegen/state.h"

#define BUILD_BINARY(name, Name) \
  static inline LLVMValueRef build_##name(Codegen *g, LLVMValueRef a, LLVMValueRef b) { \
    return LLVMBuild##Name(g->builder, a, b, ""); \
  }
BUILD_BINARY(add, Add)
BUILD_BINARY(sub, Sub)
BUILD_BINARY(mul, Mul)
BUILD_BINARY(nsw_add, NSWAdd)
BUILD_BINARY(nsw_mul, NSWMul)
BUILD_BINARY(nuw_add, NUWAdd)
BUILD_BINARY(nuw_mul, NUWMul)
BUILD_BINARY(udiv, UDiv)
BUILD_BINARY(sdiv, SDiv)
BUILD_BINARY(urem, URem)
BUILD_BINARY(and, And)
BUILD_BINARY(or, Or)
BUILD_BINARY(xor, Xor)
BUILD_BINARY(shl, Shl)
BUILD_BINARY(lshr, LShr)
BUILD_BINARY(ashr, AShr)
BUILD_BINARY(fadd, FAdd)
BUILD_BINARY(fsub, FSub)
BUILD_BINARY(fmul, FMul)
BUILD_BINARY(fdiv, FDiv)
#undef BUILD_BINARY

#define BUILD_UNARY(name, Name) \
  static inline LLVMValueRef build_##name(Codegen *g, LLVMValueRef a) { \
    return LLVMBuild##Name(g->builder, a, ""); \
  }
BUILD_UNARY(not, Not)
BUILD_UNARY(neg, Neg)
BUILD_UNARY(fneg, FNeg)
#undef BUILD_UNARY

#define BUILD_CAST(name, Name) \
  static inline LLVMValueRef build_##name(Codegen *g, LLVMValueRef a, LLVMTypeRef type) { \
    return LLVMBuild##Name(g->builder, a, type, ""); \
  }
BUILD_CAST(zext, ZExt)
BUILD_CAST(sext, SExt)
BUILD_CAST(trunc, Trunc)
BUILD_CAST(bitcast, BitCast)
BUILD_CAST(fptrunc, FPTrunc)
BUILD_CAST(fpext, FPExt)
BUILD_CAST(fptosi, FPToSI)
BUILD_CAST(fptoui, FPToUI)
BUILD_CAST(sitofp, SIToFP)
BUILD_CAST(uitofp, UIToFP)
BUILD_CAST(ptrtoint, PtrToInt)
BUILD_CAST(inttoptr, IntToPtr)
BUILD_CAST(space_cast, AddrSpaceCast)
#undef BUILD_CAST

static inline LLVMValueRef build_icmp(Codegen *g, LLVMIntPredicate is, LLVMValueRef a,
                                      LLVMValueRef b) {
  return LLVMBuildICmp(g->builder, is, a, b, "");
}
static inline LLVMValueRef build_fcmp(Codegen *g, LLVMRealPredicate is, LLVMValueRef a,
                                      LLVMValueRef b) {
  return LLVMBuildFCmp(g->builder, is, a, b, "");
}
/* of an integer, or of lanes of one */
static inline LLVMValueRef build_is_zero(Codegen *g, LLVMValueRef a) {
  return build_icmp(g, LLVMIntEQ, a, LLVMConstNull(LLVMTypeOf(a)));
}
static inline LLVMValueRef build_is_some(Codegen *g, LLVMValueRef a) {
  return build_icmp(g, LLVMIntNE, a, LLVMConstNull(LLVMTypeOf(a)));
}
static inline LLVMValueRef build_select(Codegen *g, LLVMValueRef condition, LLVMValueRef yes,
                                        LLVMValueRef no) {
  return LLVMBuildSelect(g->builder, condition, yes, no, "");
}

static inline LLVMValueRef build_load(Codegen *g, LLVMTypeRef type, LLVMValueRef at) {
  return LLVMBuildLoad2(g->builder, type, at, "");
}
static inline LLVMValueRef build_store(Codegen *g, LLVMValueRef value, LLVMValueRef at) {
  return LLVMBuildStore(g->builder, value, at);
}
/* &base[index], of an array of `type` */
static inline LLVMValueRef build_at(Codegen *g, LLVMTypeRef type, LLVMValueRef base,
                                    LLVMValueRef index) {
  return LLVMBuildGEP2(g->builder, type, base, &index, 1, "");
}
static inline LLVMValueRef build_extract(Codegen *g, LLVMValueRef vector, LLVMValueRef lane) {
  return LLVMBuildExtractElement(g->builder, vector, lane, "");
}
/* The lanes of `a` followed by those of `b` that `picks` says; NULL: none of `b` is picked. */
LLVMValueRef build_shuffle(Codegen *g, LLVMValueRef a, LLVMValueRef b, const int *picks, int count);

/* -- phis -------------------------------------------------------------------------------------- */

static inline void build_phi_next(LLVMValueRef phi, LLVMValueRef value, LLVMBasicBlockRef from) {
  LLVMAddIncoming(phi, &value, &from, 1);
}
/* A value that is `first` if control comes from block `from`; build_phi_next adds other blocks. */
static inline LLVMValueRef build_phi(Codegen *g, LLVMValueRef first, LLVMBasicBlockRef from) {
  LLVMValueRef phi = LLVMBuildPhi(g->builder, LLVMTypeOf(first), "");
  build_phi_next(phi, first, from);
  return phi;
}
/* `a` from block `from`, `b` from block `back` */
static inline LLVMValueRef build_either(Codegen *g, LLVMValueRef a, LLVMBasicBlockRef from,
                                        LLVMValueRef b, LLVMBasicBlockRef back) {
  LLVMValueRef phi = build_phi(g, a, from);
  build_phi_next(phi, b, back);
  return phi;
}

#endif
