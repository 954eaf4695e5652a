/* read.c - parses the text form of IR, as ir_print prints it and people write it in tests.
 * Values may have any name (`%i`); `#` starts a comment. The grammar is that of print.c: one inst
 * per line, attributes as words before the operands. A value must be defined above its use.
 * The first failure stops reading: every later step returns false. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>

#include "ir/access.h"
#include "ir/attribute.h"
#include "ir/reader.h"
#include "ir/task.h"

/* -- tables ------------------------------------------------------------------------------------ */

static bool read_tree(IrReader *r) {
  int32_t number;
  if (!ir_read_entry(r, 't', r->kernel->trees.count + 1, &number)) return false;
  IrTree tree = {0};
  if (ir_read_try_char(r, '=')) {
    ir_read_skip_spaces(r);
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

/* `t0.node 2`; node NULL if there is no such tree. */
static bool read_node(IrReader *r, int32_t *tree, const SNode **node) {
  int32_t id;
  if (!ir_read_entry(r, 't', r->kernel->trees.count, tree) || !ir_read_expect_word(r, ".node") ||
      !ir_read_i32(r, &id))
    return false;
  const SNodeTree *of = r->kernel->trees.items[*tree].tree;
  if (!of) return *node = NULL, true;
  if (id < 0 || id >= of->node_count)
    return error_set(r->err, RG_ERROR_IR, "line %d: tree t%d has no node %d", r->line, *tree, id);
  *node = of->nodes[id];
  return true;
}

/* The optional ` at arg 3` of a field. */
static bool read_place(IrReader *r, int32_t *place) {
  if (!ir_read_try_word(r, "at")) return true;
  if (!ir_read_expect_word(r, "arg") || !ir_read_i32(r, place)) return false;
  *place = *place >= 0 && *place < INT32_MAX ? *place + 1 : -1; /* which verify refuses */
  return true;
}

static bool read_word_number(IrReader *r, const char *word, int32_t *number) {
  return ir_read_expect_word(r, word) && ir_read_expect_char(r, '=') && ir_read_i32(r, number);
}

/* `array a0 = axes=2 address=0 extents=1 size=4` */
static bool read_array(IrReader *r) {
  IrArray array = {.strides = -1, .tree = -1};
  int32_t number;
  bool ok = ir_read_entry(r, 'a', r->kernel->arrays.count + 1, &number) &&
            ir_read_expect_char(r, '=') && read_word_number(r, "axes", &array.axis_count) &&
            read_word_number(r, "address", &array.address) &&
            read_word_number(r, "extents", &array.extents);
  array.is_pitched = ok && ir_read_try_word(r, "pitch");
  if (array.is_pitched || (ok && ir_read_try_word(r, "strides")))
    ok = ir_read_expect_char(r, '=') && ir_read_i32(r, &array.strides);
  if (!ok || !read_word_number(r, "size", &array.size)) return false;
  array.is_wide = ir_read_try_word(r, "wide");
  array.is_shared = ir_read_try_word(r, "shared");
  array.is_empty = ir_read_try_word(r, "empty");
  array.is_counted = ir_read_try_word(r, "counted");
  if (ir_read_try_word(r, "in") && !ir_read_entry(r, 't', r->kernel->trees.count, &array.tree))
    return false;
  if (!ir_read_name(r, &array.name)) return false;
  vec_push(r->scratch, &r->kernel->arrays, array);
  return true;
}

/* `t0.node 2.component 1`, or `a0.offset 4` */
static bool read_home(IrReader *r, IrField *field) {
  Str word = ir_read_peek_word(r);
  field->array = -1;
  if (!word.length || word.data[0] != 'a')
    return read_node(r, &field->tree, &field->node) && ir_read_expect_word(r, ".component") &&
           ir_read_i32(r, &field->component);
  field->tree = -1;
  return ir_read_entry(r, 'a', r->kernel->arrays.count, &field->array) &&
         ir_read_expect_word(r, ".offset") && ir_read_i32(r, &field->component);
}

static bool read_field(IrReader *r) {
  IrField field = {0};
  int32_t number;
  bool ok = ir_read_entry(r, 'f', r->kernel->fields.count + 1, &number) &&
            ir_read_expect_char(r, '=') && read_home(r, &field) && read_place(r, &field.place) &&
            ir_read_expect_char(r, ':') && ir_read_type(r, &field.type) &&
            ir_read_name(r, &field.name);
  if (!ok) return false;
  const SNode *node = field.node;
  if (node && (field.component < 0 || field.component >= node->component_count ||
               node->components[field.component].child ||
               !type_equal(node->components[field.component].type, field.type)))
    return error_set(r->err, RG_ERROR_IR,
                     "line %d: component %d of node %d is not a field of type %s", r->line,
                     field.component, node->id, ir_type_text(field.type));
  vec_push(r->scratch, &r->kernel->fields, field);
  return true;
}

static bool read_level(IrReader *r) {
  IrLevel level = {0};
  int32_t number;
  bool ok = ir_read_entry(r, 'l', r->kernel->levels.count + 1, &number) &&
            ir_read_expect_char(r, '=') && read_node(r, &level.tree, &level.node) &&
            ir_read_name(r, &level.name);
  if (ok) vec_push(r->scratch, &r->kernel->levels, level);
  return ok;
}

static bool read_number(IrReader *r, Type type, int64_t *imm) {
  ir_read_skip_spaces(r);
  const char *start = r->at;
  while (*r->at && !isspace((unsigned char)*r->at)) r->at++;
  Str word = {start, (int)(r->at - start)};
  char *end = NULL;
  errno = 0;
  if (type_is_float(type)) {
    if (word.length > 4 && !strncmp(start, "nan:", 4))
      *imm = (int64_t)strtoull(start + 4, &end, 16);
    else *imm = ir_float_bits(str_to_double(start, &end));
    if (str_is(word, "nan")) *imm = 0x7ff8000000000000;
    errno = 0; /* str_to_double also sets it for denormals */
  } else if (type_is_bool(type)) {
    *imm = str_is(word, "true");
    if (*imm || str_is(word, "false")) return true;
  } else if (type_is_unsigned(type) && *start != '-') {
    *imm = (int64_t)strtoull(start, &end, 10);
  } else {
    *imm = strtoll(start, &end, 10);
  }
  bool is_integer = type_is_integer(type);
  bool ok = word.length && end == r->at && !errno && (is_integer || type_is_float(type)) &&
            (!is_integer || ir_wrap_int(type, *imm) == *imm);
  return ok || ir_read_fail(r, "not a constant of its type:", word);
}

/* `table 0: i32 3 = 1 2 4` */
static bool read_table(IrReader *r) {
  IrTable table = {0};
  int32_t number;
  bool ok = ir_read_i32(r, &number) && ir_read_expect_char(r, ':') &&
            ir_read_type(r, &table.type) && ir_read_i32(r, &table.count) &&
            ir_read_expect_char(r, '=');
  if (!ok) return false;
  VEC(int64_t) values = {0};
  for (int k = 0; k < table.count; k++) {
    int64_t value;
    if (!read_number(r, table.type, &value)) return false;
    vec_push(r->scratch, &values, value);
  }
  table.values = values.items;
  vec_push(r->scratch, &r->kernel->tables, table);
  return true;
}

static bool read_arg(IrReader *r) {
  IrArg arg = {0};
  int32_t number;
  bool ok = ir_read_i32(r, &number) && ir_read_expect_char(r, ':') && ir_read_type(r, &arg.type) &&
            ir_read_name(r, &arg.name);
  if (ok && ir_read_try_char(r, '@'))
    ok = ir_read_i32(r, &arg.line) && ir_read_expect_char(r, ':') && ir_read_i32(r, &arg.column);
  if (!ok) return false;
  vec_push(r->scratch, &r->kernel->args, arg);
  return true;
}

/* -- attributes -------------------------------------------------------------------------------- */

static bool read_axes(IrReader *r, int32_t axes[SNODE_MAX_AXES], int *count) {
  if (!ir_read_expect_char(r, '(')) return false;
  int k = 0;
  do {
    if (k == SNODE_MAX_AXES) return ir_read_fail(r, "too many axes", STR(""));
    if (!ir_read_i32(r, &axes[k++])) return false;
  } while (ir_read_try_char(r, ','));
  *count = k;
  return ir_read_expect_char(r, ')');
}

static bool read_shape(IrReader *r, IrInst *inst) {
  Str word = ir_read_take_word(r);
  for (int k = IR_SHAPE_NONE + 1; k < IR_SHAPE_COUNT; k++)
    if (str_is(word, ir_shape_text((IrShape)k))) return inst->shape = (IrShape)k, true;
  return ir_read_fail(r, "no such shape of an access:", word);
}

static bool read_valued_attribute(IrReader *r, IrInst *inst, Str word) {
  int count = 0;
  if (str_is(word, "offset") || str_is(word, "extent")) {
    int32_t *axes = *word.data == 'o' ? inst->offset : inst->extent;
    if (!axes) return ir_read_fail(r, "the op has no", word);
    if (!read_axes(r, axes, &count)) return false;
    inst->axis_count = (int8_t)count;
    return true;
  }
  if (str_is(word, "imm") || str_is(word, "manager") || str_is(word, "mask"))
    return ir_read_i64(r, &inst->imm);
#define READ_NUMBER(member, text) \
  if (str_is(word, text)) return ir_read_i32(r, &inst->member);
#define READ_FLAG(member, text)
#define READ_SHAPE(member, text) \
  if (str_is(word, text)) return read_shape(r, inst);
#define READ_KNOWN READ_FLAG
#define ATTRIBUTE(member, text, kind, ops) READ_##kind(member, text)
#include "ir/attribute.def"
#undef ATTRIBUTE
#undef READ_NUMBER
#undef READ_KNOWN
#undef READ_FLAG
#undef READ_SHAPE
  return ir_read_fail(r, "unknown attribute", word);
}

static bool read_table_word(IrReader *r, IrInst *inst, Str word) {
  const IrKernel *kernel = r->kernel;
  r->at = word.data;
  switch (*word.data) {
  case 'f': return ir_read_entry(r, 'f', kernel->fields.count, &inst->field);
  case 'l': return ir_read_entry(r, 'l', kernel->levels.count, &inst->level);
  default: break;
  }
  int32_t tree;
  if (!ir_read_entry(r, 't', kernel->trees.count, &tree)) return false;
  if (ir_imm_kind(inst) == IMM_TREE) inst->imm = tree;
  else inst->tree = tree;
  return true;
}

static bool read_word_attribute(IrReader *r, IrInst *inst, Str word) {
#define READ_FLAG(member, text) \
  if (str_is(word, text)) return inst->member = true;
#define READ_NUMBER(member, text)
#define READ_SHAPE(member, text)
#define READ_KNOWN READ_FLAG
#define ATTRIBUTE(member, text, kind, ops) READ_##kind(member, text)
#include "ir/attribute.def"
#undef ATTRIBUTE
#undef READ_NUMBER
#undef READ_KNOWN
#undef READ_FLAG
#undef READ_SHAPE
  if (ir_imm_kind(inst) == IMM_UPDATE) {
    for (int op = 0; op < IR_UPDATE_COUNT; op++)
      if (str_is(word, ir_update_text((IrUpdate)op))) return inst->imm = op, true;
  }
  if (word.length > 1 && strchr("flt", *word.data) && isdigit((unsigned char)word.data[1]))
    return read_table_word(r, inst, word);
  return ir_read_fail(r, "unknown attribute", word);
}

static bool read_entry(IrReader *r, IrInst *inst) {
  Str name = ir_read_take_word(r);
  inst->entry = (int32_t)ir_entry_find(name);
  return inst->entry < RT_ENTRY_COUNT || ir_read_fail(r, "no such entry of the runtime:", name);
}

static bool read_attributes(IrReader *r, IrInst *inst) {
  if (inst->op == IR_CONST) return read_number(r, inst->type, &inst->imm);
  if (ir_has_entry(inst->op) && !read_entry(r, inst)) return false;
  for (;;) {
    Str word = ir_read_peek_word(r);
    char c = *r->at;
    if (c == '+' || c == '-' || isdigit((unsigned char)c)) {
      if (!ir_read_i64(r, &inst->imm)) return false;
      continue;
    }
    if (!word.length) return true;
    r->at += word.length;
    bool ok = ir_read_try_char(r, '=') ? read_valued_attribute(r, inst, word)
                                       : read_word_attribute(r, inst, word);
    if (!ok) return false;
  }
}

/* -- insts and regions ------------------------------------------------------------------------- */

/* A name may be reused after the end of its region. */
static bool define(IrReader *r, Str name, const IrRegion *region, IrInst *inst) {
  const IrInst *known = map_find(&r->values, name);
  if (known && ir_is_inside(&(IrInst){.region = (IrRegion *)region}, known->region))
    return ir_read_fail(r, "defined twice:", name);
  map_put(&r->values, name, inst);
  return true;
}

static bool read_operands(IrReader *r, IrInst *inst) {
  VEC(IrInst *) operands = {0};
  ir_read_skip_spaces(r);
  if (*r->at != '%') return true;
  do {
    if (!ir_read_expect_char(r, '%')) return false;
    Str name = ir_read_take_word(r);
    IrInst *operand = map_find(&r->values, name);
    if (!operand) return ir_read_fail(r, "not defined here:", name);
    vec_push(r->scratch, &operands, operand);
  } while (ir_read_try_char(r, ','));
  ir_set_operands(r->kernel, inst, operands.count, operands.items);
  return true;
}

static bool read_typed_name(IrReader *r, Str *name, Type *type) {
  if (!ir_read_expect_char(r, '%')) return false;
  *name = ir_read_take_word(r);
  return (name->length || ir_read_fail(r, "a value without a name", STR(""))) &&
         ir_read_expect_char(r, ':') && ir_read_type(r, type);
}

static bool read_params(IrReader *r, IrRegion *region) {
  if (!ir_read_try_char(r, '(')) return true;
  do {
    Str name;
    Type type;
    if (!read_typed_name(r, &name, &type)) return false;
    if (!define(r, name, region, ir_region_param(r->kernel, region, type))) return false;
  } while (ir_read_try_char(r, ','));
  return ir_read_expect_char(r, ')');
}

static bool read_inst(IrReader *r, IrRegion *region, int depth);

static bool read_region(IrReader *r, IrRegion *region, int depth) {
  if (depth > IR_MAX_NESTING) return ir_read_fail(r, "regions nest too deeply", STR(""));
  if (!read_params(r, region) || !ir_read_expect_char(r, '{')) return false;
  for (ir_read_skip_lines(r); !ir_read_try_char(r, '}'); ir_read_skip_lines(r)) {
    if (!*r->at) return ir_read_fail(r, "a region is not closed", STR(""));
    if (!read_inst(r, region, depth)) return false;
  }
  return true;
}

static bool read_regions(IrReader *r, IrInst *inst, int depth) {
  if (!inst->regions[0]) return true;
  if (!read_region(r, inst->regions[0], depth + 1)) return false;
  return !inst->regions[1] || !ir_read_try_word(r, "else") ||
         read_region(r, inst->regions[1], depth + 1);
}

static bool read_inst(IrReader *r, IrRegion *region, int depth) {
  Str name = {0};
  Type type = TYPE(NONE);
  int line = r->line;
  if (*r->at == '%' && !(read_typed_name(r, &name, &type) && ir_read_expect_char(r, '=')))
    return false;
  Str op = ir_read_take_word(r);
  IrOp known = (IrOp)((intptr_t)map_find(&r->ops, op) - 1);
  if ((int)known < 0) return ir_read_fail(r, "unknown op", op);
  IrBuilder b = {.kernel = r->kernel, .region = region, .line = line};
  IrInst *inst = ir_emit(&b, known, type, 0, NULL);
  if (!read_attributes(r, inst) || !read_operands(r, inst)) return false;
  if (inst->per_lane && known == IR_FOR) inst->regions[1] = ir_region_create(r->kernel, inst);
  if (known == IR_RANGE) inst->axis_count = (int8_t)(inst->operand_count / 2);
  return read_regions(r, inst, depth) && (!name.length || define(r, name, region, inst)) &&
         ir_read_end_of_line(r);
}

static bool read_function(IrReader *r, IrRegion *region) {
  map_init(&r->values, r->scratch);
  return read_region(r, region, 1) && ir_read_end_of_line(r);
}

/* -- tasks ------------------------------------------------------------------------------------- */

static bool read_task_value(IrReader *r, IrTask *task, Str word) {
  int count;
  if (str_is(word, "axes")) return ir_read_i32(r, &task->axis_count);
  if (str_is(word, "bounds")) return ir_read_i32(r, &task->bounds);
  if (str_is(word, "index")) return ir_read_type(r, &task->index);
  if (str_is(word, "manager")) return ir_read_i32(r, &task->manager);
  if (str_is(word, "block")) return ir_read_i32(r, &task->block);
  if (str_is(word, "cost")) return ir_read_i32(r, &task->cost);
  if (str_is(word, "lanes")) return ir_read_i32(r, &task->lanes);
  if (str_is(word, "full_vectors")) return ir_read_i32(r, &task->full_vectors);
  if (str_is(word, "traffic")) return ir_read_i32(r, &task->traffic);
  if (str_is(word, "spread")) return ir_read_i32(r, &task->spread);
  if (str_is(word, "privatised")) return ir_read_i32(r, &task->privatised);
  if (str_is(word, "factors")) return read_axes(r, task->factors, &count);
  if (str_is(word, "saves_masks")) return task->saves_masks = true;
  if (str_is(word, "cells")) {
    task->cells = true;
    return ir_read_entry(r, 'l', r->kernel->levels.count, &task->cells_level);
  }
  return ir_read_fail(r, "unknown attribute", word);
}

static bool read_task_flag(IrReader *r, IrTask *task, Str word) {
  if (str_is(word, "may_deactivate")) return task->may_deactivate = true;
  if (str_is(word, "independent")) return task->independent = true;
  if (str_is(word, "scalar")) return task->scalar = true;
  if (str_is(word, "scalar_border")) return task->scalar_border = true;
  if (str_is(word, "extra_threads")) return task->extra_threads = true;
  return ir_read_fail(r, "unknown attribute", word);
}

static bool read_task_words(IrReader *r, IrTask *task) {
  for (Str word = ir_read_peek_word(r); word.length; word = ir_read_peek_word(r)) {
    bool ok;
    if (*word.data == 'l' && isdigit((unsigned char)word.data[1]))
      ok = ir_read_entry(r, 'l', r->kernel->levels.count, &task->level);
    else if (*word.data == 't' && isdigit((unsigned char)word.data[1]))
      ok = ir_read_entry(r, 't', r->kernel->trees.count, &task->tree);
    else if (ir_read_take_word(r), ir_read_try_char(r, '=')) ok = read_task_value(r, task, word);
    else ok = read_task_flag(r, task, word);
    if (!ok) return false;
  }
  return true;
}

static bool read_reduction(IrReader *r, IrTask *task) {
  IrReduction reduction = {.op = IR_UPDATE_COUNT};
  Str word = ir_read_take_word(r);
  for (int op = 0; op < IR_UPDATE_COUNT; op++)
    if (str_is(word, ir_update_text((IrUpdate)op))) reduction.op = (IrUpdate)op;
  if (reduction.op == IR_UPDATE_COUNT) return ir_read_fail(r, "unknown operator", word);
  bool ok = ir_read_expect_word(r, "slot") && ir_read_expect_char(r, '=') &&
            ir_read_i32(r, &reduction.slot) && ir_read_expect_char(r, ':') &&
            ir_read_type(r, &reduction.type);
  if (ok) vec_push(r->scratch, &task->reductions, reduction);
  return ok;
}

static bool read_interior_box(IrReader *r, IrTask *task) {
  task->has_interior = true;
  for (int i = 0; i < task->axis_count && i < SNODE_MAX_AXES; i++) {
    if (!ir_read_i64(r, &task->interior_begin[i]) || !ir_read_expect_char(r, '.') ||
        !ir_read_expect_char(r, '.') || !ir_read_i64(r, &task->interior_end[i]))
      return false;
  }
  return true;
}

static bool read_private(IrReader *r, IrTask *task) {
  for (Str word = ir_read_peek_word(r); word.length > 1 && *word.data == 'f';
       word = ir_read_peek_word(r)) {
    int32_t field;
    if (!ir_read_entry(r, 'f', r->kernel->fields.count, &field)) return false;
    vec_push(r->scratch, &task->private_fields, field);
  }
  return true;
}

static bool read_block_sum(IrReader *r, IrTask *task) {
  IrBlockSum sum = {0};
  if (!ir_read_entry(r, 't', r->kernel->trees.count, &sum.tree) ||
      !read_word_number(r, "offset", &sum.offset) || !read_word_number(r, "stride", &sum.stride) ||
      !read_word_number(r, "count", &sum.count) || !ir_read_expect_char(r, ':') ||
      !ir_read_type(r, &sum.type))
    return false;
  vec_push(r->scratch, &task->block_sums, sum);
  return true;
}

static bool read_constant_bound(IrReader *r, IrTask *task) {
  IrConstantBound bound = {0};
  if (!read_word_number(r, "slot", &bound.slot) || !ir_read_i64(r, &bound.value)) return false;
  vec_push(r->scratch, &task->constants, bound);
  return true;
}

static bool read_limit(IrReader *r, IrTask *task, bool begins) {
  IrLimit limit = {.begins = begins};
  if (!read_word_number(r, "axis", &limit.axis) || !read_word_number(r, "slot", &limit.slot) ||
      !read_word_number(r, "less", &limit.less) || !ir_read_expect_char(r, ':') ||
      !ir_read_type(r, &limit.type))
    return false;
  vec_push(r->scratch, &task->limits, limit);
  return true;
}

/* After the task's own lines: `counts lanes=8`, `counts body (..) {`, `counts interior (..) {`. */
static bool read_counts(IrReader *r, IrTask *task) {
  if (!task->counts) {
    task->counts = scratch_new(r->scratch, IrTask);
    *task->counts = *task;
    task->counts->body = ir_region_create(r->kernel, NULL);
    task->counts->counts = NULL;
    task->counts->interior = NULL;
    task->counts->scalar_border = false;
    if (!read_word_number(r, "lanes", &task->counts->lanes)) return false;
    if (str_is(ir_read_peek_word(r), "full_vectors") &&
        !read_word_number(r, "full_vectors", &task->counts->full_vectors))
      return false;
    task->idle = ir_read_try_word(r, "idle");
    return true;
  }
  if (ir_read_try_word(r, "body")) return read_function(r, task->counts->body);
  return ir_read_expect_word(r, "interior") &&
         read_function(r, task->counts->interior = ir_region_create(r->kernel, NULL));
}

static bool read_task_row(IrReader *r, IrTask *task) {
  if (ir_read_try_word(r, "counts")) return read_counts(r, task);
  if (ir_read_try_word(r, "stages")) return read_word_number(r, "bytes", &task->staged);
  if (ir_read_try_word(r, "claim"))
    return read_function(r, task->claim = ir_region_create(r->kernel, NULL));

  if (ir_read_try_word(r, "private")) return read_private(r, task);
  if (ir_read_try_word(r, "sums")) return read_block_sum(r, task);
  if (ir_read_try_word(r, "reduction")) return read_reduction(r, task);
  if (ir_read_try_word(r, "interior_box")) return read_interior_box(r, task);
  if (ir_read_try_word(r, "bound")) return read_constant_bound(r, task);
  if (ir_read_try_word(r, "until")) return read_limit(r, task, false);
  if (ir_read_try_word(r, "from")) return read_limit(r, task, true);
  if (ir_read_try_word(r, "body")) return read_function(r, task->body);
  if (ir_read_try_word(r, "interior"))
    return read_function(r, task->interior = ir_region_create(r->kernel, NULL));
  return ir_read_fail(r, "unexpected", ir_read_peek_word(r));
}

static bool read_task(IrReader *r) {
  IrTask *task = scratch_new(r->scratch, IrTask);
  task->index = TYPE(NONE);
  task->body = ir_region_create(r->kernel, NULL);
  int32_t number;
  if (!ir_read_i32(r, &number) || !ir_read_expect_char(r, '=')) return false;
  Str kind = ir_read_take_word(r);
  if (str_is(kind, "range")) task->kind = TASK_RANGE;
  else if (str_is(kind, "leaves")) task->kind = TASK_LEAVES;
  else if (str_is(kind, "nodes")) task->kind = TASK_NODES;
  else if (str_is(kind, "serial")) task->kind = TASK_SERIAL;
  else return ir_read_fail(r, "unknown kind of task", kind);
  if (!read_task_words(r, task) || !ir_read_expect_char(r, '{')) return false;
  for (ir_read_skip_lines(r); !ir_read_try_char(r, '}'); ir_read_skip_lines(r))
    if (!read_task_row(r, task)) return false;
  vec_push(r->scratch, &r->kernel->tasks, task);
  return true;
}

/* -- kernels ----------------------------------------------------------------------------------- */

static bool read_kernel_line(IrReader *r) {
  if (!ir_read_expect_word(r, "kernel") || !ir_read_name(r, &r->kernel->name)) return false;
  r->kernel->fast_math = ir_read_try_word(r, "fast_math");
  r->kernel->unchecked = ir_read_try_word(r, "unchecked");
  r->kernel->is_bounded = ir_read_try_word(r, "bounded");
  return ir_read_end_of_line(r);
}

/* `result f32`, or `result f32 3 1` for a vector of 3; one line per result. */
static bool read_result(IrReader *r) {
  int32_t rows, cols;
  Type type;
  if (!ir_read_type(r, &type)) return false;
  Str word = ir_read_peek_word(r);
  if (word.length && word.data[0] >= '0' && word.data[0] <= '9') {
    if (!ir_read_i32(r, &rows) || !ir_read_i32(r, &cols)) return false;
    if (!type_make(type, rows, cols, &type)) return ir_read_fail(r, "no such vector:", word);
  }
  vec_push(r->scratch, &r->kernel->results, type);
  return true;
}

/* `function 0 fib = i32, f32 fault 2 (%n: i32) { .. }` */
static bool read_called(IrReader *r) {
  IrFunction *function = scratch_new(r->scratch, IrFunction);
  int32_t number;
  function->body = ir_region_create(r->kernel, NULL);
  if (!ir_read_i32(r, &number) || !ir_read_name(r, &function->name)) return false;
  if (number != r->kernel->functions.count)
    return ir_read_fail(r, "functions are numbered in their order", STR(""));
  if (ir_read_try_char(r, '=')) do {
      Type type;
      if (!ir_read_type(r, &type)) return false;
      vec_push(r->scratch, &function->results, type);
    } while (ir_read_try_char(r, ','));
  if (ir_read_try_word(r, "fault") && !ir_read_i32(r, &function->fault)) return false;
  vec_push(r->scratch, &r->kernel->functions, function);
  return read_function(r, function->body);
}

static bool read_row(IrReader *r) {
  if (ir_read_try_word(r, "tree")) return read_tree(r);
  if (ir_read_try_word(r, "array")) return read_array(r);
  if (ir_read_try_word(r, "field")) return read_field(r);
  if (ir_read_try_word(r, "level")) return read_level(r);
  if (ir_read_try_word(r, "arg")) return read_arg(r);
  if (ir_read_try_word(r, "table")) return read_table(r);
  if (ir_read_try_word(r, "result")) return read_result(r);
  if (ir_read_try_word(r, "frame")) return ir_read_i32(r, &r->kernel->frame_slots);
  if (ir_read_try_word(r, "host")) return read_function(r, r->kernel->body);
  if (ir_read_try_word(r, "task")) return read_task(r);
  if (ir_read_try_word(r, "function")) return read_called(r);
  return ir_read_fail(r, "unexpected", ir_read_peek_word(r));
}

static bool read_all(IrReader *r) {
  ir_read_skip_lines(r);
  if (!read_kernel_line(r)) return false;
  for (ir_read_skip_lines(r); *r->at; ir_read_skip_lines(r))
    if (!read_row(r) || !ir_read_end_of_line(r)) return false;
  return true;
}

static void index_ops(IrReader *r) {
  map_init(&r->ops, r->scratch);
  for (int op = 0; op < IR_OP_COUNT; op++)
    if (op != IR_PARAM) map_put(&r->ops, str_of(ir_op_info[op].text), (void *)(intptr_t)(op + 1));
}

IrKernel *ir_read(Scratch *scratch, Heap *heap, const char *text, Error *err) {
  IrReader r = {.scratch = scratch,
                .heap = heap,
                .kernel = ir_kernel_create(scratch, ""),
                .at = text,
                .line = 1,
                .err = err};
  index_ops(&r);
  if (read_all(&r) && ir_verify(r.kernel, err)) return r.kernel;
  for (int i = 0; i < r.kernel->trees.count; i++)
    if (r.kernel->trees.items[i].tree)
      snode_tree_release((SNodeTree *)r.kernel->trees.items[i].tree);
  return NULL;
}
