/* type_test.c - scalars, their promotion, and the numbers that integers hold. */
#include <string.h>

#include <math.h>

#include "check.h"
#include "type/type.h"

static Type join(Type a, Type b) {
  Type joined = TYPE(NONE), other = TYPE(NONE);
  bool ok = type_join(a, b, &joined);
  CHECK(ok == type_join(b, a, &other));
  if (ok) CHECK(type_equal(joined, other));
  return ok ? joined : TYPE(NONE);
}

static void scalars(void) {
  TEST("every scalar is found by its own name") {
    static const char *const names[] = {"bool", "i8",  "i16", "i32", "i64", "u8",
                                        "u16",  "u32", "u64", "f16", "f32", "f64"};
    static const int sizes[] = {1, 1, 2, 4, 8, 1, 2, 4, 8, 2, 4, 8};
    for (int k = 0; k < 12; k++) {
      Type type = TYPE(NONE);
      CHECK(type_parse(str_of(names[k]), &type));
      CHECK_TEXT(type_text(type), names[k]);
      CHECK_INT(type_size(type), sizes[k]);
      CHECK_INT(type_bits(type), k == 0 ? 1 : sizes[k] * 8);
    }
  }
  TEST("a name that is not a type is not found") {
    Type type;
    CHECK(!type_parse(STR("float"), &type));
    CHECK(!type_parse(STR(""), &type));
    CHECK(!type_parse(STR("ptr"), &type));
    CHECK(!type_parse(STR("f3"), &type));
  }
  TEST("classes distinguish bool, signed, unsigned and float") {
    CHECK(type_is_bool(TYPE(BOOL)) && !type_is_integer(TYPE(BOOL)) &&
          !type_is_unsigned(TYPE(BOOL)));
    CHECK(type_is_signed(TYPE(I8)) && type_is_integer(TYPE(I8)) && !type_is_unsigned(TYPE(I8)));
    CHECK(type_is_unsigned(TYPE(U64)) && type_is_integer(TYPE(U64)) && !type_is_signed(TYPE(U64)));
    CHECK(type_is_float(TYPE(F16)) && !type_is_integer(TYPE(F16)));
    CHECK(!type_is_float(TYPE(NONE)) && !type_is_integer(TYPE(PTR)));
    CHECK_INT(type_size(TYPE(PTR)), 8);
    CHECK_INT(type_size(TYPE(PLACE)), 0);
  }
}

static void promotion(void) {
  TEST("an element is computed in its own type, a half in single precision") {
    CHECK(type_equal(type_computed(TYPE(F16)), TYPE(F32)));
    CHECK(type_equal(type_computed(TYPE(F64)), TYPE(F64)));
    CHECK(type_equal(type_computed(TYPE(BOOL)), TYPE(BOOL)));
    CHECK(type_equal(type_of_size(true, 2), TYPE(F16)));
    CHECK(type_equal(type_of_size(false, 4), TYPE(U32)));
    CHECK(type_is_none(type_of_size(true, 1)));
  }
  TEST("all halves have the bits that the processor gives them") {
    CHECK(type_overflow(TYPE(F16)) == 65520 && type_overflow(TYPE(F32)) == 0x1.ffffffp127);
    for (uint32_t bits = 0; bits < 1 << 16; bits++) {
      uint16_t low = (uint16_t)bits;
      _Float16 half;
      memcpy(&half, &low, sizeof half);
      double value = (double)half;
      if (value != value) continue;
      CHECK(type_decode(TYPE(F16), bits) == value && type_encode(TYPE(F16), value) == bits);
      double between = value + value / 4096; /* a tie, or near one */
      CHECK(type_round(TYPE(F16), between) == (double)(_Float16)between);
    }
  }
  TEST("single precision has the bits of C's float") {
    static const float values[] = {0, -0.0f, 1, -1.5f, 0x1p-149f, 0x1.8p-130f, 3.4e38f, 0.1f};
    for (size_t k = 0; k < sizeof values / sizeof *values; k++) {
      uint32_t bits;
      memcpy(&bits, &values[k], sizeof bits);
      CHECK(type_encode(TYPE(F32), (double)values[k]) == bits);
      CHECK(type_decode(TYPE(F32), bits) == (double)values[k]);
    }
  }
  TEST("an integer and a float promote to the float") {
    CHECK(type_equal(join(TYPE(I64), TYPE(F32)), TYPE(F32)));
    CHECK(type_equal(join(TYPE(U8), TYPE(F16)), TYPE(F16)));
    CHECK(type_equal(join(TYPE(F32), TYPE(F64)), TYPE(F64)));
  }
  TEST("two integers promote to the wider, and at one width to the unsigned") {
    CHECK(type_equal(join(TYPE(I32), TYPE(I64)), TYPE(I64)));
    CHECK(type_equal(join(TYPE(I32), TYPE(U32)), TYPE(U32)));
    CHECK(type_equal(join(TYPE(U32), TYPE(I64)), TYPE(I64)));
    CHECK(type_equal(join(TYPE(I8), TYPE(U16)), TYPE(U16)));
  }
  TEST("a boolean promotes with booleans alone") {
    CHECK(type_equal(join(TYPE(BOOL), TYPE(BOOL)), TYPE(BOOL)));
    CHECK(type_is_none(join(TYPE(BOOL), TYPE(I32))));
    CHECK(type_is_none(join(TYPE(NONE), TYPE(I32))));
  }
  TEST("a scalar is broadcast to a vector, two vectors must have equal length") {
    Type vec3 = TYPE(F32), vec2 = vec3;
    CHECK(type_make(TYPE(F32), 3, 1, &vec3) && type_make(TYPE(F32), 2, 1, &vec2));
    Type joined = join(TYPE(I32), vec3);
    CHECK(type_equal(joined, vec3));
    CHECK(type_is_none(join(vec2, vec3)));
    CHECK_INT(type_size(vec3), 12);
  }
}

