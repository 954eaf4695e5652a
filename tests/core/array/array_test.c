/* array_test.c - arrays in C hosts: in memory of the runtime, and in their own. */
#include "runtime.h"

static int released;
static void release(void *context) { released += *(int *)context; }

static RgArray *wrap(RgWrap wrap) {
  static const int64_t three = 3;
  RgArray *array = NULL;
  wrap.struct_size = sizeof wrap;
  if (!wrap.type) wrap.type = "f32";
  if (!wrap.shape) wrap.shape = &three, wrap.rank = 1;
  rg_array_wrap(rg, &wrap, &array);
  return array;
}

static void own_memory(void) {
  TEST("an array's memory is zero, aligned, and the array's elements") {
    int64_t shape[] = {3, 5}, index[] = {1, 2}, out[2], strides[2];
    RgArray *a = NULL;
    void *pointer = NULL;
    CHECK(rg_array_create(rg, "f32", shape, 2, "a", &a) == 0);
    CHECK(rg_array_pointer(a, &pointer) == 0 && (uintptr_t)pointer % 64 == 0);
    float *elements = pointer;
    for (int k = 0; k < 15; k++) CHECK(elements[k] == 0);
    RgValue value = number(2.5);
    CHECK(rg_array_set(a, index, 2, &value) == 0 && elements[7] == 2.5f);
    CHECK(rg_array_get(a, index, 2, &value) == 0 && value.number == 2.5);
    CHECK(rg_array_rank(a) == 2 && rg_array_shape(a, out) == 0 && out[0] == 3 && out[1] == 5);
    CHECK(rg_array_strides(a, strides) == 0 && strides[0] == 20 && strides[1] == 4);
    CHECK_TEXT(rg_array_type(a), "f32");
    CHECK_TEXT(rg_array_name(a), "a");
    index[1] = 5;
    CHECK_ERROR(rg_array_get(a, index, 2, &value), "index.range",
                "index 1, 5 is outside array 'a', whose shape is 3 x 5");
    rg_array_release(a);
  }
  TEST("a view of an array has its address, and ends with it") {
    int64_t shape[] = {3, 5};
    RgArray *a = NULL;
    RgView view;
    void *pointer = NULL;
    CHECK(rg_array_create(rg, "vec2", shape, 2, NULL, &a) == 0);
    CHECK(rg_array_view(a, &view) == 0 && rg_array_pointer(a, &pointer) == 0);
    CHECK(view.first == pointer && view.rank == 2 && view.step == 4 && !view.constant);
    CHECK(view.start[1] == 0 && view.extent[1] == 5 && view.stride[0] == 40 && view.stride[1] == 8);
    CHECK(*view.alive == 1 && rg_array_destroy(a, "here") == 0 && *view.alive == 0);
    rg_array_release(a);
  }
  TEST("an array without elements has none at any index") {
    RgArray *a = NULL;
    int64_t none = 0, index = 0;
    RgValue value = number(1);
    CHECK(rg_client_empty(rg, "f32", &none, 1, &a) == 0);
    CHECK_ERROR(rg_array_set(a, &index, 1, &value), "index.range",
                "an array of f32 has no elements");
    CHECK_ERROR(rg_array_get(a, &index, 1, &value), "index.range",
                "an array of f32 has no elements");
    rg_array_release(a);
  }
  TEST("an array takes its bytes from the budget and returns them") {
    RgMemory before, during, after;
    int64_t shape = 1 << 20;
    RgArray *a = NULL;
    rg_memory(rg, &before);
    CHECK(rg_array_create(rg, "f64", &shape, 1, NULL, &a) == 0);
    rg_memory(rg, &during);
    CHECK(during.live - before.live == (uint64_t)shape * 8 && during.arrays == before.arrays + 1);
    rg_array_retain(a);
    rg_array_release(a);
    rg_array_release(a);
    rg_memory(rg, &after);
    CHECK(after.live == before.live && after.arrays == before.arrays);
  }
  TEST("invalid declarations of arrays are refused with a message") {
    RgArray *a = NULL;
    int64_t shape[9] = {1, 1, 1, 1, 1, 1, 1, 1, 1}, less = -1;
    CHECK_ERROR(rg_array_create(rg, "f32", shape, 9, NULL, &a), "argument.invalid",
                "an array has 1 to 8 axes, not 9");
    CHECK_ERROR(rg_array_create(rg, "f32", &less, 1, NULL, &a), "argument.invalid",
                "an extent of an array must be a whole number of at least 0, got -1");
    CHECK(rg_array_create(rg, "float", shape, 1, NULL, &a) != 0 && !a);
    CHECK_TEXT(rg_error(rg)->code, "type.unknown");
  }
}

