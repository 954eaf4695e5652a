/* print.c - prints IR as text, for golden tests and dumps; ir_read parses it.
 *
 *   kernel step
 *   tree t0 = root{ pointer "i" 32 block { dense "i" 8 { f32 t } } }
 *   field f0 = t0.node 2.component 0: f32 t
 *   level l0 = t0.node 2 t
 *   arg 0: f32 rate
 *   table 0: i32 3 = 1 2 4
 *   host {
 *     active l0 (%0: i32) {
 *       %1: place = place f0 %0
 *       %2: f32 = load %1
 *     }
 *   }
 *   function 0 fib = i32 (%0: i32) {
 *     return %0
 *   }
 *
 * An inst is a line: result, op, attributes as words, operands, then its regions in braces,
 * preceded by their parameters. Values are renumbered in order of appearance, starting again in the
 * host region and in each region of a task, so equal kernels print equal texts. Source lines and
 * notes are not printed. */
#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "ir/access.h"
#include "ir/attribute.h"
#include "ir/task.h"

typedef struct Printer {
  StrBuf *out;
  const IrKernel *kernel;
  int *numbers; /* by inst id: the printed number + 1; 0: not numbered yet */
  int next;
  int indent;
} Printer;

/* -- details ----------------------------------------------------------------------------------- */

static bool is_plain_name(const char *name) {
  for (const char *c = name; *c; c++)
    if (!isalnum((unsigned char)*c) && *c != '_' && *c != '.') return false;
  return *name != 0;
}

/* Names come from users: any other than a plain word is quoted, with bytes outside ASCII as
 * \xNN. */
static void print_name(StrBuf *out, const char *name) {
  if (is_plain_name(name)) {
    strbuf_text(out, name);
    return;
  }
  strbuf_char(out, '"');
  for (const unsigned char *c = (const unsigned char *)name; *c; c++) {
    if (*c == '"' || *c == '\\') strbuf_format(out, "\\%c", *c);
    else if (*c < ' ' || *c > '~') strbuf_format(out, "\\x%02x", *c);
    else strbuf_char(out, (char)*c);
  }
  strbuf_char(out, '"');
}

static void print_optional_name(StrBuf *out, const char *name) {
  if (!name || !*name) return;
  strbuf_char(out, ' ');
  print_name(out, name);
}

/* Prints the shortest decimal that reads back as the same double; a float always has a point, an
 * exponent or a word, so that it differs from an integer. */
static void print_float(StrBuf *out, int64_t bits) {
  double value;
  memcpy(&value, &bits, sizeof value);
  if (isnan(value)) {
    if (bits == 0x7ff8000000000000) strbuf_text(out, "nan");
    else strbuf_format(out, "nan:%016" PRIx64, (uint64_t)bits);
    return;
  }
  char text[40];
  int digits = 6;
  for (; digits < 17; digits++) {
    snprintf(text, sizeof text, "%.*g", digits, value);
    if (strtod(text, NULL) == value) break;
  }
  int start = out->length;
  strbuf_float(out, 'g', digits, value);
  const char *shown = out->data + start;
  if (isfinite(value) && !strpbrk(shown, ".e")) strbuf_text(out, ".0");
}

static void print_number(StrBuf *out, Type type, int64_t imm) {
  if (type_is_float(type)) print_float(out, imm);
  else if (type_is_bool(type)) strbuf_text(out, imm ? "true" : "false");
  else if (type_is_unsigned(type)) strbuf_format(out, "%" PRIu64, (uint64_t)imm);
  else strbuf_format(out, "%" PRId64, imm);
}

static void print_axes(StrBuf *out, const char *word, const int32_t *axes, int count) {
  if (!count) return;
  strbuf_format(out, " %s=(", word);
  for (int i = 0; i < count; i++) strbuf_format(out, i ? ",%d" : "%d", axes[i]);
  strbuf_char(out, ')');
}

static void new_line(Printer *p) {
  if (p->out->length) strbuf_char(p->out, '\n');
  for (int i = 0; i < p->indent; i++) strbuf_text(p->out, "  ");
}

/* -- insts and regions ------------------------------------------------------------------------- */

static int number_of(Printer *p, const IrInst *inst) {
  if (!p->numbers[inst->id]) p->numbers[inst->id] = ++p->next;
  return p->numbers[inst->id] - 1;
}

