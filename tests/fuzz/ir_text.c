/* ir_text.c - the IR's text form. A text that can be read and verified can be printed, and the
 * printed text is read and printed unchanged. */
#include "base/error.h"
#include "fuzz.h"
#include "ir/ir.h"

static Heap heap;

typedef struct Input {
  const char *text;
  Scratch *scratch;
} Input;

static void drop_trees(IrKernel *kernel) {
  for (int t = 0; t < kernel->trees.count; t++)
    snode_tree_release((SNodeTree *)kernel->trees.items[t].tree);
}

static const char *print(Scratch *scratch, const IrKernel *kernel) {
  StrBuf text;
  strbuf_init(&text, scratch);
  ir_print(&text, kernel);
  return strbuf_end(&text);
}

static bool read_and_print(void *data, Error *err) {
  const Input *input = data;
  IrKernel *kernel = ir_read(input->scratch, &heap, input->text, err);
  if (!kernel) return false;
  if (ir_verify(kernel, err)) {
    const char *once = print(input->scratch, kernel);
    IrKernel *again = ir_read(input->scratch, &heap, once, err);
    if (!again) fuzz_broken("what is printed reads", err->message);
    if (strcmp(once, print(input->scratch, again)))
      fuzz_broken("what is printed prints alike", once);
    drop_trees(again);
  }
  drop_trees(kernel);
  return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  heap_init(&heap, 0);
  char *text = malloc(size + 1);
  memcpy(text, data, size);
  text[size] = 0;
  Scratch scratch;
  scratch_init(&scratch, &heap);
  Input input = {text, &scratch};
  Error err = {0};
  guard_run(read_and_print, &input, &err);
  scratch_deinit(&scratch);
  if (heap.live_bytes) fuzz_broken("nothing is left behind", text);
  free(text);
  return 0;
}
