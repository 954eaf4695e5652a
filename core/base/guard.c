/* guard.c - the guards of a thread, innermost first; see guard.h. */
#include "base/guard.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/stack.h"

static _Thread_local Guard *innermost;

void guard_open(Guard *guard) {
  guard->outer = innermost;
  innermost = guard;
}

void guard_close(Guard *guard) { innermost = guard->outer; }
Guard *guard_innermost(void) { return innermost; }
void guard_restore(Guard *guard) { innermost = guard; }

void guard_leave(const Error *failure) {
  Guard *guard = innermost;
  if (!guard) {
    fprintf(stderr, "regolith: %s\n", failure->message);
    abort();
  }
  guard->failure = *failure;
  guard_close(guard);
  longjmp(guard->leave, 1);
}

void guard_check_stack(void) {
  if ((uint64_t)(uintptr_t)__builtin_frame_address(0) >= stack_end()) return;
  Error failure = {0};
  error_set(&failure, RG_ERROR_UNSUPPORTED,
            "this needs more stack to compile than its thread has left");
  error_hint(&failure, "divide the longest expressions and the deepest blocks of the kernel; if it "
                       "has none, this is a bug in Regolith: please report it");
  guard_leave(&failure);
}

bool guard_report(const Guard *guard, Error *err) {
  if (err && !error_is_set(err)) error_add(err, &guard->failure);
  return false;
}

bool guard_run(bool (*work)(void *data, Error *err), void *data, Error *err) {
  Guard guard;
  guard_open(&guard);
  if (setjmp(guard.leave)) return guard_report(&guard, err);
  bool ok = work(data, err);
  guard_close(&guard);
  return ok;
}

const char error_bug_hint[] =
    "this is a bug in Regolith, not in your program: please report it with this message; only the "
    "failed call is lost, and the runtime stays usable";

void error_assert_failed(const char *file, int line, const char *text, const char *believed) {
  Error failure = {0};
  error_set(&failure, RG_ERROR_INTERNAL, "internal error at %s:%d: assertion failed: %s (%s)",
            file + strspn(file, "./"), line, believed, text);
  error_hint(&failure, "%s", error_bug_hint);
  guard_leave(&failure);
}
