/* lines.h - where the lines that kernels print go: to the host's function (rg_on_print), to where
 * the host fetches them (rg_keep_lines), or to standard output. */
#ifndef RG_KERNEL_LINES_H
#define RG_KERNEL_LINES_H

#include "kernel/engine.h"

/* `text` is NUL-terminated, too. */
void lines_add(Engine *engine, const char *text, int length);
/* A warning, kept among the lines. */
void lines_warn(Engine *engine, const char *text);
/* The next kept line, or warning, borrowed until the next one is added; NULL: none is left. */
const char *lines_take(Engine *engine, int64_t *length);
void lines_free(Engine *engine);

#endif
