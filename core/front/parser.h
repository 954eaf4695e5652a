/* parser.h - text -> Ast. One pass, recursive descent with a depth limit; resolves names to locals.
 * Accepts the contract's whole grammar; meaning is sema's. The first error wins. */
#ifndef RG_FRONT_PARSER_H
#define RG_FRONT_PARSER_H

#include "front/ast.h"

/* A text kernel: optional `local function` helpers, then one function expression: `function(..) .. end`.
 * `return function ... end` is accepted too. */
Ast *parse_kernel_text(Source *source, Error *err);

/* A plain Lua function inside a chunk: the chunk is parsed whole and the function whose `function` keyword is
 * on `line_defined` and whose `end` is on `last_line` (the user's lines) becomes the kernel. Two such functions: source.missing with
 * the advice to put them on separate lines (accepted when their texts are equal). None: source.missing. */
Ast *parse_function_at(Source *source, int32_t line_defined, int32_t last_line, Error *err);

#endif
