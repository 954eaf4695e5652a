/* item.c - ITEM and PICK: a number selected by an index, from a table (read-only data of the
 * module) or from some values (held in a vector register). An index outside gives zero, for which a
 * table has an extra entry at its end. In lanes, a small table of integers is in registers. Entries
 * in memory have at least 32 bits, since machines cannot gather less. */
#include "codegen/emit.h"

/* The most values that PICK holds in a vector, and that it selects from by a tree. A GPU has no
 * vector registers, so a vector would be in memory. */
enum { MOST_PICKED = 64, MOST_SELECTED = 24 };

static Type memory_type(Type type) {
  bool is_short = type_is_bool(type) || (type_is_integer(type) && type_bits(type) < 32);
  return is_short ? TYPE(I32) : type;
}

static LLVMValueRef constant(Codegen *g, Type type, int64_t imm) {
  LLVMTypeRef memory = value_type(g, memory_type(type));
  if (!type_is_float(type)) return value_integer(memory, imm);
  double number;
  memcpy(&number, &imm, sizeof number);
  return value_real(memory, number);
}

static LLVMValueRef table_of(Codegen *g, int number) {
  const IrTable *table = &g->kernel->tables.items[number];
  ASSERT(number >= 0 && number < g->kernel->tables.count, "a table of the kernel");
  if (g->tables[number]) return g->tables[number];
  LLVMValueRef *values = scratch_array(g->scratch, LLVMValueRef, table->count + 1);
  for (int k = 0; k < table->count; k++) values[k] = constant(g, table->type, table->values[k]);
  values[table->count] = constant(g, table->type, 0);
  LLVMTypeRef memory = value_type(g, memory_type(table->type));
  LLVMValueRef all = LLVMConstArray2(memory, values, (uint64_t)table->count + 1);
  LLVMValueRef global = LLVMAddGlobal(g->module, LLVMTypeOf(all), "rg_table");
  LLVMSetInitializer(global, all);
  LLVMSetGlobalConstant(global, true);
  LLVMSetLinkage(global, LLVMPrivateLinkage);
  LLVMSetUnnamedAddress(global, LLVMGlobalUnnamedAddr);
  return g->tables[number] = global;
}

/* The index, unsigned; an index outside becomes `count`. */
static LLVMValueRef bounded(Codegen *g, const IrInst *inst, int count) {
  LLVMValueRef index = value_operand(g, inst, 0);
  Type type = type_element(inst->operands[0]->type);
  if (type_bits(type) < 32)
    index = arith_convert(g, type, type_is_signed(type) ? TYPE(I32) : TYPE(U32), index);
  if (inst->inside) return index;
  LLVMValueRef args[] = {index, value_integer(LLVMTypeOf(index), count)};
  return call_intrinsic(g, "llvm.umin", LLVMTypeOf(index), args, 2);
}

static LLVMValueRef from_memory(Codegen *g, Type type, LLVMValueRef value) {
  if (type_is_bool(type))
    return LLVMBuildICmp(g->builder, LLVMIntNE, value, LLVMConstNull(LLVMTypeOf(value)), "");
  return type_equal(memory_type(type), type)
             ? value
             : LLVMBuildTrunc(g->builder, value,
                              value_lanes(value_type(g, type), value_width(value)), "");
}

/* A tree of selects over values[0 .. count), one bit of the index per level. */
static LLVMValueRef tree(Codegen *g, LLVMValueRef index, LLVMValueRef *values, int count) {
  ASSERT(count > 0, "there is a value to select");
  for (int bit = 0; count > 1; bit++) {
    LLVMValueRef mask = value_integer(LLVMTypeOf(index), (int64_t)1 << bit);
    LLVMValueRef set = LLVMBuildAnd(g->builder, index, mask, "");
    LLVMValueRef upper =
        LLVMBuildICmp(g->builder, LLVMIntNE, set, LLVMConstNull(LLVMTypeOf(set)), "");
    int pairs = count / 2;
    for (int k = 0; k < pairs; k++)
      values[k] = arith_select(g, upper, values[2 * k + 1], values[2 * k]);
    if (count % 2) values[pairs] = values[count - 1];
    count = pairs + count % 2;
  }
  return values[0];
}

/* -- tables in registers ----------------------------------------------------------------------- */

/* A small table of integers as words that hold several entries each, less the least entry: lanes
 * select a word, and shift it. That is cheaper than a gather, which reads each lane by itself. */
typedef struct Packing {
  int bits;      /* of an entry */
  int64_t least; /* is added to an entry */
  int word_bits; /* 32 or 64 */
  int per_word;  /* entries; a power of two if there are several words */
  int words;     /* 0: the table stays in memory */
} Packing;

enum { MOST_WORDS = 8 };

static int largest_power(int most) {
  int power = 1;
  while (2 * power <= most) power *= 2;
  return power;
}

static bool fits_words(Packing *p, int entries, int word_bits, int most) {
  int per_word = word_bits / p->bits;
  if (per_word < 1) return false;
  if (per_word < entries) per_word = largest_power(per_word);
  p->word_bits = word_bits;
  p->per_word = per_word;
  p->words = (entries + per_word - 1) / per_word;
  if (p->words > most) p->words = 0;
  return p->words > 0;
}

