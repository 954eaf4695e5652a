/* pack.c - writes packed files: see pack.h. */
#include "io/pack.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "io/checksum.h"
#include "io/replace.h"
#include "io/zstd_library.h"

enum { BUFFER_BYTES = 1 << 18, LEVEL = 1 };

struct Packer {
  Heap *heap;
  ZstdLibrary zstd;
  ZSTD_CCtx *context;
  PackFormat format;
  Replacement out;
  uint64_t length; /* of the file so far */
  uint64_t part_begin;
  Checksum checksum;
  Error error; /* the first failure */
  uint8_t buffer[BUFFER_BYTES];
};

static bool fail(Packer *packer, const char *why) {
  return replace_fail(&packer->out, why, &packer->error);
}

static void put(Packer *packer, const void *bytes, size_t size) {
  const uint8_t *at = bytes;
  checksum_add(&packer->checksum, bytes, size);
  packer->length += size;
  while (size && !error_is_set(&packer->error)) {
    ssize_t written = write(packer->out.file, at, size);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail(packer, strerror(errno));
    else at += written, size -= (size_t)written;
  }
}

static void compress(Packer *packer, const void *bytes, size_t size, ZSTD_EndDirective directive) {
  ZSTD_inBuffer in = {bytes, size, 0};
  size_t left = 1;
  while (!error_is_set(&packer->error) && (directive == ZSTD_e_end ? left > 0 : in.pos < in.size)) {
    ZSTD_outBuffer out = {packer->buffer, sizeof packer->buffer, 0};
    left = packer->zstd.ZSTD_compressStream2(packer->context, &out, &in, directive);
    if (packer->zstd.ZSTD_isError(left)) fail(packer, packer->zstd.ZSTD_getErrorName(left));
    else put(packer, packer->buffer, out.pos);
  }
}

static bool open_unnamed(Packer *packer) {
  packer->out = (Replacement){.what = packer->format.what, .path = "in memory"};
  packer->out.file = memfd_create("regolith", MFD_CLOEXEC);
  return packer->out.file >= 0 || fail(packer, strerror(errno));
}

/* path NULL: writes to memory. */
static bool begin(Packer *packer, const char *path) {
  uint32_t head[2] = {packer->format.version, 0};
  if (!(path ? replace_begin(&packer->out, packer->format.what, path, &packer->error)
             : open_unnamed(packer)))
    return false;
  packer->out.is_durable = true;
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
  packer->out.file = -1;
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

bool pack_finish(Packer *packer, Error *err) {
  put_end(packer);
  if (!error_is_set(&packer->error)) replace_end(&packer->out, &packer->error);
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
    unpacker = unpack_take(packer->heap, packer->out.file, &packer->format, err);
    packer->out.file = -1;
  }
  pack_abandon(packer);
  return unpacker;
}

void pack_abandon(Packer *packer) {
  if (!packer) return;
  replace_abandon(&packer->out);
  if (packer->context) packer->zstd.ZSTD_freeCCtx(packer->context);
  zstd_library_close(&packer->zstd);
  heap_free(packer->heap, packer);
}
