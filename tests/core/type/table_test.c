/* table_test.c - structs and arrays: rows of a table, one per declaration. */
#include "check.h"
#include "type/table.h"

static Type made(int rows, int cols) {
  Type type = TYPE(NONE);
  CHECK(type_make(TYPE(F32), rows, cols, &type));
  return type;
}

static void structs(TypeTable *table) {
  Error err = {0};
  Type particle = TYPE(NONE), again = TYPE(NONE), cell = TYPE(NONE);
  TypeMember fields[] = {{.name = "x", .type = made(3, 1)},
                         {.name = "mass", .type = TYPE(F64)},
                         {.name = "alive", .type = TYPE(BOOL)}};
  TEST("members have the layout of C") {
    CHECK(type_struct(table, 0, fields, 3, &particle, &err) &&
          type_kind(particle) == TYPE_KIND_STRUCT);
    TypeRow row = type_row(table, particle);
    CHECK(row.member_count == 3 && row.members[0].offset == 0 && row.members[1].offset == 16);
    CHECK(row.members[2].offset == 24 && row.size == 32 && row.alignment == 8);
    CHECK_TEXT(row.members[1].name, "mass");
  }
  TEST("a struct declared twice is one type, with another name or order of fields another") {
    int count = table->count;
    CHECK(type_struct(table, 0, fields, 3, &again, &err) && type_equal(again, particle) &&
          table->count == count);
    fields[1].name = "weight";
    CHECK(type_struct(table, 0, fields, 3, &again, &err) && !type_equal(again, particle));
    CHECK(type_struct(table, 0, fields, 2, &again, &err) && !type_equal(again, particle));
  }
  TEST("structs nest") {
    TypeMember nested[] = {{.name = "first", .type = particle},
                           {.name = "count", .type = TYPE(I32)}};
    CHECK(type_struct(table, 0, nested, 2, &cell, &err));
    TypeRow row = type_row(table, cell);
    CHECK(row.members[1].offset == 32 && row.size == 40 && row.alignment == 8);
    CHECK(type_equal(type_shape(cell), cell) && !type_is_scalar(cell));
  }
}

static Type read(TypeTable *table, const char *text) {
  Error err = {0};
  Type type = TYPE(NONE);
  CHECK(type_read(table, str_of(text), &type, &err));
  CHECK_TEXT(err.message, "");
  return type;
}

static const char *no_type(TypeTable *table, const char *text) {
  static Error err;
  Type type;
  error_clear(&err);
  CHECK(!type_read(table, str_of(text), &type, &err));
  return err.message;
}

static void texts(TypeTable *table) {
  char name[TYPE_NAME_SIZE], part[40];
  TEST("a struct's text is its name, both ways") {
    Type child = read(table, "struct{n:i32,on:bool}");
    Type type = read(table, "struct { pos: vec3, child: struct{n:i32,on:bool}, m: mat(2,3,f64) }");
    CHECK_TEXT(type_name_in(table, type, name),
               "struct{pos:vec3,child:struct{n:i32,on:bool},m:mat(2,3,f64)}");
    CHECK(type_parts(type) == 11 && type_parts(child) == 2);
    CHECK(type_equal(type_member(table, type, str_of("child"))->type, child));
    CHECK(type_member(table, type, str_of("child"))->first == 3 &&
          !type_member(table, type, str_of("on")));
    CHECK_TEXT(type_name_in(table, TYPE(F32), name), "f32");
  }
  TEST("each number has its type, its place and its name") {
    Type type = read(table, "struct{on:bool,child:struct{a:f64,v:ivec2},b:u8}");
    static const char *const names[] = {".on", ".child.a", ".child.v.x", ".child.v.y", ".b"};
    static const int offsets[] = {0, 8, 16, 20, 24};
    for (int k = 0; k < 5; k++) {
      type_number_name(table, type, k, part, sizeof part);
      CHECK_TEXT(part, names[k]);
      CHECK_INT(type_row(table, type).numbers[k].offset, offsets[k]);
    }
    CHECK(type_is(type_number(table, type, 0), TYPE_BOOL) &&
          type_is(type_number(table, type, 3), TYPE_I32));
    CHECK(type_row(table, type).size == 32);
  }
  TEST("a number after '#' makes another type") {
    CHECK(!type_equal(read(table, "struct#7{n:i32}"), read(table, "struct{n:i32}")));
    CHECK(type_equal(read(table, "struct#7{n:i32}"), read(table, "struct#7{ n : i32 }")));
    CHECK(type_row(table, read(table, "struct#7{n:i32}")).tag == 7);
  }
  TEST("text that is not a type is refused") {
    CHECK_TEXT(no_type(table, "struct{n:i33}"), "there is no type 'i33'");
    CHECK_TEXT(no_type(table, "struct{n}"), "a type's text needs ':' at '}'");
    CHECK_TEXT(no_type(table, "struct{n:i32"), "a type's text needs ',' or '}' at ''");
    CHECK_TEXT(no_type(table, "struct{}"), "a type's text needs a member's name at '}'");
    CHECK_TEXT(no_type(table, "struct{n:i32} x"), "a type's text needs nothing more at 'x'");
    CHECK_TEXT(no_type(table, "struct{a:vec(60,f32),b:vec(60,f32),c:vec(60,f32),d:vec(60,f32),"
                              "e:vec(17,f32)}"),
               "a struct has at most 256 numbers, counting those of its vectors and structs");
    char deep[400] = "";
    for (int k = 0; k < 20; k++) strcat(deep, "struct{a:");
    CHECK_TEXT(no_type(table, deep), "structs are nested at most 16 deep");
  }
}

