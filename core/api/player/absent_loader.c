/* absent_loader.c - replaces the loader in the static library (api/CMakeLists.txt), so that
 * programs never make memory executable. Modules that are linked into a program do not need it. */
#include "loader/cache.h"
#include "loader/loader.h"

static bool refuse(Error *err) {
  error_set(err, RG_ERROR_LIBRARY,
            "this library loads no code: it runs modules that are linked into the program");
  return error_hint(err, "regolith build --static script.lua -o FOLDER, and link the archive");
}

Code *object_load(Heap *heap, const uint8_t *object, int64_t length, Error *err) {
  (void)heap, (void)object, (void)length, refuse(err);
  return NULL;
}
int object_parts(const uint8_t *bytes, int64_t length, ObjectPart parts[OBJECT_MAX_PARTS]) {
  (void)bytes, (void)length, (void)parts;
  return 0;
}
void *code_find(const Code *code, const char *symbol) {
  (void)code, (void)symbol;
  return NULL;
}
void code_destroy(Code *code) { (void)code; }
