/* rules_test.c - the rows of rules.def: each has its test from text to text, stands next to those
 * of its op, and, where fold_constant can evaluate both sides, replaces a value by an equal one for
 * all extreme numbers of every type. */
#include <math.h>
#include <stdio.h>

#include "check.h"
#include "pass/simplify/simplify.h"
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
      term->op == IR_TABLE_GET || term->op == IR_PICK || term->op == IR_OFFSET)
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

/* False: its result depends on the machine. */
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

/* -- comparisons that are narrowed ------------------------------------------------------------- */

static Heap heap;
static Scratch scratch;

typedef struct Narrowing {
  IrOp op;
  Type integer, real;
  const char *bound; /* the integer: "bor" of itself, "min" or "max" of itself and `limit` */
  int64_t limit;
  bool is_swapped;
} Narrowing;

static IrKernel *compare_kernel(const Narrowing *t, Error *err) {
  static const char text[] = "kernel k\n"
                             "tree t0 = root{ dense \"i\" 8 { %s v, bool y } }\n"
                             "field f0 = t0.node 1.component 0: %s v\n"
                             "field f1 = t0.node 1.component 1: bool y\n"
                             "arg 0: %s n\n"
                             "frame 4\n"
                             "host {\n"
                             "  %%0: i64 = const 8\n"
                             "  frame.set 2 %%0\n"
                             "  frame.set 3 %%0\n"
                             "  run 0\n"
                             "}\n"
                             "task 0 = range axes=1 bounds=2 index=i32 cost=20 {\n"
                             "  body (%%p: i32) {\n"
                             "    %%n: %s = frame.get 0\n"
                             "    %%at: place = place f0 %%p\n"
                             "    %%to: place = place f1 %%p\n"
                             "    %%v: %s = load %%at\n"
                             "    %%limit: %s = const %lld\n"
                             "    %%x: %s = %s %%v, %%limit\n"
                             "    %%real: %s = convert %%x\n"
                             "    %%c: bool = %s %s\n"
                             "    store %%to, %%c\n"
                             "  }\n"
                             "}\n";
  const char *integer = type_text(t->integer), *real = type_text(t->real);
  const char *whole = scratch_format(
      &scratch, text, integer, integer, real, real, integer, integer, (long long)t->limit, integer,
      t->bound, real, ir_op_info[t->op].text, t->is_swapped ? "%n, %real" : "%real, %n");
  return ir_read(&scratch, &heap, whole, err);
}

typedef struct Known {
  int64_t integer;
  double real;
  const IrInst *stored; /* found */
  int converted;        /* integers that became floats */
} Known;

static void become_const(IrInst *inst, int64_t imm) {
  ir_truncate_operands(inst, 0);
  inst->op = IR_CONST;
  inst->imm = imm;
}

static bool make_known(void *data, IrInst *inst) {
  Known *known = data;
  if (inst->op == IR_LOAD) become_const(inst, known->integer);
  if (inst->op == IR_FRAME_GET) become_const(inst, ir_float_bits(known->real));
  return true;
}

static bool find_stored(void *data, IrInst *inst) {
  Known *known = data;
  if (inst->op == IR_STORE) known->stored = inst->operands[1];
  known->converted += inst->op == IR_CONVERT && type_is_float(inst->type);
  return true;
}

/* Narrows the comparison, and then evaluates it. -1: it was not narrowed, or is not a constant. */
static int narrowed(const Narrowing *t, int64_t integer, double real) {
  Error err;
  error_clear(&err);
  scratch_init(&scratch, &heap);
  PassContext ctx = {.scratch = &scratch, .vector_bytes = 32, .target = target_cpu};
  IrKernel *kernel = compare_kernel(t, &err);
  if (!kernel) return printf("%s\n", err.message), -1;
  CHECK(pass_run_named(&ctx, kernel, "fold", &err));
  Known known = {.integer = integer, .real = real};
  IrRegion *body = kernel->tasks.items[0]->body;
  ir_walk(body, find_stored, &known);
  bool is_narrow = !known.converted;
  ir_walk(body, make_known, &known);
  CHECK(pass_run_named(&ctx, kernel, "fold", &err));
  ir_walk(body, find_stored, &known);
  int result = is_narrow && known.stored->op == IR_CONST ? (int)known.stored->imm : -1;
  snode_tree_release((SNodeTree *)kernel->trees.items[0].tree);
  scratch_deinit(&scratch);
  return result;
}

static bool compare(IrOp op, double a, double b) {
  switch (op) {
  case IR_EQ: return a == b;
  case IR_NE: return a != b;
  case IR_LT: return a < b;
  case IR_LE: return a <= b;
  case IR_GT: return a > b;
  default: return a >= b;
  }
}