static void print_imm(StrBuf *out, const IrInst *inst) {
  switch (ir_imm_kind(inst)) {
  case IMM_CONST: strbuf_char(out, ' '), print_number(out, inst->type, inst->imm); break;
  case IMM_NUMBER: strbuf_format(out, " %" PRId64, inst->imm); break;
  case IMM_UPDATE: strbuf_format(out, " %s", ir_update_text((IrUpdate)inst->imm)); break;
  case IMM_TREE: strbuf_format(out, " t%" PRId64, inst->imm); break;
  case IMM_MANAGER: strbuf_format(out, " manager=%" PRId64, inst->imm); break;
  case IMM_MASK: strbuf_format(out, " mask=%" PRId64, inst->imm); break;
  case IMM_BYTES:
    if (inst->imm) strbuf_format(out, " %+" PRId64, inst->imm);
    break;
  case IMM_OTHER:
    if (inst->imm) strbuf_format(out, " imm=%" PRId64, inst->imm);
    break;
  }
}

#define SHOW_NUMBER(member, word) \
  if (inst->member) strbuf_format(out, " " word "=%d", inst->member);
#define SHOW_SHAPE(member, word) \
  if (inst->member) strbuf_format(out, " " word "=%s", ir_shape_text(inst->member));
#define SHOW_FLAG(member, word) \
  if (inst->member) strbuf_text(out, " " word);
#define SHOW_KNOWN SHOW_FLAG

static void print_attributes(StrBuf *out, const IrInst *inst) {
  if (ir_has_entry(inst->op)) strbuf_format(out, " %s", ir_inst_text(inst));
  if (ir_has_field(inst->op) || inst->field) strbuf_format(out, " f%d", inst->field);
  if (ir_has_level(inst->op) || inst->level) strbuf_format(out, " l%d", inst->level);
  if (ir_has_tree(inst) || inst->tree) strbuf_format(out, " t%d", inst->tree);
  print_imm(out, inst);
#define ATTRIBUTE(member, word, kind, ops) SHOW_##kind(member, word)
#include "ir/attribute.def"
#undef ATTRIBUTE
  print_axes(out, "offset", inst->offset, ir_axes_in_use(inst, inst->offset));
  print_axes(out, "extent", inst->extent, ir_axes_in_use(inst, inst->extent));
}

static void print_params(Printer *p, const IrRegion *region) {
  if (!region->params.count) return;
  strbuf_text(p->out, " (");
  for (int i = 0; i < region->params.count; i++) {
    const IrInst *param = region->params.items[i];
    strbuf_format(p->out, "%s%%%d: %s", i ? ", " : "", number_of(p, param),
                  ir_type_text(param->type));
  }
  strbuf_char(p->out, ')');
}

static void print_inst(Printer *p, const IrInst *inst);

static void print_region(Printer *p, const IrRegion *region) {
  print_params(p, region);
  strbuf_text(p->out, " {");
  p->indent++;
  for (const IrInst *inst = region->first; inst; inst = inst->next) print_inst(p, inst);
  p->indent--;
  new_line(p);
  strbuf_char(p->out, '}');
}

static void print_inst(Printer *p, const IrInst *inst) {
  new_line(p);
  if (!type_is_none(inst->type))
    strbuf_format(p->out, "%%%d: %s = ", number_of(p, inst), ir_type_text(inst->type));
  strbuf_text(p->out, ir_op_info[inst->op].text);
  print_attributes(p->out, inst);
  for (int i = 0; i < inst->operand_count; i++) {
    const IrInst *operand = inst->operands[i];
    strbuf_text(p->out, i ? ", " : " ");
    if (operand && p->numbers[operand->id]) strbuf_format(p->out, "%%%d", number_of(p, operand));
    else strbuf_text(p->out, "%?"); /* not visible: for dumps of invalid kernels */
  }
  if (inst->regions[0]) print_region(p, inst->regions[0]);
  if (inst->regions[1] && inst->regions[1]->first) {
    strbuf_text(p->out, " else");
    print_region(p, inst->regions[1]);
  }
}

static void print_function(Printer *p, const char *title, const IrRegion *region) {
  p->next = 0; /* functions share no inst, so their numbers can be in one table */
  new_line(p);
  strbuf_text(p->out, title);
  print_region(p, region);
}

/* -- tables and tasks -------------------------------------------------------------------------- */

