/* message.h - messages of a launch: a failure becomes an error, and lines go where the host wants
 * them: to its function (rg_on_print), to where it fetches them (rg_keep_lines), or to standard
 * output. */
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

/* -- lines ------------------------------------------------------------------------------------- */

/* Adds `length` bytes of `text`, which is also NUL-terminated. */
void lines_add(Engine *engine, const char *text, int length);
/* Keeps a warning among the lines. */
void lines_warn(Engine *engine, const char *text);
/* Takes the next kept line or warning, which is borrowed until the next one is added; NULL if none
 * is left. */
const char *lines_take(Engine *engine, int64_t *length);
void lines_free(Engine *engine);

#endif
