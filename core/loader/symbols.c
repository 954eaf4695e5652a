/* symbols.c - names to addresses. Each name is declared as an object, not as a function: nothing is
 * called here, and the C library's own prototypes do not matter. */
#include "loader/symbols.h"

#include <stddef.h>
#include <string.h>

#define ENTRY(NAME, FUNCTION, ...) SYMBOL(FUNCTION)
#define SYMBOL(name) extern char place_##name[] __asm__(#name);
#include "entry.def"
#include "loader/symbols.def"
#undef SYMBOL

static const struct { const char *name; char *place; } symbols[] = {
#define SYMBOL(name) {#name, place_##name},
#include "entry.def"
#include "loader/symbols.def"
#undef SYMBOL
#undef ENTRY
};

void *symbol_find(const char *name) {
  for (size_t i = 0; i < sizeof symbols / sizeof symbols[0]; i++)
    if (!strcmp(symbols[i].name, name)) return symbols[i].place;
  return NULL;
}
