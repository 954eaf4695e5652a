/* record_test.c - choices on disk, shared by processes, whatever the file holds. */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "tune/record.h"

static Heap heap;
static char folder[] = "/tmp/rg_tune_XXXXXX", path[100];

/* Returns what a new process finds. */
static bool knows(const char *key, const char *choice) {
  TuneFile *file = tune_file_open(&heap, path);
  const char *found = tune_file_find(file, key);
  bool is_right = choice ? found && !strcmp(found, choice) : !found;
  tune_file_close(file);
  return is_right;
}

static bool add(const char *key, const char *choice) {
  TuneFile *file = tune_file_open(&heap, path);
  bool ok = tune_file_add(file, key, choice, 2, 1);
  tune_file_close(file);
  return ok;
}

static void write_text(int flags, const char *text) {
  int fd = open(path, O_WRONLY | O_CREAT | flags, 0600);
  CHECK(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
  close(fd);
}

static void keeping(void) {
  TEST("a choice is known to the next process, the last one counts") {
    CHECK(knows("a", NULL));
    CHECK(add("a", "threads=1"));
    CHECK(add("b", "default"));
    CHECK(knows("a", "threads=1") && knows("b", "default") && knows("c", NULL));
    CHECK(add("a", "chunks=2"));
    CHECK(knows("a", "chunks=2"));
  }
  TEST("a choice that another process adds is found by one that has already read the file") {
    TuneFile *file = tune_file_open(&heap, path);
    CHECK(!tune_file_find(file, "later"));
    CHECK(add("later", "default"));
    CHECK_TEXT(tune_file_find(file, "later"), "default");
    tune_file_close(file);
  }
  TEST("a cleared record forgets all choices, and keeps later ones") {
    TuneFile *file = tune_file_open(&heap, path);
    CHECK(tune_file_find(file, "a"));
    tune_file_clear(file);
    CHECK(!tune_file_find(file, "a") && knows("a", NULL));
    CHECK(tune_file_add(file, "a", "default", 1, 1) && knows("a", "default"));
    tune_file_close(file);
  }
  TEST("without a path choices are kept in memory") {
    TuneFile *file = tune_file_open(&heap, "");
    CHECK(!tune_file_add(file, "a", "b", 1, 1));
    CHECK_TEXT(tune_file_find(file, "a"), "b");
    tune_file_close(file);
  }
  TEST("a choice that is not a word is not kept") {
    CHECK(!add("a key", "default") && !add("key", "two\nlines") && !add("", "default"));
    CHECK(knows("key", NULL));
  }
}

static void damage(void) {
  TEST("lines that are not records are skipped") {
    unlink(path);
    CHECK(add("first", "default"));
    write_text(O_APPEND, "1 first threads=1 2 1 00000000\n\n1\n2 first x 1 1 00000000\nrubbish\n");
    write_text(O_APPEND, "1 first threads=1 2 1"); /* torn: the next line is lost with it */
    CHECK(add("lost", "default"));
    CHECK(add("last", "chunks=2"));
    CHECK(knows("first", "default") && knows("lost", NULL) && knows("last", "chunks=2"));
  }
  TEST("a file that was cut off gives what is whole") {
    unlink(path);
    CHECK(add("first", "default") && add("second", "default"));
    struct stat info;
    CHECK(!stat(path, &info) && !truncate(path, info.st_size - 3));
    CHECK(knows("first", "default") && knows("second", NULL));
  }
  TEST("bytes of any kind are harmless") {
    unsigned seed = 7;
    int fd = open(path, O_WRONLY | O_TRUNC);
    for (int k = 0; k < 100000; k++) {
      seed = seed * 1103515245 + 12345;
      char byte = (char)(seed >> 16);
      if (write(fd, &byte, 1) != 1) break;
    }
    close(fd);
    CHECK(knows("first", NULL));
    CHECK(add("after", "default"));
  }
  TEST("a folder, a pipe or nothing at its path is not a failure") {
    unlink(path);
    CHECK(!mkdir(path, 0700));
    CHECK(!add("a", "default") && knows("a", NULL));
    CHECK(!rmdir(path) && !mkfifo(path, 0600));
    CHECK(knows("a", NULL));
    CHECK(!unlink(path));
  }
  TEST("a long file is written again") {
    char line[60], key[20];
    struct stat info;
    TuneFile *file = tune_file_open(&heap, path);
    for (int k = 0; k < 40000; k++) {
      snprintf(key, sizeof key, "key%d", k % 50);
      snprintf(line, sizeof line, "choice=%d", k);
      tune_file_add(file, key, line, 1, 1);
    }
    tune_file_close(file);
    CHECK(!stat(path, &info) && info.st_size > 1 << 20);
    CHECK(knows("none", NULL)); /* reads it */
    CHECK(!stat(path, &info) && info.st_size < 4000);
    CHECK(knows("key49", "choice=39999"));
  }
}

static void hammer(int number) {
  char key[20];
  for (int k = 0; k < 200; k++) {
    snprintf(key, sizeof key, "p%dk%d", number, k);
    if (!add(key, "default") || !knows(key, "default")) _exit(1);
  }
  _exit(0);
}

static void sharing(void) {
  TEST("four processes that write at once lose nothing") {
    char key[20];
    int status, lost = 0;
    unlink(path);
    for (int k = 0; k < 4; k++)
      if (!fork()) hammer(k);
    for (int k = 0; k < 4; k++) CHECK(wait(&status) > 0 && !status);
    TuneFile *file = tune_file_open(&heap, path);
    for (int k = 0; k < 800; k++) {
      snprintf(key, sizeof key, "p%dk%d", k / 200, k % 200);
      lost += !tune_file_find(file, key);
    }
    tune_file_close(file);
    CHECK_INT(0, lost);
  }
  TEST("a failed allocation loses choices at most") {
    for (int fail_at = 1; fail_at < 6; fail_at++) {
      Heap poor;
      heap_init(&poor, fail_at);
      TuneFile *file = tune_file_open(&poor, path);
      tune_file_find(file, "p1k1");
      tune_file_add(file, "more", "default", 1, 1);
      tune_file_close(file);
      CHECK_INT(0, poor.live_bytes);
    }
  }
}

int main(void) {
  heap_init(&heap, 0);
  if (!mkdtemp(folder)) return 1;
  snprintf(path, sizeof path, "%s/tune.txt", folder);
  keeping();
  damage();
  sharing();
  TEST("a record of choices frees all memory") CHECK_INT(0, heap.live_bytes);
  char command[100];
  snprintf(command, sizeof command, "rm -rf %s", folder);
  CHECK(!system(command));
  return check_report();
}
