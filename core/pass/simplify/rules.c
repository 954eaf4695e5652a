/* rules.c - finds the row of rules.def that a value fits, and rewrites the value; at the end, the
 * words that rules.def is written in, and its rows as data. */
#include "pass/simplify/rules.h"

#include <math.h>

#include "pass/fact.h"
#include "pass/rewrite.h"
#include "pass/simplify/simplify.h"

void rules_begin(Rewriter *rewriter, const PassContext *ctx, IrKernel *kernel) {
  DEBUG_ASSERT(ctx->facts < RULE_SELECTS_BASES, "facts and the needs of rows share a word");
  *rewriter = (Rewriter){.kernel = kernel, .holds = ctx->facts};
  if (ctx->target.slow_conversions) rewriter->holds |= RULE_SLOW_CONVERSIONS;
  if (ctx->target.estimates) rewriter->holds |= RULE_ESTIMATES;
  if (ctx->target.selects_bases) rewriter->holds |= RULE_SELECTS_BASES;
  if (kernel->fast_math) rewriter->holds |= RULE_FAST_MATH;
  for (int k = 0; k < rule_count; k++) {
    IrOp op = rules[k].pattern->op;
    DEBUG_ASSERT(rules[k].pattern->kind == TERM_OP, "a rule rewrites an op");
    DEBUG_ASSERT(!rewriter->beyond[op] || rewriter->beyond[op] == k, "its rows are adjacent");
    if (!rewriter->beyond[op]) rewriter->first[op] = (int16_t)k;
    rewriter->beyond[op] = (int16_t)(k + 1);
  }
}

/* -- matching ---------------------------------------------------------------------------------- */

static int64_t bits_of(Type type, double number) {
  return type_is_float(type) ? ir_float_bits(number) : ir_wrap_int(type, (int64_t)number);
}

static bool matches(const Term *term, IrInst *inst, Match *m) {
  switch (term->kind) {
  case TERM_VALUE:
    if (!m->values[term->letter]) m->values[term->letter] = inst;
    return m->values[term->letter] == inst;
  case TERM_NUMBER: return inst->op == IR_CONST && inst->imm == bits_of(inst->type, term->number);
  case TERM_OP: break;
  default: DEBUG_ASSERT(false, "a pattern holds values, numbers and ops"); return false;
  }
  if (inst->op != term->op) return false;
  for (int i = term->count - 1; i >= 0; i--) { /* numbers, which rarely fit, are on the right */
    DEBUG_ASSERT(i < inst->operand_count, "a pattern has no more operands than its op");
    if (!matches(term->operands[i], inst->operands[i], m)) return false;
  }
  return true;
}

static unsigned type_class(const IrInst *inst) {
  Type type = inst->operands[inst->operand_count - 1]->type;
  if (type_is_float(type)) return RULE_FLOAT;
  return type_is_bool(type) ? RULE_INTEGER | RULE_BOOL : RULE_INTEGER;
}

/* -- building ---------------------------------------------------------------------------------- */

static bool is_number(const Term *term) {
  return term->kind != TERM_VALUE && term->kind != TERM_OP;
}

/* The type of a term; TYPE_NONE if it takes the type that its place requires. */
static Type type_of(const Term *term, const Match *m) {
  if (term->kind == TERM_VALUE) return m->values[term->letter]->type;
  if (term->kind != TERM_OP || term->op == IR_CONVERT) return TYPE(NONE);
  if (ir_is_comparison(term->op)) return TYPE(BOOL);
  int last = term->count - 1;
  for (int i = term->op == IR_SELECT; i < last; i++)
    if (!type_is(type_of(term->operands[i], m), TYPE_NONE)) return type_of(term->operands[i], m);
  return type_of(term->operands[last], m);
}

/* The type that operand `number` of a term takes if that type depends on its place. */
static Type required_type(const Term *term, int number, Type result, const Match *m) {
  if (term->op == IR_SELECT && number == 0) return TYPE(BOOL);
  if (!ir_is_comparison(term->op)) return result;
  Type first = type_of(term->operands[0], m);
  return type_is(first, TYPE_NONE) ? type_of(term->operands[1], m) : first;
}

static IrInst *build_number(IrBuilder *b, const Term *term, Type type, const Match *m) {
  if (term->kind == TERM_K) return ir_const_int(b, type, m->k);
  if (term->kind == TERM_NUMBER && type_is_float(type))
    return ir_const_float(b, type, term->number);
  if (term->kind == TERM_NUMBER) return ir_const_int(b, type, (int64_t)term->number);
  int digits = type_bits(m->limits) - type_is_signed(m->limits);
  int64_t most = (int64_t)(~0ull >> (64 - digits)), least = type_is_signed(m->limits) ? ~most : 0;
  int64_t end = term->kind == TERM_MOST ? most : least;
  if (!type_is_float(type)) return ir_const_int(b, type, end);
  return ir_const_float(b, type, type_is_signed(m->limits) ? (double)end : (double)(uint64_t)end);
}

