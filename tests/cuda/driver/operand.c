/* operand.c - parses the operands of an opcode into places. */
#include <stdlib.h>

#include "exec.h"
#include "read.h"

static void read_name(Reader *reader, Operand *operand) {
  operand->name = read_word(reader);
  if (slice_is(operand->name, "_")) {
    operand->kind = OPERAND_SINK;
  } else if (read_find_register(reader, operand->name, &operand->place, &operand->type)) {
    operand->kind = OPERAND_REGISTER;
  } else {
    operand->kind = OPERAND_NAME;
  }
}

/* + 8, +-8, - 8 */
static int64_t read_offset(Reader *reader) {
  int64_t offset = 0;
  while (read_is(reader, "+") || read_is(reader, "-")) {
    bool plus = read_accept(reader, "+");
    offset += plus ? read_number(reader) : read_number(reader);
  }
  return offset;
}

static void read_plain(Reader *reader, Operand *operand) {
  if (reader->text.token.kind == TOKEN_WORD) {
    read_name(reader, operand);
    return;
  }
  operand->kind = OPERAND_NUMBER;
  bool negative = read_accept(reader, "-");
  operand->float_width = reader->text.token.float_width;
  operand->bits = (uint64_t)read_number(reader);
  if (!negative) return;
  if (operand->float_width == 8) operand->bits ^= 1ull << 63;
  else if (operand->float_width == 4) operand->bits ^= 1ull << 31;
  else operand->bits = 0 - operand->bits;
}

void operand_read(Reader *reader, Operand *operand) {
  *operand = (Operand){.second = PLACE_NONE, .place = PLACE_NONE};
  operand->negated = read_accept(reader, "!");
  if (read_accept(reader, "[")) {
    read_plain(reader, operand);
    operand->base = operand->kind;
    operand->kind = OPERAND_ADDRESS;
    operand->offset = read_offset(reader);
    read_expect(reader, "]");
  } else if (read_accept(reader, "{")) {
    struct {
      Operand *at;
      uint32_t count, room;
    } elements = {0};
    do {
      Operand element;
      operand_read(reader, &element);
      PUSH(elements, element);
    } while (read_accept(reader, ","));
    read_expect(reader, "}");
    operand->kind = OPERAND_VECTOR;
    operand->elements = elements.at;
    operand->count = elements.count;
  } else {
    read_plain(reader, operand);
    if (operand->kind == OPERAND_NAME) operand->offset = read_offset(reader);
    if (!read_accept(reader, "|")) return;
    Operand second = {0};
    read_plain(reader, &second);
    if (second.kind == OPERAND_REGISTER) operand->second = second.place;
  }
}

void operand_free(Operand *operand) { free(operand->elements); }

/* Address of the symbol among functions and variables of the module. */
/* Of a variable in shared memory: the function being read needs it. */
static void note_shared(Reader *reader, Variable *variable) {
  Function *function = reader->function;
  if (!function || variable->space != SPACE_SHARED || variable->named_by == function) return;
  uint32_t align = variable->align ? variable->align : 1;
  variable->named_by = function;
  function->shared_bytes = (function->shared_bytes + align - 1) / align * align;
  function->shared_bytes += (uint32_t)variable->size;
}

bool symbol_address(Reader *reader, Slice name, uint64_t *address, Space *space) {
  Module *module = reader->module;
  uint32_t found = names_find(&module->variable_names, name);
  if (found != NAME_NONE) {
    Variable *variable = &module->variables.at[found];
    note_shared(reader, variable);
    *address = variable->address;
    *space = variable->space;
    if (!variable->is_extern) return true;
    if (variable->space != SPACE_SHARED)
      return read_fail(reader, "Unresolved extern variable '%.*s'", (int)name.length, name.at);
    *address = (module->shared_bytes + 15) & ~15u; /* after all variables that have a size */
    return true;
  }
  found = names_find(&module->function_names, name);
  if (found == NAME_NONE)
    return read_fail(reader, "Unknown symbol '%.*s'", (int)name.length, name.at);
  *address = function_address(module->functions.at[found]);
  *space = SPACE_GENERIC;
  return true;
}

