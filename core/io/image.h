/* image.h - pictures to files. PNG through libpng. Knows bytes, not fields. */
#ifndef RG_IO_IMAGE_H
#define RG_IO_IMAGE_H

#include <stdint.h>

#include "base/error.h"

/* width*height*channels bytes, top row first; channels 1 grey, 3 rgb, 4 rgba. The format follows
 * from the path's extension. */
bool image_write(const char *path, const uint8_t *pixels, int32_t width, int32_t height,
                 int32_t channels, Error *err);
typedef enum Palette {
#define PALETTE(NAME, WORD) PALETTE_##NAME,
#include "io/palette.def"
#undef PALETTE
} Palette;
/* `value` 0..1 to rgb. */
void image_palette(Palette palette, double value, uint8_t rgb[3]);

#endif
