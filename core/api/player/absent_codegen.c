/* absent_codegen.c - replaces the loader of the codegen library, and the cache, in libraries
 * without a compiler (api/CMakeLists.txt): every call that would compile fails with one error. */
#include "loader/cache.h"
#include "loader/loader.h"

Codegen *codegen_open(Heap *heap, Error *err) {
  (void)heap;
  error_set(err, RG_ERROR_LIBRARY, "this library runs kernels of modules, and compiles none");
  return NULL;
}
void codegen_close(Codegen *codegen) { (void)codegen; }
RgCodegenResult *codegen_compile(Codegen *codegen, const RgCodegenRequest *request, Error *err) {
  (void)codegen, (void)request;
  error_set(err, RG_ERROR_LIBRARY, "this library runs kernels of modules, and compiles none");
  return NULL;
}
void codegen_result_free(Codegen *codegen, RgCodegenResult *result) { (void)codegen, (void)result; }

/* -- the cache: there is none ------------------------------------------------------------------ */

bool cache_open(Heap *heap, Cache **cache, Error *err) {
  (void)heap, (void)cache, (void)err;
  return true;
}
void cache_close(Cache *cache) { (void)cache; }
const char *cache_folder(const Cache *cache) { return (void)cache, ""; }
uint64_t cache_limit_bytes(const Cache *cache) { return (void)cache, 0; }
bool cache_find(Cache *cache, const RgCodegenRequest *request,
                RgCodegenObject objects[RG_TARGET_COUNT]) {
  (void)cache, (void)request, (void)objects;
  return false;
}
bool cache_name(Cache *cache, const RgCodegenRequest *request, char name[CACHE_NAME_BYTES]) {
  (void)cache, (void)request, (void)name;
  return false;
}
void cache_store(Cache *cache, const RgCodegenRequest *request,
                 const RgCodegenObject objects[RG_TARGET_COUNT]) {
  (void)cache, (void)request, (void)objects;
}
CacheContents cache_measure(Heap *heap, const char *folder) {
  (void)heap, (void)folder;
  return (CacheContents){0};
}
uint64_t cache_empty(Heap *heap, const char *folder) { return (void)heap, (void)folder, 0; }
