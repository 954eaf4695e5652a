/* futex.h - the operations of syscall(SYS_futex, ..). */
#ifndef RG_WINDOWS_FUTEX_H
#define RG_WINDOWS_FUTEX_H

enum { FUTEX_WAIT_PRIVATE, FUTEX_WAKE_PRIVATE };

#endif
