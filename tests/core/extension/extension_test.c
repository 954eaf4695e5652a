/* extension_test.c - extensions in C, and counted memory by the functions of the table, in C hosts.
 * */
#include <pthread.h>
#include <stdlib.h>

#include "runtime.h"

#define CHECK_SAYS(status, code_text, part) \
  do { \
    CHECK((status) != 0); \
    CHECK_TEXT(rg_error(rg)->code, code_text); \
    if (!strstr(rg_error(rg)->message, part)) CHECK_TEXT(rg_error(rg)->message, part); \
  } while (0)

static const RgExtensionApi *api;
static int ended;
static void *ended_data;

static void on_end(void *data, uint64_t size_bytes, void *context) {
  (void)size_bytes;
  *(int *)context += 1;
  ended_data = data;
}

static RgAllocations now(void) {
  RgAllocations all = {0};
  CHECK(rg_allocations(rg, &all) == 0);
  return all;
}

/* Only arrays and trees hold memory. */
static bool is_at_rest(void) {
  RgAllocations all = now();
  return all.header_alloc - all.header_free == all.held && all.faults == 0;
}

static void begin(const char *mode) {
  setenv("RG_ALLOCATIONS", mode, 1);
  start(64 << 20, 2);
  api = rg_extension_api(rg);
  ended = 0;
}

static RgArray *new_array(int64_t count) {
  RgArray *array = NULL;
  CHECK(rg_array_create(rg, "f32", &count, 1, "a", &array) == 0);
  return array;
}

static const RgExtensionFunction *find(const RgExtension *extension, const char *name) {
  for (int32_t k = 0; k < extension->function_count; k++)
    if (!strcmp(extension->functions[k].name, name)) return &extension->functions[k];
  return NULL;
}

static void table(void) {
  TEST("the table says its size and version first, and is the runtime's") {
    CHECK(api && api->struct_size == sizeof *api && api->version == RG_EXTENSION_VERSION);
    CHECK(rg_extension_api(rg) == api);
    CHECK(rg_extension_api(NULL) == NULL);
  }
  TEST("memory is allocated, grows, is counted, and is freed by its last release") {
    RgCounted *counted = api->allocate(api, 100);
    uint8_t *data = api->data(api, counted);
    CHECK(data && (uintptr_t)data % 64 == 0);
    CHECK_INT(api->size(api, counted), 100);
    CHECK_INT(api->count(api, counted), 1);
    memset(data, 7, 100);
    api->acquire(api, counted);
    CHECK_INT(api->count(api, counted), 2);
    api->release(api, counted);
    CHECK(api->resize(api, counted, 200000));
    data = api->data(api, counted);
    CHECK(data[0] == 7 && data[99] == 7);
    CHECK_INT(api->size(api, counted), 200000);
    CHECK(!is_at_rest());
    api->release(api, counted);
    CHECK(is_at_rest());
  }
  TEST("managed memory is released once, to its owner") {
    int memory[4];
    RgCounted *counted = api->manage(api, memory, sizeof memory, on_end, &ended);
    CHECK(api->data(api, counted) == memory);
    CHECK(!api->resize(api, counted, 100));
    api->acquire(api, counted);
    api->release(api, counted);
    CHECK_INT(ended, 0);
    api->release(api, counted);
    CHECK(ended == 1 && ended_data == memory && is_at_rest());
  }
  TEST("NULL can be acquired, released and queried without effect") {
    api->acquire(api, NULL);
    api->release(api, NULL);
    CHECK(!api->data(api, NULL) && !api->size(api, NULL) && !api->count(api, NULL));
  }
  TEST("an allocation beyond the budget returns NULL") {
    CHECK(!api->allocate(api, (uint64_t)1 << 40));
    CHECK(!api->allocate(api, UINT64_MAX));
    CHECK(is_at_rest());
  }
  TEST("the table returns the statistics") {
    RgAllocations all, same = now();
    CHECK(api->statistics(api, &all) == 1);
    CHECK(all.alloc == same.alloc && all.header_free == same.header_free);
    CHECK(all.peak >= 200000);
  }
}

