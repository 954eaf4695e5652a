/* gpu.c - a task as the entry of a GPU kernel, run by any number of threads (llvm_bc/rt.h,
 * RtGpuLaunch):
 *
 *     thread t of T:   for (position = begin + t; position < end; position += T) body
 *
 * A thread is a lane, so the body is scalar. The indices of a position are found by division; each
 * position tests whether it is in the interior, and neighbouring threads mostly agree.
 * There is one RtWorker, which all threads share. The launch is passed by value; its members are
 * read at the begin of the entry block. */
#include <stddef.h>

#include "codegen/gpu/gpu.h"
#include "llvm/function_attribute.h"

enum { PTX_KERNEL = 71 }; /* LLVM's calling convention of an entry */

static LLVMTypeRef launch_type(Codegen *g) {
  LLVMTypeRef members[] = {g->pointer, g->i64, g->i64};
  return LLVMStructTypeInContext(g->context, members, 3, false);
}

static LLVMValueRef load_launch(Codegen *g, LLVMTypeRef type, size_t offset, const char *name) {
  LLVMValueRef launch = LLVMGetParam(g->f.llvm, 0);
  return LLVMBuildLoad2(g->builder, type, value_byte_offset(g, launch, (int64_t)offset), name);
}

static LLVMValueRef special(Codegen *g, const char *name) {
  return LLVMBuildZExt(g->builder, gpu_special(g, name), g->i64, name);
}

static LLVMValueRef add(Codegen *g, LLVMValueRef a, LLVMValueRef b) {
  return LLVMBuildNSWAdd(g->builder, a, b, "");
}
static LLVMValueRef product(Codegen *g, LLVMValueRef a, LLVMValueRef b) {
  return LLVMBuildNSWMul(g->builder, a, b, "");
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
  LLVMValueRef thread = add(g, product(g, special(g, "ctaid.x"), block), special(g, "tid.x"));
  GpuPositions positions = {.begin = begin,
                            .first = add(g, begin, thread),
                            .end = end,
                            .step = product(g, special(g, "nctaid.x"), block),
                            .thread = thread};
  g->f.worker = call_runtime(g, RT_HOST_WORKER, (Callee){0}, NULL, 0);
  block_hoist_end(g, back);
  return positions;
}

/* -- positions --------------------------------------------------------------------------------- */

typedef struct PositionLoop {
  LLVMValueRef position, counter;
  LLVMBasicBlockRef head, again;
} PositionLoop;

static PositionLoop positions_begin(Codegen *g, const GpuPositions *positions) {
  PositionLoop loop = {.counter = block_variable(g, g->i32, "trips"),
                       .head = block_new(g, "positions"),
                       .again = block_new(g, "again")};
  LLVMBuildStore(g->builder, value_integer(g->i32, 0), loop.counter);
  LLVMBasicBlockRef before = LLVMGetInsertBlock(g->builder), work = block_new(g, "position");
  block_jump(g, loop.head);
  block_enter(g, loop.head);
  loop.position = LLVMBuildPhi(g->builder, g->i64, "position");
  LLVMAddIncoming(loop.position, (LLVMValueRef *)&positions->first, &before, 1);
  LLVMValueRef more = LLVMBuildICmp(g->builder, LLVMIntSLT, loop.position, positions->end, "");
  block_branch(g, more, work, g->f.done);
  block_enter(g, work);
  return loop;
}

static void positions_end(Codegen *g, const GpuPositions *positions, const PositionLoop *loop) {
  block_jump(g, loop->again);
  block_enter(g, loop->again);
  LLVMValueRef next = add(g, loop->position, positions->step);
  LLVMBasicBlockRef back = block_new(g, "next");
  control_back_edge(g, loop->counter, back);
  block_enter(g, back);
  block_jump(g, loop->head);
  LLVMAddIncoming(loop->position, &next, &back, 1);
  block_enter(g, block_new(g, "behind"));
}

/* A serial task runs in the first thread, whatever the grid's size. */
void gpu_serial(Codegen *g, const IrTask *task, GpuPositions positions) {
  LLVMBasicBlockRef work = block_new(g, "serial");
  block_branch(g, LLVMBuildICmp(g->builder, LLVMIntEQ, positions.thread, value_index(g, 0), ""),
               work, g->f.done);
  block_enter(g, work);
  emit_region(g, task->body);
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
  if (!range_open(g, task, &range)) return;
  PositionLoop loop = positions_begin(g, &positions);
  range_indices(g, &range, loop.position, indices);
  if (task->interior) {
    LLVMValueRef is_interior = range_is_inside(g, &range, indices, task->axis_count);
    LLVMBasicBlockRef inner = block_new(g, "interior"), outer = block_new(g, "checked");
    block_branch(g, is_interior, inner, outer);
    block_enter(g, inner);
    emit_iteration(g, task->interior, indices, loop.again);
    block_enter(g, outer);
  }
  emit_iteration(g, task->body, indices, loop.again);
  block_enter(g, block_new(g, "behind"));
  positions_end(g, &positions, &loop);
}

/* -- nodes ------------------------------------------------------------------------------------- */

/* The end of the positions; RT_ALL_NODES stands for the list's length. */
static LLVMValueRef end_of_list(Codegen *g, LLVMValueRef end) {
  ASSERT(g->f.list.length, "the task goes over a list");
  LLVMValueRef all = LLVMBuildICmp(g->builder, LLVMIntEQ, end, value_index(g, RT_ALL_NODES), "");
  return LLVMBuildSelect(g->builder, all, g->f.list.length, end, "");
}

static void emit_nodes(Codegen *g, const IrTask *task, const GpuPositions *positions) {
  PositionLoop loop = positions_begin(g, positions);
  task_node(g, task, loop.position, loop.again);
  positions_end(g, positions, &loop);
}

/* Each group of `spread` threads takes one position; there are only whole groups. */
static void emit_shared(Codegen *g, const IrTask *task, GpuPositions positions, int spread) {
  ASSERT(spread > 1 && spread <= GPU_BLOCK, "threads of one block share a leaf");
  LLVMValueRef group = value_index(g, spread);
  LLVMValueRef number = LLVMBuildUDiv(g->builder, positions.thread, group, "");
  LLVMValueRef rank = LLVMBuildURem(g->builder, positions.thread, group, "");
  positions.first = add(g, positions.begin, number);
  positions.step = LLVMBuildUDiv(g->builder, positions.step, group, "");
  g->f.group = (ThreadGroup){LLVMBuildTrunc(g->builder, rank, g->i32, "rank"), spread, false};
  emit_nodes(g, task, &positions);
}

/* Emits the body twice, so that a thread's share of a leaf is a compile-time constant: for a group
 * of `spread` threads, and for the single thread of an ordered task. */
void gpu_nodes(Codegen *g, const IrTask *task, GpuPositions positions) {
  int spread = ir_spread(task);
  g->f.list = context_list(g, task->tree, task->manager);
  positions.end = end_of_list(g, positions.end);
  if (spread == 1) return emit_nodes(g, task, &positions);
  LLVMBasicBlockRef shared = block_new(g, "shared"), alone = block_new(g, "alone");
  LLVMValueRef rest = LLVMBuildURem(g->builder, positions.step, value_index(g, spread), "");
  block_branch(g, LLVMBuildICmp(g->builder, LLVMIntEQ, rest, value_index(g, 0), ""), shared, alone);
  block_enter(g, shared);
  emit_shared(g, task, positions, spread);
  block_jump(g, g->f.done);
  block_enter(g, alone);
  g->f.group = (ThreadGroup){value_integer(g->i32, 0), 1, true};
  emit_nodes(g, task, &positions);
}
