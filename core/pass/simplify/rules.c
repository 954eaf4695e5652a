/* rules.c - the words that rules.def is written in, and its rows as data. */
#include "pass/simplify/rules.h"

#include "pass/fact.h"

/* needs */
enum { INTEGER = RULE_INTEGER, FLOAT = RULE_FLOAT, BOOL = RULE_BOOL };
enum {
  SLOW_CONVERSIONS = RULE_SLOW_CONVERSIONS,
  ESTIMATES = RULE_ESTIMATES,
  FAST_MATH = RULE_FAST_MATH
};
_Static_assert((int)FACT_COUNT < 25, "facts and the needs of rows share a word");

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
static const Term minus_one[] = {{.kind = TERM_NUMBER, .number = -1}};
static const Term minus_zero[] = {{.kind = TERM_NUMBER, .number = -0.0}};

/* ops */
#define OF(OP, ...) \
  (&(const Term){ \
      .kind = TERM_OP, .op = IR_##OP, .count = COUNT_OF(__VA_ARGS__), .operands = {__VA_ARGS__}})
#define COUNT_OF(...) (int)(sizeof(const Term *[]){__VA_ARGS__} / sizeof(const Term *))
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
#define item(...) OF(ITEM, __VA_ARGS__)
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
