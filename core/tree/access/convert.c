/* convert.c - converts between the host's numbers and elements of a type; a number that does not
 * fit is an error. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tree/access/cell.h"
#include "tree/access/numbers.h"

typedef union Bits { /* an element of any scalar type in the low bytes */
  uint64_t u64;
  int64_t i64;
  int32_t i32;
  double f64;
  float f32;
} Bits;

static Bits load_bits(Type type, const void *element) {
  Bits bits = {0};
  switch (type_size(type)) { /* each case is a single load */
  case 1: memcpy(&bits, element, 1); break;
  case 2: memcpy(&bits, element, 2); break;
  case 4: memcpy(&bits, element, 4); break;
  default: memcpy(&bits, element, 8);
  }
  return bits;
}

static int64_t sign_extend(Type type, uint64_t bits) {
  int unused = 64 - 8 * type_size(type);
  return type_is_signed(type) ? (int64_t)(bits << unused) >> unused : (int64_t)bits;
}

static double float_of(Type type, Bits bits) {
  double value;
  DEBUG_ASSERT(type_is_float(type), "only floats have a fraction");
  if (type_is(type, TYPE_F64)) return bits.f64;
  if (type_is(type, TYPE_F32)) return (double)bits.f32;
  numbers_load(type, (const uint8_t *)&bits, 0, 1, &value, 1);
  return value;
}

int64_t value_integer(Type type, const void *element) {
  Bits bits = load_bits(type, element);
  if (!type_is_float(type)) return sign_extend(type, bits.u64);
  double value = float_of(type, bits);
  if (value != value) return 0;
  return value >= 0x1p63 ? INT64_MAX : value < -0x1p63 ? INT64_MIN : (int64_t)value;
}

double value_number(Type type, const void *element) {
  Bits bits = load_bits(type, element);
  if (type_is_float(type)) return value_one_nan(float_of(type, bits));
  return type_is_signed(type) ? (double)sign_extend(type, bits.u64) : (double)bits.u64;
}

/* Common types come first, as scripts read element by element. */
RgValue value_load(Type type, const void *element) {
  Bits bits;
  switch (type_scalar_kind(type)) {
  case TYPE_F32:
    memcpy(&bits.f32, element, sizeof bits.f32);
    return (RgValue){.kind = RG_VALUE_NUMBER, .number = value_one_nan((double)bits.f32)};
  case TYPE_F64:
    memcpy(&bits.f64, element, sizeof bits.f64);
    return (RgValue){.kind = RG_VALUE_NUMBER, .number = value_one_nan(bits.f64)};
  case TYPE_I32:
    memcpy(&bits.i32, element, sizeof bits.i32);
    return (RgValue){.kind = RG_VALUE_NUMBER, .number = (double)bits.i32};
  case TYPE_BOOL: return (RgValue){.kind = RG_VALUE_BOOL, .i64 = load_bits(type, element).u64 != 0};
  case TYPE_I64: return (RgValue){.kind = RG_VALUE_I64, .i64 = value_integer(type, element)};
  case TYPE_U64: return (RgValue){.kind = RG_VALUE_U64, .u64 = load_bits(type, element).u64};
  default: return (RgValue){.kind = RG_VALUE_NUMBER, .number = value_number(type, element)};
  }
}

static const char *quoted(const char *what, const char *text, char buffer[48]) {
  snprintf(buffer, 48, "%s '%.30s'", what, text ? text : "");
  return buffer;
}

const char *value_text(const RgValue *value, char buffer[48]) {
  switch (value->kind) {
  case RG_VALUE_NUMBER:
    if (isnan(value->number)) return "nan"; /* without its sign, as Lua prints it */
    snprintf(buffer, 48, "%.14g", value->number);
    return buffer;
  case RG_VALUE_I64: snprintf(buffer, 48, "%" PRId64 "LL", value->i64); return buffer;
  case RG_VALUE_U64: snprintf(buffer, 48, "%" PRIu64 "ULL", value->u64); return buffer;
  case RG_VALUE_BOOL: return value->i64 ? "true" : "false";
  case RG_VALUE_NIL: return "nil";
  case RG_VALUE_FIELD: return "a field";
  case RG_VALUE_NODE: return "an SNode";
  case RG_VALUE_ARRAY: return "an array";
  case RG_VALUE_VECTOR:
    if (value->vector && value->vector->type && !strncmp(value->vector->type, "struct", 6))
      return "a struct";
    return quoted("the vector", value->vector ? value->vector->type : NULL, buffer);
  case RG_VALUE_STRING: return "a string";
  case RG_VALUE_FUNCTION: return "a function";
  case RG_VALUE_TABLE: return "a table";
  case RG_VALUE_BUILTIN: return quoted("the function", value->text, buffer);
  case RG_VALUE_TYPE: return quoted("the type", value->text, buffer);
  default:
    return value->text && value->text[0] ? quoted("a", value->text, buffer) : "something else";
  }
}

