/* tape.c - the layout of the tape, and the insts that read and write it; see tape.h. */
#include "pass/gradient/tape.h"

enum { WORD_BYTES = 8, MOST_ARRAYS = 48, MOST_WORDS = 1 << 14 };
static const int64_t most_cells = (int64_t)1 << 31;

void tape_init(Tape *tape, IrKernel *kernel, int id_count) {
  *tape = (Tape){.kernel = kernel,
                 .id_count = id_count,
                 .kept = scratch_array(kernel->scratch, bool, id_count),
                 .grows = scratch_array(kernel->scratch, bool, id_count),
                 .word = scratch_array(kernel->scratch, int32_t, id_count),
                 .words = scratch_array(kernel->scratch, int32_t, id_count),
                 .arrays = scratch_array(kernel->scratch, int32_t, id_count),
                 .array = ir_map(kernel->scratch, kernel)};
}

const IrInst *tape_loop(const IrInst *inst) {
  const IrInst *at = inst->region->owner;
  while (at && at->op == IR_IF) at = at->region->owner;
  return at;
}

/* -- what is taped ----------------------------------------------------------------------------- */

/* The number of cells of a level, active or not; 0: the level is unbounded. */
static int64_t cell_count(const SNode *node) {
  int64_t count = 1;
  for (int k = 0; k < node->rank; k++) {
    if (snode_is_unbounded(node, k) || node->shape[k] > most_cells / count) return 0;
    count *= node->shape[k];
  }
  return count;
}

static bool has_numbers(const Tape *tape, const IrInst *loop) {
  if (loop->op == IR_ACTIVE) return cell_count(tape->kernel->levels.items[loop->level].node) > 0;
  return loop->op == IR_RANGE || loop->op == IR_FOR;
}

bool tape_keep(Tape *tape, const IrInst *value) {
  for (const IrInst *loop = tape_loop(value); loop; loop = tape_loop(loop))
    if (!has_numbers(tape, loop)) return false;
  for (const IrInst *at = value; at && !tape->kept[at->id]; at = tape_loop(at))
    tape->kept[at->id] = tape->has_changed = true;
  return tape->is_used = true;
}

/* Assigns words from *next on to the loops, or to the values, that are taped in a region. */
static void assign_words(Tape *tape, const IrRegion *region, bool to_loops, int32_t *next) {
  for (const IrInst *inst = region->first; inst; inst = inst->next) {
    if (inst->op == IR_IF) {
      assign_words(tape, inst->regions[0], to_loops, next);
      assign_words(tape, inst->regions[1], to_loops, next);
    } else if (tape->kept[inst->id] && to_loops == (inst->regions[0] != NULL)) {
      tape->word[inst->id] = (*next)++;
    }
  }
}

static bool lay_out(Tape *tape, const IrRegion *body, int32_t *words, int32_t *arrays);

static bool lay_out_loops(Tape *tape, const IrRegion *region) {
  for (const IrInst *inst = region->first; inst; inst = inst->next) {
    if (inst->op == IR_IF) {
      if (!lay_out_loops(tape, inst->regions[0]) || !lay_out_loops(tape, inst->regions[1]))
        return false;
    } else if (inst->regions[0] && tape->kept[inst->id] &&
               !lay_out(tape, inst->regions[0], &tape->words[inst->id], &tape->arrays[inst->id])) {
      return false;
    }
  }
  return true;
}

static bool lay_out(Tape *tape, const IrRegion *body, int32_t *words, int32_t *arrays) {
  int32_t next = 0;
  assign_words(tape, body, true, &next);
  *arrays = next;
  assign_words(tape, body, false, &next);
  *words = next;
  return *arrays <= MOST_ARRAYS && *words <= MOST_WORDS && lay_out_loops(tape, body);
}

bool tape_lay_out(Tape *tape) {
  return lay_out(tape, tape->kernel->body, &tape->root_words, &tape->root_arrays);
}

/* -- numbers of iterations --------------------------------------------------------------------- */

static IrInst *operand_value(const TapePlace *at, const IrInst *loop, int k) {
  return at->value_of(at->data, at->b, loop->operands[k]);
}

