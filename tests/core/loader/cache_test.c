/* cache_test.c - objects on disk: which are found again, which are rejected, and which are deleted.
 * */
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "loader/cache.h"

static Heap heap;
static char folder[] = "/tmp/rg_cache_test.XXXXXX";
static const char build[] = "0123456789abcdef0123456789abcdef";

static RgCodegenRequest request(const char *bytes, const char *cpu) {
  return (RgCodegenRequest){.bytes = (const uint8_t *)bytes,
                            .length = (int64_t)strlen(bytes),
                            .build_id = build,
                            .processors = {cpu}};
}

static Cache *open_cache(void) {
  Cache *cache = NULL;
  Error err = {0};
  CHECK(cache_open(&heap, &cache, &err));
  return cache;
}

/* -1: a miss; else whether the object found is `text`. */
static int finds(Cache *cache, const RgCodegenRequest *wanted, const char *text) {
  RgCodegenObject objects[RG_TARGET_COUNT], *host = &objects[RG_TARGET_HOST];
  if (!cache_find(cache, wanted, objects)) return -1;
  int same =
      host->length == (int64_t)strlen(text) && !memcmp(host->bytes, text, (size_t)host->length);
  heap_free(&heap, host->bytes);
  return same;
}

static void store(Cache *cache, const RgCodegenRequest *made, const char *text) {
  const RgCodegenObject object = {.bytes = (uint8_t *)text, .length = (int64_t)strlen(text)};
  cache_store(cache, made, (const RgCodegenObject[RG_TARGET_COUNT]){[RG_TARGET_HOST] = object});
}

/* Calls `visit` with the path of every file below `path`. */
static int each_file(const char *path, void visit(const char *)) {
  int count = 0;
  DIR *names = opendir(path);
  for (struct dirent *row; names && (row = readdir(names));) {
    char inner[1200];
    snprintf(inner, sizeof inner, "%s/%s", path, row->d_name);
    if (row->d_name[0] == '.' || !strcmp(row->d_name, "pruned")) continue;
    if (row->d_type == DT_DIR) {
      count += each_file(inner, visit);
    } else {
      count++;
      if (visit) visit(inner);
    }
  }
  if (names) closedir(names);
  return count;
}

static void remove_file(const char *path) { (void)!unlink(path); }
static void clear(void) { each_file(folder, remove_file); }
static char only_path[1200];
static void keep_path(const char *path) { snprintf(only_path, sizeof only_path, "%s", path); }

static void finding(void) {
  Cache *cache = open_cache();
  RgCodegenRequest a = request("a kernel", "native"), b = request("a kernel!", "native"),
                   c = request("a kernel", "x86-64-v3");
  TEST("stored objects are found, by this cache and by another") {
    CHECK_INT(finds(cache, &a, ""), -1);
    store(cache, &a, "its object");
    CHECK_INT(finds(cache, &a, "its object"), 1);
    Cache *other = open_cache();
    CHECK_INT(finds(other, &a, "its object"), 1);
    cache_close(other);
  }
  TEST("other bytes, another processor, another build or other switches are another kernel") {
    CHECK_INT(finds(cache, &b, ""), -1);
    CHECK_INT(finds(cache, &c, ""), -1);
    RgCodegenRequest d = a, e = a;
    d.instrument = 1;
    e.build_id = "ffffffffffffffffffffffffffffffff";
    CHECK_INT(finds(cache, &d, ""), -1);
    CHECK_INT(finds(cache, &e, ""), -1);
  }
  TEST("objects for two targets are kept together, and are not those for one of them") {
    RgCodegenRequest both = a;
    both.processors[RG_TARGET_PTX] = "sm_90";
    CHECK_INT(finds(cache, &both, ""), -1);
    const RgCodegenObject made[RG_TARGET_COUNT] = {
        [RG_TARGET_HOST] = {.bytes = (uint8_t *)"host", .length = 4},
        [RG_TARGET_PTX] = {.bytes = (uint8_t *)"tasks", .length = 5}};
    RgCodegenObject objects[RG_TARGET_COUNT];
    cache_store(cache, &both, made);
    CHECK(cache_find(cache, &both, objects));
    for (int t = 0; t < RG_TARGET_COUNT; t++) {
      CHECK(objects[t].length == made[t].length &&
            !memcmp(objects[t].bytes, made[t].bytes, (size_t)made[t].length));
      heap_free(&heap, objects[t].bytes);
    }
    RgCodegenRequest newer = both, ptx = both;
    newer.processors[RG_TARGET_PTX] = "sm_75";
    ptx.processors[RG_TARGET_HOST] = NULL;
    CHECK(!cache_find(cache, &newer, objects) && !cache_find(cache, &ptx, objects));
    CHECK_INT(finds(cache, &a, "its object"), 1);
  }
  TEST("texts that a compile also returned do not matter") {
    RgCodegenRequest d = a;
    d.want_llvm = d.want_asm = 1;
    CHECK_INT(finds(cache, &d, "its object"), 1);
  }
  cache_close(cache);
}

