/* read_body.c - the body of a function: declarations, labels, instructions. */
#include <stdlib.h>

#include "exec.h"
#include "flow.h"
#include "read.h"

static uint32_t aligned(uint32_t offset, uint32_t align) {
  return (offset + align - 1) & ~(align - 1);
}

uint32_t read_constant(Reader *reader, uint64_t bits, uint32_t bytes) {
  for (uint32_t i = reader->constants.count, seen = 0; i-- > 0 && seen < 64; seen++) {
    const Constant *constant = &reader->constants.at[i];
    if (constant->bits == bits && constant->bytes == bytes) return constant->place;
  }
  uint32_t place = reader->constant_bytes | PLACE_CONSTANT;
  reader->constant_bytes += aligned(bytes * LANES, 64);
  PUSH(reader->constants, (Constant){bits, bytes, place});
  return place;
}

uint32_t read_label(Reader *reader, Slice name) {
  uint32_t number = names_find(&reader->labels, name);
  if (number != NAME_NONE) return number;
  number = reader->label_places.count;
  names_set(&reader->labels, name, number);
  PUSH(reader->label_places, UINT32_MAX);
  PUSH(reader->label_names, name);
  return number;
}

const Local *read_find_local(const Reader *reader, Slice name) {
  for (uint32_t i = reader->locals.count; i-- > 0;)
    if (slice_same(reader->locals.at[i].name, name)) return &reader->locals.at[i];
  return NULL;
}

bool read_find_register(const Reader *reader, Slice name, uint32_t *place, Type *type) {
  uint32_t digits = 0, number = 0, unit = 1;
  for (uint32_t i = name.length; i > 1 && name.at[i - 1] >= '0' && name.at[i - 1] <= '9'; i--) {
    number += (uint32_t)(name.at[i - 1] - '0') * unit;
    unit *= 10;
    digits++;
  }
  Slice prefix = {name.at, name.length - digits};
  for (uint32_t i = reader->registers.count; i-- > 0;) {
    const Register *range = &reader->registers.at[i];
    if (range->count ? digits && number < range->count && slice_same(range->name, prefix)
                     : slice_same(range->name, name)) {
      *place = range->first + (range->count ? number : 0) * range->bytes;
      *type = range->type;
      return true;
    }
  }
  return false;
}

/* `.reg .b32 %r<57>;` or `.reg .b64 %SP, %SPL;` */
static void read_registers(Reader *reader) {
  Type type = {0};
  uint32_t lanes;
  Slice word = read_word(reader);
  if (!type_of(word, &type, &lanes))
    read_fail(reader, "registers of type '%.*s'", (int)word.length, word.at);
  do {
    Register range = {.name = read_word(reader), .type = type, .first = reader->register_bytes};
    range.bytes = aligned(type.bytes * LANES, 64);
    if (read_accept(reader, "<")) {
      range.count = (uint32_t)read_number(reader);
      read_expect(reader, ">");
    }
    uint32_t count = range.count ? range.count : 1;
    reader->register_bytes += range.bytes * count;
    PUSH(reader->registers, range);
  } while (read_accept(reader, ","));
  read_expect(reader, ";");
}

/* `.local .align 8 .b8 depot[56];` and the .param of a call, in the frame. */
static void read_in_frame(Reader *reader, LocalKind kind) {
  Function *function = reader->function;
  uint32_t align = 1, lanes;
  Type type = {0};
  while (!reader->failed && reader->text.token.kind == TOKEN_WORD &&
         reader->text.token.text.at[0] == '.') {
    Slice word = read_word(reader);
    if (slice_is(word, ".align")) align = (uint32_t)read_number(reader);
    else if (!type.kind) type_of(word, &type, &lanes);
  }
  Local local = {.name = read_word(reader), .kind = kind, .size = type.bytes};
  if (read_accept(reader, "[")) {
    local.size *= (uint32_t)read_number(reader);
    read_expect(reader, "]");
  }
  if (align < type.bytes) align = type.bytes;
  local.align = align;
  local.offset = aligned(function->local_bytes, align ? align : 1);
  function->local_bytes = local.offset + local.size;
  if (kind == LOCAL_VARIABLE)
    function->variable_bytes = aligned(function->variable_bytes, align ? align : 1) + local.size;
  if (function->stack_bytes < function->local_bytes) function->stack_bytes = function->local_bytes;
  PUSH(reader->locals, local);
  read_expect(reader, ";");
}

static bool parts_the_ways(Slice opcode) {
  static const char *const words[] = {"ret",     "exit", "call", "brx",   "bar",
                                      "barrier", "shfl", "vote", "match", "redux"};
  Slice first = parts_of(opcode).at[0];
  for (uint32_t i = 0; i < sizeof words / sizeof words[0]; i++)
    if (slice_is(first, words[i])) return true;
  return false;
}

/* Parses what follows the opcode: names for a call, otherwise operands. */
static void read_rest(Reader *reader, Slice opcode, Inst inst) {
  if (slice_is(parts_of(opcode).at[0], "call")) {
    encode_call(reader, &inst);
    if (!reader->failed) PUSH(reader->code, inst);
    return;
  }
  Operand operands[8];
  uint32_t count = 0;
  while (!reader->failed && !read_is(reader, ";") && count < 8) {
    operand_read(reader, &operands[count++]);
    if (!read_accept(reader, ",")) break;
  }
  if (read_expect(reader, ";")) encode(reader, opcode, operands, count, inst);
  for (uint32_t i = 0; i < count; i++) operand_free(&operands[i]);
}

/* A guarded branch has its own instruction; other control flow is preceded by a branch over it;
 * all other instructions run for the lanes of their guard. */
