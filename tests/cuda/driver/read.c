/* read.c - parses a module: directives, variables, heads of functions. */
#include "read.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "exec.h"

bool read_fail(Reader *reader, const char *format, ...) {
  if (reader->failed) return false;
  reader->failed = true;
  int length = snprintf(reader->log, reader->log_size, "ptx, line %u; error: ", reader->line);
  va_list list;
  va_start(list, format);
  if (length >= 0 && (size_t)length < reader->log_size)
    vsnprintf(reader->log + length, reader->log_size - (size_t)length, format, list);
  va_end(list);
  reader->text.at = reader->text.end;
  text_next(&reader->text);
  return false;
}

bool read_is(const Reader *reader, const char *text) {
  return reader->text.token.kind != TOKEN_END && slice_is(reader->text.token.text, text);
}
bool read_accept(Reader *reader, const char *text) {
  if (!read_is(reader, text)) return false;
  text_next(&reader->text);
  return true;
}
bool read_expect(Reader *reader, const char *text) {
  Slice found = reader->text.token.text;
  return read_accept(reader, text) ||
         read_fail(reader, "'%s' is missing before '%.*s'", text, (int)found.length, found.at);
}
Slice read_word(Reader *reader) {
  Token token = reader->text.token;
  if (token.kind != TOKEN_WORD)
    read_fail(reader, "a name is missing before '%.*s'", (int)token.text.length, token.text.at);
  else text_next(&reader->text);
  return token.text;
}
int64_t read_number(Reader *reader) {
  bool negative = read_accept(reader, "-");
  Token token = reader->text.token;
  if (token.kind != TOKEN_NUMBER) {
    read_fail(reader, "a number is missing before '%.*s'", (int)token.text.length, token.text.at);
    return 0;
  }
  text_next(&reader->text);
  return negative ? -(int64_t)token.bits : (int64_t)token.bits;
}

bool type_of(Slice word, Type *type, uint32_t *lanes) {
  if (word.length && word.at[0] == '.') word.at++, word.length--;
  *lanes = 1;
  if (slice_is(word, "pred")) return *type = (Type){'p', 1}, true;
  if (slice_is(word, "f16x2")) return *type = (Type){'2', 4}, true;
  if (slice_is(word, "bf16x2") || slice_is(word, "b128") || word.length < 2) return false;
  if (slice_is(word, "bf16")) return *type = (Type){'h', 2}, true;
  if (!strchr("busf", word.at[0])) return false;
  uint32_t bits = 0;
  for (uint32_t i = 1; i < word.length; i++) {
    if (word.at[i] < '0' || word.at[i] > '9') return false;
    bits = bits * 10 + (uint32_t)(word.at[i] - '0');
  }
  if (bits != 8 && bits != 16 && bits != 32 && bits != 64) return false;
  *type = (Type){word.at[0], (uint8_t)(bits / 8)};
  return true;
}

static uint32_t aligned(uint32_t offset, uint32_t align) {
  return (offset + align - 1) & ~(align - 1);
}

/* `.param .align 8 .b8 name[24]`, without its first word. */
static Param read_param(Reader *reader, uint32_t *offset) {
  uint32_t align = 0, lanes;
  Type type = {0};
  Param param = {0};
  while (!reader->failed && reader->text.token.kind == TOKEN_WORD &&
         reader->text.token.text.at[0] == '.') {
    Slice word = read_word(reader);
    if (slice_is(word, ".align")) align = (uint32_t)read_number(reader);
    else if (!type.kind) type_of(word, &type, &lanes);
  }
  if (!type.kind) read_fail(reader, "a parameter has no type that this reader knows");
  param.name = read_word(reader);
  param.size = type.bytes;
  if (read_accept(reader, "[")) {
    param.size = read_is(reader, "]") ? 0 : (uint32_t)read_number(reader) * type.bytes;
    read_expect(reader, "]");
  }
  if (!align) align = type.bytes ? type.bytes : 1;
  param.offset = *offset = aligned(*offset, align);
  *offset += param.size;
  return param;
}

static Param *read_params(Reader *reader, uint32_t *count, uint32_t *bytes) {
  struct {
    Param *at;
    uint32_t count, room;
  } params = {0};
  *bytes = 0;
  read_expect(reader, "(");
  while (!reader->failed && !read_is(reader, ")")) {
    if (!read_accept(reader, ".param") && !read_accept(reader, ".reg"))
      read_fail(reader, "'.param' is missing");
    Param param = read_param(reader, bytes);
    PUSH(params, param);
    if (!read_accept(reader, ",")) break;
  }
  read_expect(reader, ")");
  *count = params.count;
  return params.at;
}

static Function *find_function(Reader *reader, Slice name) {
  Module *module = reader->module;
  uint32_t found = names_find(&module->function_names, name);
  if (found != NAME_NONE) return module->functions.at[found];
  Function *function = calloc(1, sizeof *function);
  if (!function) abort();
  function->name = name;
  function->module = module;
  names_set(&module->function_names, name, module->functions.count);
  PUSH(module->functions, function);
  return function;
}