static uint8_t entry[4096];
static int entry_bytes;
static void read_entry(void) {
  int fd = open(only_path, O_RDONLY);
  entry_bytes = (int)read(fd, entry, sizeof entry);
  close(fd);
}
static void write_entry(const uint8_t *bytes, int length) {
  int fd = open(only_path, O_WRONLY | O_TRUNC | O_CREAT, 0600);
  CHECK(write(fd, bytes, (size_t)length) == length);
  close(fd);
}

static void damage(void) {
  clear();
  Cache *cache = open_cache();
  RgCodegenRequest a = request("a kernel", "native"), b = request("b kernel", "native");
  store(cache, &a, "its object");
  each_file(folder, keep_path);
  read_entry();
  TEST("an entry with any byte changed, or cut off anywhere, is a miss") {
    for (int k = 0; k < entry_bytes; k++) {
      entry[k] ^= 0x41;
      write_entry(entry, entry_bytes);
      CHECK_INT(finds(cache, &a, ""), -1);
      entry[k] ^= 0x41;
      write_entry(entry, k);
      CHECK_INT(finds(cache, &a, ""), -1);
    }
    write_entry(entry, entry_bytes);
    CHECK_INT(finds(cache, &a, "its object"), 1);
  }
  TEST("a damaged entry is replaced by the next store") {
    write_entry((const uint8_t *)"not ours", 8);
    CHECK_INT(finds(cache, &a, ""), -1);
    store(cache, &a, "its object");
    CHECK_INT(finds(cache, &a, "its object"), 1);
  }
  TEST("another kernel's entry under this kernel's name is a miss: names that met would do no "
       "harm") {
    char own[1200];
    memcpy(own, only_path, sizeof own);
    remove_file(own);
    store(cache, &b, "another object");
    each_file(folder, keep_path);
    CHECK(!rename(only_path, own));
    CHECK_INT(finds(cache, &a, ""), -1);
    store(cache, &a, "its object");
    CHECK_INT(finds(cache, &a, "its object"), 1);
    memcpy(only_path, own, sizeof own);
  }
  TEST("a file that others could write, a link, a pipe or a folder is not an entry") {
    CHECK(!chmod(only_path, 0622));
    CHECK_INT(finds(cache, &a, ""), -1);
    char away[1300];
    snprintf(away, sizeof away, "%s.away", only_path);
    CHECK(!chmod(only_path, 0600) && !rename(only_path, away) && !symlink(away, only_path));
    CHECK_INT(finds(cache, &a, ""), -1);
    CHECK(!unlink(only_path) && !unlink(away) && !mkfifo(only_path, 0600));
    CHECK_INT(finds(cache, &a, ""), -1);
    CHECK(!unlink(only_path) && !mkdir(only_path, 0700));
    CHECK_INT(finds(cache, &a, ""), -1);
    store(cache, &a,
          "its object"); /* cannot replace a folder: stays a miss, leaves no file behind */
    CHECK_INT(finds(cache, &a, ""), -1);
    CHECK_INT(each_file(folder, NULL), 0);
    CHECK(!rmdir(only_path));
  }
  cache_close(cache);
}

