/* build.c - kernels, their tables, and the builders that append insts.
 * Builders are sticky: the first wrong call is recorded in kernel->failed, and building goes on
 * with harmless insts, so that lowering code is a plain list of calls; ir_finish reports it. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "ir/attribute.h"
#include "ir/lanes.h"
#include "ir/task.h"

IrKernel *ir_kernel_create(Scratch *scratch, const char *name) {
  IrKernel *kernel = scratch_new(scratch, IrKernel);
  kernel->scratch = scratch;
  kernel->name = name ? scratch_copy_text(scratch, name, strlen(name)) : "";
  kernel->body = ir_region_create(kernel, NULL);
  return kernel;
}

void ir_fail(IrKernel *kernel, const char *format, ...) {
  if (kernel->failed) return;
  kernel->failed = scratch_new(kernel->scratch, Error);
  va_list args;
  va_start(args, format);
  error_set_va(kernel->failed, RG_ERROR_INTERNAL, format, args);
  va_end(args);
}

bool ir_finish(const IrKernel *kernel, Error *err) {
  if (!kernel->failed) return true;
  return error_set(err, kernel->failed->code, "%s", kernel->failed->message);
}

/* -- tables ------------------------------------------------------------------------------------ */

static const char *copy_name(IrKernel *kernel, const char *name) {
  return name ? scratch_copy_text(kernel->scratch, name, strlen(name)) : "";
}

int ir_add_tree(IrKernel *kernel, const SNodeTree *tree) {
  for (int i = 0; i < kernel->trees.count; i++)
    if (kernel->trees.items[i].tree == tree) return i;
  vec_push(kernel->scratch, &kernel->trees, (IrTree){tree});
  return kernel->trees.count - 1;
}

int ir_add_field(IrKernel *kernel, const SNode *node, int component, const char *name) {
  ASSERT(component >= 0 && component < node->component_count, "the level has such a number");
  for (int i = 0; i < kernel->fields.count; i++) {
    const IrField *field = &kernel->fields.items[i];
    if (field->node == node && field->component == component) return i;
  }
  IrField field = {.tree = ir_add_tree(kernel, node->tree),
                   .node = node,
                   .array = -1,
                   .component = component,
                   .type = node->components[component].type,
                   .name = copy_name(kernel, name)};
  vec_push(kernel->scratch, &kernel->fields, field);
  return kernel->fields.count - 1;
}

int ir_add_array(IrKernel *kernel, const IrArray *array) {
  ASSERT(array->axis_count > 0 && array->axis_count <= SNODE_MAX_AXES, "an array has axes");
  DEBUG_ASSERT(array->size > 0, "an element has bytes");
  DEBUG_ASSERT(array->strides >= 0 || !array->is_pitched, "a pitch is one of the strides");
  IrArray copy = *array;
  copy.tree = -1;
  copy.name = copy_name(kernel, array->name);
  vec_push(kernel->scratch, &kernel->arrays, copy);
  return kernel->arrays.count - 1;
}

int ir_add_array_field(IrKernel *kernel, int array, int offset, Type type) {
  ASSERT(array >= 0 && array < kernel->arrays.count, "the array is the kernel's");
  DEBUG_ASSERT(offset >= 0 && offset + type_size(type) <= kernel->arrays.items[array].size,
               "the number is in an element");
  for (int i = 0; i < kernel->fields.count; i++) {
    const IrField *field = &kernel->fields.items[i];
    if (field->array == array && field->component == offset) return i;
  }
  IrField field = {.tree = -1,
                   .array = array,
                   .component = offset,
                   .type = type,
                   .name = kernel->arrays.items[array].name};
  vec_push(kernel->scratch, &kernel->fields, field);
  return kernel->fields.count - 1;
}

int ir_rank(const IrKernel *kernel, int field) {
  ASSERT(field >= 0 && field < kernel->fields.count, "the field is the kernel's");
  const IrField *of = &kernel->fields.items[field];
  return of->node ? of->node->rank : kernel->arrays.items[of->array].axis_count;
}

