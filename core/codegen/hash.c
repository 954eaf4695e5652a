/* hash.c - vectorised access to cells of a hash: one call of the runtime finds, or removes, the
 * cells of all lanes. Two caches save look-ups. A prefetch (RT_HASH_AHEAD) keeps its cells with
 * their coordinates until RT_AHEAD iterations later: if those iterations need the same cells, they
 * skip the look-up. And the cells of the last look-up are reused while the coordinates stay the
 * same (`repeats`), as in loops over leaves that also read a coarser or a finer grid: half of the
 * cells of a leaf, and its next row, are in the same leaves of that grid. Decision D-pass-13. */
#include <string.h>

#include "codegen/emit.h"

static LLVMValueRef coordinates_of(Codegen *g, const LaneCall *c) {
  LLVMTypeRef lanes = value_lanes(g->i64, c->width);
  int count = c->count - 1;
  LLVMValueRef array = block_variable(g, LLVMArrayType2(lanes, (uint64_t)count), "coordinates");
  for (int k = 0; k < count; k++)
    LLVMBuildStore(g->builder, call_operand_lanes(g, c, 1 + k),
                   value_byte_offset(g, array, (int64_t)k * c->width * 8));
  return array;
}

/* The bits of a mask, or of the bool of a single look-up. */
static LLVMValueRef bits_of(Codegen *g, LLVMValueRef mask) {
  return value_is_vector(mask) ? vector_bits(g, mask) : LLVMBuildZExt(g->builder, mask, g->i64, "");
}

/* -- cells that a prefetch found --------------------------------------------------------------- */

static LLVMValueRef read(Codegen *g, LLVMValueRef variable) {
  return LLVMBuildLoad2(g->builder, LLVMGetAllocatedType(variable), variable, "");
}

static void copy(Codegen *g, LLVMValueRef to, LLVMValueRef from) {
  LLVMBuildStore(g->builder, read(g, from), to);
}

/* A variable that is zeroed at the begin of the function. */
static LLVMValueRef zero_variable(Codegen *g, LLVMTypeRef type) {
  LLVMValueRef variable = block_variable(g, type, "ahead");
  LLVMBasicBlockRef back = block_hoist_begin(g);
  LLVMBuildStore(g->builder, LLVMConstNull(type), variable);
  block_hoist_end(g, back);
  return variable;
}

static void begin_ahead(Codegen *g, const LaneCall *c) {
  AheadCells *a = &g->ahead;
  *a = (AheadCells){.tree = c->inst->tree, .manager = c->inst->imm, .width = c->width};
  a->axis_count = c->count - 1;
  a->groups = RT_AHEAD % c->width ? 0 : RT_AHEAD / c->width;
  if (a->groups > AHEAD_GROUPS) a->groups = 0;
  for (int k = 0; a->groups && k <= a->groups; k++) {
    a->cells[k] = zero_variable(g, value_lanes(g->pointer, c->width));
    a->found[k] = zero_variable(g, g->i64);
    for (int axis = 0; axis < a->axis_count; axis++)
      a->coordinates[k][axis] = zero_variable(g, value_lanes(g->i64, c->width));
  }
}

static void keep_ahead(Codegen *g, const LaneCall *c, LLVMValueRef cells) {
  AheadCells *a = &g->ahead;
  begin_ahead(g, c);
  if (!a->groups) return;
  for (int k = a->groups; k > 0; k--) {
    copy(g, a->cells[k], a->cells[k - 1]);
    copy(g, a->found[k], a->found[k - 1]);
    for (int axis = 0; axis < a->axis_count; axis++)
      copy(g, a->coordinates[k][axis], a->coordinates[k - 1][axis]);
  }
  LLVMBuildStore(g->builder, cells, a->cells[0]);
  LLVMBuildStore(g->builder, vector_bits(g, c->mask), a->found[0]);
  for (int axis = 0; axis < a->axis_count; axis++)
    LLVMBuildStore(g->builder, call_operand_lanes(g, c, 1 + axis), a->coordinates[0][axis]);
}

