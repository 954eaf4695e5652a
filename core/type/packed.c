/* packed.c - see packed.h: names, and the conversions of the host. */
#include "type/packed.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* -- names ------------------------------------------------------------------------------------- */

static const char *const kind_texts[] = {[PACKED_INT] = "int",
                                         [PACKED_UINT] = "uint",
                                         [PACKED_FIXED] = "fixed",
                                         [PACKED_FLOAT] = "float",
                                         [PACKED_SHARED] = "shared"};

/* The kind whose name, followed by '(', begins the text; NONE: none. */
static PackedKind kind_at(const char *at, const char *end) {
  for (int kind = PACKED_INT; kind <= PACKED_SHARED; kind++) {
    size_t length = strlen(kind_texts[kind]);
    if ((size_t)(end - at) > length && !memcmp(at, kind_texts[kind], length) && at[length] == '(')
      return (PackedKind)kind;
  }
  return PACKED_NONE;
}

/* Skips "vec(3," or "mat(2,3,"; *rows and *cols are 1 if there is neither. */
static const char *skip_shape(const char *at, int64_t *rows, int64_t *cols) {
  char *next;
  *rows = *cols = 1;
  bool is_matrix = !strncmp(at, "mat(", 4);
  if (!is_matrix && strncmp(at, "vec(", 4)) return at;
  *rows = strtoll(at + 4, &next, 10);
  if (is_matrix && *next == ',') *cols = strtoll(next + 1, &next, 10);
  return *next == ',' ? next + 1 : at;
}

bool packed_is_text(Str text) {
  char copy[PACKED_TEXT];
  int64_t rows, cols;
  if (text.length >= PACKED_TEXT) return false;
  snprintf(copy, sizeof copy, "%.*s", text.length, text.data);
  const char *at = skip_shape(copy, &rows, &cols);
  return kind_at(at, copy + text.length) != PACKED_NONE;
}

const char *packed_text(const Packed *packed, char out[PACKED_TEXT]) {
  const char *kind = kind_texts[packed->kind];
  if (packed->kind == PACKED_FIXED) {
    char low[STR_DOUBLE_BYTES], high[STR_DOUBLE_BYTES];
    str_from_double(low, 'g', 17, packed->low);
    str_from_double(high, 'g', 17, packed->high);
    snprintf(out, PACKED_TEXT, "%s(%d,%.30s,%.30s)", kind, packed->bits, low, high);
  } else if (packed->kind == PACKED_FLOAT || packed->kind == PACKED_SHARED) {
    snprintf(out, PACKED_TEXT, "%s(%d,%d)", kind, packed->exponent, packed->fraction);
  } else {
    snprintf(out, PACKED_TEXT, "%s(%d)", kind, packed->bits);
  }
  return out;
}

/* -- declarations ------------------------------------------------------------------------------ */

static bool check_bits(const char *kind, double bits, int least, int most, Error *err) {
  if (bits == floor(bits) && bits >= least && bits <= most) return true;
  return error_set(err, RG_ERROR_ARGUMENT, "rg.%s takes %d to %d bits, not %.14g", kind, least,
                   most, bits);
}

static bool declare_integer(Packed *p, double bits, Error *err) {
  bool is_signed = p->kind == PACKED_INT;
  if (!check_bits(kind_texts[p->kind], bits, 1, PACKED_MOST_BITS, err)) return false;
  p->bits = (int)bits;
  int digits = p->bits - is_signed;
  p->most = digits >= 64 ? -1 : (int64_t)(((uint64_t)1 << digits) - 1);
  p->least = is_signed ? -p->most - 1 : 0;
  if (digits == 32 || digits == 64) p->computed = digits == 32 ? TYPE(U32) : TYPE(U64);
  else p->computed = digits > 31 ? TYPE(I64) : TYPE(I32);
  return true;
}

static double inner_round(const Packed *p, double value) {
  return type_is(p->inner, TYPE_F32) ? (double)(float)value : value;
}