int ir_add_site(IrKernel *kernel, int field, int32_t line, bool is_of_number) {
  DEBUG_ASSERT(field >= 0 && field < kernel->fields.count, "the field is the kernel's");
  for (int i = 0; i < kernel->sites.count; i++)
    if (kernel->sites.items[i].field == field && kernel->sites.items[i].line == line &&
        kernel->sites.items[i].is_of_number == is_of_number)
      return i;
  IrSite site = {.field = field, .line = line, .is_of_number = is_of_number};
  vec_push(kernel->scratch, &kernel->sites, site);
  return kernel->sites.count - 1;
}

int ir_add_level(IrKernel *kernel, const SNode *node, const char *name) {
  for (int i = 0; i < kernel->levels.count; i++)
    if (kernel->levels.items[i].node == node) return i;
  IrLevel level = {
      .tree = ir_add_tree(kernel, node->tree), .node = node, .name = copy_name(kernel, name)};
  vec_push(kernel->scratch, &kernel->levels, level);
  return kernel->levels.count - 1;
}

int ir_add_arg(IrKernel *kernel, Type type, const char *name, int32_t line, int32_t column) {
  IrArg arg = {.type = type, .name = copy_name(kernel, name), .line = line, .column = column};
  vec_push(kernel->scratch, &kernel->args, arg);
  return kernel->args.count - 1;
}

static void add_note(IrKernel *kernel, IrNote note, const char *format, va_list args) {
  char text[400];
  vsnprintf(text, sizeof text, format, args);
  for (int i = 0; i < kernel->notes.count; i++)
    if (kernel->notes.items[i].line == note.line && !strcmp(kernel->notes.items[i].text, text))
      return;
  note.text = copy_name(kernel, text);
  vec_push(kernel->scratch, &kernel->notes, note);
}

void ir_note(IrKernel *kernel, int32_t line, const char *format, ...) {
  va_list args;
  va_start(args, format);
  add_note(kernel, (IrNote){.line = line}, format, args);
  va_end(args);
}

void ir_warn(IrKernel *kernel, int32_t line, int32_t column, const char *format, ...) {
  va_list args;
  va_start(args, format);
  add_note(kernel, (IrNote){.line = line, .column = column, .is_warning = true}, format, args);
  va_end(args);
}

/* -- constant tables, which TABLE_GETs and SHUFFLEs read --------------------------------------- */

int ir_add_table(IrKernel *kernel, Type type, int count, const int64_t *values) {
  ASSERT(count >= 0, "a table has a number of values");
  size_t bytes = sizeof *values * (size_t)count;
  for (int i = 0; i < kernel->tables.count; i++) {
    const IrTable *table = &kernel->tables.items[i];
    if (table->count == count && type_equal(table->type, type) &&
        !memcmp(table->values, values, bytes))
      return i;
  }
  int64_t *copy = scratch_array(kernel->scratch, int64_t, count);
  if (count) memcpy(copy, values, bytes);
  IrTable table = {.type = type, .count = count, .values = copy};
  vec_push(kernel->scratch, &kernel->tables, table);
  return kernel->tables.count - 1;
}

typedef struct Used {
  int *numbers; /* by table: first 1 if it is read; later its new number + 1 */
  int count;    /* of tables when the walk began */
  bool renumbers;
} Used;

static bool visit_item(void *data, IrInst *inst) {
  const Used *used = data;
  if (inst->op != IR_TABLE_GET && inst->op != IR_SHUFFLE) return true;
  DEBUG_ASSERT(inst->imm >= 0 && inst->imm < used->count, "a table of the kernel");
  if (used->renumbers) inst->imm = used->numbers[inst->imm] - 1;
  else used->numbers[inst->imm] = 1;
  return true;
}

void ir_prune_tables(IrKernel *kernel) {
  Used used = {.count = kernel->tables.count};
  int kept = 0;
  if (!kernel->tables.count) return;
  used.numbers = scratch_array(kernel->scratch, int, kernel->tables.count);
  ir_walk_kernel(kernel, visit_item, &used);
  for (int i = 0; i < kernel->tables.count; i++) {
    if (!used.numbers[i]) continue;
    kernel->tables.items[kept++] = kernel->tables.items[i];
    used.numbers[i] = kept;
  }
  if (kept == kernel->tables.count) return;
  kernel->tables.count = kept;
  used.renumbers = true;
  ir_walk_kernel(kernel, visit_item, &used);
}