static const Param *find_param(const Function *function, Slice name, bool *is_result) {
  for (uint32_t i = 0; i < function->param_count; i++)
    if (slice_same(function->params[i].name, name)) return *is_result = false, &function->params[i];
  *is_result = true;
  for (uint32_t i = 0; i < function->result_count; i++)
    if (slice_same(function->results[i].name, name)) return &function->results[i];
  return NULL;
}

/* Parameters and .local variables: an offset in the frame, or in the parameters of the launch. */
static bool own_address(Reader *reader, Slice name, uint64_t *address, Space *space) {
  const Function *function = reader->function;
  const Local *local = read_find_local(reader, name);
  bool is_result;
  *space = SPACE_FRAME;
  if (local) return *address = local->offset, true;
  const Param *param = find_param(function, name, &is_result);
  if (!param) return false;
  if (function->is_entry) *space = SPACE_PARAM;
  *address = param->offset + (is_result ? function->param_bytes : 0);
  return true;
}

static void wrong_size(Reader *reader, const Operand *operand, uint32_t bytes) {
  read_fail(reader, "Arguments mismatch: '%.*s' has %u bytes where %u are expected",
            (int)operand->name.length, operand->name.at, operand->type.bytes, bytes);
}

uint32_t operand_value(Reader *reader, const Operand *operand, uint32_t bytes) {
  uint64_t bits = operand->bits, address;
  Space space;
  switch (operand->kind) {
  case OPERAND_REGISTER:
    if (operand->type.bytes != bytes) wrong_size(reader, operand, bytes);
    return operand->place;
  case OPERAND_NUMBER:
    if (operand->float_width == 8 && bytes == 4) {
      double twice;
      memcpy(&twice, &bits, 8);
      float single = (float)twice;
      bits = 0;
      memcpy(&bits, &single, 4);
    }
    if (bytes == 1) bits = bits != 0;
    if (bytes < 8) bits &= (1ull << bytes * 8) - 1;
    return read_constant(reader, bits, bytes);
  case OPERAND_NAME:
    if (bytes < 4 || !symbol_address(reader, operand->name, &address, &space)) break;
    return read_constant(reader, address + (uint64_t)operand->offset, bytes);
  default: break;
  }
  read_fail(reader, "an operand is not a value");
  return 0;
}

uint32_t operand_target(Reader *reader, const Operand *operand, uint32_t bytes) {
  if (operand->kind == OPERAND_SINK) return PLACE_NONE;
  if (operand->kind != OPERAND_REGISTER) {
    read_fail(reader, "a result needs a register");
  } else if (operand->type.bytes != bytes) {
    wrong_size(reader, operand, bytes);
  }
  return operand->place;
}

void operand_address(Reader *reader, const Operand *operand, Space space, Inst *inst) {
  uint64_t address = 0;
  Space found = space;
  inst->space = (uint8_t)space;
  inst->offset = operand->offset;
  if (operand->kind != OPERAND_ADDRESS) {
    read_fail(reader, "an address is missing");
  } else if (operand->base == OPERAND_REGISTER) {
    if (operand->type.bytes != 8) wrong_size(reader, operand, 8);
    inst->a = operand->place;
    if (space == SPACE_PARAM && !reader->function->is_entry) inst->space = SPACE_LOCAL;
  } else {
    if (operand->base == OPERAND_NUMBER) {
      address = operand->bits;
    } else if (own_address(reader, operand->name, &address, &found)) {
      inst->space = (uint8_t)found;
    } else {
      symbol_address(reader, operand->name, &address, &found);
    }
    inst->a = read_constant(reader, address, 8);
  }
}

bool operand_own_address(Reader *reader, const Operand *operand, uint64_t *address, Space *space) {
  return operand->kind == OPERAND_NAME && own_address(reader, operand->name, address, space);
}
