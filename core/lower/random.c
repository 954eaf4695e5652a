/* random.c - random numbers. Each iteration of a parallel loop, and the host region, has its own
 * sequence, a function of
 *
 *   key     one per execution of its loop: the runtime's seed, its rank and a count
 *           (RANDOM_STREAM); without the rank if the loop runs over indices of the whole simulation
 *   index   of the iteration: its indices, combined
 *   trip    the number of iterations that the serial loops around the call have begun, 0 without
 *           such loops; each call of a recursive function counts one, and its return another
 *   word    of the call: each call in the expanded text has words of its own
 *
 * and of nothing else: not of threads, tasks, devices, the order of a list or of evaluation. RANDOM
 * yields two words of 32 bits at once; calls take as many as they need, aligned so that they use
 * few blocks of four. */
#include "lower/lower.h"

/* Indices of several axes become one number in a lattice without short vectors (a multiplier for
 * congruential generators of 64 bits: Steele and Vigna, 2021). */
static const int64_t multiplier = (int64_t)0xd1342543de82ef95u;
enum { TRIP_SHIFT = 20, PAIR = 2 };

/* -- streams ----------------------------------------------------------------------------------- */

void random_begin(Lower *l, const RandomUse *use, IrInst *key, IrInst *const *indices, int count) {
  l->random = (Random){0};
  if (!use->is_used) return;
  IrInst *index = lower_number(l, TYPE(I64), 0);
  for (int k = 0; k < count; k++) {
    IrInst *next = lower_convert(l, indices[k], TYPE(I64));
    index =
        k == 0
            ? next
            : ir_binary(&l->b, IR_ADD,
                        ir_binary(&l->b, IR_MUL, index, ir_const_int(&l->b, TYPE(I64), multiplier)),
                        next);
  }
  l->random.key = key;
  l->random.index = index;
  if (use->has_trips) l->random.trip = ir_var(&l->b, TYPE(I64));
}

IrInst *random_stream(Lower *l, const RandomUse *use, bool is_global) {
  if (!use->is_used) return NULL;
  IrInst *stream = ir_emit(&l->b, IR_RANDOM_STREAM, TYPE(I64), 0, NULL);
  stream->imm = is_global;
  return stream;
}

void random_trip(Lower *l) {
  IrInst *trip = l->random.trip;
  IrInst *one = lower_number(l, TYPE(I64), 1);
  ir_set(&l->b, trip, ir_binary(&l->b, IR_ADD, ir_get(&l->b, trip), one));
}

void random_resume(Lower *l, IrInst *const *given) {
  l->random = (Random){0};
  if (!given) return;
  l->random = (Random){.key = given[0], .index = given[1], .trip = ir_var(&l->b, TYPE(I64))};
  ir_set(&l->b, l->random.trip, ir_binary(&l->b, IR_ADD, given[2], lower_number(l, TYPE(I64), 1)));
}

IrInst *random_resumed(Lower *l) {
  IrInst *one = lower_number(l, TYPE(I64), 1);
  return ir_binary(&l->b, IR_ADD, ir_get(&l->b, l->random.trip), one);
}

/* -- words ------------------------------------------------------------------------------------- */

/* Reserves `count` words for the call e; returns the first. */
static int64_t take_words(Lower *l, Expr *e, int64_t count) {
  int64_t align = count > PAIR ? 2 * PAIR : count;
  if (e->random_word) return e->random_word - 1; /* lowered again */
  int64_t first = (l->random.words + align - 1) / align * align;
  l->random.words = first + count;
  e->random_word = first + 1;
  return first;
}

/* Words 2n and 2n + 1 as one u64. */
static IrInst *pair_of(Lower *l, int64_t word) {
  IrInst *number = lower_number(l, TYPE(I64), word / PAIR);
  if (l->random.trip) {
    IrInst *shift = lower_number(l, TYPE(I64), TRIP_SHIFT - 1);
    IrInst *trips = ir_binary(&l->b, IR_SHL, ir_get(&l->b, l->random.trip), shift);
    number = ir_binary(&l->b, IR_ADD, trips, number);
  }
  return ir_emit(&l->b, IR_RANDOM, TYPE(U64), 3,
                 (IrInst *[]){l->random.key, l->random.index, number});
}

static IrInst *shifted(Lower *l, IrInst *bits, int by) {
  return by ? ir_binary(&l->b, IR_SHR, bits, lower_number(l, bits->type, by)) : bits;
}

/* A word's upper `bits`, as an i32 (or u32: all of them). */
static IrInst *word_of(Lower *l, int64_t word, int bits) {
  IrInst *upper = shifted(l, pair_of(l, word), 32 * (word % PAIR));
  upper = shifted(l, ir_convert(&l->b, upper, TYPE(U32)), 32 - bits);
  return bits < 32 ? ir_convert(&l->b, upper, TYPE(I32)) : upper;
}

/* -- one number -------------------------------------------------------------------------------- */

static int words_of(Type type, RandomForm form) {
  int own = type_bits(type) > 32 || (form == RANDOM_WITHIN && type_is_integer(type)) ? PAIR : 1;
  return form == RANDOM_NORMAL ? 2 * own : own;
}

