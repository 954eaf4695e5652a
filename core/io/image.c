/* image.c - PNG through libpng, opened for each picture: that costs little compared with one. Its
 * errors leave by longjmp; only the row pointer is held across it. */
#include "io/image.h"

#include <errno.h>
#include <string.h>

#include "base/bits.h"
#include "io/png_library.h"

typedef struct Writing {
  PngLibrary png;
  const char *path;
  Error *err;
} Writing;

/* a libpng error handler finds its picture through a function that we have not loaded */
static _Thread_local Writing *current;

static void on_error(png_structp png, png_const_charp why) {
  error_set(current->err, RG_ERROR_IO, "picture '%.160s' cannot be written: %s", current->path,
            why);
  current->png.png_longjmp(png, 1);
}
static void on_warning(png_structp png, png_const_charp why) {}

static bool write_png(FILE *file, Writing *writing, const uint8_t *pixels, int32_t width,
                      int32_t height, int32_t channels) {
  static const int colors[] = {0, PNG_COLOR_TYPE_GRAY, 0, PNG_COLOR_TYPE_RGB,
                               PNG_COLOR_TYPE_RGB_ALPHA};
  const PngLibrary *library = &writing->png;
  current = writing;
  png_structp png =
      library->png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, on_error, on_warning);
  png_infop info = png ? library->png_create_info_struct(png) : NULL;
  if (!info) {
    library->png_destroy_write_struct(&png, NULL);
    return error_set(writing->err, RG_ERROR_MEMORY, "the host has no memory left for a picture");
  }
  if (setjmp(*library->png_set_longjmp_fn(png, longjmp, sizeof(jmp_buf)))) {
    library->png_destroy_write_struct(&png, &info);
    return false;
  }
  library->png_init_io(png, file);
  library->png_set_IHDR(png, info, (png_uint_32)width, (png_uint_32)height, 8, colors[channels],
                        PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  library->png_write_info(png, info);
  for (int32_t y = 0; y < height; y++)
    library->png_write_row(png, pixels + (int64_t)y * width * channels);
  library->png_write_end(png, info);
  library->png_destroy_write_struct(&png, &info);
  return true;
}

static bool has_ending(const char *path, const char *ending) {
  size_t length = strlen(path), tail = strlen(ending);
  return length > tail && !strcmp(path + length - tail, ending);
}

static bool write_file(Writing *writing, const uint8_t *pixels, int32_t width, int32_t height,
                       int32_t channels) {
  const char *path = writing->path;
  FILE *file = fopen(path, "wb");
  if (!file)
    return error_set(writing->err, RG_ERROR_IO, "picture '%.160s' cannot be written: %s", path,
                     strerror(errno));
  bool ok = write_png(file, writing, pixels, width, height, channels);
  if (fclose(file) && ok)
    ok = error_set(writing->err, RG_ERROR_IO, "picture '%.160s' cannot be written: %s", path,
                   strerror(errno));
  if (!ok) remove(path);
  return ok;
}

bool image_write(const char *path, const uint8_t *pixels, int32_t width, int32_t height,
                 int32_t channels, Error *err) {
  if (!has_ending(path, ".png")) {
    error_set(err, RG_ERROR_ARGUMENT, "'%.200s' is not the name of a picture that can be written",
              path);
    return error_hint(err, "end the name with .png");
  }
  if (width < 1 || height < 1 || (channels != 1 && channels != 3 && channels != 4))
    return error_set(err, RG_ERROR_ARGUMENT,
                     "a picture of %d x %d pixels with %d channels cannot be written", width,
                     height, channels);
  Writing writing = {.path = path, .err = err};
  if (!png_library_open(&writing.png, err)) return false;
  bool ok = write_file(&writing, pixels, width, height, channels);
  png_library_close(&writing.png);
  return ok;
}

static uint8_t level(double value) {
  if (!(value > 0)) return 0;
  return value >= 1 ? 255 : (uint8_t)(value * 255 + 0.5);
}

void image_palette(Palette palette, double value, uint8_t rgb[3]) {
  switch (palette) {
  case PALETTE_GREY: rgb[0] = rgb[1] = rgb[2] = level(value); return;
  case PALETTE_HEAT:
    for (int i = 0; i < 3; i++) rgb[i] = level(3 * value - i);
    return;
  }
}
