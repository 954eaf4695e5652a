/* packed.c - turns accesses to packed numbers (type/packed.h) into accesses to words, which are
 * fields of unsigned integers. Runs once loops are tasks.
 *
 *   %x = load place f0 %i, %j        =>   %w = load place f1 %i, %j >> 5
 *                                         %x = the bits of %w at 1 * (%j & 31), as a number
 *   store place f0 %i, %j, %x        =>   update exchange packed=f0 place f1 %i, %j >> 5, %x, %bit
 *   update add place f0 %i, %j, %x   =>   update add packed=f0 place f1 %i, %j >> 5, %x, %bit
 *
 * Later passes treat words like any other elements: `atomics` finds those that only one iteration
 * reaches, and `bounds` those that are inside. `packed_updates`
 * (updates.c) turns what is left into ops on words. Decision D-pass-90. */
#include "pass/packed/packed.h"

#include <string.h>

#include "base/bits.h"
#include "ir/facts.h"
#include "pass/address/address.h"
#include "pass/analysis/limits.h"
#include "pass/pass.h"
#include "pass/rewrite.h"

const SNodePacked *packed_of(const IrKernel *kernel, int field) {
  const IrField *of = &kernel->fields.items[field];
  return of->node ? of->node->components[of->component].packed : NULL;
}

/* -- the place of a word ----------------------------------------------------------------------- */

static IrInst *remainder_by(IrBuilder *b, IrInst *value, int64_t by) {
  if (is_power_of_two((uint64_t)by)) return ir_binary_const(b, IR_BAND, value, by - 1);
  return ir_binary_const(b, IR_MOD, value, by);
}

static IrInst *factor_of(IrInst *value, int64_t each) {
  int64_t factor;
  bool is_multiple =
      value->op == IR_MUL && ir_is_const(value->operands[1], &factor) && factor == each;
  return is_multiple ? value->operands[0] : NULL;
}

/* Is the value the index of a serial loop from 0 to each - 1? */
static bool is_index_up_to(const IrInst *value, int64_t each) {
  const IrInst *loop = value->op == IR_PARAM && value->region ? value->region->owner : NULL;
  int64_t begin, last;
  return loop && facts_bounds(loop, &begin, &last) && begin == 0 && last == each - 1;
}

/* The word of a strip's element (strips.c): of a multiple of `each` plus a constant, or plus the
 * index of a loop over the word's numbers. NULL: it is not such a sum. */
static IrInst *strip_word(IrBuilder *b, IrInst *along, int64_t each, IrInst **within) {
  int64_t constant;
  IrInst *word = factor_of((IrInst *)facts_split_constant(along, &constant), each);
  if (word) {
    int64_t more = floor_div(constant, each);
    *within = ir_const_like(b, along, floor_mod(constant, each));
    return more ? ir_binary(b, IR_ADD, word, ir_const_like(b, along, more)) : word;
  }
  if (along->op != IR_ADD || !is_index_up_to(along->operands[1], each)) return NULL;
  *within = along->operands[1];
  return factor_of(along->operands[0], each);
}

/* The last index of the word with the cell `along`; *within is the cell's number in it. A cell past
 * the shape's last cell must have a word past the last word, unless the cell is known to be inside,
 * or is only read, since bits that belong to no cell are 0. */
static IrInst *word_index(IrBuilder *b, const SNode *node, const SNodePacked *packed, int position,
                          IrInst *along, bool is_inside, IrInst **within) {
  int last = node->axis_count - 1;
  int64_t cells = node->sizes[last], words = packed->words->sizes[last], each = packed->per_word;
  ASSERT(each > 1 && words * each >= cells, "the words hold all cells of a container");
  if (node->shape[position] == cells || cells % each == 0) {
    IrInst *word = strip_word(b, along, each, within);
    if (!word) {
      word = address_divide(b, along, each, true);
      *within = remainder_by(b, along, each);
    }
    if (cells % each == 0 || is_inside) return word; /* blocks have whole words */
    IrInst *is_past = ir_binary_const(b, IR_GE, along, cells);
    return ir_select(b, is_past, ir_const_like(b, along, words), word);
  }
  IrInst *cell = remainder_by(b, along, cells), *block = address_divide(b, along, cells, true);
  *within = remainder_by(b, cell, each);
  return ir_binary(b, IR_ADD, ir_times(b, block, words), address_divide(b, cell, each, true));
}

