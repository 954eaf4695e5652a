/* library.h - the functions of `rg` that are written in the kernel language (*.lua of this folder).
 *
 *     function rg.cofactor(m) .. end           called by kernels: needs a row of typed/builtin.def
 *     local function rotate(m, c, s) .. end    called only by functions of this folder
 *
 * A function starts and ends at the beginning of a line. It captures nothing: it can use only `rg`,
 * `math`, `bit` and the other functions of the folder. */
#ifndef RG_LIBRARY_LIBRARY_H
#define RG_LIBRARY_LIBRARY_H

#include "front/parser.h"

/* The function of this name, "rg.cofactor" or "rotate", parsed into scratch. NULL without an error:
 * there is none. */
Ast *library_parse(Scratch *scratch, Str name, Error *err);

#endif
