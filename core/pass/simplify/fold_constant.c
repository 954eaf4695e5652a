/* fold_constant.c - evaluates ops over constants, bit for bit as op.def says and codegen emits
 * them. Integers are computed in 64 bits and wrapped to their type. Floats are computed as doubles
 * and rounded once to their type: for + - * / and sqrt of f16 and f32 that equals computing in the
 * type itself, since a double has more than twice their digits. */
#include "pass/simplify/simplify.h"

#include <math.h>

#include "base/bits.h"

/* -- integers ---------------------------------------------------------------------------------- */

static int64_t divide(Type type, int64_t a, int64_t b) {
  if (b == 0) return 0;
  if (type_is_unsigned(type)) return (int64_t)((uint64_t)a / (uint64_t)b);
  return b == -1 ? (int64_t)(0 - (uint64_t)a) : floor_div(a, b);
}

static int64_t modulo(Type type, int64_t a, int64_t b) {
  if (b == 0) return 0;
  if (type_is_unsigned(type)) return (int64_t)((uint64_t)a % (uint64_t)b);
  return b == -1 ? 0 : floor_mod(a, b);
}

static uint64_t low_bits(int64_t value, int bits) {
  return (uint64_t)value & (~0ull >> (64 - bits));
}
static int64_t sign_extend(int64_t value, int bits) {
  return (int64_t)((uint64_t)value << (64 - bits)) >> (64 - bits);
}

static int64_t count_bits(IrOp op, Type type, int64_t a) {
  int width = type_bits(type);
  uint64_t bits = (uint64_t)a << (64 - width); /* at the top */
  if (op == IR_POPCNT) return __builtin_popcountll(bits);
  if (!bits) return width;
  return op == IR_CLZ ? __builtin_clzll(bits) : __builtin_ctzll(bits) - (64 - width);
}

static int64_t shift(IrOp op, Type type, int64_t value, int64_t by) {
  int bits = type_bits(type), count = (int)(by & (bits - 1));
  uint64_t u = low_bits(value, bits);
  switch (op) {
  case IR_SHL: return (int64_t)(u << count);
  case IR_SHR: return (int64_t)(u >> count);
  case IR_SAR: return sign_extend(value, bits) >> count;
  case IR_ROL: return (int64_t)(count ? u << count | u >> (bits - count) : u);
  default: return (int64_t)(count ? u >> count | u << (bits - count) : u);
  }
}

static bool is_below(Type type, int64_t a, int64_t b) {
  return type_is_unsigned(type) ? (uint64_t)a < (uint64_t)b : a < b;
}

/* The result of a comparison; none of the three holds if an operand is NaN. */
static bool compares(IrOp op, bool is_less, bool is_equal, bool is_greater) {
  switch (op) {
  case IR_EQ: return is_equal;
  case IR_NE: return !is_equal;
  case IR_LT: return is_less;
  case IR_LE: return is_less || is_equal;
  case IR_GT: return is_greater;
  default: return is_greater || is_equal;
  }
}

static bool fold_integer(const IrInst *inst, int64_t *imm) {
  Type type = inst->operands[0]->type;
  int64_t a = inst->operands[0]->imm, b = inst->operand_count > 1 ? inst->operands[1]->imm : 0,
          value;
  switch (inst->op) {
  case IR_ADD: value = (int64_t)((uint64_t)a + (uint64_t)b); break;
  case IR_SUB: value = (int64_t)((uint64_t)a - (uint64_t)b); break;
  case IR_MUL: value = (int64_t)((uint64_t)a * (uint64_t)b); break;
  case IR_FLOORDIV: value = divide(type, a, b); break;
  case IR_MOD: value = modulo(type, a, b); break;
  case IR_NEG: value = (int64_t)(0 - (uint64_t)a); break;
  case IR_BAND: value = a & b; break;
  case IR_BOR: value = a | b; break;
  case IR_BXOR: value = a ^ b; break;
  case IR_BNOT: value = type_is_bool(type) ? !a : ~a; break;
  case IR_SHL:
  case IR_SHR:
  case IR_SAR:
  case IR_ROL:
  case IR_ROR: value = shift(inst->op, type, a, b); break;
  case IR_POPCNT:
  case IR_CLZ:
  case IR_CTZ: value = count_bits(inst->op, type, a); break;
  case IR_BSWAP: value = (int64_t)(__builtin_bswap64((uint64_t)a) >> (64 - type_bits(type))); break;
  case IR_MIN: value = is_below(type, b, a) ? b : a; break;
  case IR_MAX: value = is_below(type, a, b) ? b : a; break;
  case IR_ABS: value = !type_is_unsigned(type) && a < 0 ? (int64_t)(0 - (uint64_t)a) : a; break;
  default:
    if (!ir_is_comparison(inst->op)) return false;
    value = compares(inst->op, is_below(type, a, b), a == b, is_below(type, b, a));
  }
  *imm = ir_wrap_int(inst->type, value);
  return true;
}

/* -- floats ------------------------------------------------------------------------------------ */

