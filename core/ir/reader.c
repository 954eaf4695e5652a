/* reader.c - words, numbers and names of IR text; see reader.h. */
#include "ir/reader.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>

#include "ir/attribute.h"

bool ir_read_fail(IrReader *r, const char *what, Str name) {
  return error_set(r->err, RG_ERROR_IR, "line %d: %s '%.*s'", r->line, what,
                   name.length < 60 ? name.length : 60, name.data);
}

void ir_read_skip_spaces(IrReader *r) {
  while (*r->at == ' ' || *r->at == '\t' || *r->at == '\r') r->at++;
  if (*r->at == '#')
    while (*r->at && *r->at != '\n') r->at++;
}

void ir_read_skip_lines(IrReader *r) {
  for (ir_read_skip_spaces(r); *r->at == '\n'; ir_read_skip_spaces(r)) {
    r->line++;
    r->at++;
  }
}

static bool is_name_char(char c) { return isalnum((unsigned char)c) || c == '_' || c == '.'; }

Str ir_read_peek_word(IrReader *r) {
  ir_read_skip_spaces(r);
  const char *end = r->at;
  while (is_name_char(*end)) end++;
  return (Str){r->at, (int)(end - r->at)};
}

Str ir_read_take_word(IrReader *r) {
  Str word = ir_read_peek_word(r);
  r->at += word.length;
  return word;
}

bool ir_read_try_char(IrReader *r, char c) {
  ir_read_skip_spaces(r);
  if (*r->at != c) return false;
  r->at++;
  return true;
}

bool ir_read_expect_char(IrReader *r, char c) {
  if (ir_read_try_char(r, c)) return true;
  Str met = *r->at && *r->at != '\n' ? (Str){r->at, 1} : STR("end of line");
  return error_set(r->err, RG_ERROR_IR, "line %d: expected '%c' before '%.*s'", r->line, c,
                   met.length, met.data);
}

bool ir_read_try_word(IrReader *r, const char *word) {
  if (!str_is(ir_read_peek_word(r), word)) return false;
  ir_read_take_word(r);
  return true;
}

bool ir_read_expect_word(IrReader *r, const char *word) {
  Str met = ir_read_take_word(r);
  return str_is(met, word) || error_set(r->err, RG_ERROR_IR, "line %d: expected '%s' before '%.*s'",
                                        r->line, word, met.length, met.data);
}

bool ir_read_i64(IrReader *r, int64_t *value) {
  ir_read_skip_spaces(r);
  char *end;
  errno = 0;
  *value = strtoll(r->at, &end, 10);
  bool ok = end != r->at && !errno && !isspace((unsigned char)*r->at);
  if (!ok) return ir_read_fail(r, "not a number:", ir_read_peek_word(r));
  r->at = end;
  return true;
}

bool ir_read_i32(IrReader *r, int32_t *value) {
  int64_t wide;
  if (!ir_read_i64(r, &wide)) return false;
  *value = (int32_t)wide;
  return wide == *value || error_set(r->err, RG_ERROR_IR, "line %d: %lld needs more than 32 bits",
                                     r->line, (long long)wide);
}

bool ir_read_type(IrReader *r, Type *type) {
  Str word = ir_read_take_word(r);
  return ir_type_parse(word, type) || ir_read_fail(r, "not a type:", word);
}

bool ir_read_entry(IrReader *r, char prefix, int count, int32_t *number) {
  Str word = ir_read_peek_word(r);
  if (word.length < 2 || word.data[0] != prefix) return ir_read_fail(r, "not a table entry:", word);
  r->at++;
  if (!ir_read_i32(r, number)) return false;
  return (*number >= 0 && *number < count) || ir_read_fail(r, "no such entry:", word);
}

bool ir_read_name(IrReader *r, const char **name) {
  ir_read_skip_spaces(r);
  if (*r->at != '"') {
    Str word = ir_read_take_word(r);
    *name = scratch_copy_text(r->scratch, word.data, (size_t)word.length);
    return true;
  }
  StrBuf text;
  strbuf_init(&text, r->scratch);
  for (r->at++; *r->at && *r->at != '"' && *r->at != '\n'; r->at++) {
    if (*r->at == '\\' && r->at[1] == 'x' && isxdigit((unsigned char)r->at[2]) &&
        isxdigit((unsigned char)r->at[3])) {
      strbuf_char(&text, (char)strtol((char[]){r->at[2], r->at[3], 0}, NULL, 16));
      r->at += 3;
    } else {
      if (*r->at == '\\' && (r->at[1] == '"' || r->at[1] == '\\')) r->at++;
      strbuf_char(&text, *r->at);
    }
  }
  *name = strbuf_end(&text);
  return ir_read_expect_char(r, '"');
}

bool ir_read_end_of_line(IrReader *r) {
  ir_read_skip_spaces(r);
  return *r->at == '\n' || *r->at == 0 || ir_read_fail(r, "unexpected", (Str){r->at, 1});
}
