/* read.c - text to IR: what ir_print prints, and what people write in tests.
 * Values may have any name (`%i`); `#` starts a comment. The grammar is print.c's picture: one inst a line,
 * attributes as words before the operands. A value must be defined above its use.
 * The first failure stops reading: every step below returns false from there on. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>

#include "base/map.h"
#include "ir/attribute.h"
#include "ir/task.h"

typedef struct Reader {
  Scratch *scratch;
  Heap *heap;
  IrKernel *kernel;
  const char *at;
  int line;
  Map values; /* of the function being read: name -> IrInst */
  Map ops;    /* text -> op + 1 */
  Error *err;
} Reader;

/* -- characters and words ---------------------------------------------------------------------------------------- */

static bool fail(Reader *r, const char *what, Str name) {
  return error_set(r->err, RG_ERROR_IR, "line %d: %s '%.*s'", r->line, what, name.length < 60 ? name.length : 60,
                   name.data);
}

static void skip_spaces(Reader *r) {
  while (*r->at == ' ' || *r->at == '\t' || *r->at == '\r') r->at++;
  if (*r->at == '#') while (*r->at && *r->at != '\n') r->at++;
}

static void skip_lines(Reader *r) {
  for (skip_spaces(r); *r->at == '\n'; skip_spaces(r)) {
    r->line++;
    r->at++;
  }
}

static bool is_name_char(char c) { return isalnum((unsigned char)c) || c == '_' || c == '.'; }

/* The word that comes next on this line; empty when none does. Does not move. */
static Str peek_word(Reader *r) {
  skip_spaces(r);
  const char *end = r->at;
  while (is_name_char(*end)) end++;
  return (Str){r->at, (int)(end - r->at)};
}

static Str take_word(Reader *r) {
  Str word = peek_word(r);
  r->at += word.length;
  return word;
}

static bool try_char(Reader *r, char c) {
  skip_spaces(r);
  if (*r->at != c) return false;
  r->at++;
  return true;
}

static bool expect_char(Reader *r, char c) {
  if (try_char(r, c)) return true;
  Str met = *r->at && *r->at != '\n' ? (Str){r->at, 1} : STR("end of line");
  return error_set(r->err, RG_ERROR_IR, "line %d: expected '%c' before '%.*s'", r->line, c, met.length, met.data);
}

static bool try_word(Reader *r, const char *word) {
  if (!str_is(peek_word(r), word)) return false;
  take_word(r);
  return true;
}

static bool expect_word(Reader *r, const char *word) {
  Str met = take_word(r);
  return str_is(met, word) || error_set(r->err, RG_ERROR_IR, "line %d: expected '%s' before '%.*s'", r->line,
                                        word, met.length, met.data);
}

static bool read_i64(Reader *r, int64_t *value) {
  skip_spaces(r);
  char *end;
  errno = 0;
  *value = strtoll(r->at, &end, 10);
  bool ok = end != r->at && !errno && !isspace((unsigned char)*r->at);
  if (!ok) return fail(r, "not a number:", peek_word(r));
  r->at = end;
  return true;
}

static bool read_i32(Reader *r, int32_t *value) {
  int64_t wide;
  if (!read_i64(r, &wide)) return false;
  *value = (int32_t)wide;
  return wide == *value || error_set(r->err, RG_ERROR_IR, "line %d: %lld needs more than 32 bits", r->line,
                                     (long long)wide);
}

static bool read_type(Reader *r, Type *type) {
  Str word = take_word(r);
  return ir_type_parse(word, type) || fail(r, "not a type:", word);
}

/* `t3` with prefix 't', below `count`. */
static bool read_entry(Reader *r, char prefix, int count, int32_t *number) {
  Str word = peek_word(r);
  if (word.length < 2 || word.data[0] != prefix) return fail(r, "not a table entry:", word);
  r->at++;
  if (!read_i32(r, number)) return false;
  return (*number >= 0 && *number < count) || fail(r, "no such entry:", word);
}

/* A plain word, or text in quotes. */
static bool read_name(Reader *r, const char **name) {
  skip_spaces(r);
  if (*r->at != '"') {
    Str word = take_word(r);
    *name = scratch_copy_text(r->scratch, word.data, (size_t)word.length);
    return true;
  }
  StrBuf text;
  strbuf_init(&text, r->scratch);
  for (r->at++; *r->at && *r->at != '"' && *r->at != '\n'; r->at++) {
    if (*r->at == '\\' && r->at[1] == 'x' && isxdigit((unsigned char)r->at[2]) && isxdigit((unsigned char)r->at[3])) {
      strbuf_char(&text, (char)strtol((char[]){r->at[2], r->at[3], 0}, NULL, 16));
      r->at += 3;
    } else {
      if (*r->at == '\\' && (r->at[1] == '"' || r->at[1] == '\\')) r->at++;
      strbuf_char(&text, *r->at);
    }
  }
  *name = strbuf_end(&text);
  return expect_char(r, '"');
}

