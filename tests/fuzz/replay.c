/* replay.c - runs every kept input of a target once: inputs that crashed it before, and its seeds.
 * A crash ends the program without its count, which the suite treats as a failure. */
#include <dirent.h>

#include "check.h"
#include "fuzz.h"

enum { LARGEST_INPUT = 1 << 20 };

static void replay(const char *folder, const char *name) {
  static uint8_t bytes[LARGEST_INPUT];
  char path[1024];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "rb");
  if (!file) {
    check_fail(__FILE__, __LINE__, path);
    return;
  }
  size_t size = fread(bytes, 1, sizeof bytes, file);
  fclose(file);
  uint8_t *exact = malloc(size ? size : 1); /* so that a sanitizer sees its end */
  memcpy(exact, bytes, size);
  CHECK(LLVMFuzzerTestOneInput(exact, size) == 0);
  free(exact);
}

int main(void) {
  int count = 0;
  DIR *folder = opendir(CORPUS);
  TEST("the kept inputs are harmless") {
    for (const struct dirent *entry; folder && (entry = readdir(folder));) {
      if (entry->d_name[0] == '.') continue;
      replay(CORPUS, entry->d_name);
      count++;
    }
    CHECK(count > 0);
  }
  if (folder) closedir(folder);
  return check_report();
}
