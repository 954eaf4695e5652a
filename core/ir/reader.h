/* reader.h - the lexer of the text form: position, line, words and numbers.
 * Every function keeps the first failure in err; functions that return bool are false after it. */
#ifndef RG_IR_READER_H
#define RG_IR_READER_H

#include "base/map.h"
#include "ir/ir.h"

typedef struct IrReader {
  Scratch *scratch;
  Heap *heap;
  IrKernel *kernel;
  const char *at;
  int line;
  Map values; /* of the function being read: name -> IrInst */
  Map ops;    /* text -> op + 1 */
  Error *err;
} IrReader;

/* Fails with "line N: <what> '<name>'"; returns false. */
bool ir_read_fail(IrReader *r, const char *what, Str name);
/* Both skip comments, too; skip_lines also skips and counts line ends. */
void ir_read_skip_spaces(IrReader *r);
void ir_read_skip_lines(IrReader *r);
/* The next word on this line, empty if there is none; peek does not move. */
Str ir_read_peek_word(IrReader *r);
Str ir_read_take_word(IrReader *r);
bool ir_read_try_char(IrReader *r, char c);
bool ir_read_expect_char(IrReader *r, char c);
bool ir_read_try_word(IrReader *r, const char *word);
bool ir_read_expect_word(IrReader *r, const char *word);
bool ir_read_i64(IrReader *r, int64_t *value);
bool ir_read_i32(IrReader *r, int32_t *value);
bool ir_read_type(IrReader *r, Type *type);
/* `t3` with prefix 't', below `count`. */
bool ir_read_entry(IrReader *r, char prefix, int count, int32_t *number);
/* A plain word, or text in quotes. */
bool ir_read_name(IrReader *r, const char **name);
bool ir_read_end_of_line(IrReader *r);

#endif
