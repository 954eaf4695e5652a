/* task_list.c - tasks over the active nodes of one manager: list positions begin..end.
 *     TASK_LEAVES   the body gets the node's cursor and the coordinates of its first cell; it looks
 *                   up its neighbours and visits the cells itself
 *     TASK_NODES    the body is one iteration per node and gets the node's coordinates, followed by
 *                   its cursor if it uses that; in lanes, one node per lane
 *
 * Decision D-llvm_bc-07. */
#include <stddef.h>

#include "codegen/emit.h"

/* for (position = begin; position < end; position++), with a poll of the stop word before each */
typedef struct ListLoop {
  LLVMValueRef position;
  LLVMBasicBlockRef head, again;
} ListLoop;

static ListLoop list_begin(Codegen *g, LLVMValueRef begin, LLVMValueRef end) {
  ListLoop loop = {NULL, block_new(g, "nodes"), block_new(g, "again")};
  LLVMBasicBlockRef before = LLVMGetInsertBlock(g->builder), work = block_new(g, "node");
  block_jump(g, loop.head);
  block_enter(g, loop.head);
  loop.position = LLVMBuildPhi(g->builder, g->i64, "position");
  LLVMAddIncoming(loop.position, &begin, &before, 1);
  block_branch(g, LLVMBuildICmp(g->builder, LLVMIntSLT, loop.position, end, ""), work, g->f.finish);
  block_enter(g, work);
  context_poll_stop(g);
  return loop;
}

static void list_end(Codegen *g, ListLoop *loop) {
  block_jump(g, loop->again);
  block_enter(g, loop->again);
  LLVMValueRef next = LLVMBuildNSWAdd(g->builder, loop->position, value_index(g, 1), "");
  block_jump(g, loop->head);
  LLVMAddIncoming(loop->position, &next, &loop->again, 1);
  block_enter(g, block_new(g, "behind"));
}

static LLVMValueRef list_entry(Codegen *g, const IrTask *task, RtEntry entry,
                               LLVMValueRef position) {
  return call_runtime(g, entry, (Callee){task->tree, task->manager}, &position, 1);
}

/* On a GPU, threads read the list's table directly, whose address is hoisted. */
static LLVMValueRef entry_member(Codegen *g, LLVMValueRef position, size_t offset,
                                 LLVMTypeRef type) {
  LLVMValueRef bytes =
      LLVMBuildNSWMul(g->builder, position, value_index(g, sizeof(RtListEntry)), "");
  LLVMValueRef entry = LLVMBuildGEP2(g->builder, g->i8, g->f.list.entries, &bytes, 1, "");
  LLVMValueRef member =
      LLVMBuildLoad2(g->builder, type, value_byte_offset(g, entry, (int64_t)offset), "");
  return type == g->pointer ? value_global(g, member) : member;
}

static LLVMValueRef node_at(Codegen *g, const IrTask *task, LLVMValueRef position) {
  if (!g->f.list.entries) return list_entry(g, task, RT_LIST_NODE, position);
  LLVMValueRef handle = entry_member(g, position, offsetof(RtListEntry, handle), g->i32);
  LLVMValueRef bytes = LLVMBuildNUWMul(g->builder, LLVMBuildZExt(g->builder, handle, g->i64, ""),
                                       value_index(g, RT_GRANULE), "");
  return LLVMBuildGEP2(g->builder, g->i8, context_base(g, task->tree), &bytes, 1, "node");
}

static LLVMValueRef coordinates_at(Codegen *g, const IrTask *task, LLVMValueRef position) {
  if (!g->f.list.entries) return list_entry(g, task, RT_LIST_COORDINATES, position);
  return entry_member(g, position, offsetof(RtListEntry, coordinates), g->pointer);
}

