/* share.c - see share.h. */
#include "comm/window/share.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/bits.h"

/* -- identifying the host ---------------------------------------------------------------------- */

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
                     "the system refuses %llu bytes of addresses for memory that ranks share (%s)",
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

static uint8_t *map_shared(uint8_t *at, uint64_t size_bytes, int file, int placement, Error *err) {
  int flags = MAP_SHARED | MAP_NORESERVE | placement;
  void *mapped = mmap(at, size_bytes, PROT_READ | PROT_WRITE, flags, file, 0);
  if (mapped != MAP_FAILED) return mapped;
  error_set(err, RG_ERROR_MEMORY, "the system refuses to map %llu shared bytes (%s)",
            (unsigned long long)size_bytes, strerror(errno));
  return NULL;
}

bool share_map(uint8_t *at, uint64_t size_bytes, int file, Error *err) {
  return map_shared(at, size_bytes, file, MAP_FIXED, err);
}

uint8_t *share_map_anywhere(uint64_t size_bytes, int file, Error *err) {
  return map_shared(NULL, size_bytes, file, 0, err);
}

typedef struct Mapping {
  uint64_t from, past, inode;
  dev_t device;
  bool is_readable, is_shared;
} Mapping;

/* Reads the next line of /proc/self/maps; false at the end. */
static bool next_mapping(FILE *maps, Mapping *mapping) {
  char line[512], rights[8];
  unsigned long long from, past, inode;
  unsigned major_number, minor_number;
  while (fgets(line, sizeof line, maps)) {
    if (sscanf(line, "%llx-%llx %7s %*s %x:%x %llu", &from, &past, rights, &major_number,
               &minor_number, &inode) != 6)
      continue; /* skip the rest of a long path */
    *mapping = (Mapping){
        from, past, inode, makedev(major_number, minor_number), rights[0] == 'r', rights[3] == 's'};
    return true;
  }
  return false;
}

typedef enum Answer { NO, YES, UNKNOWN } Answer;

static Answer is_mapped(const uint8_t *at, int file) {
  struct stat status;
  Mapping mapping;
  Answer answer = NO;
  FILE *maps = fstat(file, &status) ? NULL : fopen("/proc/self/maps", "re");
  if (!maps) return UNKNOWN;
  while (answer == NO && next_mapping(maps, &mapping))
    if ((uint64_t)at >= mapping.from && (uint64_t)at < mapping.past &&
        mapping.inode == (uint64_t)status.st_ino && mapping.device == status.st_dev)
      answer = YES;
  fclose(maps);
  return answer;
}

bool share_is_mapped(const uint8_t *at, int file) { return is_mapped(at, file) != NO; }

/* If the system refuses, peers' memory stays readable there until the range is released. */
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

int share_open_file(int32_t process, int32_t file, Error *err) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/fd/%d", process, file);
  int mine = open(path, O_RDWR | O_CLOEXEC);
  if (mine < 0)
    error_set(err, RG_ERROR_RANK, "the memory of process %d cannot be reached (%s)", process,
              strerror(errno));
  return mine;
}

/* -- pages into a file ------------------------------------------------------------------------- */

/* Which pages have contents? For private memory, /proc/self/pagemap shows it: a page that is
 * neither in memory nor swapped out was never written. For a mapped file it does not: pages not
 * touched since they were mapped look the same, as do those that only another process wrote. There,
 * every page is read. A page of zeros is not copied, since a hole in the file reads the same. */
enum { PAGES_PER_READ = 512 };        /* pages examined at a time */
#define PAGE_HELD ((uint64_t)3 << 62) /* in memory, or swapped out */

static uint64_t page_bytes(void) { return (uint64_t)sysconf(_SC_PAGESIZE); }

/* Reads or writes all bytes, as the system may transfer fewer in one call. */
typedef enum Direction { FROM_FILE, TO_FILE } Direction;
static bool transfer(Direction direction, int file, uint8_t *bytes, uint64_t size_bytes,
                     uint64_t at) {
  while (size_bytes) {
    ssize_t done = direction == TO_FILE ? pwrite(file, bytes, size_bytes, (off_t)at)
                                        : pread(file, bytes, size_bytes, (off_t)at);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return false;
    bytes += done;
    at += (uint64_t)done;
    size_bytes -= (uint64_t)done;
  }
  return true;
}

static bool is_zero(const uint8_t *bytes, uint64_t size_bytes) {
  return !bytes[0] && !memcmp(bytes, bytes + 1, size_bytes - 1);
}

