/* constants.c - makes arguments of a kernel constants in its IR, before the passes.
 *
 * Candidates are integers and booleans, whose arithmetic is exact. An argument is excluded if it
 * would let a compiler evaluate a power or a transcendental function, whose last bit depends on the
 * implementation. To find such cases, values that may become constant are propagated as by a
 * compiler: a value is `array_descriptors` if all its operands are; the index of a serial loop, as
 * it may be unrolled, if the loop's bounds are. Decision D-kernel-11. */
#include "kernel/compile.h"

enum { MOST_ARGS = 64 };

typedef struct Facts { /* by inst id */
  uint64_t *from;      /* bits of the first 64 arguments that it depends on through fixed values */
  bool *varies;        /* not fixed */
  uint64_t candidates, excluded;
  bool has_changed;
} Facts;

static bool is_number(const IrKernel *kernel, int64_t arg) {
  return arg < MOST_ARGS && !type_is_float(kernel->args.items[arg].type);
}

static void add(Facts *facts, const IrInst *inst, uint64_t from, bool varies) {
  uint64_t all = facts->from[inst->id] | from;
  bool now_varies = facts->varies[inst->id] || varies;
  facts->has_changed |= all != facts->from[inst->id] || now_varies != facts->varies[inst->id];
  facts->from[inst->id] = all;
  facts->varies[inst->id] = now_varies;
}

static bool is_serial(const IrInst *inst) {
  if (inst->op == IR_FOR || inst->op == IR_LOOP) return true;
  if (inst->op != IR_RANGE) return false;
  for (const IrInst *at = inst->region->owner; at; at = at->region->owner)
    if (at->op == IR_RANGE || at->op == IR_ACTIVE) return true;
  return inst->serial;
}

static void add_params(Facts *facts, const IrInst *inst, uint64_t from, bool varies) {
  for (int r = 0; r < IR_MAX_REGIONS; r++)
    for (int k = 0; inst->regions[r] && k < inst->regions[r]->params.count; k++)
      add(facts, inst->regions[r]->params.items[k], from, varies || !is_serial(inst));
}

/* Does its value depend only on its operands? */
static bool is_computed(const IrInst *inst) {
  return (ir_op_info[inst->op].flags & IR_PURE) && inst->op != IR_PLACE && inst->op != IR_CELL &&
         inst->op != IR_PARAM && inst->op != IR_RANDOM;
}

static bool note_inst(void *data, IrInst *inst) {
  Facts *facts = data;
  uint64_t from = 0;
  bool varies = false;
  for (int k = 0; k < inst->operand_count; k++) {
    from |= facts->from[inst->operands[k]->id];
    varies |= facts->varies[inst->operands[k]->id];
  }
  add_params(facts, inst, from, varies);
  if (inst->op == IR_SET) add(facts, inst->operands[0], from, varies);
  if (inst->op == IR_REDUCE) add(facts, inst->operands[0], from, true);
  if (inst->op == IR_ARG && inst->imm < MOST_ARGS)
    add(facts, inst, (uint64_t)1 << inst->imm & facts->candidates, false);
  else if (inst->op == IR_SELECT) /* of two fixed values: either may be folded into */
    add(facts, inst, from,
        facts->varies[inst->operands[1]->id] || facts->varies[inst->operands[2]->id]);
  else if (inst->op != IR_VAR && inst->op != IR_CONST)
    add(facts, inst, from, varies || !(is_computed(inst) || inst->op == IR_GET));
  return true;
}

static bool exclude_inst(void *data, IrInst *inst) {
  Facts *facts = data;
  bool is_power = inst->op == IR_POW || (inst->op == IR_UPDATE && inst->imm == IR_UPDATE_POW);
  uint64_t from = 0;
  bool varies = false;
  for (int k = 0; k < inst->operand_count; k++) {
    const IrInst *operand = inst->operands[k];
    from |= facts->from[operand->id];
    varies |= facts->varies[operand->id];
    if (is_power && k > 0 && !facts->varies[operand->id])
      facts->excluded |= facts->from[operand->id];
  }
  if ((ir_op_info[inst->op].flags & IR_INEXACT) && !varies) facts->excluded |= from;
  return true;
}

uint64_t constants_possible(IrKernel *kernel) {
  Facts facts = {.from = scratch_array(kernel->scratch, uint64_t, kernel->next_id),
                 .varies = scratch_array(kernel->scratch, bool, kernel->next_id)};
  if (kernel->functions.count) return 0;
  for (int k = 0; k < kernel->args.count; k++)
    if (is_number(kernel, k)) facts.candidates |= (uint64_t)1 << k;
  do {
    facts.has_changed = false;
    ir_walk(kernel->body, note_inst, &facts);
  } while (facts.has_changed);
  ir_walk(kernel->body, exclude_inst, &facts);
  return facts.candidates & ~facts.excluded;
}

typedef struct Taking {
  uint64_t taken;
  const uint64_t *slots;
} Taking;

static bool take_inst(void *data, IrInst *inst) {
  const Taking *taking = data;
  bool is_taken = inst->op == IR_ARG && inst->imm < MOST_ARGS && (taking->taken >> inst->imm & 1);
  if (!is_taken) return true;
  inst->op = IR_CONST;
  inst->imm = ir_wrap_int(inst->type, (int64_t)taking->slots[inst->imm]);
  return true;
}

void constants_take(IrKernel *kernel, uint64_t taken, const uint64_t *slots) {
  Taking taking = {taken, slots};
  ir_walk(kernel->body, take_inst, &taking);
}
