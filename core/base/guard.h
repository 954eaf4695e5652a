/* guard.h - handlers for failures that cannot be returned: a failed ASSERT, and exhausted scratch
 * memory or stack.
 *
 *     guard_run(work) -> work -> .. -> guard_leave: back in guard_run, which returns false
 *
 * Each thread has a stack of guards; the innermost takes the failure, by longjmp. The stack frames
 * in between are dropped without cleanup, so code below a guard may hold only scratch memory, or
 * must leave other resources where the opener of the guard finds them. Every call of regolith.h,
 * every compile and every worker's part of a loop runs below a guard of its own. Without any guard
 * (a test program that calls a room directly) a failure is printed and ends the process.
 * Decision D-base-01. */
#ifndef RG_BASE_GUARD_H
#define RG_BASE_GUARD_H

#include <setjmp.h>

#include "base/error.h"

typedef struct Guard {
  jmp_buf leave;
  struct Guard *outer;
  Error failure; /* set only if guard_leave was called */
} Guard;

/* Calls `work(data, err)`. If it ends by guard_leave, returns false with the failure in err. */
bool guard_run(bool (*work)(void *data, Error *err), void *data, Error *err);
/* Leaves with an error if the thread's stack is nearly used up, so that an endless recursion fails
 * instead of crashing. scratch_alloc calls it; a recursive walk that allocates nothing must call it
 * itself. */
void guard_check_stack(void);
/* Abandons the work below the thread's innermost guard, and closes that guard. */
_Noreturn void guard_leave(const Error *failure);

/* For callers that cannot pass a function: `guard_open(&guard); if (setjmp(guard.leave)) ..`. The
 * guard is closed by guard_leave, else by guard_close. */
void guard_open(Guard *guard);
void guard_close(Guard *guard);
/* Copies the guard's failure to err, unless that is set already. Always false, like error_set. */
bool guard_report(const Guard *guard, Error *err);
/* For foreign code that may longjmp over guards: returns the innermost guard, or NULL; and makes
 * that one the innermost again. */
Guard *guard_innermost(void);
void guard_restore(Guard *guard);

#endif
