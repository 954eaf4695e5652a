/* stack.h - how far the running thread's stack may grow. */
#ifndef RG_BASE_STACK_H
#define RG_BASE_STACK_H

#include <stdint.h>

/* The lowest address that calls made from here may use; what lies below is left for those that do
 * not ask. Any thread, also one that a host made, on a stack of the host's own. */
uint64_t stack_end(void);

#endif
