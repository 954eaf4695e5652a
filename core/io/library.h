/* library.h - a library opened at run time, when something of it is needed: a script that needs
 * nothing starts faster, and a host's own copy does not interfere. For this room alone. */
#ifndef RG_IO_LIBRARY_H
#define RG_IO_LIBRARY_H

#include <stddef.h>

#include "base/error.h"

typedef struct LibraryEntry {
  const char *name;
  size_t place;        /* of its pointer, in bytes from the table's begin */
} LibraryEntry;

typedef struct LibraryUse {
  const char *soname;  /* "libpng16.so.16" */
  const char *job;     /* "libpng, which writes pictures," */
  const char *package; /* Debian's */
  const LibraryEntry *entries;
  int entry_count;
} LibraryUse;

/* Fills the table, whose first member is the handle. False with library.missing, and nothing to
 * close. */
bool library_open(const LibraryUse *use, void *table, Error *err);
void library_close(void *table);

#endif
