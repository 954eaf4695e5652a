/* root_sums.c - vectorised loops that only add quotients by cubes of roots to a variable, under
 * fast_math, like the attraction of many bodies. A constant factor of the correction (root.c), its
 * slope, is common to all quotients, so it is factored out: the sum is multiplied once, after the
 * loop:
 *
 *     1 / sqrt(x)^3  =  1 / (k - 1) * y^3 * (k - x * y^2)        with 1 / (k - 1) near 3/2
 *
 * Decision D-codegen-07. */
#include "codegen/emit.h"

typedef struct Found {
  Codegen *g;
  const IrInst *loop;
  RootSums *sums;
  bool has_exits;
} Found;

static const IrRegion *body_of(const Found *f) { return f->loop->regions[0]; }

static bool is_alone(const Found *f, const IrInst *value) {
  return ir_is_inside(value, body_of(f)) && ir_use_count(f->loop->regions[0], value) == 1;
}

static bool is_get(const IrInst *value, const IrInst *variable) {
  return value->op == IR_GET && value->operands[0] == variable;
}

static int count_roots(const IrInst *value, const IrInst **root) {
  if (value->op == IR_MUL) {
    int first = count_roots(value->operands[0], root);
    return first ? first + count_roots(value->operands[1], root) : 0;
  }
  if (value->op != IR_SQRT || (*root && value != *root)) return 0;
  *root = value;
  return 1;
}

/* The quotient that a SET adds to its variable; NULL if it does anything else. */
static const IrInst *addend_of(const Found *f, const IrInst *set) {
  const IrInst *sum = set->operands[1], *root = NULL;
  if (sum->op != IR_ADD || !is_alone(f, sum)) return NULL;
  int own = is_get(sum->operands[0], set->operands[0]) ? 0 : 1;
  const IrInst *get = sum->operands[own], *quotient = sum->operands[1 - own];
  if (!is_get(get, set->operands[0]) || !is_alone(f, get)) return NULL;
  bool is_cube = quotient->op == IR_DIV && is_alone(f, quotient) &&
                 count_roots(quotient->operands[1], &root) == 3;
  return is_cube ? quotient : NULL;
}

static bool look(void *data, IrInst *inst) {
  Found *f = data;
  if (ir_effects(inst) & IR_EXIT || inst->op == IR_FAULT) return !(f->has_exits = true);
  if (inst->op != IR_SET || !type_is(inst->operands[0]->type, TYPE_F32) ||
      ir_is_inside(inst->operands[0], body_of(f)))
    return true;
  const IrInst *quotient = addend_of(f, inst), *variable = inst->operands[0];
  bool is_all = quotient && ir_use_count(f->loop->regions[0], variable) == 2; /* GET and SET */
  if (is_all && f->g->sloped && f->g->sloped[quotient->id]) return true;      /* by an outer loop */
  LLVMValueRef outside = is_all ? value_of(f->g, variable) : NULL;
  if (!outside || LLVMGetTypeKind(LLVMGetAllocatedType(outside)) != LLVMVectorTypeKind) return true;
  vec_push(f->g->scratch, &f->sums->items, ((RootSum){variable, quotient, outside, NULL}));
  return true;
}

RootSums root_sums_begin(Codegen *g, const IrInst *loop) {
  RootSums sums = {0};
  Found f = {g, loop, &sums, false};
  if (!g->lanes || !root_has_slope(g, g->width)) return sums;
  ir_walk(loop->regions[0], look, &f);
  if (f.has_exits) sums.items.count = 0;
  for (int i = 0; i < sums.items.count; i++) {
    RootSum *sum = &sums.items.items[i];
    LLVMTypeRef type = LLVMGetAllocatedType(sum->outside);
    sum->inside = block_variable(g, type, "pulls");
    LLVMBuildStore(g->builder, value_real(type, -0.0), sum->inside);
    value_set(g, sum->variable, sum->inside);
    if (!g->sloped) g->sloped = scratch_array(g->scratch, bool, g->kernel->next_id);
    g->sloped[sum->quotient->id] = true;
  }
  return sums;
}

void root_sums_end(Codegen *g, const RootSums *sums) {
  for (int i = 0; i < sums->items.count; i++) {
    const RootSum *sum = &sums->items.items[i];
    LLVMTypeRef type = LLVMGetAllocatedType(sum->outside);
    LLVMValueRef inside = LLVMBuildLoad2(g->builder, type, sum->inside, ""),
                 outside = LLVMBuildLoad2(g->builder, type, sum->outside, "");
    inside = arith_fast(g, LLVMBuildFMul(g->builder, inside, value_real(type, root_slope()), ""));
    outside = arith_fast(g, LLVMBuildFAdd(g->builder, outside, inside, ""));
    LLVMBuildStore(g->builder, outside, sum->outside);
    value_set(g, sum->variable, sum->outside);
    g->sloped[sum->quotient->id] = false;
  }
}