/* Coordinate `axis` of the node, times the cells per node, as `type`. */
static LLVMValueRef coordinate(Codegen *g, LLVMValueRef table, int axis, int64_t factor,
                               Type type) {
  LLVMValueRef value =
      LLVMBuildLoad2(g->builder, g->i64, value_byte_offset(g, table, axis * 8), "");
  if (factor != 1) value = LLVMBuildMul(g->builder, value, value_index(g, factor), "");
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

/* The lists' entries of the lanes that a mask has active; the others read nothing. */
typedef struct LaneEntries {
  LLVMValueRef entries, mask;
  int width;
} LaneEntries;

static LLVMValueRef gather_member(Codegen *g, const LaneEntries *e, size_t offset, Type type) {
  LLVMValueRef at = value_byte_offset(g, e->entries, (int64_t)offset);
  return vector_gather(g, type, at, e->mask);
}

static LLVMValueRef nodes_of(Codegen *g, const IrTask *task, const LaneEntries *e) {
  LLVMValueRef handles = gather_member(g, e, offsetof(RtListEntry, handle), TYPE(U32));
  LLVMTypeRef wide = value_lanes(g->i64, e->width);
  LLVMValueRef bytes = LLVMBuildNUWMul(g->builder, LLVMBuildZExt(g->builder, handles, wide, ""),
                                       value_integer(wide, RT_GRANULE), "");
  return LLVMBuildGEP2(g->builder, g->i8, context_base(g, task->tree), &bytes, 1, "nodes");
}

static LLVMValueRef tables_of(Codegen *g, const LaneEntries *e) {
  LLVMValueRef tables = gather_member(g, e, offsetof(RtListEntry, coordinates), TYPE(I64));
  return LLVMBuildIntToPtr(g->builder, tables, value_lanes(g->pointer, e->width), "");
}

void task_lanes_of_nodes(Codegen *g, const IrTask *task, LLVMValueRef first, LLVMValueRef mask) {
  ASSERT(task->kind == TASK_NODES && value_width(mask) == task->lanes, "a node for each lane");
  const IrRegion *body = task->body;
  const IrInst *cursor = cursor_of(task);
  ContextList list = context_list(g, task->tree, task->manager);
  LLVMValueRef bytes = LLVMBuildNSWMul(g->builder, first, value_index(g, sizeof(RtListEntry)), "");
  LLVMValueRef entry = LLVMBuildGEP2(g->builder, g->i8, list.entries, &bytes, 1, ""), tables = NULL;
  LaneEntries e = {.mask = mask, .width = value_width(mask)};
  e.entries = vector_step(g, entry, TYPE(PTR), sizeof(RtListEntry), e.width);
  if (cursor) value_set(g, cursor, nodes_of(g, task, &e));
  for (int axis = 0; axis < task->axis_count; axis++) {
    const IrInst *param = body->params.items[axis];
    if (!ir_use_count(task->body, param)) continue;
    if (!tables) tables = tables_of(g, &e);
    LLVMValueRef number = vector_gather(g, TYPE(I64), value_byte_offset(g, tables, axis * 8), mask);
    value_set(g, param, arith_convert(g, TYPE(I64), type_element(param->type), number));
  }
}

static void list_in_lanes(Codegen *g, const IrTask *task, LLVMValueRef begin, LLVMValueRef end) {
  LaneLoop loop = {.body = task->body,
                   .nodes = task,
                   .width = task->lanes,
                   .trips = block_variable(g, g->i32, "trips")};
  if (!lane_is_sound(task->body, task->lanes))
    return codegen_fail(g, NULL, "a task's iterations cannot be lanes");
  LLVMBuildStore(g->builder, value_integer(g->i32, 0), loop.trips);
  context_poll_stop(g);
  lane_loop(g, &loop, begin, end);
}

void task_list(Codegen *g, const IrTask *task, LLVMValueRef begin, LLVMValueRef end) {
  if (task->lanes > 1) return list_in_lanes(g, task, begin, end);
  ListLoop loop = list_begin(g, begin, end);
  task_node(g, task, loop.position, loop.again);
  list_end(g, &loop);
}
