/* codegen.c - opens libregolith-codegen.so when something must be compiled; searches for it next to
 * the library that contains this code. A library of another build is refused. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/dynlib.h"
#include "base/option.h"
#include "build_id.h"
#include "loader/helper_process.h"
#include "loader/loader.h"

enum { PATH_BYTES = 1024 };

struct Codegen {
  Heap *heap;
  void *library; /* NULL: compiling in a helper process */
  char path[PATH_BYTES];
  RgCodegenFunction *compile;
  RgCodegenFreeFunction *free_result;
};

/* The folder of the file that this code was loaded from, with a trailing slash. */
static void own_folder(char folder[PATH_BYTES]) {
  Dl_info info;
  folder[0] = 0;
  if (!dladdr((void *)own_folder, &info) || !info.dli_fname) return;
  const char *slash = strrchr(info.dli_fname, '/');
  if (slash && slash - info.dli_fname < PATH_BYTES - 1)
    snprintf(folder, PATH_BYTES, "%.*s", (int)(slash - info.dli_fname + 1), info.dli_fname);
}

static bool find_file(const char *const *places, int count, const char *name,
                      char path[PATH_BYTES]) {
  char folder[PATH_BYTES];
  own_folder(folder);
  for (int i = 0; i < count; i++) {
    if (snprintf(path, PATH_BYTES, "%s%s%s", folder, places[i], name) >= PATH_BYTES) continue;
    FILE *file = fopen(path, "rb");
    if (!file) continue;
    fclose(file);
    return true;
  }
  snprintf(path, PATH_BYTES, "%s%s", folder, name);
  return false;
}

/* Also searches parent folders, since test programs are deeper in the build folder. */
static bool find_library(char path[PATH_BYTES]) {
  static const char *const places[] = {"", "../", "../../", "../../../"};
  const char *setting = option_text("RG_COMPILER");
  if (!setting[0]) return find_file(places, 4, "libregolith-codegen.so", path);
  snprintf(path, PATH_BYTES, "%s", setting);
  return !access(setting, F_OK);
}

static bool open_library(Codegen *codegen, Error *err) {
  if (!find_library(codegen->path))
    return error_set(err, RG_ERROR_LIBRARY, "the compiler library was not found: %s",
                     codegen->path);
  const char *why;
  codegen->library = dynlib_open(codegen->path, RTLD_NOW | RTLD_LOCAL, &why);
  if (!codegen->library)
    return error_set(err, RG_ERROR_LIBRARY, "the compiler cannot be opened: %s", why);
  const char *(*build_id)(void);
  *(void **)&build_id = dlsym(codegen->library, "regolith_codegen_build_id");
  *(void **)&codegen->compile = dlsym(codegen->library, "regolith_codegen");
  *(void **)&codegen->free_result = dlsym(codegen->library, "regolith_codegen_free");
  if (!build_id || !codegen->compile || !codegen->free_result || strcmp(build_id(), RG_BUILD_ID))
    return error_set(err, RG_ERROR_VERSION, "%s is not from the same build as libregolith.so",
                     codegen->path);
  return true;
}

Codegen *codegen_open(Heap *heap, Error *err) {
  Codegen *codegen = heap_alloc(heap, sizeof *codegen);
  if (!codegen) {
    error_set(err, RG_ERROR_MEMORY, "the host has no memory left for the compiler");
    return NULL;
  }
  codegen->heap = heap;
  if (!strcmp(option_text("RG_COMPILE"), "process")) {
    static const char *const places[] = {"",    "../libexec/", "../../libexec/",
                                         "../", "../../",      "../../../"};
    if (find_file(places, 6, "regolith-codegen", codegen->path)) return codegen;
    error_set(err, RG_ERROR_LIBRARY, "the compile helper was not found: %s", codegen->path);
  } else if (open_library(codegen, err)) {
    return codegen;
  }
  codegen_close(codegen);
  return NULL;
}

void codegen_close(Codegen *codegen) {
  if (!codegen) return;
  if (codegen->library) dlclose(codegen->library);
  heap_free(codegen->heap, codegen);
}

RgCodegenResult *codegen_compile(Codegen *codegen, const RgCodegenRequest *request, Error *err) {
  RgCodegenResult *result = codegen->library
                                ? codegen->compile(request)
                                : helper_compile(codegen->heap, codegen->path, request, err);
  if (!result) {
    error_set(err, RG_ERROR_MEMORY, "the host has no memory left for compiling");
    return NULL;
  }
  if (result->ok) return result;
  bool keeps_code = result->code == RG_ERROR_MEMORY || result->code == RG_ERROR_INTERNAL;
  ErrorCode code = keeps_code ? (ErrorCode)result->code : RG_ERROR_CODEGEN;
  error_set(err, code, "%s", result->message ? result->message : "the compiler failed");
  if (code == RG_ERROR_INTERNAL) error_hint(err, "%s", error_bug_hint);
  codegen_result_free(codegen, result);
  return NULL;
}

void codegen_result_free(Codegen *codegen, RgCodegenResult *result) {
  if (!result) return;
  if (codegen->library) codegen->free_result(result);
  else helper_result_free(codegen->heap, result);
}
