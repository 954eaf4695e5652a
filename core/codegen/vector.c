/* vector.c - emits ops of lanes, each by itself (pass/vector/vectorise.c, lane_accesses.c). Masks
 * are operands. The constant mask of all lanes, by which full vectors of iterations are emitted,
 * makes an access an ordinary one, and a conjunction its other operand, so that LLVM has less to
 * fold. Decision D-pass-70. */
#include <stddef.h>
#include <string.h>

#include "base/bits.h"
#include "codegen/task.h"

/* -- non-temporal stores ----------------------------------------------------------------------- */

/* Non-temporal stores (pass/vector/non_temporal.c) are of full vectors whose lines are not read
 * soon. The code tests at the start of a loop whether it is large enough, and at each store whether
 * the vector is aligned as such stores require:
 *
 *     least = iterations * traffic >= context.stream_bytes ? 0 : 1
 *     if ((address | least) % 64 == 0) non-temporal store, else ordinary store
 *
 * They are not ordered with other stores, so a task ends with a fence. */
enum { LINE = 64 };

void stream_open(Codegen *g, const RangeIndices *r) {
  if (!r->task->traffic) return;
  LLVMValueRef bytes = value_index(g, r->task->traffic);
  for (int axis = 0; axis < r->task->axis_count; axis++)
    bytes = build_mul(g, bytes, r->extent[axis]);
  LLVMValueRef from = value_byte_offset(g, g->f.rt_context, offsetof(RtContext, stream_bytes)),
               least = build_load(g, g->i64, from);
  g->f.least = build_zext(g, build_icmp(g, LLVMIntULT, bytes, least), g->i64);
}

void stream_close(Codegen *g) {
  if (g->f.least) LLVMBuildFence(g->builder, LLVMAtomicOrderingSequentiallyConsistent, false, "");
  g->f.least = NULL;
}

/* The store by which the vectors of the loop are aligned: one that each of its full vectors does,
 * at an address from the body's own list. NULL: there is none. */
static const IrInst *aligned_store(const IrRegion *body) {
  const IrInst *store = NULL;
  for (const IrInst *inst = body->first; inst && !store; inst = inst->next) {
    if (inst->op == IR_LANES_STORE && inst->aligns) store = inst;
    bool is_whole = inst->op == IR_IF && inst->operands[0]->op == IR_MASK_FULL;
    if (is_whole) store = aligned_store(inst->regions[0]);
  }
  return store;
}

/* The inverse of an odd number modulo 2^64. */
static int64_t inverse(int64_t odd) {
  uint64_t x = (uint64_t)odd;
  for (int k = 0; k < 5; k++) x *= 2 - (uint64_t)odd * x;
  return (int64_t)x;
}

LLVMValueRef stream_begin(Codegen *g, const LaneLoop *loop, LLVMValueRef low) {
  const IrInst *store = g->f.least ? aligned_store(loop->body) : NULL;
  const IrInst *at = store ? store->operands[0] : NULL;
  if (!at || !loop->index) return NULL;
  int64_t size = type_size(type_element(store->operands[1]->type));
  int64_t step = size * (store->operand_count - 2);
  int64_t align = min_i64(LINE, loop->width * size), even = step & -step;
  if (even >= align) return low; /* all indices are equally aligned */
  loop_set_index(g, loop->index, low);
  region_emit_value(g, at, loop->body);
  /* address + k * step = 0 modulo align; step = even * odd */
  LLVMValueRef k = build_ptrtoint(g, value_of(g, at), g->i64);
  k = build_lshr(g, build_neg(g, k), value_index(g, __builtin_ctzll((uint64_t)even)));
  k = build_mul(g, k, value_index(g, inverse(step / even)));
  k = build_and(g, k, value_index(g, align / even - 1));
  return build_add(g, low, LLVMBuildIntCast2(g->builder, k, LLVMTypeOf(low), false, ""));
}

typedef struct Stores { /* vectors of the lanes, contiguous in memory */
  LLVMValueRef base, *vectors;
  int count;
  Element of;
} Stores;

static void store_all(Codegen *g, const Stores *s, int64_t align, bool streams) {
  int64_t bytes = value_width(s->vectors[0]) * type_size(s->of.type);
  for (int k = 0; k < s->count; k++) {
    LLVMValueRef store = build_store(g, s->vectors[k], value_byte_offset(g, s->base, k * bytes));
    LLVMSetAlignment(store, (unsigned)align);
    alias_element(g, store, s->of.alias);
    if (!streams) continue;
    LLVMMetadataRef flag = LLVMValueAsMetadata(value_i32(g, 1));
    value_mark(g, store, "nontemporal", LLVMMDNodeInContext2(g->context, &flag, 1));
  }
}

static void store_whole(Codegen *g, const Stores *s, bool streams) {
  int64_t size = type_size(s->of.type), align = min_i64(LINE, value_width(s->vectors[0]) * size);
  if (!streams || !g->f.least) return store_all(g, s, size, false);
  LLVMBasicBlockRef past = block_new(g, "past"), through = block_new(g, "through"),
                    after = block_new(g, "stored");
  LLVMValueRef at = build_or(g, build_ptrtoint(g, s->base, g->i64), g->f.least);
  at = build_and(g, at, value_index(g, align - 1));
  block_enter_if(g, build_is_zero(g, at), past, through);
  store_all(g, s, align, true);
  block_jump(g, after);
  block_enter(g, through);
  store_all(g, s, size, false);
  block_follow(g, after);
}

