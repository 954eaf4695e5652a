/* address.c - see address.h. */
#include "ir/address.h"

#include <stdlib.h>

static bool add_term(IrAddress *to, const IrInst *value, int64_t factor) {
  DEBUG_ASSERT(to->count <= IR_MAX_TERMS, "an address has few terms");
  int i = 0;
  while (i < to->count && to->terms[i].value != value) i++;
  if (i == IR_MAX_TERMS) return false;
  if (i == to->count) to->terms[to->count++] = (IrTerm){value, 0};
  to->terms[i].factor += factor;
  return true;
}

static bool add_index(IrAddress *to, const IrInst *value, int64_t factor) {
  IrInst *const *operands = value->operands;
  bool by_constant = value->operand_count > 1 && operands[1]->op == IR_CONST;
  if (value->op == IR_CONST) {
    to->bytes += value->imm * factor;
    return true;
  }
  if (value->op == IR_ADD)
    return add_index(to, operands[0], factor) && add_index(to, operands[1], factor);
  if (value->op == IR_CONVERT && type_is_integer(operands[0]->type))
    return add_index(to, operands[0], factor);
  if (value->op == IR_BAND && by_constant) return add_index(to, operands[0], factor);
  if (value->op == IR_MUL && by_constant)
    return add_index(to, operands[0], factor * operands[1]->imm);
  return add_term(to, value, factor);
}

static int tree_of(const IrInst *ptr) {
  while (ptr->op == IR_SELECT || ptr->op == IR_OFFSET || ptr->op == IR_PRIVATE_COPY)
    ptr = ptr->operands[ptr->op == IR_SELECT];
  return ptr->op == IR_TREE_ROOT ? (int)ptr->imm : ptr->op == IR_CALL ? ptr->tree : -1;
}

static int compare_terms(const void *a, const void *b) {
  const IrTerm *left = a, *right = b;
  return (left->value->id > right->value->id) - (left->value->id < right->value->id);
}

bool ir_address(const IrInst *access, IrAddress *out) {
  if (access->op != IR_MEM_LOAD && access->op != IR_MEM_UPDATE) return false;
  const IrInst *ptr = access->operands[0];
  Type type = ir_element_type(access);
  *out = (IrAddress){.access = access, .bytes = ptr->imm, .tree = tree_of(ptr)};
  if (ptr->op != IR_OFFSET || out->tree < 0 || type_is_bool(type) || type_size(type) < 4 ||
      !add_index(out, ptr->operands[1], ptr->stride))
    return false;
  qsort(out->terms, (size_t)out->count, sizeof *out->terms, compare_terms);
  return true;
}

int64_t ir_address_compare(const IrAddress *a, const IrAddress *b) {
  DEBUG_ASSERT(a->tree >= 0 && b->tree >= 0, "ir_address has accepted both");
  int left = type_size(ir_element_type(a->access)), right = type_size(ir_element_type(b->access));
  if (a->tree != b->tree) return a->tree - b->tree;
  if (a->access->op != b->access->op) return (int)a->access->op - (int)b->access->op;
  if (a->access->imm != b->access->imm) return a->access->imm - b->access->imm;
  if (left != right) return left - right;
  if (a->count != b->count) return a->count - b->count;
  for (int i = 0; i < a->count; i++) {
    const IrTerm *one = &a->terms[i], *other = &b->terms[i];
    if (one->value != other->value) return one->value->id - other->value->id;
    if (one->factor != other->factor) return one->factor - other->factor;
  }
  return 0;
}

bool ir_address_follows(const IrAddress *a, const IrAddress *b) {
  Type type = ir_element_type(a->access);
  return !ir_address_compare(a, b) && type_equal(type, ir_element_type(b->access)) &&
         b->bytes - a->bytes == type_size(type);
}

enum { DEEPEST_INDEX = 12, LARGEST_FACTOR = 16 };

static bool is_smooth(const IrInst *index, int depth) {
  int64_t by;
  if (depth == DEEPEST_INDEX) return false;
  switch (index->op) {
  case IR_PARAM:
  case IR_CONST:
  case IR_FRAME_GET: return true;
  case IR_CONVERT: return is_smooth(index->operands[0], depth + 1);
  case IR_MUL:
  case IR_SHL:
  case IR_SAR:
  case IR_FLOORDIV:
    for (int i = 0; i < 2; i++)
      if (ir_is_const(index->operands[1 - i], &by) && (i == 0 || index->op == IR_MUL))
        return by >= 0 && (index->op != IR_MUL || by <= LARGEST_FACTOR) &&
               is_smooth(index->operands[i], depth + 1);
    return false;
  case IR_ADD:
  case IR_SUB:
    return is_smooth(index->operands[0], depth + 1) && is_smooth(index->operands[1], depth + 1);
  default: return false;
  }
}

bool ir_index_is_smooth(const IrInst *index) { return is_smooth(index, 0); }
