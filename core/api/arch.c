/* arch.c - finds the device that a runtime requests. */
#include <ctype.h>
#include <string.h>

#include "api/api.h"
#include "api/word.h"

static const char *likely_arch(const char *name) {
  char lower[16] = "";
  for (size_t k = 0; name[k] && k + 1 < sizeof lower; k++) lower[k] = (char)tolower(name[k]);
  if (!strcmp(lower, "gpu") || !strcmp(lower, "nvidia")) return "cuda";
  return word_nearest(WORD_ARCH, name);
}

bool api_find_arch(const char *name, Arch *arch, Error *err) {
  int number = ARCH_CPU;
  bool is_known = !name || !name[0] || word_find(WORD_ARCH, name, &number);
  *arch = (Arch)number;
  if (is_known) return true;
  error_set(err, RG_ERROR_DEVICE, "there is no device '%.60s'", name);
  const char *likely = likely_arch(name);
  if (likely) return error_hint(err, "did you mean \"%s\"?", likely);
  return error_hint(err, "arch = \"cpu\" is always available");
}
