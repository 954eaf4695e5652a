/* image.c - chooses the format of a picture; and code that all formats share. */
#include "io/image.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "io/replace.h"

static bool has_ending(const char *path, const char *ending) {
  size_t length = strlen(path), tail = strlen(ending);
  return length > tail && !strcmp(path + length - tail, ending);
}

bool image_keeps_floats(const char *path) { return has_ending(path, ".exr"); }

bool image_fail(const char *path, const char *what, const char *why, Error *err) {
  return error_set(err, RG_ERROR_IO, "picture '%.160s' cannot be %s: %s", path, what, why);
}

static bool check_size(int32_t width, int32_t height, int32_t channels, Error *err) {
  if (width > 0 && height > 0 && (channels == 1 || channels == 3 || channels == 4)) return true;
  return error_set(err, RG_ERROR_ARGUMENT,
                   "a picture of %d x %d pixels with %d channels cannot be written", width, height,
                   channels);
}

static bool refuse_name(const char *path, Error *err) {
  error_set(err, RG_ERROR_ARGUMENT, "'%.200s' is not the name of a picture that can be written",
            path);
  return error_hint(err, "end the name with .png, .ppm or .exr");
}

bool image_write(const char *path, const uint8_t *pixels, int32_t width, int32_t height,
                 int32_t channels, Error *err) {
  if (!check_size(width, height, channels, err)) return false;
  if (has_ending(path, ".png")) return png_write(path, pixels, width, height, channels, err);
  if (has_ending(path, ".ppm") || has_ending(path, ".pgm"))
    return ppm_write(path, pixels, width, height, channels, err);
  return refuse_name(path, err);
}

bool image_write_floats(Heap *heap, const char *path, const float *pixels, int32_t width,
                        int32_t height, int32_t channels, Error *err) {
  if (!check_size(width, height, channels, err)) return false;
  if (!image_keeps_floats(path)) return refuse_name(path, err);
  return exr_write(heap, path, pixels, width, height, channels, err);
}

bool image_allocate(Heap *heap, const char *path, Image *image, Error *err) {
  enum { MAX_SIDE = 65535 };
  if (image->width < 1 || image->height < 1 || image->width > MAX_SIDE || image->height > MAX_SIDE)
    return image_fail(path, "read", "its size is invalid", err);
  image->pixels = heap_alloc(heap, sizeof *image->pixels * (size_t)image->width *
                                       (size_t)image->height * (size_t)image->channels);
  return image->pixels ||
         error_set(err, RG_ERROR_MEMORY, "the host has no memory left for a picture");
}

bool image_read(Heap *heap, const char *path, Image *image, Error *err) {
  uint8_t head[4] = {0};
  *image = (Image){0};
  const char *kind = replace_kind(path); /* a FIFO will not do, as a picture is read twice */
  if (kind && kind[0])
    return error_set(err, RG_ERROR_IO, "picture '%.160s' cannot be read: it is %s, not a file",
                     path, kind);
  FILE *file = fopen(path, "rb");
  if (!file) return image_fail(path, "read", strerror(errno), err);
  size_t count = fread(head, 1, sizeof head, file);
  fclose(file);
  bool ok = false;
  if (count == 4 && !memcmp(head, "\x89PNG", 4)) ok = png_read(heap, path, image, err);
  else if (count == 4 && !memcmp(head, "\x76\x2f\x31\x01", 4))
    ok = exr_read(heap, path, image, err);
  else if (head[0] == 'P' && (head[1] == '5' || head[1] == '6'))
    ok = ppm_read(heap, path, image, err);
  else image_fail(path, "read", "it is not a PNG, PPM, PGM or OpenEXR file", err);
  if (ok) return true;
  heap_free(heap, image->pixels);
  image->pixels = NULL;
  return false;
}
