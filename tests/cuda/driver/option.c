/* option.c - PTX_HELP=1 prints all options. */
#include "option.h"

#include <stdio.h>
#include <stdlib.h>

Options options;

static long number(const char *variable, long otherwise) {
  const char *text = getenv(variable);
  return text && *text ? strtol(text, NULL, 0) : otherwise;
}

void options_read(void) {
#define OPTION(NAME, VARIABLE, DEFAULT, MEANING) options.NAME = number(VARIABLE, DEFAULT);
#include "option.def"
#undef OPTION
  if (!getenv("PTX_HELP")) return;
#define OPTION(NAME, VARIABLE, DEFAULT, MEANING) \
  fprintf(stderr, "%-18s %6ld  %s\n", VARIABLE, (long)(DEFAULT), MEANING);
#include "option.def"
#undef OPTION
  fprintf(stderr, "%-18s %6s  %s\n", "PTX_SAVE", "", "folder that gets the PTX of all modules");
}
