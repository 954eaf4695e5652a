/* exr_read.c - reads OpenEXR files of scan lines, with channels R G B A or Y of any of the three
 * types, uncompressed or compressed by zlib. Other variants are refused with the reason. See
 * exr_write.c. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "io/exr.h"

enum { MAX_CHANNELS = 64 };

typedef struct Reading {
  const uint8_t *bytes;
  size_t size, at; /* of the file; the offset that is read next */
  const char *path;
  int compression;
  int32_t window[4]; /* x and y, first and last */
  int channel_count;
  struct {
    char name[32];
    int32_t type;
  } channels[MAX_CHANNELS];
  ZlibLibrary zlib;
  uint8_t *raw, *reordered;
  Image *image;
  Error *err;
} Reading;

static bool fail(const Reading *r, const char *why) {
  return image_fail(r->path, "read", why, r->err);
}

static bool get(Reading *r, void *out, size_t size) {
  if (size > r->size - r->at) return fail(r, "it ends too early");
  memcpy(out, r->bytes + r->at, size);
  r->at += size;
  return true;
}

static bool get_text(Reading *r, char *out, size_t capacity) {
  const uint8_t *end = memchr(r->bytes + r->at, 0, r->size - r->at);
  size_t length = end ? (size_t)(end - (r->bytes + r->at)) : 0;
  if (!end || length >= capacity) return fail(r, "its header is invalid");
  return get(r, out, length + 1);
}

static bool read_channels(Reading *r, size_t end) {
  while (r->at < end && r->bytes[r->at]) {
    int32_t fields[4];
    if (r->channel_count == MAX_CHANNELS) return fail(r, "it has too many channels");
    if (!get_text(r, r->channels[r->channel_count].name, 32) || !get(r, fields, sizeof fields))
      return false;
    if (fields[0] < EXR_UINT || fields[0] > EXR_FLOAT)
      return fail(r, "the type of a channel is invalid");
    if (fields[2] != 1 || fields[3] != 1) return fail(r, "it has subsampled channels");
    r->channels[r->channel_count++].type = fields[0];
  }
  return true;
}

static bool read_attribute(Reading *r, const char *name) {
  char type[256];
  int32_t size = 0;
  if (!get_text(r, type, sizeof type) || !get(r, &size, sizeof size)) return false;
  if (size < 0 || (size_t)size > r->size - r->at) return fail(r, "its header is invalid");
  size_t end = r->at + (size_t)size;
  bool ok = true;
  if (!strcmp(name, "channels")) ok = read_channels(r, end);
  else if (!strcmp(name, "compression") && size == 1) r->compression = r->bytes[r->at];
  else if (!strcmp(name, "dataWindow") && size == 16) ok = get(r, r->window, sizeof r->window);
  r->at = end;
  return ok;
}

static bool read_header(Reading *r) {
  uint32_t head[2];
  char name[256];
  enum { TILES = 0x200, DEEP = 0x800, PARTS = 0x1000 };
  r->compression = -1;
  if (!get(r, head, sizeof head)) return false;
  if (head[1] & (TILES | DEEP | PARTS))
    return fail(r, "it has tiles, several parts or deep pixels, but only scan lines can be read");
  for (;;) {
    if (!get_text(r, name, sizeof name)) return false;
    if (!name[0]) break;
    if (!read_attribute(r, name)) return false;
  }
  if (r->compression != EXR_NONE && r->compression != EXR_ZIPS && r->compression != EXR_ZIP)
    return fail(r, "its compression is not supported: only none, ZIPS and ZIP are");
  return r->channel_count || fail(r, "it has no channels");
}

/* The position of a channel in a pixel; -1: it is left out. */
static int channel_position(const Reading *r, int channel) {
  static const char order[] = "RGBA";
  const char *name = r->channels[channel].name;
  if (r->image->channels == 1) return !strcmp(name, "Y") || r->channel_count == 1 ? 0 : -1;
  const char *at = name[0] && !name[1] ? strchr(order, name[0]) : NULL;
  return at && at - order < r->image->channels ? (int)(at - order) : -1;
}

static void choose_channels(Reading *r) {
  bool has[128] = {false};
  for (int k = 0; k < r->channel_count; k++)
    if (!r->channels[k].name[1]) has[r->channels[k].name[0] & 127] = true;
  r->image->channels = has['R'] || has['G'] || has['B'] ? has['A'] ? 4 : 3 : 1;
}

