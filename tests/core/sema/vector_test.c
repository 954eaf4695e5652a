/* vector_test.c - vectors and matrices: what they are made into, and what they are called. */
#include "fixture.h"

static void test_values(World *w) {
  TEST("a vector is its numbers, one op each") {
    CHECK_TEXT(ir_of(w, "function() local v = rg.vec2(x[0], 2) * 3 x[1] = v.y end"), "%0: i32 = const 0\n"
                                                                                     "%1: place = place f0 %0\n"
                                                                                     "%2: f32 = load %1\n"
                                                                                     "%3: f32 = const 2.0\n"
                                                                                     "%4: f32 = const 3.0\n"
                                                                                     "%5: f32 = mul %2, %4\n"
                                                                                     "%6: f32 = mul %3, %4\n"
                                                                                     "%7: i32 = const 1\n"
                                                                                     "%8: place = place f0 %7\n"
                                                                                     "store %8, %6\n");
  }
  TEST("a vector that is assigned is a var per number") {
    CHECK_TEXT(ir_of(w, "function() local v = rg.ivec2(1) v.y = 5 n32[0] = v.y end"), "%0: i32 = const 1\n"
                                                                                      "%1: i32 = var\n"
                                                                                      "set %1, %0\n"
                                                                                      "%2: i32 = var\n"
                                                                                      "set %2, %0\n"
                                                                                      "%3: i32 = const 5\n"
                                                                                      "set %2, %3\n"
                                                                                      "%4: i32 = get %2\n"
                                                                                      "%5: i32 = const 0\n"
                                                                                      "%6: place = place f0 %5\n"
                                                                                      "store %6, %4\n");
  }
  TEST("a kernel returns every number of a vector") {
    CHECK_TEXT(ir_of(w, "function() return rg.vec2(1, 2) end"), "%0: f32 = const 1.0\n"
                                                                "%1: f32 = const 2.0\n"
                                                                "return %0, %1\n");
  }
}

static void test_types(World *w) {
  TEST("vectors are called what they are") {
    CHECK_TEXT(
        types_of(
            w, "function() local a = rg.vec2(1) local b = a.xyx * 2 local c: mat2 = rg.outer(a, a) local d = a:norm() "
               "local e = math.floor(a) local f = rg.vec(5, rg.f64)(0) end"),
        "a: vec2\nb: vec3\nc: mat2\nd: f32\ne: ivec2\nf: vec(5,f64)\n");
  }
  TEST("an index may be a vector of integers, and no other") {
    CHECK_TEXT(
        error_of(w, "function() t[rg.vec2(1, 2)] = 1 end"),
        "1:17+4 type.mismatch: an index must be an integer, and this is an f32 (math.floor(..) or rg.i32(..) makes an "
        "integer)");
    CHECK_TEXT(error_of(w, "function() t[rg.ivec3(1)] = 1 end"),
               "1:12+14 index.count: 't' has 2 axes, here are 3 indices");
    CHECK_TEXT(error_of(w, "function() t[rg.mat2(1)] = 1 end"), "1:17+4 type.mismatch: a matrix cannot be an index");
  }
  TEST("what is gathered may not depend on an order") {
    CHECK_TEXT(error_of(w, "function() local m = rg.mat2(1) for i in rg.range(3) do m = m * rg.mat2(2) end end"),
               "1:68+4 reduction.invalid: products of matrices depend on their order, and iterations have none");
    CHECK_TEXT(
        error_of(w, "function() local v = rg.vec2(1) for i in rg.range(3) do v.x = v.x + 1 end end"),
        "1:59+1 reduction.invalid: 'v' belongs to the whole kernel: a parallel loop can only gather into it (gather "
        "whole values: v = v + ..)");
  }
}

int main(void) {
  World w;
  world_init(&w);
  test_values(&w);
  test_types(&w);
  world_deinit(&w);
  return check_report();
}
