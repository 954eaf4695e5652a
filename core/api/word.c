/* word.c - see word.h. */
#include "api/word.h"

#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "io/image.h"
#include "kernel/kernel.h"
#include "program/program.h"
#include "tree/tree.h"

static const char *const archs[] = {
#define ARCH(NAME, WORD) [ARCH_##NAME] = WORD,
#include "program/arch.def"
#undef ARCH
};
static const char *const gc_words[] = {
#define GC(NAME, WORD) [GC_##NAME] = WORD,
#include "program/gc.def"
#undef GC
};
static const char *const kernel_texts[] = {
#define TEXT(NAME, WORD) [TEXT_##NAME] = WORD,
#include "kernel/text.def"
#undef TEXT
};
static const char *const node_actions[] = {
#define ACTION(NAME, WORD) [NODE_##NAME] = WORD,
#include "tree/action.def"
#undef ACTION
};
static const char *const node_kinds[] = {
#define KIND(NAME, WORD, FACTS) [SNODE_##NAME] = #WORD,
#include "snode/kind.def"
#undef KIND
};
static const char *const palettes[] = {
#define PALETTE(NAME, WORD) [PALETTE_##NAME] = WORD,
#include "io/palette.def"
#undef PALETTE
};

typedef struct Words {
  const char *const *words; /* by value of the enum; the list is words[first .. end - 1] */
  int first, end;
  ErrorCode code;
  const char *what; /* for the message "'..' is not a device" */
} Words;

#define COUNT(array) (int)(sizeof(array) / sizeof *(array))
static const Words lists[] = {
    [WORD_ARCH] = {archs, 0, COUNT(archs), RG_ERROR_DEVICE, "a device"},
    [WORD_GC] = {gc_words, 0, COUNT(gc_words), RG_ERROR_ARGUMENT, "a word of collectgarbage"},
    [WORD_KERNEL_TEXT] = {kernel_texts, 0, COUNT(kernel_texts), RG_ERROR_ARGUMENT,
                          "a text of a kernel"},
    [WORD_NODE_ACTION] = {node_actions, 0, COUNT(node_actions), RG_ERROR_ARGUMENT,
                          "an action of nodes"},
    /* without the root: a tree is created with it, and no other can be declared */
    [WORD_NODE_KIND] = {node_kinds, SNODE_ROOT + 1, COUNT(node_kinds), RG_ERROR_TREE_DECLARATION,
                        "a kind of node"},
    [WORD_PALETTE] = {palettes, 0, COUNT(palettes), RG_ERROR_ARGUMENT, "a palette"},
};
_Static_assert(COUNT(lists) == WORD_LIST_COUNT, "every list has its words");

bool word_find(WordList list, const char *text, int *value) {
  const Words *words = &lists[list];
  for (int k = words->first; k < words->end; k++) {
    if (strcmp(text, words->words[k])) continue;
    *value = k;
    return true;
  }
  return false;
}

const char *word_nearest(WordList list, const char *text) {
  const Words *words = &lists[list];
  return str_nearest(str_of(text), words->words + words->first, words->end - words->first);
}

/* "a, b and c" */
static const char *join(const Words *words, char *out, size_t size) {
  size_t used = 0;
  for (int k = words->first; k < words->end && used < size; k++) {
    const char *between = k == words->first ? "" : k + 1 == words->end ? " and " : ", ";
    used += (size_t)snprintf(out + used, size - used, "%s%s", between, words->words[k]);
  }
  return out;
}

bool word_parse(WordList list, const char *text, int *value, Error *err) {
  const Words *words = &lists[list];
  char all[200];
  if (word_find(list, text, value)) return true;
  error_set(err, words->code, "'%.40s' is not %s: %s are", text, words->what,
            join(words, all, sizeof all));
  const char *nearest = word_nearest(list, text);
  return nearest ? error_hint(err, "did you mean '%s'?", nearest) : false;
}

int32_t rg_nearest(const char *name, const char *const *names, int32_t count) {
  const char *nearest = name && names && count > 0 ? str_nearest(str_of(name), names, count) : NULL;
  for (int32_t k = 0; nearest && k < count; k++)
    if (names[k] == nearest) return k;
  return -1;
}
