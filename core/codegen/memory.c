/* memory.c - accesses of elements and of the frame's slots: loads, stores, updates. Updates are
 * relaxed, one element at a time; `nonatomic` and `single_worker` ones are load, op, store. MEM_RMW
 * and MEM_CAS have acquire-release order, unless they are `relaxed`. LLVM 19 does not support that
 * order for a GPU, so there a fence is on either side. Operators that the machine has as one
 * instruction use atomicrmw (on a GPU also float additions); all others use a compare-and-swap loop
 * on the element's bits. compare_exchange compares bits, too, so a float 0 differs from -0, and a
 * NaN equals itself. */
#include <stdio.h>
#include <string.h>

#include "codegen/memory.h"

/* -- alias scopes ------------------------------------------------------------------------------ */

/* Alias scopes tell LLVM which accesses never alias: one scope per field, one for slots. Two
 * entries of kernel->fields never share an element, and elements are not slots. So LLVM may keep a
 * field's element in a register while others are written, and combine neighbouring elements. Calls
 * of the runtime carry no scope and may touch anything. The metadata grows quadratically with the
 * fields, so kernels with many fields have no scopes. */
enum { MAX_SCOPES = 48 };

static LLVMMetadataRef text_node(Codegen *g, const char *text, LLVMMetadataRef domain) {
  LLVMMetadataRef parts[] = {LLVMMDStringInContext2(g->context, text, strlen(text)), domain};
  return LLVMMDNodeInContext2(g->context, parts, domain ? 2 : 1);
}

static void make_scopes(Codegen *g, int count) {
  LLVMMetadataRef scopes[MAX_SCOPES], others[MAX_SCOPES],
      domain = text_node(g, "regolith elements", NULL);
  char name[40];
  for (int i = 0; i < count; i++) {
    snprintf(name, sizeof name, "regolith scope %d", i);
    scopes[i] = text_node(g, name, domain);
  }
  g->alias_scopes = scratch_array(g->scratch, LLVMMetadataRef, count);
  g->alias_others = scratch_array(g->scratch, LLVMMetadataRef, count);
  for (int i = 0; i < count; i++) {
    int other = 0;
    for (int k = 0; k < count; k++)
      if (k != i) others[other++] = scopes[k];
    g->alias_scopes[i] = LLVMMDNodeInContext2(g->context, &scopes[i], 1);
    g->alias_others[i] = LLVMMDNodeInContext2(g->context, others, (size_t)other);
  }
}

LLVMValueRef alias_element(Codegen *g, LLVMValueRef access, int alias) {
  int count = g->kernel->fields.count + 1, scope = alias == ALIAS_SLOT ? 0 : alias;
  ASSERT(scope >= 0 && scope < count, "a field's number + 1, or 0");
  if (!alias || count > MAX_SCOPES) return access;
  if (!g->alias_scopes) make_scopes(g, count);
  value_mark(g, access, "alias.scope", g->alias_scopes[scope]);
  return count > 1 ? value_mark(g, access, "noalias", g->alias_others[scope]) : access;
}

/* -- addresses, loads and stores --------------------------------------------------------------- */

static LLVMTypeRef address_type(Codegen *g, LLVMValueRef like) {
  return value_lanes(g->i64, value_width(like));
}

/* pointer + index * stride + imm. An index of at most 32 bits times a 32-bit stride cannot wrap in
 * 64 bits; the no-wrap flag lets LLVM see that addresses are linear in loop counters. */
LLVMValueRef access_offset(Codegen *g, const IrInst *inst) {
  Type type = inst->operands[1]->type;
  ASSERT(type_is_integer(type), "an index is an integer");
  LLVMValueRef wide = arith_convert(g, type, TYPE(I64), value_operand(g, inst, 1));
  LLVMValueRef stride = value_integer(address_type(g, wide), inst->stride);
  LLVMValueRef bytes =
      type_bits(type) <= 32 ? build_nsw_mul(g, wide, stride) : build_mul(g, wide, stride);
  LLVMValueRef place = build_at(g, g->i8, value_operand(g, inst, 0), bytes);
  return value_byte_offset(g, place, inst->imm);
}

/* PRIVATE_COPY: a GPU block has a copy of elements of a tree's root; a worker's private copy is at
 * a constant distance from the original. */