/* The number of whole steps from the first iteration of a FOR to a value of its index. */
static IrInst *steps_to(const TapePlace *at, const IrInst *loop, IrInst *index) {
  IrInst *far = ir_binary(at->b, IR_SUB, index, operand_value(at, loop, 0));
  IrInst *step = operand_value(at, loop, 2);
  if (!type_is_float(index->type))
    return ir_convert(at->b, ir_binary(at->b, IR_FLOORDIV, far, step), TYPE(I64));
  IrInst *steps = ir_binary(at->b, IR_DIV, far, step);
  return ir_convert(at->b, ir_unary(at->b, IR_ROUND, steps), TYPE(I64));
}

static IrInst *extent_along(const TapePlace *at, const IrInst *loop, int axis) {
  IrBuilder *b = at->b;
  if (loop->op == IR_ACTIVE)
    return ir_i64(b, at->tape->kernel->levels.items[loop->level].node->shape[axis]);
  IrInst *begin = ir_convert(b, operand_value(at, loop, 2 * axis), TYPE(I64));
  IrInst *end = ir_convert(b, operand_value(at, loop, 2 * axis + 1), TYPE(I64));
  return ir_binary(b, IR_MAX, ir_binary(b, IR_SUB, end, begin), ir_i64(b, 0));
}

static IrInst *emit_length(const TapePlace *at, const IrInst *loop) {
  IrBuilder *b = at->b;
  if (at->tape->grows[loop->id]) return ir_i64(b, 0);
  if (loop->op == IR_FOR) {
    IrInst *last = steps_to(at, loop, operand_value(at, loop, 1));
    return ir_binary(b, IR_MAX, ir_binary_const(b, IR_ADD, last, 1), ir_i64(b, 0));
  }
  IrInst *length = extent_along(at, loop, 0);
  for (int axis = 1; axis < loop->regions[0]->params.count; axis++)
    length =
        ir_call(b, RT_ARRAY_TIMES, 0, 0, 2, (IrInst *[]){length, extent_along(at, loop, axis)});
  return length;
}

/* The number of the current iteration of the loop; 0 in the host region. */
static IrInst *emit_number(const TapePlace *at, const IrInst *loop) {
  IrBuilder *b = at->b;
  IrInst *number = NULL;
  if (!loop) return ir_i64(b, 0);
  IrInst *const *params = loop->regions[0]->params.items;
  if (loop->op == IR_FOR) return steps_to(at, loop, at->value_of(at->data, b, params[0]));
  for (int axis = 0; axis < loop->regions[0]->params.count; axis++) {
    IrInst *index = ir_convert(b, at->value_of(at->data, b, params[axis]), TYPE(I64));
    if (loop->op == IR_RANGE)
      index =
          ir_binary(b, IR_SUB, index, ir_convert(b, operand_value(at, loop, 2 * axis), TYPE(I64)));
    if (number) number = ir_binary(b, IR_MUL, number, extent_along(at, loop, axis));
    number = number ? ir_binary(b, IR_ADD, number, index) : index;
  }
  return number;
}

/* -- words ------------------------------------------------------------------------------------- */

/* The operands that name an element of the array of the loop around the inst: array, number, size.
 * */
static void name_element(const TapePlace *at, const IrInst *inst, IrInst *element[3]) {
  const IrInst *loop = tape_loop(inst);
  element[0] = loop ? ir_mapped(at->tape->array, loop) : at->tape->root;
  ASSERT(element[0], "a loop's array is found before its values are");
  element[1] = emit_number(at, loop);
  int32_t words = loop ? at->tape->words[loop->id] : at->tape->root_words;
  element[2] = ir_i32(at->b, words * WORD_BYTES);
}

static IrInst *word_address(const TapePlace *at, const IrInst *inst, IrInst *address) {
  ASSERT(tape_has(at->tape, inst), "what is on the tape was kept before tape_arrange");
  return ir_offset(at->b, address, ir_i32(at->b, 0), 1, at->tape->word[inst->id] * WORD_BYTES);
}

static IrInst *load_word(const TapePlace *at, const IrInst *inst, Type type) {
  IrInst *element[3];
  name_element(at, inst, element);
  IrInst *address = word_address(at, inst, ir_call(at->b, RT_ARRAY_READ, 0, 0, 3, element));
  return ir_mem_load(at->b, type, address);
}

