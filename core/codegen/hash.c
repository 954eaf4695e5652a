/* hash.c - vectorised access to cells of a hash: one call of the runtime finds, or removes, the
 * cells of all lanes. Two caches save look-ups. A prefetch (RT_HASH_AHEAD) keeps its cells with
 * their coordinates until RT_AHEAD iterations later: if those iterations need the same cells, they
 * skip the look-up. And the cells of the last look-up are reused while the coordinates stay the
 * same, as in loops over leaves that also read a coarser or a finer grid: half of the cells of a
 * leaf, and its next row, are in the same leaves of that grid. Decision D-pass-13. */
#include "codegen/emit.h"
#include "ir/address.h"

static LLVMValueRef in_lanes(Codegen *g, const IrInst *inst, int operand) {
  return value_broadcast(g, value_operand(g, inst, operand), g->width);
}

static LLVMValueRef coordinates_of(Codegen *g, const IrInst *inst) {
  LLVMTypeRef lanes = value_lanes(g->i64, g->width);
  int count = inst->operand_count - 1;
  LLVMValueRef array = block_variable(g, LLVMArrayType2(lanes, (uint64_t)count), "coordinates");
  for (int k = 0; k < count; k++)
    LLVMBuildStore(g->builder, in_lanes(g, inst, 1 + k),
                   value_byte_offset(g, array, (int64_t)k * g->width * 8));
  return array;
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

static void begin_ahead(Codegen *g, const IrInst *inst) {
  AheadCells *a = &g->ahead;
  *a = (AheadCells){.tree = inst->tree, .manager = inst->imm, .width = g->width};
  a->axis_count = inst->operand_count - 1;
  a->groups = RT_AHEAD % g->width ? 0 : RT_AHEAD / g->width;
  if (a->groups > AHEAD_GROUPS) a->groups = 0;
  for (int k = 0; a->groups && k <= a->groups; k++) {
    a->cells[k] = zero_variable(g, value_lanes(g->pointer, g->width));
    a->found[k] = zero_variable(g, g->i64);
    for (int axis = 0; axis < a->axis_count; axis++)
      a->coordinates[k][axis] = zero_variable(g, value_lanes(g->i64, g->width));
  }
}

static void keep_ahead(Codegen *g, const IrInst *inst, LLVMValueRef cells) {
  AheadCells *a = &g->ahead;
  begin_ahead(g, inst);
  if (!a->groups) return;
  for (int k = a->groups; k > 0; k--) {
    copy(g, a->cells[k], a->cells[k - 1]);
    copy(g, a->found[k], a->found[k - 1]);
    for (int axis = 0; axis < a->axis_count; axis++)
      copy(g, a->coordinates[k][axis], a->coordinates[k - 1][axis]);
  }
  LLVMBuildStore(g->builder, cells, a->cells[0]);
  LLVMBuildStore(g->builder, lane_bits(g, g->mask), a->found[0]);
  for (int axis = 0; axis < a->axis_count; axis++)
    LLVMBuildStore(g->builder, in_lanes(g, inst, 1 + axis), a->coordinates[0][axis]);
}

static bool may_be_kept(const Codegen *g, const IrInst *inst) {
  const AheadCells *a = &g->ahead;
  return inst->entry == RT_HASH_FIND && a->groups && a->width == g->width &&
         a->tree == inst->tree && a->manager == inst->imm;
}

/* Did the earlier prefetch find the cells of all active lanes? */
static LLVMValueRef are_kept(Codegen *g, const IrInst *inst) {
  const AheadCells *a = &g->ahead;
  LLVMValueRef same = read(g, a->found[a->groups]);
  for (int axis = 0; axis < a->axis_count; axis++) {
    LLVMValueRef equal = LLVMBuildICmp(g->builder, LLVMIntEQ, in_lanes(g, inst, 1 + axis),
                                       read(g, a->coordinates[a->groups][axis]), "");
    same = LLVMBuildAnd(g->builder, same, lane_bits(g, equal), "");
  }
  LLVMValueRef missing =
      LLVMBuildAnd(g->builder, lane_bits(g, g->mask), LLVMBuildNot(g->builder, same, ""), "");
  return LLVMBuildICmp(g->builder, LLVMIntEQ, missing, value_integer(g->i64, 0), "");
}

/* Is the result of the call (`data`) unaffected by the inst? A created cell stays until one is
 * freed; a cell that was absent may also appear. */
static bool is_lasting(void *data, IrInst *inst) {
  const IrInst *call = data;
  unsigned ends = call->entry == RT_HASH_ENSURE ? IR_DEACTIVATES | IR_ONCE : IR_TOPOLOGY | IR_ONCE;
  bool changes = inst->op == IR_CALL && inst->tree == call->tree && ir_effects(inst) & ends;
  return !changes && inst->op != IR_INVOKE && !ir_is_call(inst, RT_NATIVE);
}

/* Does the result stay valid while the task runs? */
static bool lasts(const Codegen *g, const IrInst *inst) {
  const IrTask *task = g->task;
  return task && ir_walk(task->body, is_lasting, (void *)inst) &&
         (!task->interior || ir_walk(task->interior, is_lasting, (void *)inst));
}

/* -- look-ups ---------------------------------------------------------------------------------- */

static RtEntry form_of(const Codegen *g, const IrInst *inst) {
  switch (inst->entry) {
  case RT_HASH_AHEAD: return RT_HASH_STILL_LANES;
  case RT_HASH_ENSURE: return RT_HASH_ENSURE_LANES;
  case RT_HASH_CLEAR: return RT_HASH_CLEAR_LANES;
  default: return lasts(g, inst) ? RT_HASH_STILL_LANES : RT_HASH_FIND_LANES;
  }
}

static void in_all(Codegen *g, const IrInst *inst, LLVMValueRef nodes) {
  LLVMBuildStore(g->builder, in_lanes(g, inst, 0), nodes);
  LLVMValueRef operands[] = {lane_bits(g, g->mask), value_integer(g->i32, g->width), nodes,
                             coordinates_of(g, inst)};
  call_runtime(g, form_of(g, inst), (Callee){inst->tree, inst->imm}, operands, 4);
}

static void find_unless_kept(Codegen *g, const IrInst *inst, LLVMValueRef nodes) {
  LLVMBasicBlockRef look = block_new(g, "look"), done = block_new(g, "found");
  LLVMValueRef ambient = value_broadcast(g, context_ambient(g), g->width);
  LLVMValueRef kept = read(g, g->ahead.cells[g->ahead.groups]), all = are_kept(g, inst);
  if (g->mask) kept = LLVMBuildSelect(g->builder, lane_mask(g, g->mask), kept, ambient, "");
  LLVMBuildStore(g->builder, kept, nodes);
  block_branch(g, all, done, look);
  block_enter(g, look);
  in_all(g, inst, nodes);
  block_jump(g, done);
  block_enter(g, done);
}

/* -- cells of the last look-up ----------------------------------------------------------------- */

/* Do neighbouring iterations mostly look up the same node, which does not change meanwhile? */
static bool is_found_again(const Codegen *g, const IrInst *inst) {
  if (inst->entry != RT_HASH_FIND && inst->entry != RT_HASH_LIVE && inst->entry != RT_HASH_ENSURE)
    return false;
  bool divides = false;
  for (int k = 1; k < inst->operand_count; k++) {
    const IrInst *at = inst->operands[k];
    divides |= at->op == IR_SAR || at->op == IR_SHR || at->op == IR_FLOORDIV;
    if (!ir_index_is_even(at)) return false;
  }
  if (!divides || inst->operands[0]->op != IR_TREE_ROOT) return false;
  return lasts(g, inst);
}

static LastCells *last_of(Codegen *g, const IrInst *inst, int width) {
  bool ensures = inst->entry == RT_HASH_ENSURE;
  for (int i = 0; i < g->last_cells.count; i++) {
    LastCells *last = &g->last_cells.items[i];
    if (last->tree == inst->tree && last->manager == inst->imm && last->width == width &&
        last->ensures == ensures)
      return last;
  }
  LastCells last = {.tree = inst->tree,
                    .manager = inst->imm,
                    .width = width,
                    .ensures = ensures,
                    .axis_count = inst->operand_count - 1};
  last.cells = zero_variable(g, value_lanes(g->pointer, width));
  last.found = zero_variable(g, g->i64);
  for (int axis = 0; axis < last.axis_count; axis++)
    last.coordinates[axis] = zero_variable(g, value_lanes(g->i64, width));
  vec_push(g->scratch, &g->last_cells, last);
  return &vec_last(&g->last_cells);
}

/* Calls the runtime if any active lane needs a cell other than last time. */
static LLVMValueRef find_unless_last(Codegen *g, const IrInst *inst) {
  LastCells *last = last_of(g, inst, g->width);
  LLVMBasicBlockRef look = block_new(g, "look"), done = block_new(g, "found");
  LLVMValueRef running = g->width > 1 ? lane_bits(g, g->mask) : value_index(g, 1),
               same = read(g, last->found);
  for (int axis = 0; axis < last->axis_count; axis++) {
    LLVMValueRef equal = LLVMBuildICmp(g->builder, LLVMIntEQ, in_lanes(g, inst, 1 + axis),
                                       read(g, last->coordinates[axis]), "");
    LLVMValueRef bits =
        g->width > 1 ? lane_bits(g, equal) : LLVMBuildZExt(g->builder, equal, g->i64, "");
    same = LLVMBuildAnd(g->builder, same, bits, "");
  }
  LLVMValueRef missing = LLVMBuildAnd(g->builder, running, LLVMBuildNot(g->builder, same, ""), "");
  block_branch(g, LLVMBuildICmp(g->builder, LLVMIntEQ, missing, value_index(g, 0), ""), done, look);
  block_enter(g, look);
  if (g->width > 1) {
    in_all(g, inst, last->cells);
  } else {
    LLVMValueRef operands[1 + RT_MAX_AXES];
    for (int k = 0; k < inst->operand_count; k++) operands[k] = value_operand(g, inst, k);
    LLVMValueRef cell = call_runtime(g, RT_HASH_FIND, (Callee){inst->tree, inst->imm}, operands,
                                     inst->operand_count);
    LLVMBuildStore(g->builder, cell, last->cells);
  }
  LLVMBuildStore(g->builder, running, last->found);
  for (int axis = 0; axis < last->axis_count; axis++)
    LLVMBuildStore(g->builder, in_lanes(g, inst, 1 + axis), last->coordinates[axis]);
  block_jump(g, done);
  block_enter(g, done);
  return read(g, last->cells);
}

static void set_found(Codegen *g, const IrInst *inst, LLVMValueRef cells) {
  if (inst->entry == RT_HASH_LIVE) {
    LLVMValueRef ambient = value_broadcast(g, context_ambient(g), g->width);
    cells = LLVMBuildICmp(g->builder, LLVMIntNE, cells, ambient, "");
  }
  value_set(g, inst, cells);
}

bool lane_hash_uniform(Codegen *g, const IrInst *inst) {
  if (!is_found_again(g, inst)) return false;
  LLVMValueRef mask = g->mask;
  int width = g->width;
  g->width = 1;
  g->mask = NULL;
  set_found(g, inst, find_unless_last(g, inst));
  g->width = width;
  g->mask = mask;
  return true;
}

bool lane_hash(Codegen *g, const IrInst *inst) {
  LLVMTypeRef lanes = value_lanes(g->pointer, g->width);
  if (is_found_again(g, inst)) {
    LLVMValueRef cells = find_unless_last(g, inst);
    LLVMValueRef ambient = value_broadcast(g, context_ambient(g), g->width);
    if (g->mask) cells = LLVMBuildSelect(g->builder, g->mask, cells, ambient, "");
    set_found(g, inst, cells);
    return true;
  }
  LLVMValueRef nodes = block_variable(g, lanes, "nodes");
  if (may_be_kept(g, inst)) find_unless_kept(g, inst, nodes);
  else in_all(g, inst, nodes);
  LLVMValueRef cells = LLVMBuildLoad2(g->builder, lanes, nodes, "");
  if (inst->entry == RT_HASH_AHEAD) keep_ahead(g, inst, cells);
  set_found(g, inst, cells);
  return true;
}

bool lane_hash_clear(Codegen *g, const IrInst *inst) {
  in_all(g, inst, block_variable(g, value_lanes(g->pointer, g->width), "nodes"));
  return true;
}

bool lane_hash_fetch(Codegen *g, const IrInst *inst) {
  LLVMValueRef operands[] = {value_integer(g->i32, g->width), coordinates_of(g, inst)};
  call_runtime(g, RT_HASH_FETCH_LANES, (Callee){inst->tree, inst->imm}, operands, 2);
  return true;
}
