/* atomic.c - updates of elements: relaxed, one element at a time; `plain` ones, and those of a sole
 * worker, are load, op, store.
 * MEM_RMW and MEM_CAS have acquire-release order, unless they are `relaxed`. LLVM 19 does not
 * support that order for a GPU, so there a fence is on either side.
 * Operators that the machine has as one instruction use atomicrmw (on a GPU also float additions);
 * all others use a compare-and-swap loop on the element's bits. compare_exchange compares bits,
 * too, so a float 0 differs from -0, and a NaN equals itself. */
#include "codegen/memory.h"

/* A GPU has atomic float additions of 4 and 8 bytes. */
static bool adds_floats(const Codegen *g, IrUpdate op, Type type) {
  bool adds = op == IR_UPDATE_ADD || op == IR_UPDATE_SUB;
  return g->part == CODEGEN_GPU_TASKS && type_is_float(type) && type_size(type) >= 4 && adds;
}

static bool machine_op(IrUpdate op, Type type, LLVMAtomicRMWBinOp *out) {
  bool is_signed = type_is_signed(type);
  if (type_is_float(type)) return false;
  switch (op) {
  case IR_UPDATE_ADD: *out = LLVMAtomicRMWBinOpAdd; return true;
  case IR_UPDATE_SUB: *out = LLVMAtomicRMWBinOpSub; return true;
  case IR_UPDATE_BAND: *out = LLVMAtomicRMWBinOpAnd; return true;
  case IR_UPDATE_BOR: *out = LLVMAtomicRMWBinOpOr; return true;
  case IR_UPDATE_BXOR: *out = LLVMAtomicRMWBinOpXor; return true;
  case IR_UPDATE_MIN:
    *out = is_signed ? LLVMAtomicRMWBinOpMin : LLVMAtomicRMWBinOpUMin;
    return true;
  case IR_UPDATE_MAX:
    *out = is_signed ? LLVMAtomicRMWBinOpMax : LLVMAtomicRMWBinOpUMax;
    return true;
  default: return false;
  }
}

static LLVMTypeRef bits_type(Codegen *g, Type type) {
  return LLVMIntTypeInContext(g->context, (unsigned)type_size(type) * 8);
}

static LLVMValueRef to_bits(Codegen *g, LLVMValueRef value, Type type) {
  return build_bitcast(g, value_to_memory(g, value, type), bits_type(g, type));
}

static LLVMValueRef from_bits(Codegen *g, LLVMValueRef bits, Type type) {
  return value_from_memory(g, build_bitcast(g, bits, value_memory_type(g, type)), type);
}

static LLVMAtomicOrdering order_of(const Codegen *g, bool is_ordered) {
  return is_ordered && g->part != CODEGEN_GPU_TASKS ? LLVMAtomicOrderingAcquireRelease
                                                    : LLVMAtomicOrderingMonotonic;
}

static LLVMValueRef compare_exchange(Codegen *g, Element of, LLVMValueRef pointer,
                                     LLVMValueRef expected, LLVMValueRef desired, bool is_ordered) {
  LLVMAtomicOrdering order = order_of(g, is_ordered);
  LLVMAtomicOrdering failed = order == LLVMAtomicOrderingAcquireRelease
                                  ? LLVMAtomicOrderingAcquire
                                  : LLVMAtomicOrderingMonotonic;
  return alias_element(
      g, LLVMBuildAtomicCmpXchg(g->builder, pointer, expected, desired, order, failed, false),
      of.alias);
}

/* Skips the compare-and-swap on a GPU if the update changes nothing (a minimum that is smaller
 * already), since many threads contend for one element. */
static void leave_if_equal(Codegen *g, LLVMValueRef updated, LLVMValueRef old,
                           LLVMBasicBlockRef done) {
  if (g->part != CODEGEN_GPU_TASKS) return;
  LLVMBasicBlockRef swap = block_new(g, "swap");
  block_enter_unless(g, build_icmp(g, LLVMIntEQ, updated, old), swap, done);
}

/* old = *p; while (!cas(p, old, op(old, value))) old = what was there; */
static LLVMValueRef rmw_by_loop(Codegen *g, IrUpdate op, Element of, LLVMValueRef pointer,
                                LLVMValueRef value, bool is_ordered) {
  Type type = of.type;
  LLVMTypeRef bits = bits_type(g, type);
  ASSERT(type_size(type) <= 8 && !value_is_vector(pointer), "one number that fits a word");
  LLVMValueRef first = build_load(g, bits, pointer);
  LLVMSetAlignment(first, (unsigned)type_size(type));
  LLVMSetOrdering(first, LLVMAtomicOrderingMonotonic);
  alias_element(g, first, of.alias);
  LLVMBasicBlockRef before = block_here(g), retry = block_new(g, "retry"),
                    done = block_new(g, "done");
  block_follow(g, retry);
  LLVMValueRef old = build_phi(g, first, before, "old");
  LLVMValueRef updated =
      to_bits(g, arith_update(g, op, type, from_bits(g, old, type), value), type);
  if (!is_ordered) leave_if_equal(g, updated, old, done); /* a release is a write */
  LLVMValueRef pair = compare_exchange(g, of, pointer, old, updated, is_ordered);
  LLVMValueRef seen = LLVMBuildExtractValue(g->builder, pair, 0, ""),
               ok = LLVMBuildExtractValue(g->builder, pair, 1, "");
  build_phi_next(old, seen, block_here(g));
  block_enter_if(g, ok, done, retry);
  return from_bits(g, old, type);
}

