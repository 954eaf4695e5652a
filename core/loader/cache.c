/* cache.c - compiled objects on disk.
 *
 *     FOLDER/pruned                          its mtime: when the folder was last pruned
 *     FOLDER/<build id>/<hash of the key>    an entry: head, key, an object per requested target
 *     FOLDER/<build id>/tmp.XXXXXX           an entry being written; rename makes it one
 *
 * FOLDER is RG_CACHE, or `regolith` in XDG_CACHE_HOME, or in ~/.cache. The key is everything that
 * determines the compiler's output: build id, processors by target, switches, canonical bytes. Its
 * name is half of a SHA-256 of it, and the entry contains the whole key for comparison, so two keys
 * that collide only evict each other.
 *
 * Invariants: an entry appears whole, by rename, and is never written again; no reader needs a
 * lock. A reader may still find anything (a torn disk, a foreign file): lengths, owner and checksum
 * are checked before use, and the loader does not trust objects either. A file's mtime is when its
 * entry was last used, within an hour. */
#include "loader/cache.h"

#if defined(__x86_64__)
#include <cpuid.h>
#else
#include <sys/auxv.h>
#endif
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/option.h"
#include "base/sha256.h"

enum {
  FOLDER_BYTES = 1024,
  PATH_BYTES = FOLDER_BYTES + 256,
  NAME_BYTES = 32,             /* hex digits of an entry's name */
  TOUCH_SECONDS = 3600,        /* precision of mtime as the last use */
  PRUNE_SECONDS = 60,          /* the folder is pruned at most this often */
  ENTRY_LIMIT_BYTES = 64 << 20 /* larger files are not ours */
};
static const uint64_t default_limit_bytes = (uint64_t)256 << 20;

/* All that LLVM's detection of the processor can depend on: vendor, family, feature bits, and the
 * registers that the system saves. Zero if the code is not compiled for this processor alone. */
typedef struct Machine {
  uint32_t words[21]; /* the last: which registers the system saves */
} Machine;

struct Cache {
  Heap *heap;
  uint64_t limit_bytes;
  char folder[FOLDER_BYTES];
  Machine machine; /* read once, since under a hypervisor each cpuid takes microseconds */
  bool has_machine;
};

typedef struct EntryHead {
  char magic[8];
  uint64_t key_length, object_lengths[RG_TARGET_COUNT];
  uint8_t digest[SHA256_BYTES]; /* SHA-256 of the key and the objects, which follow */
} EntryHead;

_Static_assert(CACHE_NAME_BYTES == NAME_BYTES + 1, "a name and its NUL");

static const char entry_magic[8] = "RGCACHE2";

/* -- folders ----------------------------------------------------------------------------------- */

static bool is_word(const char *text, const char *a, const char *b) {
  return !strcmp(text, a) || !strcmp(text, b);
}

/* The user's folder for caches, by the XDG base directory specification. A home that belongs to
 * someone else (root through sudo) gets no files. */
static bool find_user_folder(char folder[FOLDER_BYTES]) {
  const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
  bool has_cache = cache && cache[0] == '/';
  if (!has_cache && !(home && home[0] == '/')) return false;
  struct stat info;
  const char *owned = has_cache && !stat(cache, &info) ? cache : home;
  if (!owned || stat(owned, &info) || info.st_uid != geteuid()) return false;
  int length = has_cache ? snprintf(folder, FOLDER_BYTES, "%s/regolith", cache)
                         : snprintf(folder, FOLDER_BYTES, "%s/.cache/regolith", home);
  return length < FOLDER_BYTES;
}

/* A relative folder is resolved now, before the script changes its directory. */
static bool resolve_folder(const char *given, char folder[FOLDER_BYTES]) {
  char here[FOLDER_BYTES] = "";
  if (given[0] != '/' && !getcwd(here, sizeof here)) return false;
  return snprintf(folder, FOLDER_BYTES, "%s%s%s", here, here[0] ? "/" : "", given) < FOLDER_BYTES;
}

Cache *cache_create(Heap *heap, const char *folder, uint64_t limit_bytes) {
  Cache *cache = heap_alloc(heap, sizeof *cache);
  if (!cache) return NULL;
  cache->heap = heap;
  cache->limit_bytes = limit_bytes;
  snprintf(cache->folder, FOLDER_BYTES, "%s", folder);
  return cache;
}

