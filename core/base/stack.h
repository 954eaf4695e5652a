/* stack.h - the limit of the running thread's stack. */
#ifndef RG_BASE_STACK_H
#define RG_BASE_STACK_H

#include <stdint.h>

/* The lowest address that calls made from here may use; the memory below is a reserve for calls
 * that do not check. Works on any thread, also on a host's, and on a stack that the host
 * allocated. */
uint64_t stack_end(void);

#endif
