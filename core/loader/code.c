/* code.c - the functions of a loaded object; see code.h. With RG_PERF=1 it lists them in
 * /tmp/perf-PID.map, which `perf` reads. */
#include "loader/code.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/option.h"

typedef struct Function {
  char *name;
  void *address;
} Function;

struct Code {
  Heap *heap;
  void *memory;
  uint64_t size_bytes;
  Function *functions;
  int function_count, function_capacity;
  Code *next; /* of the same bundle */
};

Code *code_create(Heap *heap, void *memory, uint64_t size_bytes) {
  Code *code = heap_alloc(heap, sizeof *code);
  if (!code) return NULL;
  code->heap = heap;
  code->memory = memory;
  code->size_bytes = size_bytes;
  return code;
}

static void write_perf_map(const char *name, void *address, uint64_t size_bytes) {
  char path[64];
  snprintf(path, sizeof path, "/tmp/perf-%d.map", (int)getpid());
  /* any user may write to /tmp: do not follow a link there, or write to another user's file */
  int descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
  struct stat about;
  bool is_ours = descriptor >= 0 && !fstat(descriptor, &about) && S_ISREG(about.st_mode) &&
                 about.st_uid == geteuid() && about.st_nlink == 1;
  FILE *file = is_ours ? fdopen(descriptor, "a") : NULL;
  if (!file && descriptor >= 0) close(descriptor);
  if (!file) return;
  fprintf(file, "%llx %llx %s\n", (unsigned long long)(uintptr_t)address,
          (unsigned long long)size_bytes, name);
  fclose(file);
}

bool code_add(Code *code, const char *name, void *address, uint64_t size_bytes) {
  if (code->function_count == code->function_capacity) {
    int capacity = code->function_capacity ? code->function_capacity * 2 : 8;
    Function *grown = heap_resize(code->heap, code->functions, sizeof *grown * (size_t)capacity);
    if (!grown) return false;
    code->functions = grown;
    code->function_capacity = capacity;
  }
  char *copy = heap_copy_text(code->heap, name);
  if (!copy) return false;
  code->functions[code->function_count++] = (Function){copy, address};
  if (option_text("RG_PERF")[0] == '1') write_perf_map(name, address, size_bytes);
  return true;
}

void *code_find(const Code *code, const char *symbol) {
  for (; code; code = code->next)
    for (int i = 0; i < code->function_count; i++)
      if (!strcmp(code->functions[i].name, symbol)) return code->functions[i].address;
  return NULL;
}

Code *code_join(Code *code, Code *others) {
  code->next = others;
  return code;
}

static void destroy_one(Code *code) {
  for (int i = 0; i < code->function_count; i++) heap_free(code->heap, code->functions[i].name);
  heap_free(code->heap, code->functions);
  munmap(code->memory, code->size_bytes);
  heap_free(code->heap, code);
}

void code_destroy(Code *code) {
  for (Code *next; code; code = next) {
    next = code->next;
    destroy_one(code);
  }
}

Code *object_load(Heap *heap, const uint8_t *object, int64_t length, Error *err) {
  ObjectPart parts[OBJECT_MAX_PARTS];
  int count = object_parts(object, length, parts);
  Code *code = NULL;
  if (!count)
    error_set(err, RG_ERROR_OBJECT, "compiled code is invalid: its objects are truncated");
  for (int k = 0; k < count; k++) {
    Code *next = object_load_elf(heap, parts[k].bytes, parts[k].length, err);
    if (!next) {
      code_destroy(code);
      return NULL;
    }
    code = code_join(next, code);
  }
  return code;
}
