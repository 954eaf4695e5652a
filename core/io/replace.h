/* replace.h - how every file is written: beside its path, under another name, which then replaces
 * it. So a file is there as a whole or not at all, and a failure leaves what was there before.
 * Regular files alone are replaced, at the end of links that lead to them: a FIFO, a socket, a
 * device or a folder is refused by name. Permissions stay. */
#ifndef RG_IO_REPLACE_H
#define RG_IO_REPLACE_H

#include <limits.h>
#include <stdio.h>

#include "base/error.h"

typedef struct Replacement {
  const char *what;        /* "picture": for messages */
  char path[PATH_MAX];     /* links followed */
  char temporary[PATH_MAX + 32]; /* beside it, with the same extension; "": nothing is there */
  int file;                /* of the temporary one, open for writing; -1 */
  FILE *stream;            /* replace_stream's; NULL */
  bool is_durable;         /* outlives a loss of power from replace_end on */
} Replacement;

/* "a folder", "a FIFO", "a socket", "a device": what is at the path, links followed; "" for a
 * regular file, NULL for nothing. */
const char *replace_kind(const char *path);
/* False, and there is nothing to abandon, with err. */
bool replace_begin(Replacement *replacement, const char *what, const char *path, Error *err);
/* For who writes by stdio: closed by replace_end and replace_abandon. NULL with err. */
FILE *replace_stream(Replacement *replacement, Error *err);
/* The file appears at its path. On failure it is abandoned. */
bool replace_end(Replacement *replacement, Error *err);
/* Then the path has what it had; more than once is fine. */
void replace_abandon(Replacement *replacement);
/* Always false: "picture 'x.png' cannot be written: .." */
bool replace_fail(const Replacement *replacement, const char *why, Error *err);
/* In two steps, for who opens files by itself: the temporary one is empty and closed, and
 * `replacement` can be made from its two paths again by replace_resume. */
void replace_close(Replacement *replacement);
bool replace_resume(Replacement *replacement, const char *what, const char *path,
                    const char *temporary, Error *err);

#endif
