/* promote.c - type promotion, and which numbers an integer type can hold. */
#include <math.h>

#include "type/type.h"

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
