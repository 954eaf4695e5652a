/* bit_slices.c - bit slicing: a loop over a packed array of bits computes the bits of a whole word
 * at once.
 *
 *     c = a[i][j-1] + a[i][j+1]            l = a.words[i][w] << 1 | a.words[i][w-1] >> 31, r = ..
 *     if c == 1 then b[i][j] = 1 ..   =>   c0 = l ^ r, c1 = l & r
 *                                          b.words[i][w] = c0 & ~c1 | ..
 *
 * A number of n bits becomes n words, its planes (planes.h). An `if` becomes a mask of the elements
 * that take it, and loops over neighbours are unrolled first. The results are those of the loop,
 * since iterations are unordered. The loop must write only the element of its own indices, in
 * arrays of bits; read only such arrays, at constant distances along the last axis (or modulo its
 * extent); and compute with small numbers. Other loops stay unchanged. Decision D-pass-91. */
#include "base/bits.h"
#include "ir/facts.h"
#include "ir/task.h"
#include "pass/packed/packed.h"
#include "pass/packed/planes.h"
#include "pass/pass.h"
#include "pass/loops/loops.h"
#include "pass/rewrite.h"
#include "pass/simplify/simplify.h"

enum { WORD = 32, DEEPEST = 40 };

typedef struct Slicer {
  PassContext *ctx;
  IrKernel *kernel;
  IrTask *task;
  IrInst *element; /* the last parameter of the old body: the index of an element */
  IrInst *index;   /* the last parameter of the new body: the index of a word */
  Planes p;        /* at the end of the new body */
  IrInst *mask;    /* the elements that run the insts being sliced */
  IrInst *range;   /* the elements of the word that are in the loop; NULL: all */
  Sliced *values;  /* by inst id */
  IrMap *params;   /* of the old body: those of the new one, and what is recomputed there */
  int64_t most;    /* larger than every index */
} Slicer;

static bool refuse(Slicer *s, const char *obstacle) { return planes_fail(&s->p, obstacle); }

static IrInst *emit(Slicer *s, IrOp op, IrInst *x, IrInst *y) {
  return ir_binary(&s->p.b, op, x, y);
}

/* -- elements ---------------------------------------------------------------------------------- */

static bool depends_on_index(const Slicer *s, const IrInst *value, int depth) {
  if (value == s->element) return true;
  if (depth > DEEPEST || value->op == IR_GET || value->op == IR_LOAD) return true;
  for (int k = 0; k < value->operand_count; k++)
    if (depends_on_index(s, value->operands[k], depth + 1)) return true;
  return false;
}

/* Is it the same for all elements of a word? */
static bool is_uniform(const Slicer *s, const IrInst *value) {
  return facts_is_of_params(value, s->task->body) && !depends_on_index(s, value, 0);
}

/* Is the value the index plus a constant? */
static bool is_near(const Slicer *s, const IrInst *value, int64_t *by) {
  *by = 0;
  return value == s->element || facts_split_constant(value, by) == s->element;
}

/* The position of a bit that is read: `by` elements from the loop's own; with `extent`, modulo
 * that. */
typedef struct BitDistance {
  int64_t by, extent;
} BitDistance;

/* Also accepts a remainder by the extent: (j + c) % n, or the BAND that `fold` makes of it. */
static bool find_distance(const Slicer *s, const IrInst *value, int64_t extent, BitDistance *out) {
  int64_t by, number;
  *out = (BitDistance){0};
  if (is_near(s, value, &out->by)) return true;
  bool is_rest =
      (value->op == IR_MOD && ir_is_const(value->operands[1], &number) && number == extent) ||
      (value->op == IR_BAND && ir_is_const(value->operands[1], &number) && number == extent - 1 &&
       is_power_of_two((uint64_t)extent));
  if (!is_rest || !is_near(s, value->operands[0], &by)) return false;
  *out = (BitDistance){floor_mod(by, extent), extent};
  return true;
}

/* Do the node's cells along its last axis, the last index, fill whole words, so that word j / 32
 * has element j? */
