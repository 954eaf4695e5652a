/* ir_bytes.c - canonical bytes from anywhere. What reads must verify, print, and be written as the
 * bytes it came from. */
#include "base/error.h"
#include "fuzz.h"
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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  heap_init(&heap, 0);
  Scratch scratch;
  scratch_init(&scratch, &heap);
  Input input = {data, (int64_t)size, &scratch};
  Error err = {0};
  guard_run(read_and_write, &input, &err);
  scratch_deinit(&scratch);
  return 0;
}
