/* stream.c - stores past the caches (pass/streams.h): of whole vectors whose lines nobody reads
 * soon. Whether a loop is large enough is asked where it begins, and whether a vector begins where
 * such stores have to at each of them:
 *
 *     least = iterations * traffic >= context.stream_bytes ? 0 : 1
 *     if ((address | least) % 64 == 0) store past the caches, else store
 *
 * They are done in no order with others, so a task ends with a fence. */
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
  LLVMValueRef from = value_byte_offset(g, g->rt_context, offsetof(RtContext, stream_bytes)),
               least = LLVMBuildLoad2(g->builder, g->i64, from, "stream_bytes"),
               is_small = LLVMBuildICmp(g->builder, LLVMIntULT, bytes, least, "");
  g->least = LLVMBuildZExt(g->builder, is_small, g->i64, "least");
}

void stream_close(Codegen *g) {
  if (g->least) LLVMBuildFence(g->builder, LLVMAtomicOrderingSequentiallyConsistent, false, "");
  g->least = NULL;
}

static LLVMValueRef address_of(Codegen *g, const StreamStore *s, int k) {
  int64_t bytes = g->width * type_size(s->type);
  return value_byte_offset(g, s->base, k * bytes);
}

static void store_all(Codegen *g, const StreamStore *s, bool past) {
  unsigned whole = (unsigned)min_i64(LINE, g->width * type_size(s->type));
  for (int k = 0; k < s->count; k++) {
    LLVMValueRef store = LLVMBuildStore(g->builder, s->vectors[k], address_of(g, s, k));
    LLVMSetAlignment(store, past ? whole : (unsigned)type_size(s->type));
    if (s->is_element) alias_element(g, store);
    if (!past) continue;
    LLVMMetadataRef flag = LLVMValueAsMetadata(value_integer(g->i32, 1));
    LLVMSetMetadata(store, LLVMGetMDKindIDInContext(g->context, "nontemporal",
                                                    strlen("nontemporal")),
                    LLVMMetadataAsValue(g->context,
                                        LLVMMDNodeInContext2(g->context, &flag, 1)));
  }
}

void stream_store(Codegen *g, const StreamStore *s, bool streams) {
  int64_t align = min_i64(LINE, g->width * type_size(s->type));
  if (!streams || !g->least) return store_all(g, s, false);
  LLVMBasicBlockRef past = block_new(g, "past"), through = block_new(g, "through"),
                    after = block_new(g, "stored");
  LLVMValueRef at = LLVMBuildPtrToInt(g->builder, s->base, g->i64, "");
  at = LLVMBuildOr(g->builder, at, g->least, "");
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