static void arrays(TypeTable *table) {
  Error err = {0};
  Type flat = TYPE(NONE), deep = TYPE(NONE), again = TYPE(NONE);
  TEST("an array is its element and its axes; its value is one number, an address") {
    CHECK(type_array(table, made(2, 2), 1, &flat, &err) &&
          type_array(table, made(2, 2), 3, &deep, &err));
    CHECK(type_is_array(flat) && type_parts(flat) == 1 && !type_equal(flat, deep));
    TypeRow row = type_row(table, deep);
    CHECK(row.axis_count == 3 && row.size == 8 && row.alignment == 8 &&
          type_equal(row.element, made(2, 2)));
    CHECK_TEXT(row.name, "array(mat2,3)");
    CHECK(type_read(table, str_of("array(mat2, 3)"), &again, &err) && type_equal(again, deep));
    CHECK(type_array(table, made(2, 2), 3, &again, &err) && type_equal(again, deep));
  }
  TEST("a struct may have arrays, and tells which of its words are their addresses") {
    Type type;
    CHECK(type_read(table, str_of("struct{n:i32,a:array(f32),b:struct{c:array(array(i8))}}"), &type,
                    &err));
    CHECK(type_parts(type) == 3 && type_row(table, type).size == 24 && !type_is_array(type));
    CHECK(type_array_words(table, type) == 6 && type_has_arrays(table, type));
    CHECK(!type_number_is_array(table, type, 0) && type_number_is_array(table, type, 2));
    CHECK(!type_has_arrays(table, made(2, 2)) && type_array_words(table, flat) == 1);
  }
  TEST("a fixed type has a row in every table") {
    TypeRow row = type_row(NULL, made(3, 2));
    CHECK(row.kind == TYPE_KIND_MATRIX && row.rows == 3 && row.cols == 2 &&
          type_is(row.element, TYPE_F32));
    CHECK(row.size == 24 && row.alignment == 4 &&
          type_row(NULL, TYPE(I64)).kind == TYPE_KIND_SCALAR);
  }
}

static const char *refusal(TypeTable *table, TypeMember *fields, int count) {
  static Error err;
  Type type;
  error_clear(&err);
  CHECK(!type_struct(table, 0, fields, count, &type, &err));
  return err.message;
}

static void refusals(TypeTable *table) {
  Error err = {0};
  Type array, type;
  CHECK(type_array(table, TYPE(F32), 1, &array, &err));
  TEST("a struct with too little or too much text is refused") {
    TypeMember twice[] = {{.name = "x", .type = TYPE(F32)}, {.name = "x", .type = TYPE(I32)}};
    TypeMember nameless[] = {{.name = "", .type = TYPE(F32)}};
    TypeMember none[] = {{.name = "q", .type = TYPE(NONE)}};
    CHECK_TEXT(refusal(table, twice, 0), "a struct needs at least one member");
    CHECK_TEXT(refusal(table, twice, 2), "a struct has two members 'x'");
    CHECK_TEXT(refusal(table, nameless, 1), "a member of a struct has no name");
    CHECK_TEXT(refusal(table, none, 1), "member 'q' of a struct has no fixed size");
  }
  TEST("an array has an element of a size, and 1 to 8 axes") {
    CHECK(type_array(table, array, 1, &type, &err) &&
          !type_array(table, TYPE(PLACE), 1, &type, &err));
    CHECK(!type_array(table, TYPE(F32), 0, &type, &err) &&
          !type_array(table, TYPE(F32), 9, &type, &err));
  }
}

/* Every allocation fails once; what failed can be made afterwards. */
static void memory(void) {
  TEST("a table that runs out of memory stays valid") {
    for (int fail_at = 1; fail_at < 12; fail_at++) {
      Heap heap;
      TypeTable table;
      Error err = {0};
      Type first = TYPE(NONE), second = TYPE(NONE);
      TypeMember fields[] = {{.name = "a", .type = TYPE(F32)}, {.name = "b", .type = TYPE(I8)}};
      heap_init(&heap, fail_at);
      type_table_init(&table, &heap);
      if (!type_struct(&table, 0, fields, 2, &first, &err))
        CHECK(type_struct(&table, 0, fields, 2, &first, &err));
      if (!type_array(&table, first, 2, &second, &err))
        CHECK(type_array(&table, first, 2, &second, &err));
      CHECK(table.count == 2 && type_equal(type_row(&table, second).element, first));
      type_table_deinit(&table);
      CHECK(heap.live_bytes == 0);
    }
  }
}

int main(void) {
  Heap heap;
  TypeTable table;
  heap_init(&heap, 0);
  type_table_init(&table, &heap);
  structs(&table);
  texts(&table);
  arrays(&table);
  refusals(&table);
  type_table_deinit(&table);
  CHECK(heap.live_bytes == 0);
  memory();
  return check_report();
}
