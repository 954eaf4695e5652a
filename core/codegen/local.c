/* local.c - numbers selected by an index: of a LOCAL_ARRAY in the function's frame, of a table,
 * which is read-only data of the module, and of some values in a vector register. A local array in
 * lanes has the numbers of all lanes next to each other at every index, so that an index that all
 * lanes share reads and writes a vector:
 *
 *     index 0        index 1
 *     a0 a1 a2 a3    b0 b1 b2 b3    ..
 *
 * An index out of bounds reads zero and writes nothing, which takes one unsigned comparison; a
 * table has an extra entry at its end for it. Entries of tables have at least 32 bits, since
 * machines cannot gather less. */
#include "codegen/memory.h"

/* -- arrays ------------------------------------------------------------------------------------ */

/* An index, of at least 32 bits. */
static LLVMValueRef index_of(Codegen *g, const IrInst *inst, int operand) {
  Type type = type_element(inst->operands[operand]->type), word = TYPE(I32);
  LLVMValueRef index = value_operand(g, inst, operand);
  return type_bits(type) < 32 ? arith_convert(g, type, word, index) : index;
}

static LLVMTypeRef array_type(Codegen *g, const IrInst *array) {
  return LLVMArrayType2(value_memory_type(g, array->type), (uint64_t)array->imm);
}

void local_array(Codegen *g, const IrInst *inst) {
  LLVMTypeRef type = array_type(g, inst);
  LLVMValueRef array = block_variable(g, type, "array");
  LLVMBuildMemSet(g->builder, array, value_integer(g->i8, 0), LLVMSizeOf(type),
                  LLVMGetAlignment(array));
  value_set(g, inst, array);
}

enum { LINE = 64 };

void local_stack(Codegen *g, const IrInst *inst) {
  LLVMTypeRef type = LLVMArrayType2(g->i8, (uint64_t)inst->imm);
  LLVMValueRef memory = block_variable(g, type, "stack");
  LLVMSetAlignment(memory, LINE);
  value_set(g, inst, memory);
}

LLVMValueRef local_zeros(Codegen *g) {
  LLVMTypeRef type = LLVMArrayType2(g->i64, IR_ZERO_BYTES / 8);
  if (!g->f.zeros) g->f.zeros = block_variable_of(g, LLVMConstNull(type), "zeros");
  return g->f.zeros;
}

typedef struct Local {
  LLVMValueRef array, index, inside; /* inside: NULL if that is certain */
  Type type;                         /* of the array */
  int lanes;                         /* of the index */
} Local;

static Local local_of(Codegen *g, const IrInst *inst) {
  const IrInst *array = inst->operands[0];
  ASSERT(array->op == IR_LOCAL_ARRAY && array->imm > 0, "an array of the function's frame");
  Local local = {
      .array = value_operand(g, inst, 0), .index = index_of(g, inst, 1), .type = array->type};
  local.lanes = value_width(local.index);
  LLVMTypeRef wide = value_lanes(g->i64, local.lanes);
  if (!inst->in_bounds || local.lanes > 1)
    local.inside = build_icmp(g, LLVMIntULT, local.index, value_like(local.index, array->imm));
  local.index = LLVMBuildIntCast2(g->builder, local.index, wide, false, "");
  return local;
}

/* The address of the number, in lanes of each; for a shared index that of the vector. */
static LLVMValueRef address(Codegen *g, const Local *local) {
  int width = type_rows(local->type);
  bool is_each = local->lanes > 1;
  Type type = is_each ? type_element(local->type) : local->type;
  LLVMValueRef index = local->index;
  if (is_each && width > 1)
    index = build_add(g, build_mul(g, index, value_like(index, width)),
                      value_staircase(g->i64, width, 1));
  return build_at(g, value_memory_type(g, type), local->array, index);
}

static LLVMValueRef load(Codegen *g, const Local *local) {
  if (local->lanes > 1)
    return vector_gather(g, type_element(local->type), address(g, local), local->inside);
  return build_load(g, value_memory_type(g, local->type), address(g, local));
}

