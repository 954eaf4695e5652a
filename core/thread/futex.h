/* futex.h - to sleep until a number changes, and a short pause while one looks. Who may sleep says
 * so before it looks a last time, and who changes the number changes it first: so nobody sleeps
 * through it. */
#ifndef RG_THREAD_FUTEX_H
#define RG_THREAD_FUTEX_H

#include <linux/futex.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

/* While *word is `value`; it may return before that changes. */
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
