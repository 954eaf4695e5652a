/* lines.h - where the lines that kernels print go: to the host's function (rg_on_print), to where
 * the host fetches them (rg_keep_lines), or to standard output. */
#ifndef RG_KERNEL_LINES_H
#define RG_KERNEL_LINES_H

#include "kernel/engine.h"

/* Adds `length` bytes of `text`, which is also NUL-terminated. */
void lines_add(Engine *engine, const char *text, int length);
/* Keeps a warning among the lines. */
void lines_warn(Engine *engine, const char *text);
/* Takes the next kept line or warning, which is borrowed until the next one is added; NULL if none
 * is left. */
const char *lines_take(Engine *engine, int64_t *length);
void lines_free(Engine *engine);

#endif
