/* source.h - the text that a kernel comes from, and positions in it. */
#ifndef RG_FRONT_SOURCE_H
#define RG_FRONT_SOURCE_H

#include "base/error.h"
#include "base/str.h"

typedef struct Pos {
  int32_t offset; /* byte in Source.text */
  int32_t line;   /* 1-based, in the user's file (first_line is added) */
  int32_t column; /* 1-based, in bytes */
} Pos;

typedef struct Source {
  Scratch *scratch;
  /* for temporary data of the parser: `scratch`, unless the caller provides another */
  Scratch *work;
  Str text;           /* the whole chunk, owned by scratch */
  const char *name;   /* what errors show: "heat.lua", "kernel" */
  int32_t first_line; /* the user's line of the text's first line */
} Source;

/* Copies text and name into scratch; skips a byte-order mark and a `#!` line. */
Source *source_create(Scratch *scratch, Str text, const char *name, int32_t first_line);
/* Lines first..last of a text whose first line has the number first_line. */
Str source_lines(Str text, int32_t first_line, int32_t first, int32_t last);
/* The line that `pos` is in, without newline. */
Str source_line(const Source *source, Pos pos);

/* An error at a position: fills file, line, column, width, source and the message. Always
 * false. */
bool diag_error(Error *err, const Source *source, Pos pos, int32_t width, ErrorCode code,
                const char *format, ...) __attribute__((format(printf, 6, 7)));

#endif
