/* gpu.c - a task as the entry of a GPU kernel, run by any number of threads (llvm_bc/rt.h,
 * RtGpuLaunch):
 *
 *     thread t of T:   for (position = begin + t; position < end; position += T) body
 *
 * A thread is a lane, so the body is scalar. The indices of a position are found by division; each
 * position tests whether it is in the interior, and neighbouring threads mostly agree.
 * There is one RtWorker, which all threads share. The launch is passed by value; its members are
 * read at the start of the entry block. */
#include <stddef.h>
#include <string.h>

#include "codegen/gpu/gpu.h"
#include "llvm/function_attribute.h"

enum { PTX_KERNEL = 71 }; /* LLVM's calling convention of an entry */

LLVMValueRef gpu_shared(Codegen *g, int64_t bytes, const char *name) {
  enum { SHARED_MEMORY = 3 };
  LLVMTypeRef type = LLVMArrayType2(g->i8, (uint64_t)bytes);
  ASSERT(bytes > 0, "memory has a size");
  LLVMValueRef memory = LLVMAddGlobalInAddressSpace(g->module, type, name, SHARED_MEMORY);
  LLVMSetLinkage(memory, LLVMInternalLinkage);
  LLVMSetInitializer(memory, LLVMGetUndef(type));
  LLVMSetAlignment(memory, 16);
  return build_space_cast(g, memory, g->pointer);
}

static LLVMTypeRef launch_type(Codegen *g) {
  LLVMTypeRef members[] = {g->pointer, g->i64, g->i64};
  return LLVMStructTypeInContext(g->context, members, 3, false);
}

static LLVMValueRef load_launch(Codegen *g, LLVMTypeRef type, size_t offset, const char *name) {
  LLVMValueRef launch = LLVMGetParam(g->f.llvm, 0);
  return LLVMBuildLoad2(g->builder, type, value_byte_offset(g, launch, (int64_t)offset), name);
}

/* "tid.x", .., as an i64 */
static LLVMValueRef special(Codegen *g, const char *name) {
  char intrinsic[64] = "llvm.nvvm.read.ptx.sreg.";
  strncat(intrinsic, name, sizeof intrinsic - 32);
  return LLVMBuildZExt(g->builder, call_plain(g, intrinsic, NULL, 0), g->i64, name);
}

GpuPositions gpu_begin(Codegen *g, const IrTask *task, const char *name) {
  LLVMTypeRef param = g->pointer;
  LLVMValueRef function =
      LLVMAddFunction(g->module, name, LLVMFunctionType(g->void_type, &param, 1, false));
  LLVMSetFunctionCallConv(function, PTX_KERNEL);
  llvm_parameter_by_value(function, 1, launch_type(g), _Alignof(RtGpuLaunch));
  function_open(g, function, task, NULL);
  LLVMBasicBlockRef back = block_hoist_begin(g);
  g->f.rt_context =
      value_global(g, load_launch(g, g->pointer, offsetof(RtGpuLaunch, context), "context"));
  LLVMValueRef begin = load_launch(g, g->i64, offsetof(RtGpuLaunch, begin), "begin"),
               end = load_launch(g, g->i64, offsetof(RtGpuLaunch, end), "end");
  LLVMValueRef block = special(g, "ntid.x");
  LLVMValueRef thread =
      build_nsw_add(g, build_nsw_mul(g, special(g, "ctaid.x"), block), special(g, "tid.x"));
  GpuPositions positions = {.begin = begin,
                            .first = build_nsw_add(g, begin, thread),
                            .end = end,
                            .step = build_nsw_mul(g, special(g, "nctaid.x"), block),
                            .thread = thread};
  g->f.worker = call_runtime(g, RT_HOST_WORKER, (Callee){0}, NULL, 0);
  block_hoist_end(g, back);
  return positions;
}

/* -- positions --------------------------------------------------------------------------------- */

static TestedLoop positions_begin(Codegen *g, const GpuPositions *p) {
  LLVMValueRef trips = block_variable_now(g, value_i32(g, 0), "trips");
  TestedLoop loop = tested_begin(g, p->first, p->end, p->step, g->f.done);
  loop.trips = trips;
  return loop;
}

/* A serial task runs in the first thread, whatever the grid's size. */
void gpu_serial(Codegen *g, const IrTask *task, GpuPositions positions) {
  LLVMBasicBlockRef work = block_new(g, "serial");
  block_enter_if(g, build_is_zero(g, positions.thread), work, g->f.done);
  region_emit(g, task->body);
}

/* -- ranges ------------------------------------------------------------------------------------ */

static void emit_iteration(Codegen *g, const IrRegion *body, LLVMValueRef *indices,
                           LLVMBasicBlockRef again) {
  for (int axis = 0; axis < body->params.count; axis++)
    value_set(g, body->params.items[axis], indices[axis]);
  control_body(g, body, again);
  block_jump(g, again);
}

void gpu_range(Codegen *g, const IrTask *task, GpuPositions positions) {
  RangeIndices range;
  LLVMValueRef indices[SNODE_MAX_AXES];
  range_open(g, task, &range);
  TestedLoop loop = positions_begin(g, &positions);
  range_indices(g, &range, loop.index, indices);
  if (task->interior) {
    LLVMValueRef is_interior = range_is_inside(g, &range, indices, task->axis_count);
    LLVMBasicBlockRef outer = block_if(g, is_interior, "interior", "checked");
    emit_iteration(g, task->interior, indices, loop.again);
    block_enter(g, outer);
  }
  emit_iteration(g, task->body, indices, loop.again);
  block_enter(g, block_new(g, "behind"));
  tested_end(g, &loop);
}

/* -- nodes ------------------------------------------------------------------------------------- */

/* Each group of `spread` threads takes one position; there are only whole groups. */
void gpu_nodes(Codegen *g, const IrTask *task, GpuPositions p) {
  LLVMValueRef length = context_of(g, RT_LIST_SIZE, task->tree),
               all = build_icmp(g, LLVMIntEQ, p.end, value_index(g, RT_ALL_NODES));
  p.end = build_select(g, all, length, p.end);
  if (task->spread > 1) {
    LLVMValueRef group = value_index(g, task->spread);
    p.first = build_nsw_add(g, p.begin, build_udiv(g, p.thread, group));
    p.step = build_udiv(g, p.step, group);
  }
  TestedLoop loop = positions_begin(g, &p);
  task_node(g, task, loop.index, loop.again);
  tested_end(g, &loop);
}
