/* access.c - see access.h. */
#include "ir/access.h"

Type ir_element_type(const IrInst *access) {
  DEBUG_ASSERT(ir_is_access(access->op), "an access has an element");
  return access->op == IR_MEM_LOAD ? access->type : access->operands[1]->type;
}

const char *ir_shape_text(IrShape shape) {
  static const char *const texts[IR_SHAPE_COUNT] = {"none",  "uniform", "run",    "strided",
                                                    "cells", "runs",    "gather", "scatter"};
  return (unsigned)shape < IR_SHAPE_COUNT ? texts[shape] : "?";
}

IrGroup ir_group(Scratch *scratch, const IrInst *member) {
  IrGroup group = {0};
  DEBUG_ASSERT(member->region, "a group is found by the region of a member");
  for (const IrInst *at = member->region->first; at; at = at->next)
    if (at == member || (member->group && at->group == member->group))
      vec_push(scratch, &group, at);
  return group;
}

/* -- relations --------------------------------------------------------------------------------- */

static const IrInst *address_of(const IrInst *inst) {
  return inst->op == IR_MEM_LOAD || inst->op == IR_MEM_STORE ? inst->operands[0] : NULL;
}

const IrInst *ir_same_container(const IrInst *of, const IrInst *inst) {
  const IrInst *a = address_of(of), *b = address_of(inst);
  if (!a || !b || a->op != IR_OFFSET || b->op != IR_OFFSET) return NULL;
  int64_t size = type_size(ir_element_type(of));
  bool is_one = a->operands[0] == b->operands[0] && a->operands[1] == b->operands[1] &&
                a->stride == b->stride && size == type_size(ir_element_type(inst)) &&
                (a->imm - b->imm) % size == 0;
  return is_one ? b : NULL;
}

bool ir_differ_by_constant(const IrInst *a, const IrInst *b, int64_t *bytes) {
  if (a->op != IR_OFFSET || b->op != IR_OFFSET || a->operands[0] != b->operands[0] ||
      a->operands[1] != b->operands[1] || a->stride != b->stride)
    return false;
  return !__builtin_sub_overflow(b->imm, a->imm, bytes);
}

bool ir_is_straight_line(const IrInst *inst) {
  return ir_effects(inst) & IR_PURE || ir_is_write(inst->op) || inst->op == IR_MEM_LOAD ||
         inst->op == IR_GET || inst->op == IR_SET || inst->op == IR_VAR;
}

bool ir_may_be_written(const IrInst *load, const IrInst *from) {
  DEBUG_ASSERT(load->op == IR_MEM_LOAD && load->region == from->region, "both are in one list");
  for (const IrInst *at = from; at != load; at = at->next)
    if (ir_is_write(at->op) && ir_may_alias(at, load)) return true;
  return false;
}

bool ir_must_precede(const IrInst *store, const IrInst *inst) {
  DEBUG_ASSERT(ir_is_write(store->op), "what others must not overtake is a write");
  if (ir_effects(inst) & IR_PURE) return false;
  if (inst->op != IR_MEM_LOAD && inst->op != IR_MEM_STORE) return true;
  if (inst->op == IR_MEM_STORE && ir_same_container(store, inst)) return false;
  return ir_may_alias(store, inst);
}

bool ir_may_sink_past(const IrInst *update, const IrInst *inst) {
  DEBUG_ASSERT(update->op == IR_MEM_UPDATE, "what is done later is an update");
  if (inst->op == IR_MEM_LOAD) return !ir_may_alias(update, inst);
  return ir_is_straight_line(inst) && !ir_is_write(inst->op);
}

/* -- what the verifier holds ------------------------------------------------------------------- */

static bool may_have_shape(const IrInst *inst) {
  switch (inst->op) {
  case IR_MEM_LOAD: return inst->shape != IR_SHAPE_SCATTER;
  case IR_MEM_STORE:
    return inst->shape != IR_SHAPE_CELLS && inst->shape != IR_SHAPE_RUNS &&
           inst->shape != IR_SHAPE_GATHER;
  case IR_MEM_UPDATE:
    return inst->shape == IR_SHAPE_NONE || inst->shape == IR_SHAPE_UNIFORM ||
           inst->shape == IR_SHAPE_RUNS || inst->shape == IR_SHAPE_SCATTER;
  case IR_LANES_LOAD:
    return inst->shape == IR_SHAPE_NONE || inst->shape == IR_SHAPE_STRIDED ||
           inst->shape == IR_SHAPE_CELLS || inst->shape == IR_SHAPE_RUNS;
  case IR_LANES_STORE: return inst->shape == IR_SHAPE_NONE || inst->shape == IR_SHAPE_STRIDED;
  case IR_LANES_UPDATE: return inst->shape == IR_SHAPE_RUNS;
  default: return inst->shape == IR_SHAPE_NONE;
  }
}

static bool is_of_lanes(const IrInst *inst) {
  return inst->op >= IR_LANES_LOAD && inst->op <= IR_LANES_UPDATE;
}
_Static_assert(IR_LANES_UPDATE == IR_LANES_LOAD + 2, "the accesses of lanes");

