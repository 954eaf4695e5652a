/* loader.h - loads this machine's ELF objects as executable code, and opens the codegen library.
 * Code has one owner, the version of a kernel that it was compiled for. */
#ifndef RG_LOADER_LOADER_H
#define RG_LOADER_LOADER_H

#include <stdint.h>

#include "base/error.h"
#include "base/heap.h"
#include "jit/codegen_abi.h" /* only the interface's structs: no LLVM */

/* RgCodegenRequest.instrument of kernels: they are instrumented for the thread sanitizer if the
 * core is. */
#if !defined(__has_feature)
#define __has_feature(name) 0
#endif
enum { CODEGEN_INSTRUMENT = 2 * __has_feature(thread_sanitizer) };

typedef struct Code Code;

/* The objects that compiled code consists of; 0: it is a damaged bundle. */
enum { OBJECT_MAX_PARTS = 64 };
typedef struct ObjectPart {
  const uint8_t *bytes;
  int64_t length;
} ObjectPart;
int object_parts(const uint8_t *bytes, int64_t length, ObjectPart parts[OBJECT_MAX_PARTS]);

/* Loads an object or an RgBundle: places every section, applies relocations, resolves names
 * (symbols.h). NULL with object.invalid for anything malformed or unknown; never reads outside the
 * bytes. */
Code *object_load(Heap *heap, const uint8_t *object, int64_t length, Error *err);
void *code_find(const Code *code, const char *symbol); /* NULL if absent */
void code_destroy(Code *code);                         /* `code` may be NULL */

/* All runtimes of a process can share the library, since it has no mutable state of ours. */
typedef struct Codegen Codegen;
/* Opens libregolith-codegen.so next to libregolith.so (or in RG_LIBRARY's folder); checks the build
 * id. */
Codegen *codegen_open(Heap *heap, Error *err);
void codegen_close(Codegen *codegen);
/* Compiles in this process, or in a helper process under RG_COMPILE=process. The result is as in
 * codegen_abi.h; errors are codegen.failed, except memory.host and internal. */
RgCodegenResult *codegen_compile(Codegen *codegen, const RgCodegenRequest *request, Error *err);
void codegen_result_free(Codegen *codegen, RgCodegenResult *result);

#endif
