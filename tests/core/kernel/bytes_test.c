/* bytes_test.c - compiled kernels as bytes: they are read as they were written, and other bytes are
 * an error. */
#include <string.h>

#include "check.h"
#include "kernel/compile/compiled.h"

static Heap heap;
static Scratch scratch;
static TypeTable types;

static Source source = {.text = {"x[i] = y + 1", 12}, .name = "heat.lua", .first_line = 7};
static Source helper = {.text = {"return a", 8}, .name = "help.lua", .first_line = 1};

static DeviceSum sum = {.tree = 1, .depth = 1, .counts = {64}, .strides = {4}};
static DeviceTask tasks[] = {
    {.kind = DEVICE_RANGE, .axis_count = 1, .bounds = 3, .cost = 1, .privatised = 1},
    {.kind = DEVICE_RANGE, .axis_count = 1, .bounds = 3, .cost = 9, .sums = &sum, .sum_count = 1},
    {.kind = DEVICE_NODES,
     .tree = 1,
     .manager = 2,
     .cost = 1 << 20,
     .array_count = 2,
     .array_slots = {0, 4},
     .order_count = 1,
     .orders = {{1, 2, 3}}}};
static CompiledArg args[] = {
    {.type = TYPE(I32),
     .from = {.is_parameter = true, .part = 1},
     .source = &source,
     .name = "y",
     .reason = {.clause = "which indexes 'x'", .source = &helper, .pos = {7, 1, 8}, .width = 1}}};
static SemaLimit limits[] = {{.type = TYPE(I8), .source = &source, .pos = {7, 7, 8}}};
static SemaArg trees[] = {{.index = 1}, {.index = 3}};
static SemaPiece pieces[] = {{.kind = PIECE_TEXT, .text = {"no ", 3}},
                             {.kind = PIECE_VALUE, .type = TYPE(F64), .format = "%5.2f"}};
static SemaCallPlace calls[] = {{.name = "help", .source = &helper, .pos = {0, 1, 1}, .width = 6}};
static SemaMessage messages[] = {{.code = RG_ERROR_RACE,
                                  .pieces = {pieces, 2, 2},
                                  .hint = "try 1",
                                  .axis_count = 2,
                                  .source = &source,
                                  .pos = {0, 7, 1},
                                  .width = 4,
                                  .calls = {calls, 1, 1}}};
static int32_t axes[] = {2};
static CompiledSite sites[] = {{.line = 7, .name = "x", .shape = "8 x 4"}};
static Type results[2];

static CompiledKernel create(void) {
  static const uint8_t bytes[] = {0, 1, 2, 255};
  TypeMember member = {.name = "n", .type = TYPE(I64)};
  Error err;
  error_clear(&err);
  results[0] = TYPE(F32);
  CHECK(type_struct(&types, 0, &member, 1, &results[1], &err));
  return (CompiledKernel){.holders = 1,
                          .bytes = bytes,
                          .byte_count = sizeof bytes,
                          .tasks = tasks,
                          .task_count = 3,
                          .has_sums = true,
                          .frame_slots = 8,
                          .args = args,
                          .arg_count = 1,
                          .limits = limits,
                          .limit_count = 1,
                          .results = results,
                          .result_count = 2,
                          .trees = trees,
                          .tree_count = 2,
                          .messages = messages,
                          .message_axes = axes,
                          .message_count = 1,
                          .sites = sites,
                          .site_count = 1,
                          .irreversible = 1u << IRREVERSIBLE_ARRAYS,
                          .written = UINT64_MAX,
                          .extents = 1,
                          .order = UINT64_MAX - 1};
}

static RgCodegenObject objects[RG_TARGET_COUNT];

static CompiledKernel *read_from(TypeTable *table, const uint8_t *bytes, int64_t length) {
  Error err;
  error_clear(&err);
  CompiledKernel *read = compiled_read(&heap, table, bytes, length, objects, &err);
  CHECK(read || err.code == RG_ERROR_OBJECT || err.code == RG_ERROR_MEMORY);
  return read;
}

