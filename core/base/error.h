/* error.h - a failure on its way up: a code, one sentence, a position, and a hint.
 * The first failure wins: error_set on an Error that is already set keeps the first. If the owner
 * of the Error provides a list `more`, it receives notes on the preceding error and the further
 * errors of a compile. Every code is a row of base/error.def. */
#ifndef RG_BASE_ERROR_H
#define RG_BASE_ERROR_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>

typedef enum ErrorCode {
#define ERROR(NAME, TEXT, MEANING) RG_ERROR_##NAME,
#include "base/error.def"
#undef ERROR
  ERROR_CODE_COUNT
} ErrorCode; /* RG_ERROR_NONE is 0 */

typedef struct ErrorList ErrorList;

typedef struct Error {
  ErrorCode code;
  char message[480]; /* one sentence, without position */
  char hint[240];    /* what to do; may be empty */
  char file[256];    /* the user's name for it; empty if there is no position */
  int32_t line;      /* 1-based; 0: none */
  int32_t column;    /* 1-based, in bytes; 0: none */
  int32_t width;     /* bytes under the caret, at least 1 when column is set */
  char source[240];  /* the source line, without its newline */
  char index[64];    /* run-time faults: the indices, "3, 16"; otherwise empty */
  uint64_t launch;   /* the number, from 1 on, of the queued launch that failed; otherwise 0 */
  char kernel[64];   /* and the name of its kernel */
  bool is_note;      /* in a list: a note on the error before it */
  ErrorList *more;   /* borrowed; NULL: only the first error is stored */
} Error;

enum { ERROR_LIST_ROWS = 40, ERROR_LIST_MAX_ERRORS = 9, ERROR_LIST_NOTES = 3 };
struct ErrorList {
  int count;       /* rows in use */
  int error_count; /* rows that are not notes */
  int unsaid;      /* errors that did not fit */
  Error rows[ERROR_LIST_ROWS];
};

void error_clear(Error *err); /* also detaches its list */
/* Attaches an empty list to an error that is not set. */
void error_attach_list(Error *err, ErrorList *list);
/* Copies `other` to `err` itself if that is not set yet, else to a new row of the list. Returns the
 * copy, for hints, or NULL if it was dropped, because there is no list or no room. Notes on a
 * dropped error are dropped, too. */
Error *error_add(Error *err, const Error *other);
static inline bool error_is_set(const Error *err) { return err->code != RG_ERROR_NONE; }
const char *error_code_text(ErrorCode code); /* "name.unknown" */

/* Always false, so that a check is one line: `return error_set(err, ...);`. err may be NULL. */
bool error_set(Error *err, ErrorCode code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
#ifdef __clang_analyzer__ /* it sees one file only: tell it that this always returns false */
#define error_set(...) (error_set(__VA_ARGS__), false)
#endif
bool error_set_va(Error *err, ErrorCode code, const char *format, va_list args);
/* Adds a hint to an error that has none yet; always false. */
bool error_hint(Error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* For bugs of our own only, never for input of any kind. A failure becomes the error `internal` of
 * the call (guard.h), with the sentence that should have been true. */
#define ASSERT(condition, believed) \
  ((condition) ? (void)0 : error_assert_failed(__FILE__, __LINE__, #condition, believed))
extern const char error_bug_hint[];
_Noreturn void error_assert_failed(const char *file, int line, const char *text,
                                   const char *believed);
/* The same for checks that are too slow for a release: active in debug builds only. */
#ifdef RG_DEBUG
#define DEBUG_ASSERT(condition, believed) ASSERT(condition, believed)
#else
#define DEBUG_ASSERT(condition, believed) ((void)0)
#endif

#endif
