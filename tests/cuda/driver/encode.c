/* encode.c - turns an opcode and its operands into an instruction: arithmetic is looked up in the
 * tables of ops.h, the rest is here. */
#include <fenv.h>
#include <stdlib.h>

#include "flow.h"
#include "ops.h"
#include "read.h"
#undef OP1
#undef OP2
#undef OP3
#undef OP4

Parts parts_of(Slice opcode) {
  Parts parts = {0};
  uint32_t from = 0;
  for (uint32_t i = 0; i <= opcode.length && parts.count < 16; i++) {
    if (i < opcode.length && opcode.at[i] != '.') continue;
    parts.at[parts.count++] = (Slice){opcode.at + from, i - from};
    from = i + 1;
  }
  return parts;
}
bool parts_have(const Parts *parts, const char *word) {
  for (uint32_t i = 1; i < parts->count; i++)
    if (slice_is(parts->at[i], word)) return true;
  return false;
}
Type parts_type(const Parts *parts, uint32_t from_the_end) {
  Type type = {0};
  uint32_t lanes;
  if (parts->count > from_the_end)
    type_of(parts->at[parts->count - 1 - from_the_end], &type, &lanes);
  return type;
}

Space parts_space(const Parts *parts) {
  static const struct {
    const char *word;
    Space space;
  } words[] = {{"global", SPACE_GLOBAL},      {"const", SPACE_GLOBAL},     {"shared", SPACE_SHARED},
               {"shared::cta", SPACE_SHARED}, {"local", SPACE_LOCAL},      {"param", SPACE_PARAM},
               {"param::entry", SPACE_PARAM}, {"param::func", SPACE_PARAM}};
  for (uint32_t i = 0; i < sizeof words / sizeof words[0]; i++)
    if (parts_have(parts, words[i].word)) return words[i].space;
  return SPACE_GENERIC;
}
static uint64_t window_of(Space space) {
  return space == SPACE_SHARED  ? SHARED_WINDOW
         : space == SPACE_LOCAL ? LOCAL_WINDOW
         : space == SPACE_PARAM ? PARAM_WINDOW
                                : 0;
}

/* cvta: d = a + offset. */
static void add_offset(Warp *warp, const Inst *inst) {
  u64 *d = DST(u64, inst->d), offset = (u64)inst->offset;
  const u64 *a = SRC(u64, inst->a);
  EACH_LANE(d[l] = a[l] + offset);
}
/* mov of a variable of the frame: d = address of the frame + offset. */
static void add_frame(Warp *warp, const Inst *inst) {
  u64 *d = DST(u64, inst->d), offset = (u64)inst->offset + warp->frame->local_base;
  EACH_LANE(d[l] = offset);
}
static void is_in_space(Warp *warp, const Inst *inst) {
  pred *d = DST(pred, inst->d);
  const u64 *a = SRC(u64, inst->a);
  u64 window = window_of(inst->space);
  EACH_LANE(d[l] = window ? a[l] - window < WINDOW_SIZE
                          : a[l] - SHARED_WINDOW >= PARAM_WINDOW - SHARED_WINDOW + WINDOW_SIZE);
}

/* mov of a vector: u.places are its elements, size_bytes each, count of them. */
static void pack(Warp *warp, const Inst *inst) {
  uint32_t bytes = inst->size_bytes;
  for (uint32_t left = warp->mask; left; left &= left - 1) {
    uint32_t l = (uint32_t)__builtin_ctz(left);
    char value[8];
    for (uint32_t i = 0; i < inst->count; i++)
      memcpy(value + i * bytes, SRC(char, inst->u.places[i]) + (size_t)l * bytes, bytes);
    memcpy(warp->base[0] + inst->d + (size_t)l * bytes * inst->count, value, bytes * inst->count);
  }
}
static void unpack(Warp *warp, const Inst *inst) {
  uint32_t bytes = inst->size_bytes;
  for (uint32_t left = warp->mask; left; left &= left - 1) {
    uint32_t l = (uint32_t)__builtin_ctz(left);
    char value[8];
    memcpy(value, SRC(char, inst->a) + (size_t)l * bytes * inst->count, bytes * inst->count);
    for (uint32_t i = 0; i < inst->count; i++)
      if (inst->u.places[i] != PLACE_NONE)
        memcpy(DST(char, inst->u.places[i]) + (size_t)l * bytes, value + i * bytes, bytes);
  }
}

