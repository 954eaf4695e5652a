/* word.h - parses words: calls of regolith.h take a text where the rooms use an enum. The words
 * come from the rooms' .def tables, and no other file of this room knows them. */
#ifndef RG_API_WORD_H
#define RG_API_WORD_H

#include "base/error.h"

typedef enum WordList {
  WORD_ARCH,
  WORD_GC,
  WORD_KERNEL_TEXT,
  WORD_NODE_ACTION,
  WORD_NODE_KIND,
  WORD_PALETTE,
  WORD_LIST_COUNT
} WordList;

/* Is it a word of the list? Then *value is its value of the enum. */
bool word_find(WordList list, const char *text, int *value);
/* The same, with an error that lists all words if it is not one of them. */
bool word_parse(WordList list, const char *text, int *value, Error *err);
/* The word of the list whose spelling is nearest, for "did you mean"; NULL: none is near. */
const char *word_nearest(WordList list, const char *text);

#endif
