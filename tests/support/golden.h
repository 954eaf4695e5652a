/* golden.h - tests from text to text. A file <root>/<group>/<what>.<ending> holds an input, a line
 * `---` and the output; lines `# word: value` in the input are settings of the test.
 *   test_x [--bless] [root]    --bless updates files that differ, and prints their names. */
#ifndef RG_TESTS_GOLDEN_H
#define RG_TESTS_GOLDEN_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/scratch.h"

typedef struct Golden Golden;
struct Golden {
  const char *path, *group;
  const char *input;                           /* in scratch */
  const char *output;                          /* the output of `transform` */
  bool (*transform)(void *golden, Error *err); /* an error is an output, too: "error: .." */
  char *text;                                  /* the whole file */
  bool bless;
  Scratch scratch;
};

typedef struct GoldenTotals {
  int passed, failed;
} GoldenTotals;

/* The number or text that follows `word` at the beginning of a line of the input, or NULL. */
static const char *golden_setting(const Golden *golden, const char *word) {
  const char *at = strstr(golden->input, word);
  return at && (at == golden->input || at[-1] == '\n') ? at + strlen(word) : NULL;
}

static char *golden_read(const char *path) {
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

/* The input ends where the line `---` starts. */
static char *golden_border(char *text) {
  char *border = strncmp(text, "---\n", 4) == 0 ? text : strstr(text, "\n---\n");
  return border && border != text ? border + 1 : border;
}

/* Prints the first line in which they differ. */
static void golden_differ(const char *path, const char *expected, const char *actual) {
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
         (int)strcspn(line_expected, "\n"), line_expected, (int)strcspn(line_actual, "\n"),
         line_actual);
}

static void golden_write(const Golden *golden) {
  const char *input = golden->input;
  size_t length = strlen(input);
  FILE *file = fopen(golden->path, "wb");
  if (!file) return;
  fprintf(file, "%s%s---\n%s", input, length && input[length - 1] != '\n' ? "\n" : "",
          golden->output);
  fclose(file);
  printf("blessed: %s\n", golden->path);
}

static bool golden_run(Golden *golden) {
  Error err = {0};
  char *border = golden_border(golden->text);
  size_t length = border ? (size_t)(border - golden->text) : strlen(golden->text);
  golden->input = scratch_copy_text(&golden->scratch, golden->text, length);
  if (!guard_run(golden->transform, golden, &err))
    golden->output = scratch_format(&golden->scratch, "error: %s\n", err.message);
  const char *expected = border ? border + 4 : "";
  if (strcmp(expected, golden->output) == 0) return true;
  if (golden->bless) golden_write(golden);
  else golden_differ(golden->path, expected, golden->output);
  return golden->bless;
}

static void golden_file(const Golden *like, const char *path, GoldenTotals *totals) {
  Heap heap;
  heap_init(&heap, 0);
  Golden golden = *like;
  golden.path = path;
  golden.text = golden_read(path);
  scratch_init(&golden.scratch, &heap);
  bool ok = golden.text && golden_run(&golden);
  scratch_deinit(&golden.scratch);
  free(golden.text);
  if (ok && heap.live_bytes != 0) {
    printf("not ok: %s leaves %lld bytes\n", path, (long long)heap.live_bytes);
    ok = false;
  }
  *(ok ? &totals->passed : &totals->failed) += 1;
}

static int golden_is_shown(const struct dirent *entry) { return entry->d_name[0] != '.'; }

static void golden_group(const Golden *like, const char *root, const char *ending,
                         GoldenTotals *totals) {
  char path[1024];
  struct dirent **entries;
  snprintf(path, sizeof path, "%s/%s", root, like->group);
  int count =
      scandir(path, &entries, golden_is_shown, alphasort); /* -1: there is a file at the path */
  for (int i = 0; i < count; i++) {
    const char *file = entries[i]->d_name, *end = strrchr(file, '.');
    snprintf(path, sizeof path, "%s/%s/%s", root, like->group, file);
    if (end && strcmp(end, ending) == 0) golden_file(like, path, totals);
    free(entries[i]);
  }
  if (count >= 0) free(entries);
}

/* All of main. `root` is the folder of the groups, unless the command line names another. */
static int golden_main(int argc, char **argv, const char *root, const char *ending,
                       bool (*transform)(void *golden, Error *err)) {
  bool bless = argc > 1 && strcmp(argv[1], "--bless") == 0;
  if (argc > 1 + bless) root = argv[1 + bless];
  GoldenTotals totals = {0};
  struct dirent **entries;
  int count = scandir(root, &entries, golden_is_shown, alphasort);
  for (int i = 0; i < count; i++) {
    Golden like = {.group = entries[i]->d_name, .transform = transform, .bless = bless};
    golden_group(&like, root, ending, &totals);
    free(entries[i]);
  }
  if (count >= 0) free(entries);
  printf("%d passed, %d failed\n", totals.passed, totals.failed);
  return totals.failed != 0 || totals.passed == 0;
}

#endif
