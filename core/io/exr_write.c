/* exr_write.c - writes OpenEXR: scan lines of 32-bit floats, compressed by zlib (ZIP, 16 lines a
 * block).
 *
 *     magic | version | attributes | 0 | offset of each block | blocks: first line, bytes, data
 *
 * In a block each line has its channels by name (A B G R, or Y), each with all its pixels. Before
 * compression the bytes of a block are split into even and odd ones, and each is replaced by its
 * difference from the one before, + 128. This is our own code, since the library is C++ and the
 * format is simple; it is described in "OpenEXR File Layout". */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "io/exr.h"
#include "io/replace.h"

typedef struct Writing {
  FILE *file;
  const char *path;
  const float *pixels;
  int32_t width, height, channels;
  ZlibLibrary zlib;
  uint8_t *raw, *reordered, *compressed; /* a block: as it is, reordered, compressed */
  size_t line_bytes;
} Writing;

static void put_i32(FILE *file, int32_t value) { fwrite(&value, sizeof value, 1, file); }
static void put_f32(FILE *file, float value) { fwrite(&value, sizeof value, 1, file); }

static void put_attribute(FILE *file, const char *name, const char *type, int32_t size) {
  fwrite(name, strlen(name) + 1, 1, file);
  fwrite(type, strlen(type) + 1, 1, file);
  put_i32(file, size);
}

/* `position`: which of a pixel's numbers it is. */
typedef struct Channel {
  char name;
  int position;
} Channel;
static const Channel grey[] = {{'Y', 0}}, rgb[] = {{'B', 2}, {'G', 1}, {'R', 0}},
                     rgba[] = {{'A', 3}, {'B', 2}, {'G', 1}, {'R', 0}};
static const Channel *channels_of(int32_t channels) {
  return channels == 1 ? grey : channels == 3 ? rgb : rgba;
}

static void put_channels(const Writing *w) {
  put_attribute(w->file, "channels", "chlist", w->channels * 18 + 1);
  for (int k = 0; k < w->channels; k++) {
    char name[2] = {channels_of(w->channels)[k].name, 0};
    fwrite(name, 2, 1, w->file);
    put_i32(w->file, EXR_FLOAT);
    put_i32(w->file, 0);
    put_i32(w->file, 1);
    put_i32(w->file, 1);
  }
  putc(0, w->file);
}

static void put_window(const Writing *w, const char *name) {
  put_attribute(w->file, name, "box2i", 16);
  put_i32(w->file, 0);
  put_i32(w->file, 0);
  put_i32(w->file, w->width - 1);
  put_i32(w->file, w->height - 1);
}

static void put_header(const Writing *w) {
  put_i32(w->file, 20000630);
  put_i32(w->file, 2);
  put_channels(w);
  put_attribute(w->file, "compression", "compression", 1);
  putc(EXR_ZIP, w->file);
  put_window(w, "dataWindow");
  put_window(w, "displayWindow");
  put_attribute(w->file, "lineOrder", "lineOrder", 1);
  putc(0, w->file);
  put_attribute(w->file, "pixelAspectRatio", "float", 4);
  put_f32(w->file, 1);
  put_attribute(w->file, "screenWindowCenter", "v2f", 8);
  put_f32(w->file, 0);
  put_f32(w->file, 0);
  put_attribute(w->file, "screenWindowWidth", "float", 4);
  put_f32(w->file, 1);
  putc(0, w->file);
}

static void fill_raw(const Writing *w, int32_t first, int32_t lines) {
  uint8_t *to = w->raw;
  for (int32_t y = first; y < first + lines; y++)
    for (int c = 0; c < w->channels; c++) {
      int position = channels_of(w->channels)[c].position;
      for (int32_t x = 0; x < w->width; x++, to += sizeof(float))
        memcpy(to, &w->pixels[((int64_t)y * w->width + x) * w->channels + position], sizeof(float));
    }
}

static void reorder_bytes(const uint8_t *raw, uint8_t *reordered, size_t size) {
  size_t half = (size + 1) / 2;
  for (size_t k = 0; k < size; k++) reordered[k / 2 + (k % 2 ? half : 0)] = raw[k];
  for (size_t k = size; k-- > 1;) reordered[k] = (uint8_t)(reordered[k] - reordered[k - 1] + 128);
}

/* A block that compression does not shrink is stored uncompressed. */
static void put_block(const Writing *w, int32_t first, int32_t lines) {
  size_t size = w->line_bytes * (size_t)lines;
  uLongf compressed = w->zlib.compressBound(size);
  fill_raw(w, first, lines);
  reorder_bytes(w->raw, w->reordered, size);
  int failed = w->zlib.compress2(w->compressed, &compressed, w->reordered, size, 6);
  bool is_smaller = failed == Z_OK && compressed < size;
  put_i32(w->file, first);
  put_i32(w->file, (int32_t)(is_smaller ? compressed : size));
  fwrite(is_smaller ? w->compressed : w->raw, is_smaller ? compressed : size, 1, w->file);
}

static void put_all(const Writing *w) {
  put_header(w);
  long table = ftell(w->file);
  int32_t blocks = (w->height + EXR_ZIP_LINES - 1) / EXR_ZIP_LINES;
  for (int32_t k = 0; k < 2 * blocks; k++) put_i32(w->file, 0);
  for (int32_t k = 0; k < blocks; k++) {
    int32_t first = k * EXR_ZIP_LINES, left = w->height - first;
    int64_t offset = ftell(w->file);
    fseek(w->file, table + 8L * k, SEEK_SET);
    fwrite(&offset, sizeof offset, 1, w->file);
    fseek(w->file, offset, SEEK_SET);
    put_block(w, first, left < EXR_ZIP_LINES ? left : EXR_ZIP_LINES);
  }
}

static bool write_file(Writing *w, Error *err) {
  Replacement out;
  if (!replace_begin(&out, "picture", w->path, err)) return false;
  w->file = replace_stream(&out, err);
  if (w->file) put_all(w);
  bool ok = w->file && (!ferror(w->file) || image_fail(w->path, "written", strerror(errno), err)) &&
            replace_end(&out, err);
  if (!ok) replace_abandon(&out);
  return ok;
}

bool exr_write(Heap *heap, const char *path, const float *pixels, int32_t width, int32_t height,
               int32_t channels, Error *err) {
  Writing w = {
      .path = path, .pixels = pixels, .width = width, .height = height, .channels = channels};
  if (!zlib_library_open(&w.zlib, err)) return false;
  w.line_bytes = sizeof(float) * (size_t)width * (size_t)channels;
  size_t block = w.line_bytes * EXR_ZIP_LINES;
  w.raw = heap_alloc(heap, block);
  w.reordered = heap_alloc(heap, block);
  w.compressed = heap_alloc(heap, w.zlib.compressBound(block));
  bool ok = w.raw && w.reordered && w.compressed
                ? write_file(&w, err)
                : error_set(err, RG_ERROR_MEMORY, "the host has no memory left for a picture");
  heap_free(heap, w.raw);
  heap_free(heap, w.reordered);
  heap_free(heap, w.compressed);
  zlib_library_close(&w.zlib);
  return ok;
}
