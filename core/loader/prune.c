/* prune.c - measures, prunes and clears the cache's folder; cache.c describes its contents. Several
 * processes may prune at once, while others read and write: a file that is already gone is not a
 * failure, and a reader keeps what it has open. A folder may hold foreign files (RG_CACHE can be
 * any): only files named like entries, in folders named like builds, are ever touched. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "loader/cache.h"

enum { NAME_DIGITS = 32, NAME_BYTES = 2 * NAME_DIGITS + 2, LEFTOVER_SECONDS = 3600 };

typedef struct Entry {
  struct timespec used;
  uint64_t size_bytes;
  char name[NAME_BYTES]; /* build/entry */
} Entry;

typedef struct Listing {
  Heap *heap;
  int folder; /* open */
  Entry *entries;
  size_t count, capacity;
  uint64_t size_bytes;
  time_t leftover_seconds; /* temporary files older than this are deleted; -1: none */
} Listing;

static bool is_hex_name(const char *name) {
  return strlen(name) == NAME_DIGITS && strspn(name, "0123456789abcdef") == NAME_DIGITS;
}
static bool is_leftover(const char *name) {
  return strlen(name) == 10 && !strncmp(name, "tmp.", 4);
}

static bool add_entry(Listing *listing, const Entry *entry) {
  if (listing->count == listing->capacity) {
    size_t capacity = listing->capacity ? 2 * listing->capacity : 256;
    Entry *grown = heap_resize(listing->heap, listing->entries, sizeof *grown * capacity);
    if (!grown) return false;
    listing->entries = grown;
    listing->capacity = capacity;
  }
  listing->entries[listing->count++] = *entry;
  listing->size_bytes += entry->size_bytes;
  return true;
}

static bool visit_file(Listing *listing, int build, const char *build_name, const char *name) {
  struct stat info;
  Entry entry;
  if (!is_hex_name(name) && !is_leftover(name)) return true;
  if (fstatat(build, name, &info, AT_SYMLINK_NOFOLLOW) || !S_ISREG(info.st_mode)) return true;
  if (is_leftover(name)) {
    time_t limit = listing->leftover_seconds;
    if (limit >= 0 && time(NULL) - info.st_mtime >= limit) (void)!unlinkat(build, name, 0);
    return true;
  }
  entry.used = info.st_mtim;
  entry.size_bytes = (uint64_t)info.st_blocks * 512; /* its size on disk */
  snprintf(entry.name, sizeof entry.name, "%s/%s", build_name, name);
  return add_entry(listing, &entry);
}

/* Calls visit for each name in an open folder; closes it. */
typedef bool NameVisit(Listing *listing, int folder, const char *folder_name, const char *name);
static bool each_name(Listing *listing, int folder, const char *folder_name, NameVisit *visit) {
  DIR *names = folder < 0 ? NULL : fdopendir(folder);
  if (!names) {
    if (folder >= 0) close(folder);
    return true;
  }
  bool ok = true;
  for (struct dirent *row; ok && (row = readdir(names));)
    ok = visit(listing, folder, folder_name, row->d_name);
  closedir(names);
  return ok;
}

static int open_folder(int at, const char *name) {
  return openat(at, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
}

static bool visit_build(Listing *listing, int folder, const char *folder_name, const char *name) {
  return !is_hex_name(name) || each_name(listing, open_folder(folder, name), name, visit_file);
}

static int by_use(const void *a, const void *b) {
  const Entry *x = a, *y = b;
  if (x->used.tv_sec != y->used.tv_sec) return x->used.tv_sec < y->used.tv_sec ? -1 : 1;
  if (x->used.tv_nsec != y->used.tv_nsec) return x->used.tv_nsec < y->used.tv_nsec ? -1 : 1;
  return strcmp(x->name, y->name);
}

/* The folder of a build is removed with its last entry; while there are any, the call does
 * nothing. */
static bool remove_entry(Listing *listing, Entry *entry) {
  bool is_gone = !unlinkat(listing->folder, entry->name, 0) || errno == ENOENT;
  entry->name[NAME_DIGITS] = 0;
  (void)!unlinkat(listing->folder, entry->name, AT_REMOVEDIR);
  return is_gone;
}

/* Lists the entries of all builds. False: some or all could not be listed. */
static bool list_entries(Listing *listing, Heap *heap, const char *folder,
                         time_t leftover_seconds) {
  *listing = (Listing){.heap = heap, .leftover_seconds = leftover_seconds};
  listing->folder = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  return listing->folder >= 0 &&
         each_name(listing, open_folder(listing->folder, "."), "", visit_build);
}
static void free_listing(Listing *listing) {
  heap_free(listing->heap, listing->entries);
  if (listing->folder >= 0) close(listing->folder);
}

void cache_prune(Heap *heap, const char *folder, uint64_t limit_bytes) {
  Listing listing;
  if (list_entries(&listing, heap, folder, LEFTOVER_SECONDS) && listing.size_bytes > limit_bytes) {
    uint64_t remaining_bytes = listing.size_bytes;
    qsort(listing.entries, listing.count, sizeof *listing.entries, by_use);
    for (size_t k = 0; k < listing.count && remaining_bytes > limit_bytes / 4 * 3; k++) {
      remaining_bytes -= listing.entries[k].size_bytes;
      (void)remove_entry(&listing, &listing.entries[k]);
    }
  }
  free_listing(&listing);
}

CacheContents cache_measure(Heap *heap, const char *folder) {
  Listing listing;
  (void)list_entries(&listing, heap, folder, -1);
  CacheContents contents = {.entry_count = listing.count, .size_bytes = listing.size_bytes};
  free_listing(&listing);
  return contents;
}

uint64_t cache_empty(Heap *heap, const char *folder) {
  Listing listing;
  uint64_t left = 0;
  (void)list_entries(&listing, heap, folder, 0);
  for (size_t k = 0; k < listing.count; k++) left += !remove_entry(&listing, &listing.entries[k]);
  free_listing(&listing);
  return left;
}
