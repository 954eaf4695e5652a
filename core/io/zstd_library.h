/* zstd_library.h - libzstd, opened at run time. For pack.c and unpack.c alone. */
#ifndef RG_IO_ZSTD_LIBRARY_H
#define RG_IO_ZSTD_LIBRARY_H

#include <zstd.h>

#include "base/error.h"

typedef struct ZstdLibrary {
  void *handle;
#define ZSTD(NAME) __typeof__(NAME) *NAME;
#include "io/zstd.def"
#undef ZSTD
} ZstdLibrary;

/* False with library.missing, and nothing to close. */
bool zstd_library_open(ZstdLibrary *zstd, Error *err);
void zstd_library_close(ZstdLibrary *zstd);

#endif
