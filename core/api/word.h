/* word.h - the words that calls of regolith.h take in place of an enum, which rooms have. The rows
 * of the rooms' .def tables are all that is known of a word. */
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

/* Is it a word of the list? Then *value is what the enum says. */
bool word_find(WordList list, const char *text, int *value);
/* The same, and a refusal that names all words where it is not one. */
bool word_parse(WordList list, const char *text, int *value, Error *err);
/* The word that may have been meant; NULL: none is near. */
const char *word_nearest(WordList list, const char *text);

#endif