static float half_to_float(uint16_t half) {
  uint32_t sign = (uint32_t)(half >> 15) << 31, exponent = half >> 10 & 31, digits = half & 1023;
  if (!exponent) {
    float small = (float)digits / 16777216.0f;
    return sign ? -small : small;
  }
  uint32_t bits = sign | (exponent == 31 ? 255 : exponent + 112) << 23 | digits << 13;
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static float number_at(const uint8_t *at, int32_t type) {
  uint16_t half;
  uint32_t whole;
  float value;
  memcpy(&half, at, sizeof half);
  if (type == EXR_HALF) return half_to_float(half);
  memcpy(&whole, at, sizeof whole);
  if (type == EXR_UINT) return (float)whole;
  memcpy(&value, at, sizeof value);
  return value;
}

static size_t number_size(int32_t type) { return type == EXR_HALF ? 2 : 4; }

static void read_line(const Reading *r, const uint8_t *line, int32_t y) {
  const Image *image = r->image;
  for (int c = 0; c < r->channel_count; c++) {
    int position = channel_position(r, c);
    size_t size = number_size(r->channels[c].type);
    for (int32_t x = 0; x < image->width; x++, line += size) {
      if (position < 0) continue;
      image->pixels[((int64_t)y * image->width + x) * image->channels + position] =
          number_at(line, r->channels[c].type);
    }
  }
}

static void restore_order(uint8_t *reordered, uint8_t *raw, size_t size) {
  size_t half = (size + 1) / 2;
  for (size_t k = 1; k < size; k++) reordered[k] = (uint8_t)(reordered[k] + reordered[k - 1] - 128);
  for (size_t k = 0; k < size; k++) raw[k] = reordered[k / 2 + (k % 2 ? half : 0)];
}

static bool read_block(Reading *r, int32_t lines, size_t line_bytes) {
  int32_t head[2];
  if (!get(r, head, sizeof head)) return false;
  int64_t first = (int64_t)head[0] - r->window[1];
  if (first < 0 || first >= r->image->height || head[1] < 0 || (size_t)head[1] > r->size - r->at)
    return fail(r, "one of its blocks is invalid");
  int64_t left = r->image->height - first;
  size_t size = line_bytes * (size_t)(left < lines ? left : lines);
  const uint8_t *data = r->bytes + r->at;
  r->at += (size_t)head[1];
  if ((size_t)head[1] < size && r->compression != EXR_NONE) {
    uLongf length = size;
    if (r->zlib.uncompress(r->reordered, &length, data, (uLong)head[1]) != Z_OK || length != size)
      return fail(r, "one of its blocks cannot be decompressed");
    restore_order(r->reordered, r->raw, size);
    data = r->raw;
  } else if ((size_t)head[1] != size) {
    return fail(r, "one of its blocks is invalid");
  }
  for (size_t k = 0; k < size / line_bytes; k++)
    read_line(r, data + k * line_bytes, (int32_t)(first + (int64_t)k));
  return true;
}

static bool read_pixels(Reading *r, Heap *heap) {
  int32_t lines = r->compression == EXR_ZIP ? EXR_ZIP_LINES : 1;
  int32_t blocks = (r->image->height + lines - 1) / lines;
  size_t line_bytes = 0;
  for (int c = 0; c < r->channel_count; c++)
    line_bytes += number_size(r->channels[c].type) * (size_t)r->image->width;
  r->raw = heap_alloc(heap, line_bytes * (size_t)lines);
  r->reordered = heap_alloc(heap, line_bytes * (size_t)lines);
  if (!r->raw || !r->reordered)
    return error_set(r->err, RG_ERROR_MEMORY, "the host has no memory left for a picture");
  if ((size_t)blocks * 8 > r->size - r->at) return fail(r, "it ends too early");
  r->at += (size_t)blocks * 8;
  bool ok = true;
  for (int32_t k = 0; ok && k < blocks; k++) ok = read_block(r, lines, line_bytes);
  return ok;
}

static bool read_all(Reading *r, Heap *heap) {
  if (!read_header(r)) return false;
  int64_t width = (int64_t)r->window[2] - r->window[0] + 1,
          height = (int64_t)r->window[3] - r->window[1] + 1;
  bool fits = width > 0 && height > 0 && width <= 65535 && height <= 65535;
  r->image->width = fits ? (int32_t)width : 0;
  r->image->height = fits ? (int32_t)height : 0;
  choose_channels(r);
  return image_allocate(heap, r->path, r->image, r->err) && read_pixels(r, heap);
}

static uint8_t *load(Heap *heap, const char *path, size_t *size, Error *err) {
  errno = 0; /* a file that ends too early sets none */
  FILE *file = fopen(path, "rb");
  long length = -1;
  if (file && fseek(file, 0, SEEK_END) == 0) length = ftell(file);
  uint8_t *bytes = length >= 0 ? heap_alloc(heap, (size_t)length + 1) : NULL;
  bool ok = bytes && fseek(file, 0, SEEK_SET) == 0 &&
            fread(bytes, 1, (size_t)length, file) == (size_t)length;
  if (!ok) image_fail(path, "read", errno ? strerror(errno) : "no memory is left", err);
  if (file) fclose(file);
  if (ok) *size = (size_t)length;
  else heap_free(heap, bytes);
  return ok ? bytes : NULL;
}

bool exr_read(Heap *heap, const char *path, Image *image, Error *err) {
  Reading r = {.path = path, .image = image, .err = err};
  uint8_t *bytes = load(heap, path, &r.size, err);
  if (!bytes) return false;
  r.bytes = bytes;
  bool ok = zlib_library_open(&r.zlib, err) && read_all(&r, heap);
  heap_free(heap, r.raw);
  heap_free(heap, r.reordered);
  heap_free(heap, bytes);
  zlib_library_close(&r.zlib);
  return ok;
}
