/* png_library.h - libpng, opened at run time. Private to this room. */
#ifndef RG_IO_PNG_LIBRARY_H
#define RG_IO_PNG_LIBRARY_H

#include <png.h>

#include "base/error.h"

typedef struct PngLibrary {
  void *handle;
#define PNG(NAME) __typeof__(NAME) *NAME;
#include "io/png.def"
#undef PNG
} PngLibrary;

/* False with library.missing, and nothing to close. */
bool png_library_open(PngLibrary *png, Error *err);
void png_library_close(PngLibrary *png);

#endif
