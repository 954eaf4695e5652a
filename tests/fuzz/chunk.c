/* chunk.c - Lua text whose kernels the host cannot read: its stand-ins are inside it, in order,
 * keep its lines, and nothing leaks. */
#include "front/stand_in.h"
#include "fuzz.h"

typedef struct Input {
  Scratch *scratch;
  Str text;
} Input;

static int count_lines(Str text) {
  int count = 0;
  for (int k = 0; k < text.length; k++) {
    char c = text.data[k], next = k + 1 < text.length ? text.data[k + 1] : 0;
    if (c != '\n' && c != '\r') continue;
    if ((next == '\n' || next == '\r') && next != c) k++;
    count++;
  }
  return count;
}

static bool find(void *data, Error *err) {
  const Input *input = data;
  Source *source = source_create(input->scratch, input->text, "chunk", 1);
  StandIns found = stand_ins_find(source);
  int32_t past = 0;
  (void)err;
  for (int k = 0; k < found.count; k++) {
    StandIn item = found.items[k];
    Str of_chunk = {source->text.data + item.begin, item.end - item.begin};
    if (item.begin < past || item.end <= item.begin || item.end > source->text.length)
      fuzz_broken("stand-ins are in order", item.text.data);
    if (count_lines(of_chunk) != count_lines(item.text))
      fuzz_broken("a stand-in keeps the lines", item.text.data);
    past = item.end;
  }
  return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Heap heap;
  Scratch scratch;
  Error err = {0};
  heap_init(&heap, 0);
  scratch_init(&scratch, &heap);
  Input input = {&scratch, {(const char *)data, (int)size}};
  if (!guard_run(find, &input, &err)) fuzz_broken("a chunk has stand-ins or none", err.message);
  scratch_deinit(&scratch);
  if (heap.live_bytes) fuzz_broken("nothing is left behind", "");
  return 0;
}
