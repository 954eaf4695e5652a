/* png.c - PNG through libpng, which is opened for each picture, since that costs little compared
 * with the picture. Its errors leave by longjmp; only the row pointer is held across it. */
#include <errno.h>
#include <string.h>

#include "io/image.h"
#include "io/png_library.h"
#include "io/replace.h"

typedef struct Writing {
  PngLibrary png;
  const char *path;
  Error *err;
} Writing;

/* a libpng error handler finds its picture through a function that we have not loaded */
static _Thread_local Writing *current;

static void on_error(png_structp png, png_const_charp why) {
  bool is_system = !strcmp(why, "Write Error"); /* libpng's text if the stream failed */
  image_fail(current->path, "written", is_system ? strerror(errno) : why, current->err);
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

static bool write_file(Writing *writing, const uint8_t *pixels, int32_t width, int32_t height,
                       int32_t channels) {
  Replacement out;
  if (!replace_begin(&out, "picture", writing->path, writing->err)) return false;
  FILE *file = replace_stream(&out, writing->err);
  bool ok = file && write_png(file, writing, pixels, width, height, channels) &&
            replace_end(&out, writing->err);
  if (!ok) replace_abandon(&out);
  return ok;
}

bool png_write(const char *path, const uint8_t *pixels, int32_t width, int32_t height,
               int32_t channels, Error *err) {
  Writing writing = {.path = path, .err = err};
  if (!png_library_open(&writing.png, err)) return false;
  bool ok = write_file(&writing, pixels, width, height, channels);
  png_library_close(&writing.png);
  return ok;
}

/* -- reading, by libpng's simplified interface: no longjmp */

static bool finish_reading(const PngLibrary *library, Heap *heap, const char *path, png_image *png,
                           Image *image, Error *err) {
  bool has_colour = png->format & PNG_FORMAT_FLAG_COLOR;
  bool has_alpha = png->format & PNG_FORMAT_FLAG_ALPHA;
  *image = (Image){.width = (int32_t)png->width,
                   .height = (int32_t)png->height,
                   .channels = has_alpha    ? 4
                               : has_colour ? 3
                                            : 1};
  png->format = has_alpha ? PNG_FORMAT_RGBA : has_colour ? PNG_FORMAT_RGB : PNG_FORMAT_GRAY;
  if (!image_allocate(heap, path, image, err)) return false;
  size_t count = (size_t)image->width * (size_t)image->height * (size_t)image->channels;
  uint8_t *bytes = heap_alloc(heap, count);
  if (!bytes) return error_set(err, RG_ERROR_MEMORY, "the host has no memory left for a picture");
  bool ok = library->png_image_finish_read(png, NULL, bytes, 0, NULL);
  for (size_t k = 0; ok && k < count; k++) image->pixels[k] = (float)bytes[k] / 255;
  heap_free(heap, bytes);
  return ok || image_fail(path, "read", png->message, err);
}

bool png_read(Heap *heap, const char *path, Image *image, Error *err) {
  PngLibrary library;
  png_image png = {.version = PNG_IMAGE_VERSION};
  if (!png_library_open(&library, err)) return false;
  bool ok = library.png_image_begin_read_from_file(&png, path)
                ? finish_reading(&library, heap, path, &png, image, err)
                : image_fail(path, "read", png.message, err);
  library.png_image_free(&png);
  png_library_close(&library);
  return ok;
}
