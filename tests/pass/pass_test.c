/* pass_test.c - passes from text to text: golden files (golden.h) of IR, whose group names the
 * pass, or several, as in `fold+tasks`. A line `# passes: a,b` overrides the group,
 * `# vector_bytes: 16` and `# fast_gathers` set the target. With a line `# effects` the output
 * lists the effects of each function after these passes (pass/analysis/effects.h). */
#include "golden.h"
#include "pass/analysis/effects.h"
#include "pass/pass.h"

static const char *passes_of(Golden *golden) {
  const char *named = golden_setting(golden, "# passes: ");
  if (named) return scratch_copy_text(&golden->scratch, named, strcspn(named, "\r\n"));
  char *passes = scratch_copy_text(&golden->scratch, golden->group, strlen(golden->group));
  for (char *c = passes; *c; c++)
    if (*c == '+') *c = ',';
  return passes;
}

static void destroy_trees(IrKernel *kernel) {
  for (int i = 0; i < kernel->trees.count; i++)
    if (kernel->trees.items[i].tree) snode_tree_release((SNodeTree *)kernel->trees.items[i].tree);
}

static void print_effects(StrBuf *out, PassContext *ctx, IrKernel *kernel) {
  for (int i = -1; i < kernel->tasks.count; i++) {
    if (i < 0) strbuf_text(out, "host\n");
    else strbuf_format(out, "task %d\n", i);
    effects_print(out, effects_of(ctx, kernel, i < 0 ? NULL : kernel->tasks.items[i]));
  }
}

static bool transform(void *data, Error *err) {
  Golden *golden = data;
  const char *bytes = golden_setting(golden, "# vector_bytes: ");
  PassContext ctx = {.scratch = &golden->scratch,
                     .vector_bytes = bytes ? atoi(bytes) : 32,
                     .fast_gathers = golden_setting(golden, "# fast_gathers") != NULL,
                     .has_one_worker = golden_setting(golden, "# one_worker") != NULL,
                     .explains = true,
                     .derivative = golden_setting(golden, "# forward") ? DERIVATIVE_FORWARD
                                                                       : DERIVATIVE_REVERSE,
                     .verify = true,
                     .tiles_loops = golden_setting(golden, "# tiled") != NULL,
                     .target = golden_setting(golden, "# cuda") ? target_gpu : target_cpu};
  IrKernel *kernel = ir_read(&golden->scratch, golden->scratch.heap, golden->input, err);
  if (!kernel) return false;
  StrBuf text;
  strbuf_init(&text, &golden->scratch);
  bool ok = pass_run_named(&ctx, kernel, passes_of(golden), err);
  if (ok && golden_setting(golden, "# effects\n")) print_effects(&text, &ctx, kernel);
  else if (ok) ir_print(&text, kernel);
  destroy_trees(kernel);
  golden->output = strbuf_end(&text);
  return ok;
}

int main(int argc, char **argv) {
  return golden_main(argc, argv, RG_TEST_FOLDER, ".ir", transform);
}
