/* stream.c - non-temporal stores (pass/vector/non_temporal.h) of whole vectors whose lines are not
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
#include "codegen/emit.h"

enum { LINE = 64 };

void stream_open(Codegen *g, const RangeIndices *r) {
  if (!r->task->traffic || g->part == CODEGEN_GPU_TASKS) return;
  LLVMValueRef bytes = value_index(g, r->task->traffic);
  for (int axis = 0; axis < r->task->axis_count; axis++)
    bytes = LLVMBuildMul(g->builder, bytes, r->extent[axis], "");
  LLVMValueRef from = value_byte_offset(g, g->f.rt_context, offsetof(RtContext, stream_bytes)),
               least = LLVMBuildLoad2(g->builder, g->i64, from, "stream_bytes"),
               is_small = LLVMBuildICmp(g->builder, LLVMIntULT, bytes, least, "");
  g->f.least = LLVMBuildZExt(g->builder, is_small, g->i64, "least");
}

void stream_close(Codegen *g) {
  if (g->f.least) LLVMBuildFence(g->builder, LLVMAtomicOrderingSequentiallyConsistent, false, "");
  g->f.least = NULL;
}

/* -- alignment of whole vectors ---------------------------------------------------------------- */

/* The store by which the vectors of the loop are aligned; NULL: there is none. */
static const IrInst *aligned_store(const IrRegion *body) {
  const IrInst *inst = body->first;
  while (inst && (inst->op != IR_LANES_STORE || !inst->aligns)) inst = inst->next;
  return inst;
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
  int64_t step = size * max_i64(store->parts, 1);
  int64_t align = min_i64(LINE, loop->width * size), even = step & -step;
  if (even >= align) return low; /* all indices are equally aligned */
  Type type = loop->index->type;
  value_set(g, loop->index,
            LLVMTypeOf(low) == value_type(g, type) ? low : arith_convert(g, TYPE(I64), type, low));
  emit_with_operands(g, at, loop->body);
  /* address + k * step = 0 modulo align; step = even * odd */
  LLVMValueRef k = LLVMBuildPtrToInt(g->builder, value_of(g, at), g->i64, "");
  k = LLVMBuildLShr(g->builder, LLVMBuildNeg(g->builder, k, ""),
                    value_index(g, __builtin_ctzll((uint64_t)even)), "");
  k = LLVMBuildMul(g->builder, k, value_index(g, inverse(step / even)), "");
  k = LLVMBuildAnd(g->builder, k, value_index(g, align / even - 1), "");
  return LLVMBuildAdd(g->builder, low, LLVMBuildIntCast2(g->builder, k, LLVMTypeOf(low), false, ""),
                      "");
}

/* -- the stores -------------------------------------------------------------------------------- */

static LLVMValueRef address_of(Codegen *g, const StreamStore *s, int k) {
  int64_t bytes = value_width(s->vectors[0]) * type_size(s->type);
  return value_byte_offset(g, s->base, k * bytes);
}

static void store_all(Codegen *g, const StreamStore *s, bool past) {
  unsigned whole = (unsigned)min_i64(LINE, value_width(s->vectors[0]) * type_size(s->type));
  for (int k = 0; k < s->count; k++) {
    LLVMValueRef store = LLVMBuildStore(g->builder, s->vectors[k], address_of(g, s, k));
    LLVMSetAlignment(store, past ? whole : (unsigned)type_size(s->type));
    alias_element(g, store, s->alias);
    if (!past) continue;
    LLVMMetadataRef flag = LLVMValueAsMetadata(value_integer(g->i32, 1));
    LLVMSetMetadata(store,
                    LLVMGetMDKindIDInContext(g->context, "nontemporal", strlen("nontemporal")),
                    LLVMMetadataAsValue(g->context, LLVMMDNodeInContext2(g->context, &flag, 1)));
  }
}

void stream_store(Codegen *g, const StreamStore *s, bool streams) {
  ASSERT(s->count > 0 && s->alias >= 0, "a vector to store");
  int64_t align = min_i64(LINE, value_width(s->vectors[0]) * type_size(s->type));
  if (!streams || !g->f.least) return store_all(g, s, false);
  LLVMBasicBlockRef past = block_new(g, "past"), through = block_new(g, "through"),
                    after = block_new(g, "stored");
  LLVMValueRef at = LLVMBuildPtrToInt(g->builder, s->base, g->i64, "");
  at = LLVMBuildOr(g->builder, at, g->f.least, "");
  at = LLVMBuildAnd(g->builder, at, value_index(g, align - 1), "");
  block_branch(g, LLVMBuildICmp(g->builder, LLVMIntEQ, at, value_index(g, 0), ""), past, through);
  block_enter(g, past);
  store_all(g, s, true);
  block_jump(g, after);
  block_enter(g, through);
  store_all(g, s, false);
  block_jump(g, after);
  block_enter(g, after);
}