static bool is_numeric(const RgValue *value) {
  return value->kind == RG_VALUE_NUMBER || value->kind == RG_VALUE_I64 ||
         value->kind == RG_VALUE_U64;
}

static bool hint_range(Type type, Error *err) {
  int bits = type_bits(type);
  if (type_is_unsigned(type))
    return error_hint(err, "%s holds 0 to %" PRIu64, type_text(type), UINT64_MAX >> (64 - bits));
  int64_t most = INT64_MAX >> (64 - bits);
  return error_hint(err, "%s holds %" PRId64 " to %" PRId64, type_text(type), -most - 1, most);
}

static bool refuse(Type type, const RgValue *value, const char *what, Error *err) {
  char text[48];
  error_set(err, RG_ERROR_VALUE_FIT, "%s cannot hold %s: its type is %s", what,
            value_text(value, text), type_text(type));
  if (type_is_bool(type)) return error_hint(err, "pass true or false");
  if (value->kind == RG_VALUE_BOOL)
    return error_hint(err, "pass a number: 1 for true, 0 for false");
  if (!is_numeric(value)) return error_hint(err, "pass a number");
  if (value->kind == RG_VALUE_NUMBER && !isnan(value->number) &&
      value->number != floor(value->number))
    return error_hint(err, "math.floor makes a whole number");
  if (type_is_integer(type)) return hint_range(type, err);
  return false;
}

static void put_float(Type type, double value, Bits *bits) {
  if (type_is(type, TYPE_F64)) bits->f64 = value;
  else if (type_is(type, TYPE_F32)) bits->f32 = (float)value;
  else numbers_store(type, (uint8_t *)bits, 0, 1, &value, 1);
}

static double as_double(const RgValue *value) {
  return value->kind == RG_VALUE_NUMBER ? value->number
         : value->kind == RG_VALUE_I64  ? (double)value->i64
                                        : (double)value->u64;
}

/* A 64-bit integer fits if it survives a round trip through the type. */
static bool holds_integer(Type type, const RgValue *value) {
  if (value->kind == RG_VALUE_NUMBER) return type_holds_number(type, value->number);
  bool is_negative = value->kind == RG_VALUE_I64 && value->i64 < 0,
       is_beyond = value->kind == RG_VALUE_U64 && value->i64 < 0;
  if (type_is_signed(type) ? is_beyond : is_negative) return false;
  int bits = 8 * type_size(type);
  uint64_t kept = bits == 64 ? value->u64 : value->u64 & (((uint64_t)1 << bits) - 1);
  return sign_extend(type, kept) == value->i64;
}

static uint64_t integer_bits(Type type, const RgValue *value) {
  if (value->kind != RG_VALUE_NUMBER) return value->u64;
  return value->number < 0 || type_is_signed(type) ? (uint64_t)(int64_t)value->number
                                                   : (uint64_t)value->number;
}

bool value_convert(Type type, const RgValue *value, uint64_t *out, const char *what, Error *err) {
  Bits bits = {0};
  *out = 0;
  if (type_is_bool(type)) {
    if (value->kind != RG_VALUE_BOOL) return refuse(type, value, what, err);
    bits.u64 = value->i64 != 0;
  } else if (!is_numeric(value)) {
    return refuse(type, value, what, err);
  } else if (type_is_float(type)) {
    put_float(type, as_double(value), &bits);
  } else {
    if (!holds_integer(type, value)) return refuse(type, value, what, err);
    uint64_t number = integer_bits(type, value);
    memcpy(&bits, &number, (size_t)type_size(type));
  }
  *out = bits.u64;
  return true;
}

bool value_store(Type type, void *element, const RgValue *value, const char *what, Error *err) {
  uint64_t bits;
  if (!value_convert(type, value, &bits, what, err)) return false;
  memcpy(element, &bits, (size_t)type_size(type));
  return true;
}
