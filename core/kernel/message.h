/* message.h - messages of a launch: lines go to the engine's printer, a failure becomes an error.
 * Private to this room. */
#ifndef RG_KERNEL_MESSAGE_H
#define RG_KERNEL_MESSAGE_H

#include "kernel/variant.h"

/* Gives the variant its own copy of the compile's messages; false with err. */
bool messages_keep(Variant *variant, const SemaOutput *sema, Heap *heap, Error *err);
void messages_drop(Variant *variant);
/* Reads the messages of an ended launch with these values; false with err if the kernel failed. */
bool messages_read(Kernel *kernel, const Variant *variant, const DeviceLaunch *launch,
                   const RgValue *values, Error *err);
/* Fills err with the failure of message `number`: `text` at `index`, which may be "", and at
 * `others` more places. Always false. */
bool message_error(const Variant *variant, int32_t number, const char *text, const char *index,
                   int others, Error *err);

#endif
