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
  TypeField fields[] = {{"x", made(3, 1), 0}, {"mass", TYPE(F64), 0}, {"alive", TYPE(BOOL), 0}};
  TEST("fields lie as C lays them") {
    CHECK(type_struct(table, fields, 3, &particle, &err) &&
          type_kind(particle) == TYPE_KIND_STRUCT);
    TypeRow row = type_row(table, particle);
    CHECK(row.field_count == 3 && row.fields[0].offset == 0 && row.fields[1].offset == 16);
    CHECK(row.fields[2].offset == 24 && row.size == 32 && row.alignment == 8);
    CHECK_TEXT(row.fields[1].name, "mass");
  }
  TEST("a struct declared twice is one type, with another name or order of fields another") {
    int count = table->count;
    CHECK(type_struct(table, fields, 3, &again, &err) && type_equal(again, particle) &&
          table->count == count);
    fields[1].name = "weight";
    CHECK(type_struct(table, fields, 3, &again, &err) && !type_equal(again, particle));
    CHECK(type_struct(table, fields, 2, &again, &err) && !type_equal(again, particle));
  }
  TEST("structs nest") {
    TypeField nested[] = {{"first", particle, 0}, {"count", TYPE(I32), 0}};
    CHECK(type_struct(table, nested, 2, &cell, &err));
    TypeRow row = type_row(table, cell);
    CHECK(row.fields[1].offset == 32 && row.size == 40 && row.alignment == 8);
    CHECK(type_equal(type_shape(cell), cell) && !type_is_scalar(cell));
  }
}

static void arrays(TypeTable *table) {
  Error err = {0};
  Type flat = TYPE(NONE), deep = TYPE(NONE), again = TYPE(NONE);
  TEST("an array is its element and its axes; its extents are of a launch") {
    CHECK(type_array(table, made(2, 2), 1, &flat, &err) &&
          type_array(table, made(2, 2), 3, &deep, &err));
    CHECK(type_kind(flat) == TYPE_KIND_ARRAY && !type_equal(flat, deep));
    TypeRow row = type_row(table, deep);
    CHECK(row.axis_count == 3 && row.size == 16 && row.alignment == 4 &&
          type_equal(row.element, made(2, 2)));
    CHECK(type_array(table, made(2, 2), 3, &again, &err) && type_equal(again, deep));
  }
  TEST("a fixed type has a row in every table") {
    TypeRow row = type_row(NULL, made(3, 2));
    CHECK(row.kind == TYPE_KIND_MATRIX && row.rows == 3 && row.cols == 2 &&
          type_is(row.element, TYPE_F32));
    CHECK(row.size == 24 && row.alignment == 4 &&
          type_row(NULL, TYPE(I64)).kind == TYPE_KIND_SCALAR);
  }
}

static const char *refusal(TypeTable *table, TypeField *fields, int count) {
  static Error err;
  Type type;
  error_clear(&err);
  CHECK(!type_struct(table, fields, count, &type, &err));
  return err.message;
}

static void refusals(TypeTable *table) {
  Error err = {0};
  Type array, type;
  CHECK(type_array(table, TYPE(F32), 1, &array, &err));
  TEST("a struct that says too little or too much is refused") {
    TypeField twice[] = {{"x", TYPE(F32), 0}, {"x", TYPE(I32), 0}};
    TypeField nameless[] = {{"", TYPE(F32), 0}};
    TypeField open[] = {{"values", array, 0}}, none[] = {{"q", TYPE(NONE), 0}};
    CHECK_TEXT(refusal(table, twice, 0), "a struct has a field at least");
    CHECK_TEXT(refusal(table, twice, 2), "a struct has two fields 'x'");
    CHECK_TEXT(refusal(table, nameless, 1), "a field of a struct has no name");
    CHECK_TEXT(refusal(table, open, 1), "field 'values' of a struct has no fixed size");
    CHECK_TEXT(refusal(table, none, 1), "field 'q' of a struct has no fixed size");
  }
  TEST("an array has an element of a size, and 1 to 8 axes") {
    CHECK(!type_array(table, array, 1, &type, &err) &&
          !type_array(table, TYPE(PLACE), 1, &type, &err));
    CHECK(!type_array(table, TYPE(F32), 0, &type, &err) &&
          !type_array(table, TYPE(F32), 9, &type, &err));
  }
}

/* Every allocation fails once; what failed can be made afterwards. */
static void memory(void) {
  TEST("a table that runs out of memory stays whole") {
    for (int fail_at = 1; fail_at < 12; fail_at++) {
      Heap heap;
      TypeTable table;
      Error err = {0};
      Type first = TYPE(NONE), second = TYPE(NONE);
      TypeField fields[] = {{"a", TYPE(F32), 0}, {"b", TYPE(I8), 0}};
      heap_init(&heap, fail_at);
      type_table_init(&table, &heap);
      if (!type_struct(&table, fields, 2, &first, &err))
        CHECK(type_struct(&table, fields, 2, &first, &err));
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
  arrays(&table);
  refusals(&table);
  type_table_deinit(&table);
  CHECK(heap.live_bytes == 0);
  memory();
  return check_report();
}