static bool end_of_line(Reader *r) {
  skip_spaces(r);
  return *r->at == '\n' || *r->at == 0 || fail(r, "unexpected", (Str){r->at, 1});
}

/* -- tables ---------------------------------------------------------------------------------------------------------- */

static bool read_tree(Reader *r) {
  int32_t number;
  if (!read_entry(r, 't', r->kernel->trees.count + 1, &number)) return false;
  IrTree tree = {0};
  if (try_char(r, '=')) {
    skip_spaces(r);
    Error why;
    error_clear(&why);
    tree.tree = snode_read(r->heap, &r->at, &why);
    if (!tree.tree) {
      ErrorCode code = why.code == RG_ERROR_MEMORY ? RG_ERROR_MEMORY : RG_ERROR_IR;
      return error_set(r->err, code, "line %d: %s", r->line, why.message);
    }
  }
  vec_push(r->scratch, &r->kernel->trees, tree);
  return true;
}

/* `t0.node 2`; node NULL where the tree is not there. */
static bool read_node(Reader *r, int32_t *tree, const SNode **node) {
  int32_t id;
  if (!read_entry(r, 't', r->kernel->trees.count, tree) || !expect_word(r, ".node") || !read_i32(r, &id)) return false;
  const SNodeTree *of = r->kernel->trees.items[*tree].tree;
  if (!of) return *node = NULL, true;
  if (id < 0 || id >= of->node_count)
    return error_set(r->err, RG_ERROR_IR, "line %d: tree t%d has no node %d", r->line, *tree, id);
  *node = of->nodes[id];
  return true;
}

static bool read_field(Reader *r) {
  IrField field = {0};
  int32_t number;
  bool ok = read_entry(r, 'f', r->kernel->fields.count + 1, &number) && expect_char(r, '=') &&
            read_node(r, &field.tree, &field.node) && expect_word(r, ".component") &&
            read_i32(r, &field.component) && expect_char(r, ':') && read_type(r, &field.type) &&
            read_name(r, &field.name);
  if (!ok) return false;
  const SNode *node = field.node;
  if (node && (field.component < 0 || field.component >= node->component_count ||
               node->components[field.component].child ||
               !type_equal(node->components[field.component].type, field.type)))
    return error_set(r->err, RG_ERROR_IR, "line %d: component %d of node %d is no field of type %s", r->line,
                     field.component, node->id, ir_type_text(field.type));
  vec_push(r->scratch, &r->kernel->fields, field);
  return true;
}

static bool read_level(Reader *r) {
  IrLevel level = {0};
  int32_t number;
  bool ok = read_entry(r, 'l', r->kernel->levels.count + 1, &number) && expect_char(r, '=') &&
            read_node(r, &level.tree, &level.node) && read_name(r, &level.name);
  if (ok) vec_push(r->scratch, &r->kernel->levels, level);
  return ok;
}

static bool read_arg(Reader *r) {
  IrArg arg = {0};
  int32_t number;
  if (!read_i32(r, &number) || !expect_char(r, ':') || !read_type(r, &arg.type) || !read_name(r, &arg.name)) return false;
  if (try_char(r, '@') && !(read_i32(r, &arg.line) && expect_char(r, ':') && read_i32(r, &arg.column))) return false;
  vec_push(r->scratch, &r->kernel->args, arg);
  return true;
}

/* -- attributes ------------------------------------------------------------------------------------------------------- */

static bool read_axes(Reader *r, int32_t axes[SNODE_MAX_AXES], int *count) {
  if (!expect_char(r, '(')) return false;
  int k = 0;
  do {
    if (k == SNODE_MAX_AXES) return fail(r, "too many axes", STR(""));
    if (!read_i32(r, &axes[k++])) return false;
  } while (try_char(r, ','));
  *count = k;
  return expect_char(r, ')');
}

