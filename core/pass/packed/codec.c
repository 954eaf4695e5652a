/* codec.c - emits the ops that decode packed numbers from bits of a word, and encode them. */
#include "pass/packed/packed.h"

Type packed_wide(Type word) { return type_bits(word) == 64 ? TYPE(U64) : TYPE(U32); }

static bool is_zero(const IrInst *inst) {
  int64_t value;
  return ir_is_const(inst, &value) && value == 0;
}

static IrInst *shift_by(IrBuilder *b, IrOp op, IrInst *value, IrInst *count) {
  return is_zero(count) ? value : ir_binary(b, op, value, ir_convert(b, count, value->type));
}

static IrInst *shift_number(IrBuilder *b, IrOp op, IrInst *value, int count) {
  return count ? ir_binary_const(b, op, value, count) : value;
}

static IrInst *low_bits(IrBuilder *b, IrInst *value, int bits) {
  if (bits >= type_bits(value->type)) return value;
  return ir_binary(b, IR_BAND, value,
                   ir_const_like(b, value, (int64_t)(((uint64_t)1 << bits) - 1)));
}

static IrInst *emit_bitcast(IrBuilder *b, IrInst *value, Type type) {
  return ir_emit(b, IR_BITCAST, type, 1, &value);
}

/* -- decoding ---------------------------------------------------------------------------------- */

/* Extracts the bits at `shift` as a two's complement number. */
static IrInst *signed_bits(IrBuilder *b, IrInst *word, IrInst *shift, int bits) {
  int unused = type_bits(word->type) - bits;
  int64_t low;
  if (ir_is_const(shift, &low)) word = shift_number(b, IR_SHL, word, unused - (int)low);
  else word = shift_number(b, IR_SHL, shift_by(b, IR_SHR, word, shift), unused);
  return shift_number(b, IR_SAR, word, unused);
}

static IrInst *plain_bits(IrBuilder *b, IrInst *word, IrInst *shift, int bits) {
  int64_t low;
  word = shift_by(b, IR_SHR, word, shift);
  bool is_top = ir_is_const(shift, &low) && low + bits == type_bits(word->type);
  return is_top ? word : low_bits(b, word, bits);
}

/* The stored number of steps from 0. */
static IrInst *load_steps(IrBuilder *b, const Packed *p, IrInst *word, IrInst *shift) {
  Type type = p->bits <= 32 ? TYPE(I32) : TYPE(I64);
  bool is_symmetric = p->kind == PACKED_SHARED || p->least == -p->most || p->kind == PACKED_INT;
  if (is_symmetric) return ir_convert(b, signed_bits(b, word, shift, p->bits), type);
  IrInst *steps = plain_bits(b, word, shift, p->bits);
  if (!p->least) {
    /* an i32 cannot hold 32 unsigned bits */
    return ir_convert(b, steps, p->bits == 32 ? TYPE(I64) : type);
  }
  IrInst *below = ir_const_like(b, steps, -p->least);
  steps = low_bits(b, ir_binary(b, IR_ADD, steps, below), p->bits);
  type = p->bits == 32 ? TYPE(I64) : type;
  steps = ir_convert(b, steps, type);
  return ir_binary_const(b, IR_ADD, steps, p->least);
}

static IrInst *load_fixed(IrBuilder *b, const Packed *p, IrInst *word, IrInst *shift) {
  IrInst *steps = ir_convert(b, load_steps(b, p, word, shift), p->inner);
  IrInst *value = ir_binary(b, IR_MUL, steps, ir_const_float(b, p->inner, p->step));
  return ir_convert(b, value, p->computed);
}

static IrInst *load_float(IrBuilder *b, const Packed *p, IrInst *word, IrInst *shift) {
  int digits = p->exponent + p->fraction;
  IrInst *bits = ir_convert(b, plain_bits(b, word, shift, p->bits), TYPE(U32));
  IrInst *number = low_bits(b, bits, digits);
  IrInst *sign = shift_number(b, IR_SHL, shift_number(b, IR_SHR, bits, digits), 31);
  IrInst *magnitude = ir_binary_const(b, IR_ADD, number, packed_float_base(p));
  magnitude = shift_number(b, IR_SHL, magnitude, 23 - p->fraction);
  IrInst *none = ir_binary_const(b, IR_EQ, number, 0);
  magnitude = ir_select(b, none, ir_const_like(b, number, 0), magnitude);
  return emit_bitcast(b, ir_binary(b, IR_BOR, magnitude, sign), TYPE(F32));
}

