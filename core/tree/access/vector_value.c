/* vector_value.c - values of several numbers: elements of vector and struct fields, arguments, and
 * results. A scalar is treated as one number, so no other file has to distinguish them. */
#include "tree/access/cell.h"

RgValue vector_number(const RgVector *vector, Type type, int part) {
  RgValue one = {.u64 = vector->numbers[part].u64};
  one.kind = type_is_float(type)    ? RG_VALUE_NUMBER
             : type_is_bool(type)   ? RG_VALUE_BOOL
             : type_is_signed(type) ? RG_VALUE_I64
                                    : RG_VALUE_U64;
  return one;
}

static bool refuse(Store *store, Type type, const RgValue *value, const char *what, Error *err) {
  char buffer[TYPE_NAME_SIZE], text[48];
  const char *name = type_name_in(&store->types, type, buffer);
  error_set(err, RG_ERROR_VALUE_FIT, "%s cannot hold %s: its type is %.200s", what,
            value_text(value, text), name);
  if (type_is_struct(type)) return error_hint(err, "pass a table of its members, or a struct");
  return error_hint(err, "pass a table of %d numbers, or an rg.%s(..)", type_parts(type), name);
}

/* A struct accepts only that struct; a vector accepts any vector of as many numbers. */
static bool read_shape(Store *store, Type type, const RgVector *vector, Type *given) {
  return vector && vector->type && vector->count == type_parts(type) &&
         type_read(&store->types, str_of(vector->type), given, NULL) &&
         type_parts(*given) == vector->count &&
         (type_equal(type, *given) || !(type_is_struct(type) || type_is_struct(*given)));
}

bool vector_convert(Store *store, Type type, const RgValue *value, uint64_t bits[TYPE_MAX_NUMBERS],
                    const char *what, Error *err) {
  Type given;
  if (type_is_scalar(type)) return value_convert(type, value, &bits[0], what, err);
  if (value->kind != RG_VALUE_VECTOR || !read_shape(store, type, value->vector, &given))
    return refuse(store, type, value, what, err);
  for (int k = 0; k < type_parts(type); k++) {
    RgValue one = vector_number(value->vector, type_number(&store->types, given, k), k);
    if (!value_convert(type_number(&store->types, type, k), &one, &bits[k], what, err))
      return false;
  }
  return true;
}

RgValue vector_value(Store *store, Type type, const uint64_t *bits) {
  if (type_is_scalar(type)) return value_load(type, &bits[0]);
  RgVector *vector = &store->vector;
  ASSERT(type_parts(type) <= TYPE_MAX_NUMBERS, "a value fits the buffer of values");
  vector->type = type_name_in(&store->types, type, store->vector_type);
  vector->count = type_parts(type);
  for (int k = 0; k < vector->count; k++) {
    Type element = type_number(&store->types, type, k);
    if (type_is_float(element)) vector->numbers[k].f64 = value_number(element, &bits[k]);
    else vector->numbers[k].i64 = value_integer(element, &bits[k]);
  }
  return (RgValue){.kind = RG_VALUE_VECTOR, .vector = vector};
}