int packed_add_words(IrKernel *kernel, const SNodePacked *packed, const char *name) {
  int known = kernel->fields.count,
      number = ir_add_field(kernel, packed->words, packed->word, name);
  IrField *words = &kernel->fields.items[number];
  if (number == known || strstr(words->name, name)) return number;
  StrBuf names;
  strbuf_init(&names, kernel->scratch);
  strbuf_format(&names, "%s, %s", words->name, name);
  words->name = strbuf_end(&names);
  return number;
}

/* The place of the word that holds the accessed number; *shift is the number's lowest bit. */
static IrInst *word_place(IrBuilder *b, const IrInst *access, IrInst **shift) {
  IrInst *place = access->operands[0];
  const IrField *field = &b->kernel->fields.items[place->field];
  const char *name = field->name;
  const SNode *node = field->node;
  const SNodePacked *packed = packed_of(b->kernel, place->field);
  ASSERT(packed && packed->per_word > 0, "the accessed field is packed");
  IrInst *indices[SNODE_MAX_AXES], *within = NULL;
  for (int k = 0; k < place->operand_count; k++) indices[k] = place->operands[k];
  int position =
      packed->per_word > 1 ? snode_axis_position(node, node->axes[node->axis_count - 1]) : -1;
  bool is_inside = access->op == IR_LOAD || place->in_bounds || place->packed;
  if (position >= 0)
    indices[position] =
        word_index(b, node, packed, position, indices[position], is_inside, &within);
  int64_t constant;
  *shift = ir_const_int(b, TYPE(U32), packed->shift);
  if (within && ir_is_const(within, &constant))
    *shift = ir_const_int(b, TYPE(U32), constant * packed->as.bits);
  else if (within) *shift = ir_times(b, ir_convert(b, within, TYPE(U32)), packed->as.bits);
  IrInst *word = ir_place(b, packed_add_words(b->kernel, packed, name), indices);
  if (within) word->packed = place->field + 1;
  bool keeps = position < 0 || node->shape[position] % packed->per_word == 0;
  word->in_bounds = place->in_bounds && keeps;
  word->active = place->active;
  return word;
}

IrInst *packed_first_index(IrBuilder *b, const IrInst *place, int axis) {
  IrInst *index = place->operands[axis];
  if (!place->packed) return index;
  const SNode *node = b->kernel->fields.items[place->packed - 1].node;
  const SNodePacked *packed = packed_of(b->kernel, place->packed - 1);
  int last = node->axis_count - 1;
  if (axis != snode_axis_position(node, node->axes[last])) return index;
  int64_t words = packed->words->sizes[last];
  IrInst *block = address_divide(b, index, words, true), *word = remainder_by(b, index, words);
  return ir_binary(b, IR_ADD, ir_times(b, block, node->sizes[last]),
                   ir_times(b, word, packed->per_word));
}

/* -- loops over words of several elements ------------------------------------------------------ */

bool task_bounds_find(const IrKernel *kernel, const IrTask *task, TaskBounds *bounds) {
  ASSERT(task->kind == TASK_RANGE && task->axis_count > 0, "a range has bounds along its axes");
  int slot = task->bounds + 2 * (task->axis_count - 1);
  *bounds = (TaskBounds){.begin = limits_set_once(kernel, slot),
                         .end = limits_set_once(kernel, slot + 1)};
  return bounds->begin && bounds->end;
}

int64_t task_bounds_most(const TaskBounds *bounds) {
  int64_t end;
  return ir_is_const(bounds->end->operands[0], &end) ? end : INT64_MAX;
}

static IrInst *bound_in_body(IrBuilder *b, const IrInst *set, int per_word, Type type,
                             int32_t *slot) {
  int64_t value;
  ASSERT(set && per_word > 1, "task_bounds_find has found it, and a word has several elements");
  if (ir_is_const(set->operands[0], &value))
    return value % per_word ? ir_const_int(b, type, value) : NULL;
  *slot = b->kernel->frame_slots++;
  return ir_convert(b, ir_frame(b, IR_FRAME_GET, TYPE(I64), *slot), type);
}

