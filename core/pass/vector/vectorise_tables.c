/* vectorise_tables.c - TABLE_GET of lanes: small tables of integers are kept in registers, as words
 * that hold several entries each, minus the least entry. Lanes select a word and shift it, which is
 * cheaper than a gather, which reads each lane separately.
 *
 *     %x: i32x8 = item t %i      =>      word = select(%i & 16, second, first)
 *     (32 entries, -3 .. 0)              %x = (word >> 2 * (%i & 15) & 3) - 3 */
#include "pass/vector/vectorise.h"

typedef struct Packing {
  int bits;      /* of an entry */
  int64_t least; /* is added to an entry */
  int word_bits; /* 32 or 64 */
  int per_word;  /* entries; a power of two if there are several words */
  int words;     /* 0: the table stays in memory */
} Packing;

enum { MOST_WORDS = 8 };

static int largest_power_of_two(int most) {
  int power = 1;
  while (2 * power <= most) power *= 2;
  return power;
}

static bool fits_words(Packing *p, int entries, int word_bits, int most) {
  int per_word = word_bits / p->bits;
  if (per_word < 1) return false;
  if (per_word < entries) per_word = largest_power_of_two(per_word);
  p->word_bits = word_bits;
  p->per_word = per_word;
  p->words = (entries + per_word - 1) / per_word;
  if (p->words > most) p->words = 0;
  return p->words > 0;
}

/* An index out of bounds reads a zero after the last entry. */
static Packing packing_of(const IrTable *table, bool is_inside) {
  Packing p = {0};
  if (type_is_float(table->type) || !table->count) return p;
  int64_t least = is_inside ? table->values[0] : 0, most = least;
  for (int k = 0; k < table->count; k++) {
    if (table->values[k] < least) least = table->values[k];
    if (table->values[k] > most) most = table->values[k];
  }
  uint64_t range = (uint64_t)most - (uint64_t)least;
  for (p.bits = 1; p.bits < 64 && range >> p.bits;) p.bits++;
  p.least = least;
  int entries = table->count + !is_inside;
  (void)(fits_words(&p, entries, 32, 1) || fits_words(&p, entries, 64, 1) ||
         fits_words(&p, entries, 32, MOST_WORDS) || fits_words(&p, entries, 64, MOST_WORDS));
  return p;
}

/* The index in words of the packing, unsigned; one out of bounds becomes that of the zero. */
static IrInst *index_of(Vectoriser *v, const IrInst *item, const Packing *p, int count) {
  IrInst *index = vectorise_lanes(v, item->operands[0]);
  Type type = type_element(index->type), wide = type_bits(type) == 64 ? TYPE(U64) : TYPE(U32);
  if (type_bits(type) < 32 && type_is_signed(type))
    index = ir_convert(&v->b, index, ir_lanes_type(TYPE(I32), v->width));
  index = ir_convert(&v->b, index, ir_lanes_type(wide, v->width));
  if (!item->in_bounds) index = ir_binary_const(&v->b, IR_MIN, index, count);
  return ir_convert(&v->b, index,
                    ir_lanes_type(p->word_bits == 64 ? TYPE(U64) : TYPE(U32), v->width));
}

static int64_t word_of(const IrTable *table, const Packing *p, int number) {
  uint64_t word = 0;
  for (int k = 0; k < p->per_word; k++) {
    int at = number * p->per_word + k;
    int64_t entry = at < table->count ? table->values[at] : at == table->count ? 0 : p->least;
    word |= ((uint64_t)entry - (uint64_t)p->least) << (p->bits * k);
  }
  return (int64_t)word;
}

/* A tree of selects over the words, with a bit of their number on each level. */
static IrInst *select_word(Vectoriser *v, const IrTable *table, const Packing *p, IrInst *index) {
  IrInst *words[MOST_WORDS];
  int count = p->words, first = __builtin_ctz((unsigned)p->per_word);
  ASSERT(count > 0 && count <= MOST_WORDS, "the table fits into these words");
  for (int w = 0; w < count; w++)
    words[w] = ir_const_int(&v->b, index->type,
                            ir_wrap_int(type_element(index->type), word_of(table, p, w)));
  for (int bit = first; count > 1; bit++) {
    IrInst *upper =
        ir_binary_const(&v->b, IR_NE, ir_binary_const(&v->b, IR_BAND, index, (int64_t)1 << bit), 0);
    for (int k = 0; k < count / 2; k++)
      words[k] = ir_select(&v->b, upper, words[2 * k + 1], words[2 * k]);
    if (count % 2) words[count / 2] = words[count - 1];
    count = (count + 1) / 2;
  }
  return words[0];
}

static IrInst *read_registers(Vectoriser *v, const IrInst *item, const Packing *p) {
  const IrTable *table = &v->kernel->tables.items[item->imm];
  IrInst *index = index_of(v, item, p, table->count), *word = select_word(v, table, p, index);
  if (p->words > 1) index = ir_binary_const(&v->b, IR_BAND, index, p->per_word - 1);
  IrInst *number = ir_binary(&v->b, IR_SHR, word, ir_binary_const(&v->b, IR_MUL, index, p->bits));
  if (p->bits < p->word_bits)
    number = ir_binary_const(&v->b, IR_BAND, number, ((int64_t)1 << p->bits) - 1);
  if (type_is_bool(item->type)) return ir_binary_const(&v->b, IR_NE, number, 0);
  number = ir_convert(&v->b, number, ir_lanes_type(item->type, v->width));
  return p->least ? ir_binary_const(&v->b, IR_ADD, number, p->least) : number;
}

void vectorise_item(Vectoriser *v, const IrInst *item) {
  if (vectorise_shape(v, item) != LANE_VARYING) return vectorise_copy_scalar(v, item);
  Packing packing = packing_of(&v->kernel->tables.items[item->imm], item->in_bounds);
  if (packing.words) return ir_map_put(v->lanes, item, read_registers(v, item, &packing));
  IrInst *index = vectorise_lanes(v, item->operands[0]);
  /* lanes that are not active read the first number of the table */
  index = ir_select(&v->b, v->mask, index, ir_const_int(&v->b, index->type, 0));
  Type type = ir_lanes_type(item->type, v->width);
  ir_map_put(v->lanes, item, vectorise_copy(v, item, type, &index));
}
