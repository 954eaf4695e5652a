/* log.c - where values are in the log, and the insts that read and write it; see log.h. */
#include "pass/gradient/log.h"

enum { WORD_BYTES = 8, MOST_ARRAYS = 48, MOST_WORDS = 1 << 14 };
static const int64_t most_cells = (int64_t)1 << 31;

void log_init(Log *log, IrKernel *kernel, Scratch *scratch, int id_count) {
  *log = (Log){.kernel = kernel,
               .id_count = id_count,
               .kept = scratch_array(scratch, bool, id_count),
               .grows = scratch_array(scratch, bool, id_count),
               .word = scratch_array(scratch, int32_t, id_count),
               .words = scratch_array(scratch, int32_t, id_count),
               .arrays = scratch_array(scratch, int32_t, id_count),
               .array = ir_map(scratch, kernel)};
}

const IrInst *log_loop(const IrInst *inst) {
  const IrInst *at = inst->region->owner;
  while (at && at->op == IR_IF) at = at->region->owner;
  return at;
}

/* -- what is logged ---------------------------------------------------------------------------- */

/* The number of cells of a level, active or not; 0: the level is unbounded. */
static int64_t cell_count(const SNode *node) {
  int64_t count = 1;
  for (int k = 0; k < node->rank; k++) {
    if (snode_is_unbounded(node, k) || node->shape[k] > most_cells / count) return 0;
    count *= node->shape[k];
  }
  return count;
}

static bool is_numbered(const Log *log, const IrInst *loop) {
  if (loop->op == IR_ACTIVE) return cell_count(log->kernel->levels.items[loop->level].node) > 0;
  return loop->op == IR_RANGE || loop->op == IR_FOR;
}

bool log_keep(Log *log, const IrInst *value) {
  for (const IrInst *loop = log_loop(value); loop; loop = log_loop(loop))
    if (!is_numbered(log, loop)) return false;
  for (const IrInst *at = value; at && !log->kept[at->id]; at = log_loop(at))
    log->kept[at->id] = log->has_changed = true;
  return log->is_used = true;
}

/* Gives the kept insts of a region words from *next on: loops, or values. */
static void give_words(Log *log, const IrRegion *region, bool to_loops, int32_t *next) {
  for (const IrInst *inst = region->first; inst; inst = inst->next) {
    if (inst->op == IR_IF) {
      give_words(log, inst->regions[0], to_loops, next);
      give_words(log, inst->regions[1], to_loops, next);
    } else if (log->kept[inst->id] && to_loops == (inst->regions[0] != NULL)) {
      log->word[inst->id] = (*next)++;
    }
  }
}

static bool arrange(Log *log, const IrRegion *body, int32_t *words, int32_t *arrays);

static bool arrange_loops(Log *log, const IrRegion *region) {
  for (const IrInst *inst = region->first; inst; inst = inst->next) {
    if (inst->op == IR_IF) {
      if (!arrange_loops(log, inst->regions[0]) || !arrange_loops(log, inst->regions[1]))
        return false;
    } else if (inst->regions[0] && log->kept[inst->id] &&
               !arrange(log, inst->regions[0], &log->words[inst->id], &log->arrays[inst->id])) {
      return false;
    }
  }
  return true;
}

static bool arrange(Log *log, const IrRegion *body, int32_t *words, int32_t *arrays) {
  int32_t next = 0;
  give_words(log, body, true, &next);
  *arrays = next;
  give_words(log, body, false, &next);
  *words = next;
  return *arrays <= MOST_ARRAYS && *words <= MOST_WORDS && arrange_loops(log, body);
}

bool log_arrange(Log *log) {
  return arrange(log, log->kernel->body, &log->root_words, &log->root_arrays);
}

/* -- numbers of iterations --------------------------------------------------------------------- */

static IrInst *wide(IrBuilder *b, int64_t value) { return ir_const_int(b, TYPE(I64), value); }

static IrInst *operand(const LogPlace *at, const IrInst *loop, int k) {
  return at->value_of(at->data, at->b, loop->operands[k]);
}