/* Of the steps next to the exact one, the first by which the last number is `high` itself. */
static void choose_step(Packed *p) {
  int64_t count = p->most > -p->least ? p->most : p->least;
  double end = inner_round(p, p->most > -p->least ? p->high : p->low);
  double first = inner_round(p, p->step), tried = first;
  for (int k = 0; k < 5; k++) {
    if (inner_round(p, (double)count * tried) == end) break;
    double up = k % 2 ? INFINITY : -INFINITY;
    tried = first;
    for (int n = 0; n <= k / 2; n++)
      tried = type_is(p->inner, TYPE_F32) ? (double)nextafterf((float)tried, (float)up)
                                          : nextafter(tried, up);
  }
  bool is_exact = inner_round(p, (double)count * tried) == end;
  p->step = is_exact ? tried : first;
  p->inverse = inner_round(p, 1 / p->step);
}

/* The stored integers count steps from 0, so both signs have as many bits as they need. */
static bool declare_fixed(Packed *p, double bits, double low, double high, Error *err) {
  if (!check_bits("fixed", bits, 1, PACKED_MOST_FIXED, err)) return false;
  if (!(isfinite(low) && isfinite(high) && low < high))
    return error_set(err, RG_ERROR_ARGUMENT,
                     "rg.fixed takes a range {low, high} with low < high, not {%.14g, %.14g}", low,
                     high);
  if (low > 0 || high < 0) {
    error_set(err, RG_ERROR_ARGUMENT, "the range {%.14g, %.14g} of rg.fixed has no 0", low, high);
    return error_hint(err, "numbers that were never written are 0: store the distance to %.14g",
                      low > 0 ? low : high);
  }
  if (low < 0 && high > 0 && bits < 2)
    return error_set(err, RG_ERROR_ARGUMENT,
                     "rg.fixed takes 2 bits or more for numbers of both "
                     "signs");
  p->bits = (int)bits;
  p->low = low;
  p->high = high;
  int64_t all = (int64_t)(((uint64_t)1 << p->bits) - 1), half = all / 2;
  p->step = (high - low) / (double)(low == -high ? 2 * half : low < 0 && high > 0 ? all - 1 : all);
  p->least = low == -high ? -half : low < 0 ? -(int64_t)ceil(-low / p->step - 1e-9) : 0;
  if (high == 0) p->least = -all;
  p->most = low == -high ? half : all + p->least;
  int64_t largest = p->most > -p->least ? p->most : -p->least;
  p->inner = largest < (int64_t)1 << 21 ? TYPE(F32) : TYPE(F64);
  p->computed = p->bits > 24 ? TYPE(F64) : TYPE(F32);
  choose_step(p);
  return p->step > 0 && isfinite(p->inverse) ? true
                                             : error_set(err, RG_ERROR_ARGUMENT,
                                                         "the range {%.14g, %.14g} of rg.fixed is "
                                                         "too small for its bits",
                                                         low, high);
}

static bool declare_float(Packed *p, double exponent, double fraction, Error *err) {
  bool is_shared = p->kind == PACKED_SHARED;
  if (!(exponent == floor(exponent) && exponent >= 2 && exponent <= 8))
    return error_set(err, RG_ERROR_ARGUMENT, "rg.float takes 2 to 8 bits of exponent, not %.14g",
                     exponent);
  if (!(fraction == floor(fraction) && fraction >= 1 && fraction <= (is_shared ? 20 : 23)))
    return error_set(err, RG_ERROR_ARGUMENT, "rg.float takes 1 to %d bits of fraction, not %.14g",
                     is_shared ? 20 : 23, fraction);
  p->exponent = (int)exponent;
  p->fraction = (int)fraction;
  p->bits = is_shared ? 1 + p->fraction : 1 + p->exponent + p->fraction;
  p->computed = TYPE(F32);
  return true;
}

static bool unknown(Str text, Error *err) {
  error_set(err, RG_ERROR_TYPE_UNKNOWN, "there is no type '%.*s'",
            text.length > 60 ? 60 : text.length, text.data);
  return error_hint(err, "packed types are rg.int(b), rg.uint(b), rg.fixed(b, {low, high}) and "
                         "rg.float(exponent, fraction)");
}