static LLVMValueRef rmw(Codegen *g, LLVMAtomicRMWBinOp op, Element of, LLVMValueRef pointer,
                        LLVMValueRef value, bool is_ordered) {
  LLVMAtomicOrdering order = order_of(g, is_ordered);
  return alias_element(g, LLVMBuildAtomicRMW(g->builder, op, pointer, value, order, false),
                       of.alias);
}

static LLVMValueRef rmw_in_order(Codegen *g, IrUpdate op, Element of, LLVMValueRef pointer,
                                 LLVMValueRef value, bool is_ordered) {
  Type type = of.type;
  LLVMAtomicRMWBinOp machine;
  if (adds_floats(g, op, type)) {
    if (op == IR_UPDATE_SUB) value = build_fneg(g, value);
    return rmw(g, LLVMAtomicRMWBinOpFAdd, of, pointer, value, is_ordered);
  }
  if (op == IR_UPDATE_EXCHANGE) machine = LLVMAtomicRMWBinOpXchg;
  else if (!machine_op(op, type, &machine))
    return rmw_by_loop(g, op, of, pointer, value, is_ordered);
  return from_bits(g, rmw(g, machine, of, pointer, to_bits(g, value, type), is_ordered), type);
}

LLVMValueRef atomic_rmw(Codegen *g, IrUpdate op, Element of, LLVMValueRef pointer,
                        LLVMValueRef value) {
  return rmw_in_order(g, op, of, pointer, value, false);
}

void atomic_combine_shares(Codegen *g, const LLVMValueRef *sums) {
  for (int i = 0; i < g->f.shares.count; i++) {
    const Share *share = &g->f.shares.items[i];
    atomic_rmw(g, share->op, (Element){.type = share->type}, context_slot(g, share->slot), sums[i]);
  }
}

static LLVMValueRef update_plain(Codegen *g, IrUpdate op, Element of, LLVMValueRef pointer,
                                 LLVMValueRef value) {
  LLVMValueRef old = access_load(g, of, pointer);
  access_store(g, of, pointer, arith_update(g, op, of.type, old, value));
  return old;
}

/* An element that differs is stored again, unchanged. */
static LLVMValueRef exchange_plain(Codegen *g, Element of, LLVMValueRef pointer,
                                   LLVMValueRef expected, LLVMValueRef desired) {
  LLVMValueRef old = access_load(g, of, pointer),
               equal = build_icmp(g, LLVMIntEQ, to_bits(g, old, of.type),
                                  to_bits(g, expected, of.type));
  access_store(g, of, pointer, build_select(g, equal, desired, old));
  return old;
}

static LLVMValueRef compare_exchange_value(Codegen *g, Element of, LLVMValueRef pointer,
                                           LLVMValueRef expected, LLVMValueRef desired,
                                           bool is_ordered) {
  LLVMValueRef pair = compare_exchange(g, of, pointer, to_bits(g, expected, of.type),
                                       to_bits(g, desired, of.type), is_ordered);
  return from_bits(g, LLVMBuildExtractValue(g->builder, pair, 0, ""), of.type);
}

/* Updates the element; returns its old value. */
static LLVMValueRef update(Codegen *g, const IrInst *inst, LLVMValueRef pointer) {
  ASSERT(ir_is_access(inst->op) && inst->operand_count > 1, "an update of an element");
  LLVMValueRef value = value_operand(g, inst, 1);
  const Element of = {inst->operands[1]->type, inst->alias};
  if (inst->sole && inst->op == IR_MEM_CAS)
    return exchange_plain(g, of, pointer, value, value_operand(g, inst, 2));
  if (inst->plain || inst->sole) return update_plain(g, (IrUpdate)inst->imm, of, pointer, value);
  bool is_ordered = atomic_is_ordered(inst),
       has_fences = is_ordered && g->part == CODEGEN_GPU_TASKS;
  if (has_fences) call_runtime(g, RT_FENCE, (Callee){0}, NULL, 0);
  LLVMValueRef old =
      inst->op == IR_MEM_CAS
          ? compare_exchange_value(g, of, pointer, value, value_operand(g, inst, 2), is_ordered)
          : rmw_in_order(g, (IrUpdate)inst->imm, of, pointer, value, is_ordered);
  if (has_fences) call_runtime(g, RT_FENCE, (Callee){0}, NULL, 0);
  return old;
}

void atomic_emit(Codegen *g, const IrInst *inst) {
  LLVMValueRef old = update(g, inst, value_operand(g, inst, 0));
  if (inst->op != IR_MEM_UPDATE) value_set(g, inst, old);
}
