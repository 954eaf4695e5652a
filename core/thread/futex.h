/* futex.h - sleeping until a number changes, and a short pause for spin loops. A thread that is
 * about to sleep announces that before it checks the number a last time, and a thread that changes
 * the number does so before it looks for sleepers: so no change is missed. */
#ifndef RG_THREAD_FUTEX_H
#define RG_THREAD_FUTEX_H

#include <linux/futex.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Sleeps while *word is `value`; it may return early. */
static inline void futex_wait(_Atomic uint32_t *word, uint32_t value) {
  syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0);
}

static inline void futex_wake_all(_Atomic uint32_t *word) {
  syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL, NULL, 0);
}

static inline void pause_briefly(void) {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

#endif
