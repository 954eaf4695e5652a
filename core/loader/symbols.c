/* symbols.c - names to addresses. Each name is declared as an object, not as a function: nothing is
 * called here, and the C library's own prototypes do not matter.
 * The linker would give a kernel's `log` to a host that has a function of that name, whatever it
 * does. So the C library's functions are asked of the C library; those of the runtime are bound
 * inside ours (api/regolith.map). */
#include "loader/symbols.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "loader/loader.h"

#define ENTRY(NAME, FUNCTION, ...) SYMBOL(FUNCTION)
#define SYMBOL(name) extern char place_##name[] __asm__(#name);
#include "entry.def"
#include "loader/symbols.def"
#undef SYMBOL

static const struct {
  const char *name;
  char *place;
  bool is_ours;
} symbols[] = {
#define SYMBOL(name) {#name, place_##name, true},
#include "entry.def"
#undef SYMBOL
#define SYMBOL(name) {#name, place_##name, false},
#include "loader/symbols.def"
#undef SYMBOL
#undef ENTRY
};

/* The function of libm, or of what that uses, the C library; NULL where neither has it. */
static void *find_in_library(const char *name) {
  static void *_Atomic library; /* for good: it is loaded anyway */
  void *opened = atomic_load(&library);
  if (!opened) atomic_store(&library, opened = dlopen("libm.so.6", RTLD_LAZY | RTLD_LOCAL));
  return opened ? dlsym(opened, name) : NULL;
}

void *symbol_find(const char *name) {
  if (CODEGEN_INSTRUMENT != 0 && !strncmp(name, "__tsan_", 7)) return dlsym(RTLD_DEFAULT, name);
  for (size_t i = 0; i < sizeof symbols / sizeof symbols[0]; i++) {
    if (strcmp(symbols[i].name, name)) continue;
    void *place = symbols[i].is_ours ? NULL : find_in_library(name);
    return place ? place : symbols[i].place;
  }
  return NULL;
}
