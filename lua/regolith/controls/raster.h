/* raster.h - paints triangles into a picture: interpolated colours and one texture of coverage,
 * blended. It does not depend on controls. */
#ifndef RG_CONTROLS_RASTER_H
#define RG_CONTROLS_RASTER_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The layout of Dear ImGui: rgba is four bytes, red first, not premultiplied. */
typedef struct RasterVertex {
  float x, y, u, v;
  uint32_t rgba;
} RasterVertex;

/* Coverage, one byte per texel. */
typedef struct RasterTexture {
  const uint8_t *texels;
  int32_t width, height;
} RasterTexture;

/* Premultiplied rgba of `width` times `height` pixels, the first of which is at (x, y). */
typedef struct RasterTarget {
  uint8_t *rgba;
  int32_t x, y, width, height;
} RasterTarget;

/* Only pixels of this rectangle are painted: low inclusive, high exclusive. */
typedef struct RasterClip {
  int32_t low_x, low_y, high_x, high_y;
} RasterClip;

/* A pixel belongs to a triangle if its centre does, and to only one of two that share an edge. */
void raster_triangle(const RasterTarget *target, const RasterTexture *texture, RasterClip clip,
                     const RasterVertex *a, const RasterVertex *b, const RasterVertex *c);

#ifdef __cplusplus
}
#endif
#endif