/* -- regions and lists ------------------------------------------------------------------------- */

IrRegion *ir_region_create(IrKernel *kernel, IrInst *owner) {
  IrRegion *region = scratch_new(kernel->scratch, IrRegion);
  region->owner = owner;
  return region;
}

static IrInst *create_inst(IrKernel *kernel, IrOp op, Type type) {
  ASSERT((unsigned)op < IR_OP_COUNT, "the op is a row of op.def");
  IrInst *inst = scratch_new(kernel->scratch, IrInst);
  inst->op = op;
  inst->type = type;
  inst->id = kernel->next_id++;
  return inst;
}

IrInst *ir_region_param(IrKernel *kernel, IrRegion *region, Type type) {
  IrInst *param = create_inst(kernel, IR_PARAM, type);
  param->imm = region->params.count;
  param->region = region;
  vec_push(kernel->scratch, &region->params, param);
  return param;
}

void ir_region_append(IrRegion *region, IrInst *inst) {
  DEBUG_ASSERT(!inst->region, "an inst is in one region, once");
  inst->region = region;
  inst->next = NULL;
  inst->previous = region->last;
  *(region->last ? &region->last->next : &region->first) = inst;
  region->last = inst;
}

void ir_insert_before(IrInst *before, IrInst *inst) {
  IrRegion *region = before->region;
  DEBUG_ASSERT(region, "the inst that it precedes is in a region");
  DEBUG_ASSERT(!inst->region, "an inst is in one region, once");
  inst->region = region;
  inst->next = before;
  inst->previous = before->previous;
  *(before->previous ? &before->previous->next : &region->first) = inst;
  before->previous = inst;
}

void ir_insert_after(IrInst *after, IrInst *inst) {
  if (after->next) ir_insert_before(after->next, inst);
  else ir_region_append(after->region, inst);
}

void ir_remove(IrInst *inst) {
  IrRegion *region = inst->region;
  DEBUG_ASSERT(region, "a removed inst is in a region");
  *(inst->previous ? &inst->previous->next : &region->first) = inst->next;
  *(inst->next ? &inst->next->previous : &region->last) = inst->previous;
  inst->next = inst->previous = NULL;
  inst->region = NULL;
}

void ir_move_before(IrInst *before, IrInst *inst) {
  DEBUG_ASSERT(before != inst, "an inst moves to another place");
  ir_remove(inst);
  ir_insert_before(before, inst);
}

void ir_move_into(IrRegion *region, IrInst *inst) {
  ir_remove(inst);
  ir_region_append(region, inst);
}

static void delete_uses(IrInst *inst) {
  ir_truncate_operands(inst, 0);
  for (int i = 0; i < IR_MAX_REGIONS; i++)
    if (inst->regions[i]) ir_delete_all(inst->regions[i]);
}

void ir_delete(IrInst *inst) {
  if (inst->region) ir_remove(inst);
  delete_uses(inst);
}

/* Backwards, so that users are deleted before the values they use. */
void ir_delete_from(IrInst *first) {
  IrInst *last = first ? first->region->last : NULL;
  for (IrInst *inst = last, *previous; inst; inst = previous) {
    previous = inst == first ? NULL : inst->previous;
    ir_delete(inst);
  }
}

void ir_delete_all(IrRegion *region) { ir_delete_from(region->first); }

/* -- operands and uses ------------------------------------------------------------------------- */

static void link_use(IrInst *inst, int number) {
  IrInst *value = inst->operands[number];
  ASSERT(value, "every operand is an inst");
  IrUse *use = &inst->operand_uses[number];
  *use = (IrUse){.user = inst, .next = value->uses, .link = &value->uses};
  if (use->next) use->next->link = &use->next;
  value->uses = use;
}

static void unlink_use(IrUse *use) {
  DEBUG_ASSERT(use->link, "a use that ends is in its value's list");
  *use->link = use->next;
  if (use->next) use->next->link = use->link;
  use->link = NULL;
}

