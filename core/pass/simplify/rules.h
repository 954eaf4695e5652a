/* rules.h - applies the rewrites of rules.def to one value; `fold` calls it for each.
 *
 * A row's pattern and replacement are Terms: trees of constants that a short interpreter compares
 * with values and builds values from. Its condition may be any function of the Match. */
#ifndef RG_PASS_SIMPLIFY_RULES_H
#define RG_PASS_SIMPLIFY_RULES_H

#include "pass/pass.h"

/* the letters of rules.def */
typedef enum Letter { LETTER_A, LETTER_B, LETTER_I, LETTER_N, LETTER_X, LETTER_COUNT } Letter;

/* A value that fits a pattern. */
typedef struct Match {
  IrKernel *kernel;
  IrInst *inst;
  IrInst *values[LETTER_COUNT];
  int64_t k;   /* set by a condition for the replacement */
  Type limits; /* likewise, an integer type: that of `least` and `most` */
} Match;

typedef bool Condition(Match *m);
/* Rewrites m->inst in place, and returns it, or returns another value that replaces it. NULL: the
 * rule does not apply. */
typedef IrInst *Rewrite(Match *m);

typedef enum TermKind {
  TERM_VALUE,
  TERM_NUMBER,
  TERM_K,
  TERM_LEAST,
  TERM_MOST,
  TERM_OP,
  TERM_BY
} TermKind;

enum { TERM_OPERANDS = 3 };

typedef struct Term Term;
struct Term {
  TermKind kind;
  Letter letter; /* VALUE */
  double number; /* NUMBER */
  IrOp op;       /* OP */
  int count;     /* of operands */
  const Term *operands[TERM_OPERANDS];
  Rewrite *rewrite; /* BY */
};

typedef struct Rule {
  const char *name;
  unsigned needs;
  const Term *pattern; /* an op */
  Condition *holds;    /* NULL: always */
  const Term *replacement;
} Rule;

/* rules.c: the rows, those of an op next to each other */
extern const Rule rules[];
extern const int rule_count;

/* What rows may need in addition to the facts of pass.def. */
enum { RULE_INTEGER = 1 << 28, RULE_FLOAT = 1 << 29, RULE_BOOL = 1 << 30 };
enum { RULE_SLOW_CONVERSIONS = 1 << 27, RULE_ESTIMATES = 1 << 26, RULE_FAST_MATH = 1 << 25 };
enum { RULE_SELECTS_BASES = 1 << 24 };

/* -- finding and applying a row ---------------------------------------------------------------- */
typedef struct Rewriter {
  IrKernel *kernel;
  unsigned holds;              /* what rows may rely on */
  int16_t first[IR_OP_COUNT];  /* the first row of each op */
  int16_t beyond[IR_OP_COUNT]; /* and the one past its last */
} Rewriter;

void rules_begin(Rewriter *rewriter, const PassContext *ctx, IrKernel *kernel);
/* Simplifies a pure value in place until no row fits, and returns it; or returns another value,
 * visible here, that its users should use instead. Operands of the result that did not exist before
 * were inserted in front of `inst` and are not simplified yet: the caller does that first, then
 * calls this again. */
IrInst *rules_apply(const Rewriter *rewriter, IrInst *inst);

/* -- conditions.c ------------------------------------------------------------------------------ */
Condition rules_has_type;    /* has `a` the type of the result? */
Condition rules_is_computed; /* is it a float that is computed in its own type? */
Condition rules_comes_back;  /* .. and can the type between represent all its values? */
Condition rules_is_widened;  /* is `a` converted to an integer of more bits? */
/* Is a whole float converted to an integer that nothing else uses, and back? Sets the limits to
 * those of that type. */
Condition rules_is_whole;
Condition rules_is_root;          /* is `b` a square root? Finds the number, `x` */
Condition rules_is_cube;          /* .. the cube of one, also as x * sqrt(x)? */
Condition rules_are_like_offsets; /* are `b` and `x` equal offsets from two addresses? */
Rewrite rules_item, rules_pick, rules_offset, rules_select_base;
Rewrite rules_root; /* compares squares in place of a root and a constant */

/* -- conditions.c: modulo ---------------------------------------------------------------------- */
Condition rules_is_mask;          /* `n` is `k` - 1, and `a` near the index of a range 0 .. `k` */
Condition rules_is_index;         /* `a` is the index of a range 0 .. `n` */
Condition rules_has_periods;      /* .. is `i` + `k` plus whole periods */
Condition rules_may_have_periods; /* .. is that plus steps that vary, plus `k` less */
Condition rules_is_next;          /* .. is the index plus at most one period */
Condition rules_is_previous;      /* .. and minus */
Condition rules_is_around;        /* .. either of them, as its steps vary */
Rewrite rules_known_steps;        /* .. the same, by steps that are read from a table */

/* -- conditions.c: comparison narrowing -------------------------------------------------------- */
/* Is `n` a number of the launch, and the integer `x`, which is not, exact as a float? Sets the
 * limits to those of its type. */
Condition rules_is_narrower;
Condition rules_is_above_least; /* .. is it also never the least of its type? */
Condition rules_is_below_most;  /* .. or the largest? */
Condition rules_is_below;       /* is `a` a range of constants from 0 on, all below `n`? */
Condition rules_is_swapped;     /* .. the same with `x` converted, as `a` */

#endif