IrInst *task_bounds_begin(IrBuilder *b, TaskBounds *bounds, int per_word, Type type) {
  return bound_in_body(b, bounds->begin, per_word, type, &bounds->begin_slot);
}

IrInst *task_bounds_end(IrBuilder *b, TaskBounds *bounds, int per_word, Type type) {
  return bound_in_body(b, bounds->end, per_word, type, &bounds->end_slot);
}

/* Divides the bound by the elements of a word, rounding down after adding `more`. */
static void divide_bound(IrKernel *kernel, IrInst *set, int32_t slot, int per_word, int more) {
  IrBuilder b = rewrite_before(kernel, set);
  IrInst *value = set->operands[0];
  int64_t number;
  if (ir_is_const(value, &number)) {
    ir_set_operand(set, 0, ir_i64(&b, floor_div(number + more, per_word)));
    return;
  }
  ASSERT(set->op == IR_FRAME_SET, "a bound is a slot of the frame");
  if (slot) ir_frame_set(&b, slot, value);
  if (more) value = ir_binary_const(&b, IR_ADD, value, more);
  IrInst *words = ir_binary_const(&b, IR_FLOORDIV, value, per_word);
  ir_set_operand(set, 0, words);
}

void task_bounds_to_words(IrKernel *kernel, const TaskBounds *bounds, int per_word) {
  divide_bound(kernel, bounds->begin, bounds->begin_slot, per_word, 0);
  divide_bound(kernel, bounds->end, bounds->end_slot, per_word, per_word - 1);
}

/* -- accesses ---------------------------------------------------------------------------------- */

static void lower_load(IrKernel *kernel, IrInst *load) {
  IrBuilder b = rewrite_before(kernel, load);
  IrInst *place = load->operands[0], *shift;
  const SNodePacked *packed = packed_of(kernel, place->field);
  IrInst *word = ir_load(&b, word_place(&b, load, &shift));
  IrInst *value = packed_load(&b, packed, word, shift);
  ir_replace_uses(load, value);
  ir_delete(load);
}

static void lower_write(IrKernel *kernel, IrInst *inst) {
  IrBuilder b = rewrite_before(kernel, inst);
  IrInst *operands[4], *place = inst->operands[0];
  int count = inst->operand_count, field = place->field;
  ASSERT(count < 4 && !inst->packed, "the write does not name its bit yet");
  IrInst copy = *inst;
  for (int k = 1; k < count; k++) operands[k] = inst->operands[k];
  operands[0] = word_place(&b, inst, &operands[count]);
  rewrite_become(kernel, inst, copy.op == IR_STORE ? IR_UPDATE : copy.op, count + 1, operands);
  inst->imm = copy.op == IR_STORE ? IR_UPDATE_EXCHANGE : copy.imm;
  inst->packed = field + 1;
  inst->uncounted = copy.uncounted;
  inst->relaxed = copy.relaxed;
}

typedef struct PackedAccesses {
  const IrKernel *kernel;
  Scratch *scratch;
  VEC(IrInst *) accesses;
} PackedAccesses;

static bool collect_access(void *data, IrInst *inst) {
  PackedAccesses *found = data;
  bool is_packed = rewrite_is_access(inst->op) && inst->operands[0]->op == IR_PLACE &&
                   packed_of(found->kernel, inst->operands[0]->field);
  if (is_packed) vec_push(found->scratch, &found->accesses, inst);
  return true;
}

bool pass_packed(PassContext *ctx, IrKernel *kernel, Error *err) {
  PackedAccesses found = {.kernel = kernel, .scratch = ctx->scratch};
  ir_walk_kernel(kernel, collect_access, &found);
  for (int i = 0; i < found.accesses.count; i++) {
    IrInst *inst = found.accesses.items[i], *place = inst->operands[0];
    if (inst->op == IR_LOAD) lower_load(kernel, inst);
    else lower_write(kernel, inst);
    if (!ir_is_used(place)) ir_delete(place);
  }
  return true;
}