static bool read_const(Reader *r, IrInst *inst) {
  skip_spaces(r);
  const char *start = r->at;
  while (*r->at && !isspace((unsigned char)*r->at)) r->at++;
  Str word = {start, (int)(r->at - start)};
  char *end = NULL;
  errno = 0;
  if (type_is_float(inst->type)) {
    if (word.length > 4 && !strncmp(start, "nan:", 4)) inst->imm = (int64_t)strtoull(start + 4, &end, 16);
    else inst->imm = ir_float_bits(strtod(start, &end));
    if (str_is(word, "nan")) inst->imm = 0x7ff8000000000000;
    errno = 0; /* strtod also reports denormals */
  } else if (type_is_bool(inst->type)) {
    inst->imm = str_is(word, "true");
    if (inst->imm || str_is(word, "false")) return true;
  } else if (type_is_unsigned(inst->type) && *start != '-') {
    inst->imm = (int64_t)strtoull(start, &end, 10);
  } else {
    inst->imm = strtoll(start, &end, 10);
  }
  bool is_integer = type_is_integer(inst->type);
  bool ok = word.length && end == r->at && !errno && (is_integer || type_is_float(inst->type)) &&
            (!is_integer || ir_wrap_int(inst->type, inst->imm) == inst->imm);
  return ok || fail(r, "not a constant of its type:", word);
}

static bool read_valued_attribute(Reader *r, IrInst *inst, Str word) {
  int count = 0;
  if (str_is(word, "offset") || str_is(word, "extent")) {
    if (!read_axes(r, *word.data == 'o' ? inst->offset : inst->extent, &count)) return false;
    inst->axis_count = (int8_t)count;
    return true;
  }
  if (str_is(word, "imm") || str_is(word, "manager")) return read_i64(r, &inst->imm);
#define READ_NUMBER(member, text) if (str_is(word, text)) return read_i32(r, &inst->member);
#define READ_FLAG(member, text)
#define ATTRIBUTE(member, text, kind) READ_##kind(member, text)
#include "ir/attribute.def"
#undef ATTRIBUTE
#undef READ_NUMBER
#undef READ_FLAG
  return fail(r, "unknown attribute", word);
}

static bool read_table_word(Reader *r, IrInst *inst, Str word) {
  const IrKernel *kernel = r->kernel;
  r->at = word.data;
  switch (*word.data) {
  case 'f': return read_entry(r, 'f', kernel->fields.count, &inst->field);
  case 'l': return read_entry(r, 'l', kernel->levels.count, &inst->level);
  default: break;
  }
  int32_t tree;
  if (!read_entry(r, 't', kernel->trees.count, &tree)) return false;
  if (ir_imm_kind(inst->op) == IMM_TREE) inst->imm = tree;
  else inst->tree = tree;
  return true;
}

static bool read_word_attribute(Reader *r, IrInst *inst, Str word) {
#define READ_FLAG(member, text) if (str_is(word, text)) return inst->member = true;
#define READ_NUMBER(member, text)
#define ATTRIBUTE(member, text, kind) READ_##kind(member, text)
#include "ir/attribute.def"
#undef ATTRIBUTE
#undef READ_NUMBER
#undef READ_FLAG
  if (ir_imm_kind(inst->op) == IMM_UPDATE) {
    for (int op = 0; op < IR_UPDATE_COUNT; op++)
      if (str_is(word, ir_update_text((IrUpdate)op))) return inst->imm = op, true;
  }
  if (word.length > 1 && strchr("flt", *word.data) && isdigit((unsigned char)word.data[1]))
    return read_table_word(r, inst, word);
  return fail(r, "unknown attribute", word);
}

static bool read_attributes(Reader *r, IrInst *inst) {
  if (inst->op == IR_CONST) return read_const(r, inst);
  for (;;) {
    Str word = peek_word(r);
    char c = *r->at;
    if (c == '+' || c == '-' || isdigit((unsigned char)c)) {
      if (!read_i64(r, &inst->imm)) return false;
      continue;
    }
    if (!word.length) return true;
    r->at += word.length;
    bool ok = try_char(r, '=') ? read_valued_attribute(r, inst, word) : read_word_attribute(r, inst, word);
    if (!ok) return false;
  }
}

/* -- insts and regions -------------------------------------------------------------------------------------------------- */

/* A name may come again once the region that it stood in has ended. */
static bool define(Reader *r, Str name, const IrRegion *region, IrInst *inst) {
  const IrInst *known = map_find(&r->values, name);
  if (known && ir_is_inside(&(IrInst){.region = (IrRegion *)region}, known->region)) return fail(r, "defined twice:", name);
  map_put(&r->values, name, inst);
  return true;
}

static bool read_operands(Reader *r, IrInst *inst) {
  VEC(IrInst *) operands = {0};
  skip_spaces(r);
  if (*r->at != '%') return true;
  do {
    if (!expect_char(r, '%')) return false;
    Str name = take_word(r);
    IrInst *operand = map_find(&r->values, name);
    if (!operand) return fail(r, "not defined here:", name);
    vec_push(r->scratch, &operands, operand);
  } while (try_char(r, ','));
  inst->operands = operands.items;
  inst->operand_count = operands.count;
  return true;
}

