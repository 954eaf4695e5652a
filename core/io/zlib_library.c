/* zlib_library.c - opens zlib. */
#include "io/zlib_library.h"

#include "io/library.h"

_Static_assert(offsetof(ZlibLibrary, handle) == 0, "library_open puts the handle there");

bool zlib_library_open(ZlibLibrary *zlib, Error *err) {
  static const LibraryEntry entries[] = {
#define ZLIB(NAME) {#NAME, offsetof(ZlibLibrary, NAME)},
#include "io/zlib.def"
#undef ZLIB
  };
  const LibraryUse use = {"libz.so.1", "zlib, which compresses pictures,",     "zlib1g", NULL,
                          entries,     (int)(sizeof entries / sizeof *entries)};
  return library_open(&use, zlib, err);
}

void zlib_library_close(ZlibLibrary *zlib) { library_close(zlib); }