/* -- places ------------------------------------------------------------------------------------ */

static void places(void) {
  Cache *cache = NULL;
  Error err = {0};
  RgCodegenRequest a = request("a kernel", "native");
  char inner[200];
  TEST("switched off, there is no cache, and nothing is kept") {
    setenv("RG_CACHE", "off", 1);
    CHECK(cache_open(&heap, &cache, &err) && !cache);
    setenv("RG_CACHE", "0", 1);
    CHECK(cache_open(&heap, &cache, &err) && !cache);
    store(cache, &a, "its object");
    CHECK_INT(finds(cache, &a, ""), -1);
    cache_close(cache);
  }
  TEST("by default it is in XDG_CACHE_HOME, or in .cache of the home folder") {
    unsetenv("RG_CACHE");
    snprintf(inner, sizeof inner, "%s/home", folder);
    CHECK(!mkdir(inner, 0700));
    setenv("HOME", inner, 1);
    unsetenv("XDG_CACHE_HOME");
    cache = open_cache();
    store(cache, &a, "its object");
    CHECK_INT(finds(cache, &a, "its object"), 1);
    cache_close(cache);
    snprintf(inner, sizeof inner, "%s/home/.cache/regolith", folder);
    CHECK_INT(each_file(inner, NULL), 1);
    snprintf(inner, sizeof inner, "%s/xdg", folder);
    setenv("XDG_CACHE_HOME", inner, 1);
    cache = open_cache();
    CHECK_INT(finds(cache, &a, ""), -1);
    store(cache, &a, "its object");
    CHECK_INT(finds(cache, &a, "its object"), 1);
    cache_close(cache);
    CHECK_INT(each_file(inner, NULL), 1);
  }
  TEST("without a home, or with one that is missing or not an absolute path, there is no cache") {
    unsetenv("XDG_CACHE_HOME");
    const char *homes[] = {"", "home", "/nowhere/at/all"};
    for (int k = 0; k < 3; k++) {
      setenv("HOME", homes[k], 1);
      CHECK(cache_open(&heap, &cache, &err) && !cache);
    }
    unsetenv("HOME");
    CHECK(cache_open(&heap, &cache, &err) && !cache);
  }
  TEST("a place where nothing can be written is a miss, silently") {
    const char *bad[] = {"/proc/self/cache", "/dev/null", "/dev/null/cache"};
    for (int k = 0; k < 3; k++) {
      setenv("RG_CACHE", bad[k], 1);
      cache = open_cache();
      store(cache, &a, "its object");
      CHECK_INT(finds(cache, &a, ""), -1);
      cache_close(cache);
    }
  }
  TEST("an invalid size is an error") {
    setenv("RG_CACHE_SIZE", "much", 1);
    CHECK(!cache_open(&heap, &cache, &err) && !cache);
    CHECK_TEXT(error_code_text(err.code), "option.invalid");
    unsetenv("RG_CACHE_SIZE");
  }
  setenv("RG_CACHE", folder, 1);
}

/* -- pruning ----------------------------------------------------------------------------------- */

static char seen[8][1200];
static int seen_count;
static void see(const char *path) {
  if (seen_count < 8) snprintf(seen[seen_count++], sizeof seen[0], "%s", path);
}
static void set_age(const char *path, time_t seconds) {
  struct timespec times[2] = {{.tv_sec = time(NULL) - seconds}, {.tv_sec = time(NULL) - seconds}};
  CHECK(!utimensat(AT_FDCWD, path, times, 0));
}
static bool exists(const char *path) { return !access(path, F_OK); }
static void set_stamp_age(time_t seconds) {
  char stamp[300];
  snprintf(stamp, sizeof stamp, "%s/pruned", folder);
  set_age(stamp, seconds);
}

