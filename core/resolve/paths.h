/* paths.h - lists the free names that a kernel uses, with the dots after them (typed/input.h). */
#ifndef RG_RESOLVE_PATHS_H
#define RG_RESOLVE_PATHS_H

#include "typed/input.h"

/* All captured paths, in order of first use. */
SemaPaths sema_paths(Scratch *scratch, const Ast *ast);
/* Those of function number `function`, which the kernel calls. */
SemaPaths sema_function_paths(Scratch *scratch, const Ast *ast, int function);

#endif
