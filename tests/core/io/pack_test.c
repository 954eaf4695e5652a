/* pack_test.c - packed files: complete, or not there; and their checksum. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "io/checksum.h"
#include "io/pack.h"

static const PackFormat format = {.magic = "\x89TESTER", .version = 3, .what = "parcel"};
static Heap heap;
static char folder[] = "/tmp/rg_pack_XXXXXX", path[64];

static uint64_t sum(const char *text, size_t piece) {
  Checksum checksum;
  checksum_init(&checksum);
  for (size_t at = 0, length = strlen(text); at < length; at += piece)
    checksum_add(&checksum, text + at, length - at < piece ? length - at : piece);
  return checksum_end(&checksum);
}

static bool write_parcel(const char *text, PackPart *part, Error *err) {
  Packer *packer = pack_create(&heap, path, &format, err);
  if (!packer) return false;
  pack_write(packer, text, strlen(text));
  *part = pack_end_part(packer);
  pack_write(packer, "directory", 9);
  return pack_finish(packer, err);
}

static bool read_parcel(char *directory, Error *err) {
  Unpacker *unpacker = unpack_open(&heap, path, &format, err);
  bool ok = unpacker && unpack_read(unpacker, directory, 9, err);
  unpack_close(unpacker);
  return ok;
}

static size_t load(uint8_t *bytes, size_t size) {
  FILE *file = fopen(path, "rb");
  size_t count = fread(bytes, 1, size, file);
  fclose(file);
  return count;
}

static void store(const uint8_t *bytes, size_t size) {
  FILE *file = fopen(path, "wb");
  fwrite(bytes, 1, size, file);
  fclose(file);
}

static int files_in_folder(void) {
  char command[128];
  int count = 0;
  snprintf(command, sizeof command, "ls -A %s | wc -l", folder);
  FILE *list = popen(command, "r");
  if (fscanf(list, "%d", &count) != 1) count = -1;
  pclose(list);
  return count;
}

static void checksums(void) {
  TEST("the checksum is XXH64, in pieces of any size") {
    const char *text = "Nobody inspects the spammish repetition";
    CHECK(sum("", 1) == 0xef46db3751d8e999u);
    CHECK(sum("abc", 1) == 0x44bc2cf5ad770999u);
    CHECK(sum(text, 100) == 0xfbcea83c8a378bf1u);
    for (size_t piece = 1; piece < 40; piece++) CHECK(sum(text, piece) == sum(text, 100));
  }
}

static void whole(void) {
  Error err;
  PackPart part;
  char directory[10] = "", text[10] = "";
  TEST("the parts and the directory of a file are read as they were written") {
    error_clear(&err);
    CHECK(write_parcel("contents", &part, &err));
    CHECK(read_parcel(directory, &err));
    CHECK_TEXT(directory, "directory");
    Unpacker *unpacker = unpack_open(&heap, path, &format, &err);
    CHECK(unpack_seek(unpacker, part, &err) && unpack_read(unpacker, text, 8, &err));
    CHECK_TEXT(text, "contents");
    CHECK(unpack_is_at_end(unpacker));
    CHECK(!unpack_read(unpacker, text, 1, &err));
    CHECK(!unpack_seek(unpacker, (PackPart){part.offset, 1000}, &err));
    unpack_close(unpacker);
  }
  TEST("a file keeps its permissions, and one behind a link is replaced there") {
    char link[80];
    struct stat what;
    snprintf(link, sizeof link, "%s/link", folder);
    CHECK(chmod(path, 0640) == 0 && symlink(path, link) == 0);
    error_clear(&err);
    Packer *packer = pack_create(&heap, link, &format, &err);
    CHECK(packer && pack_finish(packer, &err));
    CHECK(lstat(link, &what) == 0 && S_ISLNK(what.st_mode));
    CHECK(stat(path, &what) == 0 && (what.st_mode & 0777) == 0640);
    unlink(link);
  }
}

static void altered(void) {
  Error err;
  PackPart part;
  char directory[10];
  uint8_t bytes[400];
  error_clear(&err);
  write_parcel("some contents, in which every byte counts", &part, &err);
  size_t size = load(bytes, sizeof bytes);
  TEST("a file with any byte altered is refused") {
    for (size_t k = 0; k < size; k++)
      for (int by = 1; by < 256; by *= 2) {
        bytes[k] ^= (uint8_t)by;
        store(bytes, size);
        error_clear(&err);
        CHECK(!read_parcel(directory, &err) && err.code == RG_ERROR_IO && err.message[0]);
        bytes[k] ^= (uint8_t)by;
      }
  }
  TEST("a file of another length is refused") {
    for (size_t k = 0; k < size; k++) {
      store(bytes, k);
      error_clear(&err);
      CHECK(!read_parcel(directory, &err) && err.code == RG_ERROR_IO);
    }
    bytes[size] = 0;
    store(bytes, size + 1);
    error_clear(&err);
    CHECK(!read_parcel(directory, &err));
  }
}

static void crashes(void) {
  Error err;
  PackPart part;
  char directory[10] = "";
  error_clear(&err);
  TEST("a crash in the middle leaves the old file") {
    CHECK(write_parcel("before", &part, &err));
    pid_t child = fork();
    if (!child) {
      Packer *packer = pack_create(&heap, path, &format, &err);
      for (int k = 0; packer && k < 100000; k++) pack_write(packer, &k, sizeof k);
      _exit(1);
    }
    waitpid(child, NULL, 0);
    CHECK(read_parcel(directory, &err));
    CHECK(files_in_folder() == 2);             /* and the file that the other one had begun */
    CHECK(write_parcel("after", &part, &err)); /* whose name does not collide */
  }
  TEST("a file that is abandoned leaves nothing on disk") {
    int before = files_in_folder();
    pack_abandon(pack_create(&heap, path, &format, &err));
    CHECK(files_in_folder() == before);
    CHECK(read_parcel(directory, &err));
  }
  TEST("a full disk is an error, and the old file is intact") {
    error_clear(&err);
    Packer *packer = pack_create(&heap, "/dev/full/x", &format, &err);
    CHECK(!packer && err.code == RG_ERROR_IO);
  }
}

int main(void) {
  heap_init(&heap, 0);
  if (!mkdtemp(folder)) return 1;
  snprintf(path, sizeof path, "%s/parcel", folder);
  checksums();
  whole();
  altered();
  crashes();
  char command[64];
  snprintf(command, sizeof command, "rm -r %s", folder);
  if (system(command)) return 1;
  return check_report();
}