IrInst *tape_read(const TapePlace *at, const IrInst *value) {
  return load_word(at, value, value->type);
}

void tape_enter(const TapePlace *at, const IrInst *loop) {
  ir_map_put(at->tape->array, loop, load_word(at, loop, TYPE(I64)));
}

/* A builder inside a test that the inst's element exists, and the address of its word there. The
 * element does not exist if memory has run out, and then the launch has failed. */
static IrBuilder enter_element(const TapePlace *at, const IrInst *inst, IrInst *element[3],
                               IrInst **address) {
  IrInst *choice = ir_if(at->b, ir_call(at->b, RT_ARRAY_HAS, 0, 0, 3, element));
  IrBuilder in = *at->b;
  in.before = NULL;
  in.region = choice->regions[1];
  IrInst *line = ir_i32(&in, in.line);
  ir_call(&in, RT_ARRAY_OUTSIDE, 0, 0, 1, &line);
  in.region = choice->regions[0];
  TapePlace inside = *at;
  inside.b = &in;
  *address = word_address(&inside, inst, ir_call(&in, RT_ARRAY_AT, 0, 0, 3, element));
  return in;
}

void tape_write(const TapePlace *at, const IrInst *value, IrInst *what) {
  IrInst *element[3], *address;
  name_element(at, value, element);
  IrBuilder in = enter_element(at, value, element, &address);
  ir_mem_store(&in, address, what);
}

/* -- arrays ------------------------------------------------------------------------------------ */

static IrInst *new_array(IrBuilder *b, IrInst *length, int32_t words, int32_t arrays) {
  return ir_call(b, RT_ARRAY_NEW, 0, 0, 4,
                 (IrInst *[]){length, ir_i32(b, words * WORD_BYTES),
                              ir_i64(b, (int64_t)(((uint64_t)1 << arrays) - 1)), ir_i32(b, 0)});
}

static IrInst *new_guard(IrBuilder *b) {
  IrInst *guard = ir_var(b, TYPE(I64));
  guard->owns = true;
  return guard;
}

static void own_array(IrBuilder *b, IrInst *guard, IrInst *array) {
  ir_emit(b, IR_OWN, TYPE(NONE), 2, (IrInst *[]){guard, array});
}

void tape_create(const TapePlace *at, IrRegion *top, const IrInst *loop) {
  Tape *tape = at->tape;
  IrBuilder first = {tape->kernel, top, top->first, at->b->line, at->b->column};
  IrInst *guard = new_guard(&first), *element[3], *address;
  name_element(at, loop, element);
  IrInst *length = emit_length(at, loop);
  IrInst *made = new_array(at->b, length, tape->words[loop->id], tape->arrays[loop->id]);
  own_array(at->b, guard, made);
  IrBuilder in = enter_element(at, loop, element, &address);
  ir_emit(&in, IR_DISOWN, TYPE(NONE), 1, &guard);
  ir_call(&in, RT_ARRAY_EXCHANGE, 0, 0, 2, (IrInst *[]){address, made});
  ir_emit(at->b, IR_RELEASE, TYPE(NONE), 1, &guard);
  ir_map_put(tape->array, loop, made);
}

void tape_append(const TapePlace *at, const IrInst *loop) {
  IrInst *array = ir_mapped(at->tape->array, loop);
  ASSERT(array && at->tape->grows[loop->id], "a loop of unknown length has an array that grows");
  IrInst *size = ir_i32(at->b, at->tape->words[loop->id] * WORD_BYTES);
  IrInst *number = ir_call(at->b, RT_ARRAY_APPEND, 0, 0, 2, (IrInst *[]){array, size});
  IrInst *is_there = ir_binary_const(at->b, IR_GE, number, 0);
  IrBuilder in = *at->b;
  in.before = NULL;
  in.region = ir_if(at->b, is_there)->regions[0];
  ir_call(&in, RT_ARRAY_UNLOCK, 0, 0, 1, &array);
}

IrInst *tape_begin(Tape *tape, IrBuilder *b) {
  IrInst *guard = new_guard(b);
  tape->root = new_array(b, ir_i64(b, 1), tape->root_words, tape->root_arrays);
  own_array(b, guard, tape->root);
  return guard;
}