static int build_operands(IrBuilder *b, const Term *term, Type result, const Match *m,
                          IrInst **operands);

static IrInst *build_term(IrBuilder *b, const Term *term, Type wanted, const Match *m) {
  if (term->kind == TERM_VALUE) return m->values[term->letter];
  DEBUG_ASSERT(!type_is(wanted, TYPE_NONE) || !is_number(term), "a number has a type by its place");
  if (is_number(term)) return build_number(b, term, wanted, m);
  Type type = type_of(term, m);
  if (type_is(type, TYPE_NONE)) type = wanted;
  IrInst *operands[TERM_OPERANDS];
  int count = build_operands(b, term, term->op == IR_CONVERT ? TYPE(NONE) : type, m, operands);
  return ir_emit(b, term->op, type, count, operands);
}

/* Builds the operands of an op with this result, and returns how many there are. */
static int build_operands(IrBuilder *b, const Term *term, Type result, const Match *m,
                          IrInst **operands) {
  int count = 0;
  for (; count < term->count; count++)
    operands[count] =
        build_term(b, term->operands[count], required_type(term, count, result, m), m);
  return count;
}

static IrInst *apply_replacement(Match *m, const Term *term) {
  DEBUG_ASSERT(m->inst->region, "the value is in a region");
  IrBuilder b = rewrite_before(m->kernel, m->inst);
  IrInst *operands[TERM_OPERANDS];
  if (term->kind == TERM_VALUE) return m->values[term->letter];
  if (term->kind == TERM_BY) return term->rewrite(m);
  if (term->kind == TERM_NUMBER)
    return rewrite_become_const(m->kernel, m->inst, bits_of(m->inst->type, term->number));
  Type result = term->op == IR_CONVERT ? TYPE(NONE) : m->inst->type;
  int count = build_operands(&b, term, result, m, operands);
  bool stays = term->op == m->inst->op; /* then its attributes and its other operands stay, too */
  if (!stays) rewrite_become(m->kernel, m->inst, term->op, count, operands);
  for (int i = 0; stays && i < count; i++) ir_set_operand(m->inst, i, operands[i]);
  return m->inst;
}

/* -- one value --------------------------------------------------------------------------------- */

/* Applies the first row that fits. NULL: none does. */
static IrInst *apply_one(const Rewriter *r, IrInst *inst) {
  unsigned holds = r->beyond[inst->op] ? r->holds | type_class(inst) : 0;
  for (int k = r->first[inst->op]; k < r->beyond[inst->op]; k++) {
    const Rule *rule = &rules[k];
    if (rule->needs & ~holds) continue;
    Match m = {.kernel = r->kernel, .inst = inst};
    if (!matches(rule->pattern, inst, &m) || (rule->holds && !rule->holds(&m))) continue;
    IrInst *with = apply_replacement(&m, rule->replacement);
    if (with) return with;
  }
  return NULL;
}

/* Moves constants to the right, where the rows expect them. Float min and max do not commute. */
static void order_operands(IrInst *inst) {
  if (!(ir_op_info[inst->op].flags & IR_COMMUTES)) return;
  if (inst->operands[0]->op != IR_CONST || inst->operands[1]->op == IR_CONST) return;
  bool is_ordered = (inst->op == IR_MIN || inst->op == IR_MAX) && type_is_float(inst->type);
  if (!is_ordered) ir_swap_operands(inst);
}

IrInst *rules_apply(const Rewriter *r, IrInst *inst) {
  const IrInst *before = inst->previous;
  while (inst->operand_count && inst->previous == before) {
    int64_t imm;
    if (fold_constant(inst, &imm)) return rewrite_become_const(r->kernel, inst, imm);
    order_operands(inst);
    IrInst *with = apply_one(r, inst);
    if (!with) return inst;
    if (with != inst) return with;
  }
  return inst;
}

/* -- the rows, and the words in them ----------------------------------------------------------- */

/* needs */
enum { INTEGER = RULE_INTEGER, FLOAT = RULE_FLOAT, BOOL = RULE_BOOL };
enum {
  SLOW_CONVERSIONS = RULE_SLOW_CONVERSIONS,
  ESTIMATES = RULE_ESTIMATES,
  FAST_MATH = RULE_FAST_MATH,
  SELECTS_BASES = RULE_SELECTS_BASES
};
_Static_assert((int)FACT_COUNT < 24, "facts and the needs of rows share a word");