bool packed_read(Str text, Packed *packed, Type *whole, Error *err) {
  char copy[PACKED_TEXT], *next;
  int64_t rows, cols;
  double numbers[3] = {0};
  if (!packed_is_text(text)) return unknown(text, err);
  snprintf(copy, sizeof copy, "%.*s", text.length, text.data);
  const char *at = skip_shape(copy, &rows, &cols);
  bool is_shaped = at != copy;
  *packed = (Packed){.kind = kind_at(at, copy + text.length)};
  int count = 0, wanted = packed->kind == PACKED_FIXED ? 3 : packed->kind >= PACKED_FLOAT ? 2 : 1;
  at += strlen(kind_texts[packed->kind]);
  do {
    numbers[count++] = str_to_double(at + 1, &next);
    if (next == at + 1) return unknown(text, err);
    at = next;
  } while (*at == ',' && count < wanted);
  if (count != wanted || strcmp(at, is_shaped ? "))" : ")")) return unknown(text, err);
  bool ok = packed->kind == PACKED_FIXED
                ? declare_fixed(packed, numbers[0], numbers[1], numbers[2], err)
            : packed->kind >= PACKED_FLOAT ? declare_float(packed, numbers[0], numbers[1], err)
                                           : declare_integer(packed, numbers[0], err);
  if (!ok) return false;
  if (!is_shaped) *whole = packed->computed;
  else if (!type_make(packed->computed, rows, cols, whole)) return unknown(text, err);
  if (packed->kind == PACKED_SHARED && !is_shaped)
    return error_set(err, RG_ERROR_ARGUMENT,
                     "numbers of a vector share an exponent, one number "
                     "has its own");
  return true;
}

/* -- numbers ----------------------------------------------------------------------------------- */

uint64_t packed_mask(const Packed *p) {
  return p->bits == 64 ? UINT64_MAX : ((uint64_t)1 << p->bits) - 1;
}

static uint64_t encode_integer(const Packed *p, uint64_t number) {
  if (type_is_unsigned(p->computed)) return number & packed_mask(p);
  int64_t value = type_bits(p->computed) == 64 ? (int64_t)number : (int32_t)number;
  value = value < p->least ? p->least : value > p->most ? p->most : value;
  return (uint64_t)value & packed_mask(p);
}

/* The stored bits as an integer from `least` on. */
static int64_t decode_integer(const Packed *p, uint64_t stored) {
  uint64_t below = (uint64_t)-p->least;
  return (int64_t)((stored + below) & packed_mask(p)) - (int64_t)below;
}

static double number_of(Type type, uint64_t bits) {
  double wide;
  float narrow;
  memcpy(&wide, &bits, sizeof wide);
  memcpy(&narrow, &bits, sizeof narrow);
  return type_is(type, TYPE_F64) ? wide : (double)narrow;
}

static uint64_t bits_of(Type type, double value) {
  uint64_t bits = 0;
  float narrow = (float)value;
  if (type_is(type, TYPE_F64)) memcpy(&bits, &value, sizeof value);
  else memcpy(&bits, &narrow, sizeof narrow);
  return bits;
}

/* Rounded to a whole number, halves upward, and kept between two of them. */
static double count_steps(const Packed *p, double value, double inverse, double least,
                          double most) {
  double steps;
  if (p->kind == PACKED_FIXED && type_is(p->inner, TYPE_F64)) steps = floor(value * inverse + 0.5);
  else steps = (double)floorf((float)value * (float)inverse + 0.5f);
  return value != value || steps != steps ? 0 : steps < least ? least : steps > most ? most : steps;
}

uint32_t packed_float_base(const Packed *p) {
  int bias = (1 << (p->exponent - 1)) - 1;
  return (uint32_t)(127 - bias) << p->fraction;
}

uint32_t packed_float_top(const Packed *p) {
  uint32_t all = packed_float_base(p) + ((uint32_t)1 << (p->exponent + p->fraction)) - 1,
           finite = ((uint32_t)255 << p->fraction) - 1;
  return all < finite ? all : finite;
}

static uint64_t encode_float(const Packed *p, uint32_t bits) {
  uint32_t magnitude = bits & 0x7fffffff, sign = bits >> 31, base = packed_float_base(p);
  int dropped = 23 - p->fraction;
  if (magnitude > 0x7f800000) return 0;
  if (dropped) magnitude = (magnitude + ((uint32_t)1 << (dropped - 1))) >> dropped;
  if (magnitude > packed_float_top(p)) magnitude = packed_float_top(p);
  uint32_t stored = magnitude > base ? magnitude - base : 0;
  return stored | (uint64_t)sign << (p->exponent + p->fraction);
}