/* Whole steps from the begin of a FOR to a value of its index. */
static IrInst *steps_to(const LogPlace *at, const IrInst *loop, IrInst *index) {
  IrInst *far = ir_binary(at->b, IR_SUB, index, operand(at, loop, 0));
  IrInst *step = operand(at, loop, 2);
  if (!type_is_float(index->type))
    return ir_convert(at->b, ir_binary(at->b, IR_FLOORDIV, far, step), TYPE(I64));
  IrInst *steps = ir_binary(at->b, IR_DIV, far, step);
  return ir_convert(at->b, ir_unary(at->b, IR_ROUND, steps), TYPE(I64));
}

static IrInst *extent_along(const LogPlace *at, const IrInst *loop, int axis) {
  IrBuilder *b = at->b;
  if (loop->op == IR_ACTIVE)
    return wide(b, at->log->kernel->levels.items[loop->level].node->shape[axis]);
  IrInst *begin = ir_convert(b, operand(at, loop, 2 * axis), TYPE(I64));
  IrInst *end = ir_convert(b, operand(at, loop, 2 * axis + 1), TYPE(I64));
  return ir_binary(b, IR_MAX, ir_binary(b, IR_SUB, end, begin), wide(b, 0));
}

static IrInst *length_of(const LogPlace *at, const IrInst *loop) {
  IrBuilder *b = at->b;
  if (at->log->grows[loop->id]) return wide(b, 0);
  if (loop->op == IR_FOR) {
    IrInst *last = steps_to(at, loop, operand(at, loop, 1));
    return ir_binary(b, IR_MAX, ir_binary(b, IR_ADD, last, wide(b, 1)), wide(b, 0));
  }
  IrInst *length = extent_along(at, loop, 0);
  for (int axis = 1; axis < loop->regions[0]->params.count; axis++)
    length =
        ir_call(b, RT_ARRAY_TIMES, 0, 0, 2, (IrInst *[]){length, extent_along(at, loop, axis)});
  return length;
}

/* The number of the iteration of the loop, or 0. */
static IrInst *number_of(const LogPlace *at, const IrInst *loop) {
  IrBuilder *b = at->b;
  IrInst *number = NULL;
  if (!loop) return wide(b, 0);
  IrInst *const *params = loop->regions[0]->params.items;
  if (loop->op == IR_FOR) return steps_to(at, loop, at->value_of(at->data, b, params[0]));
  for (int axis = 0; axis < loop->regions[0]->params.count; axis++) {
    IrInst *index = ir_convert(b, at->value_of(at->data, b, params[axis]), TYPE(I64));
    if (loop->op == IR_RANGE)
      index = ir_binary(b, IR_SUB, index, ir_convert(b, operand(at, loop, 2 * axis), TYPE(I64)));
    if (number) number = ir_binary(b, IR_MUL, number, extent_along(at, loop, axis));
    number = number ? ir_binary(b, IR_ADD, number, index) : index;
  }
  return number;
}

/* -- words ------------------------------------------------------------------------------------- */

/* An element of the array of the loop around the inst: array, number and size. */
static void find_element(const LogPlace *at, const IrInst *inst, IrInst *element[3]) {
  const IrInst *loop = log_loop(inst);
  element[0] = loop ? ir_mapped(at->log->array, loop) : at->log->root;
  ASSERT(element[0], "a loop's array is found before its values are");
  element[1] = number_of(at, loop);
  int32_t words = loop ? at->log->words[loop->id] : at->log->root_words;
  element[2] = ir_const_int(at->b, TYPE(I32), words * WORD_BYTES);
}

static IrInst *word_of(const LogPlace *at, const IrInst *inst, IrInst *address) {
  ASSERT(log_has(at->log, inst), "what is in the log was kept before log_arrange");
  IrInst *none = ir_const_int(at->b, TYPE(I32), 0);
  IrInst *word = ir_emit(at->b, IR_OFFSET, TYPE(PTR), 2, (IrInst *[]){address, none});
  word->stride = 1;
  word->imm = at->log->word[inst->id] * WORD_BYTES;
  return word;
}

static IrInst *load_word(const LogPlace *at, const IrInst *inst, Type type) {
  IrInst *element[3];
  find_element(at, inst, element);
  IrInst *address = word_of(at, inst, ir_call(at->b, RT_ARRAY_READ, 0, 0, 3, element));
  return ir_emit(at->b, IR_MEM_LOAD, type, 1, &address);
}

IrInst *log_read(const LogPlace *at, const IrInst *value) {
  return load_word(at, value, value->type);
}

