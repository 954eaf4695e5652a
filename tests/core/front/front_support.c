/* front_support.c - one Scratch for all calls of a test program. */
#include "front_support.h"

static Heap heap;
static Scratch scratch;

void support_reset(void) {
  if (scratch.heap) scratch_deinit(&scratch);
  else heap_init(&heap, 0);
  scratch_init(&scratch, &heap);
}

int64_t support_live_bytes(void) { return heap.live_bytes; }

Ast *support_parse_bytes(Str text, Error *err) {
  support_reset();
  error_clear(err);
  return parse_kernel_text(source_create(&scratch, text, "kernel.lua", 1), err);
}

Ast *support_parse(const char *text, Error *err) { return support_parse_bytes(str_of(text), err); }

static const char *print(const Ast *ast, const Error *err) {
  StrBuf out;
  if (!ast) return support_error_text(err);
  strbuf_init(&out, &scratch);
  ast_print(&out, ast);
  return strbuf_end(&out);
}

const char *support_print(const char *text) {
  Error err;
  Ast *ast = support_parse(text, &err);
  return print(ast, &err);
}

const char *support_expr(const char *expr) {
  char text[512];
  snprintf(text, sizeof text, "function(...) return %s end", expr);
  const char *printed = support_print(text);
  const char *start = strstr(printed, "return "), *end = strstr(printed, "\nend");
  if (!start || !end) return printed;
  start += strlen("return ");
  return scratch_copy_text(&scratch, start, (size_t)(end - start));
}

const char *support_error_text(const Error *err) {
  if (!error_is_set(err)) return "no error";
  const char *hint = err->hint[0] ? scratch_format(&scratch, " (%s)", err->hint) : "";
  return scratch_format(&scratch, "%d:%d+%d: %s%s", err->line, err->column, err->width,
                        err->message, hint);
}

const char *support_error(const char *text) {
  Error err;
  support_parse(text, &err);
  return support_error_text(&err);
}

const char *support_function_at(const char *chunk, int line_defined, int last_line) {
  return support_function_like(chunk, line_defined, last_line, NULL);
}

const char *support_function_like(const char *chunk, int line_defined, int last_line,
                                  const char *which) {
  Error err;
  support_reset();
  error_clear(&err);
  Ast *ast = parse_function_at(source_create(&scratch, str_of(chunk), "chunk.lua", 1), line_defined,
                               last_line, which, &err);
  return print(ast, &err);
}
