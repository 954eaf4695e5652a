/* option.h - the environment, read in one place. Rows in option.def. */
#ifndef RG_BASE_OPTION_H
#define RG_BASE_OPTION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

/* The text of an option, or its default if unset. Borrowed from the environment. */
const char *option_text(const char *name);
/* Is `word` one of the comma-separated words of the option? */
bool option_has_word(const char *name, const char *word);
/* The number after `word:` in the option (fail_alloc:7), or `otherwise`. */
int64_t option_number(const char *name, const char *word, int64_t otherwise);
/* "512MiB", "2GiB", "1000000" -> bytes. */
bool option_parse_bytes(const char *text, uint64_t *size_bytes, Error *err);
/* All rows with default and meaning, one a line. */
void option_print_help(void);

#endif
