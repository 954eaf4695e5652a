/* image.h - writes and reads pictures: PNG (libpng), PPM and PGM, and OpenEXR, which keeps floats.
 * Pixels are row by row from the top; 1 channel is grey, 3 are rgb, 4 rgba. */
#ifndef RG_IO_IMAGE_H
#define RG_IO_IMAGE_H

#include <stdint.h>

#include "base/error.h"
#include "base/heap.h"

/* The format follows from the path's extension: .png, .ppm or .pgm. */
bool image_write(const char *path, const uint8_t *pixels, int32_t width, int32_t height,
                 int32_t channels, Error *err);
/* Does the path name a format that keeps floats? If so, use image_write_floats. */
bool image_keeps_floats(const char *path);
bool image_write_floats(Heap *heap, const char *path, const float *pixels, int32_t width,
                        int32_t height, int32_t channels, Error *err);

typedef struct Image {
  int32_t width, height, channels;
  float *pixels; /* of the heap. Bytes are 0 to 1 */
} Image;
/* The format follows from the contents. */
bool image_read(Heap *heap, const char *path, Image *image, Error *err);

typedef enum Palette {
#define PALETTE(NAME, WORD) PALETTE_##NAME,
#include "io/palette.def"
#undef PALETTE
} Palette;
/* `value` 0..1 to rgb. */
void image_palette(Palette palette, double value, uint8_t rgb[3]);

/* -- one file for each format; only image.c calls these ---------------------------------------- */
bool png_write(const char *path, const uint8_t *pixels, int32_t width, int32_t height,
               int32_t channels, Error *err);
bool png_read(Heap *heap, const char *path, Image *image, Error *err);
bool ppm_write(const char *path, const uint8_t *pixels, int32_t width, int32_t height,
               int32_t channels, Error *err);
bool ppm_read(Heap *heap, const char *path, Image *image, Error *err);
bool exr_write(Heap *heap, const char *path, const float *pixels, int32_t width, int32_t height,
               int32_t channels, Error *err);
bool exr_read(Heap *heap, const char *path, Image *image, Error *err);
/* Always false: "picture 'x.png' cannot be written: .." */
bool image_fail(const char *path, const char *what, const char *why, Error *err);
/* Allocates the pixels of an image whose size is set; fails if that is too large. */
bool image_allocate(Heap *heap, const char *path, Image *image, Error *err);

#endif
