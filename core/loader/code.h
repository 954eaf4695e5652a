/* code.h - loaded code: a mapping for each object, and its functions by name. */
#ifndef RG_LOADER_CODE_H
#define RG_LOADER_CODE_H

#include "loader/loader.h"

/* Takes over the mapping: code_destroy unmaps it. NULL: out of memory; the caller keeps the
 * mapping. */
Code *code_create(Heap *heap, void *memory, uint64_t size_bytes);
bool code_add(Code *code, const char *name, void *address, uint64_t size_bytes);
/* Adds the functions of `others` (may be NULL) to `code`, which owns them from then on; returns
 * `code`. */
Code *code_join(Code *code, Code *others);
/* Like object_load, for a single ELF object. */
Code *object_load_elf(Heap *heap, const uint8_t *object, int64_t length, Error *err);

#endif