bool cache_open(Heap *heap, Cache **cache, Error *err) {
  const char *where = option_text("RG_CACHE"), *size = option_text("RG_CACHE_SIZE");
  char folder[FOLDER_BYTES];
  uint64_t limit_bytes = default_limit_bytes;
  *cache = NULL;
  if (size[0] && !option_parse_bytes(size, &limit_bytes, err)) return false;
  if (is_word(where, "0", "off")) return true;
  if (!(is_word(where, "1", "on") ? find_user_folder(folder) : resolve_folder(where, folder)))
    return true;
  *cache = cache_create(heap, folder, limit_bytes);
  return *cache || error_set(err, RG_ERROR_MEMORY,
                             "the host has no memory left for the cache of compiled kernels");
}

void cache_close(Cache *cache) {
  if (cache) heap_free(cache->heap, cache);
}

const char *cache_folder(const Cache *cache) { return cache ? cache->folder : ""; }
uint64_t cache_limit_bytes(const Cache *cache) { return cache ? cache->limit_bytes : 0; }

/* -- keys -------------------------------------------------------------------------------------- */

#if defined(__x86_64__)
static void detect_machine(Machine *machine) {
  static const struct {
    uint32_t leaf, part;
    uint8_t registers; /* bit 0: eax .. bit 3: edx */
  } rows[] = {{0, 0, 14}, {1, 0, 13}, {7, 0, 15},          {7, 1, 15},        {13, 1, 1},
              {25, 0, 2}, {36, 0, 2}, {0x80000001, 0, 12}, {0x80000008, 0, 2}};
  uint32_t r[4], *out = machine->words;
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
    if (!__get_cpuid_count(rows[k].leaf, rows[k].part, &r[0], &r[1], &r[2], &r[3]))
      memset(r, 0, sizeof r);
    for (int n = 0; n < 4; n++)
      if (rows[k].registers >> n & 1) *out++ = r[n];
    if (rows[k].leaf == 1 && r[2] & bit_OSXSAVE)
      __asm__ volatile("xgetbv" : "=a"(machine->words[20]) : "c"(0) : "edx");
  }
}
#else
/* The features that Linux reports, and the processor's number if programs may read it. */
static void detect_machine(Machine *machine) {
  enum { MAY_READ = 1 << 11 }; /* HWCAP_CPUID */
  uint64_t number = 0, given = getauxval(AT_HWCAP), more = getauxval(AT_HWCAP2);
  if (given & MAY_READ) __asm__ volatile("mrs %0, midr_el1" : "=r"(number));
  memcpy(machine->words, &given, sizeof given);
  memcpy(machine->words + 2, &more, sizeof more);
  memcpy(machine->words + 4, &number, sizeof number);
}
#endif

static Machine read_machine(Cache *cache) {
  if (!cache->has_machine) detect_machine(&cache->machine);
  cache->has_machine = true;
  return cache->machine;
}

typedef struct KeyHead {
  uint32_t build_id_length;
  int32_t instrument, baseline;
  uint32_t processor_lengths[RG_TARGET_COUNT]; /* with the NUL; 0: no object for the target */
  Machine machine;
} KeyHead;

typedef struct Key {
  uint8_t *bytes; /* KeyHead, build id, processors, canonical bytes */
  uint64_t length;
  char path[PATH_BYTES];   /* of its entry */
  char folder[PATH_BYTES]; /* that holds it */
} Key;

static void append(uint8_t **at, const void *data, size_t size_bytes) {
  if (size_bytes) memcpy(*at, data, size_bytes);
  *at += size_bytes;
}

static bool make_paths(const Cache *cache, const RgCodegenRequest *request, Key *key) {
  uint8_t digest[SHA256_BYTES];
  char name[NAME_BYTES + 1];
  sha256(key->bytes, key->length, digest);
  for (int k = 0; k < NAME_BYTES / 2; k++) snprintf(name + 2 * k, 3, "%02x", digest[k]);
  return snprintf(key->folder, PATH_BYTES, "%s/%s", cache->folder, request->build_id) <
             PATH_BYTES &&
         snprintf(key->path, PATH_BYTES, "%s/%s/%s", cache->folder, request->build_id, name) <
             PATH_BYTES;
}