void log_enter(const LogPlace *at, const IrInst *loop) {
  ir_map_put(at->log->array, loop, load_word(at, loop, TYPE(I64)));
}

/* Memory has run out where the element is not there; then the launch has failed. */
static IrBuilder enter_element(const LogPlace *at, IrInst *element[3]) {
  IrInst *choice = ir_if(at->b, ir_call(at->b, RT_ARRAY_HAS, 0, 0, 3, element));
  IrBuilder in = *at->b;
  in.before = NULL;
  in.region = choice->regions[1];
  IrInst *line = ir_const_int(&in, TYPE(I32), in.line);
  ir_call(&in, RT_ARRAY_OUTSIDE, 0, 0, 1, &line);
  in.region = choice->regions[0];
  return in;
}

void log_write(const LogPlace *at, const IrInst *value, IrInst *what) {
  IrInst *element[3];
  find_element(at, value, element);
  IrBuilder in = enter_element(at, element);
  LogPlace inside = *at;
  inside.b = &in;
  IrInst *address = word_of(&inside, value, ir_call(&in, RT_ARRAY_AT, 0, 0, 3, element));
  ir_emit(&in, IR_MEM_STORE, TYPE(NONE), 2, (IrInst *[]){address, what});
}

/* -- arrays ------------------------------------------------------------------------------------ */

static IrInst *new_array(IrBuilder *b, IrInst *length, int32_t words, int32_t arrays) {
  return ir_call(b, RT_ARRAY_NEW, 0, 0, 4,
                 (IrInst *[]){length, ir_const_int(b, TYPE(I32), words * WORD_BYTES),
                              wide(b, (int64_t)(((uint64_t)1 << arrays) - 1)),
                              ir_const_int(b, TYPE(I32), 0)});
}

static IrInst *new_guard(IrBuilder *b) {
  IrInst *guard = ir_var(b, TYPE(I64));
  guard->owns = true;
  return guard;
}

static void own(IrBuilder *b, IrInst *guard, IrInst *array) {
  ir_emit(b, IR_OWN, TYPE(NONE), 2, (IrInst *[]){guard, array});
}

void log_create(const LogPlace *at, IrRegion *top, const IrInst *loop) {
  Log *log = at->log;
  IrBuilder first = {log->kernel, top, top->first, at->b->line, at->b->column};
  IrInst *guard = new_guard(&first), *element[3];
  find_element(at, loop, element);
  IrInst *length = length_of(at, loop);
  IrInst *made = new_array(at->b, length, log->words[loop->id], log->arrays[loop->id]);
  own(at->b, guard, made);
  IrBuilder in = enter_element(at, element);
  LogPlace inside = *at;
  inside.b = &in;
  IrInst *address = word_of(&inside, loop, ir_call(&in, RT_ARRAY_AT, 0, 0, 3, element));
  ir_emit(&in, IR_DISOWN, TYPE(NONE), 1, &guard);
  ir_call(&in, RT_ARRAY_EXCHANGE, 0, 0, 2, (IrInst *[]){address, made});
  ir_emit(at->b, IR_RELEASE, TYPE(NONE), 1, &guard);
  ir_map_put(log->array, loop, made);
}

void log_append(const LogPlace *at, const IrInst *loop) {
  IrInst *array = ir_mapped(at->log->array, loop);
  ASSERT(array && at->log->grows[loop->id], "a loop of unknown length has an array that grows");
  IrInst *size = ir_const_int(at->b, TYPE(I32), at->log->words[loop->id] * WORD_BYTES);
  IrInst *number = ir_call(at->b, RT_ARRAY_APPEND, 0, 0, 2, (IrInst *[]){array, size});
  IrInst *is_there = ir_binary(at->b, IR_GE, number, wide(at->b, 0));
  IrBuilder in = *at->b;
  in.before = NULL;
  in.region = ir_if(at->b, is_there)->regions[0];
  ir_call(&in, RT_ARRAY_UNLOCK, 0, 0, 1, &array);
}

IrInst *log_begin(Log *log, IrBuilder *b) {
  IrInst *guard = new_guard(b);
  log->root = new_array(b, wide(b, 1), log->root_words, log->root_arrays);
  own(b, guard, log->root);
  return guard;
}
