/* values.c - converts the values of a launch for sema, copies them for later compiles, and replaces
 * arguments that stay the same by constants. See values.h. */
#include "kernel/compile/values.h"

#include <math.h>
#include <string.h>

#include "kernel/compile/compile.h"
#include "kernel/versions/versions.h"
#include "tree/access/cell.h"

_Static_assert(sizeof(SemaPart) == sizeof((RgVector){0}.numbers[0]),
               "a vector's numbers are read in place");

static SemaValue sema_value(const Kernel *kernel, const RgValue *value) {
  static const SemaValueKind kinds[] = {
      [RG_VALUE_NIL] = VALUE_NIL,           [RG_VALUE_NUMBER] = VALUE_NUMBER,
      [RG_VALUE_I64] = VALUE_I64,           [RG_VALUE_U64] = VALUE_U64,
      [RG_VALUE_BOOL] = VALUE_BOOL,         [RG_VALUE_FIELD] = VALUE_FIELD,
      [RG_VALUE_NODE] = VALUE_NODE,         [RG_VALUE_BUILTIN] = VALUE_BUILTIN,
      [RG_VALUE_TYPE] = VALUE_TYPE,         [RG_VALUE_STRING] = VALUE_STRING,
      [RG_VALUE_FUNCTION] = VALUE_FUNCTION, [RG_VALUE_TABLE] = VALUE_TABLE,
      [RG_VALUE_OTHER] = VALUE_OTHER,       [RG_VALUE_VECTOR] = VALUE_VECTOR,
      [RG_VALUE_ARRAY] = VALUE_ARRAY};
  bool is_known = value->kind >= 0 && value->kind <= RG_VALUE_ARRAY;
  SemaValue out = {
      .kind = is_known ? kinds[value->kind] : VALUE_OTHER, .depth = value->depth, .name = ""};
  if (value->kind == RG_VALUE_FIELD) {
    const Field *field = (const Field *)value->field;
    out.name = field->name;
    out.node = field->node ? field->node->snode : NULL;
    out.component = field->component;
    out.offset = field->has_offset ? field->offset : NULL;
    out.type = field->type;
    out.is_watched = field->is_watched;
  } else if (value->kind == RG_VALUE_ARRAY) {
    out.name = ((const Array *)value->array)->name;
    out.type = ((const Array *)value->array)->type;
  } else if (value->kind == RG_VALUE_NODE) {
    out.node = ((const Node *)value->node)->snode;
    out.name = out.node->name;
  } else if (value->kind == RG_VALUE_BUILTIN || value->kind == RG_VALUE_TYPE ||
             value->kind == RG_VALUE_TABLE || value->kind == RG_VALUE_OTHER) {
    out.name = value->text ? value->text : "";
  } else if (value->kind == RG_VALUE_VECTOR) {
    out.name = value->vector && value->vector->type ? value->vector->type : "";
    out.parts = value->vector ? (const SemaPart *)value->vector->numbers : NULL;
    bool has_count =
        value->vector && value->vector->count > 0 && value->vector->count <= TYPE_MAX_NUMBERS;
    out.part_count = has_count ? value->vector->count : 0;
  } else if (value->kind == RG_VALUE_I64 || value->kind == RG_VALUE_U64) {
    out.bits = value->u64;
  } else if (value->kind == RG_VALUE_FUNCTION && value->i64 > 0 &&
             value->i64 <= kernel->functions.count) {
    out.function = (int)value->i64;
  } else if (value->kind == RG_VALUE_NUMBER) {
    out.number = value->number;
  } else if (value->kind == RG_VALUE_BOOL) {
    out.number = value->i64 != 0;
  }
  return out;
}

SemaValue *values_read(Scratch *scratch, const Kernel *kernel, const RgValue *values,
                       int32_t count) {
  SemaValue *read = scratch_array(scratch, SemaValue, count + 1);
  for (int32_t k = 0; k < count; k++) {
    read[k] = sema_value(kernel, &values[k]);
    if (read[k].kind == VALUE_ARRAY) read[k].array = pattern_array(values, count, k);
    read[k].is_static = kernel_is_static(kernel, k);
    if (read[k].kind == VALUE_NUMBER) read[k].whole = kernel_whole(kernel, k, values[k].number);
    read[k].joined = pattern_joined(kernel, values, k);
    if (read[k].is_static && read[k].kind == VALUE_STRING && values[k].text)
      read[k].name = values[k].text;
    read[k].is_movable = pattern_is_movable(kernel, values, count, k);
  }
  return read;
}

/* -- owned copies ------------------------------------------------------------------------------ */

/* A copy is one block: all values, followed by what each points to: its offset, parts, name. */
enum { OFFSET_BYTES = sizeof(int64_t) * SNODE_MAX_AXES };

static size_t part_bytes(const SemaValue *value) {
  return sizeof *value->parts * (size_t)value->part_count;
}

static size_t extra_bytes(const SemaValue *value) {
  size_t bytes = strlen(value->name) + 1;
  if (value->offset) bytes += OFFSET_BYTES;
  if (value->parts) bytes += part_bytes(value);
  return (bytes + 7) & ~(size_t)7;
}

static const void *copy_to_room(char **to, const void *from, size_t bytes) {
  const void *moved = memcpy(*to, from, bytes);
  *to += bytes;
  return moved;
}