static uint32_t decode_float(const Packed *p, uint64_t stored) {
  int digits = p->exponent + p->fraction;
  uint32_t number = (uint32_t)stored & (((uint32_t)1 << digits) - 1);
  uint32_t magnitude = number ? (number + packed_float_base(p)) << (23 - p->fraction) : 0;
  return magnitude | (uint32_t)(stored >> digits & 1) << 31;
}

uint64_t packed_encode(const Packed *p, uint64_t number) {
  ASSERT(p->kind != PACKED_SHARED && p->kind != PACKED_NONE, "a number by itself");
  if (p->kind == PACKED_FLOAT) return encode_float(p, (uint32_t)number);
  if (p->kind != PACKED_FIXED) return encode_integer(p, number);
  double steps =
      count_steps(p, number_of(p->computed, number), p->inverse, (double)p->least, (double)p->most);
  return (uint64_t)(int64_t)steps & packed_mask(p);
}

uint64_t packed_decode(const Packed *p, uint64_t stored) {
  ASSERT(p->kind != PACKED_SHARED && p->kind != PACKED_NONE, "a number by itself");
  if (p->kind == PACKED_FLOAT) return decode_float(p, stored);
  if (p->kind == PACKED_UINT) return stored;
  int64_t steps = decode_integer(p, stored);
  if (p->kind == PACKED_INT)
    return type_bits(p->computed) == 64 ? (uint64_t)steps : (uint32_t)steps;
  return bits_of(p->computed, inner_round(p, (double)steps * p->step));
}

/* -- a shared exponent ------------------------------------------------------------------------- */

int packed_shared_bias(const Packed *p) { return (1 << (p->exponent - 1)) - 1; }
int packed_shared_scale(const Packed *p) { return 127 - packed_shared_bias(p) - (p->fraction - 1); }
/* Both the step and its inverse are normal numbers. */
int packed_shared_least(const Packed *p) {
  int least = 1 - packed_shared_scale(p);
  return least > 1 ? least : 1;
}
int packed_shared_most(const Packed *p) {
  int most = 253 - packed_shared_scale(p), all = (1 << p->exponent) - 1;
  return most < all ? most : all;
}

static float power_of_two(int field) {
  uint32_t bits = (uint32_t)field << 23;
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

void packed_encode_shared(const Packed *p, int count, const uint64_t *numbers, uint64_t *stored,
                          uint64_t *exponent) {
  uint32_t largest = 0;
  for (int k = 0; k < count; k++) {
    uint32_t magnitude = (uint32_t)numbers[k] & 0x7fffffff;
    if (magnitude <= 0x7f800000 && magnitude > largest) largest = magnitude;
  }
  int biased = (int)(largest >> 23) - 127 + packed_shared_bias(p);
  int least = packed_shared_least(p), most = packed_shared_most(p);
  biased = biased < least ? least : biased > most ? most : biased;
  double end = ldexp(1, p->fraction), inverse = power_of_two(254 - biased - packed_shared_scale(p));
  for (int k = 0; k < count; k++) {
    double value = number_of(TYPE(F32), numbers[k]);
    stored[k] = (uint64_t)(int64_t)count_steps(p, value, inverse, -end, end - 1) & packed_mask(p);
  }
  *exponent = largest ? (uint64_t)biased : 0;
}

uint64_t packed_decode_shared(const Packed *p, uint64_t stored, uint64_t exponent) {
  int unused = 64 - p->bits, least = packed_shared_least(p);
  int64_t steps = (int64_t)(stored << unused) >> unused;
  int biased = (int)exponent < least ? least : (int)exponent;
  return bits_of(TYPE(F32), (double)((float)steps * power_of_two(biased + packed_shared_scale(p))));
}

double packed_end(const Packed *p, bool is_most) {
  uint64_t infinite = bits_of(p->computed, is_most ? INFINITY : -INFINITY), stored, exponent;
  ASSERT(type_is_float(p->computed), "integers have their ends in the type");
  if (p->kind != PACKED_SHARED)
    return number_of(p->computed, packed_decode(p, packed_encode(p, infinite)));
  packed_encode_shared(p, 1, &infinite, &stored, &exponent);
  return number_of(p->computed, packed_decode_shared(p, stored, exponent));
}
