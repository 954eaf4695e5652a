/* guards.h - comparisons of a range's indices that have a known result in the range's interior.
 *
 *   if %i > 0 and %i < %n - 1 { .. }     always, in an interior from 1 to %n - 1
 *
 * Users compare indices before they read a neighbour. A comparison with a constant is decided by
 * the interior that the accesses need anyway; for a comparison with a value of the launch, the host
 * region shrinks the interior until the comparison is decided. */
#ifndef RG_PASS_LOOPS_GUARDS_H
#define RG_PASS_LOOPS_GUARDS_H

#include "ir/task.h"
#include "pass/analysis/limits.h"

/* The comparison's result is `holds` wherever parameter `param` (at least -2^30) plus `less` is
 * below `with`, a value of the launch. */
typedef struct IndexGuard {
  IrInst *compare, *with;
  int param;
  int64_t less;
  bool holds;
} IndexGuard;

/* False if `compare` is not such a comparison of a parameter of `body`. */
bool guards_read(const IrRegion *body, IrInst *compare, IndexGuard *guard);
/* For a SELECT on such a comparison, or on one with a constant: the value that it has well inside
 * the range, whose indices have `limits`. NULL for any other SELECT. */
const IrInst *guards_usual(const IrRegion *body, const IrInst *select, const Limits *limits);
/* False if the RUN of task `number` was unreachable and has been removed. */
bool guards_is_run(const IrKernel *kernel, int number);
/* A builder just before the RUN of task `number`, which must exist. With it: a value of the launch
 * as an i64, and a new frame slot that is set to `value`. */
IrBuilder guards_host(IrKernel *kernel, int number);
IrInst *guards_value(IrBuilder *b, const IrInst *with);
int guards_set(IrBuilder *b, IrInst *value);
/* An i64 frame slot that the host region sets to `with`, a value of at most 32 bits, before it runs
 * task `number`. */
int guards_slot(IrKernel *kernel, int number, const IrInst *with);
/* Folds, in the task's interior, comparisons with constants that its box decides. */
void guards_decide(const IrTask *task);
void guards_become(IrInst *compare, bool holds);

#endif