static bool may_be_kept(const Codegen *g, const LaneCall *c) {
  const AheadCells *a = &g->ahead;
  return c->inst->entry == RT_HASH_FIND && a->groups && a->width == c->width &&
         a->tree == c->inst->tree && a->manager == c->inst->imm;
}

/* Did the earlier prefetch find the cells of all active lanes? */
static LLVMValueRef are_kept(Codegen *g, const LaneCall *c) {
  const AheadCells *a = &g->ahead;
  LLVMValueRef same = read(g, a->found[a->groups]);
  for (int axis = 0; axis < a->axis_count; axis++) {
    LLVMValueRef equal = LLVMBuildICmp(g->builder, LLVMIntEQ, call_operand_lanes(g, c, 1 + axis),
                                       read(g, a->coordinates[a->groups][axis]), "");
    same = LLVMBuildAnd(g->builder, same, vector_bits(g, equal), "");
  }
  LLVMValueRef missing =
      LLVMBuildAnd(g->builder, vector_bits(g, c->mask), LLVMBuildNot(g->builder, same, ""), "");
  return LLVMBuildICmp(g->builder, LLVMIntEQ, missing, value_integer(g->i64, 0), "");
}

/* -- look-ups ---------------------------------------------------------------------------------- */

static RtEntry form_of(const IrInst *inst) {
  switch (inst->entry) {
  case RT_HASH_AHEAD: return RT_HASH_STILL_LANES;
  case RT_HASH_ENSURE: return RT_HASH_ENSURE_LANES;
  case RT_HASH_CLEAR: return RT_HASH_CLEAR_LANES;
  default: return inst->lasting ? RT_HASH_STILL_LANES : RT_HASH_FIND_LANES;
  }
}

static void in_all(Codegen *g, const LaneCall *c, LLVMValueRef nodes) {
  LLVMBuildStore(g->builder, call_operand_lanes(g, c, 0), nodes);
  LLVMValueRef operands[] = {vector_bits(g, c->mask), value_integer(g->i32, c->width), nodes,
                             coordinates_of(g, c)};
  call_runtime(g, form_of(c->inst), (Callee){c->inst->tree, c->inst->imm}, operands, 4);
}

/* The cells, and the ambient in inactive lanes. */
static LLVMValueRef of_active(Codegen *g, const LaneCall *c, LLVMValueRef cells) {
  LLVMValueRef ambient = value_broadcast(g, context_ambient(g), c->width);
  return value_is_all(c->mask) ? cells : LLVMBuildSelect(g->builder, c->mask, cells, ambient, "");
}

static void find_unless_kept(Codegen *g, const LaneCall *c, LLVMValueRef nodes) {
  LLVMBasicBlockRef look = block_new(g, "look"), done = block_new(g, "found");
  LLVMValueRef kept = read(g, g->ahead.cells[g->ahead.groups]), all = are_kept(g, c);
  LLVMBuildStore(g->builder, of_active(g, c, kept), nodes);
  block_branch(g, all, done, look);
  block_enter(g, look);
  in_all(g, c, nodes);
  block_jump(g, done);
  block_enter(g, done);
}

/* -- cells of the last look-up ----------------------------------------------------------------- */

static LastCells *last_of(Codegen *g, const LaneCall *c) {
  const IrInst *inst = c->inst;
  bool ensures = inst->entry == RT_HASH_ENSURE;
  for (int i = 0; i < g->last_cells.count; i++) {
    LastCells *last = &g->last_cells.items[i];
    if (last->tree == inst->tree && last->manager == inst->imm && last->width == c->width &&
        last->ensures == ensures)
      return last;
  }
  LastCells last = {.tree = inst->tree,
                    .manager = inst->imm,
                    .width = c->width,
                    .ensures = ensures,
                    .axis_count = c->count - 1};
  last.cells = zero_variable(g, value_lanes(g->pointer, c->width));
  last.found = zero_variable(g, g->i64);
  for (int axis = 0; axis < last.axis_count; axis++)
    last.coordinates[axis] = zero_variable(g, value_lanes(g->i64, c->width));
  vec_push(g->scratch, &g->last_cells, last);
  return &vec_last(&g->last_cells);
}

