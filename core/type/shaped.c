/* shaped.c - prints and parses names of vectors and matrices. A family is a prefix, an element
 * type, and whether sizes 2 to 4 have short names; every other shape is written in full:
 * "vec(5,f64)". */
#include <stdio.h>
#include <string.h>

#include "type/type.h"

typedef struct Family {
  const char *prefix;
  Type element;
  bool is_square;
} Family;

static const Family families[] = {
    {"vec", {TYPE_F32}, false},  {"ivec", {TYPE_I32}, false},  {"uvec", {TYPE_U32}, false},
    {"dvec", {TYPE_F64}, false}, {"bvec", {TYPE_BOOL}, false}, {"mat", {TYPE_F32}, true},
};
enum { FAMILY_COUNT = sizeof families / sizeof families[0] };

bool type_make(Type element, int64_t rows, int64_t cols, Type *type) {
  bool is_number = type_is_scalar(element) &&
                   (type_is_bool(element) || type_is_integer(element) || type_is_float(element));
  if (!is_number || rows < 1 || cols < 1 || rows > TYPE_MAX_PARTS || cols > TYPE_MAX_PARTS ||
      rows * cols > TYPE_MAX_PARTS || rows * cols < 2)
    return false;
  *type = type_shaped(element, type_make_shape((int)rows, (int)cols));
  return true;
}

static bool is_of(const Family *family, Type t) {
  return type_equal(family->element, type_element(t)) && type_rows(t) >= 2 && type_rows(t) <= 4 &&
         type_cols(t) == (family->is_square ? type_rows(t) : 1);
}

const char *type_name(Type t, char buffer[TYPE_NAME_SIZE]) {
  if (type_is_scalar(t)) return type_text(t);
  for (int k = 0; k < FAMILY_COUNT; k++) {
    if (!is_of(&families[k], t)) continue;
    snprintf(buffer, TYPE_NAME_SIZE, "%s%d", families[k].prefix, type_rows(t));
    return buffer;
  }
  const char *element = type_text(type_element(t));
  if (type_is_vector(t)) snprintf(buffer, TYPE_NAME_SIZE, "vec(%d,%s)", type_rows(t), element);
  else snprintf(buffer, TYPE_NAME_SIZE, "mat(%d,%d,%s)", type_rows(t), type_cols(t), element);
  return buffer;
}

static bool parse_short(Str text, Type *type) {
  int length = text.length - 1;
  int size = length > 0 ? text.data[length] - '0' : 0;
  if (size < 2 || size > 4) return false;
  for (int k = 0; k < FAMILY_COUNT; k++)
    if (str_is((Str){text.data, length}, families[k].prefix))
      return type_make(families[k].element, size, families[k].is_square ? size : 1, type);
  return false;
}

/* "vec(5,f64)" */
static bool parse_long(Str text, Type *type) {
  char copy[TYPE_NAME_SIZE], element[8] = "";
  int rows = 0, cols = 1, end = 0;
  Type of;
  if (text.length >= TYPE_NAME_SIZE) return false;
  memcpy(copy, text.data, (size_t)text.length);
  copy[text.length] = 0;
  bool is_vector =
      sscanf(copy, "vec(%2d,%5[a-z0-9])%n", &rows, element, &end) == 2 && end == text.length;
  bool is_matrix = !is_vector &&
                   sscanf(copy, "mat(%2d,%2d,%5[a-z0-9])%n", &rows, &cols, element, &end) == 3 &&
                   end == text.length;
  return (is_vector || (is_matrix && cols > 1)) && type_parse(str_of(element), &of) &&
         type_make(of, rows, cols, type);
}

bool type_parse_any(Str text, Type *type) {
  return type_parse(text, type) || parse_short(text, type) || parse_long(text, type);
}
