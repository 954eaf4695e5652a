/* moved.c - see moved.h. The sum is computed in 32 bits, so intermediate results may wrap; but
 * inside the interior the mathematical sum is a valid index, which has the same bits. So the sum is
 * rewritten in 64 bits there, where LLVM and lanes see that addresses are linear in the
 * parameter. */
#include "pass/loops/moved.h"

#include "ir/facts.h"
#include "pass/address/address.h"
#include "pass/loops/guards.h"
#include "pass/rewrite.h"

static const int64_t widest = 1 << 16; /* constants added to an index */

static bool is_small(const IndexRange *range) {
  return range->low >= -widest && range->high <= widest;
}

static bool is_narrow(const IrInst *value) {
  return type_is_integer(value->type) && type_bits(value->type) <= 32;
}

bool moved_read(const IrRegion *body, const IndexRange *index, Moved *moved) {
  const IrInst *sum = index->base;
  if (!index->known || !sum || !is_small(index) || !type_is(sum->type, TYPE_I32) ||
      (sum->op != IR_ADD && sum->op != IR_SUB))
    return false;
  for (int side = 0; side < (sum->op == IR_ADD ? 2 : 1); side++) {
    IndexRange from = ranges_of(sum->operands[side]), by = ranges_of(sum->operands[1 - side]);
    int param = from.known ? ranges_param(body, from.base) : -1;
    if (param < 0 || !by.known || !by.base || !is_small(&from) || !is_small(&by) ||
        !is_narrow(by.base) || !facts_is_of_launch(by.base))
      continue;
    bool subtracts = sum->op == IR_SUB;
    *moved = (Moved){.param = param,
                     .subtracts = subtracts,
                     .by = by.base,
                     .low = index->low + from.low + (subtracts ? -by.high : by.low),
                     .high = index->high + from.high + (subtracts ? -by.low : by.high)};
    return true;
  }
  return false;
}

/* `number` minus the distance by which the index is moved. */
static IrInst *before_move(IrBuilder *b, const Moved *moved, IrInst *number) {
  return ir_binary(b, moved->subtracts ? IR_ADD : IR_SUB, number, guards_value(b, moved->by));
}

static IrInst *wide(IrBuilder *b, int64_t number) { return ir_const_int(b, TYPE(I64), number); }

static IrInst *size_of(IrBuilder *b, const Moved *moved) {
  if (!moved->array) return wide(b, moved->size - moved->high);
  IrInst *extent = ir_convert(b, address_extent(b, false, moved->array, moved->axis), TYPE(I64));
  return ir_binary(b, IR_SUB, extent, wide(b, moved->high));
}

void moved_limit(IrKernel *kernel, int number, int param, const Moved *items, int count) {
  IrTask *task = kernel->tasks.items[number];
  IrBuilder b = guards_host(kernel, number);
  IrInst *begin = NULL, *end = NULL;
  for (int i = 0; i < count; i++) {
    if (items[i].param != param) continue;
    IrInst *from = before_move(&b, &items[i], wide(&b, -items[i].low)),
           *until = before_move(&b, &items[i], size_of(&b, &items[i]));
    begin = begin ? ir_binary(&b, IR_MAX, begin, from) : from;
    end = end ? ir_binary(&b, IR_MIN, end, until) : until;
  }
  if (!begin) return;
  IrLimit from = {.axis = param, .slot = guards_set(&b, begin), .type = TYPE(I64), .begins = true},
          until = {.axis = param, .slot = guards_set(&b, end), .type = TYPE(I64)};
  vec_push(kernel->scratch, &task->limits, from);
  vec_push(kernel->scratch, &task->limits, until);
}

void moved_widen(IrKernel *kernel, const IrRegion *interior, IrInst *place) {
  for (int axis = 0; axis < place->operand_count; axis++) {
    Moved moved;
    IndexRange index = ranges_of(place->operands[axis]);
    if (!moved_read(interior, &index, &moved) || moved.low != moved.high) continue;
    IrBuilder b = rewrite_before(kernel, place);
    IrInst *param = ir_convert(&b, interior->params.items[moved.param], TYPE(I64));
    IrInst *by = ir_convert(&b, (IrInst *)moved.by, TYPE(I64));
    if (moved.low) by = ir_binary(&b, moved.subtracts ? IR_SUB : IR_ADD, by, wide(&b, moved.low));
    ir_set_operand(place, axis, ir_binary(&b, moved.subtracts ? IR_SUB : IR_ADD, param, by));
  }
}