/* Reading a hole of a mapped file allocates pages: such pages are freed immediately. */
static bool copy_mapped(uint8_t *base, uint8_t *from, const uint8_t *past, int file) {
  uint64_t page = page_bytes();
  for (; from < past; from += page) {
    if (is_zero(from, page)) arena_discard(from, page);
    else if (!transfer(TO_FILE, file, from, page, (uint64_t)(from - base))) return false;
  }
  return true;
}

static bool copy_private(const uint8_t *base, uint8_t *from, const uint8_t *past, int file,
                         int pagemap) {
  uint64_t page = page_bytes(), entries[PAGES_PER_READ];
  for (; from < past; from += PAGES_PER_READ * page) {
    uint64_t left = (uint64_t)(past - from) / page,
             count = left < PAGES_PER_READ ? left : PAGES_PER_READ;
    size_t want = count * sizeof *entries;
    off_t place = (off_t)((uint64_t)from / page * sizeof *entries);
    bool is_known = pagemap >= 0 && pread(pagemap, entries, want, place) == (ssize_t)want;
    for (uint64_t k = 0; k < count; k++) {
      uint8_t *at = from + k * page;
      if ((!is_known || entries[k] & PAGE_HELD) && !is_zero(at, page) &&
          !transfer(TO_FILE, file, at, page, (uint64_t)(at - base)))
        return false;
    }
  }
  return true;
}

/* Skips inaccessible memory, which has addresses only. Without a list of mappings, reads
 * everything. */
static bool copy_pages(uint8_t *base, uint64_t size_bytes, int file) {
  FILE *maps = fopen("/proc/self/maps", "re");
  if (!maps) return copy_mapped(base, base, base + size_bytes, file);
  int pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
  Mapping mapping;
  bool ok = true;
  while (ok && next_mapping(maps, &mapping)) {
    uint8_t *from = (uint8_t *)mapping.from, *past = (uint8_t *)mapping.past;
    if (from < base) from = base;
    if (past > base + size_bytes) past = base + size_bytes;
    if (from >= past || !mapping.is_readable) continue;
    bool is_private = !mapping.is_shared && !mapping.inode;
    ok = is_private ? copy_private(base, from, past, file, pagemap)
                    : copy_mapped(base, from, past, file);
  }
  if (pagemap >= 0) close(pagemap);
  fclose(maps);
  return ok;
}

bool share_move(uint8_t *from, uint64_t size_bytes, int file, Error *err) {
  return copy_pages(from, size_bytes, file)
             ? share_map(from, size_bytes, file, err)
             : error_set(err, RG_ERROR_MEMORY,
                         "the system has no shared memory left for %llu bytes (%s)",
                         (unsigned long long)size_bytes, strerror(errno));
}

/* -- pages out of a file ----------------------------------------------------------------------- */

enum { BOUNCE = 1 << 20 };

static bool map_private(uint8_t *at, uint64_t size_bytes) {
  const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE;
  return mmap(at, size_bytes, PROT_READ | PROT_WRITE, flags, -1, 0) != MAP_FAILED;
}

/* Frees each part in the file once it is copied, so that memory is not used twice. */
static bool copy_part(uint8_t *base, uint64_t at, uint64_t size_bytes, int file, uint8_t *bounce) {
  if (!transfer(FROM_FILE, file, bounce, size_bytes, at) || !map_private(base + at, size_bytes))
    return false;
  memcpy(base + at, bounce, size_bytes);
  fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)at, (off_t)size_bytes);
  return true;
}

void share_make_private(uint8_t *base, uint64_t size_bytes, int file) {
  if (is_mapped(base, file) != YES) return;
  void *bounce = mmap(NULL, BOUNCE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  bool ok = bounce != MAP_FAILED;
  for (uint64_t at = 0; ok && at < size_bytes;) {
    off_t data = lseek(file, (off_t)at, SEEK_DATA);
    if (data < 0 && errno != ENXIO) break;
    uint64_t from = data < 0 ? size_bytes : (uint64_t)data;
    if (from > at) ok = map_private(base + at, from - at);
    off_t hole = ok && from < size_bytes ? lseek(file, data, SEEK_HOLE) : (off_t)from;
    for (at = from; ok && at < (uint64_t)hole;) {
      uint64_t left = (uint64_t)hole - at, part = left < BOUNCE ? left : BOUNCE;
      ok = copy_part(base, at, part, file, bounce);
      at += part;
    }
  }
  if (bounce != MAP_FAILED) munmap(bounce, BOUNCE);
}