static void arrays(void) {
  TEST("a reference to an array's header keeps its memory, whatever happens to the array") {
    RgArray *array = new_array(1000);
    RgCounted *counted = NULL;
    void *pointer = NULL;
    RgValue value = number(2.5);
    CHECK(rg_array_counted(array, &counted) == 0);
    CHECK(rg_array_pointer(array, &pointer) == 0 && api->data(api, counted) == pointer);
    CHECK_INT(api->size(api, counted), 4000);
    CHECK(rg_array_fill(array, &value) == 0);
    api->acquire(api, counted);
    CHECK(rg_array_destroy(array, "here") == 0);
    CHECK(((float *)api->data(api, counted))[999] == 2.5f);
    CHECK_SAYS(rg_array_counted(array, &counted), "handle.destroyed", "destroyed at here");
    rg_array_release(array);
    CHECK(((float *)api->data(api, counted))[999] == 2.5f);
    api->release(api, counted);
    CHECK(is_at_rest() && now().held == 0);
  }
  TEST("a wrap's memory is released with its last reference") {
    static float memory[3];
    static const int64_t three = 3;
    RgWrap wrap = {
        .struct_size = sizeof wrap, .rank = 1, .pointer = memory, .type = "f32", .shape = &three};
    RgArray *array = NULL;
    RgCounted *counted = NULL;
    CHECK(rg_array_wrap(rg, &wrap, &array) == 0 && rg_array_counted(array, &counted) == 0);
    CHECK(api->data(api, counted) == memory);
    api->acquire(api, counted);
    rg_array_release(array);
    CHECK(now().held == 1);
    api->release(api, counted);
    CHECK(now().held == 0 && is_at_rest());
  }
  TEST("counted memory becomes an array without a copy, and is freed with its last reference") {
    RgCounted *counted = api->allocate(api, 40);
    const int64_t shape[] = {2, 5};
    RgArray *array = NULL;
    void *pointer = NULL;
    memset(api->data(api, counted), 0, 40);
    ((float *)api->data(api, counted))[7] = 3;
    CHECK(rg_array_adopt(rg, counted, "f32", shape, 2, &array) == 0);
    RgValue value;
    CHECK(rg_array_get(array, (int64_t[]){1, 2}, 2, &value) == 0 && value.number == 3);
    CHECK(rg_array_pointer(array, &pointer) == 0 && pointer == api->data(api, counted));
    rg_array_release(array);
    CHECK(is_at_rest() && now().held == 0);
  }
  TEST("memory that is too small for an array is refused, and stays the caller's") {
    RgCounted *counted = api->allocate(api, 40);
    int64_t eleven = 11, none = 0;
    RgArray *array = NULL;
    CHECK_SAYS(rg_array_adopt(rg, counted, "f32", &eleven, 1, &array), "argument.invalid",
               "44 bytes");
    CHECK(!array && api->count(api, counted) == 1);
    CHECK(rg_array_adopt(rg, counted, "f32", &none, 1, &array) == 0);
    rg_array_release(array);
    CHECK(is_at_rest());
  }
  TEST("a field's header is that of its root's container") {
    RgTree *tree = new_tree("t");
    RgSNode *node = add(rg_tree_root(tree), "dense", "i", 64, "n");
    RgField *x = NULL;
    RgCounted *counted = NULL;
    CHECK(rg_field_create(rg, "f32", "x", &x) == 0 && rg_snode_place(node, x) == 0);
    CHECK(rg_field_counted(x, &counted) == 0);
    CHECK_INT(api->size(api, counted), 256);
    RgValue value = number(4);
    CHECK(rg_field_fill(x, &value) == 0 && ((float *)api->data(api, counted))[63] == 4);
    api->acquire(api, counted);
    CHECK(rg_tree_destroy(tree, "here") == 0);
    CHECK(((float *)api->data(api, counted))[63] == 4);
    api->release(api, counted);
    CHECK(is_at_rest());
    rg_field_release(x);
  }
}

