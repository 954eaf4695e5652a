/* image_api.c - fields, arrays and numbers as pictures: x to the right, y upward; and pictures as
 * arrays. */
#include <math.h>
#include <string.h>

#include "api/api.h"
#include "api/word.h"
#include "array/array.h"
#include "io/image.h"

enum { MAX_SIDE = 65535 };

/* The source of the numbers: a field, an array or `values`. */
typedef struct PictureSource {
  Field *field;
  Array *array;
  const double *values;
  const int64_t *shape;
  int rank, parts;
  char label[100];
} PictureSource;

typedef struct Picture {
  Heap *heap;
  PictureSource source;
  Palette palette;
  double low, high, gamma;
  int32_t width, height;
  const double *values; /* (x * height + y) * parts + part */
  double *allocated;    /* the memory of `values`; NULL: it is the caller's */
} Picture;

/* -- numbers to colours ------------------------------------------------------------------------ */

static void find_range(Picture *picture) {
  int64_t count = (int64_t)picture->width * picture->height;
  if (picture->low != picture->high) return;
  picture->low = picture->source.parts == 1 ? INFINITY : 0;
  picture->high = picture->source.parts == 1 ? -INFINITY : 1;
  for (int64_t k = 0; picture->source.parts == 1 && k < count; k++) {
    if (picture->values[k] < picture->low) picture->low = picture->values[k];
    if (picture->values[k] > picture->high) picture->high = picture->values[k];
  }
}

/* From 0 to 1, with gamma. 0 for NaN, and everywhere if all values are equal. */
static double normalised(double value, const Picture *picture) {
  double span = picture->high - picture->low, at = (value - picture->low) / span;
  if (!(span > 0) || at != at) return 0;
  at = at < 0 ? 0 : at > 1 ? 1 : at;
  return picture->gamma == 1 ? at : pow(at, 1 / picture->gamma);
}

/* Gamma does not apply to opacity. */
static void paint_pixel(const Picture *picture, const double *values, uint8_t *rgba) {
  rgba[3] = 255;
  if (picture->source.parts == 1) {
    image_palette(picture->palette, normalised(values[0], picture), rgba);
    return;
  }
  for (int k = 0; k < 3; k++) rgba[k] = (uint8_t)(normalised(values[k], picture) * 255 + 0.5);
  Picture linear = *picture;
  linear.gamma = 1;
  if (picture->source.parts == 4) rgba[3] = (uint8_t)(normalised(values[3], &linear) * 255 + 0.5);
}

static const double *pixel_values(const Picture *picture, int64_t x, int64_t row) {
  int64_t y = picture->height - 1 - row;
  return picture->values + (x * picture->height + y) * picture->source.parts;
}

/* `channels` 3 or 4. */
static void paint(const Picture *picture, uint8_t *pixels, int channels) {
  uint8_t rgba[4];
  for (int64_t row = 0; row < picture->height; row++)
    for (int64_t x = 0; x < picture->width; x++, pixels += channels) {
      paint_pixel(picture, pixel_values(picture, x, row), rgba);
      memcpy(pixels, rgba, (size_t)channels);
    }
}

static bool write_bytes(Picture *picture, const char *path, Error *err) {
  int channels = picture->source.parts == 4 ? 4 : 3;
  uint8_t *pixels = heap_alloc(picture->heap,
                               (size_t)picture->width * (size_t)picture->height * (size_t)channels);
  if (!pixels) return error_set(err, RG_ERROR_MEMORY, "the host has no memory left for a picture");
  paint(picture, pixels, channels);
  bool ok = image_write(path, pixels, picture->width, picture->height, channels, err);
  heap_free(picture->heap, pixels);
  return ok;
}

static bool write_floats(Picture *picture, const char *path, Error *err) {
  size_t parts = (size_t)picture->source.parts;
  float *pixels = heap_alloc(picture->heap, sizeof *pixels * parts * (size_t)picture->width *
                                                (size_t)picture->height);
  if (!pixels) return error_set(err, RG_ERROR_MEMORY, "the host has no memory left for a picture");
  float *to = pixels;
  for (int64_t row = 0; row < picture->height; row++)
    for (int64_t x = 0; x < picture->width; x++)
      for (size_t k = 0; k < parts; k++) *to++ = (float)pixel_values(picture, x, row)[k];
  bool ok = image_write_floats(picture->heap, path, pixels, picture->width, picture->height,
                               (int32_t)parts, err);
  heap_free(picture->heap, pixels);
  return ok;
}

/* -- the source of a picture ------------------------------------------------------------------- */

