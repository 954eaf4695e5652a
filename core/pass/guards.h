/* guards.h - comparisons of a range's indices that its interior decides.
 *
 *   if %i > 0 and %i < %n - 1 { .. }     always, in an interior from 1 to %n - 1
 *
 * Users compare indices before they read a neighbour. Compared with a constant, the interior that
 * the accesses need says what comes out; with a value of the launch, the interior ends where that
 * does. */
#ifndef RG_PASS_GUARDS_H
#define RG_PASS_GUARDS_H

#include "ir/task.h"
#include "pass/limits.h"

/* Where parameter `param`, at least -2^30, plus `less` is below `with`, a value of the launch, the
 * comparison's result is `holds`. */
typedef struct IndexGuard {
  IrInst *compare, *with;
  int param;
  int64_t less;
  bool holds;
} IndexGuard;

/* False: it is no such comparison, of a parameter of `body`. */
bool guards_read(const IrRegion *body, IrInst *compare, IndexGuard *guard);
/* Of a SELECT by such a comparison, or by one with a constant: the value that it has well inside
 * the range, whose indices have `limits`; NULL: it is another SELECT. */
const IrInst *guards_usual(const IrRegion *body, const IrInst *select, const Limits *limits);
/* False: what would run task `number` is never reached, and was removed. */
bool guards_is_run(const IrKernel *kernel, int number);
/* Before the host region runs task `number`, which it does; there, a value of the launch as an i64,
 * and a slot of the frame that is set to one. */
IrBuilder guards_host(IrKernel *kernel, int number);
IrInst *guards_value(IrBuilder *b, const IrInst *with);
int guards_set(IrBuilder *b, IrInst *value);
/* The slot of the frame, an i64, that the host region sets to it, a value of at most 32 bits,
 * before it runs task `number`. */
int guards_slot(IrKernel *kernel, int number, const IrInst *with);
/* Comparisons with constants that the box of the task's interior decides become constants there. */
void guards_decide(const IrTask *task);
void guards_become(IrInst *compare, bool holds);

#endif
