/* constants.c - makes arguments of a kernel constants in its IR, before the passes.
 *
 * Candidates are integers and booleans, whose arithmetic is exact. An argument is excluded if it
 * would let a compiler evaluate a power or a transcendental function, whose last bit depends on the
 * implementation: one whose operands only arguments determine, and serial loops, which may be
 * unrolled (facts_is_of_arguments). Decision D-kernel-11. */
#include "ir/facts.h"
#include "kernel/compile/compile.h"

static bool is_number(const IrKernel *kernel, int64_t arg) {
  return arg < FACTS_MOST_ARGS && !type_is_float(kernel->args.items[arg].type);
}

typedef struct Search {
  const IrKernel *kernel;
  uint64_t excluded;
} Search;

static bool exclude_inst(void *data, IrInst *inst) {
  Search *search = data;
  bool is_power = inst->op == IR_POW || (inst->op == IR_UPDATE && inst->imm == IR_UPDATE_POW);
  uint64_t args;
  if (!is_power && !(ir_op_info[inst->op].flags & IR_INEXACT)) return true;
  /* a constant exponent alone turns a power into products */
  int first = is_power ? 1 : 0;
  if (facts_is_of_arguments(search->kernel->scratch, search->kernel, inst->operands + first,
                            inst->operand_count - first, &args))
    search->excluded |= args;
  return true;
}

uint64_t constants_possible(IrKernel *kernel) {
  Search search = {.kernel = kernel};
  uint64_t candidates = 0;
  if (kernel->functions.count) return 0;
  for (int k = 0; k < kernel->args.count; k++)
    if (is_number(kernel, k)) candidates |= (uint64_t)1 << k;
  if (candidates) ir_walk(kernel->body, exclude_inst, &search);
  return candidates & ~search.excluded;
}

typedef struct Taking {
  uint64_t taken;
  const uint64_t *slots;
} Taking;

static bool take_inst(void *data, IrInst *inst) {
  const Taking *taking = data;
  bool is_taken =
      inst->op == IR_ARG && inst->imm < FACTS_MOST_ARGS && (taking->taken >> inst->imm & 1);
  if (!is_taken) return true;
  inst->op = IR_CONST;
  inst->imm = ir_wrap_int(inst->type, (int64_t)taking->slots[inst->imm]);
  return true;
}

void constants_take(IrKernel *kernel, uint64_t taken, const uint64_t *slots) {
  Taking taking = {taken, slots};
  ir_walk(kernel->body, take_inst, &taking);
}
