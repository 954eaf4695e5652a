/* item.c - ITEM and PICK: a number selected by an index, from a table (read-only data of the
 * module) or from some values (held in a vector register). An index outside gives zero, for which a
 * table has an extra entry at its end. Entries have at least 32 bits, since machines cannot gather
 * less. */
#include "codegen/vector.h"

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
  return call_binary(g, "llvm.umin", index, value_like(index, count));
}

static LLVMValueRef from_memory(Codegen *g, Type type, LLVMValueRef value) {
  if (type_is_bool(type)) return build_is_some(g, value);
  return type_equal(memory_type(type), type)
             ? value
             : build_trunc(g, value, value_vector(g, type, value_width(value)));
}

/* A tree of selects over values[0 .. count), one bit of the index per level. */
static LLVMValueRef tree(Codegen *g, LLVMValueRef index, LLVMValueRef *values, int count) {
  ASSERT(count > 0, "there is a value to select");
  for (int bit = 0; count > 1; bit++) {
    LLVMValueRef set = build_and(g, index, value_like(index, (int64_t)1 << bit));
    LLVMValueRef upper = build_is_some(g, set);
    int pairs = count / 2;
    for (int k = 0; k < pairs; k++)
      values[k] = arith_select(g, upper, values[2 * k + 1], values[2 * k]);
    if (count % 2) values[pairs] = values[count - 1];
    count = pairs + count % 2;
  }
  return values[0];
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
  LLVMValueRef wide = build_zext(g, index, value_lanes(g->i64, width));
  LLVMValueRef place = build_at(g, value_type(g, memory), table_of(g, (int)inst->imm), wide);
  LLVMValueRef value =
      width > 1 ? gather(g, memory, place) : build_load(g, value_type(g, memory), place);
  value_set(g, inst, from_memory(g, type, value));
}

/* -- picks ------------------------------------------------------------------------------------- */

static LLVMValueRef from_vector(Codegen *g, LLVMValueRef index, LLVMValueRef *values, int count) {
  ASSERT(count > 1 && count <= MOST_PICKED + 1, "few values fit into registers");
  LLVMTypeRef type = LLVMVectorType(LLVMTypeOf(values[0]), (unsigned)count);
  LLVMValueRef all = LLVMGetPoison(type);
  for (int k = 0; k < count; k++)
    all = LLVMBuildInsertElement(g->builder, all, values[k], value_i32(g, k), "");
  return build_extract(g, all, index);
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