static bool fold_float(const IrInst *inst, int64_t *imm) {
  double a = ir_float_value(inst->operands[0]);
  double b = inst->operand_count > 1 ? ir_float_value(inst->operands[1]) : 0, value;
  if (ir_is_comparison(inst->op)) return *imm = compares(inst->op, a < b, a == b, a > b), true;
  switch (inst->op) {
  case IR_ADD: value = a + b; break;
  case IR_SUB: value = a - b; break;
  case IR_MUL: value = a * b; break;
  case IR_DIV: value = a / b; break;
  case IR_FLOORDIV: value = floor(ir_round_float(inst->type, a / b)); break;
  case IR_NEG: value = -a; break;
  case IR_MIN: value = b < a ? b : a; break;
  case IR_MAX: value = a < b ? b : a; break;
  case IR_ABS: value = fabs(a); break;
  case IR_FLOOR: value = floor(a); break;
  case IR_CEIL: value = ceil(a); break;
  case IR_TRUNC: value = trunc(a); break;
  case IR_ROUND: value = round(a); break;
  case IR_SQRT: value = sqrt(a); break;
  default: return false;
  }
  /* the sign of a NaN that the op itself makes depends on the machine */
  if (isnan(value) && !isnan(a) && !isnan(b)) return false;
  *imm = ir_float_bits(ir_round_float(inst->type, value));
  return true;
}

/* -- conversions ------------------------------------------------------------------------------- */

/* Toward zero, saturating; NaN gives 0. The bounds are powers of two, so they are exact doubles. */
static int64_t float_to_int(Type to, double value) {
  int bits = type_bits(to);
  if (isnan(value)) return 0;
  if (type_is_unsigned(to)) {
    if (value <= -1 || value == 0) return 0;
    if (value >= ldexp(1, bits)) return ir_wrap_int(to, -1);
    return value < 0 ? 0 : (int64_t)(uint64_t)value;
  }
  int64_t most = (int64_t)(~0ull >> (65 - bits));
  if (value >= ldexp(1, bits - 1)) return most;
  return value < -ldexp(1, bits - 1) ? -most - 1 : (int64_t)value;
}

static double int_to_float(Type from, Type to, int64_t value) {
  bool u64 = type_is(from, TYPE_U64);
  if (type_is(to, TYPE_F32)) return u64 ? (double)(float)(uint64_t)value : (double)(float)value;
  /* Past 2^53, where a double rounds, an f16 is infinite: it also rounds only once. */
  return ir_round_float(to, u64 ? (double)(uint64_t)value : (double)value);
}

static bool fold_convert(const IrInst *inst, int64_t *imm) {
  const IrInst *from = inst->operands[0];
  Type to = inst->type;
  if (type_is_float(from->type)) {
    double value = ir_float_value(from);
    if (type_is_float(to)) *imm = ir_float_bits(ir_round_float(to, value));
    else *imm = type_is_bool(to) ? value != 0 : float_to_int(to, value);
  } else {
    *imm = type_is_float(to) ? ir_float_bits(int_to_float(from->type, to, from->imm))
                             : ir_wrap_int(to, from->imm);
  }
  return true;
}

/* -- bits -------------------------------------------------------------------------------------- */

static int64_t float_to_bits(Type from, double value) {
  return type_is(from, TYPE_F64) ? ir_float_bits(value) : (int64_t)type_encode(from, value);
}

static double bits_to_float(Type to, int64_t bits) {
  double value;
  if (!type_is(to, TYPE_F64)) return type_decode(to, (uint64_t)bits);
  memcpy(&value, &bits, sizeof value);
  return value;
}

/* Does not fold a NaN, whose bits a constant does not preserve. */
static bool fold_bitcast(const IrInst *inst, int64_t *imm) {
  const IrInst *from = inst->operands[0];
  bool is_float = type_is_float(from->type);
  int64_t bits = is_float ? float_to_bits(from->type, ir_float_value(from)) : from->imm;
  if (is_float && isnan(ir_float_value(from))) return false;
  if (!type_is_float(inst->type)) return *imm = ir_wrap_int(inst->type, bits), true;
  double value = bits_to_float(inst->type, bits);
  *imm = ir_float_bits(value);
  return !isnan(value);
}

bool fold_constant(const IrInst *inst, int64_t *imm) {
  if (!inst->operand_count) return false;
  for (int i = 0; i < inst->operand_count; i++)
    if (inst->operands[i]->op != IR_CONST) return false;
  if (inst->op == IR_CONVERT) return fold_convert(inst, imm);
  if (inst->op == IR_BITCAST) return fold_bitcast(inst, imm);
  if (inst->op == IR_SELECT)
    return *imm = inst->operands[inst->operands[0]->imm ? 1 : 2]->imm, true;
  return type_is_float(inst->operands[0]->type) ? fold_float(inst, imm) : fold_integer(inst, imm);
}

bool fold_constant_at(const IrKernel *kernel, const IrInst *inst, const IrInst *root,
                      int64_t number, int64_t *imm) {
  IrInst values[3] = {0}, *operands[3] = {&values[0], &values[1], &values[2]};
  if (inst == root) return *imm = number, true;
  if (inst->op == IR_CONST) return *imm = inst->imm, true;
  if (inst->operand_count > 3) return false;
  for (int i = 0; i < inst->operand_count; i++) {
    values[i] = (IrInst){.op = IR_CONST, .type = inst->operands[i]->type};
    if (!fold_constant_at(kernel, inst->operands[i], root, number, &values[i].imm)) return false;
  }
  if (inst->op == IR_TABLE_GET) {
    const IrTable *table = &kernel->tables.items[inst->imm];
    bool is_inside = values[0].imm >= 0 && values[0].imm < table->count;
    return *imm = is_inside ? table->values[values[0].imm] : 0, true;
  }
  IrInst copy = *inst;
  copy.operands = operands;
  return fold_constant(&copy, imm);
}
