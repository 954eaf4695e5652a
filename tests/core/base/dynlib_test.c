/* dynlib_test.c - shared libraries that are cut short. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/dynlib.h"
#include "check.h"

static char bytes[4 << 20];
static size_t size;
static char path[] = "/tmp/dynlib_test_XXXXXX";

/* The first `length` bytes of a library, as a file of its own. */
static void write_part(size_t length) {
  FILE *file = fopen(path, "wb");
  CHECK(file && fwrite(bytes, 1, length, file) == length);
  if (file) fclose(file);
}

/* Of the C library's mathematics. */
static void read_library(void) {
  Dl_info info;
  void *library = dlopen("libm.so.6", RTLD_NOW);
  CHECK(library && dladdr(dlsym(library, "cos"), &info));
  FILE *file = fopen(info.dli_fname, "rb");
  size = file ? fread(bytes, 1, sizeof bytes, file) : 0;
  CHECK(size > 100000 && size < sizeof bytes);
  if (file) fclose(file);
}

int main(void) {
  const char *why;
  read_library();
  close(mkstemp(path));
  TEST("a library that is cut short is refused, and does not end the process") {
    for (size_t part = 1; part < 64; part++) {
      write_part(size * part / 64);
      CHECK(!dynlib_open(path, RTLD_NOW | RTLD_LOCAL, &why));
      CHECK(strstr(why, "shorter than its headers say") != NULL);
    }
    write_part(size - 1);
    CHECK(!dynlib_open(path, RTLD_NOW | RTLD_LOCAL, &why));
  }
  TEST("a file that is not a library is refused by the system") {
    for (size_t length = 0; length < 64; length += 16) {
      write_part(length);
      CHECK(!dynlib_open(path, RTLD_NOW | RTLD_LOCAL, &why) && why[0]);
    }
    CHECK(!dynlib_open("/nowhere/at.so", RTLD_NOW | RTLD_LOCAL, &why) && why[0]);
  }
  TEST("a complete library is opened, by a path or by a name") {
    write_part(size);
    CHECK(dynlib_open(path, RTLD_NOW | RTLD_LOCAL, &why) != NULL);
    CHECK(dynlib_open("libm.so.6", RTLD_NOW | RTLD_LOCAL, &why) != NULL);
  }
  unlink(path);
  return check_report();
}