/* An op of lanes: the numbers of its cell; and runs of a group follow each other. */
static const char *numbers_refusal(const IrInst *inst, const IrInst *first) {
  bool is_run = inst->shape == IR_SHAPE_RUNS, has_parts = inst->shape != IR_SHAPE_NONE;
  int most = inst->shape == IR_SHAPE_STRIDED ? IR_MAX_PARTS : IR_MAX_RUN;
  if (!has_parts || is_run) {
    if (inst->part || inst->numbers || (!has_parts && inst->parts))
      return "its shape has no numbers";
  } else {
    bool is_in = inst->numbers >> (inst->part & 31) & 1 || inst->op == IR_LANES_STORE;
    if (inst->part < 0 || inst->part >= inst->parts || inst->numbers <= 0 ||
        inst->numbers >> inst->parts || !is_in)
      return "no such number";
  }
  if (has_parts && (inst->parts < 2 || inst->parts > most)) return "no such part";
  if (!is_run) return inst->group || inst->deferred ? "it has no group" : NULL;
  const IrInst *other = inst->deferred ? inst->next : inst;
  if (inst != first && (!inst->previous->deferred || inst->previous->group != inst->group))
    return "runs of a group follow each other";
  return inst->group && other && other->op == inst->op && other->group == inst->group
             ? NULL
             : "no later access of its group can do it";
}

static const char *parts_refusal(const IrInst *inst) {
  int most = inst->shape == IR_SHAPE_STRIDED ? IR_MAX_PARTS : IR_MAX_RUN;
  bool has_parts = inst->shape == IR_SHAPE_STRIDED || inst->shape == IR_SHAPE_CELLS ||
                   inst->shape == IR_SHAPE_RUNS;
  if (!has_parts) return inst->part || inst->parts || inst->run ? "its shape has no parts" : NULL;
  if (!inst->group) return "its shape needs a group";
  if (inst->shape != IR_SHAPE_STRIDED && inst->operands[0]->op != IR_OFFSET)
    return "its shape needs an offset";
  bool is_valid = inst->parts >= 2 && inst->parts <= most && inst->part >= 0 &&
                  inst->part < inst->parts && inst->run >= 0;
  return is_valid && (!inst->run || inst->shape == IR_SHAPE_RUNS) ? NULL : "no such part";
}

/* Do both access numbers of one cell, at a distance that agrees with their parts? */
static bool is_of_cell(const IrInst *inst, const IrInst *first) {
  const IrInst *ptr = inst == first ? inst->operands[0] : ir_same_container(first, inst);
  if (!ptr || inst->parts != first->parts) return false;
  int64_t parts = inst->part - first->part;
  return inst == first ||
         ptr->imm - first->operands[0]->imm == parts * type_size(ir_element_type(inst));
}

/* May the first load of the group read the element for this one, too? */
static bool is_readable(const IrInst *load, const IrInst *first) {
  for (const IrInst *at = first; at != load; at = at->next)
    if (!ir_is_straight_line(at) || (load->shape == IR_SHAPE_RUNS && at == load->operands[0]))
      return false;
  return !ir_may_be_written(load, first);
}

/* Can the store or update be done by a later member? */
static bool may_be_deferred(const IrInst *inst) {
  bool is_update = inst->op == IR_MEM_UPDATE;
  for (const IrInst *at = inst->next; at; at = at->next) {
    bool is_member = at->group == inst->group && at->op == inst->op;
    if (is_member && !at->deferred) return true;
    if (is_member) continue;
    if (is_update ? !ir_may_sink_past(inst, at) : ir_must_precede(inst, at)) return false;
  }
  return false;
}

const char *ir_shape_refusal(const IrInst *inst, const IrInst *first) {
  DEBUG_ASSERT(!inst->group || first->group == inst->group, "`first` is of the same group");
  if ((unsigned)inst->shape >= IR_SHAPE_COUNT || !may_have_shape(inst))
    return "it cannot have this shape";
  if (is_of_lanes(inst)) return numbers_refusal(inst, first);
  const char *why = parts_refusal(inst);
  if (why) return why;
  if (inst->deferred && (inst->op == IR_MEM_LOAD || !inst->group || !may_be_deferred(inst)))
    return "no later access of its group can do it";
  if (!inst->group) return NULL;
  bool is_update = inst->op == IR_MEM_UPDATE;
  if (is_update != (first->op == IR_MEM_UPDATE) || (!is_update && inst->shape != first->shape))
    return "its group is of another shape";
  if ((inst->shape == IR_SHAPE_STRIDED || inst->shape == IR_SHAPE_CELLS) &&
      !is_of_cell(inst, first))
    return "its group is another cell";
  if (inst->shape != IR_SHAPE_STRIDED && inst->op == IR_MEM_LOAD &&
      !type_equal(inst->type, first->type))
    return "its group loads another type";
  bool reads_first = inst->op == IR_MEM_LOAD && inst->shape != IR_SHAPE_STRIDED;
  return reads_first && !is_readable(inst, first) ? "its element may change since the first load"
                                                  : NULL;
}