static void other_memory(void) {
  static float memory[12];
  static int one = 1;
  TEST("a wrap is the host's memory, and calls its release function once") {
    released = 0;
    RgArray *w = wrap((RgWrap){.pointer = memory, .release = release, .context = &one});
    RgValue value = number(4);
    int64_t index = 2;
    CHECK(rg_array_set(w, &index, 1, &value) == 0 && memory[2] == 4);
    rg_array_retain(w);
    rg_array_release(w);
    CHECK(released == 0);
    rg_array_release(w);
    CHECK(released == 1);
    w = wrap((RgWrap){.pointer = memory, .release = release, .context = &one});
    CHECK(rg_array_destroy(w, "here") == 0 && released == 2);
    CHECK_ERROR(rg_array_get(w, &index, 1, &value), "handle.destroyed",
                "an array of f32 was destroyed at here");
    rg_array_release(w);
    CHECK(released == 2);
    w = wrap((RgWrap){.pointer = memory});
    CHECK(rg_array_destroy(w, NULL) == 0);
    CHECK_ERROR(rg_array_get(w, &index, 1, &value), "handle.destroyed",
                "an array of f32 was destroyed at an unknown place");
    rg_array_release(w);
  }
  TEST("a refused wrap releases nothing") {
    released = 0;
    CHECK(!wrap((RgWrap){.pointer = NULL, .release = release, .context = &one}));
    CHECK_TEXT(rg_error(rg)->message, "a NULL pointer cannot be wrapped");
    CHECK(!wrap((RgWrap){.pointer = (char *)memory + 2, .release = release, .context = &one}));
    int64_t far = INT64_MAX / 2;
    far -= far % 4;
    CHECK(!wrap((RgWrap){.pointer = memory, .strides = &far}));
    CHECK_TEXT(rg_error(rg)->message, "the strides of an array of f32 overflow the address space");
    CHECK(released == 0);
  }
  TEST("a constant wrap is read-only") {
    RgArray *w = wrap((RgWrap){.pointer = memory, .constant = 1});
    RgValue value = number(1);
    int64_t index = 0;
    CHECK(rg_array_get(w, &index, 1, &value) == 0);
    CHECK(rg_array_set(w, &index, 1, &value) != 0 && rg_array_fill(w, &value) != 0);
    rg_array_release(w);
  }
  TEST("a wrap that outlives its runtime can be released") {
    RgRuntime *kept = rg, *other = NULL;
    RgOptions options = {.struct_size = sizeof options};
    CHECK(rg_runtime_create(&options, &other, NULL) == 0);
    rg = other;
    released = 0;
    RgArray *w = wrap((RgWrap){.pointer = memory, .release = release, .context = &one}),
            *own = NULL;
    int64_t shape = 4;
    CHECK(rg_array_create(other, "f32", &shape, 1, NULL, &own) == 0);
    rg = kept;
    rg_runtime_destroy(other);
    CHECK(rg_array_shape(w, &shape) != 0);
    rg_array_release(own);
    rg_array_release(w);
    CHECK(released == 1);
  }
}

static void launches(void) {
  TEST("a kernel takes arrays of any extent, by value") {
    static const char text[] =
        "function(a, k) for i in rg.range(#a) do a[i] = a[i] + k * i end return #a end";
    RgKernelOptions options = {.struct_size = sizeof options, .name = "ramp"};
    RgKernel *kernel = NULL;
    float memory[8] = {1, 1, 1, 1, 1, 1, 1, 1};
    CHECK(rg_kernel_create(rg, text, (int64_t)sizeof text - 1, &options, &kernel) == 0);
    CHECK(rg_kernel_path_count(kernel) == 1);
    for (int64_t n = 3; n <= 8; n += 5) {
      RgArray *w = wrap((RgWrap){.pointer = memory, .shape = &n, .rank = 1});
      RgValue result, values[] = {{.kind = RG_VALUE_BUILTIN, .depth = 2, .text = "rg.range"},
                                  {.kind = RG_VALUE_ARRAY, .array = w},
                                  number(2)};
      CHECK_TEXT(rg_kernel_launch(kernel, values, 3, &result) ? rg_error(rg)->message : "", "");
      CHECK(result.number == (double)n);
      rg_array_release(w);
      CHECK(rg_kernel_launch(kernel, (RgValue[]){values[0], {.kind = RG_VALUE_ARRAY}, values[2]}, 3,
                             &result) != 0);
    }
    CHECK(memory[2] == 1 + 4 + 4 && memory[7] == 1 + 14);
    RgStats stats;
    rg_stats(rg, &stats);
    CHECK(stats.compiles == 1);
    rg_kernel_release(kernel);
  }
}

int main(void) {
  start(256 << 20, 1);
  own_memory();
  other_memory();
  launches();
  stop();
  return check_report();
}