static bool has_whole_words(const SNode *node) {
  int last = node->axis_count - 1;
  if (last < 0 || node->axes[last] != node->level_axes[node->rank - 1]) return false;
  return node->shape[node->rank - 1] == node->sizes[last] || node->sizes[last] % WORD == 0;
}

static const SNodePacked *bits_of_field(const Slicer *s, int field) {
  const SNodePacked *packed = packed_of(s->kernel, field);
  if (!packed || packed->as.kind != PACKED_UINT || packed->as.bits != 1) return NULL;
  bool is_whole = packed->per_word == WORD && has_whole_words(s->kernel->fields.items[field].node);
  return is_whole ? packed : NULL;
}

/* Recomputes in the new body a value that is the same for all elements of a word. */
static IrInst *recompute_uniform(Slicer *s, IrInst *value) {
  return rewrite_recompute(&s->p.b, value, s->task->body, s->params);
}

/* The place of the word with the place's indices, except for the last one, which is `along`. */
static IrInst *word_at(Slicer *s, const IrInst *place, IrInst *along) {
  const SNodePacked *packed = packed_of(s->kernel, place->field);
  IrInst *indices[SNODE_MAX_AXES];
  for (int k = 0; k + 1 < place->operand_count; k++)
    indices[k] = recompute_uniform(s, place->operands[k]);
  indices[place->operand_count - 1] = along;
  IrInst *word = ir_place(
      &s->p.b, packed_add_words(s->kernel, packed, s->kernel->fields.items[place->field].name),
      indices);
  word->packed = place->field + 1;
  return word;
}

/* Loads the word `by` words from the loop's own; with `words`, modulo that. Selects between two
 * loads instead of two indices, so that lanes read adjacent words. The usual word is the first
 * operand, since the interior is where that one is inside. */
static IrInst *load_word(Slicer *s, const IrInst *place, int64_t by, int64_t words) {
  Type type = s->index->type;
  if (words && by > words / 2) by -= words;
  IrInst *at = by ? ir_binary_const(&s->p.b, IR_ADD, s->index, by) : s->index;
  IrInst *word = ir_load(&s->p.b, word_at(s, place, at));
  if (!words || !by) return word;
  IrInst *limit = ir_const_int(&s->p.b, type, by < 0 ? 0 : words);
  IrInst *other = ir_binary_const(&s->p.b, IR_ADD, at, by < 0 ? words : -words);
  IrInst *is_usual = emit(s, by < 0 ? IR_GE : IR_LT, at, limit);
  return ir_select(&s->p.b, is_usual, word, ir_load(&s->p.b, word_at(s, place, other)));
}

/* Loads the bits of 32 elements, from `by` elements after the word's first one on. */
static bool slice_load(Slicer *s, const IrInst *inst, Sliced *out) {
  const IrInst *place = inst->operands[0];
  BitDistance along;
  if (place->op != IR_PLACE || !bits_of_field(s, place->field))
    return refuse(s, "it reads elements that are not bits along its last axis");
  const SNode *node = s->kernel->fields.items[place->field].node;
  int64_t extent = node->shape[node->rank - 1];
  for (int k = 0; k + 1 < place->operand_count; k++)
    if (!is_uniform(s, place->operands[k]))
      return refuse(s, "the rows that it reads differ by element");
  if (!find_distance(s, place->operands[place->operand_count - 1], extent, &along))
    return refuse(s, "it reads bits at no constant distance");
  if (along.extent && extent % WORD)
    return refuse(s, "the extent is not a multiple of a word's bits");
  int64_t words = along.extent ? extent / WORD : 0, word = floor_div(along.by, WORD);
  int shift = (int)floor_mod(along.by, WORD);
  IrInst *low = load_word(s, place, word, words);
  if (!shift) {
    *out = planes_of_bit(low);
    return true;
  }
  IrInst *high = load_word(s, place, words ? (word + 1) % words : word + 1, words);
  low = ir_binary_const(&s->p.b, IR_SHR, low, shift);
  high = ir_binary_const(&s->p.b, IR_SHL, high, WORD - shift);
  *out = planes_of_bit(planes_or(&s->p, low, high));
  return true;
}

