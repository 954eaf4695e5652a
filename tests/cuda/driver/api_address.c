/* api_address.c - looks up entry points by name, in their newest version. */
#include "api.h"

#include <dlfcn.h>

EXPORT int cuGetProcAddress_v2(const char *name, void **entry, int version, uint64_t flags,
                               int *status) {
  static const char *const versions[] = {"_v2", ""};
  Dl_info info;
  char text[128];
  if (!name || !entry) return CUDA_ERROR_INVALID_VALUE;
  *entry = NULL;
  if (!dladdr((void *)cuGetProcAddress_v2, &info)) return CUDA_ERROR_UNKNOWN;
  void *library = dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD);
  for (int i = 0; i < 2 && library && !*entry; i++) {
    snprintf(text, sizeof text, "%s%s", name, versions[i]);
    *entry = dlsym(library, text);
  }
  if (library) dlclose(library);
  if (status) *status = *entry ? 0 : 1; /* 1: the symbol is not found */
  return *entry ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}
EXPORT int cuGetProcAddress(const char *name, void **entry, int version, uint64_t flags) {
  return cuGetProcAddress_v2(name, entry, version, flags, NULL);
}
