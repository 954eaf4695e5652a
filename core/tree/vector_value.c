/* vector_value.c - values of several numbers: elements of vector fields, arguments, and results. A
 * scalar is one of one number, so nothing else in the room has to distinguish them. */
#include "tree/cell.h"

RgValue vector_part(const RgValue *value, int part) {
  Type type;
  if (value->kind != RG_VALUE_VECTOR) return *value;
  if (!value->vector || !value->vector->type ||
      !type_parse_any(str_of(value->vector->type), &type) || part >= value->vector->count)
    return (RgValue){.kind = RG_VALUE_NIL};
  RgValue one = {.u64 = value->vector->numbers[part].u64};
  one.kind = type_is_float(type)    ? RG_VALUE_NUMBER
             : type_is_signed(type) ? RG_VALUE_I64
                                    : RG_VALUE_U64;
  return one;
}

static bool refuse(Type type, const RgValue *value, const char *what, Error *err) {
  char name[TYPE_NAME_SIZE], text[48];
  error_set(err, RG_ERROR_VALUE_FIT, "%s is of type %s, %s does not fit", what,
            type_name(type, name), value_text(value, text));
  return error_hint(err, "pass a table of %d numbers, or an rg.%s(..)", type_parts(type), name);
}

bool vector_convert(Type type, const RgValue *value, uint64_t bits[TYPE_MAX_PARTS],
                    const char *what, Error *err) {
  if (type_is_scalar(type)) return value_convert(type, value, &bits[0], what, err);
  if (value->kind != RG_VALUE_VECTOR || !value->vector || value->vector->count != type_parts(type))
    return refuse(type, value, what, err);
  for (int k = 0; k < type_parts(type); k++) {
    RgValue one = vector_part(value, k);
    if (!value_convert(type_element(type), &one, &bits[k], what, err)) return false;
  }
  return true;
}

RgValue vector_value(Store *store, Type type, const uint64_t *bits) {
  Type element = type_element(type);
  if (type_is_scalar(type)) return value_load(type, &bits[0]);
  store->vector =
      (RgVector){.type = type_name(type, store->vector_type), .count = type_parts(type)};
  for (int k = 0; k < type_parts(type); k++) {
    if (type_is_float(type))
      store->vector.numbers[k].f64 = value_number(element, &bits[k]);
    else
      store->vector.numbers[k].i64 = value_integer(element, &bits[k]);
  }
  return (RgValue){.kind = RG_VALUE_VECTOR, .vector = &store->vector};
}