static void keep_value(SemaValue *value, char *room) {
  if (value->offset) value->offset = copy_to_room(&room, value->offset, OFFSET_BYTES);
  if (value->parts) value->parts = copy_to_room(&room, value->parts, part_bytes(value));
  value->name = copy_to_room(&room, value->name, strlen(value->name) + 1);
  if (value->node) snode_tree_retain(value->node->tree);
}

SemaValue *values_keep(Heap *heap, const SemaValue *values, int32_t count) {
  size_t own = sizeof *values * (size_t)count, bytes = own;
  for (int32_t k = 0; k < count; k++) bytes += extra_bytes(&values[k]);
  SemaValue *kept = heap_alloc(heap, bytes);
  if (!kept) return NULL;
  char *room = (char *)kept + own;
  for (int32_t k = 0; k < count; k++) {
    kept[k] = values[k];
    keep_value(&kept[k], room);
    room += extra_bytes(&values[k]);
  }
  DEBUG_ASSERT(room == (char *)kept + bytes, "the block holds what the values point to");
  return kept;
}

void values_free(Heap *heap, SemaValue *values, int32_t count) {
  for (int32_t k = 0; values && k < count; k++)
    if (values[k].node) snode_tree_release(values[k].node->tree);
  heap_free(heap, values);
}

/* -- constants --------------------------------------------------------------------------------- */

/* Replaces arguments of a kernel by constants in its IR, before the passes. Candidates are
 * integers, booleans, and floats that are powers of two and divide: division by such a constant is
 * an exact multiplication. An expression of constants has the same bits at compile time as at run
 * time, functions of `math` included (D-llvm_bc-12). Decision D-kernel-11. */

static bool is_power_of_two(double value) {
  int exponent;
  return fabs(frexp(value, &exponent)) == 0.5;
}

bool constants_is_power(Type type, const uint64_t *slot) {
  return type_is_float(type) && is_power_of_two(value_number(type, slot));
}

typedef struct Taking {
  uint64_t taken; /* arguments that become constants, or are candidates */
  const uint64_t *slots;
  uint64_t divisors; /* floats of `taken` in divisors that are powers of two */
} Taking;

static bool is_one_of(const IrInst *inst, uint64_t set) {
  return inst->op == IR_ARG && inst->imm < COMPILE_MOST_CONSTANTS && (set >> inst->imm & 1);
}

/* Is the value a power of two: a product or quotient of constants and arguments in `taken`? Adds
 * these to *divisors. Shared operands are visited again, so the depth is bounded. */
static bool is_power(const Taking *taking, const IrInst *value, int depth, uint64_t *divisors) {
  if (!type_is_float(value->type) || !depth) return false;
  if (value->op == IR_CONST) return is_power_of_two(ir_float_value(value));
  if (is_one_of(value, taking->taken)) {
    *divisors |= (uint64_t)1 << value->imm;
    return constants_is_power(value->type, &taking->slots[value->imm]);
  }
  switch (value->op) {
  case IR_CONVERT:
  case IR_NEG:
  case IR_MUL:
  case IR_DIV: break;
  default: return false;
  }
  for (int k = 0; k < value->operand_count; k++)
    if (!is_power(taking, value->operands[k], depth - 1, divisors)) return false;
  return true;
}

static bool find_divisor(void *data, IrInst *inst) {
  enum { DEPTH = 6 };
  Taking *taking = data;
  IrOp op = inst->op == IR_UPDATE ? ir_update_op((IrUpdate)inst->imm) : inst->op;
  bool divides = op == IR_DIV || op == IR_FLOORDIV || op == IR_MOD;
  uint64_t divisors = 0;
  if (divides && is_power(taking, inst->operands[1], DEPTH, &divisors))
    taking->divisors |= divisors;
  return true;
}

uint64_t constants_possible(IrKernel *kernel, uint64_t wanted, const uint64_t *slots) {
  DEBUG_ASSERT(!kernel->tasks.count, "arguments are still read by name");
  uint64_t others = 0;
  if (kernel->functions.count) return 0;
  for (int k = 0; k < kernel->args.count && k < COMPILE_MOST_CONSTANTS; k++)
    if (!type_is_float(kernel->args.items[k].type)) others |= (uint64_t)1 << k;
  Taking taking = {.taken = wanted & ~others, .slots = slots};
  if (taking.taken) ir_walk(kernel->body, find_divisor, &taking);
  return (wanted & others) | taking.divisors;
}

static bool take_inst(void *data, IrInst *inst) {
  const Taking *taking = data;
  if (!is_one_of(inst, taking->taken)) return true;
  const uint64_t *slot = &taking->slots[inst->imm];
  inst->op = IR_CONST;
  inst->imm = type_is_float(inst->type) ? ir_float_bits(value_number(inst->type, slot))
                                        : ir_wrap_int(inst->type, (int64_t)*slot);
  return true;
}

void constants_take(IrKernel *kernel, uint64_t taken, const uint64_t *slots) {
  DEBUG_ASSERT(!kernel->tasks.count, "arguments are still read by name");
  Taking taking = {.taken = taken, .slots = slots};
  ir_walk(kernel->body, take_inst, &taking);
}
