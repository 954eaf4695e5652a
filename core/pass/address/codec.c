/* codec.c - see codec.h. Both codecs are conversions; one whose elements share a word adds masks
 * and shifts here. A load is decoded after the `if` that guards it, not inside: so the variable
 * that carries the element out of the `if` is as narrow as the element. */
#include "pass/address/codec.h"

#include "pass/rewrite.h"

IrInst *codec_open(IrKernel *kernel, IrInst *load) {
  ASSERT(load->op == IR_LOAD, "a codec decodes what is loaded");
  Type stored = kernel->fields.items[load->operands[0]->field].type;
  if (type_equal(load->type, stored)) return load;
  ASSERT(type_equal(load->type, type_computed(stored)), "a number as it is computed");
  IrInst *raw = ir_copy_alone(kernel, load);
  raw->type = stored;
  ir_insert_before(load, raw);
  rewrite_become(kernel, load, IR_CONVERT, 1, &raw);
  return raw;
}

IrInst *codec_encode(IrBuilder *b, Type stored, IrInst *number) {
  ASSERT(type_equal(number->type, stored) || type_is_float(number->type), "a number to round");
  return ir_convert(b, number, stored);
}