static bool make_key(Cache *cache, const RgCodegenRequest *request, Key *key) {
  const char *host = request->processors[RG_TARGET_HOST];
  KeyHead head = {.build_id_length = (uint32_t)strlen(request->build_id),
                  .instrument = request->instrument,
                  .baseline = request->baseline};
  if (host && !strcmp(host, "native")) head.machine = read_machine(cache);
  key->length = sizeof head + head.build_id_length + (uint64_t)request->length;
  for (int t = 0; t < RG_TARGET_COUNT; t++)
    key->length += head.processor_lengths[t] =
        request->processors[t] ? (uint32_t)strlen(request->processors[t]) + 1 : 0;
  key->bytes = heap_alloc(cache->heap, key->length);
  if (!key->bytes) return false;
  uint8_t *at = key->bytes;
  append(&at, &head, sizeof head);
  append(&at, request->build_id, head.build_id_length);
  for (int t = 0; t < RG_TARGET_COUNT; t++)
    append(&at, request->processors[t], head.processor_lengths[t]);
  append(&at, request->bytes, (size_t)request->length);
  if (make_paths(cache, request, key)) return true;
  heap_free(cache->heap, key->bytes);
  return false;
}

bool cache_name(Cache *cache, const RgCodegenRequest *request, char name[CACHE_NAME_BYTES]) {
  Key key;
  if (!cache || !make_key(cache, request, &key)) return false;
  memcpy(name, strrchr(key.path, '/') + 1, CACHE_NAME_BYTES);
  heap_free(cache->heap, key.bytes);
  return true;
}

/* -- reading ----------------------------------------------------------------------------------- */

/* Code runs with the user's rights, so it must belong to the user or root. */
static bool is_own_file(const struct stat *info) {
  return S_ISREG(info->st_mode) && (info->st_uid == geteuid() || info->st_uid == 0) &&
         !(info->st_mode & (S_IWGRP | S_IWOTH)) && info->st_size >= (off_t)sizeof(EntryHead) &&
         info->st_size <= ENTRY_LIMIT_BYTES;
}

static bool read_all(int fd, uint8_t *data, size_t size_bytes) {
  for (size_t done = 0; done < size_bytes;) {
    ssize_t count = read(fd, data + done, size_bytes - done);
    if (count <= 0) return false;
    done += (size_t)count;
  }
  return true;
}

/* The objects in a valid entry, concatenated; otherwise NULL. */
static const uint8_t *check_entry(const uint8_t *entry, uint64_t size_bytes, const Key *key,
                                  EntryHead *head) {
  uint8_t digest[SHA256_BYTES];
  memcpy(head, entry, sizeof *head);
  const uint8_t *contents = entry + sizeof *head;
  uint64_t contents_bytes = size_bytes - sizeof *head, left = contents_bytes - key->length;
  if (memcmp(head->magic, entry_magic, sizeof entry_magic) || head->key_length != key->length)
    return NULL;
  if (key->length > contents_bytes) return NULL;
  for (int t = 0; t < RG_TARGET_COUNT; left -= head->object_lengths[t++])
    if (head->object_lengths[t] > left) return NULL;
  if (left || memcmp(contents, key->bytes, key->length)) return NULL;
  sha256(contents, contents_bytes, digest);
  return memcmp(digest, head->digest, sizeof digest) ? NULL : contents + key->length;
}

static void update_last_use(int fd, const struct stat *info) {
  time_t age = time(NULL) - info->st_mtime;
  if (age < 0 || age > TOUCH_SECONDS) (void)!futimens(fd, NULL);
}

static void free_objects(const Cache *cache, RgCodegenObject *objects) {
  for (int t = 0; t < RG_TARGET_COUNT; t++) heap_free(cache->heap, objects[t].bytes);
  memset(objects, 0, sizeof *objects * RG_TARGET_COUNT);
}

/* Copies each object into its own allocation, aligned like the compiler's. */
static bool copy_objects(const Cache *cache, const RgCodegenRequest *request, const EntryHead *head,
                         const uint8_t *from, RgCodegenObject *objects) {
  for (int t = 0; t < RG_TARGET_COUNT; from += head->object_lengths[t++]) {
    if (!request->processors[t]) continue;
    objects[t].length = (int64_t)head->object_lengths[t];
    if (!(objects[t].bytes = heap_alloc(cache->heap, head->object_lengths[t]))) return false;
    memcpy(objects[t].bytes, from, head->object_lengths[t]);
  }
  return true;
}