/* -- indices ----------------------------------------------------------------------------------- */

static Sliced *sliced_value(Slicer *s, const IrInst *inst);

/* A mask of the word's elements before the one with this index. */
static IrInst *bits_below(Slicer *s, IrInst *index) {
  Type type = s->index->type;
  IrInst *first = ir_binary_const(&s->p.b, IR_MUL, s->index, WORD);
  IrInst *count = emit(s, IR_SUB, ir_convert(&s->p.b, index, type), first);
  IrInst *some = ir_binary_const(&s->p.b, IR_GT, count, 0);
  IrInst *most = ir_binary_const(&s->p.b, IR_MIN, count, WORD);
  IrInst *unused = emit(s, IR_SUB, ir_const_int(&s->p.b, type, WORD), most);
  IrInst *bits = emit(s, IR_SHR, s->p.ones, ir_convert(&s->p.b, unused, TYPE(U32)));
  return ir_select(&s->p.b, some, bits, s->p.zero);
}

/* Compares the index with a value that is the same for all elements of a word. */
static bool compare_index(Slicer *s, const IrInst *inst, Sliced *out) {
  IrInst *x = inst->operands[0], *y = inst->operands[1];
  int64_t by;
  IrOp by_op = inst->op;
  if (!is_near(s, x, &by)) {
    IrInst *other = x;
    x = y;
    y = other;
    by_op = rewrite_mirrored(by_op);
  }
  if (!is_near(s, x, &by) || !is_uniform(s, y)) return false;
  Type type = s->index->type;
  IrInst *limit = ir_convert(&s->p.b, recompute_uniform(s, y), type);
  limit = ir_binary_const(&s->p.b, IR_SUB, limit, by);
  IrInst *next = ir_binary_const(&s->p.b, IR_ADD, limit, 1);
  bool has_limit = by_op == IR_LE || by_op == IR_GT;
  IrInst *bits = bits_below(s, has_limit ? next : limit);
  if (by_op == IR_EQ || by_op == IR_NE) bits = planes_xor(&s->p, bits_below(s, next), bits);
  bool is_opposite = by_op == IR_GE || by_op == IR_GT || by_op == IR_NE;
  *out = planes_of_bit(is_opposite ? planes_not(&s->p, bits) : bits);
  return true;
}

static bool slice_comparison(Slicer *s, const IrInst *inst, Sliced *out) {
  if (type_is_integer(inst->operands[0]->type) && compare_index(s, inst, out)) return true;
  Sliced *x = sliced_value(s, inst->operands[0]), *y = sliced_value(s, inst->operands[1]);
  if (!x || !y) return false;
  bool is_equality = inst->op == IR_EQ || inst->op == IR_NE;
  bool is_opposite = inst->op == IR_GE || inst->op == IR_LE || inst->op == IR_NE;
  bool is_mirrored = inst->op == IR_GT || inst->op == IR_LE;
  IrInst *bits = is_equality   ? planes_are_equal(&s->p, x, y)
                 : is_mirrored ? planes_is_less(&s->p, y, x)
                               : planes_is_less(&s->p, x, y);
  *out = planes_of_bit(is_opposite ? planes_not(&s->p, bits) : bits);
  return !s->p.obstacle;
}

static bool slice_conversion(Slicer *s, const IrInst *inst, Sliced *x, Sliced *out) {
  *out = *x;
  if (type_is_bool(inst->type)) {
    *out = planes_of_bit(planes_is_any(&s->p, x));
    return true;
  }
  bool fits = type_is_integer(inst->type) && (type_is_signed(inst->type) || x->least >= 0) &&
              x->count < type_bits(inst->type);
  return fits || refuse(s, "it converts its numbers to another kind");
}

/* -- values that depend on one small number ---------------------------------------------------- */