static bool find_source(Program *program, const RgPicture *from, PictureSource *source,
                        Error *err) {
  Field *field = (Field *)from->field;
  Array *array = (Array *)from->array;
  *source = (PictureSource){.field = field, .array = array, .values = from->values};
  if (field) {
    if (!field_lay_out(field, NULL, err)) return false;
    source->shape = field->node->snode->shape;
    source->rank = field->node->snode->rank;
    source->parts = type_parts(field->type);
    field_label(field, source->label);
  } else if (array) {
    if (!array_check_plain(array, err)) return false;
    source->shape = array->shape;
    source->rank = array->rank;
    source->parts = type_parts(array->type);
    array_label(array, source->label);
  } else {
    source->shape = from->shape;
    source->rank = 2;
    source->parts = from->parts;
    strcpy(source->label, "a table of numbers");
  }
  return owner_check(&program->owner, err);
}

static bool check_source(const PictureSource *source, Error *err) {
  if (source->rank != 2)
    return error_set(err, RG_ERROR_ARGUMENT, "a picture shows two axes, but %s has %d",
                     source->label, source->rank);
  if (source->parts != 1 && source->parts != 3 && source->parts != 4)
    return error_set(err, RG_ERROR_ARGUMENT,
                     "a picture shows numbers, or vectors of 3 or 4 as colours, not the elements "
                     "of %s",
                     source->label);
  if (source->shape[0] > MAX_SIDE || source->shape[1] > MAX_SIDE)
    return error_set(err, RG_ERROR_ARGUMENT,
                     "%s is too large for a picture: %d pixels per side at most", source->label,
                     MAX_SIDE);
  if (source->shape[0] < 1 || source->shape[1] < 1) {
    error_set(err, RG_ERROR_ARGUMENT, "%s has unbounded axes, and a picture has a size",
              source->label);
    return error_hint(err, "give the numbers of its active cells as `values`");
  }
  return true;
}

static bool read_numbers(Picture *picture, Error *err) {
  const PictureSource *source = &picture->source;
  int64_t count = source->shape[0] * source->shape[1] * source->parts;
  picture->values = source->values;
  if (source->values) return true;
  picture->values = picture->allocated = heap_alloc(picture->heap, sizeof(double) * (size_t)count);
  if (!picture->allocated)
    return error_set(err, RG_ERROR_MEMORY, "the host has no memory left for a picture");
  return source->field ? field_read(source->field, picture->allocated, count, err)
                       : array_read(source->array, picture->allocated, count, err);
}

static bool begin_picture(Program *program, const RgPicture *from, Picture *picture, Error *err) {
  int palette = PALETTE_GREY;
  *picture = (Picture){.heap = &program->owner.heap,
                       .low = from->low,
                       .high = from->high,
                       .gamma = from->gamma == 0 ? 1 : from->gamma};
  if (from->palette && from->palette[0] && !word_parse(WORD_PALETTE, from->palette, &palette, err))
    return false;
  if (!(picture->gamma > 0))
    return error_set(err, RG_ERROR_ARGUMENT, "gamma of a picture must be positive");
  if (!find_source(program, from, &picture->source, err) || !check_source(&picture->source, err))
    return false;
  picture->palette = (Palette)palette;
  picture->width = (int32_t)picture->source.shape[0];
  picture->height = (int32_t)picture->source.shape[1];
  if (!read_numbers(picture, err)) return false;
  find_range(picture);
  return true;
}

/* -- calls ------------------------------------------------------------------------------------- */

static bool write_picture(Program *program, const char *path, const RgPicture *from, Error *err) {
  Picture picture;
  bool ok = begin_picture(program, from, &picture, err) &&
            (image_keeps_floats(path) ? write_floats(&picture, path, err)
                                      : write_bytes(&picture, path, err));
  heap_free(&program->owner.heap, picture.allocated);
  return ok;
}

static bool paint_picture(Program *program, const RgPicture *from, uint8_t *rgba,
                          int64_t size_bytes, Error *err) {
  Picture picture;
  bool ok = begin_picture(program, from, &picture, err);
  int64_t needed = ok ? 4 * (int64_t)picture.width * picture.height : 0;
  if (ok && needed != size_bytes)
    ok = error_set(err, RG_ERROR_ARGUMENT, "this picture has %lld bytes, but %lld were given",
                   (long long)needed, (long long)size_bytes);
  if (ok) paint(&picture, rgba, 4);
  heap_free(&program->owner.heap, picture.allocated);
  return ok;
}

/* Copies the members that the caller's version of the struct has; false unless it has one
 * source. */
static bool read_picture_options(const RgPicture *from, RgPicture *picture) {
  *picture = (RgPicture){0};
  if (!from || from->struct_size < (int32_t)sizeof from->struct_size) return false;
  size_t size = (size_t)from->struct_size;
  memcpy(picture, from, size < sizeof *picture ? size : sizeof *picture);
  return (picture->field != NULL) + (picture->array != NULL) + (picture->values != NULL) == 1;
}