/* 2 to the power of an f32's exponent field. */
static IrInst *power_of_two(IrBuilder *b, IrInst *field) {
  return emit_bitcast(b, shift_number(b, IR_SHL, ir_convert(b, field, TYPE(I32)), 23), TYPE(F32));
}

static IrInst *load_shared(IrBuilder *b, const SNodePacked *packed, IrInst *word, IrInst *shift) {
  const Packed *p = &packed->as;
  IrInst *steps = ir_convert(b, load_steps(b, p, word, shift), TYPE(F32));
  IrInst *at = ir_const_int(b, TYPE(U32), packed->exponent_shift);
  IrInst *exponent = ir_convert(b, plain_bits(b, word, at, p->exponent), TYPE(I32));
  exponent = ir_binary_const(b, IR_MAX, exponent, packed_shared_least(p));
  exponent = ir_binary_const(b, IR_ADD, exponent, packed_shared_scale(p));
  return ir_binary(b, IR_MUL, steps, power_of_two(b, exponent));
}

IrInst *packed_load(IrBuilder *b, const SNodePacked *packed, IrInst *word, IrInst *shift) {
  const Packed *p = &packed->as;
  word = ir_convert(b, word, packed_wide(word->type));
  switch (p->kind) {
  case PACKED_INT: return ir_convert(b, load_steps(b, p, word, shift), p->computed);
  case PACKED_UINT: return ir_convert(b, plain_bits(b, word, shift, p->bits), p->computed);
  case PACKED_FIXED: return load_fixed(b, p, word, shift);
  case PACKED_FLOAT: return load_float(b, p, word, shift);
  default: return load_shared(b, packed, word, shift);
  }
}

/* -- encoding ---------------------------------------------------------------------------------- */

static IrInst *clamp(IrBuilder *b, IrInst *value, IrInst *least, IrInst *most) {
  return ir_binary(b, IR_MIN, ir_binary(b, IR_MAX, value, least), most);
}

static IrInst *integer_bits(IrBuilder *b, const Packed *p, IrInst *number, Type wide) {
  IrInst *most = ir_const_like(b, number, p->most);
  bool is_full = p->bits == type_bits(number->type);
  if (!is_full) number = clamp(b, number, ir_const_like(b, number, p->least), most);
  number = ir_convert(b, number, wide);
  return p->kind == PACKED_INT ? low_bits(b, number, p->bits) : number;
}

/* The nearest whole number of steps, halves upward; 0 for a NaN. For numbers that are never
 * negative the conversion does the floor. */
static IrInst *step_bits(IrBuilder *b, const Packed *p, IrInst *value, IrInst *inverse,
                         double least, double most, Type wide) {
  Type type = value->type;
  IrInst *steps = ir_binary(b, IR_MUL, value, inverse), *half = ir_const_float(b, type, 0.5);
  IrInst *low = ir_const_float(b, type, least), *high = ir_const_float(b, type, most);
  if (least == 0) { /* max: (0 < NaN) ? NaN : 0 */
    steps =
        ir_binary(b, IR_ADD, ir_binary(b, IR_MIN, ir_binary(b, IR_MAX, low, steps), high), half);
  } else {
    steps = clamp(b, ir_unary(b, IR_FLOOR, ir_binary(b, IR_ADD, steps, half)), low, high);
    IrInst *is_number = ir_binary(b, IR_EQ, value, value);
    steps = ir_select(b, is_number, steps, ir_const_float(b, type, 0));
  }
  steps = ir_convert(b, steps, p->bits < 32 ? TYPE(I32) : TYPE(I64));
  steps->in_bounds = true;
  steps = ir_convert(b, steps, wide);
  return least == 0 ? steps : low_bits(b, steps, p->bits);
}

