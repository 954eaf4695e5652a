/* stream.c - non-temporal stores (pass/vector/non_temporal.c) of whole vectors whose lines are not
 * read soon. The code tests at the begin of a loop whether it is large enough, and at each store
 * whether the vector is aligned as such stores require:
 *
 *     least = iterations * traffic >= context.stream_bytes ? 0 : 1
 *     if ((address | least) % 64 == 0) non-temporal store, else ordinary store
 *
 * Non-temporal stores are not ordered with others, so a task ends with a fence. */
#include <stddef.h>
#include <string.h>

#include "base/bits.h"
#include "codegen/task.h"

enum { LINE = 64 };

void stream_open(Codegen *g, const RangeIndices *r) {
  if (!r->task->traffic || g->part == CODEGEN_GPU_TASKS) return;
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

/* -- alignment of whole vectors ---------------------------------------------------------------- */

/* The store by which the vectors of the loop are aligned: one that each of its whole vectors does,
 * at an address from the body's own list. NULL: there is none. */
static const IrInst *aligned_store(const IrRegion *body) {
  const IrInst *store = NULL;
  for (const IrInst *inst = body->first; inst && !store; inst = inst->next) {
    if (inst->op == IR_LANES_STORE && inst->aligns) store = inst;
    bool is_whole = inst->op == IR_IF && inst->operands[0]->op == IR_MASK_WHOLE;
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
  Type type = loop->index->type;
  value_set(g, loop->index,
            LLVMTypeOf(low) == value_type(g, type) ? low : arith_convert(g, TYPE(I64), type, low));
  region_emit_value(g, at, loop->body);
  /* address + k * step = 0 modulo align; step = even * odd */
  LLVMValueRef k = build_ptrtoint(g, value_of(g, at), g->i64);
  k = build_lshr(g, build_neg(g, k), value_index(g, __builtin_ctzll((uint64_t)even)));
  k = build_mul(g, k, value_index(g, inverse(step / even)));
  k = build_and(g, k, value_index(g, align / even - 1));
  return build_add(g, low, LLVMBuildIntCast2(g->builder, k, LLVMTypeOf(low), false, ""));
}

/* -- the stores -------------------------------------------------------------------------------- */

static LLVMValueRef address_of(Codegen *g, const StreamStore *s, int k) {
  int64_t bytes = value_width(s->vectors[0]) * type_size(s->type);
  return value_byte_offset(g, s->base, k * bytes);
}

static void store_all(Codegen *g, const StreamStore *s, bool past) {
  unsigned whole = (unsigned)min_i64(LINE, value_width(s->vectors[0]) * type_size(s->type));
  for (int k = 0; k < s->count; k++) {
    LLVMValueRef store = build_store(g, s->vectors[k], address_of(g, s, k));
    LLVMSetAlignment(store, past ? whole : (unsigned)type_size(s->type));
    alias_element(g, store, s->alias);
    if (!past) continue;
    LLVMMetadataRef flag = LLVMValueAsMetadata(value_i32(g, 1));
    value_mark(g, store, "nontemporal", LLVMMDNodeInContext2(g->context, &flag, 1));
  }
}

void stream_store(Codegen *g, const StreamStore *s, bool streams) {
  ASSERT(s->count > 0 && s->alias >= 0, "a vector to store");
  int64_t align = min_i64(LINE, value_width(s->vectors[0]) * type_size(s->type));
  if (!streams || !g->f.least) return store_all(g, s, false);
  LLVMBasicBlockRef past = block_new(g, "past"), through = block_new(g, "through"),
                    after = block_new(g, "stored");
  LLVMValueRef at = build_ptrtoint(g, s->base, g->i64);
  at = build_or(g, at, g->f.least);
  at = build_and(g, at, value_index(g, align - 1));
  block_enter_if(g, build_is_zero(g, at), past, through);
  store_all(g, s, true);
  block_jump(g, after);
  block_enter(g, through);
  store_all(g, s, false);
  block_follow(g, after);
}