void ir_set_operand(IrInst *inst, int number, IrInst *value) {
  DEBUG_ASSERT(number >= 0 && number < inst->operand_count, "the operand exists");
  if (inst->operands[number] == value) return;
  unlink_use(&inst->operand_uses[number]);
  inst->operands[number] = value;
  link_use(inst, number);
}

void ir_alloc_axes(IrKernel *kernel, IrInst *inst) {
  inst->offset =
      ir_has_offset(inst->op) ? scratch_array(kernel->scratch, int32_t, SNODE_MAX_AXES) : NULL;
  inst->extent =
      ir_has_extent(inst->op) ? scratch_array(kernel->scratch, int32_t, SNODE_MAX_AXES) : NULL;
}

static void alloc_operands(IrKernel *kernel, IrInst *inst, int count) {
  inst->operand_count = count;
  inst->operands = count ? scratch_array(kernel->scratch, IrInst *, count) : NULL;
  inst->operand_uses = count ? scratch_array(kernel->scratch, IrUse, count) : NULL;
}

void ir_set_operands(IrKernel *kernel, IrInst *inst, int count, IrInst *const *operands) {
  ir_truncate_operands(inst, 0);
  alloc_operands(kernel, inst, count);
  for (int i = 0; i < count; i++) {
    inst->operands[i] = operands[i];
    link_use(inst, i);
  }
}

void ir_swap_operands(IrInst *inst) {
  DEBUG_ASSERT(inst->operand_count >= 2, "two operands are swapped");
  IrInst *first = inst->operands[0];
  ir_set_operand(inst, 0, inst->operands[1]);
  ir_set_operand(inst, 1, first);
}

void ir_truncate_operands(IrInst *inst, int from) {
  DEBUG_ASSERT(from >= 0, "operands are counted from 0");
  for (int i = from; i < inst->operand_count; i++) unlink_use(&inst->operand_uses[i]);
  if (from < inst->operand_count) inst->operand_count = from;
}

void ir_replace_uses(IrInst *value, IrInst *with) {
  DEBUG_ASSERT(value != with, "a value is replaced by another one");
  while (value->uses) {
    IrInst *user = value->uses->user;
    ir_set_operand(user, (int)(value->uses - user->operand_uses), with);
  }
}

bool ir_is_used(const IrInst *value) { return value->uses != NULL; }

/* -- builders ---------------------------------------------------------------------------------- */

void ir_insert(IrBuilder *b, IrInst *inst) {
  DEBUG_ASSERT(b->before ? b->before->region != NULL : b->region != NULL,
               "a builder knows where its insts go");
  if (b->before) ir_insert_before(b->before, inst);
  else ir_region_append(b->region, inst);
}

IrInst *ir_emit(IrBuilder *b, IrOp op, Type type, int operand_count, IrInst *const *operands) {
  IrKernel *kernel = b->kernel;
  DEBUG_ASSERT(operand_count >= 0 && operand_count <= INT16_MAX, "an inst has few operands");
  IrInst *inst = create_inst(kernel, op, type);
  ir_alloc_axes(kernel, inst);
  alloc_operands(kernel, inst, operand_count);
  for (int i = 0; i < operand_count; i++) {
    inst->operands[i] = operands[i];
    if (!operands[i]) {
      ir_fail(kernel, "operand %d of '%s' is missing", i, ir_op_info[op].text);
      inst->operands[i] = ir_const_int(b, TYPE(I32), 0);
    }
    link_use(inst, i);
  }
  for (int i = 0; i < ir_region_count(op); i++) inst->regions[i] = ir_region_create(kernel, inst);
  inst->line = b->line;
  inst->column = b->column;
  ir_insert(b, inst);
  return inst;
}

int64_t ir_wrap_int(Type type, int64_t value) {
  if (type_is_bool(type)) return value != 0;
  int above = type_is_integer(type) ? 64 - type_bits(type) : 0;
  uint64_t high = (uint64_t)value << above;
  return type_is_signed(type) ? (int64_t)high >> above : (int64_t)(high >> above);
}

double ir_round_float(Type type, double value) { return type_round(type, value); }