static bool narrows_rightly(const Narrowing *t) {
  int64_t least = ir_wrap_int(t->integer, type_is_signed(t->integer)
                                              ? (int64_t)1 << (type_bits(t->integer) - 1)
                                              : 0),
          most = type_is_signed(t->integer) ? ~least : ir_wrap_int(t->integer, -1);
  const int64_t integers[] = {least, least + 1, 0, 3, most - 1, most};
  const double reals[] = {(double)least,
                          (double)least - 1,
                          (double)least + 0.5,
                          -0.0,
                          2.5,
                          3,
                          (double)most - 0.5,
                          (double)most,
                          (double)most + 1,
                          NAN,
                          (double)most * 65536,
                          -INFINITY,
                          INFINITY};
  for (int i = 0; i < (int)(sizeof integers / sizeof *integers); i++)
    for (int k = 0; k < (int)(sizeof reals / sizeof *reals); k++) {
      int64_t x = integers[i], limit = t->limit;
      double real = ir_round_float(t->real, reals[k]);
      if (!strcmp(t->bound, "min")) x = x < limit ? x : limit;
      if (!strcmp(t->bound, "max")) x = x > limit ? x : limit;
      bool expected =
          t->is_swapped ? compare(t->op, real, (double)x) : compare(t->op, (double)x, real);
      if (narrowed(t, integers[i], real) == expected) continue;
      printf("%s of %lld and %g\n", ir_op_info[t->op].text, (long long)x, real);
      return false;
    }
  return true;
}

static bool all_narrow_rightly(IrOp op, Type integer, Type real) {
  for (int turned = 0; turned < 2; turned++)
    if (!narrows_rightly(&(Narrowing){op, integer, real, "bor", 0, turned}) ||
        !narrows_rightly(&(Narrowing){op, integer, real, "min", 3, turned}) ||
        !narrows_rightly(&(Narrowing){op, integer, real, "max", 3, turned}))
      return false;
  return true;
}

/* -- floats by way of integers ----------------------------------------------------------------- */

/* What the body stores for `value`; is_known: with that in place from the start. */
static int64_t whole_of(IrOp round, Type integer, Type real, double value, bool is_known) {
  static const char text[] = "kernel k\n"
                             "tree t0 = root{ dense \"i\" 8 { %s v } }\n"
                             "field f0 = t0.node 1.component 0: %s v\n"
                             "frame 1\n"
                             "host {\n"
                             "  %%0: i32 = const 0\n"
                             "  %%at: place = place f0 %%0\n"
                             "  %%v: %s = load %%at\n"
                             "  %%whole: %s = %s %%v\n"
                             "  %%i: %s = convert %%whole\n"
                             "  %%again: %s = convert %%i\n"
                             "  store %%at, %%again\n"
                             "}\n";
  const char *to = type_text(integer), *of = type_text(real);
  Error err;
  error_clear(&err);
  scratch_init(&scratch, &heap);
  PassContext ctx = {.scratch = &scratch, .vector_bytes = 32, .target = target_cpu};
  IrKernel *kernel =
      ir_read(&scratch, &heap,
              scratch_format(&scratch, text, of, of, of, of, ir_op_info[round].text, to, of), &err);
  if (!kernel) return printf("%s\n", err.message), -1;
  Known known = {.integer = ir_float_bits(value)};
  if (is_known) ir_walk(kernel->body, make_known, &known);
  CHECK(pass_run_named(&ctx, kernel, "fold", &err));
  ir_walk(kernel->body, find_stored, &known);
  CHECK(is_known || known.stored->op == IR_SELECT);
  ir_walk(kernel->body, make_known, &known);
  CHECK(pass_run_named(&ctx, kernel, "fold", &err));
  ir_walk(kernel->body, find_stored, &known);
  CHECK(known.stored->op == IR_CONST);
  int64_t bits = known.stored->imm;
  snode_tree_release((SNodeTree *)kernel->trees.items[0].tree);
  scratch_deinit(&scratch);
  return bits;
}

static bool goes_by_floats(IrOp round, Type integer, Type real) {
  const double values[] = {0,       -0.0,    -0.5,   2.5,    -7.25,    127.5,        255,
                           32767.9, 3e9,     -3e9,   1e300,  INFINITY, -INFINITY,    0x1p63,
                           NAN,     -0x1p31, 0x1p31, 0x1p32, -1,       0x1.fffffep30};
  for (int i = 0; i < (int)(sizeof values / sizeof *values); i++) {
    double value = ir_round_float(real, values[i]);
    if (whole_of(round, integer, real, value, true) == whole_of(round, integer, real, value, false))
      continue;
    printf("%s of %g by way of %s\n", ir_op_info[round].text, value, type_text(integer));
    return false;
  }
  return true;
}

int main(void) {
  heap_init(&heap, 0);
  TEST("each row has a golden file, and is next to the rows of its op") {
    for (int k = 0; k < rule_count; k++) CHECK(has_golden(&rules[k]) && stands_with_its_op(k));
  }
  TEST("a row replaces a value by one that is equal to the bit") {
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
  TEST("a narrowed comparison equals that of floats, at both limits of the type and for NaN") {
    for (int op = IR_EQ; op <= IR_GE; op++) {
      CHECK(all_narrow_rightly((IrOp)op, TYPE(I32), TYPE(F64)));
      CHECK(all_narrow_rightly((IrOp)op, TYPE(I8), TYPE(F32)));
      CHECK(all_narrow_rightly((IrOp)op, TYPE(U16), TYPE(F32)));
    }
  }
  TEST("a whole float is equal without the integer in between") {
    const Type integers[] = {TYPE(I8), TYPE(U16), TYPE(I32), TYPE(U32), TYPE(I64), TYPE(U64)};
    for (int k = 0; k < (int)(sizeof integers / sizeof *integers); k++) {
      CHECK(goes_by_floats(IR_FLOOR, integers[k], TYPE(F32)));
      CHECK(goes_by_floats(IR_CEIL, integers[k], TYPE(F64)));
    }
  }
  return check_report();
}
