/* png_library.c - opens the libpng that matches png.h. */
#include "io/png_library.h"

#include "io/library.h"

#define TEXT(X) #X
#define NUMBER_TEXT(X) TEXT(X)
#define SONAME "libpng" NUMBER_TEXT(PNG_LIBPNG_VER_SONUM) ".so." NUMBER_TEXT(PNG_LIBPNG_VER_SONUM)

_Static_assert(offsetof(PngLibrary, handle) == 0, "library_open puts the handle there");

bool png_library_open(PngLibrary *png, Error *err) {
  static const LibraryEntry entries[] = {
#define PNG(NAME) {#NAME, offsetof(PngLibrary, NAME)},
#include "io/png.def"
#undef PNG
  };
  const LibraryUse use = {SONAME,        "libpng, which writes pictures,",
                          "libpng16-16", "libz.so.1",
                          entries,       (int)(sizeof entries / sizeof *entries)};
  return library_open(&use, png, err);
}

void png_library_close(PngLibrary *png) { library_close(png); }
