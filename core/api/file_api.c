/* file_api.c - lets hosts replace files in the way that this library does: see io/replace.h. */
#include <string.h>

#include "api/api.h"
#include "io/replace.h"

const char *rg_file_kind(const char *path) { return path ? replace_kind(path) : NULL; }

RgStatus rg_file_begin(const char *what, const char *path, char *temporary, int64_t size_bytes) {
  API_NEEDS(what);
  API_NEEDS(path);
  API_NEEDS(temporary);
  Replacement out;
  Error err;
  error_clear(&err);
  if (!replace_begin(&out, what, path, &err)) return api_keep_error(&err);
  replace_close(&out);
  size_t length = strlen(out.temporary);
  if (size_bytes > (int64_t)length) {
    memcpy(temporary, out.temporary, length + 1);
    return 0;
  }
  replace_abandon(&out);
  return api_refuse(__func__, "temporary is too small for a path");
}

RgStatus rg_file_end(const char *what, const char *path, const char *temporary, int32_t keep) {
  API_NEEDS(what);
  API_NEEDS(path);
  API_NEEDS(temporary);
  Replacement out;
  Error err;
  error_clear(&err);
  if (!replace_resume(&out, what, path, temporary, &err)) {
    if (keep) return api_keep_error(&err);
  } else if (keep) {
    return replace_end(&out, &err) ? 0 : api_keep_error(&err);
  }
  replace_abandon(&out);
  return 0;
}