/* values and numbers */
static const Term a[] = {{.kind = TERM_VALUE, .letter = LETTER_A}};
static const Term b[] = {{.kind = TERM_VALUE, .letter = LETTER_B}};
static const Term i[] = {{.kind = TERM_VALUE, .letter = LETTER_I}};
static const Term n[] = {{.kind = TERM_VALUE, .letter = LETTER_N}};
static const Term x[] = {{.kind = TERM_VALUE, .letter = LETTER_X}};
static const Term k[] = {{.kind = TERM_K}};
static const Term least[] = {{.kind = TERM_LEAST}};
static const Term most[] = {{.kind = TERM_MOST}};
static const Term zero[] = {{.kind = TERM_NUMBER, .number = 0}};
static const Term one[] = {{.kind = TERM_NUMBER, .number = 1}};
static const Term two[] = {{.kind = TERM_NUMBER, .number = 2}};
static const Term three[] = {{.kind = TERM_NUMBER, .number = 3}};
static const Term four[] = {{.kind = TERM_NUMBER, .number = 4}};
static const Term minus_one[] = {{.kind = TERM_NUMBER, .number = -1}};
static const Term minus_zero[] = {{.kind = TERM_NUMBER, .number = -0.0}};

/* ops */
#define OF(OP, ...) \
  (&(const Term){ \
      .kind = TERM_OP, .op = IR_##OP, .count = COUNT_OF(__VA_ARGS__), .operands = {__VA_ARGS__}})
/* how many there are, up to TERM_OPERANDS; sizeof would double the nested terms at every level */
#define COUNT_OF(...) COUNTED(__VA_ARGS__, 3, 2, 1, )
#define COUNTED(A, B, C, COUNT, ...) COUNT
#define add(...) OF(ADD, __VA_ARGS__)
#define sub(...) OF(SUB, __VA_ARGS__)
#define mul(...) OF(MUL, __VA_ARGS__)
#define div(...) OF(DIV, __VA_ARGS__)
#define div_root(...) OF(DIV_ROOT, __VA_ARGS__)
#define div_cube(...) OF(DIV_CUBE, __VA_ARGS__)
#define floordiv(...) OF(FLOORDIV, __VA_ARGS__)
#define mod(...) OF(MOD, __VA_ARGS__)
#define pow(...) OF(POW, __VA_ARGS__)
#define neg(...) OF(NEG, __VA_ARGS__)
#define sqrt(...) OF(SQRT, __VA_ARGS__)
#define floor(...) OF(FLOOR, __VA_ARGS__)
#define ceil(...) OF(CEIL, __VA_ARGS__)
#define min(...) OF(MIN, __VA_ARGS__)
#define max(...) OF(MAX, __VA_ARGS__)
#define band(...) OF(BAND, __VA_ARGS__)
#define bor(...) OF(BOR, __VA_ARGS__)
#define bxor(...) OF(BXOR, __VA_ARGS__)
#define bnot(...) OF(BNOT, __VA_ARGS__)
#define bswap(...) OF(BSWAP, __VA_ARGS__)
#define shl(...) OF(SHL, __VA_ARGS__)
#define shr(...) OF(SHR, __VA_ARGS__)
#define sar(...) OF(SAR, __VA_ARGS__)
#define rol(...) OF(ROL, __VA_ARGS__)
#define ror(...) OF(ROR, __VA_ARGS__)
#define eq(...) OF(EQ, __VA_ARGS__)
#define ne(...) OF(NE, __VA_ARGS__)
#define lt(...) OF(LT, __VA_ARGS__)
#define le(...) OF(LE, __VA_ARGS__)
#define gt(...) OF(GT, __VA_ARGS__)
#define ge(...) OF(GE, __VA_ARGS__)
#define select(...) OF(SELECT, __VA_ARGS__)
#define item(...) OF(TABLE_GET, __VA_ARGS__)
#define pick(...) OF(PICK, __VA_ARGS__)
#define convert(...) OF(CONVERT, __VA_ARGS__)
#define bitcast(...) OF(BITCAST, __VA_ARGS__)
#define offset(...) OF(OFFSET, __VA_ARGS__)
#define BY(FUNCTION) (&(const Term){.kind = TERM_BY, .rewrite = FUNCTION})
#define always NULL

const Rule rules[] = {
#define RULE(NAME, NEEDS, PATTERN, CONDITION, REPLACEMENT) \
  {#NAME, (unsigned)(NEEDS), PATTERN, CONDITION, REPLACEMENT},
#include "pass/simplify/rules.def"
#undef RULE
};
const int rule_count = sizeof rules / sizeof rules[0];