static void pruning(void) {
  static char large[100000]; /* 28 blocks of 4 KiB each, with key and head: 25 and a part */
  memset(large, 'x', sizeof large - 1);
  clear();
  Cache *cache = open_cache();
  RgCodegenRequest kernels[] = {request("0", "native"), request("1", "native"),
                                request("2", "native"), request("3", "native")};
  char foreign[300];
  for (int k = 0; k < 4; k++) store(cache, &kernels[k], large);
  snprintf(foreign, sizeof foreign, "%s/%s/notes.txt", folder, build);
  int fd = open(foreign, O_CREAT | O_WRONLY, 0600);
  CHECK(write(fd, large, sizeof large) > 0);
  close(fd);
  set_age(foreign, 900000);
  seen_count = 0;
  each_file(folder, see);
  TEST("within the limit nothing is deleted") {
    cache_prune(&heap, folder, 1 << 20);
    CHECK_INT(each_file(folder, NULL), 5);
  }
  TEST("a use renews an entry; above the limit the oldest are deleted, foreign files never") {
    for (int k = 0; k < seen_count; k++) set_age(seen[k], 7200 + k * 1000);
    CHECK_INT(finds(cache, &kernels[2], large), 1);
    cache_prune(&heap, folder, 300000); /* down to 225000: two entries */
    CHECK_INT(each_file(folder, NULL), 3);
    CHECK_INT(finds(cache, &kernels[2], large), 1);
    CHECK(exists(foreign));
  }
  TEST("temporary files of a writer that died are deleted after an hour, and not before") {
    char leftover[300];
    snprintf(leftover, sizeof leftover, "%s/%s/tmp.aB3dE6", folder, build);
    close(open(leftover, O_CREAT | O_WRONLY, 0600));
    cache_prune(&heap, folder, 1 << 20);
    CHECK(exists(leftover));
    set_age(leftover, 4000);
    cache_prune(&heap, folder, 1 << 20);
    CHECK(!exists(leftover));
  }
  TEST("a store looks through the folder once a minute, and keeps the limit that RG_CACHE_SIZE "
       "sets") {
    CHECK(!unlink(foreign));
    cache_close(cache);
    setenv("RG_CACHE_SIZE", "150000", 1);
    cache = open_cache();
    set_stamp_age(30);
    RgCodegenRequest fresh =
        request("another", "native"); /* which of the four are left is a matter of their names */
    store(cache, &fresh, large);
    CHECK(each_file(folder, NULL) == 3);
    set_stamp_age(90);
    store(cache, &kernels[1], large);
    CHECK(each_file(folder, NULL) == 1);
    CHECK_INT(finds(cache, &kernels[1], large), 1);
    unsetenv("RG_CACHE_SIZE");
  }
  TEST("a build's folder goes with its last entry") {
    char builds[300];
    snprintf(builds, sizeof builds, "%s/%s", folder, build);
    cache_prune(&heap, folder, 1);
    CHECK(!exists(builds));
    store(cache, &kernels[0], "small");
    CHECK_INT(finds(cache, &kernels[0], "small"), 1);
  }
  cache_close(cache);
}

