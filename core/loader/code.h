/* code.h - placed code: one mapping, and its functions by name. */
#ifndef RG_LOADER_CODE_H
#define RG_LOADER_CODE_H

#include "loader/loader.h"

/* Takes the mapping: code_destroy unmaps it. NULL: no memory, the caller keeps the mapping. */
Code *code_create(Heap *heap, void *memory, uint64_t size_bytes);
bool code_add(Code *code, const char *name, void *address, uint64_t size_bytes);

#endif
