/* palette.c - colour maps. viridis and magma (van der Walt, Smith) by polynomials of degree six,
 * which stay within 5 of 255 of their tables; coolwarm (Moreland, 2009) by 33 of its colours. */
#include "io/image.h"

typedef double Polynomial[7][3]; /* by power: coefficients of red, green, blue */

static const Polynomial viridis = {{0.2777273272234177, 0.005407344544966578, 0.3340998053353061},
                                   {0.1050930431085774, 1.404613529898575, 1.384590162594685},
                                   {-0.3308618287255563, 0.214847559468213, 0.09509516302823659},
                                   {-4.634230498983486, -5.799100973351585, -19.33244095627987},
                                   {6.228269936347081, 14.17993336680509, 56.69055260068105},
                                   {4.776384997670288, -13.74514537774601, -65.35303263337234},
                                   {-5.435455855934631, 4.645852612178535, 26.3124352495832}};
static const Polynomial magma = {
    {-0.002136485053939582, -0.000749655052795221, -0.005386127855323933},
    {0.2516605407371642, 0.6775232436837668, 2.494026599312351},
    {8.353717279216625, -3.577719514958484, 0.3144679030132573},
    {-27.66873308576866, 14.26473078096533, -13.64921318813922},
    {52.17613981234068, -27.94360607168351, 12.94416944238394},
    {-50.76852536473588, 29.04658282127291, 4.23415299384598},
    {18.65570506591883, -11.48977351997711, -5.601961508734096}};
static const uint8_t coolwarm[33][3] = {
    {59, 76, 192},   {68, 90, 204},   {77, 104, 215},  {87, 117, 225},  {98, 130, 234},
    {108, 142, 241}, {119, 154, 247}, {130, 165, 251}, {141, 176, 254}, {152, 185, 255},
    {163, 194, 255}, {174, 201, 253}, {184, 208, 249}, {194, 213, 244}, {204, 217, 238},
    {213, 219, 230}, {221, 221, 221}, {229, 216, 209}, {236, 211, 197}, {241, 204, 185},
    {245, 196, 173}, {247, 187, 160}, {247, 177, 148}, {247, 166, 135}, {244, 154, 123},
    {241, 141, 111}, {236, 127, 99},  {229, 112, 88},  {222, 96, 77},   {213, 80, 66},
    {203, 62, 56},   {192, 40, 47},   {180, 4, 38}};

static uint8_t level(double value) {
  if (!(value > 0)) return 0;
  return value >= 1 ? 255 : (uint8_t)(value * 255 + 0.5);
}

static void evaluate(const Polynomial powers, double value, uint8_t rgb[3]) {
  for (int i = 0; i < 3; i++) {
    double sum = 0;
    for (int k = 6; k >= 0; k--) sum = sum * value + powers[k][i];
    rgb[i] = level(sum);
  }
}

static void interpolate(const uint8_t table[33][3], double value, uint8_t rgb[3]) {
  double at = value * 32;
  int k = at >= 32 ? 31 : (int)at;
  for (int i = 0; i < 3; i++)
    rgb[i] = level((table[k][i] + (at - k) * (table[k + 1][i] - table[k][i])) / 255);
}

void image_palette(Palette palette, double value, uint8_t rgb[3]) {
  value = value > 0 ? value < 1 ? value : 1 : 0;
  switch (palette) {
  case PALETTE_GREY: rgb[0] = rgb[1] = rgb[2] = level(value); return;
  case PALETTE_HEAT:
    for (int i = 0; i < 3; i++) rgb[i] = level(3 * value - i);
    return;
  case PALETTE_VIRIDIS: evaluate(viridis, value, rgb); return;
  case PALETTE_MAGMA: evaluate(magma, value, rgb); return;
  case PALETTE_COOLWARM: interpolate(coolwarm, value, rgb); return;
  }
}
