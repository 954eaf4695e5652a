/* unpack.c - reads packed files: see pack.h. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/checksum.h"
#include "io/pack.h"
#include "io/zstd_library.h"

enum { BUFFER_BYTES = 1 << 18, HEAD = 16, TAIL = 24 };

struct Unpacker {
  Heap *heap;
  ZstdLibrary zstd;
  ZSTD_DCtx *context;
  PackFormat format;
  char path[200]; /* for messages */
  int file;       /* -1: not open */
  uint64_t length;
  uint64_t at, end;       /* the bytes of the part that are not in `in` yet */
  bool is_frame_complete; /* the part's frame has ended */
  ZSTD_inBuffer pending;
  uint8_t in[BUFFER_BYTES];
};

bool unpack_refuse(const Unpacker *unpacker, const char *why, Error *err) {
  error_set(err, RG_ERROR_IO, "%s '%.160s' %s", unpacker->format.what, unpacker->path, why);
  return error_hint(err, "use another copy of it, or write it again");
}

/* Reads up to `size` bytes from `offset` on; -1 with err. */
static int64_t read_at(Unpacker *unpacker, uint64_t offset, void *bytes, size_t size, Error *err) {
  size_t done = 0;
  while (done < size) {
    ssize_t count =
        pread(unpacker->file, (uint8_t *)bytes + done, size - done, (off_t)(offset + done));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      error_set(err, RG_ERROR_IO, "%s '%.160s' cannot be read: %s", unpacker->format.what,
                unpacker->path, strerror(errno));
      return -1;
    }
    if (!count) break;
    done += (size_t)count;
  }
  return (int64_t)done;
}

static bool read_all_at(Unpacker *unpacker, uint64_t offset, void *bytes, size_t size, Error *err) {
  int64_t count = read_at(unpacker, offset, bytes, size, err);
  return count == (int64_t)size || (count >= 0 && unpack_refuse(unpacker, "is truncated", err));
}

static bool check_head(Unpacker *unpacker, Error *err) {
  struct {
    char magic[8];
    uint32_t version, zero;
  } head;
  int64_t count = read_at(unpacker, 0, &head, sizeof head, err);
  if (count < 0) return false;
  size_t compared = count < 8 ? (size_t)count : 8;
  if (!compared || memcmp(head.magic, unpacker->format.magic, compared))
    return error_set(err, RG_ERROR_IO, "'%.160s' is not a %s", unpacker->path,
                     unpacker->format.what);
  if (count < HEAD || unpacker->length < HEAD + TAIL)
    return unpack_refuse(unpacker, "is truncated", err);
  if (head.version <= unpacker->format.version && head.version > 0) return true;
  error_set(err, RG_ERROR_IO, "%s '%.160s' has format %u, and this version reads up to %u",
            unpacker->format.what, unpacker->path, head.version, unpacker->format.version);
  return error_hint(err, "a newer Regolith wrote it, or it was altered");
}

/* Verifies the checksum of all bytes before it. */
static bool check_bytes(Unpacker *unpacker, Error *err) {
  Checksum checksum;
  uint64_t stored, end = unpacker->length - sizeof stored;
  checksum_init(&checksum);
  for (uint64_t at = 0; at < end;) {
    size_t size = end - at < BUFFER_BYTES ? (size_t)(end - at) : BUFFER_BYTES;
    if (!read_all_at(unpacker, at, unpacker->in, size, err)) return false;
    checksum_add(&checksum, unpacker->in, size);
    at += size;
  }
  if (!read_all_at(unpacker, end, &stored, sizeof stored, err)) return false;
  return stored == checksum_end(&checksum) ||
         unpack_refuse(unpacker,
                       "is damaged: it is truncated, or some of its bytes have changed (its "
                       "checksum does not match)",
                       err);
}

/* O_NONBLOCK, so that a FIFO is refused instead of blocking. */
static bool open_file(Unpacker *unpacker, const char *path, Error *err) {
  struct stat what;
  snprintf(unpacker->path, sizeof unpacker->path, "%.180s", path);
  if (unpacker->file < 0) unpacker->file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (unpacker->file < 0 || fstat(unpacker->file, &what))
    return error_set(err, RG_ERROR_IO, "%s '%.160s' cannot be read: %s", unpacker->format.what,
                     unpacker->path, strerror(errno));
  if (!S_ISREG(what.st_mode))
    return error_set(err, RG_ERROR_IO, "'%.160s' is not a file", unpacker->path);
  unpacker->length = (uint64_t)what.st_size;
  return true;
}

