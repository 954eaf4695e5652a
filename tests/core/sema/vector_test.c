/* vector_test.c - vectors and matrices: their names in messages, and errors. */
#include "fixture.h"

static void test_types(World *w) {
  TEST("vectors are named by their types") {
    CHECK_TEXT(types_of(w, "function() local a = rg.vec2(1) local b = a.xyx * 2 local c: mat2 = "
                           "rg.outer(a, a) local d = a:norm() "
                           "local e = math.floor(a) local f = rg.vec(5, rg.f64)(0) end"),
               "a: vec2\nb: vec3\nc: mat2\nd: f32\ne: vec2\nf: vec(5,f64)\n");
  }
  TEST("an index may be a vector of integers, and no other") {
    CHECK_TEXT(error_of(w, "function() t[rg.vec2(1, 2)] = 1 end"),
               "1:17+4 type.mismatch: an index must be an integer, but this is an f32 "
               "(math.floor(..) or rg.i32(..) makes an integer)");
    CHECK_TEXT(error_of(w, "function() t[rg.ivec3(1)] = 1 end"),
               "1:12+14 index.count: 't' has 2 axes, 3 indices given");
    CHECK_TEXT(error_of(w, "function() t[rg.mat2(1)] = 1 end"),
               "1:17+4 type.mismatch: a matrix cannot be an index");
  }
  TEST("a reduction may not depend on an order") {
    CHECK_TEXT(
        error_of(
            w,
            "function() local m = rg.mat2(1) for i in rg.range(3) do m = m * rg.mat2(2) end end"),
        "1:68+4 reduction.invalid: matrix products depend on their order, and iterations have "
        "none");
    CHECK_TEXT(
        error_of(w, "function() local v = rg.vec2(1) for i in rg.range(3) do v.x = i end end"),
        "1:59+1 reduction.invalid: 'v.x' belongs to the whole kernel: a parallel loop can only "
        "reduce into it (write v.x = v.x + .., or math.max(v.x, ..), or declare a local inside "
        "the loop)");
  }
}

int main(void) {
  World w;
  world_init(&w);
  test_types(&w);
  world_deinit(&w);
  return check_report();
}
