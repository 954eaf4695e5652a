/* pack.c - writes packed files: see pack.h. */
#include "io/pack.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/checksum.h"
#include "io/zstd_library.h"

enum { ROOM = 1 << 18, LEVEL = 1 };

struct Packer {
  Heap *heap;
  ZstdLibrary zstd;
  ZSTD_CCtx *context;
  PackFormat format;
  char path[PATH_MAX], temporary[PATH_MAX + 32];
  int file;            /* -1: not open */
  uint64_t length;     /* of the file so far */
  uint64_t part_begin;
  Checksum checksum;
  Error error;         /* the first failure */
  uint8_t out[ROOM];
};

static bool fail(Packer *packer, const char *why) {
  return error_set(&packer->error, RG_ERROR_IO, "%s '%.160s' cannot be written: %s",
                   packer->format.what, packer->path, why);
}

static void put(Packer *packer, const void *bytes, size_t size) {
  const uint8_t *at = bytes;
  checksum_add(&packer->checksum, bytes, size);
  packer->length += size;
  while (size && !error_is_set(&packer->error)) {
    ssize_t written = write(packer->file, at, size);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail(packer, strerror(errno));
    else at += written, size -= (size_t)written;
  }
}

static void compress(Packer *packer, const void *bytes, size_t size, ZSTD_EndDirective how) {
  ZSTD_inBuffer in = {bytes, size, 0};
  size_t left = 1;
  while (!error_is_set(&packer->error) && (how == ZSTD_e_end ? left > 0 : in.pos < in.size)) {
    ZSTD_outBuffer out = {packer->out, sizeof packer->out, 0};
    left = packer->zstd.ZSTD_compressStream2(packer->context, &out, &in, how);
    if (packer->zstd.ZSTD_isError(left)) fail(packer, packer->zstd.ZSTD_getErrorName(left));
    else put(packer, packer->out, out.pos);
  }
}

/* Beside the file that is to be, or that a link there leads to. */
static bool open_file(Packer *packer, const char *path) {
  if (strlen(path) >= PATH_MAX) {
    snprintf(packer->path, sizeof packer->path, "%.150s..", path);
    return fail(packer, strerror(ENAMETOOLONG));
  }
  if (!realpath(path, packer->path)) snprintf(packer->path, sizeof packer->path, "%s", path);
  for (int k = 0; packer->file < 0 && k < 100; k++) {
    snprintf(packer->temporary, sizeof packer->temporary, "%s.%ld-%d.tmp", packer->path,
             (long)getpid(), k);
    packer->file = open(packer->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (packer->file < 0 && errno != EEXIST) break;
  }
  if (packer->file >= 0) return true;
  packer->temporary[0] = 0;
  return fail(packer, strerror(errno));
}

static bool open_unnamed(Packer *packer) {
  snprintf(packer->path, sizeof packer->path, "in memory");
  packer->file = memfd_create("regolith", MFD_CLOEXEC);
  return packer->file >= 0 || fail(packer, strerror(errno));
}

/* NULL: in memory. */
static bool begin(Packer *packer, const char *path) {
  uint32_t head[2] = {packer->format.version, 0};
  if (!(path ? open_file(packer, path) : open_unnamed(packer))) return false;
  packer->context = packer->zstd.ZSTD_createCCtx();
  if (!packer->context)
    return error_set(&packer->error, RG_ERROR_MEMORY, "the host has no memory left for a %s",
                     packer->format.what);
  packer->zstd.ZSTD_CCtx_setParameter(packer->context, ZSTD_c_compressionLevel, LEVEL);
  put(packer, packer->format.magic, sizeof packer->format.magic);
  put(packer, head, sizeof head);
  packer->part_begin = packer->length;
  return true;
}

static Packer *create(Heap *heap, const char *path, const PackFormat *format, Error *err) {
  Packer *packer = heap_alloc(heap, sizeof *packer);
  if (!packer) {
    error_set(err, RG_ERROR_MEMORY, "the host has no memory left for a %s", format->what);
    return NULL;
  }
  packer->heap = heap;
  packer->format = *format;
  packer->file = -1;
  checksum_init(&packer->checksum);
  if (zstd_library_open(&packer->zstd, &packer->error) && begin(packer, path)) return packer;
  error_add(err, &packer->error);
  pack_abandon(packer);
  return NULL;
}

Packer *pack_create(Heap *heap, const char *path, const PackFormat *format, Error *err) {
  return create(heap, path, format, err);
}

Packer *pack_create_unnamed(Heap *heap, const PackFormat *format, Error *err) {
  return create(heap, NULL, format, err);
}

void pack_write(Packer *packer, const void *bytes, size_t size) {
  compress(packer, bytes, size, ZSTD_e_continue);
}

PackPart pack_end_part(Packer *packer) {
  compress(packer, NULL, 0, ZSTD_e_end);
  PackPart part = {packer->part_begin, packer->length - packer->part_begin};
  packer->part_begin = packer->length;
  return part;
}

static void put_end(Packer *packer) {
  PackPart directory = pack_end_part(packer);
  put(packer, &directory, sizeof directory);
  uint64_t checksum = checksum_end(&packer->checksum);
  put(packer, &checksum, sizeof checksum);
}

/* So that the new name outlives a loss of power, too; not every file system can. */
static void settle_folder(const char *path) {
  char folder[PATH_MAX];
  snprintf(folder, sizeof folder, "%s", path);
  char *slash = strrchr(folder, '/');
  if (slash) slash[slash == folder] = 0;
  int file = open(slash ? folder : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (file < 0) return;
  fsync(file);
  close(file);
}

/* What was there keeps its permissions. */
static void publish(Packer *packer) {
  struct stat before;
  if (stat(packer->path, &before) == 0) fchmod(packer->file, before.st_mode & 07777);
  bool ok = fsync(packer->file) == 0;
  ok = close(packer->file) == 0 && ok;
  packer->file = -1;
  if (!ok || rename(packer->temporary, packer->path)) {
    fail(packer, strerror(errno));
    return;
  }
  packer->temporary[0] = 0;
  settle_folder(packer->path);
}

bool pack_finish(Packer *packer, Error *err) {
  put_end(packer);
  if (!error_is_set(&packer->error)) publish(packer);
  bool ok = !error_is_set(&packer->error);
  if (!ok) error_add(err, &packer->error);
  pack_abandon(packer);
  return ok;
}

Unpacker *pack_reopen(Packer *packer, Error *err) {
  Unpacker *unpacker = NULL;
  put_end(packer);
  if (error_is_set(&packer->error)) {
    error_add(err, &packer->error);
  } else {
    unpacker = unpack_take(packer->heap, packer->file, &packer->format, err);
    packer->file = -1;
  }
  pack_abandon(packer);
  return unpacker;
}

void pack_abandon(Packer *packer) {
  if (!packer) return;
  if (packer->file >= 0) close(packer->file);
  if (packer->temporary[0]) unlink(packer->temporary);
  if (packer->context) packer->zstd.ZSTD_freeCCtx(packer->context);
  zstd_library_close(&packer->zstd);
  heap_free(packer->heap, packer);
}
