/* code.h - placed code: a mapping for each object, and its functions by name. */
#ifndef RG_LOADER_CODE_H
#define RG_LOADER_CODE_H

#include "loader/loader.h"

/* Takes the mapping: code_destroy unmaps it. NULL: no memory, the caller keeps the mapping. */
Code *code_create(Heap *heap, void *memory, uint64_t size_bytes);
bool code_add(Code *code, const char *name, void *address, uint64_t size_bytes);
/* `code`, which then has the functions of `others` (NULL: none) too, and owns them. */
Code *code_join(Code *code, Code *others);
/* object_load of one ELF object. */
Code *object_load_elf(Heap *heap, const uint8_t *object, int64_t length, Error *err);

#endif