static void read_function(Reader *reader, bool is_entry) {
  Param *results = NULL;
  uint32_t result_count = 0, result_bytes = 0;
  if (read_is(reader, "(")) results = read_params(reader, &result_count, &result_bytes);
  Function *function = find_function(reader, read_word(reader));
  if (function->is_defined) read_fail(reader, "a function is defined twice");
  free(function->params);
  free(function->results);
  function->results = results;
  function->result_count = result_count;
  function->result_bytes = result_bytes;
  function->is_entry = is_entry;
  function->params = NULL;
  function->param_count = function->param_bytes = 0;
  if (read_is(reader, "("))
    function->params = read_params(reader, &function->param_count, &function->param_bytes);
  if (is_entry && function->param_bytes > 4096)
    read_fail(reader, "the parameters of an entry take more than 4096 bytes");
  if (!is_entry) function->param_bytes = aligned(function->param_bytes, 16);
  while (!reader->failed && !read_is(reader, ";") && !read_is(reader, "{")) {
    if (read_accept(reader, ".maxntid") || read_accept(reader, ".reqntid")) {
      function->max_threads = 1;
      do function->max_threads *= (uint32_t)read_number(reader);
      while (read_accept(reader, ","));
    } else {
      text_next(&reader->text); /* .minnctapersm, .maxnreg, .pragma, .noreturn: ignored */
    }
  }
  if (read_accept(reader, ";")) return;
  reader->function = function;
  read_body(reader);
  function->is_defined = true;
}

static void put(Reader *reader, Variable *variable, uint64_t at, uint64_t bits, uint32_t bytes) {
  if (at + bytes > variable->size) read_fail(reader, "more values than the variable has room for");
  else memcpy(memory_host(variable->address + at), &bits, bytes);
}

/* A value: a number; a symbol, which may come later, and of which a mask may take one byte. */
static void read_value(Reader *reader, Variable *variable, uint64_t at, Type type) {
  const Token token = reader->text.token;
  uint64_t mask = 0;
  bool is_generic = read_accept(reader, "generic"), is_masked = false;
  if (!is_generic && (token.kind == TOKEN_NUMBER || read_is(reader, "-"))) {
    uint64_t bits = (uint64_t)read_number(reader);
    if (!read_is(reader, "(")) {
      if (type.kind == 'f' && token.float_width == 8 && type.bytes == 4) {
        double twice;
        memcpy(&twice, &token.bits, 8);
        float single = (float)twice;
        memcpy(&bits, &single, 4);
      }
      put(reader, variable, at, bits, type.bytes);
      return;
    }
    mask = bits;
    is_masked = true;
  }
  bool in_brackets = read_accept(reader, "(");
  if (!is_generic && read_accept(reader, "generic")) read_expect(reader, "(");
  Fixup fixup = {.address = variable->address + at, .bytes = type.bytes, .line = token.line};
  fixup.name = read_word(reader);
  if (read_accept(reader, "+")) fixup.addend = (uint64_t)read_number(reader);
  if (is_masked && mask) fixup.shift = (uint32_t)__builtin_ctzll(mask);
  while (in_brackets && read_accept(reader, ")")) {}
  if (at + type.bytes > variable->size) read_fail(reader, "more values than there is room for");
  PUSH(reader->fixups, fixup);
}

static void read_values(Reader *reader, Variable *variable, uint64_t *at, Type type) {
  if (!read_accept(reader, "{")) {
    read_value(reader, variable, *at, type);
    *at += type.bytes;
    return;
  }
  while (!reader->failed && !read_is(reader, "}")) {
    read_values(reader, variable, at, type);
    if (!read_accept(reader, ",")) break;
  }
  read_expect(reader, "}");
}

void read_variable(Reader *reader, Space space, bool is_extern) {
  Module *module = reader->module;
  Variable variable = {.space = space, .align = 1, .is_extern = is_extern};
  Type type = {0};
  uint32_t lanes, vector = 1;
  while (!reader->failed && reader->text.token.kind == TOKEN_WORD &&
         reader->text.token.text.at[0] == '.') {
    Slice word = read_word(reader);
    if (slice_is(word, ".align")) variable.align = (uint32_t)read_number(reader);
    else if (slice_is(word, ".v2")) vector = 2;
    else if (slice_is(word, ".v4")) vector = 4;
    else if (!type.kind) type_of(word, &type, &lanes);
  }
  if (!type.kind) read_fail(reader, "a variable has no type that this reader knows");
  variable.name = read_word(reader);
  variable.size = (uint64_t)type.bytes * vector;
  if (variable.align < type.bytes * vector && variable.align == 1)
    variable.align = type.bytes * vector;
  while (read_accept(reader, "[")) {
    variable.size *= read_is(reader, "]") ? 0 : (uint64_t)read_number(reader);
    read_expect(reader, "]");
  }
  if (reader->failed) return;
  if (space == SPACE_SHARED) {
    module->shared_bytes = aligned(module->shared_bytes, variable.align);
    variable.address = module->shared_bytes; /* an extern array: what the launch adds */
    module->shared_bytes += (uint32_t)variable.size;
  } else if (!is_extern) {
    variable.address = memory_allocate(variable.size ? variable.size : 1);
    if (!variable.address) {
      read_fail(reader, "there is no memory for the variables");
      return;
    }
    memory_set_written(variable.address, variable.size, true);
    uint64_t at = 0;
    if (read_accept(reader, "=")) read_values(reader, &variable, &at, type);
  }
  names_set(&module->variable_names, variable.name, module->variables.count);
  PUSH(module->variables, variable);
  read_expect(reader, ";");
}