static CompiledBytes written(void) {
  static uint8_t code[] = "code";
  CompiledKernel compiled = create();
  RgCodegenObject made[RG_TARGET_COUNT] = {[RG_TARGET_HOST] = {.bytes = code, .length = 4}};
  return compiled_write(&compiled, &types, made, &scratch);
}

/* In another runtime, whose table of types has other numbers. */
static void check_elsewhere(CompiledBytes bytes) {
  TypeTable other;
  Type shifted;
  Error err;
  error_clear(&err);
  TypeMember member = {.name = "first", .type = TYPE(F32)};
  type_table_init(&other, &heap);
  CHECK(type_struct(&other, 0, &member, 1, &shifted, &err));
  CompiledKernel *read = read_from(&other, bytes.data, bytes.length);
  CHECK(read);
  CHECK(read && !type_equal(read->results[1], results[1]));
  CHECK_TEXT(read ? type_row(&other, read->results[1]).name : "", "struct{n:i64}");
  compiled_release(read);
  type_table_deinit(&other);
}

static void check_same(CompiledBytes bytes) {
  CompiledKernel *read = read_from(&types, bytes.data, bytes.length);
  CHECK(read);
  if (!read) return;
  CHECK_TEXT(read->args[0].source->name, "heat.lua");
  CHECK_TEXT(read->args[0].reason.source->name, "help.lua");
  CHECK(read->messages[0].source == read->args[0].source);
  CHECK_TEXT(read->messages[0].calls.items[0].name, "help");
  CHECK(read->order == UINT64_MAX - 1 && read->written == UINT64_MAX && read->byte_count == 4);
  CHECK(objects[RG_TARGET_HOST].length == 4 && !memcmp(objects[RG_TARGET_HOST].bytes, "code", 4));
  CHECK(!objects[RG_TARGET_PTX].bytes);
  CompiledBytes again = compiled_write(read, &types, objects, &scratch);
  CHECK(again.length == bytes.length && !memcmp(again.data, bytes.data, (size_t)bytes.length));
  compiled_release(read);
}

static void check_cut(CompiledBytes bytes) {
  for (int64_t length = 0; length < bytes.length; length++) {
    CompiledKernel *read = read_from(&types, bytes.data, length);
    CHECK(!read);
    compiled_release(read);
  }
}

/* Other bytes may be another kernel, but a valid one. */
static void check_changed(CompiledBytes bytes) {
  static const uint8_t values[] = {0, 1, 2, 0x40, 0x7f, 0x80, 0xff};
  uint8_t *copy = scratch_alloc(&scratch, (size_t)bytes.length);
  const char *broken;
  int read_count = 0;
  for (int64_t at = 0; at < bytes.length; at++)
    for (size_t v = 0; v < sizeof values; v++) {
      memcpy(copy, bytes.data, (size_t)bytes.length);
      copy[at] = values[v];
      CompiledKernel *read = read_from(&types, copy, bytes.length);
      CHECK(!read || compiled_is_valid(read, &broken));
      read_count += read != NULL;
      compiled_release(read);
    }
  CHECK(read_count > 0);
}

static bool run(void *data, Error *err) {
  (void)data, (void)err;
  CompiledBytes bytes = written();
  TEST("a compiled kernel is read as it was written, with its objects") check_same(bytes);
  TEST("structs are read into the table of another runtime") check_elsewhere(bytes);
  TEST("bytes that end early are an error") check_cut(bytes);
  TEST("bytes that were changed are an error, or another valid kernel") check_changed(bytes);
  return true;
}

int main(void) {
  Error err;
  error_clear(&err);
  heap_init(&heap, 0);
  scratch_init(&scratch, &heap);
  type_table_init(&types, &heap);
  guard_run(run, NULL, &err);
  CHECK_TEXT(err.message, "");
  type_table_deinit(&types);
  scratch_deinit(&scratch);
  return check_report();
}