static void emptying(void) {
  clear();
  Cache *cache = open_cache();
  RgCodegenRequest a = request("a kernel", "native"), b = request("b kernel", "native");
  b.build_id = "ffffffffffffffffffffffffffffffff";
  store(cache, &a, "its object");
  store(cache, &b, "another object");
  TEST("a folder is measured without a change: the entries of all builds, and nothing else") {
    char leftover[300], foreign[300];
    snprintf(leftover, sizeof leftover, "%s/%s/tmp.aB3dE6", folder, build);
    snprintf(foreign, sizeof foreign, "%s/notes.txt", folder);
    close(open(leftover, O_CREAT | O_WRONLY, 0600));
    close(open(foreign, O_CREAT | O_WRONLY, 0600));
    CacheContents contents = cache_measure(&heap, cache_folder(cache));
    CHECK_INT(contents.entry_count, 2);
    CHECK(contents.size_bytes >= 2 * 512 && contents.size_bytes <= 2 * 65536);
    CHECK_INT(each_file(folder, NULL), 4);
  }
  TEST("an emptied cache contains only foreign files, and continues to work") {
    CHECK_INT(cache_empty(&heap, cache_folder(cache)), 0);
    CHECK_INT(each_file(folder, NULL), 1);
    CHECK_INT(cache_measure(&heap, folder).entry_count, 0);
    CHECK_INT(finds(cache, &a, ""), -1);
    store(cache, &a, "its object");
    CHECK_INT(finds(cache, &a, "its object"), 1);
  }
  TEST("without a folder, or without a cache, there are no entries") {
    CHECK_INT(cache_measure(&heap, "/nowhere/at/all").entry_count, 0);
    CHECK_INT(cache_empty(&heap, "/nowhere/at/all"), 0);
    CHECK_TEXT(cache_folder(NULL), "");
    CHECK_INT(cache_limit_bytes(NULL), 0);
  }
  cache_close(cache);
}

/* -- several processes; memory that fails ------------------------------------------------------ */

static int hammer(int number) {
  static char text[20000];
  int wrong = 0;
  Cache *cache = open_cache();
  RgCodegenRequest one = request("the one kernel", "native");
  memset(text, 'o', sizeof text - 1);
  for (int k = 0; k < 200; k++) {
    int found = finds(cache, &one, text);
    wrong += found == 0;
    if (found < 0 || k % 4 == number % 4) store(cache, &one, text);
    if (k % 50 == 10 * number) cache_prune(&heap, folder, 1); /* deletes all */
  }
  cache_close(cache);
  return wrong;
}

static void sharing(void) {
  TEST("four processes that read, write and delete one entry never see a part of it") {
    pid_t children[4];
    for (int k = 0; k < 4; k++)
      if (!(children[k] = fork())) _exit(hammer(k) != 0);
    for (int k = 0; k < 4; k++) {
      int status;
      CHECK(waitpid(children[k], &status, 0) == children[k] && WIFEXITED(status) &&
            !WEXITSTATUS(status));
    }
  }
  TEST("a failed allocation is a miss or an entry that is not kept, and leaks nothing") {
    clear();
    RgCodegenRequest a = request("a kernel", "native");
    for (int fail_at = 2; fail_at < 12; fail_at++) {
      Heap poor;
      Error err = {0};
      Cache *cache = NULL;
      heap_init(&poor, fail_at);
      CHECK(cache_open(&poor, &cache, &err));
      store(cache, &a, "its object");
      RgCodegenObject objects[RG_TARGET_COUNT], *host = &objects[RG_TARGET_HOST];
      CHECK(!cache_find(cache, &a, objects) ||
            (host->length == 10 && !memcmp(host->bytes, "its object", 10)));
      heap_free(&poor, host->bytes);
      cache_prune(&poor, folder, 1);
      cache_close(cache);
      CHECK_INT(poor.live_bytes, 0);
    }
  }
}

int main(void) {
  heap_init(&heap, 0);
  if (!mkdtemp(folder)) return 1;
  setenv("RG_CACHE", folder, 1);
  unsetenv("RG_CACHE_SIZE");
  finding();
  damage();
  pruning();
  emptying();
  sharing();
  places();
  TEST("the cache frees all memory") CHECK_INT(heap.live_bytes, 0);
  char command[100];
  snprintf(command, sizeof command, "rm -rf %s", folder);
  CHECK(!system(command));
  return check_report();
}