static void read_instruction(Reader *reader) {
  Inst inst = {.line = reader->text.token.line,
               .guard = PLACE_NONE,
               .d = PLACE_NONE,
               .a = PLACE_NONE,
               .b = PLACE_NONE,
               .c = PLACE_NONE,
               .e = PLACE_NONE};
  uint32_t guard = PLACE_NONE;
  bool negated = false;
  if (read_accept(reader, "@")) {
    Type type;
    negated = read_accept(reader, "!");
    Slice name = read_word(reader);
    if (!read_find_register(reader, name, &guard, &type) || type.kind != 'p')
      read_fail(reader, "'%.*s' is not a predicate", (int)name.length, name.at);
  }
  Slice opcode = read_word(reader);
  if (guard == PLACE_NONE) {
    read_rest(reader, opcode, inst);
    return;
  }
  uint32_t first = reader->code.count;
  if (parts_the_ways(opcode)) {
    Inst over = inst;
    over.run = flow_branch_if;
    over.guard = guard;
    over.negated = !negated;
    over.u.label = reader->label_places.count; /* a label without a name */
    PUSH(reader->label_places, UINT32_MAX);
    PUSH(reader->label_names, opcode);
    PUSH(reader->code, over);
    read_rest(reader, opcode, inst);
    reader->label_places.at[over.u.label] = reader->code.count;
    return;
  }
  read_rest(reader, opcode, inst);
  for (uint32_t i = first; i < reader->code.count; i++) {
    Inst *made = &reader->code.at[i];
    made->guard = guard;
    made->negated = negated;
    if (made->run == flow_branch) {
      made->run = flow_branch_if;
    } else {
      made->guarded = made->run;
      made->run = flow_guarded;
    }
  }
}

static void read_block(Reader *reader);

static void read_statement(Reader *reader) {
  reader->line = reader->text.token.line;
  if (read_accept(reader, ".reg")) {
    read_registers(reader);
  } else if (read_accept(reader, ".local")) {
    read_in_frame(reader, LOCAL_VARIABLE);
  } else if (read_accept(reader, ".shared")) {
    read_variable(reader, SPACE_SHARED, false);
  } else if (read_accept(reader, ".global") || read_accept(reader, ".const")) {
    read_variable(reader, SPACE_GLOBAL, false);
  } else if (read_accept(reader, ".param")) {
    read_in_frame(reader, LOCAL_PARAM);
  } else if (read_is(reader, "{")) {
    read_block(reader);
  } else if (read_is(reader, ".loc")) {
    uint32_t line = reader->text.token.line;
    while (reader->text.token.kind != TOKEN_END && reader->text.token.line == line)
      text_next(&reader->text);
  } else if (read_is(reader, ".pragma") || read_is(reader, ".callprototype")) {
    while (!reader->failed && reader->text.token.kind != TOKEN_END && !read_accept(reader, ";"))
      text_next(&reader->text);
  } else if (!read_accept(reader, ";")) {
    Text before = reader->text;
    if (reader->text.token.kind == TOKEN_WORD) {
      Slice name = read_word(reader);
      if (read_accept(reader, ":")) {
        uint32_t label = read_label(reader, name);
        reader->label_places.at[label] = reader->code.count;
        return;
      }
    }
    reader->text = before;
    read_instruction(reader);
  }
}

static void read_block(Reader *reader) {
  uint32_t registers = reader->registers.count, locals = reader->locals.count;
  uint32_t bytes = reader->function->local_bytes;
  read_expect(reader, "{");
  while (!reader->failed && reader->text.token.kind != TOKEN_END && !read_is(reader, "}"))
    read_statement(reader);
  read_expect(reader, "}");
  reader->registers.count = registers;
  reader->locals.count = locals;
  reader->function->local_bytes = bytes;
}

static void set_targets(Reader *reader) {
  for (uint32_t i = 0; i < reader->code.count; i++) {
    Inst *inst = &reader->code.at[i];
    if (inst->run != flow_branch && inst->run != flow_branch_if) continue;
    uint32_t place = reader->label_places.at[inst->u.label];
    if (place == UINT32_MAX) {
      Slice name = reader->label_names.at[inst->u.label];
      read_fail(reader, "the label '%.*s' is nowhere", (int)name.length, name.at);
      return;
    }
    inst->u.target = reader->code.at + place;
  }
}

static char *fill_constants(const Reader *reader) {
  char *bytes = aligned_alloc(64, reader->constant_bytes + 64);
  if (!bytes) abort();
  for (uint32_t i = 0; i < reader->constants.count; i++) {
    const Constant *constant = &reader->constants.at[i];
    char *at = bytes + (constant->place & ~(uint32_t)PLACE_CONSTANT);
    for (uint32_t l = 0; l < LANES; l++)
      memcpy(at + (size_t)l * constant->bytes, &constant->bits, constant->bytes);
  }
  return bytes;
}

void read_body(Reader *reader) {
  Function *function = reader->function;
  reader->registers.count = reader->locals.count = reader->constants.count = 0;
  reader->label_names.count = reader->label_places.count = 0;
  reader->register_bytes = reader->constant_bytes = 0;
  reader->code.at = NULL;
  reader->code.count = reader->code.room = 0;
  names_deinit(&reader->labels);
  if (!function->is_entry)
    function->local_bytes = aligned(function->param_bytes + function->result_bytes, 16);
  function->stack_bytes = function->local_bytes;
  read_block(reader);
  Inst last = {.run = flow_return, .line = reader->text.token.line};
  PUSH(reader->code, last);
  set_targets(reader);
  function->local_bytes = aligned(function->stack_bytes, 16);
  function->register_bytes = reader->register_bytes;
  function->constants = fill_constants(reader);
  function->code = reader->code.at;
  function->code_count = reader->code.count;
}