/* The only integer or bool that the value is computed from, perhaps through floats; NULL: only
 * constants, or *is_one is false. */
static const IrInst *root_of(const IrInst *inst, int depth, bool *is_one) {
  const IrInst *root = NULL;
  *is_one &= depth < DEEPEST && (ir_effects(inst) & IR_PURE) && inst->operand_count <= 3;
  for (int k = 0; k < inst->operand_count && *is_one; k++) {
    const IrInst *x = inst->operands[k], *found = x;
    if (x->op == IR_CONST) continue;
    if (type_is_float(x->type)) found = root_of(x, depth + 1, is_one);
    *is_one &= !found || !root || found == root;
    if (found) root = found;
  }
  return root;
}

/* Slices a value by a table of its results, such as `c % 3`, an item of a table, or `floor(c / 2)`.
 * */
static bool slice_by_table(Slicer *s, const IrInst *inst, Sliced *out) {
  int64_t values[1 << PLANES_MOST_INDEX];
  bool is_one = true;
  const IrInst *root = root_of(inst, 0, &is_one);
  if (!is_one || !root || type_is_float(root->type))
    return refuse(s, "it computes what planes of bits are not good for");
  Sliced *number = sliced_value(s, root);
  if (!number) return false;
  planes_add_pending(&s->p, number);
  bool is_small = number->count <= PLANES_MOST_INDEX;
  for (int64_t n = number->least; is_small && n <= number->most; n++)
    is_small = fold_constant_at(s->kernel, inst, root, n, &values[n - number->least]);
  if (!is_small) return refuse(s, "it computes what planes of bits are not good for");
  return planes_look_up(&s->p, number, values, out);
}

/* -- values ------------------------------------------------------------------------------------ */

static bool slice_by_logic(Slicer *s, const IrInst *inst, Sliced *out) {
  Sliced *x[3] = {0};
  for (int k = 0; k < inst->operand_count && k < 3; k++)
    if (!(x[k] = sliced_value(s, inst->operands[k]))) return false;
  switch (inst->op) {
  case IR_ADD: return planes_add(&s->p, x[0], x[1], out);
  case IR_SUB: return planes_subtract(&s->p, x[0], x[1], out);
  case IR_BAND:
  case IR_BOR:
  case IR_BXOR: return planes_combine(&s->p, inst->op, x[0], x[1], out);
  case IR_BNOT: *out = planes_of_bit(planes_not(&s->p, x[0]->planes[0])); return true;
  case IR_SELECT: return planes_choose_number(&s->p, x[0]->planes[0], x[1], x[2], out);
  default:
    ASSERT(inst->op == IR_CONVERT, "an op of numbers");
    return slice_conversion(s, inst, x[0], out);
  }
}

static bool is_logic(const IrInst *inst) {
  switch (inst->op) {
  case IR_BNOT: return type_is_bool(inst->type);
  case IR_CONVERT: return !type_is_float(inst->operands[0]->type);
  case IR_ADD:
  case IR_SUB:
  case IR_BAND:
  case IR_BOR:
  case IR_BXOR:
  case IR_SELECT: return true;
  default: return false;
  }
}

static bool compute_slices(Slicer *s, const IrInst *inst, Sliced *out) {
  int64_t number;
  bool is_known = type_is_bool(inst->type) || type_is_integer(inst->type);
  if (!is_known) return refuse(s, "it computes with floats");
  if (ir_is_const(inst, &number)) return planes_of_constant(&s->p, number, out);
  if (inst->op == IR_LOAD) return slice_load(s, inst, out);
  if (ir_is_comparison(inst->op) && !type_is_float(inst->operands[0]->type))
    return slice_comparison(s, inst, out);
  if (type_is_bool(inst->type) && is_uniform(s, inst)) {
    *out = planes_of_bit(
        ir_select(&s->p.b, recompute_uniform(s, (IrInst *)inst), s->p.ones, s->p.zero));
    return true;
  }
  return is_logic(inst) ? slice_by_logic(s, inst, out) : slice_by_table(s, inst, out);
}