/* Calls the runtime if any active lane needs a cell other than last time. */
static LLVMValueRef find_unless_last(Codegen *g, const LaneCall *c) {
  LastCells *last = last_of(g, c);
  LLVMBasicBlockRef look = block_new(g, "look"), done = block_new(g, "found");
  LLVMValueRef running = bits_of(g, c->mask), same = read(g, last->found);
  for (int axis = 0; axis < last->axis_count; axis++) {
    LLVMValueRef equal = LLVMBuildICmp(g->builder, LLVMIntEQ, call_operand_lanes(g, c, 1 + axis),
                                       read(g, last->coordinates[axis]), "");
    same = LLVMBuildAnd(g->builder, same, bits_of(g, equal), "");
  }
  LLVMValueRef missing = LLVMBuildAnd(g->builder, running, LLVMBuildNot(g->builder, same, ""), "");
  block_branch(g, LLVMBuildICmp(g->builder, LLVMIntEQ, missing, value_index(g, 0), ""), done, look);
  block_enter(g, look);
  if (c->width > 1) {
    in_all(g, c, last->cells);
  } else {
    Callee callee = {c->inst->tree, c->inst->imm};
    LLVMValueRef cell = call_runtime(g, RT_HASH_FIND, callee, c->operands, c->count);
    LLVMBuildStore(g->builder, cell, last->cells);
  }
  LLVMBuildStore(g->builder, running, last->found);
  for (int axis = 0; axis < last->axis_count; axis++)
    LLVMBuildStore(g->builder, call_operand_lanes(g, c, 1 + axis), last->coordinates[axis]);
  block_jump(g, done);
  block_enter(g, done);
  return read(g, last->cells);
}

static LLVMValueRef result_of(Codegen *g, const LaneCall *c, LLVMValueRef cells) {
  if (c->inst->entry != RT_HASH_LIVE) return cells;
  LLVMValueRef ambient = value_broadcast(g, context_ambient(g), c->width);
  return LLVMBuildICmp(g->builder, LLVMIntNE, cells, ambient, "");
}

LLVMValueRef hash_again(Codegen *g, const IrInst *inst, const LLVMValueRef *operands) {
  LaneCall c = {.inst = inst,
                .count = inst->operand_count,
                .width = 1,
                .mask = value_integer(g->bool_type, 1)};
  memcpy(c.operands, operands, (size_t)c.count * sizeof *operands);
  return result_of(g, &c, find_unless_last(g, &c));
}

LLVMValueRef hash_lanes(Codegen *g, const LaneCall *c) {
  LLVMTypeRef lanes = value_lanes(g->pointer, c->width);
  if (c->inst->repeats) return result_of(g, c, of_active(g, c, find_unless_last(g, c)));
  LLVMValueRef nodes = block_variable(g, lanes, "nodes");
  if (may_be_kept(g, c)) find_unless_kept(g, c, nodes);
  else in_all(g, c, nodes);
  LLVMValueRef cells = LLVMBuildLoad2(g->builder, lanes, nodes, "");
  if (c->inst->entry == RT_HASH_AHEAD) keep_ahead(g, c, cells);
  return result_of(g, c, cells);
}

void hash_clear_lanes(Codegen *g, const LaneCall *c) {
  in_all(g, c, block_variable(g, value_lanes(g->pointer, c->width), "nodes"));
}

void hash_fetch_lanes(Codegen *g, const LaneCall *c) {
  LLVMValueRef operands[] = {value_integer(g->i32, c->width), coordinates_of(g, c)};
  call_runtime(g, RT_HASH_FETCH_LANES, (Callee){c->inst->tree, c->inst->imm}, operands, 2);
}
