/* rules_test.c - the rows of rules.def: each has its test from text to text, stands next to those of
 * its op, and, where fold_constant can evaluate both sides, replaces a value by an equal one for all
 * extreme numbers of every type. */
#include <math.h>
#include <stdio.h>

#include "check.h"
#include "pass/simplify/fold_constant.h"
#include "pass/simplify/rules.h"

static bool has_golden(const Rule *rule) {
  char path[1000];
  snprintf(path, sizeof path, "%s/../../pass/rules/%s.ir", RG_TEST_FOLDER, rule->name);
  FILE *file = fopen(path, "r");
  if (!file) return printf("no test %s\n", path), false;
  fclose(file);
  return true;
}

static bool stands_with_its_op(int k) {
  bool has_left = false;
  for (int i = k - 1; i >= 0; i--) {
    bool is_same = rules[i].pattern->op == rules[k].pattern->op;
    if (is_same && has_left) return false;
    has_left |= !is_same;
  }
  return true;
}

/* -- both sides of a row as numbers ------------------------------------------------------------ */

enum { MOST_NUMBERS = 16 };

typedef struct Trial {
  Type type; /* of what is computed */
  Type types[LETTER_COUNT];
  int64_t values[LETTER_COUNT];
} Trial;

static bool is_plain(const Term *term) {
  if (term->kind == TERM_VALUE || term->kind == TERM_NUMBER) return true;
  if (term->kind != TERM_OP || term->op == IR_CONVERT || term->op == IR_BITCAST ||
      term->op == IR_ITEM || term->op == IR_PICK || term->op == IR_OFFSET)
    return false;
  for (int i = 0; i < term->count; i++)
    if (!is_plain(term->operands[i])) return false;
  return true;
}

static void find_conditions(const Term *term, Trial *trial) {
  if (term->kind != TERM_OP) return;
  const Term *first = term->operands[0];
  if (term->op == IR_SELECT && first->kind == TERM_VALUE) trial->types[first->letter] = TYPE(BOOL);
  for (int i = 0; i < term->count; i++) find_conditions(term->operands[i], trial);
}

/* False: its result is left to the machine. */
static bool evaluate(const Term *term, Type type, const Trial *trial, IrInst *out) {
  *out = (IrInst){.op = IR_CONST, .type = type};
  if (term->kind == TERM_VALUE) {
    out->type = trial->types[term->letter];
    return out->imm = trial->values[term->letter], true;
  }
  if (term->kind == TERM_NUMBER) {
    out->imm = type_is_float(type) ? ir_float_bits(term->number)
                                   : ir_wrap_int(type, (int64_t)term->number);
    return true;
  }
  IrInst insts[TERM_OPERANDS], *operands[TERM_OPERANDS];
  IrInst op = {.op = term->op, .type = ir_is_comparison(term->op) ? TYPE(BOOL) : type};
  op.operands = operands;
  for (int i = 0; i < term->count; i++) {
    bool is_condition = term->op == IR_SELECT && i == 0;
    operands[i] = &insts[i];
    Type wanted = is_condition ? TYPE(BOOL) : trial->type;
    if (!evaluate(term->operands[i], wanted, trial, &insts[i])) return false;
    op.operand_count++;
  }
  out->type = op.type;
  return fold_constant(&op, &out->imm);
}

static int numbers_of(Type type, int64_t *out) {
  static const double floats[] = {0,     -0.0,    1,     -1,       2,         0.5, 3,
                                  65504, 0x1p-24, -7.25, INFINITY, -INFINITY, NAN};
  static const int64_t ints[] = {0, 1, -1, 2, 7, INT64_MIN, INT64_MAX, 1ll << 31, 127, 32768};
  int count = 0;
  if (type_is_bool(type)) return out[0] = 0, out[1] = 1, 2;
  if (type_is_float(type))
    for (; count < (int)(sizeof floats / sizeof *floats); count++)
      out[count] = ir_float_bits(floats[count]);
  else
    for (; count < (int)(sizeof ints / sizeof *ints); count++)
      out[count] = ir_wrap_int(type, ints[count]);
  return count;
}

static bool is_equal(const IrInst *a, const IrInst *b) {
  if (type_is_float(a->type) && isnan(ir_float_value(a)) && isnan(ir_float_value(b))) return true;
  return a->imm == b->imm;
}

/* How many pairs of numbers had equal results; -1: the sides differed. */
static int try_numbers(const Rule *rule, Trial *trial) {
  int64_t as[MOST_NUMBERS], bs[MOST_NUMBERS];
  int a_count = numbers_of(trial->types[LETTER_A], as), tried = 0;
  int b_count = numbers_of(trial->types[LETTER_B], bs);
  Type result = ir_is_comparison(rule->pattern->op) ? TYPE(BOOL) : trial->type;
  for (int i = 0; i < a_count * b_count; i++) {
    IrInst before, after;
    trial->values[LETTER_A] = as[i % a_count];
    trial->values[LETTER_B] = bs[i / a_count];
    if (!evaluate(rule->pattern, result, trial, &before)) continue;
    CHECK(evaluate(rule->replacement, result, trial, &after));
    if (!is_equal(&before, &after)) return -1;
    tried++;
  }
  return tried;
}

static bool is_for(const Rule *rule, Type type) {
  IrOp op = rule->pattern->op;
  bool takes_bools =
      (op >= IR_BAND && op <= IR_BNOT) || op == IR_EQ || op == IR_NE || op == IR_SELECT;
  if (type_is_bool(type)) return takes_bools;
  if (rule->needs & RULE_BOOL) return false;
  if (op == IR_BNOT || (op >= IR_BAND && op <= IR_BXOR)) return type_is_integer(type);
  return !(rule->needs & (type_is_float(type) ? RULE_INTEGER : RULE_FLOAT));
}

static int try_types(const Rule *rule) {
  const Type types[] = {TYPE(BOOL), TYPE(I8),  TYPE(I16), TYPE(I32), TYPE(I64), TYPE(U8),
                        TYPE(U16),  TYPE(U32), TYPE(U64), TYPE(F16), TYPE(F32), TYPE(F64)};
  int tried = 0;
  for (int k = 0; k < (int)(sizeof types / sizeof *types); k++) {
    Trial trial = {.type = types[k]};
    for (int l = 0; l < LETTER_COUNT; l++) trial.types[l] = types[k];
    find_conditions(rule->pattern, &trial);
    int more = is_for(rule, types[k]) ? try_numbers(rule, &trial) : 0;
    if (more < 0) return printf("%s changes a %s\n", rule->name, type_text(types[k])), -1;
    tried += more;
  }
  return tried;
}

int main(void) {
  TEST("each row has a test from text to text, and stands with those of its op") {
    for (int k = 0; k < rule_count; k++) CHECK(has_golden(&rules[k]) && stands_with_its_op(k));
  }
  TEST("a row replaces a value by an equal one, to the bit") {
    int checked = 0;
    for (int k = 0; k < rule_count; k++) {
      if (rules[k].holds || !is_plain(rules[k].replacement) || !is_plain(rules[k].pattern))
        continue;
      int tried = try_types(&rules[k]);
      CHECK(tried >= 0);
      checked += tried > 0;
    }
    CHECK(checked >= 40);
  }
  return check_report();
}
