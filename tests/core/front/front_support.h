/* front_support.h - text in, text out: what the tests of front compare. Every call starts with
 * fresh memory. */
#ifndef RG_TESTS_FRONT_SUPPORT_H
#define RG_TESTS_FRONT_SUPPORT_H

#include <stdio.h>

#include "front/parser.h"

void support_reset(void); /* gives back what the calls before made */
Ast *support_parse(const char *text, Error *err);
Ast *support_parse_bytes(Str text, Error *err);
/* What ast_print says of a kernel, or the error as in support_error. */
const char *support_print(const char *text);
/* The same of `return EXPR`, the expression alone. */
const char *support_expr(const char *expr);
/* "line:column+width: message (hint)", or "no error". */
const char *support_error(const char *text);
const char *support_error_text(const Error *err);
/* The function of a chunk, as ast_print shows it, or the error. */
const char *support_function_at(const char *chunk, int line_defined, int last_line);
const char *support_function_like(const char *chunk, int line_defined, int last_line,
                                  const char *which);
int64_t support_live_bytes(void); /* after support_reset: 0 unless something leaked */

#endif
