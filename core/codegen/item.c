/* item.c - ITEM and PICK: a number selected by an index, from a table (read-only data of the
 * module) or from some values (held in a vector register). An index outside gives zero, for which a
 * table has an extra entry at its end. Entries have at least 32 bits, since machines cannot gather
 * less. */
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

/* The bits per entry if a whole table, with its final zero, fits into one word; else 0. */
static int packed_bits(const IrTable *table, bool is_inside) {
  int64_t most = 1;
  int bits = 0;
  if (type_is_float(table->type)) return 0;
  for (int k = 0; k < table->count; k++) {
    if (table->values[k] < 0) return 0;
    if (table->values[k] > most) most = table->values[k];
  }
  while (bits < 63 && most >> bits) bits++;
  return (int64_t)bits * (table->count + !is_inside) <= 64 ? bits : 0;
}

/* Reads an entry by a shift of the word, which is cheaper in lanes than a gather. */
static LLVMValueRef unpack(Codegen *g, const IrTable *table, int bits, LLVMValueRef index,
                           LLVMTypeRef target) {
  uint64_t word = 0;
  ASSERT((int64_t)bits * table->count <= 64, "all entries fit one word");
  for (int k = 0; k < table->count; k++) word |= (uint64_t)table->values[k] << (bits * k);
  bool is_wide = bits * (table->count + 1) > 32;
  LLVMTypeRef type = value_lanes(is_wide ? g->i64 : g->i32, value_width(index));
  index = LLVMBuildIntCast2(g->builder, index, type, false, "");
  LLVMValueRef far = LLVMBuildMul(g->builder, index, value_integer(type, bits), "");
  LLVMValueRef all = value_integer(type, (int64_t)word);
  LLVMValueRef number = LLVMBuildAnd(g->builder, LLVMBuildLShr(g->builder, all, far, ""),
                                     value_integer(type, (int64_t)((UINT64_C(1) << bits) - 1)), "");
  return LLVMBuildIntCast2(g->builder, number, target, false, "");
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
  int width = value_width(index), bits = width > 1 ? packed_bits(table, inst->inside) : 0;
  if (bits) {
    LLVMTypeRef target = value_lanes(value_type(g, memory), width);
    return value_set(g, inst, from_memory(g, type, unpack(g, table, bits, index, target)));
  }
  LLVMValueRef wide = LLVMBuildZExt(g->builder, index, value_lanes(g->i64, width), "");
  LLVMValueRef place =
      LLVMBuildGEP2(g->builder, value_type(g, memory), table_of(g, (int)inst->imm), &wide, 1, "");
  LLVMValueRef value = width > 1 ? gather(g, memory, place)
                                 : LLVMBuildLoad2(g->builder, value_type(g, memory), place, "");
  value_set(g, inst, from_memory(g, type, value));
}

/* -- picks ------------------------------------------------------------------------------------- */

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
