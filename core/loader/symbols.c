/* symbols.c - names to addresses. Each name is declared as an object, not as a function: nothing is
 * called here, and the C library's own prototypes do not matter.
 * Bound by the dynamic linker, a kernel's `log` could become any function of that name in the host
 * program. So C functions are looked up in the C library itself, and those of the runtime are bound
 * inside our own library (api/regolith.map). */
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
#undef SYMBOL
#if defined(_WIN32) /* by the convention of kernels: windows/calls.c */
#define SYMBOL(name) extern char place_##name[] __asm__("kernel_" #name);
#else
#define SYMBOL(name) extern char place_##name[] __asm__(#name);
#endif
#include "loader/symbols.def"
#undef SYMBOL

static const struct {
  const char *name;
  char *address;
  bool is_runtime;
} symbols[] = {
#define SYMBOL(name) {#name, place_##name, true},
#include "entry.def"
#undef SYMBOL
#define SYMBOL(name) {#name, place_##name, false},
#include "loader/symbols.def"
#undef SYMBOL
#undef ENTRY
};

/* The function in libm, or in the C library, on which libm depends; NULL if neither has it. */
static void *find_in_library(const char *name) {
#if defined(_WIN32)
  return (void)name, NULL;
#endif
  static void *_Atomic library; /* never closed, since the process has it loaded anyway */
  void *opened = atomic_load(&library);
  if (!opened) atomic_store(&library, opened = dlopen("libm.so.6", RTLD_LAZY | RTLD_LOCAL));
  return opened ? dlsym(opened, name) : NULL;
}

void *symbol_find(const char *name) {
  if (CODEGEN_INSTRUMENT != 0 && !strncmp(name, "__tsan_", 7)) return dlsym(RTLD_DEFAULT, name);
  for (size_t i = 0; i < sizeof symbols / sizeof symbols[0]; i++) {
    if (strcmp(symbols[i].name, name)) continue;
    void *address = symbols[i].is_runtime ? NULL : find_in_library(name);
    return address ? address : symbols[i].address;
  }
  return NULL;
}