/* The slices of a value; NULL with an obstacle. */
static Sliced *sliced_value(Slicer *s, const IrInst *inst) {
  Sliced *value = &s->values[inst->id];
  if (value->count) return value;
  if (inst->op == IR_GET) { /* a variable: its current value */
    *value = s->values[inst->operands[0]->id];
    return value->count ? value : (refuse(s, "it reads a variable of another loop"), NULL);
  }
  return compute_slices(s, inst, value) && !s->p.obstacle ? value : NULL;
}

/* -- effects ----------------------------------------------------------------------------------- */

/* May the write activate a cell? A word is written even if a condition holds for none of its
 * elements. */
static bool may_activate(const Slicer *s, const IrInst *place) {
  const SNode *node = s->kernel->fields.items[place->field].node;
  bool is_visited =
      s->task->kind == TASK_LEAVES && s->kernel->levels.items[s->task->cells_level].node == node;
  return !is_visited && snode_node_level(node) != NULL;
}

static bool slice_write(Slicer *s, const IrInst *inst) {
  const IrInst *place = inst->operands[0];
  if (!facts_is_own_place(place, s->task->body) || !bits_of_field(s, place->field))
    return refuse(s, "it writes elements other than its own bits");
  Sliced *x = sliced_value(s, inst->operands[1]);
  if (!x) return false;
  if (s->mask != s->p.ones && may_activate(s, place))
    return refuse(s, "it writes under a condition what may not be active yet");
  IrInst *mask = s->range ? planes_and(&s->p, s->mask, s->range) : s->mask, *bits;
  const SNode *node = s->kernel->fields.items[place->field].node;
  int64_t extent = node->shape[node->rank - 1];
  if (extent % WORD && s->most > extent) /* bits past the last element stay 0 */
    mask = planes_and(&s->p, mask, bits_below(s, ir_const_int(&s->p.b, s->index->type, extent)));
  IrInst *word = word_at(s, place, s->index);
  bool reads = inst->op == IR_UPDATE || mask != s->p.ones;
  IrInst *old = reads ? ir_load(&s->p.b, word) : NULL;
  if (inst->op == IR_UPDATE) {
    Sliced before = planes_of_bit(old), after;
    bool ok = inst->imm == IR_UPDATE_ADD    ? planes_add(&s->p, &before, x, &after)
              : inst->imm == IR_UPDATE_SUB  ? planes_subtract(&s->p, &before, x, &after)
              : inst->imm == IR_UPDATE_BAND ? planes_combine(&s->p, IR_BAND, &before, x, &after)
              : inst->imm == IR_UPDATE_BOR  ? planes_combine(&s->p, IR_BOR, &before, x, &after)
              : inst->imm == IR_UPDATE_BXOR ? planes_combine(&s->p, IR_BXOR, &before, x, &after)
                                            : refuse(s, "it updates bits by another operator");
    if (!ok) return false;
    bits = planes_is_positive(&s->p, &after); /* a uint(1) saturates */
  } else bits = planes_is_positive(&s->p, x);
  ir_store(&s->p.b, word, planes_choose(&s->p, mask, bits, old ? old : s->p.zero));
  return true;
}

/* A sum over the elements counts bits; those of plane k have weight 2^k. */
static bool slice_reduction(Slicer *s, const IrInst *inst) {
  if (inst->imm != IR_UPDATE_ADD || !type_is_integer(inst->operands[1]->type))
    return refuse(s, "it reduces by another operator than a sum of integers");
  Sliced *x = sliced_value(s, inst->operands[1]);
  if (!x) return false;
  IrInst *mask = s->range ? planes_and(&s->p, s->mask, s->range) : s->mask, *sum = NULL;
  Type type = inst->operands[1]->type;
  planes_add_pending(&s->p, x);
  for (int k = 0; k < x->count; k++) {
    IrInst *bits = planes_and(&s->p, x->planes[k], mask);
    if (bits == s->p.zero) continue;
    int64_t weight = (int64_t)1 << k;
    if (x->least < 0 && k == x->count - 1) weight = -weight;
    IrInst *count = ir_convert(&s->p.b, ir_unary(&s->p.b, IR_POPCNT, bits), type);
    count = ir_binary_const(&s->p.b, IR_MUL, count, weight);
    sum = sum ? emit(s, IR_ADD, sum, count) : count;
  }
  IrInst *slot = recompute_uniform(s, inst->operands[0]);
  if (!sum) return true;
  ir_reduce(&s->p.b, IR_UPDATE_ADD, slot, sum);
  return true;
}

