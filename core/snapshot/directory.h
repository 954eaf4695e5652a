/* directory.h - writes and reads a snapshot's directory: lines of text. Private to this room. */
#ifndef RG_SNAPSHOT_DIRECTORY_H
#define RG_SNAPSHOT_DIRECTORY_H

#include "array/array.h"
#include "base/str.h"
#include "io/pack.h"

extern const PackFormat snapshot_format;

void directory_name(StrBuf *out, const char *name); /* a space, and the name, escaped; a newline */
void directory_numbers(StrBuf *out, const int64_t *numbers, int count);
/* The lines `level` and `field`. */
void directory_tree(StrBuf *out, const Tree *tree);
int directory_field_count(const SNodeTree *layout);
/* The number of the field in its tree. */
int directory_field_number(const Field *field);

/* Its whole text, which must end with a newline; NULL with err. The unpacker must be at the
 * directory. */
char *directory_read(Scratch *scratch, Unpacker *unpacker, Error *err);
/* The words of a line. */
enum { DIRECTORY_WORDS = 9 };
typedef struct DirectoryLine {
  Str words[DIRECTORY_WORDS];
  int count;
} DirectoryLine;
/* Splits the line that begins at *text, and moves *text to the next; false at the end. */
bool directory_next(const char **text, DirectoryLine *line);
/* Describes a line `level` or `field` in the words of a script; `text` "" means no line. `other`:
 * the line with which it is contrasted. */
void directory_describe(StrBuf *out, const char *text, const char *other);
char *directory_unescape(Scratch *scratch, Str word);
/* False if the word is not a number in that base. */
bool directory_number(Str word, int base, uint64_t *number);

#endif