static void *release_there(void *counted) {
  api->release(api, counted);
  return NULL;
}

static void ends(void) {
  TEST("any thread may release the last reference to an array's memory") {
    RgArray *array = new_array(1000);
    RgCounted *counted = NULL;
    pthread_t thread;
    CHECK(rg_array_counted(array, &counted) == 0);
    api->acquire(api, counted);
    rg_array_release(array);
    pthread_create(&thread, NULL, release_there, counted);
    pthread_join(thread, NULL);
    CHECK(is_at_rest() && now().held == 0);
  }
  TEST("a reference that is held at the end of the runtime may be released later") {
    int memory = 0;
    RgArray *array = new_array(100000);
    RgCounted *of_array = NULL, *large = api->allocate(api, 200000),
              *small = api->allocate(api, 10),
              *managed = api->manage(api, &memory, sizeof memory, on_end, &ended);
    CHECK(rg_array_counted(array, &of_array) == 0);
    api->acquire(api, of_array);
    ended = 0;
    rg_runtime_destroy(rg);
    rg = NULL;
    CHECK(!api->data(api, large) && !api->data(api, of_array));
    CHECK(api->data(api, managed) == &memory);
    CHECK(!api->allocate(api, 10));
    api->release(api, of_array);
    api->release(api, large);
    api->release(api, managed);
    CHECK_INT(ended, 1);
    rg_array_release(array);
    api->release(api, small); /* with it the table ends */
    begin("on");
  }
}

static void opened(void) {
  const RgExtension *sample = NULL, *again = NULL, *other = NULL;
  TEST("an extension is opened once for a runtime, and calls its table") {
    CHECK(rg_extension_open(rg, FOLDER "sample.so", &sample) == 0);
    CHECK(rg_extension_open(rg, FOLDER "sample.so", &again) == 0 && again == sample);
    CHECK_TEXT(sample->name, "sample");
    RgExtensionValue values[2] = {{.f64 = 3}, {.f64 = 4}};
    CHECK(rg_extension_call(rg, find(sample, "hypotenuse"), values) == 0 && values[0].f64 == 5);
    CHECK(rg_extension_call(rg, find(sample, "table"), values) == 0);
    CHECK(values[0].u64 == (uint64_t)(uintptr_t)api);
  }
  TEST("an extension keeps what it acquires, and what it manages is freed once") {
    RgArray *array = new_array(10);
    RgCounted *counted = NULL;
    RgValue value = number(1);
    CHECK(rg_array_fill(array, &value) == 0 && rg_array_counted(array, &counted) == 0);
    RgExtensionValue one = {.counted = counted};
    CHECK(rg_extension_call(rg, find(sample, "keep"), &one) == 0);
    rg_array_release(array);
    CHECK(rg_extension_call(rg, find(sample, "kept_sum"), &one) == 0 && one.f64 == 10);
    CHECK(rg_extension_call(rg, find(sample, "drop"), &one) == 0 && now().held == 0);
    one.i64 = 5;
    CHECK(rg_extension_call(rg, find(sample, "ramp"), &one) == 0);
    RgCounted *ramp = one.counted;
    CHECK(((double *)api->data(api, ramp))[4] == 4);
    CHECK(rg_extension_call(rg, find(sample, "ramps"), &one) == 0 && one.i64 == 1);
    api->release(api, ramp);
    CHECK(rg_extension_call(rg, find(sample, "ramps"), &one) == 0 && one.i64 == 0);
    CHECK(is_at_rest());
  }
  TEST("the message of an extension that fails is the error of the call") {
    RgExtensionValue one;
    CHECK_SAYS(rg_extension_call(rg, find(sample, "kept_sum"), &one), "extension.failed",
               "sample.kept_sum: nothing is kept");
  }
  TEST(
      "a library that is missing, not a library, lacks a symbol, or has another table is refused") {
    CHECK_SAYS(rg_extension_open(rg, "/nowhere/x.so", &other), "library.missing", "/nowhere/x.so");
    CHECK_SAYS(rg_extension_open(rg, "libm.so.6", &other), "library.missing",
               "has no function regolith_extension");
    CHECK_SAYS(rg_extension_open(rg, FOLDER "broken_symbol.so", &other), "library.missing",
               "no_such_function");
    CHECK_SAYS(rg_extension_open(rg, FOLDER "broken_version.so", &other), "library.version",
               "version 99 of the extension table, and this library has version 1");
    CHECK_SAYS(rg_extension_open(rg, FOLDER "broken_refuses.so", &other), "library.missing",
               "failed to initialise: not today");
  }
}

