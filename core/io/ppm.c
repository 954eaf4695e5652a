/* ppm.c - PPM (P6) and PGM (P5), binary. The formats have no opacity: it is dropped. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "io/image.h"
#include "io/replace.h"

static bool put(FILE *file, const uint8_t *pixels, int64_t count, int32_t channels) {
  if (channels != 4) return fwrite(pixels, (size_t)channels, (size_t)count, file) == (size_t)count;
  bool ok = true;
  for (int64_t k = 0; ok && k < count; k++) ok = fwrite(pixels + 4 * k, 3, 1, file) == 1;
  return ok;
}

bool ppm_write(const char *path, const uint8_t *pixels, int32_t width, int32_t height,
               int32_t channels, Error *err) {
  Replacement out;
  if (!replace_begin(&out, "picture", path, err)) return false;
  FILE *file = replace_stream(&out, err);
  bool ok = file;
  if (ok && (fprintf(file, "P%d\n%d %d\n255\n", channels == 1 ? 5 : 6, width, height) < 0 ||
             !put(file, pixels, (int64_t)width * height, channels)))
    ok = image_fail(path, "written", strerror(errno), err);
  ok = ok && replace_end(&out, err);
  if (!ok) replace_abandon(&out);
  return ok;
}

/* The first character past blanks and comments. */
static int skip_blanks(FILE *file) {
  for (;;) {
    int c = getc(file);
    if (c == '#')
      while (c != '\n' && c != EOF) c = getc(file);
    else if (c != ' ' && c != '\t' && c != '\r' && c != '\n') return c;
    if (c == EOF) return EOF;
  }
}

static bool read_number(FILE *file, int32_t max_value, int32_t *number) {
  int c = skip_blanks(file);
  int64_t value = 0;
  bool ok = c >= '0' && c <= '9';
  for (; c >= '0' && c <= '9' && value <= max_value; c = getc(file)) value = value * 10 + c - '0';
  *number = (int32_t)value;
  return ok && value <= max_value; /* and one blank after it is read */
}

static bool read_pixels(FILE *file, int32_t max_value, const Image *image) {
  size_t count = (size_t)image->width * (size_t)image->height * (size_t)image->channels;
  for (size_t k = 0; k < count; k++) {
    int high = max_value > 255 ? getc(file) : 0, low = getc(file);
    if (high == EOF || low == EOF) return false;
    image->pixels[k] = (float)(high * 256 + low) / (float)max_value;
  }
  return true;
}

bool ppm_read(Heap *heap, const char *path, Image *image, Error *err) {
  FILE *file = fopen(path, "rb");
  int32_t max_value = 0;
  if (!file) return image_fail(path, "read", strerror(errno), err);
  image->channels = getc(file) == 'P' && getc(file) == '6' ? 3 : 1;
  bool ok = read_number(file, 65535, &image->width) && read_number(file, 65535, &image->height) &&
            read_number(file, 65535, &max_value) && max_value > 0;
  if (!ok) image_fail(path, "read", "its first line is invalid", err);
  ok = ok && image_allocate(heap, path, image, err);
  if (ok && !read_pixels(file, max_value, image))
    ok = image_fail(path, "read", "it ends too early", err);
  fclose(file);
  return ok;
}
