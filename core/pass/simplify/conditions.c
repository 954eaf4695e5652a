/* conditions.c - conditions of rules.def, and the rewrites that no replacement expresses. */
#include "pass/rewrite.h"
#include "pass/simplify/rules.h"

bool rules_has_type(Match *m) { return type_equal(m->values[LETTER_A]->type, m->inst->type); }

/* Does every value of `inner` survive a conversion to `outer` and back? */
static bool widens(Type inner, Type outer) {
  if (type_is_float(inner) && type_is_float(outer)) return type_size(outer) > type_size(inner);
  return type_is_integer(inner) && type_is_integer(outer) && type_size(outer) >= type_size(inner);
}

bool rules_comes_back(Match *m) {
  return rules_has_type(m) && widens(m->inst->type, m->inst->operands[0]->type);
}

bool rules_is_whole(Match *m) {
  DEBUG_ASSERT(m->inst->operands[0]->uses, "this conversion uses the other one");
  const IrInst *integer = m->inst->operands[0], *of = m->values[LETTER_A];
  bool is_whole =
      of->op == IR_FLOOR || of->op == IR_CEIL || of->op == IR_ROUND || of->op == IR_TRUNC;
  bool is_wide = type_is(of->type, TYPE_F32) || type_is(of->type, TYPE_F64);
  m->limits = integer->type;
  return is_whole && is_wide && rules_has_type(m) && type_is_integer(integer->type) &&
         !integer->uses->next;
}

/* -- powers of square roots -------------------------------------------------------------------- */

enum { MOST_FACTORS = 6 };

typedef struct Factors {
  IrInst *x; /* under the roots */
  int roots, others;
  const IrInst *factors[MOST_FACTORS]; /* the others */
} Factors;

/* Collects the factors of a product; false: they are too many, or roots of several numbers. */
static bool collect(Factors *f, const IrInst *value) {
  if (value->op == IR_MUL) return collect(f, value->operands[0]) && collect(f, value->operands[1]);
  if (value->op != IR_SQRT) {
    if (f->others == MOST_FACTORS) return false;
    f->factors[f->others++] = value;
    return true;
  }
  if (f->x && value->operands[0] != f->x) return false;
  f->x = value->operands[0];
  return ++f->roots <= MOST_FACTORS;
}

/* Is the divisor sqrt(x)^power? A factor x, which is no product, counts as two roots of it. */
static bool is_power(Match *m, int power) {
  Factors f = {0};
  if (type_is(m->inst->type, TYPE_F16) || !collect(&f, m->values[LETTER_B]) || !f.x) return false;
  for (int i = 0; i < f.others; i++)
    if (f.factors[i] != f.x) return false;
  m->values[LETTER_X] = f.x;
  return f.roots + 2 * f.others == power;
}

bool rules_is_root(Match *m) { return is_power(m, 1); }
bool rules_is_cube(Match *m) { return is_power(m, 3); }

/* -- tables and addresses ---------------------------------------------------------------------- */

/* The index of a table is then used in its original type, in which it is outside in exactly the
 * same cases. */
bool rules_is_widened(Match *m) {
  Type narrow = m->values[LETTER_A]->type, wide = m->inst->operands[0]->type;
  return type_is_integer(narrow) && type_bits(narrow) < type_bits(wide);
}

static IrInst *become_number(Match *m, int64_t imm) {
  rewrite_become(m->kernel, m->inst, IR_CONST, 0, NULL);
  m->inst->imm = imm;
  return m->inst;
}

IrInst *rules_item(Match *m) {
  ASSERT(m->inst->imm >= 0 && m->inst->imm < m->kernel->tables.count, "the kernel has the table");
  const IrTable *table = &m->kernel->tables.items[m->inst->imm];
  int64_t index;
  if (!ir_is_const(m->values[LETTER_A], &index)) return NULL;
  return become_number(m, index >= 0 && index < table->count ? table->values[index] : 0);
}

IrInst *rules_pick(Match *m) {
  int64_t index;
  if (!ir_is_const(m->values[LETTER_A], &index)) return NULL;
  bool is_inside = index >= 0 && index < m->inst->operand_count - 1;
  return is_inside ? m->inst->operands[index + 1] : become_number(m, 0);
}

/* A constant index moves into the bytes, and an offset without an index into that of its base. */
IrInst *rules_offset(Match *m) {
  DEBUG_ASSERT(m->inst->op == IR_OFFSET && m->inst->operand_count == 2, "an OFFSET has an index");
  IrInst *inst = m->inst, *base = m->values[LETTER_A];
  int64_t index, bytes, sum;
  if (!ir_is_const(m->values[LETTER_B], &index) ||
      __builtin_mul_overflow(index, (int64_t)inst->stride, &bytes) ||
      __builtin_add_overflow(bytes, inst->imm, &sum))
    return NULL;
  if (sum == 0) return base;
  if (base->op != IR_OFFSET || __builtin_add_overflow(sum, base->imm, &sum)) return NULL;
  ir_set_operand(inst, 0, base->operands[0]);
  ir_set_operand(inst, 1, base->operands[1]);
  inst->stride = base->stride;
  inst->imm = sum;
  return inst;
}
