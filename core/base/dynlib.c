/* dynlib.c - opening shared libraries; see dynlib.h. */
#include <dlfcn.h>
#include <elf.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/dynlib.h"

/* Does a file of `size` bytes have this range? */
static bool contains(uint64_t size, uint64_t from, uint64_t bytes) {
  return from <= size && bytes <= size - from;
}

/* Does the file have all the segments that the loader would map? */
static bool has_segments(FILE *file, const Elf64_Ehdr *head, uint64_t size) {
  for (int k = 0; k < head->e_phnum; k++) {
    Elf64_Phdr segment;
    if (fseek(file, (long)(head->e_phoff + (uint64_t)k * sizeof segment), SEEK_SET) ||
        fread(&segment, sizeof segment, 1, file) != 1)
      return false;
    if (segment.p_type == PT_LOAD && !contains(size, segment.p_offset, segment.p_filesz))
      return false;
  }
  return true;
}

/* False only for a truncated library; the loader itself refuses files of other kinds. */
static bool is_complete(FILE *file) {
  Elf64_Ehdr head;
  if (fread(&head, sizeof head, 1, file) != 1 || memcmp(head.e_ident, ELFMAG, SELFMAG) ||
      head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_phentsize != sizeof(Elf64_Phdr))
    return true;
  long end = fseek(file, 0, SEEK_END) ? -1 : ftell(file);
  uint64_t size = end > 0 ? (uint64_t)end : 0;
  return contains(size, head.e_phoff, (uint64_t)head.e_phnum * head.e_phentsize) &&
         contains(size, head.e_shoff, (uint64_t)head.e_shnum * head.e_shentsize) &&
         has_segments(file, &head, size);
}

void *dynlib_open(const char *path, int flags, const char **why) {
  FILE *file = strchr(path, '/') ? fopen(path, "rb") : NULL;
  bool may_open = !file || is_complete(file);
  if (file) fclose(file);
  if (!may_open) {
    *why = "the file is shorter than its headers say: it is truncated, or is still being copied";
    return NULL;
  }
  void *library = dlopen(path, flags);
  const char *reason = library ? "" : dlerror();
  *why = reason ? reason : "the system gives no reason";
  return library;
}