RgStatus rg_picture_write(RgRuntime *runtime, const char *path, const RgPicture *from) {
  Program *program = (Program *)runtime;
  RgPicture picture;
  API_NEEDS(runtime);
  API_NEEDS(path);
  if (!read_picture_options(from, &picture))
    return api_refuse(__func__, "a picture needs its struct_size, and one of field, array, values");
  return API_CALL(program, write_picture(program, path, &picture, API_ERR(program)));
}

RgStatus rg_picture_paint(RgRuntime *runtime, const RgPicture *from, uint8_t *rgba,
                          int64_t size_bytes) {
  Program *program = (Program *)runtime;
  RgPicture picture;
  API_NEEDS(runtime);
  API_NEEDS(rgba);
  if (!read_picture_options(from, &picture))
    return api_refuse(__func__, "a picture needs its struct_size, and one of field, array, values");
  return API_CALL(program, paint_picture(program, &picture, rgba, size_bytes, API_ERR(program)));
}

RgStatus rg_image_write_field(RgRuntime *runtime, const char *path, RgField *field, double low,
                              double high, const char *palette) {
  API_NEEDS(field);
  RgPicture picture = {
      .struct_size = sizeof picture, .field = field, .low = low, .high = high, .palette = palette};
  return rg_picture_write(runtime, path, &picture);
}

RgStatus rg_image_write_array(RgRuntime *runtime, const char *path, RgArray *array, double low,
                              double high, const char *palette) {
  API_NEEDS(array);
  RgPicture picture = {
      .struct_size = sizeof picture, .array = array, .low = low, .high = high, .palette = palette};
  return rg_picture_write(runtime, path, &picture);
}

static bool write_pixels(Program *program, const char *path, const uint8_t *pixels, int32_t width,
                         int32_t height, int32_t channels, Error *err) {
  if (!owner_check(&program->owner, err)) return false;
  if (width < 1 || height < 1 || (channels != 1 && channels != 3 && channels != 4))
    return error_set(err, RG_ERROR_ARGUMENT,
                     "a picture needs at least one pixel, of 1, 3 or 4 channels");
  return image_write(path, pixels, width, height, channels, err);
}

RgStatus rg_image_write(RgRuntime *runtime, const char *path, const uint8_t *pixels, int32_t width,
                        int32_t height, int32_t channels) {
  Program *program = (Program *)runtime;
  API_NEEDS(runtime);
  API_NEEDS(path);
  API_NEEDS(pixels);
  return API_CALL(program,
                  write_pixels(program, path, pixels, width, height, channels, API_ERR(program)));
}

/* -- reading ----------------------------------------------------------------------------------- */

/* Reorders pixels from rows, top row first, to columns, upward. */
static void transpose(const Image *image, double gamma, double *values) {
  for (int64_t x = 0; x < image->width; x++)
    for (int64_t y = 0; y < image->height; y++) {
      const float *from =
          image->pixels + ((image->height - 1 - y) * image->width + x) * image->channels;
      for (int c = 0; c < image->channels; c++) {
        bool is_opacity = c == 3;
        *values++ = gamma == 1 || is_opacity ? from[c] : pow(from[c], gamma);
      }
    }
}

static Array *image_to_array(Program *program, const Image *image, double gamma, Error *err) {
  static const char *const types[] = {[1] = "f32", [3] = "vec3", [4] = "vec4"};
  int64_t shape[] = {image->width, image->height};
  int64_t count = shape[0] * shape[1] * image->channels;
  double *values = heap_alloc(&program->owner.heap, sizeof *values * (size_t)count);
  if (!values) {
    error_set(err, RG_ERROR_MEMORY, "the host has no memory left for a picture");
    return NULL;
  }
  Array *array = array_create(&program->store, types[image->channels], shape, 2, NULL, err);
  transpose(image, gamma, values);
  if (array && !array_write(array, values, count, err)) {
    object_release(&array->object);
    array = NULL;
  }
  heap_free(&program->owner.heap, values);
  return array;
}

static bool read_picture(Program *program, const char *path, double gamma, RgArray **array,
                         Error *err) {
  Image image;
  if (!owner_check(&program->owner, err)) return false;
  if (!(gamma >= 0)) return error_set(err, RG_ERROR_ARGUMENT, "gamma must be positive");
  if (!image_read(&program->owner.heap, path, &image, err)) return false;
  *array = (RgArray *)image_to_array(program, &image, gamma == 0 ? 1 : gamma, err);
  heap_free(&program->owner.heap, image.pixels);
  return *array;
}

RgStatus rg_image_read(RgRuntime *runtime, const char *path, double gamma, RgArray **array) {
  Program *program = (Program *)runtime;
  API_NEEDS(runtime);
  API_NEEDS(path);
  API_NEEDS(array);
  *array = NULL;
  return API_CALL(program, read_picture(program, path, gamma, array, API_ERR(program)));
}
