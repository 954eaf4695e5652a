/* holders.c - lists the largest users of the budget, for the error that it is exhausted. */
#include <stdio.h>

#include "tree/memory/block.h"
#include "tree/tree.h"

enum { NAMED = 5 };

typedef struct Holder {
  uint64_t bytes;
  const Tree *tree; /* or, if NULL, an array's block: */
  const Block *block;
} Holder;

typedef struct Holders {
  Holder most[NAMED]; /* largest first; bytes 0: unused */
  uint64_t others, other_bytes;
} Holders;

static void add(Holders *holders, Holder holder) {
  if (!holder.bytes) return;
  for (int k = 0; k < NAMED; k++) {
    if (holder.bytes <= holders->most[k].bytes) continue;
    Holder smaller = holders->most[k];
    holders->most[k] = holder;
    holder = smaller;
  }
  holders->others += holder.bytes > 0;
  holders->other_bytes += holder.bytes;
}

static Holders find(const Store *store) {
  Holders holders = {0};
  for (const Tree *tree = store->trees; tree; tree = tree->next)
    if (tree->has_storage && !tree->is_peer)
      add(&holders, (Holder){tree->layout->root_size + rt_tree_bytes(&tree->rt), tree, NULL});
  for (const Block *block = store->blocks; block; block = block->next)
    if (block_is_own(block)) add(&holders, (Holder){block->size_bytes, NULL, block});
  return holders;
}

const char *store_holders(const Store *store, char *text, size_t size) {
  Holders holders = find(store);
  char label[100], bytes[32];
  size_t length = 0;
  text[0] = 0;
  for (int k = 0; k < NAMED && holders.most[k].bytes && length < size; k++) {
    const Holder *holder = &holders.most[k];
    length += (size_t)snprintf(text + length, size - length, "%s%.48s %s", k ? ", " : ": ",
                               holder->tree ? tree_label(holder->tree, label) : holder->block->what,
                               bytes_text(holder->bytes, bytes));
  }
  if (holders.others && length < size)
    snprintf(text + length, size - length, ", %llu more %s", (unsigned long long)holders.others,
             bytes_text(holders.other_bytes, bytes));
  return text;
}
