/* error.c - keeps the first failure and its sentence; see error.h. */
#include "base/error.h"

#include <stdio.h>
#include <string.h>

static const char *const code_texts[] = {
#define ERROR(NAME, TEXT, MEANING) TEXT,
#include "base/error.def"
#undef ERROR
};

const char *error_code_text(ErrorCode code) {
  return (unsigned)code < ERROR_CODE_COUNT ? code_texts[code] : "internal";
}

void error_clear(Error *err) { memset(err, 0, sizeof *err); }

void error_attach_list(Error *err, ErrorList *list) {
  list->count = list->error_count = list->unsaid = 0;
  err->more = list;
}

/* -- further errors ---------------------------------------------------------------------------- */

/* Does the list have room for one more note on its last error? */
static bool has_room_for_note(const ErrorList *list) {
  int notes = 0;
  while (notes < list->count && list->rows[list->count - 1 - notes].is_note) notes++;
  return !list->unsaid && notes < ERROR_LIST_NOTES;
}

/* Counts `other`, as an error or as dropped; false if the list has no room for it. */
static bool reserve_row(ErrorList *list, const Error *other) {
  if (other->is_note) return has_room_for_note(list) && list->count < ERROR_LIST_ROWS;
  bool fits = list->error_count < ERROR_LIST_MAX_ERRORS && list->count < ERROR_LIST_ROWS;
  if (fits) list->error_count++;
  else list->unsaid++;
  return fits;
}

Error *error_add(Error *err, const Error *other) {
  if (!err) return NULL;
  ErrorList *list = err->more;
  Error *row = err;
  if (error_is_set(err)) {
    if (!list || !reserve_row(list, other)) return NULL;
    row = &list->rows[list->count++];
  }
  *row = *other;
  row->more = row == err ? list : NULL;
  return row;
}

/* -- the first --------------------------------------------------------------------------------- */

bool error_set_va(Error *err, ErrorCode code, const char *format, va_list args) {
  if (!err || error_is_set(err)) return false;
  err->code = code;
  vsnprintf(err->message, sizeof err->message, format, args);
  return false;
}

#undef error_set
bool error_set(Error *err, ErrorCode code, const char *format, ...) {
  va_list args;
  va_start(args, format);
  error_set_va(err, code, format, args);
  va_end(args);
  return false;
}

bool error_hint(Error *err, const char *format, ...) {
  if (!err || err->hint[0]) return false;
  va_list args;
  va_start(args, format);
  vsnprintf(err->hint, sizeof err->hint, format, args);
  va_end(args);
  return false;
}
