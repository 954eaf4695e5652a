/* type.c - the encoding of types as numbers; names, sizes, counts of numbers; promotion.
 *
 * Below TYPE_TABLE_FIRST the encoding is three bit fields, so that vectors need no table:
 *
 *     bits 0..3 the scalar    4..9 rows - 1    10..15 columns - 1
 *
 * From there on, bits 16.. are the row of a table + 1, bits 0..14 the number of numbers of a value,
 * and bit 15 marks an array.
 *
 * Facts about scalars come from the rows of type.def. No other file knows the digits. */
#include <math.h>

#include "base/error.h"
#include "type/type.h"

enum { SCALAR_BITS = 4, EXTENT_BITS = 6, EXTENT_MASK = (1 << EXTENT_BITS) - 1 };
_Static_assert(SCALAR_BITS + 2 * EXTENT_BITS == 16 && TYPE_TABLE_FIRST == 1 << 16,
               "the table begins past the digits");
_Static_assert(TYPE_MAX_PARTS <= 1 << EXTENT_BITS, "a vector's rows are one digit");

typedef struct ScalarInfo {
  const char *text;
  uint8_t bytes;
  char class;
  ScalarKind computed;
  int16_t digits, exponent;
} ScalarInfo;

static const ScalarInfo scalars[] = {
    [TYPE_NONE] = {"nothing", 0, 'N', TYPE_NONE, 0, 0},
#define SCALAR(NAME, TEXT, BYTES, CLASS, COMPUTED, DIGITS, EXPONENT, ...) \
  [TYPE_##NAME] = {TEXT, BYTES, #CLASS[0], TYPE_##COMPUTED, DIGITS, EXPONENT},
#include "type/type.def"
#undef SCALAR
    [TYPE_PTR] = {"ptr", 8, 'P', TYPE_PTR, 0, 0},
    [TYPE_PLACE] = {"place", 0, 'P', TYPE_PLACE, 0, 0},
};
enum { SCALAR_COUNT = sizeof scalars / sizeof scalars[0] };
_Static_assert(SCALAR_COUNT <= 1 << SCALAR_BITS, "a scalar is one digit");

/* -- digits ------------------------------------------------------------------------------------ */

static bool is_of_table(Type t) { return t.number >= TYPE_TABLE_FIRST; }

ScalarKind type_scalar_kind(Type t) {
  return is_of_table(t) ? TYPE_NONE : (ScalarKind)(t.number & ((1 << SCALAR_BITS) - 1));
}

int type_parts(Type t) {
  if (!is_of_table(t)) return type_rows(t) * type_cols(t);
  return (int)(t.number & ((1u << TYPE_ARRAY_BIT) - 1));
}

int type_rows(Type t) {
  ASSERT(!is_of_table(t), "a struct or an array has rows");
  return (int)(t.number >> SCALAR_BITS & EXTENT_MASK) + 1;
}

int type_cols(Type t) {
  ASSERT(!is_of_table(t), "a struct or an array has columns");
  return (int)(t.number >> (SCALAR_BITS + EXTENT_BITS) & EXTENT_MASK) + 1;
}

TypeKind type_kind(Type t) {
  if (is_of_table(t)) return TYPE_KIND_STRUCT;
  if (type_cols(t) > 1) return TYPE_KIND_MATRIX;
  return type_rows(t) > 1 ? TYPE_KIND_VECTOR : TYPE_KIND_SCALAR;
}

Shape type_make_shape(int rows, int cols) {
  ASSERT(rows >= 1 && rows <= TYPE_MAX_PARTS && cols >= 1 && cols <= TYPE_MAX_PARTS,
         "numbers in a shape");
  uint32_t extents = (uint32_t)(rows - 1) | (uint32_t)(cols - 1) << EXTENT_BITS;
  return (Shape){extents << SCALAR_BITS};
}

Shape type_shape(Type t) {
  return is_of_table(t) ? t : (Shape){t.number - (uint32_t)type_scalar_kind(t)};
}

Type type_shaped(Type element, Shape shape) {
  if (is_of_table(shape)) return shape;
  ASSERT(type_is_scalar(element) && type_is_none(type_element(shape)), "a scalar in a shape");
  return (Type){shape.number | element.number};
}

/* -- scalars ----------------------------------------------------------------------------------- */

static const ScalarInfo *info_of(Type t) { return &scalars[type_scalar_kind(t)]; }

bool type_is_bool(Type t) { return info_of(t)->class == 'B'; }
bool type_is_signed(Type t) { return info_of(t)->class == 'S'; }
bool type_is_unsigned(Type t) { return info_of(t)->class == 'U'; }
bool type_is_integer(Type t) { return type_is_signed(t) || type_is_unsigned(t); }
bool type_is_float(Type t) { return info_of(t)->class == 'F'; }

int type_size(Type t) {
  ASSERT(!is_of_table(t), "the size of a struct is in its row");
  return info_of(t)->bytes * type_parts(t);
}
int type_bits(Type t) { return type_is_bool(t) ? 1 : info_of(t)->bytes * 8; }

int64_t type_least(Type t) {
  ASSERT(type_is_integer(t), "integer types have ends");
  if (!type_is_signed(t)) return 0;
  return type_bits(t) == 64 ? INT64_MIN : -((int64_t)1 << (type_bits(t) - 1));
}

int64_t type_most(Type t) {
  int digits = type_bits(t) - type_is_signed(t);
  ASSERT(type_is_integer(t), "integer types have ends");
  return digits >= 63 ? INT64_MAX : ((int64_t)1 << digits) - 1;
}

Type type_computed(Type t) {
  return is_of_table(t) || !type_is_scalar(t) ? t : type_scalar(info_of(t)->computed);
}

Type type_of_size(bool is_float, int bytes) {
  for (int kind = TYPE_NONE + 1; kind < TYPE_PTR; kind++)
    if (scalars[kind].bytes == bytes && scalars[kind].class == (is_float ? 'F' : 'U'))
      return type_scalar((ScalarKind)kind);
  return TYPE(NONE);
}

const char *type_text(Type t) {
  if (is_of_table(t)) return type_is_array(t) ? "an array" : "a struct";
  if (type_is_matrix(t)) return "a matrix";
  if (type_is_vector(t)) return "a vector";
  return info_of(t)->text;
}

/* -- floats: sign, exponent, fraction ---------------------------------------------------------- */

int type_digits(Type t) { return info_of(t)->digits; }

double type_overflow(Type t) {
  const ScalarInfo *info = info_of(t);
  ASSERT(info->class == 'F', "an integer does not round to infinity");
  if (info->bytes == sizeof(double)) return INFINITY;
  return ldexp(1 - ldexp(1, -info->digits - 1), info->exponent);
}

/* log2 of the distance of neighbours of a number with this exponent; the least are denormal. */
static int unit_of(const ScalarInfo *info, int exponent) {
  int least = 3 - info->exponent; /* of a number in [2^(exponent - 1), 2^exponent) */
  return (exponent < least ? least : exponent) - info->digits;
}

/* Scaling by a power of two is exact, so there is only one rounding. */
double type_round(Type t, double value) {
  const ScalarInfo *info = info_of(t);
  int exponent;
  ASSERT(info->class == 'F', "only floats are rounded");
  if (info->bytes == sizeof(double) || !isfinite(value) || value == 0) return value;
  if (info->bytes == sizeof(float)) return (double)(float)value;
  if (fabs(value) >= type_overflow(t)) return copysign(INFINITY, value);
  frexp(value, &exponent);
  int unit = unit_of(info, exponent);
  return ldexp(nearbyint(ldexp(value, -unit)), unit);
}

uint64_t type_encode(Type t, double value) {
  const ScalarInfo *info = info_of(t);
  int stored = info->digits - 1, exponent; /* the highest digit of a normal number is implied */
  ASSERT(info->class == 'F' && info->bytes < sizeof(double), "a narrow float");
  DEBUG_ASSERT(value != value || type_round(t, value) == value, "a number of the type");
  uint64_t infinite = (uint64_t)(2 * info->exponent - 1) << stored,
           sign = signbit(value) ? (uint64_t)1 << (8 * info->bytes - 1) : 0;
  if (isnan(value)) return infinite | (uint64_t)1 << (stored - 1);
  if (isinf(value)) return sign | infinite;
  double fraction = frexp(fabs(value), &exponent);
  int biased = exponent + info->exponent - 2;
  if (value == 0 || biased < 1)
    return sign | (uint64_t)ldexp(fabs(value), stored + info->exponent - 2);
  return sign | (((uint64_t)(biased - 1) << stored) + (uint64_t)ldexp(fraction, info->digits));
}

double type_decode(Type t, uint64_t bits) {
  const ScalarInfo *info = info_of(t);
  int stored = info->digits - 1;
  ASSERT(info->class == 'F' && info->bytes < sizeof(double), "a narrow float");
  bool is_negative = bits >> (8 * info->bytes - 1) & 1;
  int most = 2 * info->exponent - 1, biased = (int)(bits >> stored & (uint64_t)most);
  double digits = (double)(bits & (((uint64_t)1 << stored) - 1));
  double size = biased ? ldexp(ldexp(1, stored) + digits, biased - info->exponent + 1 - stored)
                       : ldexp(digits, 2 - info->exponent - stored);
  if (biased == most) size = digits != 0 ? NAN : INFINITY;
  return is_negative ? -size : size;
}

/* -- names ------------------------------------------------------------------------------------- */

bool type_parse(Str text, Type *type) {
  for (int kind = TYPE_NONE + 1; kind < TYPE_PTR; kind++) {
    if (!str_is(text, scalars[kind].text)) continue;
    *type = type_scalar((ScalarKind)kind);
    return true;
  }
  return false;
}

/* -- promotion --------------------------------------------------------------------------------- */

/* A scalar is broadcast to the other's shape; two shapes must be equal. */
static bool join_shapes(Type a, Type b, Shape *joined) {
  *joined = type_shape(type_is_scalar(a) ? b : a);
  return type_is_scalar(a) || type_is_scalar(b) || type_equal(type_shape(a), type_shape(b));
}

bool type_join(Type a, Type b, Type *joined) {
  Shape shape;
  *joined = a;
  if (!join_shapes(a, b, &shape)) return false;
  *joined = type_shaped(type_element(a), shape);
  if (type_is_bool(a) && type_is_bool(b)) return true;
  bool a_float = type_is_float(a), b_float = type_is_float(b);
  if (!(a_float || type_is_integer(a)) || !(b_float || type_is_integer(b))) return false;
  bool takes_b;
  if (a_float != b_float) takes_b = b_float;
  else if (type_bits(a) != type_bits(b)) takes_b = type_bits(b) > type_bits(a);
  else takes_b = type_is_unsigned(b);
  *joined = type_shaped(type_element(takes_b ? b : a), shape);
  return true;
}

bool type_holds_number(Type t, double value) {
  if (!type_is_integer(t) || value != floor(value)) return false; /* also false for a NaN */
  double beyond = ldexp(1, type_bits(t) - type_is_signed(t));     /* the first that is too large */
  return value < beyond && value >= (type_is_signed(t) ? -beyond : 0);
}
