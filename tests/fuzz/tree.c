/* tree.c - a tree's text: the builder refuses it or lays it out; a tree that is laid out can be
 * drawn, written, and read back with the same layout. */
#include "base/error.h"
#include "fuzz.h"
#include "snode/snode.h"

static void check_tree(Heap *heap, const SNodeTree *tree) {
  Scratch scratch;
  StrBuf text, drawing;
  Error err = {0};
  scratch_init(&scratch, heap);
  strbuf_init(&text, &scratch);
  strbuf_init(&drawing, &scratch);
  snode_write_text(&text, tree);
  snode_print(&drawing, tree);
  const char *at = strbuf_end(&text);
  SNodeTree *again = snode_read(heap, &at, &err);
  if (!again) fuzz_broken("what is written reads", err.message);
  if (again->layout_hash != tree->layout_hash || again->root_size != tree->root_size)
    fuzz_broken("what is written has the same layout", text.data);
  snode_tree_release(again);
  scratch_deinit(&scratch);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Heap heap;
  heap_init(&heap, 0);
  char *text = malloc(size + 1);
  memcpy(text, data, size);
  text[size] = 0;
  const char *at = text;
  Error err = {0};
  SNodeTree *tree = snode_read(&heap, &at, &err);
  if (tree) {
    check_tree(&heap, tree);
    snode_tree_release(tree);
  } else if (!error_is_set(&err)) {
    fuzz_broken("a refusal has a sentence", text);
  }
  if (heap.live_bytes) fuzz_broken("nothing is left behind", text);
  free(text);
  return 0;
}