void access_private_copy(Codegen *g, const IrInst *inst) {
  ASSERT(inst->imm >= 0 && inst->imm < g->kernel->trees.count, "a tree of the kernel");
  if (g->part == CODEGEN_GPU_TASKS) {
    LLVMValueRef copy = *context_kept(g, RT_TREE_PRIVATE_COPY, (int)inst->imm);
    if (!copy || inst->operands[0]->op != IR_TREE_ROOT)
      return codegen_fail(g, inst, "a block has no copy of it");
    return value_set(g, inst, copy);
  }
  LLVMValueRef bytes = context_of(g, RT_TREE_PRIVATE_COPY, (int)inst->imm);
  value_set(g, inst, build_at(g, g->i8, value_operand(g, inst, 0), bytes));
}

static unsigned alignment_of(Type type) { return (unsigned)type_size(type); }

LLVMValueRef access_load(Codegen *g, Element of, LLVMValueRef pointer) {
  LLVMValueRef value = build_load(g, value_memory_type(g, of.type), pointer);
  LLVMSetAlignment(value, alignment_of(of.type));
  return value_from_memory(g, alias_element(g, value, of.alias), of.type);
}

void access_store(Codegen *g, Element of, LLVMValueRef pointer, LLVMValueRef value) {
  LLVMValueRef store = build_store(g, value_to_memory(g, value, of.type), pointer);
  LLVMSetAlignment(alias_element(g, store, of.alias), alignment_of(of.type));
}

/* For a GPU LLVM 19 has no acquire loads (llvm_bc/target.h). */
void access_emit_load(Codegen *g, const IrInst *inst) {
  LLVMValueRef pointer = value_operand(g, inst, 0);
  LLVMValueRef value = access_load(g, (Element){inst->type, inst->alias}, pointer);
  if (inst->acquires && LLVMIsALoadInst(value)) {
    bool is_gpu = g->part == CODEGEN_GPU_TASKS;
    LLVMSetOrdering(value, is_gpu ? LLVMAtomicOrderingMonotonic : LLVMAtomicOrderingAcquire);
    if (is_gpu) call_runtime(g, RT_FENCE, (Callee){0}, NULL, 0);
  }
  value_set(g, inst, value);
}

/* -- updates ----------------------------------------------------------------------------------- */

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
  LLVMBasicBlockRef retry = block_new(g, "retry"), done = block_new(g, "done");
  LLVMValueRef old = block_loop(g, retry, first);
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

LLVMValueRef atomic_rmw(Codegen *g, IrUpdate op, Element of, LLVMValueRef pointer,
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

void atomic_combine_shares(Codegen *g, const LLVMValueRef *sums) {
  for (int i = 0; i < g->f.shares.count; i++) {
    const Share *share = &g->f.shares.items[i];
    atomic_rmw(g, share->op, (Element){.type = share->type}, context_slot(g, share->slot), sums[i],
               false);
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
  if (inst->single_worker && inst->op == IR_MEM_CAS)
    return exchange_plain(g, of, pointer, value, value_operand(g, inst, 2));
  if (inst->nonatomic || inst->single_worker)
    return update_plain(g, (IrUpdate)inst->imm, of, pointer, value);
  bool is_ordered = atomic_is_ordered(inst),
       has_fences = is_ordered && g->part == CODEGEN_GPU_TASKS;
  if (has_fences) call_runtime(g, RT_FENCE, (Callee){0}, NULL, 0);
  LLVMValueRef old =
      inst->op == IR_MEM_CAS
          ? compare_exchange_value(g, of, pointer, value, value_operand(g, inst, 2), is_ordered)
          : atomic_rmw(g, (IrUpdate)inst->imm, of, pointer, value, is_ordered);
  if (has_fences) call_runtime(g, RT_FENCE, (Callee){0}, NULL, 0);
  return old;
}

void atomic_emit(Codegen *g, const IrInst *inst) {
  LLVMValueRef old = update(g, inst, value_operand(g, inst, 0));
  if (inst->op != IR_MEM_UPDATE) value_set(g, inst, old);
}

/* -- the frame --------------------------------------------------------------------------------- */

void frame_store(Codegen *g, int64_t slot, const IrInst *value) {
  access_store(g, (Element){.type = value->type}, context_slot(g, slot), value_of(g, value));
}

void frame_load(Codegen *g, const IrInst *inst) {
  value_set(g, inst, access_load(g, (Element){.type = inst->type}, context_slot(g, inst->imm)));
}

/* Slots are constant during a task, so this reads them in the entry block. The value of a GET that
 * only names the slot of a REDUCE is unused; LLVM removes it. */
void frame_get(Codegen *g, const IrInst *inst) {
  ASSERT(type_is_scalar(inst->type), "a slot holds one number");
  LLVMBasicBlockRef back = block_hoist_begin(g);
  frame_load(g, inst);
  block_hoist_end(g, back);
}