static bool begin(Unpacker *unpacker, const char *path, Error *err) {
  PackPart directory;
  if (!open_file(unpacker, path, err) || !check_head(unpacker, err) ||
      !check_bytes(unpacker, err) || !zstd_library_open(&unpacker->zstd, err))
    return false;
  unpacker->context = unpacker->zstd.ZSTD_createDCtx();
  if (!unpacker->context)
    return error_set(err, RG_ERROR_MEMORY, "the host has no memory left for a %s",
                     unpacker->format.what);
  return read_all_at(unpacker, unpacker->length - TAIL, &directory, sizeof directory, err) &&
         unpack_seek(unpacker, directory, err);
}

static Unpacker *create(Heap *heap, const char *path, int file, const PackFormat *format,
                        Error *err) {
  Unpacker *unpacker = heap_alloc(heap, sizeof *unpacker);
  if (!unpacker) {
    if (file >= 0) close(file);
    error_set(err, RG_ERROR_MEMORY, "the host has no memory left for a %s", format->what);
    return NULL;
  }
  unpacker->heap = heap;
  unpacker->format = *format;
  unpacker->file = file;
  if (begin(unpacker, path, err)) return unpacker;
  unpack_close(unpacker);
  return NULL;
}

Unpacker *unpack_open(Heap *heap, const char *path, const PackFormat *format, Error *err) {
  return create(heap, path, -1, format, err);
}

Unpacker *unpack_take(Heap *heap, int file, const PackFormat *format, Error *err) {
  return create(heap, "in memory", file, format, err);
}

bool unpack_seek(Unpacker *unpacker, PackPart part, Error *err) {
  uint64_t past = unpacker->length - TAIL;
  if (part.offset < HEAD || part.offset > past || part.size > past - part.offset)
    return unpack_refuse(unpacker, "names a part that it does not have", err);
  unpacker->at = part.offset;
  unpacker->end = part.offset + part.size;
  unpacker->is_frame_complete = false;
  unpacker->pending = (ZSTD_inBuffer){unpacker->in, 0, 0};
  unpacker->zstd.ZSTD_freeDCtx(unpacker->context);
  unpacker->context = unpacker->zstd.ZSTD_createDCtx();
  return unpacker->context ||
         error_set(err, RG_ERROR_MEMORY, "the host has no memory left for a %s",
                   unpacker->format.what);
}

static bool refill(Unpacker *unpacker, Error *err) {
  uint64_t left = unpacker->end - unpacker->at;
  size_t size = left < BUFFER_BYTES ? (size_t)left : BUFFER_BYTES;
  if (!size) return unpack_refuse(unpacker, "has a part that ends too early", err);
  if (!read_all_at(unpacker, unpacker->at, unpacker->in, size, err)) return false;
  unpacker->at += size;
  unpacker->pending = (ZSTD_inBuffer){unpacker->in, size, 0};
  return true;
}

bool unpack_read(Unpacker *unpacker, void *bytes, size_t size, Error *err) {
  ZSTD_outBuffer out = {bytes, size, 0};
  while (out.pos < out.size) {
    if (unpacker->is_frame_complete)
      return unpack_refuse(unpacker, "has a part that ends too early", err);
    size_t before = out.pos;
    size_t left = unpacker->zstd.ZSTD_decompressStream(unpacker->context, &out, &unpacker->pending);
    if (unpacker->zstd.ZSTD_isError(left))
      return unpack_refuse(unpacker, "has a part that cannot be decompressed", err);
    unpacker->is_frame_complete = left == 0;
    bool is_stuck = out.pos == before && unpacker->pending.pos == unpacker->pending.size;
    if (is_stuck && !unpacker->is_frame_complete && !refill(unpacker, err)) return false;
  }
  return true;
}

bool unpack_is_at_end(Unpacker *unpacker) {
  uint8_t byte;
  Error ignored;
  error_clear(&ignored);
  return !unpack_read(unpacker, &byte, 1, &ignored);
}

void unpack_close(Unpacker *unpacker) {
  if (!unpacker) return;
  if (unpacker->file >= 0) close(unpacker->file);
  if (unpacker->context) unpacker->zstd.ZSTD_freeDCtx(unpacker->context);
  zstd_library_close(&unpacker->zstd);
  heap_free(unpacker->heap, unpacker);
}