static bool read_entry(const Cache *cache, int fd, const RgCodegenRequest *request, const Key *key,
                       RgCodegenObject *objects) {
  struct stat info;
  EntryHead head;
  if (fstat(fd, &info) || !is_own_file(&info)) return false;
  uint64_t size_bytes = (uint64_t)info.st_size;
  uint8_t *entry = heap_alloc(cache->heap, size_bytes);
  if (!entry) return false;
  const uint8_t *found =
      read_all(fd, entry, size_bytes) ? check_entry(entry, size_bytes, key, &head) : NULL;
  bool ok = found && copy_objects(cache, request, &head, found, objects);
  if (ok) update_last_use(fd, &info);
  else free_objects(cache, objects);
  heap_free(cache->heap, entry);
  return ok;
}

bool cache_find(Cache *cache, const RgCodegenRequest *request,
                RgCodegenObject objects[RG_TARGET_COUNT]) {
  Key key;
  memset(objects, 0, sizeof *objects * RG_TARGET_COUNT);
  if (!cache || !make_key(cache, request, &key)) return false;
  bool ok = false;
  /* O_NONBLOCK: never blocks, even if the path is a pipe */
  int fd = open(key.path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (fd >= 0) {
    ok = read_entry(cache, fd, request, &key, objects);
    close(fd);
  }
  heap_free(cache->heap, key.bytes);
  return ok;
}

/* -- writing ----------------------------------------------------------------------------------- */

/* Creates `path` and its parents, accessible by the user only; what exists is left as it is. */
static void make_folders(const char *path) {
  char part[PATH_BYTES];
  snprintf(part, sizeof part, "%s", path);
  for (char *slash = strchr(part + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
    *slash = 0;
    (void)!mkdir(part, 0700);
    *slash = '/';
  }
  (void)!mkdir(part, 0700);
}

static bool write_all(int fd, const uint8_t *data, size_t size_bytes) {
  for (size_t done = 0; done < size_bytes;) {
    ssize_t count = write(fd, data + done, size_bytes - done);
    if (count <= 0) return false;
    done += (size_t)count;
  }
  return true;
}

/* Without fsync: the checksum detects files torn by a crash of the machine. */
static bool write_entry(const Key *key, const uint8_t *entry, size_t size_bytes) {
  char path[PATH_BYTES];
  if (snprintf(path, sizeof path, "%s/tmp.XXXXXX", key->folder) >= PATH_BYTES) return false;
  int fd = mkostemp(path, O_CLOEXEC);
  if (fd < 0) return false;
  bool ok = write_all(fd, entry, size_bytes);
  ok = !close(fd) && ok && !rename(path, key->path);
  if (!ok) unlink(path);
  return ok;
}

/* Prunes the folder if no process did so for a minute: the cost is small compared with a compile,
 * and the folder exceeds the limit by at most the entries that are written in a minute. */
static void prune_if_due(const Cache *cache) {
  char stamp[PATH_BYTES];
  struct stat info;
  snprintf(stamp, sizeof stamp, "%s/pruned", cache->folder);
  time_t age = stat(stamp, &info) ? PRUNE_SECONDS : time(NULL) - info.st_mtime;
  if (age >= 0 && age < PRUNE_SECONDS) return;
  int fd = open(stamp, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
  if (fd < 0) return;
  (void)!futimens(fd, NULL);
  close(fd);
  cache_prune(cache->heap, cache->folder, cache->limit_bytes);
}

void cache_store(Cache *cache, const RgCodegenRequest *request,
                 const RgCodegenObject objects[RG_TARGET_COUNT]) {
  Key key;
  if (!cache || !make_key(cache, request, &key)) return;
  EntryHead head = {.key_length = key.length};
  uint64_t size_bytes = sizeof head + key.length;
  for (int t = 0; t < RG_TARGET_COUNT; t++)
    size_bytes += head.object_lengths[t] = objects[t].bytes ? (uint64_t)objects[t].length : 0;
  uint8_t *entry = size_bytes <= ENTRY_LIMIT_BYTES ? heap_alloc(cache->heap, size_bytes) : NULL;
  if (entry) {
    uint8_t *contents = entry + sizeof head, *at = contents;
    append(&at, key.bytes, key.length);
    for (int t = 0; t < RG_TARGET_COUNT; t++) append(&at, objects[t].bytes, head.object_lengths[t]);
    memcpy(head.magic, entry_magic, sizeof head.magic);
    sha256(contents, size_bytes - sizeof head, head.digest);
    memcpy(entry, &head, sizeof head);
    make_folders(key.folder);
    if (write_entry(&key, entry, size_bytes)) prune_if_due(cache);
    heap_free(cache->heap, entry);
  }
  heap_free(cache->heap, key.bytes);
}