static bool slice_region(Slicer *s, const IrRegion *region);

static bool slice_if(Slicer *s, const IrInst *inst) {
  Sliced *condition = sliced_value(s, inst->operands[0]);
  IrInst *outside = s->mask;
  if (!condition) return false;
  IrInst *which = condition->planes[0];
  s->mask = planes_and(&s->p, outside, which);
  if (!slice_region(s, inst->regions[0])) return false;
  s->mask = planes_and(&s->p, outside, planes_not(&s->p, which));
  if (!slice_region(s, inst->regions[1])) return false;
  s->mask = outside;
  return true;
}

/* A SET merges the new value into the variable by the current mask. */
static bool slice_set(Slicer *s, const IrInst *inst) {
  Sliced *x = sliced_value(s, inst->operands[1]);
  Sliced *var = &s->values[inst->operands[0]->id], before = *var;
  if (!x) return false;
  if (!before.count) return refuse(s, "it sets a variable of another loop");
  return planes_choose_number(&s->p, s->mask, x, &before, var);
}

static bool slice_region(Slicer *s, const IrRegion *region) {
  for (const IrInst *inst = region->first; inst && !s->p.obstacle; inst = inst->next) {
    switch (inst->op) {
    case IR_STORE:
    case IR_UPDATE:
      if (!slice_write(s, inst)) return false;
      break;
    case IR_LOAD: /* here, before later writes */
      if (!sliced_value(s, inst)) return false;
      break;
    case IR_REDUCE:
      if (!slice_reduction(s, inst)) return false;
      break;
    case IR_VAR: planes_of_constant(&s->p, 0, &s->values[inst->id]); break;
    case IR_SET:
      if (!slice_set(s, inst)) return false;
      break;
    case IR_GET:
      if (!sliced_value(s, inst)) return false;
      break;
    case IR_IF:
      if (!slice_if(s, inst)) return false;
      break;
    default:
      if (!(ir_effects(inst) & IR_PURE)) return refuse(s, "it does more than compute bits");
    }
  }
  return !s->p.obstacle;
}

/* -- the loop ---------------------------------------------------------------------------------- */

/* Does the body access arrays of bits? */
static bool uses_bits(const Slicer *s, const IrRegion *region) {
  for (const IrInst *inst = region->first; inst; inst = inst->next) {
    if (rewrite_is_access(inst->op) && inst->operands[0]->op == IR_PLACE &&
        bits_of_field(s, inst->operands[0]->field))
      return true;
    for (int k = 0; k < IR_MAX_REGIONS; k++)
      if (inst->regions[k] && uses_bits(s, inst->regions[k])) return true;
  }
  return false;
}

/* A mask of the word's elements that are in the loop; NULL: always all. */
static IrInst *range_mask(Slicer *s, TaskBounds *bounds) {
  Type type = s->index->type;
  IrInst *end = task_bounds_end(&s->p.b, bounds, WORD, type),
         *begin = task_bounds_begin(&s->p.b, bounds, WORD, type);
  IrInst *range = end ? bits_below(s, end) : s->p.ones;
  if (begin) range = planes_and(&s->p, range, planes_not(&s->p, bits_below(s, begin)));
  return range == s->p.ones ? NULL : range;
}