static bool read_typed_name(Reader *r, Str *name, Type *type) {
  if (!expect_char(r, '%')) return false;
  *name = take_word(r);
  return (name->length || fail(r, "a value without a name", STR(""))) && expect_char(r, ':') && read_type(r, type);
}

static bool read_params(Reader *r, IrRegion *region) {
  if (!try_char(r, '(')) return true;
  do {
    Str name;
    Type type;
    if (!read_typed_name(r, &name, &type) || !define(r, name, region, ir_region_param(r->kernel, region, type))) return false;
  } while (try_char(r, ','));
  return expect_char(r, ')');
}

static bool read_inst(Reader *r, IrRegion *region, int depth);

static bool read_region(Reader *r, IrRegion *region, int depth) {
  if (depth > IR_MAX_NESTING) return fail(r, "regions nest too deeply", STR(""));
  if (!read_params(r, region) || !expect_char(r, '{')) return false;
  for (skip_lines(r); !try_char(r, '}'); skip_lines(r)) {
    if (!*r->at) return fail(r, "a region is not closed", STR(""));
    if (!read_inst(r, region, depth)) return false;
  }
  return true;
}

static bool read_regions(Reader *r, IrInst *inst, int depth) {
  if (!inst->regions[0]) return true;
  if (!read_region(r, inst->regions[0], depth + 1)) return false;
  return !inst->regions[1] || !try_word(r, "else") || read_region(r, inst->regions[1], depth + 1);
}

static bool read_inst(Reader *r, IrRegion *region, int depth) {
  Str name = {0};
  Type type = TYPE(NONE);
  int line = r->line;
  if (*r->at == '%' && !(read_typed_name(r, &name, &type) && expect_char(r, '='))) return false;
  Str op = take_word(r);
  IrOp known = (IrOp)((intptr_t)map_find(&r->ops, op) - 1);
  if ((int)known < 0) return fail(r, "unknown op", op);
  IrBuilder b = {.kernel = r->kernel, .region = region, .line = line};
  IrInst *inst = ir_emit(&b, known, type, 0, NULL);
  if (!read_attributes(r, inst) || !read_operands(r, inst)) return false;
  if (known == IR_RANGE) inst->axis_count = (int8_t)(inst->operand_count / 2);
  return read_regions(r, inst, depth) && (!name.length || define(r, name, region, inst)) && end_of_line(r);
}

static bool read_function(Reader *r, IrRegion *region) {
  map_init(&r->values, r->scratch);
  return read_region(r, region, 1) && end_of_line(r);
}

/* -- tasks ---------------------------------------------------------------------------------------------------------------- */

static bool read_task_value(Reader *r, IrTask *task, Str word) {
  int count;
  if (str_is(word, "axes")) return read_i32(r, &task->axis_count);
  if (str_is(word, "bounds")) return read_i32(r, &task->bounds);
  if (str_is(word, "index")) return read_type(r, &task->index);
  if (str_is(word, "manager")) return read_i32(r, &task->manager);
  if (str_is(word, "block")) return read_i32(r, &task->block);
  if (str_is(word, "cost")) return read_i32(r, &task->cost);
  if (str_is(word, "factors")) return read_axes(r, task->factors, &count);
  if (str_is(word, "cells")) {
    task->cells = true;
    return read_entry(r, 'l', r->kernel->levels.count, &task->cells_level);
  }
  return fail(r, "unknown attribute", word);
}

static bool read_task_flag(Reader *r, IrTask *task, Str word) {
  if (str_is(word, "may_deactivate")) return task->may_deactivate = true;
  if (str_is(word, "independent")) return task->independent = true;
  return fail(r, "unknown attribute", word);
}

static bool read_task_words(Reader *r, IrTask *task) {
  for (Str word = peek_word(r); word.length; word = peek_word(r)) {
    bool ok;
    if (*word.data == 'l' && isdigit((unsigned char)word.data[1]))
      ok = read_entry(r, 'l', r->kernel->levels.count, &task->level);
    else if (*word.data == 't' && isdigit((unsigned char)word.data[1]))
      ok = read_entry(r, 't', r->kernel->trees.count, &task->tree);
    else if (take_word(r), try_char(r, '=')) ok = read_task_value(r, task, word);
    else ok = read_task_flag(r, task, word);
    if (!ok) return false;
  }
  return true;
}

