/* image.h - pictures to files, and back: PNG (libpng), PPM and PGM, and OpenEXR, which keeps
 * floats. Knows numbers, not fields. Pixels are row by row, the top one first; channels 1 are grey,
 * 3 rgb, 4 rgba. */
#ifndef RG_IO_IMAGE_H
#define RG_IO_IMAGE_H

#include <stdint.h>

#include "base/error.h"
#include "base/heap.h"

/* The format follows from the path's extension: .png, .ppm or .pgm. */
bool image_write(const char *path, const uint8_t *pixels, int32_t width, int32_t height,
                 int32_t channels, Error *err);
/* Does it name a format that keeps floats as they are? Then image_write_floats writes it. */
bool image_keeps_floats(const char *path);
bool image_write_floats(Heap *heap, const char *path, const float *pixels, int32_t width,
                        int32_t height, int32_t channels, Error *err);

typedef struct Image {
  int32_t width, height, channels;
  float *pixels;       /* of the heap. Bytes are 0 to 1 */
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

/* -- one file per format, for image.c alone ---------------------------------------------------- */
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
/* Memory for the pixels of an image whose size is set; too large: an error. */
bool image_allocate(Heap *heap, const char *path, Image *image, Error *err);

#endif