/* An index outside reads the final zero. */
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

static LLVMValueRef select_word(Codegen *g, const IrTable *table, const Packing *p,
                                LLVMValueRef index, LLVMTypeRef type) {
  LLVMValueRef words[MOST_WORDS];
  ASSERT(p->words > 0 && p->words <= (int)MOST_WORDS, "the table fits into these words");
  for (int w = 0; w < p->words; w++) {
    uint64_t word = 0;
    for (int k = 0; k < p->per_word; k++) {
      int at = w * p->per_word + k;
      int64_t entry = at < table->count ? table->values[at] : at == table->count ? 0 : p->least;
      word |= ((uint64_t)entry - (uint64_t)p->least) << (p->bits * k);
    }
    words[w] = value_integer(type, (int64_t)word);
  }
  int shift = __builtin_ctz((unsigned)p->per_word);
  if (p->words > 1) index = LLVMBuildLShr(g->builder, index, value_integer(type, shift), "");
  return tree(g, index, words, p->words);
}

static LLVMValueRef unpack(Codegen *g, const IrTable *table, const Packing *p, LLVMValueRef index,
                           LLVMTypeRef target) {
  LLVMTypeRef type = value_lanes(p->word_bits == 64 ? g->i64 : g->i32, value_width(index));
  index = LLVMBuildIntCast2(g->builder, index, type, false, "");
  LLVMValueRef word = select_word(g, table, p, index, type);
  if (p->words > 1)
    index = LLVMBuildAnd(g->builder, index, value_integer(type, p->per_word - 1), "");
  LLVMValueRef far = LLVMBuildMul(g->builder, index, value_integer(type, p->bits), "");
  LLVMValueRef number = LLVMBuildLShr(g->builder, word, far, "");
  uint64_t mask = p->bits == 64 ? UINT64_MAX : (UINT64_C(1) << p->bits) - 1;
  number = LLVMBuildAnd(g->builder, number, value_integer(type, (int64_t)mask), "");
  number = LLVMBuildIntCast2(g->builder, number, target, false, "");
  return LLVMBuildAdd(g->builder, number, value_integer(target, p->least), "");
}

/* Lanes that are not active have the index of an entry. */
static LLVMValueRef gather(Codegen *g, Type memory, LLVMValueRef places) {
  LLVMTypeRef mask = value_lanes(g->bool_type, value_width(places));
  return vector_gather(g, memory, places, LLVMConstAllOnes(mask));
}

void item_emit(Codegen *g, const IrInst *inst) {
  const IrTable *table = &g->kernel->tables.items[inst->imm];
  LLVMValueRef index = bounded(g, inst, table->count);
  Type type = type_element(inst->type), memory = memory_type(type);
  int width = value_width(index);
  Packing packing = width > 1 ? packing_of(table, inst->inside) : (Packing){0};
  if (packing.words) {
    LLVMTypeRef target = value_lanes(value_type(g, memory), width);
    return value_set(g, inst, from_memory(g, type, unpack(g, table, &packing, index, target)));
  }
  LLVMValueRef wide = LLVMBuildZExt(g->builder, index, value_lanes(g->i64, width), "");
  LLVMValueRef place =
      LLVMBuildGEP2(g->builder, value_type(g, memory), table_of(g, (int)inst->imm), &wide, 1, "");
  LLVMValueRef value = width > 1 ? gather(g, memory, place)
                                 : LLVMBuildLoad2(g->builder, value_type(g, memory), place, "");
  value_set(g, inst, from_memory(g, type, value));
}

/* -- picks ------------------------------------------------------------------------------------- */

static LLVMValueRef from_vector(Codegen *g, LLVMValueRef index, LLVMValueRef *values, int count) {
  ASSERT(count > 1 && count <= MOST_PICKED + 1, "few values fit into registers");
  LLVMTypeRef type = LLVMVectorType(LLVMTypeOf(values[0]), (unsigned)count);
  LLVMValueRef all = LLVMGetPoison(type);
  for (int k = 0; k < count; k++)
    all = LLVMBuildInsertElement(g->builder, all, values[k], value_integer(g->i32, k), "");
  return LLVMBuildExtractElement(g->builder, all, index, "");
}

void pick_emit(Codegen *g, const IrInst *inst) {
  int count = inst->operand_count - 1, width = 1;
  LLVMValueRef *values = scratch_array(g->scratch, LLVMValueRef, count + 1);
  LLVMValueRef index = bounded(g, inst, count);
  for (int k = 0; k < count; k++) {
    values[k] = value_operand(g, inst, k + 1);
    if (value_width(values[k]) > width) width = value_width(values[k]);
  }
  if (!inst->inside) values[count] = LLVMConstNull(LLVMTypeOf(values[0])), count++;
  bool is_one = width == 1 && value_width(index) == 1;
  int few = g->part == CODEGEN_GPU_TASKS ? MOST_SELECTED : 2;
  bool is_vector = is_one && count > few && count <= MOST_PICKED && !type_is_bool(inst->type);
  value_set(g, inst,
            is_vector ? from_vector(g, index, values, count) : tree(g, index, values, count));
}
