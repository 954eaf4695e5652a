/* library.h - opens a library at run time, when it is first needed: so a script that does not need
 * it starts faster, and a host's own copy does not interfere. Private to this room. */
#ifndef RG_IO_LIBRARY_H
#define RG_IO_LIBRARY_H

#include <stddef.h>

#include "base/error.h"

typedef struct LibraryEntry {
  const char *name;
  size_t offset; /* of its pointer in the table, in bytes */
} LibraryEntry;

typedef struct LibraryUse {
  const char *soname;  /* "libpng16.so.16" */
  const char *job;     /* "libpng, which writes pictures," */
  const char *package; /* Debian's */
  const char *needs;   /* a library to open first, as it may exist next to ours only; or NULL */
  const LibraryEntry *entries;
  int entry_count;
} LibraryUse;

/* Fills the table, whose first member is the handle. False with library.missing, and nothing to
 * close. */
bool library_open(const LibraryUse *use, void *table, Error *err);
void library_close(void *table);

#endif
