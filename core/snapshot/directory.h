/* directory.h - a snapshot's directory: lines of text, made and read. For this room alone. */
#ifndef RG_SNAPSHOT_DIRECTORY_H
#define RG_SNAPSHOT_DIRECTORY_H

#include "array/array.h"
#include "base/str.h"
#include "io/pack.h"

extern const PackFormat snapshot_format;

void directory_name(StrBuf *out, const char *name);  /* a space, and the name, escaped; a newline */
void directory_numbers(StrBuf *out, const int64_t *numbers, int count);
/* The lines `level` and `field`. */
void directory_tree(StrBuf *out, const Tree *tree);
int directory_field_count(const SNodeTree *layout);
/* Which of the tree's fields it is. */
int directory_field_number(const Field *field);

/* All its text, which must end by a newline; NULL with err. Reading is in the directory. */
char *directory_read(Scratch *scratch, Unpacker *unpacker, Error *err);
/* The words of a line. */
enum { DIRECTORY_WORDS = 9 };
typedef struct DirectoryLine {
  Str words[DIRECTORY_WORDS];
  int count;
} DirectoryLine;
/* Splits the line that begins at *text, and moves *text to the next; false: there is none. */
bool directory_next(const char **text, DirectoryLine *line);
/* What a line `level` or `field` declares, as a script says it; "" is no line. `other`: a line that
 * it is told from. */
void directory_describe(StrBuf *out, const char *text, const char *other);
char *directory_unescape(Scratch *scratch, Str word);
/* False: it is no such number. */
bool directory_number(Str word, int base, uint64_t *number);

#endif
