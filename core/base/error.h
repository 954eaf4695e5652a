/* error.h - one failure, on its way up: a code, one sentence, where, and what to do.
 * The first failure wins: error_set on an Error that is already set keeps the first. What a compile finds besides
 * goes into `more`, where the owner of the Error has put a list: notes on the error before them, and other errors.
 * Every code is a row of base/error.def. */
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
  char file[256];    /* as the user would name it; empty when there is no place */
  int32_t line;      /* 1-based; 0: none */
  int32_t column;    /* 1-based, in bytes; 0: none */
  int32_t width;     /* bytes under the caret, at least 1 when column is set */
  char source[240];  /* the source line, without its newline */
  char index[64];    /* run-time faults: the indices, "3, 16"; else empty */
  bool is_note;      /* in a list: says more about the error before it */
  ErrorList *more;   /* borrowed; NULL: nobody asks for more than the first */
} Error;

enum { ERROR_LIST_ROWS = 40, ERROR_LIST_MOST = 9, ERROR_LIST_NOTES = 3 };
struct ErrorList {
  int count;         /* rows in use */
  int error_count;   /* of them no notes */
  int unsaid;        /* errors for which there was no room */
  Error rows[ERROR_LIST_ROWS];
};

void error_clear(Error *err); /* has no list afterwards */
/* An empty list for an error that is not set. */
void error_keep_more(Error *err, ErrorList *list);
/* A copy of `other` behind what is there: itself where `err` is not set yet, else a row of the list. Where it went, for
 * hints; NULL: nowhere, for want of a list or of room. Notes of an error that went nowhere go there too. */
Error *error_add(Error *err, const Error *other);
static inline bool error_is_set(const Error *err) { return err->code != RG_ERROR_NONE; }
const char *error_code_text(ErrorCode code); /* "name.unknown" */

/* Always false, so that a check is one line: `return error_set(err, ...);`. err may be NULL. */
bool error_set(Error *err, ErrorCode code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
#ifdef __clang_analyzer__ /* which sees no further than a file: it answers false, always */
#define error_set(...) (error_set(__VA_ARGS__), false)
#endif
bool error_set_va(Error *err, ErrorCode code, const char *format, va_list args);
/* Adds a hint to an error that has none yet; always false. */
bool error_hint(Error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* For our own slips only: prints what was believed and aborts. Never for input of any kind. */
#define ASSERT(condition, believed) \
  ((condition) ? (void)0 : error_assert_failed(__FILE__, __LINE__, #condition, believed))
_Noreturn void error_assert_failed(const char *file, int line, const char *text, const char *believed);

#endif
