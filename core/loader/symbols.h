/* symbols.h - the one list of names that kernels may call; rows in llvm_bc/entry.def and
 * symbols.def. */
#ifndef RG_LOADER_SYMBOLS_H
#define RG_LOADER_SYMBOLS_H

/* The address of a name, or NULL if kernels may not call it. */
void *symbol_find(const char *name);

#endif
