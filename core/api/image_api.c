/* image_api.c - a field as a picture: x to the right, y upward, low..high through a palette. */
#include <math.h>

#include "api/api.h"
#include "api/word.h"
#include "io/image.h"

typedef struct Picture {
  const char *path;
  Palette palette;
  double low, high;
} Picture;

static void find_range(const double *values, int64_t count, Picture *picture) {
  picture->low = INFINITY;
  picture->high = -INFINITY;
  for (int64_t k = 0; k < count; k++) {
    if (values[k] < picture->low) picture->low = values[k];
    if (values[k] > picture->high) picture->high = values[k];
  }
}

/* 0 for NaN, and everywhere in a field of equal values. */
static double scaled(double value, const Picture *picture) {
  double span = picture->high - picture->low, at = (value - picture->low) / span;
  if (!(span > 0) || at != at) return 0;
  return at < 0 ? 0 : at > 1 ? 1 : at;
}

static void paint(const double *values, const int64_t *shape, const Picture *picture,
                  uint8_t *pixels) {
  int64_t width = shape[0], height = shape[1];
  for (int64_t row = 0; row < height; row++)
    for (int64_t x = 0; x < width; x++) {
      double value = scaled(values[x * height + (height - 1 - row)], picture);
      image_palette(picture->palette, value, pixels + (row * width + x) * 3);
    }
}

static bool write_pixels(Field *field, const int64_t *shape, Picture *picture, double *values,
                         uint8_t *pixels, Error *err) {
  int64_t count = shape[0] * shape[1];
  if (!field_read(field, values, count, err)) return false;
  if (picture->low == picture->high) find_range(values, count, picture);
  paint(values, shape, picture, pixels);
  return image_write(picture->path, pixels, (int32_t)shape[0], (int32_t)shape[1], 3, err);
}

static bool write_field(Field *field, Picture *picture, Error *err) {
  enum { LARGEST_SIDE = 65535 };
  char label[100];
  Heap *heap = field->store->heap;
  if (!field_settle(field, NULL, err)) return false;
  const SNode *node = field->node->snode;
  if (node->rank != 2)
    return error_set(err, RG_ERROR_ARGUMENT, "a picture shows a field of two axes, %s has %d",
                     field_label(field, label), node->rank);
  if (node->shape[0] > LARGEST_SIDE || node->shape[1] > LARGEST_SIDE)
    return error_set(err, RG_ERROR_ARGUMENT,
                     "%s is too large for a picture: %d pixels per side at most",
                     field_label(field, label), LARGEST_SIDE);
  size_t count = (size_t)(node->shape[0] * node->shape[1]);
  double *values = heap_alloc(heap, sizeof *values * count);
  uint8_t *pixels = heap_alloc(heap, count * 3);
  bool ok = values && pixels
                ? write_pixels(field, node->shape, picture, values, pixels, err)
                : error_set(err, RG_ERROR_MEMORY, "the host has no memory left for a picture");
  heap_free(heap, values);
  heap_free(heap, pixels);
  return ok;
}

static bool write_picture(Field *field, const char *path, double low, double high,
                          const char *palette, Error *err) {
  int number = PALETTE_GREY;
  if (palette && palette[0] && !word_parse(WORD_PALETTE, palette, &number, err)) return false;
  Picture picture = {path, (Palette)number, low, high};
  return write_field(field, &picture, err);
}

RgStatus rg_image_write_field(RgRuntime *runtime, const char *path, RgField *handle, double low,
                              double high, const char *palette) {
  Field *field = (Field *)handle;
  API_NEEDS(runtime);
  API_NEEDS(path);
  API_NEEDS(field);
  Program *program = API_PROGRAM(field);
  return API_CALL(program, write_picture(field, path, low, high, palette, API_ERR(program)));
}

static bool write_bytes(Program *program, const char *path, const uint8_t *pixels, int32_t width,
                        int32_t height, int32_t channels, Error *err) {
  if (!owner_check(&program->owner, err)) return false;
  if (width < 1 || height < 1 || (channels != 1 && channels != 3 && channels != 4))
    return error_set(err, RG_ERROR_ARGUMENT,
                     "a picture has at least one pixel, of 1, 3 or 4 channels");
  return image_write(path, pixels, width, height, channels, err);
}

RgStatus rg_image_write(RgRuntime *runtime, const char *path, const uint8_t *pixels, int32_t width,
                        int32_t height, int32_t channels) {
  Program *program = (Program *)runtime;
  API_NEEDS(runtime);
  API_NEEDS(path);
  API_NEEDS(pixels);
  return API_CALL(program,
                  write_bytes(program, path, pixels, width, height, channels, API_ERR(program)));
}
