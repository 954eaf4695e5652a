/* parser.h - text -> Ast. One pass, recursive descent with a depth limit; resolves names to locals.
 * Accepts the contract's whole grammar; checking is left to sema, except what any Lua parser
 * refuses: `break` outside a loop, `...` outside a vararg function, an assignment to a `const`.
 * NULL with the first error. */
#ifndef RG_FRONT_PARSER_H
#define RG_FRONT_PARSER_H

#include "front/ast.h"

/* A text kernel: optional `local function` helpers, then one function expression:
 * `function(..) .. end`. `return function ... end` is accepted too. Helpers that call each other:
 * `local even, odd function even(..) .. end function odd(..) .. end`. */
Ast *parse_kernel_text(Source *source, Error *err);

/* A plain Lua function inside a chunk, found by its lines (the user's): as LuaJIT counts, a
 * declaration begins at its `function`, an expression at its parenthesis. Only the function is
 * parsed, so the rest of the chunk may use syntax that kernels do not support; its captures are
 * AST_GLOBAL.
 * Several functions may have those lines. `which` has a character for each of them, in the order of
 * their ends: '1' if it may be the wanted function (NULL: each may). If several candidates with
 * different texts remain, the error is source.missing with the advice to use separate lines;
 * likewise if no function is found, or not as many as `which` expects. */
Ast *parse_function_at(Source *source, int32_t line_defined, int32_t last_line, const char *which,
                       Error *err);

#endif