static void encode_vector(Reader *reader, Type type, Operand *operands, Inst *inst) {
  bool packs = operands[1].kind == OPERAND_VECTOR;
  const Operand *vector = packs ? &operands[1] : &operands[0];
  if (!vector->count || type.bytes % vector->count) {
    read_fail(reader, "a vector of %u elements", vector->count);
    return;
  }
  uint32_t bytes = type.bytes / vector->count;
  uint32_t *places = malloc(vector->count * sizeof *places);
  if (!places) abort();
  for (uint32_t i = 0; i < vector->count; i++)
    places[i] = packs ? operand_value(reader, &vector->elements[i], bytes)
                      : operand_target(reader, &vector->elements[i], bytes);
  inst->u.places = places;
  inst->owns_places = true;
  inst->count = (uint8_t)vector->count;
  inst->size_bytes = (uint8_t)bytes;
  if (packs) inst->d = operand_target(reader, &operands[0], type.bytes);
  else inst->a = operand_value(reader, &operands[1], type.bytes);
  inst->run = packs ? pack : unpack;
}

static bool encode_mov(Reader *reader, Type type, Operand *operands, Inst *inst) {
  uint64_t address;
  Space space;
  if (operands[0].kind == OPERAND_VECTOR || operands[1].kind == OPERAND_VECTOR) {
    encode_vector(reader, type, operands, inst);
    return true;
  }
  if (operands[1].kind != OPERAND_NAME) return false;
  uint32_t bytes;
  int which = special_find(operands[1].name, &bytes);
  if (which >= 0) {
    inst->run = special_read;
    inst->offset = which;
    inst->size_bytes = type.bytes;
    inst->d = operand_target(reader, &operands[0], type.bytes);
    if (bytes != type.bytes) read_fail(reader, "a special register has another size");
    return true;
  }
  if (!operand_own_address(reader, &operands[1], &address, &space)) return false;
  inst->d = operand_target(reader, &operands[0], 8);
  inst->offset = (int64_t)address + operands[1].offset;
  inst->run = space == SPACE_FRAME ? add_frame : add_offset;
  inst->a = read_constant(reader, 0, 8);
  return true;
}

static void encode_cvta(Reader *reader, const Parts *parts, Operand *operands, Inst *inst) {
  uint64_t window = window_of(parts_space(parts));
  inst->run = add_offset;
  inst->offset = (int64_t)(parts_have(parts, "to") ? 0 - window : window);
  inst->d = operand_target(reader, &operands[0], 8);
  inst->a = operand_value(reader, &operands[1], 8);
}

static void encode_cvt(Reader *reader, const Parts *parts, Operand *operands, Inst *inst) {
  Convert convert = {.to = parts_type(parts, 1), .from = parts_type(parts, 0)};
  const Operand *to = &operands[0], *from = &operands[1];
  if (!convert.to.kind || !convert.from.kind || strchr("h2bp", convert.to.kind) ||
      strchr("h2bp", convert.from.kind)) {
    read_fail(reader, "a conversion between types that this reader does not know");
    return;
  }
  static const struct {
    const char *name;
    int mode;
    bool to_integer;
  } modes[] = {
      {"rn", FE_TONEAREST, false}, {"rz", FE_TOWARDZERO, false}, {"rm", FE_DOWNWARD, false},
      {"rp", FE_UPWARD, false},    {"rni", FE_TONEAREST, true},  {"rzi", FE_TOWARDZERO, true},
      {"rmi", FE_DOWNWARD, true},  {"rpi", FE_UPWARD, true},     {"rna", FE_TONEAREST, false}};
  convert.rounding = FE_TONEAREST;
  for (uint32_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
    if (!parts_have(parts, modes[i].name)) continue;
    convert.rounding = modes[i].mode;
    convert.to_integer = modes[i].to_integer;
  }
  convert.saturates = parts_have(parts, "sat");
  convert.flushes = parts_have(parts, "ftz");
  convert.to_bytes = to->kind == OPERAND_REGISTER ? to->type.bytes : convert.to.bytes;
  convert.from_bytes = from->kind == OPERAND_REGISTER ? from->type.bytes : convert.from.bytes;
  if (convert.from_bytes < 2) convert.from_bytes = 2;
  if (convert.to_bytes < convert.to.bytes || convert.from_bytes < convert.from.bytes) {
    read_fail(reader, "Arguments mismatch for instruction 'cvt'");
    return;
  }
  inst->d = operand_target(reader, to, convert.to_bytes);
  inst->a = operand_value(reader, from, convert.from_bytes);
  convert_encode(inst, &convert);
}