/* Enters a block that runs if the index is inside; returns the one that follows it, or NULL. */
static LLVMBasicBlockRef enter_inside(Codegen *g, const Local *local) {
  if (!local->inside || local->lanes > 1) return NULL;
  return block_if(g, local->inside, "inside", "after");
}

void local_get(Codegen *g, const IrInst *inst) {
  Local local = local_of(g, inst);
  LLVMBasicBlockRef from = block_here(g), after = enter_inside(g, &local);
  LLVMValueRef value = load(g, &local);
  if (after) {
    LLVMBasicBlockRef inside = block_here(g);
    block_follow(g, after);
    value = build_either(g, LLVMConstNull(LLVMTypeOf(value)), from, value, inside);
  }
  value_set(g, inst, value_from_memory(g, value, type_element(inst->type)));
}

void local_set(Codegen *g, const IrInst *inst) {
  Local local = local_of(g, inst);
  LLVMValueRef value = value_to_memory(g, value_operand(g, inst, 2), type_element(local.type));
  LLVMBasicBlockRef after = enter_inside(g, &local);
  LLVMValueRef at = address(g, &local);
  if (local.lanes > 1) lanes_put(g, value, at, type_size(type_element(local.type)), local.inside);
  else build_store(g, value, at);
  if (after) block_follow(g, after);
}

/* -- tables ------------------------------------------------------------------------------------ */

/* The most values that PICK holds in a vector, and that it selects from by a tree. A GPU has no
 * vector registers, so a vector would be in memory. */
enum { MOST_PICKED = 64, MOST_SELECTED = 24 };

static Type memory_type(Type type) {
  bool is_short = type_is_bool(type) || (type_is_integer(type) && type_bits(type) < 32);
  return is_short ? TYPE(I32) : type;
}

static LLVMValueRef table_of(Codegen *g, int number) {
  const IrTable *table = &g->kernel->tables.items[number];
  ASSERT(number >= 0 && number < g->kernel->tables.count, "a table of the kernel");
  if (g->tables[number]) return g->tables[number];
  LLVMValueRef *values = scratch_array(g->scratch, LLVMValueRef, table->count + 1);
  LLVMTypeRef memory = value_type(g, memory_type(table->type));
  for (int k = 0; k < table->count; k++)
    values[k] = value_number(memory, table->type, table->values[k]);
  values[table->count] = LLVMConstNull(memory);
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
  LLVMValueRef index = index_of(g, inst, 0);
  if (inst->in_bounds) return index;
  return call_binary(g, "llvm.umin", index, value_like(index, count));
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

void item_emit(Codegen *g, const IrInst *inst) {
  const IrTable *table = &g->kernel->tables.items[inst->imm];
  LLVMValueRef index = bounded(g, inst, table->count);
  Type type = type_element(inst->type), memory = memory_type(type);
  int width = value_width(index);
  LLVMValueRef wide = build_zext(g, index, value_lanes(g->i64, width));
  LLVMValueRef place = build_at(g, value_type(g, memory), table_of(g, (int)inst->imm), wide), value;
  /* lanes that are not active have the index of an entry */
  LLVMValueRef all = LLVMConstAllOnes(value_lanes(g->bool_type, width));
  if (width > 1) value = vector_gather(g, memory, place, all);
  else value = build_load(g, value_type(g, memory), place);
  value_set(g, inst, arith_convert(g, memory, type, value));
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
  if (!inst->in_bounds) values[count] = LLVMConstNull(LLVMTypeOf(values[0])), count++;
  bool is_one = width == 1 && value_width(index) == 1;
  int few = g->part == CODEGEN_GPU_TASKS ? MOST_SELECTED : 2;
  bool is_vector = is_one && count > few && count <= MOST_PICKED && !type_is_bool(inst->type);
  value_set(g, inst,
            is_vector ? from_vector(g, index, values, count) : tree(g, index, values, count));
}