static void print_tables(StrBuf *out, const IrKernel *kernel) {
  for (int i = 0; i < kernel->trees.count; i++) {
    strbuf_format(out, "\ntree t%d", i);
    if (!kernel->trees.items[i].tree) continue;
    strbuf_text(out, " = ");
    snode_write_text(out, kernel->trees.items[i].tree);
  }
  for (int i = 0; i < kernel->arrays.count; i++) {
    const IrArray *array = &kernel->arrays.items[i];
    strbuf_format(out, "\narray a%d = axes=%d address=%d extents=%d", i, array->axis_count,
                  array->address, array->extents);
    if (array->strides >= 0)
      strbuf_format(out, " %s=%d", array->is_pitched ? "pitch" : "strides", array->strides);
    strbuf_format(out, " size=%d%s%s%s%s", array->size, array->is_wide ? " wide" : "",
                  array->is_shared ? " shared" : "", array->is_empty ? " empty" : "",
                  array->is_counted ? " counted" : "");
    if (array->tree >= 0) strbuf_format(out, " in t%d", array->tree);
    print_optional_name(out, array->name);
  }
  for (int i = 0; i < kernel->fields.count; i++) {
    const IrField *field = &kernel->fields.items[i];
    if (field->tree < 0)
      strbuf_format(out, "\nfield f%d = a%d.offset %d", i, field->array, field->component);
    else
      strbuf_format(out, "\nfield f%d = t%d.node %d.component %d", i, field->tree,
                    field->node ? field->node->id : -1, field->component);
    if (field->place) strbuf_format(out, " at arg %d", field->place - 1);
    strbuf_format(out, ": %s", ir_type_text(field->type));
    print_optional_name(out, field->name);
  }
  for (int i = 0; i < kernel->levels.count; i++) {
    const IrLevel *level = &kernel->levels.items[i];
    strbuf_format(out, "\nlevel l%d = t%d.node %d", i, level->tree,
                  level->node ? level->node->id : -1);
    print_optional_name(out, level->name);
  }
  for (int i = 0; i < kernel->args.count; i++) {
    const IrArg *arg = &kernel->args.items[i];
    strbuf_format(out, "\narg %d: %s", i, ir_type_text(arg->type));
    print_optional_name(out, arg->name);
    if (arg->line) strbuf_format(out, " @%d:%d", arg->line, arg->column);
  }
  for (int i = 0; i < kernel->tables.count; i++) {
    const IrTable *table = &kernel->tables.items[i];
    strbuf_format(out, "\ntable %d: %s %d =", i, ir_type_text(table->type), table->count);
    for (int k = 0; k < table->count; k++)
      strbuf_char(out, ' '), print_number(out, table->type, table->values[k]);
  }
  for (int i = 0; i < kernel->results.count; i++) {
    Type result = kernel->results.items[i];
    strbuf_format(out, "\nresult %s", ir_type_text(type_element(result)));
    if (!type_is_scalar(result)) strbuf_format(out, " %d %d", type_rows(result), type_cols(result));
  }
  if (kernel->frame_slots) strbuf_format(out, "\nframe %d", kernel->frame_slots);
}

static const char *const task_kinds[] = {"range", "leaves", "nodes", "serial"};

static void print_task_words(StrBuf *out, const IrTask *task) {
  if (task->kind == TASK_SERIAL) {
    if (task->may_deactivate) strbuf_text(out, " may_deactivate");
    return;
  }
  strbuf_format(out, " axes=%d", task->axis_count);
  if (task->kind == TASK_RANGE) strbuf_format(out, " bounds=%d", task->bounds);
  else strbuf_format(out, " l%d", task->level);
  if (!type_is_none(task->index)) strbuf_format(out, " index=%s", ir_type_text(task->index));
  if (task->cells) strbuf_format(out, " cells=l%d", task->cells_level);
  if (task->saves_masks) strbuf_text(out, " saves_masks");
  if (task->kind != TASK_RANGE) strbuf_format(out, " t%d manager=%d", task->tree, task->manager);
  int factors = SNODE_MAX_AXES;
  while (factors > 0 && !task->factors[factors - 1]) factors--;
  print_axes(out, "factors", task->factors, factors);
  if (task->block) strbuf_format(out, " block=%d", task->block);
  if (task->cost) strbuf_format(out, " cost=%d", task->cost);
  if (task->lanes) strbuf_format(out, " lanes=%d", task->lanes);
  if (task->full_vectors) strbuf_format(out, " full_vectors=%d", task->full_vectors);
  if (task->traffic) strbuf_format(out, " traffic=%d", task->traffic);
  if (task->spread) strbuf_format(out, " spread=%d", task->spread);
  if (task->scalar_border) strbuf_text(out, " scalar_border");
  if (task->extra_threads) strbuf_text(out, " extra_threads");
  if (task->privatised) strbuf_format(out, " privatised=%d", task->privatised);
  if (task->independent) strbuf_text(out, " independent");
  if (task->scalar) strbuf_text(out, " scalar");
  if (task->may_deactivate) strbuf_text(out, " may_deactivate");
}

