/* zstd_library.c - opens libzstd. */
#include "io/zstd_library.h"

#include "io/library.h"

_Static_assert(offsetof(ZstdLibrary, handle) == 0, "library_open puts the handle there");

bool zstd_library_open(ZstdLibrary *zstd, Error *err) {
  static const LibraryEntry entries[] = {
#define ZSTD(NAME) {#NAME, offsetof(ZstdLibrary, NAME)},
#include "io/zstd.def"
#undef ZSTD
  };
  const LibraryUse use = {"libzstd.so.1", "libzstd, which compresses snapshots,", "libzstd1", NULL,
                          entries,        (int)(sizeof entries / sizeof *entries)};
  return library_open(&use, zstd, err);
}

void zstd_library_close(ZstdLibrary *zstd) { library_close(zstd); }
