/* guard.h - where a failure goes that has no way up: a failed ASSERT, and exhausted scratch memory.
 *
 *     guard_run(work) -> work -> .. -> guard_leave: back in guard_run, which returns false
 *
 * Each thread has its guards, and the innermost takes the failure. Frames between are left as they
 * are: what runs below a guard holds nothing but scratch memory, or leaves what it holds where
 * whoever opened the guard finds it. Every call of regolith.h is below a guard, every compile below
 * one of its own, and every worker's part of a loop. Where there is none (a test program that calls
 * a room without one) a failure is printed and ends the process. */
#ifndef RG_BASE_GUARD_H
#define RG_BASE_GUARD_H

#include <setjmp.h>

#include "base/error.h"

typedef struct Guard {
  jmp_buf leave;
  struct Guard *outer;
  Error failure; /* set when `leave` was taken, and only then */
} Guard;

/* Calls `work(data, err)`; false with the failure in err when it ended by guard_leave. */
bool guard_run(bool (*work)(void *data, Error *err), void *data, Error *err);
/* Leaves with an error when the thread's stack is nearly used up, so that a recursion without end
 * fails instead of crashing. scratch_alloc asks; a recursive walk that allocates nothing asks
 * itself. */
void guard_check_stack(void);
/* Ends what runs below the thread's innermost guard, which is closed by that. */
_Noreturn void guard_leave(const Error *failure);

/* For those who cannot hand over a function: `guard_open(&guard); if (setjmp(guard.leave)) ..`,
 * which is closed when it was left, else by guard_close. */
void guard_open(Guard *guard);
void guard_close(Guard *guard);
/* Always false, like error_set: what the guard was left with, unless err is set already. */
bool guard_report(const Guard *guard, Error *err);
/* For jumps over guards by others: what is innermost (NULL: none), and to make it that again. */
Guard *guard_innermost(void);
void guard_restore(Guard *guard);

#endif
