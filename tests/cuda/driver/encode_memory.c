/* encode_memory.c - loads, stores, updates. Memory order and cache hints have no effect in an
 * interpreter that runs one instruction at a time. */
#include <stdlib.h>

#include "access.h"
#include "flow.h"
#include "read.h"

/* Elements of a vector that share a width: a sink takes any. */
static uint32_t element_bytes(const Operand *value, uint32_t memory_bytes) {
  if (value->kind == OPERAND_REGISTER) return value->type.bytes;
  for (uint32_t i = 0; i < value->count; i++)
    if (value->elements[i].kind == OPERAND_REGISTER) return value->elements[i].type.bytes;
  return memory_bytes < 2 ? 2 : memory_bytes;
}

static void encode_move(Reader *reader, const Parts *parts, Operand *value, Operand *address,
                        bool is_store, Inst *inst) {
  Type type = parts_type(parts, 0);
  uint32_t bytes = element_bytes(value, type.bytes);
  const Access *access = type.kind ? access_find(type.kind == 's', type.bytes, bytes) : NULL;
  operand_address(reader, address, parts_space(parts), inst);
  if (!access) {
    read_fail(reader, "a load or store between %u bytes in memory and a register of %u", type.bytes,
              bytes);
    return;
  }
  inst->size_bytes = type.bytes;
  inst->count = 1;
  if (value->kind != OPERAND_VECTOR) {
    if (is_store) inst->b = operand_value(reader, value, bytes);
    else inst->d = operand_target(reader, value, bytes);
    inst->run = is_store ? access->store : access->load;
    return;
  }
  uint32_t *places = malloc(value->count * sizeof *places);
  if (!places) abort();
  for (uint32_t i = 0; i < value->count; i++)
    places[i] = is_store ? operand_value(reader, &value->elements[i], bytes)
                         : operand_target(reader, &value->elements[i], bytes);
  inst->count = (uint8_t)value->count;
  inst->u.places = places;
  inst->owns_places = true;
  inst->run = is_store ? access->store_all : access->load_all;
}

/* atom.global.relaxed.gpu.add.u64 d, [a], b: atomic.c looks up the update. */
static void encode_atomic(Reader *reader, const Parts *parts, Operand *operands, uint32_t count,
                          Inst *inst) {
  Type type = parts_type(parts, 0);
  bool gives = slice_is(parts->at[0], "atom");
  uint32_t first = gives ? 1 : 0, wanted = 0;
  inst->run = NULL;
  for (uint32_t i = 1; i + 1 < parts->count && !inst->run; i++)
    inst->run = atomic_find(parts->at[i], type.kind, type.bytes, &wanted);
  if (!inst->run || count != first + 1 + wanted) {
    read_fail(reader, "an update that this reader does not know");
    return;
  }
  operand_address(reader, &operands[first], parts_space(parts), inst);
  if (gives) inst->d = operand_target(reader, &operands[0], type.bytes);
  inst->b = operand_value(reader, &operands[first + 1], type.bytes);
  if (wanted == 2) inst->c = operand_value(reader, &operands[first + 2], type.bytes);
}

void encode_memory(Reader *reader, Slice opcode, Operand *operands, uint32_t count, Inst *inst) {
  Parts parts = parts_of(opcode);
  Slice first = parts.at[0];
  if (slice_is(first, "atom") || slice_is(first, "red")) {
    encode_atomic(reader, &parts, operands, count, inst);
  } else if (slice_is(first, "st") && count == 2) {
    encode_move(reader, &parts, &operands[1], &operands[0], true, inst);
  } else if ((slice_is(first, "ld") || slice_is(first, "ldu")) && count == 2) {
    encode_move(reader, &parts, &operands[0], &operands[1], false, inst);
  } else if (first.length > 3) { /* prefetch, discard */
    inst->run = flow_nothing;
  } else {
    read_fail(reader, "a load or store takes two operands");
  }
}
