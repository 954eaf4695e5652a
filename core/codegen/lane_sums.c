/* lane_sums.c - sums of a vectorised serial loop: each lane accumulates from zero, and the lanes'
 * sums are added to the variable after the loop. */
#include "codegen/emit.h"

typedef struct SumsOf {
  Codegen *g;
  const IrInst *loop;
  LaneSums *sums;
} SumsOf;

static LLVMTypeRef lanes_of(Codegen *g, const LaneSums *sums, Type type) {
  return value_lanes(value_type(g, type), sums->width);
}

static bool find_sum(void *data, IrInst *inst) {
  SumsOf *of = data;
  const IrInst *variable = inst->op == IR_SET ? inst->operands[0] : NULL;
  if (!variable || ir_is_inside(variable, of->loop->regions[of->loop->turned])) return true;
  for (int i = 0; i < of->sums->items.count; i++)
    if (of->sums->items.items[i].variable == variable) return true;
  vec_push(of->g->scratch, &of->sums->items, ((LaneSum){variable, value_of(of->g, variable)}));
  return true;
}

LaneSums sums_begin(Codegen *g, const IrInst *loop) {
  LaneSums sums = {.width = loop->lanes};
  if (loop->sums) ir_walk(loop->regions[loop->turned], find_sum, &(SumsOf){g, loop, &sums});
  for (int i = 0; i < sums.items.count; i++) {
    const IrInst *variable = sums.items.items[i].variable;
    LLVMTypeRef shape = lanes_of(g, &sums, variable->type);
    LLVMValueRef partial = block_variable(g, shape, "partial");
    LLVMValueRef none =
        type_is_float(variable->type) ? value_real(shape, -0.0) : LLVMConstNull(shape);
    LLVMBuildStore(g->builder, none, partial);
    value_set(g, variable, partial);
  }
  return sums;
}

void sums_end(Codegen *g, const LaneSums *sums) {
  for (int i = 0; i < sums->items.count; i++) {
    const LaneSum *sum = &sums->items.items[i];
    Type type = sum->variable->type;
    LLVMValueRef partial =
        LLVMBuildLoad2(g->builder, lanes_of(g, sums, type), value_of(g, sum->variable), "");
    LLVMValueRef all = reduce_lanes(g, IR_UPDATE_ADD, type, partial, NULL);
    LLVMValueRef old = LLVMBuildLoad2(g->builder, value_type(g, type), sum->outside, "");
    LLVMBuildStore(g->builder, reduce_combine(g, IR_UPDATE_ADD, type, old, all), sum->outside);
    value_set(g, sum->variable, sum->outside);
  }
}