/* `.section .debug_info { .. }`, and `.file`, `.loc` to the end of their line. */
static bool skip_debug(Reader *reader) {
  Text *text = &reader->text;
  if (read_accept(reader, ".section")) {
    while (text->token.kind != TOKEN_END && !read_accept(reader, "}")) text_next(text);
    return true;
  }
  if (!read_is(reader, ".file")) return false;
  uint32_t line = text->token.line;
  while (text->token.kind != TOKEN_END && text->token.line == line) text_next(text);
  return true;
}

static void read_top(Reader *reader) {
  bool is_extern = false;
  reader->line = reader->text.token.line;
  if (read_accept(reader, ".version")) {
    Slice number = reader->text.token.text;
    text_next(&reader->text);
    reader->module->version = atoi(number.at) * 10 + atoi(number.at + 2);
    return;
  }
  if (read_accept(reader, ".target")) {
    Slice target = read_word(reader);
    if (target.length > 3) reader->module->target = atoi(target.at + 3);
    while (read_accept(reader, ",")) read_word(reader);
    return;
  }
  if (read_accept(reader, ".address_size")) {
    if (read_number(reader) != 64) read_fail(reader, "addresses of 64 bits are expected");
    return;
  }
  if (skip_debug(reader)) return;
  for (;;) {
    if (read_accept(reader, ".extern")) is_extern = true;
    else if (!read_accept(reader, ".visible") && !read_accept(reader, ".weak") &&
             !read_accept(reader, ".common"))
      break;
  }
  if (read_accept(reader, ".func")) read_function(reader, false);
  else if (read_accept(reader, ".entry")) read_function(reader, true);
  else if (read_accept(reader, ".global")) read_variable(reader, SPACE_GLOBAL, is_extern);
  else if (read_accept(reader, ".const")) read_variable(reader, SPACE_GLOBAL, is_extern);
  else if (read_accept(reader, ".shared")) read_variable(reader, SPACE_SHARED, is_extern);
  else
    read_fail(reader, "'%.*s' is not understood", (int)reader->text.token.text.length,
              reader->text.token.text.at);
}

static void apply_fixups(Reader *reader) {
  for (uint32_t i = 0; i < reader->fixups.count; i++) {
    const Fixup *fixup = &reader->fixups.at[i];
    uint64_t address;
    Space space;
    if (!symbol_address(reader, fixup->name, &address, &space)) continue;
    address = (address + fixup->addend) >> fixup->shift;
    memcpy(memory_host(fixup->address), &address, fixup->bytes);
  }
}

/* Reports calls of undefined functions. */
static void check_defined(Reader *reader) {
  Module *module = reader->module;
  for (uint32_t i = 0; i < module->functions.count; i++) {
    const Function *caller = module->functions.at[i];
    for (uint32_t k = 0; k < caller->code_count; k++) {
      const Inst *inst = &caller->code[k];
      if (!inst->is_call || !inst->u.call->function || inst->u.call->function->is_defined) continue;
      Slice name = inst->u.call->function->name;
      read_fail(reader, "Unresolved extern function '%.*s'", (int)name.length, name.at);
      return;
    }
  }
}

Module *module_read(const char *text, size_t length, char *log, size_t log_size) {
  static uint32_t ids;
  Module *module = calloc(1, sizeof *module);
  if (!module) return NULL;
  module->id = ids++;
  module->text = malloc(length + 1);
  if (!module->text) abort();
  memcpy(module->text, text, length);
  module->text[length] = 0;
  Reader reader = {.module = module, .log = log, .log_size = log_size};
  log[0] = 0;
  text_open(&reader.text, module->text, length);
  while (!reader.failed && reader.text.token.kind != TOKEN_END) read_top(&reader);
  if (!reader.failed && !module->version) read_fail(&reader, "there is no .version");
  if (!reader.failed) check_defined(&reader);
  if (!reader.failed) apply_fixups(&reader);
  free(reader.fixups.at);
  free(reader.registers.at);
  free(reader.locals.at);
  free(reader.constants.at);
  free(reader.label_names.at);
  free(reader.label_places.at);
  names_deinit(&reader.labels);
  if (!reader.failed) return module;
  module_destroy(module);
  return NULL;
}