static IrInst *scaled(Lower *l, IrInst *whole, Type type, int bits, double plus) {
  IrInst *value = ir_convert(&l->b, whole, type);
  if (plus != 0) value = ir_binary(&l->b, IR_ADD, value, ir_const_float(&l->b, type, plus));
  double unit = 1.0 / (double)((uint64_t)1 << bits);
  return ir_binary(&l->b, IR_MUL, value, ir_const_float(&l->b, type, unit));
}

/* In [0, 1), with as many bits as the type's significand. */
static IrInst *uniform(Lower *l, Type type, int64_t word) {
  int bits = type_is(type, TYPE_F64) ? 53 : type_is(type, TYPE_F32) ? 24 : 11;
  if (bits < 53) return scaled(l, word_of(l, word, bits), type, bits, 0);
  IrInst *whole = shifted(l, pair_of(l, word), 64 - 53);
  return scaled(l, ir_convert(&l->b, whole, TYPE(I64)), type, bits, 0);
}

/* All bits of an integer, one of a bool. */
static IrInst *any(Lower *l, Type type, int64_t word) {
  if (type_is_bool(type)) {
    IrInst *zero = lower_number(l, TYPE(I32), 0);
    return ir_binary(&l->b, IR_NE, word_of(l, word, 1), zero);
  }
  return ir_convert(&l->b, type_bits(type) > 32 ? pair_of(l, word) : word_of(l, word, 32), type);
}

/* low + floor(2^-64 * pair * (high - low + 1)); `low` if high is below it. */
static IrInst *integer_within(Lower *l, int64_t word, IrInst *low, IrInst *high) {
  Type type = low->type;
  IrInst *one = lower_number(l, TYPE(U64), 1), *pair = pair_of(l, word);
  IrInst *from = ir_convert(&l->b, low, TYPE(U64));
  IrInst *span = ir_binary(&l->b, IR_SUB, ir_convert(&l->b, high, TYPE(U64)), from);
  IrInst *count = ir_binary(&l->b, IR_ADD, span, one);
  IrInst *part = ir_binary(&l->b, IR_MULHI, pair, count);
  IrInst *is_all = ir_binary(&l->b, IR_EQ, count, lower_number(l, TYPE(U64), 0));
  part = ir_select(&l->b, is_all, pair, part);
  IrInst *zero = lower_number(l, TYPE(U64), 0);
  part = ir_select(&l->b, ir_binary(&l->b, IR_LT, high, low), zero, part);
  return ir_binary(&l->b, IR_ADD, low, ir_convert(&l->b, part, type));
}

static IrInst *float_within(Lower *l, Type type, int64_t word, IrInst *low, IrInst *high) {
  IrInst *span = ir_binary(&l->b, IR_SUB, high, low);
  return ir_binary(&l->b, IR_ADD, low, ir_binary(&l->b, IR_MUL, span, uniform(l, type, word)));
}

/* Box and Muller; the first uniform number is never 0. */
static IrInst *normal(Lower *l, Type type, int64_t word) {
  const double tau = 6.283185307179586;
  bool is_wide = type_is(type, TYPE_F64);
  Type at = is_wide ? type : TYPE(F32);
  IrInst *whole = is_wide ? ir_convert(&l->b, shifted(l, pair_of(l, word), 64 - 53), TYPE(I64))
                          : ir_convert(&l->b, word_of(l, word, 32), TYPE(I64));
  IrInst *first = scaled(l, whole, at, is_wide ? 53 : 32, 0.5);
  IrInst *second = uniform(l, at, word + (is_wide ? PAIR : 1));
  IrInst *angle = ir_binary(&l->b, IR_MUL, ir_const_float(&l->b, at, tau), second);
  IrInst *log = ir_unary(&l->b, IR_LOG, first);
  IrInst *square = ir_binary(&l->b, IR_MUL, ir_const_float(&l->b, at, -2), log);
  IrInst *cosine = ir_unary(&l->b, IR_COS, angle);
  IrInst *value = ir_binary(&l->b, IR_MUL, ir_unary(&l->b, IR_SQRT, square), cosine);
  return lower_convert(l, value, type);
}

/* -- calls ------------------------------------------------------------------------------------- */

IrInst **lower_random(Lower *l, Expr *e) {
  const RandomCall *call = &e->random;
  Type type = random_type(e);
  int count = type_parts(shape_of(e)), words = words_of(type, call->form);
  IrInst **values = lower_array(l, count), **low = NULL, **high = NULL;
  if (call->form == RANDOM_WITHIN) {
    low = lower_values_as(l, call->low, type, count);
    high = lower_values_as(l, call->high, type, count);
  }
  lower_set_pos(l, e->pos);
  int64_t word = take_words(l, e, (int64_t)words * count);
  for (int k = 0; k < count; k++, word += words) {
    if (call->form == RANDOM_NORMAL) values[k] = normal(l, type, word);
    else if (call->form == RANDOM_WITHIN && type_is_float(type))
      values[k] = float_within(l, type, word, low[k], high[k]);
    else if (call->form == RANDOM_WITHIN) values[k] = integer_within(l, word, low[k], high[k]);
    else values[k] = type_is_float(type) ? uniform(l, type, word) : any(l, type, word);
  }
  return values;
}