/* -- shuffles ---------------------------------------------------------------------------------- */

LLVMValueRef vector_shuffle(Codegen *g, const IrInst *inst) {
  const IrTable *table = &g->kernel->tables.items[inst->imm];
  int picks[IR_MAX_LANES];
  ASSERT(table->count == type_rows(inst->type), "a number for each lane");
  for (int i = 0; i < table->count; i++) picks[i] = (int)table->values[i];
  LLVMValueRef second = inst->operand_count > 1 ? value_operand(g, inst, 1) : NULL;
  return build_shuffle(g, value_operand(g, inst, 0), second, picks, table->count);
}

/* -- memory ------------------------------------------------------------------------------------ */

static LLVMValueRef mask_of(Codegen *g, const IrInst *access) {
  ASSERT(!access->shape, "`lane_accesses` has written what has a shape");
  return value_operand(g, access, access->operand_count - 1);
}

LLVMValueRef vector_load(Codegen *g, const IrInst *inst) {
  LLVMTypeRef lanes = value_memory_type(g, inst->type);
  LLVMValueRef at = value_operand(g, inst, 0), mask = mask_of(g, inst), others = NULL, value;
  int align = type_size(type_element(inst->type)) / (inst->pairs ? 2 : 1);
  if (inst->operand_count > 2)
    others = value_to_memory(g, value_operand(g, inst, 1), type_element(inst->type));
  if (value_is_vector(at) || !value_is_all(mask)) {
    value = lanes_take(g, lanes, at, align, mask, others);
  } else {
    value = build_load(g, lanes, at);
    LLVMSetAlignment(value, (unsigned)align);
  }
  return value_from_memory(g, alias_element(g, value, inst->alias), type_element(inst->type));
}

void vector_store(Codegen *g, const IrInst *inst) {
  LLVMValueRef at = value_operand(g, inst, 0), mask = mask_of(g, inst), values[IR_MAX_PARTS];
  Type lanes = inst->operands[1]->type, type = type_element(lanes);
  const Stores store = {at, values, inst->operand_count - 2, {type, inst->alias}};
  ASSERT(store.count > 0 && store.count <= IR_MAX_PARTS, "vectors to store");
  for (int i = 0; i < store.count; i++)
    values[i] = value_to_memory(g, value_operand(g, inst, i + 1), type);
  if (!value_is_vector(at) && value_is_all(mask)) return store_whole(g, &store, inst->nontemporal);
  for (int i = 0; i < store.count; i++) {
    LLVMValueRef to = value_byte_offset(g, at, i * (int64_t)type_size(lanes));
    alias_element(g, lanes_put(g, values[i], to, type_size(type), mask), inst->alias);
  }
}

LLVMValueRef vector_gather(Codegen *g, Type type, LLVMValueRef pointers, LLVMValueRef mask) {
  LLVMTypeRef lanes = value_lanes(value_memory_type(g, type), value_width(pointers));
  return lanes_take(g, lanes, pointers, type_size(type), mask, NULL);
}

/* Emits addresses as a scalar base plus a vector of indices with a scale that the machine has: the
 * addressing mode of gathers. */
LLVMValueRef vector_offset(Codegen *g, const IrInst *inst) {
  const IrInst *base = inst->operands[0], *index = inst->operands[1];
  Type type = inst->narrow ? TYPE(I32) : TYPE(I64);
  LLVMValueRef wide = arith_convert(g, type_element(index->type), type, value_of(g, index));
  int stride = inst->stride, scale = stride == 2 || stride == 4 || stride == 8 ? stride : 1;
  LLVMValueRef pointer = value_byte_offset(g, value_of(g, base), inst->imm);
  if (scale != stride) {
    LLVMValueRef factor = value_like(wide, stride);
    bool may_wrap = inst->narrow || type_bits(index->type) > 32;
    wide = may_wrap ? build_mul(g, wide, factor) : build_nsw_mul(g, wide, factor);
  }
  wide = arith_convert(g, type, TYPE(I64), wide);
  LLVMTypeRef unit = scale == 1 ? g->i8 : LLVMArrayType2(g->i8, (uint64_t)scale);
  return build_at(g, unit, pointer, wide);
}

/* -- one lane ---------------------------------------------------------------------------------- */

static LLVMValueRef lane_address(Codegen *g, LLVMTypeRef type, const IrInst *inst) {
  LLVMValueRef lane = value_operand(g, inst, 1);
  return build_at(g, type, value_operand(g, inst, 0), lane);
}

/* One lane of a variable, read where it is in memory, or of a value. */
LLVMValueRef vector_lane_get(Codegen *g, const IrInst *inst) {
  if (inst->operands[0]->op != IR_VAR)
    return build_extract(g, value_operand(g, inst, 0), value_operand(g, inst, 1));
  ASSERT(!type_is_bool(inst->type), "lanes of bools are bits, which have no address");
  LLVMTypeRef type = value_type(g, inst->type);
  return build_load(g, type, lane_address(g, type, inst));
}

void vector_lane_set(Codegen *g, const IrInst *inst) {
  LLVMValueRef value = value_operand(g, inst, 2);
  build_store(g, value, lane_address(g, LLVMTypeOf(value), inst));
}
