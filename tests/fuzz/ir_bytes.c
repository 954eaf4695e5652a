/* ir_bytes.c - arbitrary canonical bytes. What can be read must verify, print, and be written as
 * the same bytes. An input is the part after the head, so that it stays valid in a new version; or
 * a kernel as text, after the passes (the output of a golden file of tests/pass): it is written as
 * bytes, which are read whole, cut off anywhere, and with each byte changed. */
#include "base/error.h"
#include "fuzz.h"
#include "ir/bytes.h"
#include "ir/task.h"

static Heap heap;

typedef struct Input {
  const uint8_t *data;
  int64_t size;
  Scratch *scratch;
} Input;

static bool read_and_write(void *data, Error *err) {
  const Input *input = data;
  const char *target = "";
  IrKernel *kernel = ir_read_bytes(input->scratch, input->data, input->size, &target, err);
  if (!kernel) return false;
  StrBuf text;
  strbuf_init(&text, input->scratch);
  ir_print(&text, kernel);
  IrBytes bytes = ir_write(input->scratch, kernel, target);
  const char *again = "";
  if (!ir_read_bytes(input->scratch, bytes.data, bytes.length, &again, err))
    fuzz_broken("what is written reads", err->message);
  if (strcmp(target, again)) fuzz_broken("the target is kept", again);
  return true;
}

static bool try_bytes(const uint8_t *data, int64_t size) {
  Scratch scratch;
  scratch_init(&scratch, &heap);
  Input input = {data, size, &scratch};
  Error err = {0};
  bool ok = guard_run(read_and_write, &input, &err) && !err.code;
  scratch_deinit(&scratch);
  return ok;
}

/* -- bytes after the head ---------------------------------------------------------------------- */

static int64_t put_number(uint8_t *to, uint64_t value) {
  int64_t length = 0;
  for (; value >= 0x80; value >>= 7) to[length++] = (uint8_t)(value | 0x80);
  to[length++] = (uint8_t)value;
  return length;
}

static void try_with_head(const uint8_t *data, size_t size) {
  uint8_t *bytes = malloc(size + 64);
  int64_t length = sizeof ir_bytes_magic;
  memcpy(bytes, ir_bytes_magic, sizeof ir_bytes_magic);
  length += put_number(bytes + length, IR_BYTES_VERSION);
  length += put_number(bytes + length, IR_OP_COUNT);
  memcpy(bytes + length, data, size);
  try_bytes(bytes, length + (int64_t)size);
  free(bytes);
}

/* -- kernels as text --------------------------------------------------------------------------- */

static const char text_begin[] = "kernel ";

typedef struct Text {
  const char *text;
  Scratch *scratch;
  IrBytes bytes;
} Text;

static bool write_text(void *data, Error *err) {
  Text *input = data;
  IrKernel *kernel = ir_read(input->scratch, &heap, input->text, err);
  if (!kernel) return false;
  if (ir_verify(kernel, err)) input->bytes = ir_write(input->scratch, kernel, "x86-64-v3");
  for (int t = 0; t < kernel->trees.count; t++)
    snode_tree_release((SNodeTree *)kernel->trees.items[t].tree);
  return !err->code;
}

static void try_changes(IrBytes bytes) {
  static const uint8_t changes[] = {0x01, 0x02, 0x40, 0x80, 0xff};
  uint8_t *copy = malloc((size_t)bytes.length);
  for (int64_t length = 0; length < bytes.length; length++) {
    memcpy(copy, bytes.data, (size_t)length);
    if (try_bytes(copy, length)) fuzz_broken("no beginning of the bytes reads", "it does");
  }
  memcpy(copy, bytes.data, (size_t)bytes.length);
  for (int64_t at = 0; at < bytes.length; at++)
    for (size_t k = 0; k < sizeof changes; k++) {
      copy[at] = bytes.data[at] ^ changes[k];
      try_bytes(copy, bytes.length);
      copy[at] = bytes.data[at];
    }
  free(copy);
}

static void try_text(const uint8_t *data, size_t size) {
  Scratch scratch;
  scratch_init(&scratch, &heap);
  Text input = {scratch_format(&scratch, "%.*s", (int)size, (const char *)data), &scratch, {0}};
  Error err = {0};
  bool ok = guard_run(write_text, &input, &err);
#ifdef CORPUS
  if (!ok) fuzz_broken("a kept kernel is one of today", err.message);
  if (!try_bytes(input.bytes.data, input.bytes.length))
    fuzz_broken("what is written reads", input.text);
#endif
  if (ok) try_changes(input.bytes);
  scratch_deinit(&scratch);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  heap_init(&heap, 0);
  bool is_text = size > sizeof text_begin && !memcmp(data, text_begin, sizeof text_begin - 1);
  if (is_text) try_text(data, size);
  else try_with_head(data, size);
  return 0;
}
