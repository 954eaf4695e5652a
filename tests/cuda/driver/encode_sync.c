/* encode_sync.c - barriers, shuffles, votes and similar instructions. */
#include <stdlib.h>

#include "flow.h"
#include "read.h"

static void predicate(Reader *reader, const Operand *operand, uint32_t *place, Inst *inst) {
  *place = operand_value(reader, operand, 1);
  inst->negated = operand->negated;
}

/* bar.sync a{, b}; bar.arrive a, b; bar.red.op d, a{, b}, p; bar.warp.sync members. */
static void encode_bar(Reader *reader, const Parts *parts, Operand *operands, uint32_t count,
                       Inst *inst) {
  if (parts_have(parts, "warp")) {
    inst->run = sync_warp;
    inst->a = operand_value(reader, &operands[0], 4);
    return;
  }
  uint32_t at = 0;
  bool reduces = parts_have(parts, "red");
  inst->run = sync_barrier;
  inst->count = parts_have(parts, "arrive") ? BARRIER_ARRIVE
                : !reduces                  ? BARRIER_SYNC
                : parts_have(parts, "popc") ? BARRIER_POPC
                : parts_have(parts, "and")  ? BARRIER_AND
                                            : BARRIER_OR;
  if (reduces)
    inst->d = operand_target(reader, &operands[at++], inst->count == BARRIER_POPC ? 4 : 1);
  uint32_t last = reduces ? count - 1 : count;
  if (at >= last || count > 4) {
    read_fail(reader, "a barrier has no number");
    return;
  }
  inst->a = operand_value(reader, &operands[at++], 4);
  if (at < last) inst->b = operand_value(reader, &operands[at], 4);
  if (reduces) predicate(reader, &operands[last], &inst->c, inst);
}

static void encode_shuffle(Reader *reader, const Parts *parts, Operand *operands, Inst *inst) {
  uint32_t *members = malloc(sizeof *members);
  if (!members) abort();
  inst->run = sync_shuffle(parts->at[2]);
  inst->d = operand_target(reader, &operands[0], 4);
  inst->e = operands[0].second;
  inst->a = operand_value(reader, &operands[1], 4);
  inst->b = operand_value(reader, &operands[2], 4);
  inst->c = operand_value(reader, &operands[3], 4);
  *members = operand_value(reader, &operands[4], 4);
  inst->u.places = members;
  inst->owns_places = true;
}

void encode_sync(Reader *reader, Slice opcode, Operand *operands, uint32_t count, Inst *inst) {
  Parts parts = parts_of(opcode);
  Type type = parts_type(&parts, 0);
  Slice first = parts.at[0];
  inst->run = NULL;
  if ((slice_is(first, "bar") || slice_is(first, "barrier")) && count) {
    encode_bar(reader, &parts, operands, count, inst);
  } else if (slice_is(first, "activemask") && count == 1) {
    inst->run = sync_active;
    inst->d = operand_target(reader, &operands[0], 4);
  } else if (slice_is(first, "shfl") && parts.count == 4 && count == 5) {
    encode_shuffle(reader, &parts, operands, inst);
  } else if (slice_is(first, "vote") && parts.count == 4 && count == 3) {
    inst->run = sync_vote(parts.at[2]);
    inst->d = operand_target(reader, &operands[0], type.bytes);
    predicate(reader, &operands[1], &inst->a, inst);
    inst->c = operand_value(reader, &operands[2], 4);
  } else if (slice_is(first, "match") && parts.count == 4 && count == 3) {
    inst->run = sync_match(parts.at[1], type.bytes);
    inst->count = slice_is(parts.at[1], "all");
    inst->d = operand_target(reader, &operands[0], 4);
    inst->e = operands[0].second;
    inst->a = operand_value(reader, &operands[1], type.bytes);
    inst->c = operand_value(reader, &operands[2], 4);
  } else if (slice_is(first, "redux") && parts.count == 4 && count == 3) {
    inst->run = sync_reduce(parts.at[2], type.kind == 's');
    inst->d = operand_target(reader, &operands[0], 4);
    inst->a = operand_value(reader, &operands[1], 4);
    inst->c = operand_value(reader, &operands[2], 4);
  }
  if (!inst->run)
    read_fail(reader, "'%.*s' with %u operands is not known to this reader", (int)opcode.length,
              opcode.at, count);
}