static bool read_reduction(Reader *r, IrTask *task) {
  IrReduction reduction = {.op = IR_UPDATE_COUNT};
  Str word = take_word(r);
  for (int op = 0; op < IR_UPDATE_COUNT; op++)
    if (str_is(word, ir_update_text((IrUpdate)op))) reduction.op = (IrUpdate)op;
  if (reduction.op == IR_UPDATE_COUNT) return fail(r, "unknown operator", word);
  bool ok = expect_word(r, "slot") && expect_char(r, '=') && read_i32(r, &reduction.slot) && expect_char(r, ':') &&
            read_type(r, &reduction.type);
  if (ok) vec_push(r->scratch, &task->reductions, reduction);
  return ok;
}

static bool read_inside(Reader *r, IrTask *task) {
  task->has_interior = true;
  for (int i = 0; i < task->axis_count && i < SNODE_MAX_AXES; i++) {
    if (!read_i64(r, &task->interior_begin[i]) || !expect_char(r, '.') || !expect_char(r, '.') ||
        !read_i64(r, &task->interior_end[i]))
      return false;
  }
  return true;
}

static bool read_task_row(Reader *r, IrTask *task) {
  if (try_word(r, "reduction")) return read_reduction(r, task);
  if (try_word(r, "inside")) return read_inside(r, task);
  if (try_word(r, "body")) return read_function(r, task->body);
  if (try_word(r, "interior")) return read_function(r, task->interior = ir_region_create(r->kernel, NULL));
  return fail(r, "unexpected", peek_word(r));
}

static bool read_task(Reader *r) {
  IrTask *task = scratch_new(r->scratch, IrTask);
  task->index = TYPE(NONE);
  task->body = ir_region_create(r->kernel, NULL);
  int32_t number;
  if (!read_i32(r, &number) || !expect_char(r, '=')) return false;
  Str kind = take_word(r);
  if (str_is(kind, "range")) task->kind = TASK_RANGE;
  else if (str_is(kind, "leaves")) task->kind = TASK_LEAVES;
  else if (str_is(kind, "nodes")) task->kind = TASK_NODES;
  else return fail(r, "unknown kind of task", kind);
  if (!read_task_words(r, task) || !expect_char(r, '{')) return false;
  for (skip_lines(r); !try_char(r, '}'); skip_lines(r))
    if (!read_task_row(r, task)) return false;
  vec_push(r->scratch, &r->kernel->tasks, task);
  return true;
}

/* -- the whole --------------------------------------------------------------------------------------------------------------- */

static bool read_kernel_line(Reader *r) {
  if (!expect_word(r, "kernel") || !read_name(r, &r->kernel->name)) return false;
  r->kernel->fast_math = try_word(r, "fast_math");
  r->kernel->unchecked = try_word(r, "unchecked");
  return end_of_line(r);
}

static bool read_row(Reader *r) {
  if (try_word(r, "tree")) return read_tree(r);
  if (try_word(r, "field")) return read_field(r);
  if (try_word(r, "level")) return read_level(r);
  if (try_word(r, "arg")) return read_arg(r);
  if (try_word(r, "result")) return read_type(r, &r->kernel->result);
  if (try_word(r, "frame")) return read_i32(r, &r->kernel->frame_slots);
  if (try_word(r, "host")) return read_function(r, r->kernel->body);
  if (try_word(r, "task")) return read_task(r);
  return fail(r, "unexpected", peek_word(r));
}

static bool read_all(Reader *r) {
  skip_lines(r);
  if (!read_kernel_line(r)) return false;
  for (skip_lines(r); *r->at; skip_lines(r))
    if (!read_row(r) || !end_of_line(r)) return false;
  return true;
}

static void index_ops(Reader *r) {
  map_init(&r->ops, r->scratch);
  for (int op = 0; op < IR_OP_COUNT; op++)
    if (op != IR_PARAM) map_put(&r->ops, str_of(ir_op_info[op].text), (void *)(intptr_t)(op + 1));
}

IrKernel *ir_read(Scratch *scratch, Heap *heap, const char *text, Error *err) {
  Reader r = {.scratch = scratch, .heap = heap, .kernel = ir_kernel_create(scratch, ""), .at = text, .line = 1, .err = err};
  index_ops(&r);
  if (read_all(&r) && ir_verify(r.kernel, err)) return r.kernel;
  for (int i = 0; i < r.kernel->trees.count; i++)
    if (r.kernel->trees.items[i].tree) snode_tree_destroy((SNodeTree *)r.kernel->trees.items[i].tree);
  return NULL;
}
