/* message.h - messages of a launch: lines go to the engine's printer, a failure becomes an error.
 * Private to this room. */
#ifndef RG_KERNEL_MESSAGE_H
#define RG_KERNEL_MESSAGE_H

#include "kernel/versions/versions.h"

/* Copies the compile's messages to the compiled kernel's memory, below a guard. */
void messages_keep(CompiledKernel *compiled, const SemaOutput *sema);
/* Reads the messages of an ended launch with these values; false with err if the kernel failed. */
bool messages_read(Kernel *kernel, const CompiledKernel *compiled, const DeviceLaunch *launch,
                   const RgValue *values, Error *err);
/* Fills err with the failure of message `number`: `text` at `index`, which may be "", and at
 * `others` more places. Always false. */
bool message_error(const CompiledKernel *compiled, int32_t number, const char *text,
                   const char *index, int others, Error *err);

#endif
