/* pass_test.c - passes from text to text.
 * tests/pass/<name>/<what>.ir holds IR, a line `---`, and what it becomes; <name> is the pass, or several, as in
 * `fold+tasks`. A first line `# passes: a,b` says it otherwise, `# vector_bytes: 16` sets the target.
 * With a line `# effects` the output is what each function does after these passes (pass/effects.h).
 *   test_pass [--bless] [directory]    --bless renews what differs, and says which files it wrote. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#include "pass/effects.h"
#include "pass/pass.h"

typedef struct Totals { int passed, failed; } Totals;

typedef struct Case {
  const char *path;
  const char *passes;
  char *text;           /* the whole file */
  bool bless;
  Scratch scratch;
  const char *output;
} Case;

static char *read_file(const char *path) {
  FILE *file = fopen(path, "rb");
  if (!file) return NULL;
  fseek(file, 0, SEEK_END);
  long length = ftell(file);
  rewind(file);
  char *text = calloc(1, (size_t)length + 1);
  if (text) length = (long)fread(text, 1, (size_t)length, file);
  fclose(file);
  return text;
}

/* The number or text behind `# word:` in the input, or NULL. */
static const char *find_setting(Case *test, const char *word) {
  const char *at = strstr(test->text, word);
  return at && (at == test->text || at[-1] == '\n') ? at + strlen(word) : NULL;
}

static const char *passes_of(Case *test) {
  const char *named = find_setting(test, "# passes: ");
  if (!named) return test->passes;
  return scratch_copy_text(&test->scratch, named, strcspn(named, "\r\n"));
}

/* The input ends where the line `---` starts. */
static char *find_border(char *text) {
  char *border = strncmp(text, "---\n", 4) == 0 ? text : strstr(text, "\n---\n");
  return border && border != text ? border + 1 : border;
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

/* The result as text; a refusal is a result too: "error: ..". */
static bool transform(void *data, Error *err) {
  Case *test = data;
  char *border = find_border(test->text);
  size_t length = border ? (size_t)(border - test->text) : strlen(test->text);
  char *input = scratch_copy_text(&test->scratch, test->text, length);
  const char *bytes = find_setting(test, "# vector_bytes: ");
  PassContext ctx = {.scratch = &test->scratch,
                     .vector_bytes = bytes ? atoi(bytes) : 32,
                     .explains = true,
                     .verify = true,
                     .for_cuda = find_setting(test, "# cuda") != NULL};
  IrKernel *kernel = ir_read(&test->scratch, test->scratch.heap, input, err);
  if (!kernel) return false;
  StrBuf text;
  strbuf_init(&text, &test->scratch);
  bool ok = pass_run_named(&ctx, kernel, passes_of(test), err);
  if (ok && find_setting(test, "# effects\n")) print_effects(&text, &ctx, kernel);
  else if (ok) ir_print(&text, kernel);
  destroy_trees(kernel);
  test->output = strbuf_end(&text);
  return ok;
}

/* Shows the first line in which they differ. */
static void show_difference(const char *path, const char *expected, const char *actual) {
  int line = 1;
  const char *line_expected = expected, *line_actual = actual;
  while (*expected && *expected == *actual) {
    if (*expected == '\n') {
      line++;
      line_expected = expected + 1;
      line_actual = actual + 1;
    }
    expected++;
    actual++;
  }
  printf("not ok: %s, line %d of the output\n  expected: %.*s\n  actual:   %.*s\n", path, line,
         (int)strcspn(line_expected, "\n"), line_expected, (int)strcspn(line_actual, "\n"), line_actual);
}

static void write_case(Case *test, const char *output) {
  char *border = find_border(test->text);
  int length = border ? (int)(border - test->text) : (int)strlen(test->text);
  FILE *file = fopen(test->path, "wb");
  if (!file) return;
  fprintf(file, "%.*s%s---\n%s", length, test->text, length && test->text[length - 1] != '\n' ? "\n" : "", output);
  fclose(file);
  printf("blessed: %s\n", test->path);
}

static bool run_case(Case *test) {
  Error err;
  error_clear(&err);
  const char *output = scratch_run(&test->scratch, transform, test, &err) ? test->output
                                                                          : scratch_format(&test->scratch, "error: %s\n", err.message);
  char *border = find_border(test->text);
  const char *expected = border ? border + 4 : "";
  if (strcmp(expected, output) == 0) return true;
  if (test->bless) write_case(test, output);
  else show_difference(test->path, expected, output);
  return test->bless;
}

static void run_file(const char *path, const char *passes, bool bless, Totals *totals) {
  Heap heap;
  heap_init(&heap, 0);
  Case test = {.path = path, .passes = passes, .bless = bless, .text = read_file(path)};
  scratch_init(&test.scratch, &heap);
  bool ok = test.text && run_case(&test);
  scratch_deinit(&test.scratch);
  free(test.text);
  if (ok && heap.live_bytes != 0) {
    printf("not ok: %s leaves %lld bytes\n", path, (long long)heap.live_bytes);
    ok = false;
  }
  *(ok ? &totals->passed : &totals->failed) += 1;
}

static int is_shown(const struct dirent *entry) { return entry->d_name[0] != '.'; }

static void run_directory(const char *root, const char *name, bool bless, Totals *totals) {
  char directory[512], passes[200], path[1024];
  snprintf(directory, sizeof directory, "%s/%s", root, name);
  snprintf(passes, sizeof passes, "%s", name);
  for (char *c = passes; *c; c++)
    if (*c == '+') *c = ',';
  struct dirent **entries;
  int count = scandir(directory, &entries, is_shown, alphasort);
  for (int i = 0; i < count; i++) {
    const char *file = entries[i]->d_name, *end = strrchr(file, '.');
    snprintf(path, sizeof path, "%s/%s", directory, file);
    if (end && strcmp(end, ".ir") == 0) run_file(path, passes, bless, totals);
    free(entries[i]);
  }
  if (count >= 0) free(entries);
}

int main(int argc, char **argv) {
  bool bless = argc > 1 && strcmp(argv[1], "--bless") == 0;
  const char *root = argc > 1 + bless ? argv[1 + bless] : RG_PASS_TESTS;
  Totals totals = {0};
  struct dirent **entries;
  int count = scandir(root, &entries, is_shown, alphasort);
  for (int i = 0; i < count; i++) {
    run_directory(root, entries[i]->d_name, bless, &totals);
    free(entries[i]);
  }
  if (count >= 0) free(entries);
  printf("%d passed, %d failed\n", totals.passed, totals.failed);
  return totals.failed != 0 || totals.passed == 0;
}
