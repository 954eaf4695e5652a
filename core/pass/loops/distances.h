/* distances.h - dependence distances in a nest of two loops whose body is straight-line code: pure
 * insts, branches, and accesses to elements of dense fields. */
#ifndef RG_PASS_LOOPS_DISTANCES_H
#define RG_PASS_LOOPS_DISTANCES_H

#include "pass/analysis/dependence.h"

/* Accesses to the fields that a body writes, since they are compared pair by pair. */
enum { DISTANCES_MOST = 48 };

typedef struct DistancesAccess { /* to a field that the body writes */
  const IrInst *inst;
  int field;
  bool writes;
  PlaceSums sums;
} DistancesAccess;

typedef struct Distances {
  IrKernel *kernel;
  const IrRegion *body;
  const LoopNest *nest;
  bool is_good;
  bool *written; /* by field */
  int count;
  DistancesAccess accesses[DISTANCES_MOST];
} Distances;

/* Collects the accesses of `body`, the body of two loops. False: it has other effects. `nest` is
 * borrowed. */
bool distances_find(IrKernel *kernel, const LoopNest *nest, IrRegion *body, Distances *out);

/* Is `distance` from a write to `other` acceptable? */
typedef bool DistanceVisit(void *data, const Distance *distance, const DistancesAccess *write,
                           const DistancesAccess *other);
/* Visits the distances from each write to all accesses of its field, itself included, that may meet
 * it; stops at the first that is refused, and returns false. */
bool distances_visit(const Distances *distances, DistanceVisit *visit, void *data);

#endif
