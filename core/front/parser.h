/* parser.h - text -> Ast. One pass, recursive descent with a depth limit; resolves names to locals.
 * Accepts the contract's whole grammar; checking is left to sema, except what any Lua parser
 * refuses: `break` outside a loop, `...` outside a vararg function, an assignment to a `const`.
 * NULL with the first error. */
#ifndef RG_FRONT_PARSER_H
#define RG_FRONT_PARSER_H

#include "front/ast.h"

/* A text kernel: optional `local function` helpers, then one function expression:
 * `function(..) .. end`. `return function ... end` is accepted too. */
Ast *parse_kernel_text(Source *source, Error *err);

/* A plain Lua function inside a chunk: the function whose `function` keyword is on `line_defined`
 * (or its opening parenthesis, as LuaJIT counts) and whose `end` is on `last_line` (the user's
 * lines). Only it is parsed, so the rest of the chunk may use what kernels do not know; its
 * captures are AST_GLOBAL. Two such functions are source.missing with the advice to put them on
 * separate lines (unless their texts are equal); so is none. */
Ast *parse_function_at(Source *source, int32_t line_defined, int32_t last_line, Error *err);

#endif
