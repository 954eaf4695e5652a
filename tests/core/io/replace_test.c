/* replace_test.c - files that replace others, as a whole or not at all. */
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "io/replace.h"

static char folder[] = "/tmp/rg_replace_XXXXXX", path[64], other[64];

static bool has_bytes(const char *name, const char *bytes) {
  char found[64] = {0};
  FILE *file = fopen(name, "rb");
  if (!file) return false;
  size_t count = fread(found, 1, sizeof found - 1, file);
  fclose(file);
  return count == strlen(bytes) && !strcmp(found, bytes);
}

static bool put(Replacement *out, const char *bytes, Error *err) {
  FILE *stream = replace_begin(out, "text", path, err) ? replace_stream(out, err) : NULL;
  return stream && fputs(bytes, stream) >= 0;
}

int main(void) {
  Replacement out;
  Error err = {0};
  if (!mkdtemp(folder)) return 1;
  snprintf(path, sizeof path, "%s/x.txt", folder);
  snprintf(other, sizeof other, "%s/link.txt", folder);
  TEST("a file appears when it is complete, with the extension of its path until then") {
    CHECK(put(&out, "one", &err));
    CHECK(access(path, F_OK) && strstr(out.temporary, ".tmp.txt") && !access(out.temporary, F_OK));
    CHECK(replace_end(&out, &err) && has_bytes(path, "one") && !out.temporary[0]);
  }
  TEST("an abandoned replacement leaves the old file, and no temporary file") {
    CHECK(put(&out, "two", &err));
    replace_abandon(&out);
    CHECK(has_bytes(path, "one") && !unlink(path) && !rmdir(folder) && !mkdir(folder, 0700));
  }
  TEST("permissions are kept, and links are followed") {
    CHECK(put(&out, "one", &err) && replace_end(&out, &err));
    CHECK(!chmod(path, 0640) && !symlink(path, other));
    char kept[64];
    memcpy(kept, path, sizeof kept);
    memcpy(path, other, sizeof path);
    CHECK(put(&out, "three", &err) && replace_end(&out, &err));
    memcpy(path, kept, sizeof path);
    struct stat info;
    CHECK(!lstat(other, &info) && S_ISLNK(info.st_mode) && has_bytes(path, "three"));
    CHECK(!stat(path, &info) && (info.st_mode & 0777) == 0640);
    unlink(other);
    unlink(path);
  }
  TEST("a FIFO and a folder are refused by name") {
    CHECK(!mkfifo(path, 0600) && !put(&out, "", &err));
    CHECK(err.code == RG_ERROR_IO && strstr(err.message, "it is a FIFO, not a file"));
    error_clear(&err);
    CHECK_TEXT(replace_kind(path), "a FIFO");
    unlink(path);
    CHECK(!mkdir(path, 0700) && !put(&out, "", &err));
    CHECK(strstr(err.message, "it is a folder, not a file") && !rmdir(path) && !rmdir(folder));
    CHECK(!replace_kind(path));
  }
  return check_report();
}
