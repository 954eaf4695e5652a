/* mman.h - memory by VirtualAlloc; see windows/memory.c. */
#ifndef RG_WINDOWS_MMAN_H
#define RG_WINDOWS_MMAN_H

#include <stddef.h>
#include <stdint.h>

enum { PROT_NONE = 0, PROT_READ = 1, PROT_WRITE = 2, PROT_EXEC = 4 };
enum { MAP_PRIVATE = 2, MAP_FIXED = 16, MAP_ANONYMOUS = 32, MAP_NORESERVE = 0x4000 };
#define MAP_FAILED ((void *)-1)
enum {
  MADV_DONTNEED = 4,
  MADV_REMOVE = 9,
  MADV_HUGEPAGE = 14,
  MADV_POPULATE_READ = 22,
  MADV_POPULATE_WRITE = 23
};
#define MADV_POPULATE_READ MADV_POPULATE_READ
enum { MFD_CLOEXEC = 1 };

void *mmap(void *address, size_t size_bytes, int protection, int flags, int file, int64_t offset);
int munmap(void *address, size_t size_bytes);
int mprotect(void *address, size_t size_bytes, int protection);
int madvise(void *address, size_t size_bytes, int advice);
int mincore(void *address, size_t size_bytes, unsigned char *is_resident);
/* A file without a name, which ends with its descriptor. */
int memfd_create(const char *name, unsigned flags);

#endif