static void checked(void) {
  TEST("checked: new memory is recognisable, and a write past its end is reported") {
    RgCounted *counted = api->allocate(api, 10);
    uint8_t *data = api->data(api, counted);
    CHECK_INT(data[0], 0xCB);
    CHECK_INT(data[9], 0xCB);
    data[10] = 1;
    api->release(api, counted);
    RgAllocations all = now();
    CHECK_INT(all.faults, 1);
    CHECK_TEXT(all.fault, "counted memory made somewhere was written past its end");
  }
  TEST("checked: a release too many is reported, and has no effect") {
    RgCounted *counted = api->allocate(api, 10);
    api->release(api, counted);
    api->release(api, counted);
    RgAllocations all = now();
    CHECK_INT(all.faults, 2);
    CHECK_TEXT(all.fault,
               "counted memory made somewhere was released somewhere, after its last release "
               "somewhere");
    CHECK(all.header_alloc == all.header_free);
  }
  TEST("checked: the report says which function of an extension made it") {
    const RgExtension *sample = NULL;
    RgExtensionValue one = {.i64 = 5};
    CHECK(rg_extension_open(rg, FOLDER "sample.so", &sample) == 0);
    CHECK(rg_extension_call(rg, find(sample, "ramp"), &one) == 0);
    api->release(api, one.counted);
    api->acquire(api, one.counted);
    CHECK_TEXT(now().fault, "counted memory made by ramp was acquired somewhere, after its last "
                            "release somewhere");
  }
  TEST("a large array of several axes has its elements from the memory manager, as others do") {
    RgCounted *counted = NULL;
    int64_t extents[] = {512, 300};
    RgAllocations before = now();
    CHECK(rg_counted_create(rg, "f32", extents, 2, NULL, &counted) == 0);
    CHECK_INT(now().alloc - before.alloc, 2);
    CHECK_INT(api->size(api, counted), 512 * 300 * 4);
    CHECK_INT(((int64_t *)api->data(api, counted))[512 * 300 / 2 + 1], 300);
    CHECK_SAYS(rg_counted_resize(rg, counted, "f32", 4), "list.full", "has several axes");
    CHECK_INT(((int64_t *)api->data(api, counted))[512 * 300 / 2 + 1], 300);
    api->release(api, counted);
    CHECK_INT(now().free - before.free, 2);
  }
  TEST("checked: the report says where the last release was, and where the one too many") {
    RgCounted *counted = NULL;
    int64_t three = 3;
    CHECK(rg_counted_create(rg, "i32", &three, 1, "main.c:1", &counted) == 0);
    api->acquire(api, counted);
    rg_counted_release(counted, "main.c:2");
    rg_counted_release(counted, "main.c:3");
    rg_counted_release(counted, "main.c:4");
    CHECK_TEXT(now().fault, "counted memory made at main.c:1 was released at main.c:4, after its "
                            "last release at main.c:3");
  }
}

int main(void) {
  begin("on");
  table();
  arrays();
  ends();
  opened();
  stop();
  begin("check");
  checked();
  stop();
  return check_report();
}