int64_t ir_float_bits(double value) {
  int64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

double ir_float_value(const IrInst *inst) {
  double value;
  memcpy(&value, &inst->imm, sizeof value);
  return value;
}

IrInst *ir_const_int(IrBuilder *b, Type type, int64_t value) {
  DEBUG_ASSERT(type_is_integer(type) || type_is_bool(type), "the constant is an integer or a bool");
  IrInst *inst = create_inst(b->kernel, IR_CONST, type);
  inst->imm = ir_wrap_int(type, value);
  inst->line = b->line;
  inst->column = b->column;
  ir_insert(b, inst);
  return inst;
}

IrInst *ir_const_float(IrBuilder *b, Type type, double value) {
  DEBUG_ASSERT(type_is_float(type), "the constant is a float");
  IrInst *inst = create_inst(b->kernel, IR_CONST, type);
  inst->imm = ir_float_bits(ir_round_float(type, value));
  inst->line = b->line;
  inst->column = b->column;
  ir_insert(b, inst);
  return inst;
}

IrInst *ir_identity(IrBuilder *b, IrUpdate op, Type type) {
  IrInst bits = {.imm = ir_update_identity(op, type)};
  return type_is_float(type) ? ir_const_float(b, type, ir_float_value(&bits))
                             : ir_const_int(b, type, bits.imm);
}

IrInst *ir_zero(IrBuilder *b, Type type) {
  return type_is_float(type) ? ir_const_float(b, type, 0) : ir_const_int(b, type, 0);
}

static IrInst *emit_number(IrBuilder *b, IrOp op, Type type, int64_t imm) {
  IrInst *inst = ir_emit(b, op, type, 0, NULL);
  inst->imm = imm;
  return inst;
}

IrInst *ir_arg(IrBuilder *b, int arg) {
  if (arg >= 0 && arg < b->kernel->args.count)
    return emit_number(b, IR_ARG, b->kernel->args.items[arg].type, arg);
  ir_fail(b->kernel, "argument %d does not exist", arg);
  return ir_const_int(b, TYPE(I32), 0);
}

IrInst *ir_frame(IrBuilder *b, IrOp op, Type type, int slot) {
  IrInst *inst = ir_emit(b, op, type, 0, NULL);
  inst->imm = slot;
  return inst;
}

IrInst *ir_frame_set(IrBuilder *b, int slot, IrInst *value) {
  IrInst *inst = ir_emit(b, IR_FRAME_SET, TYPE(NONE), 1, &value);
  inst->imm = slot;
  return inst;
}

void ir_run(IrBuilder *b, int task) { ir_emit(b, IR_RUN, TYPE(NONE), 0, NULL)->imm = task; }

IrInst *ir_call(IrBuilder *b, RtEntry entry, int tree, int number, int operand_count,
                IrInst *const *operands) {
  Type type = type_scalar(ir_entries[entry].result);
  IrInst *inst = ir_emit(b, IR_CALL, type, operand_count, operands);
  ir_set_callee(inst, entry, tree, number);
  return inst;
}

void ir_set_callee(IrInst *call, RtEntry entry, int tree, int number) {
  ASSERT((unsigned)entry < RT_ENTRY_COUNT, "the entry is a row of entry.def");
  DEBUG_ASSERT(ir_has_entry(call->op), "only calls have a callee");
  call->entry = (int32_t)entry;
  if (ir_entry_takes(entry, IR_PARAM_TREE)) call->tree = tree;
  bool has_number = ir_entry_takes(entry, IR_PARAM_MANAGER) || ir_entry_takes(entry, IR_PARAM_MASK);
  if (has_number) call->imm = number;
}

IrInst *ir_unary(IrBuilder *b, IrOp op, IrInst *a) {
  Type type = op == IR_MASK_BITS                        ? TYPE(U64)
              : op == IR_MASK_ANY || op == IR_MASK_FULL ? TYPE(BOOL)
              : a                                       ? a->type
                                                        : TYPE(I32);
  return ir_emit(b, op, type, 1, &a);
}

bool ir_is_comparison(IrOp op) { return op >= IR_EQ && op <= IR_GE; }

IrInst *ir_binary(IrBuilder *b, IrOp op, IrInst *a, IrInst *c) {
  DEBUG_ASSERT(!a || !c || type_equal(a->type, c->type) || type_is_vector(a->type) ||
                   type_is_vector(c->type),
               "both operands are of one type, unless one is lanes");
  Type type = !a ? TYPE(I32) : c && type_is_vector(c->type) ? c->type : a->type;
  if (ir_is_comparison(op)) type = type_shaped(TYPE(BOOL), type_shape(type));
  return ir_emit(b, op, type, 2, (IrInst *[]){a, c});
}

IrInst *ir_binary_const(IrBuilder *b, IrOp op, IrInst *a, int64_t number) {
  return ir_binary(b, op, a, ir_const_like(b, a, number));
}

IrInst *ir_plus(IrBuilder *b, IrInst *a, int64_t number) {
  return number ? ir_binary_const(b, IR_ADD, a, number) : a;
}

IrInst *ir_times(IrBuilder *b, IrInst *a, int64_t factor) {
  return factor == 1 ? a : ir_binary_const(b, IR_MUL, a, factor);
}

IrInst *ir_select(IrBuilder *b, IrInst *condition, IrInst *yes, IrInst *no) {
  DEBUG_ASSERT(!yes || !no || type_equal(yes->type, no->type), "both sides are of one type");
  DEBUG_ASSERT(!condition || type_is_bool(condition->type) || type_is_vector(condition->type),
               "a bool selects");
  return ir_emit(b, IR_SELECT, yes ? yes->type : TYPE(I32), 3, (IrInst *[]){condition, yes, no});
}

IrInst *ir_splat(IrBuilder *b, IrInst *value, int lanes) {
  return ir_emit(b, IR_SPLAT, ir_lanes_type(value->type, lanes), 1, &value);
}

IrInst *ir_step(IrBuilder *b, IrInst *first, int lanes, int64_t by) {
  IrInst *step = ir_emit(b, IR_STEP, ir_lanes_type(first->type, lanes), 1, &first);
  step->imm = by;
  return step;
}

IrInst *ir_lane_get(IrBuilder *b, IrInst *lanes, IrInst *lane) {
  return ir_emit(b, IR_LANE_GET, type_element(lanes->type), 2, (IrInst *[]){lanes, lane});
}

void ir_lane_set(IrBuilder *b, IrInst *var, IrInst *lane, IrInst *value) {
  ir_emit(b, IR_LANE_SET, TYPE(NONE), 3, (IrInst *[]){var, lane, value});
}

IrInst *ir_lanes_load(IrBuilder *b, Type type, IrInst *at, IrInst *mask) {
  return ir_emit(b, IR_LANES_LOAD, type, 2, (IrInst *[]){at, mask});
}

IrInst *ir_lanes_store(IrBuilder *b, IrInst *at, IrInst *lanes, IrInst *mask) {
  return ir_emit(b, IR_LANES_STORE, TYPE(NONE), 3, (IrInst *[]){at, lanes, mask});
}

IrInst *ir_lanes_reduce(IrBuilder *b, IrUpdate op, IrInst *lanes) {
  IrInst *all = ir_emit(b, IR_LANES_REDUCE, type_element(lanes->type), 1, &lanes);
  all->imm = op;
  return all;
}

IrInst *ir_mask_of_bits(IrBuilder *b, IrInst *word, int lanes) {
  return ir_emit(b, IR_MASK_OF_BITS, ir_lanes_type(TYPE(BOOL), lanes), 1, &word);
}

IrInst *ir_table_get(IrBuilder *b, int table, IrInst *index) {
  ASSERT(table >= 0 && table < b->kernel->tables.count, "the table is the kernel's");
  IrInst *item = ir_emit(b, IR_TABLE_GET, b->kernel->tables.items[table].type, 1, &index);
  item->imm = table;
  return item;
}

IrInst *ir_pick(IrBuilder *b, IrInst *index, int count, IrInst *const *values) {
  ASSERT(count > 0, "one of several values is picked");
  IrInst **operands = scratch_array(b->kernel->scratch, IrInst *, count + 1);
  operands[0] = index;
  for (int i = 0; i < count; i++) operands[i + 1] = values[i];
  return ir_emit(b, IR_PICK, values[0]->type, count + 1, operands);
}

IrInst *ir_convert(IrBuilder *b, IrInst *a, Type type) {
  return a && type_equal(a->type, type) ? a : ir_emit(b, IR_CONVERT, type, 1, &a);
}

IrInst *ir_var(IrBuilder *b, Type type) { return ir_emit(b, IR_VAR, type, 0, NULL); }
IrInst *ir_get(IrBuilder *b, IrInst *var) {
  DEBUG_ASSERT(!var || var->op == IR_VAR,
               "a GET names a variable, or a guard, whose array it reads");
  return ir_emit(b, IR_GET, var ? var->type : TYPE(I32), 1, &var);
}
void ir_set(IrBuilder *b, IrInst *var, IrInst *value) {
  DEBUG_ASSERT(!var || !value || type_equal(var->type, value->type), "a value of its type is set");
  ir_emit(b, IR_SET, TYPE(NONE), 2, (IrInst *[]){var, value});
}

IrInst *ir_variable(IrBuilder *b, IrInst *value) {
  IrInst *var = ir_var(b, value->type);
  ir_set(b, var, value);
  return var;
}

IrInst *ir_local_array(IrBuilder *b, Type type, int count) {
  IrInst *array = ir_emit(b, IR_LOCAL_ARRAY, type, 0, NULL);
  DEBUG_ASSERT(count > 0 && count <= IR_MAX_LOCAL, "a local array is small");
  array->imm = count;
  return array;
}

IrInst *ir_local_get(IrBuilder *b, IrInst *array, IrInst *index) {
  return ir_emit(b, IR_LOCAL_GET, array->type, 2, (IrInst *[]){array, index});
}

IrInst *ir_local_set(IrBuilder *b, IrInst *array, IrInst *index, IrInst *value) {
  return ir_emit(b, IR_LOCAL_SET, TYPE(NONE), 3, (IrInst *[]){array, index, value});
}

IrInst *ir_if(IrBuilder *b, IrInst *condition) {
  DEBUG_ASSERT(!condition || type_is_bool(condition->type), "an IF branches on a bool");
  return ir_emit(b, IR_IF, TYPE(NONE), 1, &condition);
}
IrInst *ir_loop(IrBuilder *b) { return ir_emit(b, IR_LOOP, TYPE(NONE), 0, NULL); }

IrInst *ir_for(IrBuilder *b, IrInst *begin, IrInst *last, IrInst *step) {
  DEBUG_ASSERT(!begin || !last || !step ||
                   (type_equal(begin->type, last->type) && type_equal(begin->type, step->type)),
               "a FOR counts in one type");
  IrInst *inst = ir_emit(b, IR_FOR, TYPE(NONE), 3, (IrInst *[]){begin, last, step});
  ir_region_param(b->kernel, inst->regions[0], inst->operands[0]->type);
  return inst;
}

IrInst *ir_bits(IrBuilder *b, IrInst *word, Type index) {
  DEBUG_ASSERT(type_is(word->type, TYPE_U64), "a word has a bit per iteration");
  IrInst *inst = ir_emit(b, IR_BITS, TYPE(NONE), 1, &word);
  ir_region_param(b->kernel, inst->regions[0], index);
  return inst;
}

IrInst *ir_break(IrBuilder *b, int levels) {
  DEBUG_ASSERT(levels >= 0, "an exit leaves loops outward");
  return emit_number(b, IR_BREAK, TYPE(NONE), levels);
}
IrInst *ir_continue(IrBuilder *b, int levels) {
  return emit_number(b, IR_CONTINUE, TYPE(NONE), levels);
}

IrInst *ir_range(IrBuilder *b, int axis_count, IrInst *const *begin_end, Type index) {
  ASSERT(axis_count > 0 && axis_count <= SNODE_MAX_AXES, "a range has axes");
  IrInst *inst = ir_emit(b, IR_RANGE, TYPE(NONE), 2 * axis_count, begin_end);
  inst->axis_count = (int8_t)axis_count;
  for (int i = 0; i < axis_count; i++) ir_region_param(b->kernel, inst->regions[0], index);
  return inst;
}

Type ir_index_type(const SNode *node) {
  for (int i = 0; i < node->rank; i++)
    if (snode_is_unbounded(node, i) || node->shape[i] > INT32_MAX) return TYPE(I64);
  return TYPE(I32);
}

IrInst *ir_active(IrBuilder *b, int level) {
  ASSERT(level >= 0 && level < b->kernel->levels.count, "the level is the kernel's");
  IrInst *inst = ir_emit(b, IR_ACTIVE, TYPE(NONE), 0, NULL);
  inst->level = level;
  const SNode *node = b->kernel->levels.items[level].node;
  for (int i = 0; i < node->rank; i++)
    ir_region_param(b->kernel, inst->regions[0], ir_index_type(node));
  return inst;
}

IrInst *ir_is_active(IrBuilder *b, const SNode *node, IrInst *const *indices) {
  IrInst *inst = ir_emit(b, IR_IS_ACTIVE, TYPE(BOOL), node->rank, indices);
  inst->level = ir_add_level(b->kernel, node, node->name);
  return inst;
}

IrInst *ir_reduce(IrBuilder *b, IrUpdate op, IrInst *into, IrInst *value) {
  DEBUG_ASSERT(ir_update_combines(op) || op == IR_UPDATE_SUB, "any order gives the same result");
  IrInst *inst = ir_emit(b, IR_REDUCE, TYPE(NONE), 2, (IrInst *[]){into, value});
  inst->imm = op;
  return inst;
}

IrInst *ir_place(IrBuilder *b, int field, IrInst *const *indices) {
  ASSERT(field >= 0 && field < b->kernel->fields.count, "the field is the kernel's");
  IrInst *inst = ir_emit(b, IR_PLACE, TYPE(PLACE), ir_rank(b->kernel, field), indices);
  inst->field = field;
  return inst;
}

static Type element_type(IrBuilder *b, const IrInst *place) {
  if (place && (place->op == IR_PLACE || place->op == IR_CELL))
    return b->kernel->fields.items[place->field].type;
  ir_fail(b->kernel, "an access needs a place");
  return TYPE(I32);
}

IrInst *ir_load(IrBuilder *b, IrInst *place) {
  return ir_emit(b, IR_LOAD, type_computed(element_type(b, place)), 1, &place);
}
IrInst *ir_store(IrBuilder *b, IrInst *place, IrInst *value) {
  return ir_emit(b, IR_STORE, TYPE(NONE), 2, (IrInst *[]){place, value});
}
IrInst *ir_update(IrBuilder *b, IrUpdate op, IrInst *place, IrInst *value) {
  value = ir_convert(b, value, element_type(b, place));
  IrInst *inst = ir_emit(b, IR_UPDATE, TYPE(NONE), 2, (IrInst *[]){place, value});
  inst->imm = op;
  return inst;
}
IrInst *ir_rmw(IrBuilder *b, IrUpdate op, IrInst *place, IrInst *value) {
  value = ir_convert(b, value, element_type(b, place));
  IrInst *inst = ir_emit(b, IR_RMW, element_type(b, place), 2, (IrInst *[]){place, value});
  inst->imm = op;
  return inst;
}

IrInst *ir_offset(IrBuilder *b, IrInst *ptr, IrInst *index, int64_t stride, int64_t bytes) {
  if (!index && !bytes) return ptr;
  if (!index) index = ir_i32(b, 0), stride = 1;
  if (stride > INT32_MAX) index = ir_times(b, ir_convert(b, index, TYPE(I64)), stride), stride = 1;
  bool makes_lanes = type_is_vector(index->type);
  Type type = makes_lanes ? ir_lanes_type(TYPE(PTR), type_rows(index->type)) : ptr->type;
  IrInst *inst = ir_emit(b, IR_OFFSET, type, 2, (IrInst *[]){ptr, index});
  inst->stride = (int32_t)stride;
  inst->imm = bytes;
  return inst;
}
IrInst *ir_mem_load(IrBuilder *b, Type type, IrInst *address) {
  return ir_emit(b, IR_MEM_LOAD, type, 1, &address);
}
IrInst *ir_mem_store(IrBuilder *b, IrInst *address, IrInst *value) {
  return ir_emit(b, IR_MEM_STORE, TYPE(NONE), 2, (IrInst *[]){address, value});
}
