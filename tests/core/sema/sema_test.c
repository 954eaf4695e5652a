/* sema_test.c - kernels in, IR out: golden files (golden.h) of kernels over the fixture's world.
 * The group `ir` shows the IR. `# numbers: 2` says how many numbers the launch gives. */
#include "fixture.h"

#include "golden.h"

/* Its first lines may be comments, which a kernel's text does not have. */
static const char *kernel_text(const Golden *golden) {
  const char *text = golden->input;
  while (*text == '#') text += strcspn(text, "\n") + 1;
  return text;
}

static bool transform(void *data, Error *err) {
  Golden *golden = data;
  World w;
  world_init(&w);
  const char *numbers = golden_setting(golden, "# numbers: ");
  if (numbers) give_numbers(&w, atoi(numbers));
  const char *text = run_text(&w, kernel_text(golden), false);
  golden->output = scratch_copy_text(&golden->scratch, text, strlen(text));
  world_deinit(&w);
  return w.heap.live_bytes == 0 || error_set(err, RG_ERROR_INTERNAL, "memory is left");
}

int main(int argc, char **argv) {
  return golden_main(argc, argv, RG_TEST_FOLDER, ".kernel", transform);
}
