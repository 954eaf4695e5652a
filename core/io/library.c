/* library.c - see library.h. */
#include "io/library.h"

#include <dlfcn.h>
#include <string.h>

static bool hint_installation(const LibraryUse *use, Error *err) {
#if defined(_WIN32)
  return error_hint(err, "copy %s from MSYS2 into the program's folder", windows_dll(use->soname));
#else
  return error_hint(err, "install it: apt install %s", use->package);
#endif
}

bool library_open(const LibraryUse *use, void *table, Error *err) {
  void **handle = table;
  if (use->needs)
    dlopen(use->needs, RTLD_NOW | RTLD_LOCAL); /* if that fails, so does the next dlopen */
  *handle = dlopen(use->soname, RTLD_NOW | RTLD_LOCAL);
  if (!*handle) {
    error_set(err, RG_ERROR_LIBRARY, "%s cannot be opened: %s", use->job, dlerror());
    return hint_installation(use, err);
  }
  for (int k = 0; k < use->entry_count; k++) {
    void *entry = dlsym(*handle, use->entries[k].name);
    memcpy((char *)table + use->entries[k].offset, &entry, sizeof entry);
    if (entry) continue;
    library_close(table);
    return error_set(err, RG_ERROR_LIBRARY, "%s has no %s", use->soname, use->entries[k].name);
  }
  return true;
}

void library_close(void *table) {
  void **handle = table;
  if (*handle) dlclose(*handle);
  *handle = NULL;
}
