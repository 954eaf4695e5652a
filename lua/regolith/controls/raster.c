/* raster.c - paints triangles by their edge functions, in units of 1/16 pixel. By the top-left
 * rule, two triangles that share an edge paint each pixel on it once. */
#include "raster.h"

#include <math.h>

enum { UNIT = 16 };
static const float farthest = 1 << 20; /* pixels; vertices that are farther, or NaN, are ignored */

typedef struct Point {
  int64_t x, y;
} Point;

static Point fixed(const RasterVertex *v) {
  return (Point){llrintf(v->x * UNIT), llrintf(v->y * UNIT)};
}

static int64_t edge(Point a, Point b, Point p) {
  return (b.x - a.x) * (p.y - a.y) - (b.y - a.y) * (p.x - a.x);
}

/* With y downward and vertices clockwise, a top edge goes right, and a left one up. */
static int is_inside(int64_t distance, Point a, Point b) {
  if (distance != 0) return distance > 0;
  return (a.y == b.y && b.x > a.x) || b.y < a.y;
}

static float channel(uint32_t rgba, int which) { return (float)(rgba >> (8 * which) & 255); }

/* Interpolates between four texels, as a GPU does. */
static float coverage(const RasterTexture *texture, float u, float v) {
  float x = u * (float)texture->width - 0.5f, y = v * (float)texture->height - 0.5f;
  int32_t i = (int32_t)floorf(x), j = (int32_t)floorf(y);
  float s = x - (float)i, t = y - (float)j, sum = 0;
  for (int b = 0; b < 2; b++) {
    for (int a = 0; a < 2; a++) {
      int32_t p = i + a, q = j + b;
      if (p < 0 || q < 0 || p >= texture->width || q >= texture->height) continue;
      float weight = (a ? s : 1 - s) * (b ? t : 1 - t);
      sum += weight * (float)texture->texels[(int64_t)q * texture->width + p];
    }
  }
  return sum / 255;
}

static void blend(uint8_t *pixel, const float rgba[4]) {
  float alpha = rgba[3] / 255, keep = 1 - alpha;
  for (int k = 0; k < 3; k++) pixel[k] = (uint8_t)(rgba[k] * alpha + keep * pixel[k] + 0.5f);
  pixel[3] = (uint8_t)(rgba[3] + keep * pixel[3] + 0.5f);
}

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }

/* The pixels that the triangle can touch, within the clip and the target. */
static RasterClip bounds(const RasterTarget *target, RasterClip clip, Point a, Point b, Point c) {
  int64_t low_x = least(a.x, least(b.x, c.x)) / UNIT - 1;
  int64_t low_y = least(a.y, least(b.y, c.y)) / UNIT - 1;
  int64_t high_x = most(a.x, most(b.x, c.x)) / UNIT + 1;
  int64_t high_y = most(a.y, most(b.y, c.y)) / UNIT + 1;
  clip.low_x = (int32_t)most(low_x, most(clip.low_x, target->x));
  clip.low_y = (int32_t)most(low_y, most(clip.low_y, target->y));
  clip.high_x = (int32_t)least(high_x, least(clip.high_x, target->x + target->width));
  clip.high_y = (int32_t)least(high_y, least(clip.high_y, target->y + target->height));
  return clip;
}

static int is_near(const RasterVertex *v) {
  return fabsf(v->x) < farthest && fabsf(v->y) < farthest;
}

void raster_triangle(const RasterTarget *target, const RasterTexture *texture, RasterClip clip,
                     const RasterVertex *a, const RasterVertex *b, const RasterVertex *c) {
  if (!is_near(a) || !is_near(b) || !is_near(c)) return;
  Point pa = fixed(a), pb = fixed(b), pc = fixed(c);
  int64_t area = edge(pa, pb, pc);
  if (area == 0) return;
  if (area < 0) {
    raster_triangle(target, texture, clip, a, c, b);
    return;
  }
  RasterClip box = bounds(target, clip, pa, pb, pc);
  int is_plain = a->u == b->u && a->u == c->u && a->v == b->v && a->v == c->v;
  float cover = is_plain ? coverage(texture, a->u, a->v) : 1;
  for (int32_t y = box.low_y; y < box.high_y; y++) {
    for (int32_t x = box.low_x; x < box.high_x; x++) {
      Point p = {(int64_t)x * UNIT + UNIT / 2, (int64_t)y * UNIT + UNIT / 2};
      int64_t wa = edge(pb, pc, p), wb = edge(pc, pa, p), wc = edge(pa, pb, p);
      if (!is_inside(wa, pb, pc) || !is_inside(wb, pc, pa) || !is_inside(wc, pa, pb)) continue;
      float fa = (float)wa / (float)area, fb = (float)wb / (float)area, fc = 1 - fa - fb, rgba[4];
      if (!is_plain) {
        cover =
            coverage(texture, fa * a->u + fb * b->u + fc * c->u, fa * a->v + fb * b->v + fc * c->v);
      }
      for (int k = 0; k < 4; k++) {
        rgba[k] = fa * channel(a->rgba, k) + fb * channel(b->rgba, k) + fc * channel(c->rgba, k);
      }
      rgba[3] *= cover;
      int64_t at = (int64_t)(y - target->y) * target->width + (x - target->x);
      if (rgba[3] > 0) blend(target->rgba + 4 * at, rgba);
    }
  }
}
