/* memory_share.c - physical memory that processes share, as files:
 *
 *     | bytes .. | a shadow bit per byte .. | a page: its owner |
 *     0          size                       size + size / 8
 *
 * All processes that map it have the same shadow bits: a kernel of one may read what a kernel of
 * another wrote. Concurrent updates by two processes are not atomic, unlike on a GPU: tests need a
 * barrier between them. */
#include "memory.h"
#include "memory_parts.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "option.h"

typedef struct Owner {
  char word[24];
  uint64_t size;
  long gpu;
} Owner;
static const char word[24] = "memory of a device";

static off_t owner_at(uint64_t size) { return (off_t)(size + size / 8); }

int share_create(uint64_t size) {
  Owner owner = {.size = size, .gpu = options.gpu + memory.device};
  memcpy(owner.word, word, sizeof word);
  int file = memfd_create("shared device memory", MFD_CLOEXEC);
  if (file >= 0 && !ftruncate(file, owner_at(size)) &&
      pwrite(file, &owner, sizeof owner, owner_at(size)) == sizeof owner)
    return file;
  if (file >= 0) close(file);
  return -1;
}

uint64_t share_size(int file, bool *is_hidden) {
  struct stat about;
  Owner owner;
  if (fstat(file, &about) || about.st_size < (off_t)sizeof owner) return 0;
  if (pread(file, &owner, sizeof owner, about.st_size - (off_t)sizeof owner) != sizeof owner ||
      memcmp(owner.word, word, sizeof word))
    return 0;
  *is_hidden = owner.gpu != options.gpu + memory.device && !options.peers;
  return owner.size;
}

static char *shadow_at(uint64_t address) {
  return (char *)memory.shadow + (address - DEVICE_BASE) / 8;
}

bool share_shadow(uint64_t address, uint64_t size, int file) {
  if (mmap(shadow_at(address), size / 8, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file,
           (off_t)size) == MAP_FAILED)
    return false;
  memset(memory.states + (address - DEVICE_BASE) / MEMORY_BLOCK, BLOCK_SETTLED,
         size / MEMORY_BLOCK);
  return true;
}

void share_end_shadow(uint64_t address, uint64_t size) {
  mmap(shadow_at(address), size / 8, PROT_READ | PROT_WRITE,
       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
  memory_set_fresh(address, size);
}