static void print_task(Printer *p, int number, const IrTask *task) {
  ASSERT((unsigned)task->kind < sizeof task_kinds / sizeof *task_kinds, "a task has a kind");
  strbuf_format(p->out, "\ntask %d = %s", number, task_kinds[task->kind]);
  print_task_words(p->out, task);
  strbuf_text(p->out, " {");
  p->indent++;
  for (int i = 0; i < task->reductions.count; i++) {
    const IrReduction *reduction = &task->reductions.items[i];
    new_line(p);
    strbuf_format(p->out, "reduction %s slot=%d: %s", ir_update_text(reduction->op),
                  reduction->slot, ir_type_text(reduction->type));
  }
  if (task->private_fields.count) {
    new_line(p);
    strbuf_text(p->out, "private");
    for (int i = 0; i < task->private_fields.count; i++)
      strbuf_format(p->out, " f%d", task->private_fields.items[i]);
  }
  for (int i = 0; i < task->block_sums.count; i++) {
    const IrBlockSum *sum = &task->block_sums.items[i];
    new_line(p);
    strbuf_format(p->out, "sums t%d offset=%d stride=%d count=%d: %s", sum->tree, sum->offset,
                  sum->stride, sum->count, ir_type_text(sum->type));
  }
  for (int i = 0; i < task->constants.count; i++) {
    new_line(p);
    strbuf_format(p->out, "bound slot=%d %" PRId64, task->constants.items[i].slot,
                  task->constants.items[i].value);
  }
  print_function(p, "body", task->body);
  if (task->has_interior) {
    new_line(p);
    strbuf_text(p->out, "interior_box");
    for (int i = 0; i < task->axis_count; i++)
      strbuf_format(p->out, " %" PRId64 "..%" PRId64, task->interior_begin[i],
                    task->interior_end[i]);
  }
  for (int i = 0; i < task->limits.count; i++) {
    const IrLimit *limit = &task->limits.items[i];
    new_line(p);
    strbuf_format(p->out, "%s axis=%d slot=%d less=%d: %s", limit->begins ? "from" : "until",
                  limit->axis, limit->slot, limit->less, ir_type_text(limit->type));
  }
  if (task->interior) print_function(p, "interior", task->interior);
  if (task->counts) {
    new_line(p);
    strbuf_format(p->out, "counts lanes=%d", task->counts->lanes);
    if (task->counts->full_vectors)
      strbuf_format(p->out, " full_vectors=%d", task->counts->full_vectors);
    if (task->idle) strbuf_text(p->out, " idle");
    print_function(p, "counts body", task->counts->body);
    if (task->counts->interior) print_function(p, "counts interior", task->counts->interior);
  }
  if (task->staged) {
    new_line(p);
    strbuf_format(p->out, "stages bytes=%d", task->staged);
  }
  if (task->claim) print_function(p, "claim", task->claim);
  p->indent--;
  new_line(p);
  strbuf_char(p->out, '}');
}

static void print_called(Printer *p, int number, const IrFunction *function) {
  StrBuf title;
  strbuf_init(&title, p->out->scratch);
  strbuf_format(&title, "function %d ", number);
  print_name(&title, function->name ? function->name : "");
  for (int i = 0; i < function->results.count; i++)
    strbuf_format(&title, "%s %s", i ? "," : " =", ir_type_text(function->results.items[i]));
  if (function->fault) strbuf_format(&title, " fault %d", function->fault);
  print_function(p, strbuf_end(&title), function->body);
}

void ir_print(StrBuf *out, const IrKernel *kernel) {
  strbuf_text(out, "kernel ");
  print_name(out, kernel->name);
  if (kernel->fast_math) strbuf_text(out, " fast_math");
  if (kernel->unchecked) strbuf_text(out, " unchecked");
  if (kernel->is_bounded) strbuf_text(out, " bounded");
  print_tables(out, kernel);
  Printer p = {.out = out,
               .kernel = kernel,
               .numbers = scratch_array(out->scratch, int, kernel->next_id + 1)};
  print_function(&p, "host", kernel->body);
  for (int i = 0; i < kernel->tasks.count; i++) print_task(&p, i, kernel->tasks.items[i]);
  for (int i = 0; i < kernel->functions.count; i++) print_called(&p, i, kernel->functions.items[i]);
  strbuf_char(out, '\n');
}