static void numbers(void) {
  TEST("an integer type holds only whole numbers of its range") {
    CHECK(type_holds_number(TYPE(I8), -128) && !type_holds_number(TYPE(I8), -129) &&
          !type_holds_number(TYPE(I8), 128));
    CHECK(type_holds_number(TYPE(U8), 255) && !type_holds_number(TYPE(U8), 256) &&
          !type_holds_number(TYPE(U8), -1));
    CHECK(type_holds_number(TYPE(I32), -0.0) && !type_holds_number(TYPE(I32), 0.5));
    CHECK(type_holds_number(TYPE(I64), -9223372036854775808.0) &&
          !type_holds_number(TYPE(I64), 9223372036854775808.0));
    CHECK(type_holds_number(TYPE(U64), 9223372036854775808.0) &&
          !type_holds_number(TYPE(U64), 18446744073709551616.0));
  }
  TEST("no integer is NaN or infinite, and a float type holds no integer numbers") {
    CHECK(!type_holds_number(TYPE(I64), NAN) && !type_holds_number(TYPE(U64), INFINITY));
    CHECK(!type_holds_number(TYPE(F32), 1));
  }
}

static void kinds(void) {
  TEST("a scalar's number is its kind, in every program") {
    for (int kind = TYPE_NONE; kind <= TYPE_PLACE; kind++) {
      Type type = type_scalar((ScalarKind)kind);
      CHECK_INT(type.number, kind);
      CHECK(type_is_scalar(type) && type_is(type, (ScalarKind)kind) && type_parts(type) == 1);
    }
  }
  TEST("each vector and matrix has its own number, which encodes element, rows and columns") {
    static const ScalarKind elements[] = {TYPE_I8, TYPE_U64, TYPE_F16, TYPE_F64};
    enum { MOST = 4 * TYPE_MAX_PARTS * TYPE_MAX_PARTS };
    uint32_t numbers[MOST];
    int count = 0;
    for (int e = 0; e < 4; e++)
      for (int rows = 2; rows <= TYPE_MAX_PARTS; rows++)
        for (int cols = 1; rows * cols <= TYPE_MAX_PARTS; cols++) {
          Type type, element = type_scalar(elements[e]);
          CHECK(type_make(element, rows, cols, &type));
          CHECK(type_equal(type_element(type), element) && type.number < TYPE_TABLE_FIRST);
          CHECK(type_rows(type) == rows && type_cols(type) == cols);
          CHECK(type_kind(type) == (cols == 1 ? TYPE_KIND_VECTOR : TYPE_KIND_MATRIX));
          for (int k = 0; k < count; k++) CHECK(numbers[k] != type.number);
          numbers[count++] = type.number;
        }
  }
  TEST("a shape is a type without its element, and gets it back") {
    Type mat;
    CHECK(type_make(TYPE(I32), 3, 2, &mat));
    CHECK(type_equal(type_shape(mat), type_make_shape(3, 2)));
    CHECK(type_equal(type_shaped(TYPE(I32), type_shape(mat)), mat));
    CHECK(type_equal(type_shape(TYPE(F64)), (Shape){0}));
    CHECK(type_equal(type_make_shape(1, 1), (Shape){0}));
    CHECK(type_equal(type_shaped(TYPE(F64), (Shape){0}), TYPE(F64)));
  }
  TEST("a row of a table is not a scalar, and is its own shape") {
    Type type = {2 * TYPE_TABLE_FIRST + (1 << TYPE_ARRAY_BIT) + 1};
    CHECK(type_is_array(type) && !type_is_scalar(type) && !type_is_float(type));
    CHECK(type_equal(type_shape(type), type) && type_equal(type_shaped(TYPE(I32), type), type));
  }
}

static void shaped(void) {
  char text[TYPE_NAME_SIZE];
  TEST("vectors and matrices have names, by which they are found") {
    static const char *const names[] = {"vec2",         "ivec3",       "uvec4",      "dvec2",
                                        "mat2",         "mat4",        "vec(5,f64)", "vec(3,i64)",
                                        "mat(2,3,f32)", "mat(2,2,f64)"};
    static const int sizes[] = {8, 12, 16, 16, 16, 64, 40, 24, 24, 32};
    for (int k = 0; k < 10; k++) {
      Type type = TYPE(NONE);
      CHECK(type_parse_any(str_of(names[k]), &type));
      CHECK_TEXT(type_name(type, text), names[k]);
      CHECK_INT(type_size(type), sizes[k]);
    }
  }
  TEST("a name that is not a vector is not found") {
    static const char *const wrong[] = {"vec",          "vec5",
                                        "vec1",         "mat5",
                                        "imat2",        "vec(1,f32)",
                                        "vec(65,f32)",  "vec(2,boo)",
                                        "vec(2,f33)",   "vec(2,f32))",
                                        "mat(2,f32)",   "mat(5,13,f32)",
                                        "mat(2,1,f32)", "vec(999999999999999,f32)"};
    Type type;
    for (size_t k = 0; k < sizeof wrong / sizeof wrong[0]; k++)
      CHECK(!type_parse_any(str_of(wrong[k]), &type));
    CHECK(!type_make(TYPE(F32), 1, 1, &type));
    CHECK(!type_make(TYPE(PTR), 2, 1, &type));
    CHECK(!type_make(TYPE(F32), 2, 1ll << 40, &type));
  }
}

int main(void) {
  kinds();
  shaped();
  scalars();
  promotion();
  numbers();
  return check_report();
}