/* An instruction of the tables, with its operands in order. */
static void encode_op(Reader *reader, Slice opcode, const Operand *operands, uint32_t count,
                      Inst *inst) {
  const Op *op = op_find(opcode);
  uint32_t wanted = 0;
  if (!op) {
    read_fail(reader, "'%.*s' is not an instruction that this reader supports", (int)opcode.length,
              opcode.at);
    return;
  }
  while (wanted < 5 && op->sizes[wanted]) wanted++;
  if (count != wanted) {
    read_fail(reader, "'%.*s' takes %u operands", (int)opcode.length, opcode.at, wanted);
    return;
  }
  uint32_t *places[] = {&inst->d, &inst->a, &inst->b, &inst->c, &inst->e};
  inst->run = op->run;
  inst->d = operand_target(reader, &operands[0], op->sizes[0]);
  for (uint32_t i = 1; i < count; i++)
    *places[i] = operand_value(reader, &operands[i], op->sizes[i]);
  if (inst->d == PLACE_NONE) inst->run = flow_nothing;
}

static bool is_any(Slice word, const char *const *words) {
  for (; *words; words++)
    if (slice_is(word, *words)) return true;
  return false;
}

void encode(Reader *reader, Slice opcode, Operand *operands, uint32_t count, Inst inst) {
  static const char *const memory_words[] = {"ld",       "ldu",       "st",      "atom", "red",
                                             "prefetch", "prefetchu", "discard", NULL};
  static const char *const sync_words[] = {"bar",   "barrier",    "shfl",  "vote",
                                           "match", "activemask", "redux", NULL};
  static const char *const nothing_words[] = {"membar",  "fence",          "nop",
                                              "pmevent", "griddepcontrol", NULL};
  Parts parts = parts_of(opcode);
  Slice first = parts.at[0];
  if (is_any(first, memory_words)) {
    encode_memory(reader, opcode, operands, count, &inst);
  } else if (is_any(first, sync_words)) {
    encode_sync(reader, opcode, operands, count, &inst);
  } else if (is_any(first, nothing_words)) {
    inst.run = flow_nothing;
  } else if (slice_is(first, "nanosleep") && count == 1) {
    inst.run = flow_pause;
    inst.a = operand_value(reader, &operands[0], 4);
  } else if (slice_is(first, "bra") && count == 1) {
    inst.run = flow_branch;
    inst.u.label = read_label(reader, operands[0].name);
  } else if (slice_is(first, "ret")) {
    inst.run = flow_return;
  } else if (slice_is(first, "exit")) {
    inst.run = flow_exit;
  } else if (slice_is(first, "trap") || slice_is(first, "brkpt")) {
    inst.run = flow_trap;
  } else if (slice_is(first, "cvt") && count == 2) {
    encode_cvt(reader, &parts, operands, &inst);
  } else if (slice_is(first, "cvta") && count == 2) {
    encode_cvta(reader, &parts, operands, &inst);
  } else if (slice_is(first, "isspacep") && count == 2) {
    inst.run = is_in_space;
    inst.space = (uint8_t)parts_space(&parts);
    inst.d = operand_target(reader, &operands[0], 1);
    inst.a = operand_value(reader, &operands[1], 8);
  } else if (!slice_is(first, "mov") || count != 2 ||
             !encode_mov(reader, parts_type(&parts, 0), operands, &inst)) {
    encode_op(reader, opcode, operands, count, &inst);
  }
  if (!reader->failed) PUSH(reader->code, inst);
}
