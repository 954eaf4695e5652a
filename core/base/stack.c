/* stack.c - see stack.h. A thread's stack is looked up once: the main thread's is read from
 * /proc. */
#include "base/stack.h"

#include <pthread.h>
#include <stddef.h>

/* Bytes. RESERVE: for the runtime, one function's stack frame, and signal handlers. ASSUMED_LEFT:
 * what is assumed to be left on a stack of unknown size, such as that of a host's coroutine. */
enum { RESERVE = 96 << 10, ASSUMED_LEFT = 32 << 10 };

typedef struct Stack {
  uint64_t low, high;
} Stack;

static Stack look_up(void) {
  Stack stack = {0};
  pthread_attr_t attributes;
  void *low = NULL;
  size_t size = 0;
  if (pthread_getattr_np(pthread_self(), &attributes)) return stack;
  if (!pthread_attr_getstack(&attributes, &low, &size)) {
    stack.low = (uint64_t)(uintptr_t)low;
    stack.high = stack.low + size;
  }
  pthread_attr_destroy(&attributes);
  return stack;
}

uint64_t stack_end(void) {
  static _Thread_local Stack own;
  uint64_t here = (uint64_t)(uintptr_t)__builtin_frame_address(0);
  if (!own.high) own = look_up();
  if (here < own.low || here >= own.high) return here - ASSUMED_LEFT;
  uint64_t quarter = (own.high - own.low) / 4;
  return own.low + (quarter < RESERVE ? quarter : RESERVE);
}
