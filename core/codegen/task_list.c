/* task_list.c - tasks over the active nodes of one manager: list positions begin..end.
 *     TASK_LEAVES   the body gets the node's cursor and the coordinates of its first cell; it looks
 *                   up its neighbours and visits the cells itself
 *     TASK_NODES    the body is one iteration per node and gets the node's coordinates, followed by
 *                   its cursor if it uses that; in lanes, one node per lane
 *
 * Decision D-llvm_bc-07. */
#include <stddef.h>

#include "codegen/task.h"

/* The node, or its coordinates, at a position. On a GPU, threads read the list's table directly,
 * whose address is hoisted. */
static LLVMValueRef node_at(Codegen *g, const IrTask *task, LLVMValueRef position) {
  Callee callee = {task->tree, task->manager};
  if (g->part != CODEGEN_GPU_TASKS) return call_runtime(g, RT_LIST_NODE, callee, &position, 1);
  LLVMValueRef operands[] = {context_of(g, RT_TREE_BASE, task->tree),
                             context_of(g, RT_LIST_ENTRIES, task->tree), position};
  return value_node(g, call_runtime(g, RT_LIST_ENTRY_NODE, callee, operands, 3));
}

static LLVMValueRef coordinates_at(Codegen *g, const IrTask *task, LLVMValueRef position) {
  Callee callee = {task->tree, task->manager};
  if (g->part != CODEGEN_GPU_TASKS)
    return call_runtime(g, RT_LIST_COORDINATES, callee, &position, 1);
  LLVMValueRef operands[] = {context_of(g, RT_LIST_ENTRIES, task->tree), position};
  return call_runtime(g, RT_LIST_ENTRY_COORDINATES, callee, operands, 2);
}

/* Coordinate `axis` of the node, times the cells per node, as `type`. */
static LLVMValueRef coordinate(Codegen *g, LLVMValueRef table, int axis, int64_t factor,
                               Type type) {
  LLVMValueRef value = build_load(g, g->i64, value_byte_offset(g, table, axis * 8));
  if (factor != 1) value = build_mul(g, value, value_index(g, factor));
  return arith_convert(g, TYPE(I64), type, value);
}

/* The visited node's cursor; NULL if the body does not use it. */
static const IrInst *cursor_of(const IrTask *task) {
  const IrRegion *body = task->body;
  int count = body->params.count - (ir_lanes_mask(body) != NULL);
  if (task->kind == TASK_LEAVES) return body->params.items[0];
  return count > task->axis_count ? body->params.items[count - 1] : NULL;
}

void task_node(Codegen *g, const IrTask *task, LLVMValueRef position, LLVMBasicBlockRef again) {
  bool is_leaves = task->kind == TASK_LEAVES;
  const IrRegion *body = task->body;
  const IrInst *cursor = cursor_of(task);
  ASSERT(body->params.count >= task->axis_count + is_leaves, "a coordinate for each axis");
  if (cursor) value_set(g, cursor, node_at(g, task, position));
  LLVMValueRef table = coordinates_at(g, task, position);
  for (int axis = 0; axis < task->axis_count; axis++) {
    const IrInst *param = body->params.items[is_leaves + axis];
    int64_t factor = is_leaves && task->factors[axis] > 0 ? task->factors[axis] : 1;
    value_set(g, param, coordinate(g, table, axis, factor, param->type));
  }
  control_body(g, body, again);
}

/* -- in lanes ---------------------------------------------------------------------------------- */

/* A member of the list's entry of each lane that the mask has active; the others read nothing. */
static LLVMValueRef gather_member(Codegen *g, LLVMValueRef entries, LLVMValueRef mask,
                                  size_t offset, Type type) {
  return vector_gather(g, type, value_byte_offset(g, entries, (int64_t)offset), mask);
}

static void set_lanes(Codegen *g, const IrTask *task, LLVMValueRef first, LLVMValueRef mask) {
  ASSERT(task->kind == TASK_NODES && value_width(mask) == task->lanes, "a node for each lane");
  const IrInst *cursor = cursor_of(task);
  int width = value_width(mask);
  LLVMValueRef bytes = build_nsw_mul(g, first, value_index(g, sizeof(RtListEntry)));
  LLVMValueRef entry = build_at(g, g->i8, context_of(g, RT_LIST_ENTRIES, task->tree), bytes),
               tables = NULL, entries = lanes_step(g, entry, TYPE(PTR), sizeof(RtListEntry), width);
  if (cursor) {
    size_t offset = offsetof(RtListEntry, handle);
    LLVMValueRef handles = gather_member(g, entries, mask, offset, TYPE(U32));
    value_set(g, cursor, slot_node_at(g, task->tree, handles));
  }
  for (int axis = 0; axis < task->axis_count; axis++) {
    const IrInst *param = task->body->params.items[axis];
    if (!ir_use_count(task->body, param)) continue;
    if (!tables) {
      size_t offset = offsetof(RtListEntry, coordinates);
      LLVMValueRef addresses = gather_member(g, entries, mask, offset, TYPE(I64));
      tables = build_inttoptr(g, addresses, value_lanes(g->pointer, width));
    }
    LLVMValueRef number = gather_member(g, tables, mask, (size_t)axis * 8, TYPE(I64));
    value_set(g, param, arith_convert(g, TYPE(I64), type_element(param->type), number));
  }
}

static void list_in_lanes(Codegen *g, const IrTask *task, LLVMValueRef begin, LLVMValueRef end) {
  LaneLoop loop = {.body = task->body,
                   .nodes = task,
                   .set_params = set_lanes,
                   .width = task->lanes,
                   .full_vectors = task->full_vectors > 0,
                   .trips = block_variable_now(g, value_i32(g, 0), "trips")};
  context_poll_stop(g);
  lane_loop(g, &loop, begin, end);
}

void task_list(Codegen *g, const IrTask *task, LLVMValueRef begin, LLVMValueRef end) {
  if (task->lanes > 1) return list_in_lanes(g, task, begin, end);
  TestedLoop loop = tested_begin(g, begin, end, value_index(g, 1), g->f.finish);
  context_poll_stop(g);
  task_node(g, task, loop.index, loop.again);
  tested_end(g, &loop);
}
