/* replace.h - atomic replacement of files, by which every file is written: under a temporary name
 * in the same folder, then renamed. So a file appears complete or not at all, and a failure leaves
 * the old one. Only regular files are replaced, also through symbolic links; a FIFO, a socket, a
 * device or a folder is refused with the reason. Permissions are kept. Decision D-io-01. */
#ifndef RG_IO_REPLACE_H
#define RG_IO_REPLACE_H

#include <limits.h>
#include <stdio.h>

#include "base/error.h"

typedef struct Replacement {
  const char *what;              /* "picture": for messages */
  char path[PATH_MAX];           /* links followed */
  char temporary[PATH_MAX + 32]; /* in the same folder, with the same extension; "": none exists */
  int file;                      /* of the temporary one, open for writing; -1 */
  FILE *stream;                  /* replace_stream's; NULL */
  bool is_durable;               /* survives a loss of power from replace_end on */
} Replacement;

/* "a folder", "a FIFO", "a socket", "a device": what is at the path, links followed; "" for a
 * regular file, NULL for nothing. */
const char *replace_kind(const char *path);
/* Creates the temporary file. False with err; then there is nothing to abandon. */
bool replace_begin(Replacement *replacement, const char *what, const char *path, Error *err);
/* For writing by stdio; replace_end and replace_abandon close it. NULL with err. */
FILE *replace_stream(Replacement *replacement, Error *err);
/* Moves the file to its path; on failure abandons it. */
bool replace_end(Replacement *replacement, Error *err);
/* Removes the temporary file; the path is unchanged. May be called more than once. */
void replace_abandon(Replacement *replacement);
/* Always false: "picture 'x.png' cannot be written: .." */
bool replace_fail(const Replacement *replacement, const char *why, Error *err);
/* For callers that open files themselves: leaves the temporary file empty and closed; later,
 * replace_resume restores `replacement` from its two paths. */
void replace_close(Replacement *replacement);
bool replace_resume(Replacement *replacement, const char *what, const char *path,
                    const char *temporary, Error *err);

#endif
