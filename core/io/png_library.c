/* png_library.c - opens the libpng that matches png.h. */
#include "io/png_library.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

#define TEXT(X) #X
#define NUMBER_TEXT(X) TEXT(X)
#define SONAME "libpng" NUMBER_TEXT(PNG_LIBPNG_VER_SONUM) ".so." NUMBER_TEXT(PNG_LIBPNG_VER_SONUM)

bool png_library_open(PngLibrary *png, Error *err) {
  static const struct {
    const char *name;
    size_t place;
  } entries[] = {
#define PNG(NAME) {#NAME, offsetof(PngLibrary, NAME)},
#include "io/png.def"
#undef PNG
  };
  png->handle = dlopen(SONAME, RTLD_NOW | RTLD_LOCAL);
  if (!png->handle) {
    error_set(err, RG_ERROR_LIBRARY, "libpng, which writes pictures, cannot be opened: %s",
              dlerror());
    return error_hint(err, "install it: apt install libpng16-16");
  }
  for (size_t k = 0; k < sizeof entries / sizeof *entries; k++) {
    void *entry = dlsym(png->handle, entries[k].name);
    memcpy((char *)png + entries[k].place, &entry, sizeof entry);
    if (entry) continue;
    png_library_close(png);
    return error_set(err, RG_ERROR_LIBRARY, "%s has no %s", SONAME, entries[k].name);
  }
  return true;
}

void png_library_close(PngLibrary *png) {
  if (png->handle) dlclose(png->handle);
  png->handle = NULL;
}