static IrInst *float_bits(IrBuilder *b, const Packed *p, IrInst *number, Type wide) {
  int dropped = 23 - p->fraction, digits = p->exponent + p->fraction;
  IrInst *bits = emit_bitcast(b, number, TYPE(U32));
  IrInst *magnitude = low_bits(b, bits, 31), *zero = ir_const_like(b, bits, 0);
  IrInst *is_number = ir_binary(b, IR_LE, magnitude, ir_const_like(b, bits, 0x7f800000));
  IrInst *sign = shift_number(b, IR_SHL, shift_number(b, IR_SHR, bits, 31), digits);
  if (dropped)
    magnitude =
        ir_binary(b, IR_ADD, magnitude, ir_const_like(b, bits, (int64_t)1 << (dropped - 1)));
  magnitude = shift_number(b, IR_SHR, magnitude, dropped);
  IrInst *base = ir_const_like(b, bits, packed_float_base(p)),
         *top = ir_const_like(b, bits, packed_float_top(p));
  magnitude = ir_binary(b, IR_SUB, clamp(b, magnitude, base, top), base);
  IrInst *stored = ir_select(b, is_number, ir_binary(b, IR_BOR, magnitude, sign), zero);
  return ir_convert(b, stored, wide);
}

IrInst *packed_bits(IrBuilder *b, const SNodePacked *packed, IrInst *number, Type wide) {
  const Packed *p = &packed->as;
  ASSERT(p->kind != PACKED_SHARED, "all numbers that share an exponent are encoded at once");
  if (p->kind == PACKED_FLOAT) return float_bits(b, p, number, wide);
  if (p->kind != PACKED_FIXED) return integer_bits(b, p, number, wide);
  return step_bits(b, p, ir_convert(b, number, p->inner), ir_const_float(b, p->inner, p->inverse),
                   (double)p->least, (double)p->most, wide);
}

/* The largest magnitude of the numbers, as bits; NaNs count as 0. */
static IrInst *largest_of(IrBuilder *b, int count, IrInst *const *numbers) {
  IrInst *largest = NULL;
  for (int k = 0; k < count; k++) {
    IrInst *magnitude = low_bits(b, emit_bitcast(b, numbers[k], TYPE(U32)), 31);
    IrInst *is_number = ir_binary_const(b, IR_LE, magnitude, 0x7f800000);
    magnitude = ir_select(b, is_number, magnitude, ir_const_like(b, magnitude, 0));
    largest = largest ? ir_binary(b, IR_MAX, largest, magnitude) : magnitude;
  }
  return largest;
}

IrInst *packed_shared_bits(IrBuilder *b, const SNodePacked *first, IrInst *const *numbers,
                           Type wide) {
  const Packed *p = &first->as;
  IrInst *largest = largest_of(b, first->count, numbers);
  IrInst *field = ir_convert(b, shift_number(b, IR_SHR, largest, 23), TYPE(I32));
  IrInst *exponent = ir_binary_const(b, IR_ADD, field, packed_shared_bias(p) - 127);
  exponent = clamp(b, exponent, ir_const_like(b, field, packed_shared_least(p)),
                   ir_const_like(b, field, packed_shared_most(p)));
  IrInst *scale = ir_const_like(b, field, 254 - packed_shared_scale(p));
  IrInst *inverse = power_of_two(b, ir_binary(b, IR_SUB, scale, exponent));
  IrInst *none = ir_binary_const(b, IR_EQ, largest, 0);
  IrInst *stored = ir_select(b, none, ir_const_like(b, field, 0), exponent);
  IrInst *bits = shift_number(b, IR_SHL, ir_convert(b, stored, wide), first->exponent_shift);
  double end = (double)((int64_t)1 << p->fraction);
  for (int k = 0; k < first->count; k++) {
    IrInst *steps = step_bits(b, p, numbers[k], inverse, -end, end - 1, wide);
    bits = ir_binary(b, IR_BOR, bits, shift_number(b, IR_SHL, steps, first->shift + k * p->bits));
  }
  return bits;
}

uint64_t packed_unit_mask(const SNodePacked *packed) {
  if (packed->as.kind != PACKED_SHARED) return packed_mask(&packed->as);
  int bits = packed->count * packed->as.bits + packed->as.exponent;
  return bits == 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1;
}
