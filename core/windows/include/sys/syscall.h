/* syscall.h - the two calls of Linux that are made by number: futex (FUTEX_WAIT_PRIVATE and
 * FUTEX_WAKE_PRIVATE), by WaitOnAddress, and gettid. */
#ifndef RG_WINDOWS_SYSCALL_H
#define RG_WINDOWS_SYSCALL_H

enum { SYS_futex, SYS_gettid };

long syscall(long number, ...);

#endif
