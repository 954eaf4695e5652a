/* zlib_library.h - zlib, opened at run time, for the formats that use it. */
#ifndef RG_IO_ZLIB_LIBRARY_H
#define RG_IO_ZLIB_LIBRARY_H

#include <zlib.h>

#include "base/error.h"

typedef struct ZlibLibrary {
  void *handle;
#define ZLIB(NAME) __typeof__(NAME) *NAME;
#include "io/zlib.def"
#undef ZLIB
} ZlibLibrary;

/* False with library.missing, and nothing to close. */
bool zlib_library_open(ZlibLibrary *zlib, Error *err);
void zlib_library_close(ZlibLibrary *zlib);

#endif
