/* share.c - see share.h. */
#include "comm/share.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bits.h"

/* -- which host -------------------------------------------------------------------------------- */

static uint64_t mix(uint64_t hash, const void *bytes, size_t size_bytes) { /* FNV-1a */
  for (size_t k = 0; k < size_bytes; k++)
    hash = (hash ^ ((const uint8_t *)bytes)[k]) * 0x100000001b3u;
  return hash;
}

uint64_t share_host(void) {
  static const char *const names[] = {"/proc/self/ns/pid", "/proc/self/ns/net"};
  uint64_t hash = 0xcbf29ce484222325u;
  char text[64];
  int file = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
  ssize_t length = file < 0 ? -1 : read(file, text, sizeof text);
  if (file >= 0) close(file);
  if (length > 0) hash = mix(hash, text, (size_t)length);
  for (int k = 0; k < 2; k++) {
    length = readlink(names[k], text, sizeof text);
    if (length > 0) hash = mix(hash, text, (size_t)length);
  }
  return hash;
}

/* -- addresses --------------------------------------------------------------------------------- */

bool share_reserve(Arena *range, uint64_t size_bytes, Error *err) {
  uint64_t total = size_bytes + ARENA_LARGE_PAGE;
  void *mapped = mmap(NULL, total, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED)
    return error_set(err, RG_ERROR_MEMORY,
                     "the system refuses %llu bytes of addresses for what ranks share (%s)",
                     (unsigned long long)size_bytes, strerror(errno));
  uint8_t *base = (uint8_t *)align_up((uint64_t)mapped, ARENA_LARGE_PAGE);
  uint64_t before = (uint64_t)(base - (uint8_t *)mapped);
  if (before) munmap(mapped, before);
  munmap(base + size_bytes, total - before - size_bytes);
  *range = (Arena){.base = base, .reserved = size_bytes};
  return true;
}

void share_release(Arena *range, uint64_t size_bytes) {
  if (range->base) munmap(range->base, size_bytes);
  *range = (Arena){0};
}

static uint8_t *map(uint8_t *at, uint64_t size_bytes, int file, int how, Error *err) {
  int flags = MAP_SHARED | MAP_NORESERVE | how;
  void *mapped = mmap(at, size_bytes, PROT_READ | PROT_WRITE, flags, file, 0);
  if (mapped != MAP_FAILED) return mapped;
  error_set(err, RG_ERROR_MEMORY, "the system refuses to map %llu shared bytes (%s)",
            (unsigned long long)size_bytes, strerror(errno));
  return NULL;
}

bool share_map(uint8_t *at, uint64_t size_bytes, int file, Error *err) {
  return map(at, size_bytes, file, MAP_FIXED, err);
}

uint8_t *share_map_anywhere(uint64_t size_bytes, int file, Error *err) {
  return map(NULL, size_bytes, file, 0, err);
}

bool share_is_mapped(const uint8_t *at, int file) {
  struct stat about;
  char line[512];
  bool is_there = false;
  FILE *maps = fstat(file, &about) ? NULL : fopen("/proc/self/maps", "re");
  if (!maps) return true; /* who knows: taken as it was */
  while (!is_there && fgets(line, sizeof line, maps)) {
    unsigned long long from, past, inode;
    if (sscanf(line, "%llx-%llx %*s %*s %*s %llu", &from, &past, &inode) != 3) continue;
    is_there = (uint64_t)at >= from && (uint64_t)at < past && inode == (uint64_t)about.st_ino;
  }
  fclose(maps);
  return is_there;
}

/* Where the system refuses even that, peers' memory stays readable there until the range goes. */
void share_unmap(uint8_t *at, uint64_t size_bytes) {
  (void)!mmap(at, size_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE,
              -1, 0);
}

/* -- files ------------------------------------------------------------------------------------- */

int share_create(uint64_t size_bytes, Error *err) {
  int file = memfd_create("regolith", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (file >= 0 && !ftruncate(file, (off_t)size_bytes)) {
    fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
    return file;
  }
  error_set(err, RG_ERROR_MEMORY, "the system refuses %llu bytes of shared memory (%s)",
            (unsigned long long)size_bytes, strerror(errno));
  if (file >= 0) close(file);
  return -1;
}

int share_create_growing(Error *err) {
  int file = memfd_create("regolith parcels", MFD_CLOEXEC);
  if (file < 0)
    error_set(err, RG_ERROR_MEMORY, "the system refuses shared memory (%s)", strerror(errno));
  return file;
}

int share_fetch(int32_t process, int32_t file, Error *err) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/fd/%d", process, file);
  int mine = open(path, O_RDWR | O_CLOEXEC);
  if (mine < 0)
    error_set(err, RG_ERROR_RANK, "the memory of process %d cannot be reached (%s)", process,
              strerror(errno));
  return mine;
}

/* -- moving pages ------------------------------------------------------------------------------ */

enum { STEP = 512 };          /* pages looked at together */
#define PAGE_HELD ((uint64_t)3 << 62) /* in memory, or swapped out: of /proc/self/pagemap */

static bool write_all(int file, const uint8_t *from, uint64_t size_bytes, uint64_t at) {
  while (size_bytes) {
    ssize_t written = pwrite(file, from, size_bytes, (off_t)at);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    from += written;
    at += (uint64_t)written;
    size_bytes -= (uint64_t)written;
  }
  return true;
}

/* Pages that were never written read zero, here as there; what the map does not tell is copied. */
static bool copy_pages(const uint8_t *from, uint64_t size_bytes, int file, int map) {
  uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), entries[STEP];
  for (uint64_t at = 0; at < size_bytes; at += STEP * page) {
    uint64_t left = (size_bytes - at + page - 1) / page, count = left < STEP ? left : STEP;
    size_t want = count * sizeof *entries;
    off_t place = (off_t)(((uint64_t)from + at) / page * sizeof *entries);
    bool is_known = map >= 0 && pread(map, entries, want, place) == (ssize_t)want;
    for (uint64_t k = 0; k < count; k++)
      if ((!is_known || entries[k] & PAGE_HELD) &&
          !write_all(file, from + at + k * page, page, at + k * page))
        return false;
  }
  return true;
}

bool share_move(uint8_t *from, uint64_t size_bytes, int file, Error *err) {
  int map = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
  bool ok = copy_pages(from, size_bytes, file, map);
  if (!ok)
    error_set(err, RG_ERROR_MEMORY, "the system has no shared memory left for %llu bytes (%s)",
              (unsigned long long)size_bytes, strerror(errno));
  if (map >= 0) close(map);
  return ok && share_map(from, size_bytes, file, err);
}
