/* message.h - what a launch said: its lines go to the engine's printer, its failure becomes an
 * error. For the room alone. */
#ifndef RG_KERNEL_MESSAGE_H
#define RG_KERNEL_MESSAGE_H

#include "kernel/variant.h"

/* The variant's own copy of its messages; false with err. */
bool messages_keep(Variant *variant, const SemaOutput *sema, Heap *heap, Error *err);
void messages_drop(Variant *variant);
/* Of a launch that has ended, with these values; false with err if the kernel failed. */
bool messages_read(Kernel *kernel, const Variant *variant, const DeviceLaunch *launch,
                   const RgValue *values, Error *err);
/* The failure that message `number` of the variant is: `text` at `index`, which may be "", and at
 * `others` more. */
bool message_error(const Variant *variant, int32_t number, const char *text, const char *index,
                   int others, Error *err);

#endif