/* Makes the new body; NULL with an obstacle. `bounds`: of a range, else NULL. */
static IrRegion *slice_body(Slicer *s, TaskBounds *bounds) {
  IrRegion *old = s->task->body, *body = ir_region_create(s->kernel, NULL);
  s->params = ir_map(s->kernel->scratch, s->kernel);
  for (int k = 0; k < old->params.count; k++)
    ir_map_put(s->params, old->params.items[k],
               ir_region_param(s->kernel, body, old->params.items[k]->type));
  planes_init(&s->p, rewrite_inside(s->kernel, body, old->first));
  s->element = old->params.items[s->task->axis_count - 1];
  s->index = body->params.items[s->task->axis_count - 1];
  s->mask = s->p.ones;
  s->range = bounds ? range_mask(s, bounds) : NULL;
  s->most = bounds ? task_bounds_most(bounds) : INT64_MAX;
  return slice_region(s, old) ? body : NULL;
}

/* An array of bits whose words are cells of the task's leaf; NULL: there is none. */
static const IrField *field_of_leaf(const IrKernel *kernel, const IrTask *task) {
  const SNode *cells = kernel->levels.items[task->cells_level].node;
  const Slicer s = {.kernel = (IrKernel *)kernel};
  if (cells->kind != SNODE_DENSE || cells->axis_count < 1 ||
      cells->sizes[cells->axis_count - 1] % WORD)
    return NULL;
  for (int k = 0; k < kernel->fields.count; k++)
    if (kernel->fields.items[k].node == cells && bits_of_field(&s, k))
      return &kernel->fields.items[k];
  return NULL;
}

/* The level of the words of the task's leaf. */
static int words_level(IrKernel *kernel, const IrTask *task) {
  const IrField *field = field_of_leaf(kernel, task);
  ASSERT(field, "a leaf whose bits are sliced has words");
  const SNode *words = field->node->components[field->component].packed->words;
  return ir_add_level(kernel, words, field->name);
}

/* Slices the body after unrolling loops over neighbours, since each of their numbers has its own
 * planes; false with an obstacle. */
static bool slice_unrolled(PassContext *ctx, IrKernel *kernel, IrTask *task, TaskBounds *bounds,
                           const char **obstacle) {
  IrRegion *rolled = task->body;
  int notes = kernel->notes.count;
  if (ir_has_op(rolled, IR_FOR)) {
    task->body = ir_copy_region(kernel, rolled, NULL, ir_map(kernel->scratch, kernel));
    unroll_whole(kernel, task);
    fold_alone(ctx, kernel, task->body);
    mem2reg_alone(ctx, kernel, task->body);
  }
  Slicer s = {.ctx = ctx, .kernel = kernel, .task = task};
  s.values = scratch_array(ctx->scratch, Sliced, kernel->next_id);
  IrRegion *body = slice_body(&s, bounds);
  if (!body) {
    *obstacle = s.p.obstacle;
    task->body = rolled;
    kernel->notes.count = notes;
    return false;
  }
  if (bounds) task_bounds_to_words(kernel, bounds, WORD);
  else task->cells_level = words_level(kernel, task);
  task->body = body;
  task->has_words = true;
  return true;
}

static void slice_task(PassContext *ctx, IrKernel *kernel, IrTask *task) {
  const Slicer s = {.kernel = kernel};
  TaskBounds found, *bounds = task->kind == TASK_RANGE ? &found : NULL;
  const char *obstacle;
  if (task->interior || !uses_bits(&s, task->body)) return;
  if (bounds ? !task_bounds_find(kernel, task, bounds)
             : task->kind != TASK_LEAVES || !task->cells || !field_of_leaf(kernel, task))
    return;
  if (slice_unrolled(ctx, kernel, task, bounds, &obstacle))
    ir_note(kernel, task->line, "computes the bits of %d elements at once", WORD);
  else ir_note(kernel, task->line, "bits are read and written one by one: %s", obstacle);
}

bool pass_bit_slices(PassContext *ctx, IrKernel *kernel, Error *err) {
  if (ctx->checks_range) return true; /* then each number is checked */
  for (int i = 0; i < kernel->tasks.count; i++) slice_task(ctx, kernel, kernel->tasks.items[i]);
  return true;
}
