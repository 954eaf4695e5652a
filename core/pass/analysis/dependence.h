/* dependence.h - in which iterations of a loop may two accesses reach one element?
 *
 *   for i { for j { x[i][j] = x[i][j - 1] + x[i - 1][n - j] } }
 *
 *     store x[i][j], itself              at (0, 0): only in one and the same iteration
 *     store x[i][j], load x[i][j - 1]    at (0, 1): (i, j + 1) reads what (i, j) writes
 *     store x[i][j], load x[i - 1][n - j]    at (1, ?): along j the distance is unknown
 *     store y[64 * i + j], itself        at (0, 0), if j is one of 0 .. 63
 *     store x[i][j], store x[i + 1][j]   nowhere, if both are in `if (i + j) % 2 == colour`
 *
 * All passes that ask whether iterations are independent, or at which distance they depend on each
 * other, ask here. An index is understood if it is a sum of the loop's indices with constant
 * factors, which may be negative, and of values that all iterations share (facts_affine). So are
 * strides, as far as nothing can wrap: `x[3 * k + c]`, and `x[2 * k]` if k is never negative; and
 * sums of several indices, or of values in constant ranges, if these are so small that each sum has
 * one solution.
 * Conservative: an unknown distance, and `may_carry`, mean that no proof was found. Decision
 * D-pass-33. */
#ifndef RG_PASS_ANALYSIS_DEPENDENCE_H
#define RG_PASS_ANALYSIS_DEPENDENCE_H

#include "ir/facts.h"
#include "pass/analysis/effects.h"

/* The loops whose iterations are compared. */
typedef struct LoopNest {
  const IrRegion *body; /* of the outermost: values from outside are the same in all iterations */
  int count;
  const IrInst *indices[SNODE_MAX_AXES]; /* from the outermost loop's on */
  unsigned nonnegative;                  /* a bit per index that is never negative */
  int64_t extents[SNODE_MAX_AXES];       /* two values of an index differ by less; 0: unknown */
} LoopNest;

/* The loop with this body: a FOR, or a parallel loop, whose indices are all its parameters. */
LoopNest dependence_nest(const IrRegion *body);
/* The loop of a task: `body` is the task's body or its interior. */
LoopNest dependence_nest_of_task(const IrKernel *kernel, const IrTask *task, const IrRegion *body);
/* The loop with this body, and one FOR inside it. */
LoopNest dependence_nest_of_two(const IrRegion *body, const IrInst *inner);

/* -- two places -------------------------------------------------------------------------------- */

/* An index as the sum of factors[k] * index k of the nest, plus values that iterations share, plus
 * a number in low .. high that may be another one each time. */
typedef struct IndexSum {
  bool is_known; /* false: it is not such a sum */
  int64_t factors[SNODE_MAX_AXES];
  Affine rest;
  int64_t low, high;
} IndexSum;

typedef struct IndexSums { /* of one axis */
  const IrInst *index;
  IndexSum opened; /* also what is computed outside the nest, if that gives few terms */
  IndexSum inside; /* only what is computed inside */
} IndexSums;

/* A place is reached only in iterations where sum % 2^bits == remainder, such as those of one
 * colour of a checkerboard. */
typedef struct PlaceGuard {
  const IrInst *condition, *remainder; /* the remainder is the same in all iterations */
  IndexSum sum;                        /* modulo 2^bits, its rest's */
} PlaceGuard;

/* The indices of a place, as the iterations of a nest see them. */
typedef struct PlaceSums {
  const LoopNest *nest;
  const IndexSums *axes;
  int axis_count;          /* -1: any element */
  const PlaceGuard *guard; /* NULL: none is known */
} PlaceSums;

/* `indices` are those of a PLACE, or of an op on a level. Allocated in `scratch`; `nest` is
 * borrowed. */
PlaceSums dependence_sums(Scratch *scratch, const LoopNest *nest, int count,
                          IrInst *const *indices);

/* Iteration i + by is the only one in which `b` may reach the element that `a` reaches in
 * iteration i. Nonzero distances hold modulo the width of the index, since indices wrap. */
typedef struct Distance {
  bool never;     /* they reach no common element in any two iterations */
  bool is_exact;  /* every axis agrees, so they do reach a common element at this distance */
  unsigned known; /* a bit per index of the nest; along the others any distance is possible */
  int64_t by[SNODE_MAX_AXES];
  int bits[SNODE_MAX_AXES]; /* the width modulo which by[k] holds */
} Distance;

/* Both are places of one field that overlaps no other field, and their nests have as many
 * indices: one nest, or the body and the interior of one task. */
Distance dependence_between(const PlaceSums *a, const PlaceSums *b);
/* May the two meet in different iterations? */
bool dependence_crosses(const LoopNest *nest, const Distance *distance);

/* -- all accesses of a field ------------------------------------------------------------------- */

/* May two iterations reach one element of the field, the first by one of the verbs `first`, the
 * other by one of `second`? The iterations are those of the loop whose effects these are. Ignores
 * the user's promise (task->independent), and nothing is proven after `leaf`, of functions that
 * the loop calls, and of arrays that may overlap. */
bool dependence_may_carry(const Effects *effects, int field, unsigned first, unsigned second);
/* May two iterations change one list of a dynamic SNode, by calls or by writes to its elements, or
 * does one free lists by deactivating an ancestor? */
bool dependence_may_share_list(const Effects *effects, const SNode *dynamic);
/* Does each iteration reach an element of its own through this place? */
bool dependence_is_own(const IrKernel *kernel, const EffectPlace *place);

/* -- nests of two loops ------------------------------------------------------------------------ */

/* Accesses to the fields that a body writes, since they are compared pair by pair. */
enum { DEPENDENCE_MOST_ACCESSES = 48 };

typedef struct NestAccess { /* to a field that the body writes */
  const IrInst *inst;
  int field;
  bool writes;
  PlaceSums sums;
} NestAccess;

typedef struct NestAccesses {
  int count;
  NestAccess items[DEPENDENCE_MOST_ACCESSES];
} NestAccesses;

/* Collects the accesses of `body`, the body of two loops. False: it is not straight-line code of
 * pure insts, branches, and accesses to elements of dense fields. `nest` is borrowed. */
bool dependence_collect(IrKernel *kernel, const LoopNest *nest, const IrRegion *body,
                        NestAccesses *out);
/* Is `distance` from a write to `other` acceptable? */
typedef bool DistanceVisit(void *data, const Distance *distance, const NestAccess *write,
                           const NestAccess *other);
/* Visits the distances from each write to all accesses of its field, itself included, that may meet
 * it; stops at the first that is refused, and returns false. */
bool dependence_visit(const NestAccesses *accesses, DistanceVisit *visit, void *data);

#endif
