/* image_api.c - a field or array as a picture: x to the right, y upward, low..high through a
 * palette. */
#include <math.h>

#include "api/api.h"
#include "api/word.h"
#include "array/array.h"
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

/* Three numbers are red, green, blue, and a fourth the opacity; low..high, else 0..1, becomes
 * 0..255. */
static void paint_colours(const double *values, const int64_t *shape, int parts,
                          const Picture *picture, uint8_t *pixels) {
  int64_t width = shape[0], height = shape[1];
  for (int64_t row = 0; row < height; row++)
    for (int64_t x = 0; x < width; x++)
      for (int k = 0; k < parts; k++) {
        double value = values[(x * height + (height - 1 - row)) * parts + k];
        pixels[(row * width + x) * parts + k] = (uint8_t)(scaled(value, picture) * 255 + 0.5);
      }
}

/* What has the numbers: one of the two. */
typedef struct Subject {
  Field *field;
  Array *array;
  const int64_t *shape;
  int rank, parts;
  char label[100];
} Subject;

static bool read_numbers(const Subject *subject, double *values, int64_t count, Error *err) {
  return subject->field ? field_read(subject->field, values, count, err)
                        : array_read(subject->array, values, count, err);
}

static bool write_pixels(const Subject *subject, Picture *picture, double *values, uint8_t *pixels,
                         Error *err) {
  const int64_t *shape = subject->shape;
  int64_t count = shape[0] * shape[1];
  int channels = subject->parts == 1 ? 3 : subject->parts;
  bool has_range = picture->low != picture->high;
  if (!read_numbers(subject, values, count * subject->parts, err)) return false;
  if (!has_range && subject->parts == 1) find_range(values, count, picture);
  if (!has_range && subject->parts > 1) picture->low = 0, picture->high = 1;
  if (subject->parts == 1) paint(values, shape, picture, pixels);
  else paint_colours(values, shape, subject->parts, picture, pixels);
  return image_write(picture->path, pixels, (int32_t)shape[0], (int32_t)shape[1], channels, err);
}

static bool write_subject(Heap *heap, const Subject *subject, Picture *picture, Error *err) {
  enum { LARGEST_SIDE = 65535 };
  if (subject->rank != 2)
    return error_set(err, RG_ERROR_ARGUMENT, "a picture shows two axes, %s has %d", subject->label,
                     subject->rank);
  if (subject->parts != 1 && subject->parts != 3 && subject->parts != 4)
    return error_set(err, RG_ERROR_ARGUMENT,
                     "a picture shows numbers, or vectors of 3 or 4 as colours, not the elements "
                     "of %s",
                     subject->label);
  if (subject->shape[0] > LARGEST_SIDE || subject->shape[1] > LARGEST_SIDE)
    return error_set(err, RG_ERROR_ARGUMENT,
                     "%s is too large for a picture: %d pixels per side at most", subject->label,
                     LARGEST_SIDE);
  size_t count = (size_t)(subject->shape[0] * subject->shape[1]);
  double *values = heap_alloc(heap, sizeof *values * count * (size_t)subject->parts);
  uint8_t *pixels = heap_alloc(heap, count * 4);
  bool ok = values && pixels
                ? write_pixels(subject, picture, values, pixels, err)
                : error_set(err, RG_ERROR_MEMORY, "the host has no memory left for a picture");
  heap_free(heap, values);
  heap_free(heap, pixels);
  return ok;
}

static bool begin_picture(Picture *picture, const char *path, double low, double high,
                          const char *palette, Error *err) {
  int number = PALETTE_GREY;
  if (palette && palette[0] && !word_parse(WORD_PALETTE, palette, &number, err)) return false;
  *picture = (Picture){path, (Palette)number, low, high};
  return true;
}
static bool write_field(Field *field, const char *path, double low, double high,
                        const char *palette, Error *err) {
  Picture picture;
  if (!begin_picture(&picture, path, low, high, palette, err) || !field_settle(field, NULL, err))
    return false;
  const SNode *node = field->node->snode;
  Subject subject = {.field = field,
                     .shape = node->shape,
                     .rank = node->rank,
                     .parts = type_parts(field->type)};
  field_label(field, subject.label);
  return write_subject(field->store->heap, &subject, &picture, err);
}

static bool write_array(Array *array, const char *path, double low, double high,
                        const char *palette, Error *err) {
  Picture picture;
  if (!begin_picture(&picture, path, low, high, palette, err) || !array_check(array, err))
    return false;
  Subject subject = {.array = array,
                     .shape = array->shape,
                     .rank = array->rank,
                     .parts = type_parts(array->type)};
  array_label(array, subject.label);
  return write_subject(array->store->heap, &subject, &picture, err);
}

RgStatus rg_image_write_field(RgRuntime *runtime, const char *path, RgField *handle, double low,
                              double high, const char *palette) {
  Field *field = (Field *)handle;
  API_NEEDS(runtime);
  API_NEEDS(path);
  API_NEEDS(field);
  Program *program = API_PROGRAM(field);
  return API_CALL(program, write_field(field, path, low, high, palette, API_ERR(program)));
}

RgStatus rg_image_write_array(RgRuntime *runtime, const char *path, RgArray *handle, double low,
                              double high, const char *palette) {
  Array *array = (Array *)handle;
  API_NEEDS(runtime);
  API_NEEDS(path);
  API_NEEDS(array);
  Program *program = API_PROGRAM(array);
  return API_CALL(program, write_array(array, path, low, high, palette, API_ERR(program)));
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
