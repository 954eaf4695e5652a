/* object_test.c - objects for every target level become running code; anything malformed becomes an
 * error. usage: test_object FOLDER of the objects that CMake made */
#include <stdio.h>
#include <stdlib.h>

#include "check.h"
#include "loader/loader.h"

typedef struct File {
  uint8_t *bytes;
  int64_t length;
} File;

static File read_file(const char *name) {
  char path[1024];
  snprintf(path, sizeof path, "%s/%s", OBJECT_FOLDER, name);
  FILE *file = fopen(path, "rb");
  if (!file) return (File){0};
  fseek(file, 0, SEEK_END);
  File result = {NULL, ftell(file)};
  rewind(file);
  result.bytes = malloc((size_t)result.length);
  if (fread(result.bytes, 1, (size_t)result.length, file) != (size_t)result.length)
    result.length = 0;
  fclose(file);
  return result;
}

static Heap heap;

static bool runs_here(const char *level) {
  __builtin_cpu_init();
  if (!strcmp(level, "v3")) return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  if (!strcmp(level, "v4"))
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl");
  return true;
}

static void call_everything(const Code *code) {
  int (*inside)(int), (*count)(void), (*choose)(int, int, int), (*clear)(unsigned char *, int);
  float (*sine)(float);
  double (*power)(double);
  const char *(*name)(int);
  void (*scale)(float *, int, float);
  *(void **)&inside = code_find(code, "sample_inside");
  *(void **)&count = code_find(code, "sample_count");
  *(void **)&choose = code_find(code, "sample_switch");
  *(void **)&clear = code_find(code, "sample_clear");
  *(void **)&sine = code_find(code, "sample_sine");
  *(void **)&power = code_find(code, "sample_power");
  *(void **)&name = code_find(code, "sample_name");
  *(void **)&scale = code_find(code, "sample_scale");
  CHECK_INT(inside(4), 8 + 11);
  CHECK_INT(count(), 1);
  CHECK_INT(inside(4), 9 + 11);
  CHECK_INT(choose(2, 6, 7), 42);
  CHECK_INT(choose(6, 5, 1), 4);
  CHECK(sine(0.0f) == 1.25f);
  CHECK(power(2.0) == 8.0);
  CHECK_TEXT(name(2), "two");
  unsigned char bytes[8] = "abcdefg";
  CHECK_INT(clear(bytes, 7), 7);
  CHECK_INT(bytes[6], 0);
  float values[100];
  for (int i = 0; i < 100; i++) values[i] = (float)i;
  scale(values, 100, 2.0f);
  CHECK(values[99] == 198.125f);
}

static void levels(void) {
  static const char *const names[] = {"base", "v3", "v4"};
  for (int i = 0; i < 3; i++) {
    char file_name[64];
    snprintf(file_name, sizeof file_name, "sample_%s.o", names[i]);
    TEST("an object of every target level loads and runs") {
      File file = read_file(file_name);
      Error err = {0};
      Code *code = object_load(&heap, file.bytes, file.length, &err);
      CHECK_TEXT(err.message, "");
      if (code && runs_here(names[i])) call_everything(code);
      CHECK(code && code_find(code, "nobody") == NULL);
      code_destroy(code);
      free(file.bytes);
      CHECK_INT(heap.live_bytes, 0);
    }
    TEST("the whole runtime, compiled for every target level, asks for nothing that the loader "
         "lacks") {
      snprintf(file_name, sizeof file_name, "runtime_%s.o", names[i]);
      File file = read_file(file_name);
      Error err = {0};
      Code *code = object_load(&heap, file.bytes, file.length, &err);
      CHECK_TEXT(err.message, "");
      code_destroy(code);
      free(file.bytes);
    }
  }
}

static uint64_t random_state = 88172645463325252ull;
static uint64_t random_next(void) {
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  return random_state ^= random_state << 17;
}

static void malformed(void) {
  File good = read_file("sample_base.o");
  TEST("an object cut off anywhere is an error, never a crash") {
    for (int64_t length = 0; length < good.length; length += 7) {
      uint8_t *cut = malloc((size_t)length + 1);
      memcpy(cut, good.bytes, (size_t)length);
      Error err = {0};
      Code *code = object_load(&heap, cut, length, &err);
      CHECK(code || error_is_set(&err));
      code_destroy(code);
      free(cut);
    }
    CHECK_INT(heap.live_bytes, 0);
  }
  TEST("an object with changed bytes loads or is an error, never a crash") {
    uint8_t *changed = malloc((size_t)good.length);
    for (int round = 0; round < 4000; round++) {
      memcpy(changed, good.bytes, (size_t)good.length);
      int changes = 1 + (int)(random_next() % 4);
      for (int i = 0; i < changes; i++)
        changed[random_next() % (uint64_t)good.length] = (uint8_t)random_next();
      Error err = {0};
      Code *code = object_load(&heap, changed, good.length, &err);
      CHECK(code || !strcmp(error_code_text(err.code), "object.invalid") ||
            !strcmp(error_code_text(err.code), "memory.host"));
      code_destroy(code);
    }
    free(changed);
    CHECK_INT(heap.live_bytes, 0);
  }
  TEST("a failed allocation while loading is an error, and leaks nothing") {
    for (int fail_at = 1;; fail_at++) {
      Heap poor;
      heap_init(&poor, fail_at);
      Error err = {0};
      Code *code = object_load(&poor, good.bytes, good.length, &err);
      if (code) {
        code_destroy(code);
        break;
      }
      CHECK_TEXT(error_code_text(err.code), "memory.host");
      CHECK_INT(poor.live_bytes, 0);
    }
  }
  free(good.bytes);
  TEST("a name that is not in the list is refused, and named") {
    File file = read_file("forbidden.o");
    Error err = {0};
    CHECK(object_load(&heap, file.bytes, file.length, &err) == NULL);
    CHECK_TEXT(err.message, "compiled code calls 'system', which kernels may not call");
    free(file.bytes);
  }
}

int main(void) {
  heap_init(&heap, 0);
  levels();
  malformed();
  return check_report();
}
