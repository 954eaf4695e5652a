/* types_test.c - the type of every captured number, parameter and local, by the contract's rules of
 * inference. */
#include "fixture.h"

static void test_numbers(World *w) {
  TEST("a captured number that reaches an index, itself or through + - * // %, is an integer") {
    CHECK_TEXT(types_of(w, "function() x[a] = dt end"), "a: i32\ndt: f32\n");
    CHECK_TEXT(types_of(w, "function() x[a + 1 - b * 2] = dt end"), "a: i32\nb: i32\ndt: f32\n");
    CHECK_TEXT(types_of(w, "function() x[(a % 7) // 2 + -b] = 1 end"), "a: i32\nb: i32\n");
    CHECK_TEXT(types_of(w, "function() g[{a, 1}][b] = 1 end"), "a: i32\nb: i32\n");
    CHECK_TEXT(types_of(w, "function() block:activate(a, b) end"), "a: i32\nb: i32\n");
  }
  TEST("a number that reaches an index through math.floor, math.min or math.max is an integer") {
    CHECK_TEXT(types_of(w, "function() x[math.floor(a * b)] = 1 end"), "a: i32\nb: i32\n");
    CHECK_TEXT(types_of(w, "function() x[math.max(a, math.min(b, 3))] = 1 end"),
               "a: i32\nb: i32\n");
  }
  TEST("a number that reaches an index through locals is an integer") {
    CHECK_TEXT(types_of(w, "function() local m = a local k = m + 1 x[k] = 1 end"),
               "a: i32\nm: i32\nk: i32\n");
    CHECK_TEXT(types_of(w, "function() local c = a local d = c d = d * 2 local e = d x[e] = 1 end"),
               "a: i32\nc: i32\nd: i32\ne: i32\n");
    CHECK_TEXT(types_of(w, "function() local i, j = 0, 1 i, j = j, i + a x[j] = 1 end"),
               "a: i32\ni: i32\nj: i32\n");
    CHECK_TEXT(
        types_of(w, "function() local s = 0 for i in rg.range(4) do s = s + n32[i] - a end x[s] = "
                    "1 end"),
        "a: i32\ns: i32\ni: i32\n");
  }
  TEST("numbers that reach an index through either side of a choice are integers") {
    CHECK_TEXT(types_of(w, "function() x[on and a or b] = 1 end"), "on: bool\na: i32\nb: i32\n");
  }
  TEST("a bound of a range makes an integer") {
    CHECK_TEXT(types_of(w, "function() for i, j in rg.range(a, {b, 10}) do x[i] = j end end"),
               "a: i32\nb: i32\ni: i32\nj: i32\n");
  }
  TEST("a bound of a for over integers makes an integer") {
    CHECK_TEXT(types_of(w, "function() for k = 0, a - 1 do x[0] = k end end"), "a: i32\nk: i32\n");
    CHECK_TEXT(types_of(w, "function() for k = a, b do x[k] = 1 end end"),
               "a: i32\nb: i32\nk: i32\n");
  }
  TEST("a for whose start is open and whose index is no integer elsewhere counts in floats") {
    CHECK_TEXT(types_of(w, "function() for k = a, b do x[0] = k end end"),
               "a: f32\nb: f32\nk: f32\n");
    CHECK_TEXT(types_of(w, "function() for k = 1, a, b do x[0] = k end end"),
               "a: f32\nb: f32\nk: f32\n");
  }
  TEST("a shift or bit operator makes an integer") {
    CHECK_TEXT(types_of(w, "function() local k = 1 << a local m = bit.bor(b, 3) end"),
               "a: i32\nb: i32\nk: i32\nm: i32\n");
  }
  TEST("an integer element makes an integer") {
    CHECK_TEXT(types_of(w, "function() n32[0] = a n8[1] += b end"), "a: i32\nb: i32\n");
    CHECK_TEXT(types_of(w, "function() n32:add(a, b) local q = n64:compare_exchange(0, dt, 4) end"),
               "a: i32\nb: i32\ndt: i64\nq: i64\n");
  }
  TEST("a variable declared an integer makes an integer") {
    CHECK_TEXT(types_of(w, "function() local k: u8 = a end"), "a: u8\nk: u8\n");
    CHECK_TEXT(types_of(w, "function(): i64 return a end"), "a: i64\n");
  }
  TEST("a number that is only stored in integers of one type has that type") {
    CHECK_TEXT(types_of(w, "function() local k: u8 = a local m: u8 = a end"),
               "a: u8\nk: u8\nm: u8\n");
    CHECK_TEXT(types_of(w, "function() local k: u8 = a local m: i8 = a end"),
               "a: i32\nk: u8\nm: i8\n");
    CHECK_TEXT(types_of(w, "function() local k: u8 = a x[a] = 1 end"), "a: i32\nk: u8\n");
    CHECK_TEXT(types_of(w, "function() local k: u8 = a if a < 3 then x[0] = 1 end end"),
               "a: i32\nk: u8\n");
  }
  TEST("// and % with an integer make an integer, with a float they do not") {
    CHECK_TEXT(types_of(w, "function() x[0] = a % 2 x[1] = b // n32[0] x[2] = dt % 1.5 end"),
               "a: i32\nb: i32\ndt: f32\n");
  }
  TEST("math.floor of a quotient with an integer makes an integer, also through a local") {
    CHECK_TEXT(types_of(w, "function() x[0] = math.floor(a / 4) x[1] = math.floor(b / n32[0]) end"),
               "a: i32\nb: i32\n");
    CHECK_TEXT(types_of(w, "function() local h = a / 16 x[0] = math.floor(h) end"),
               "a: i32\nh: f32\n");
    CHECK_TEXT(types_of(w, "function() x[0] = math.floor(a / b) end"), "a: f32\nb: f32\n");
  }
  TEST("a number that is combined with a float on its way to an index stays a float") {
    CHECK_TEXT(types_of(w, "function() x[math.floor(y[0] * a - 0.5)] = b end"), "a: f64\nb: f32\n");
  }
  TEST("a float has the float type that it is combined with, and with several it is an f64") {
    CHECK_TEXT(types_of(w, "function() x[0] = a * x[1] y[0] = b * y[1] x[2] = dt y[2] = dt end"),
               "a: f32\nb: f64\ndt: f64\n");
  }
  TEST("a float that is combined with no other has the default float type") {
    CHECK_TEXT(types_of(w, "function() local p = dt local q = math.sin(a) end"),
               "dt: f32\na: f32\np: f32\nq: f32\n");
  }
  TEST("a comparison of a float with an integer is exact") {
    CHECK_TEXT(types_of(w, "function() flag[0] = n32[0] < a flag[1] = b < 1 end"),
               "a: f64\nb: f32\n");
  }
  TEST("math.pi and math.huge are floats wherever they go") {
    CHECK_TEXT(types_of(w,
                        "function() local lo = math.huge for i in rg.range(4) do lo = math.min(lo, "
                        "n32[i]) end return lo end"),
               "math.huge: f32\nlo: f32\ni: i32\n");
    CHECK_TEXT(types_of(w, "function() x[0] = math.floor(math.pi * n32[0]) end"), "math.pi: f32\n");
  }
  TEST("64-bit integers and booleans keep their types") {
    CHECK_TEXT(types_of(w, "function() local p = big local q = huge local r = on x[big] = 1 end"),
               "big: i64\nhuge: u64\non: bool\np: i64\nq: u64\nr: bool\n");
  }
  TEST("all uses of a captured path have one type") {
    CHECK_TEXT(
        types_of(w, "function() local n = self.grid.n local v = self.dt * 2 x[n] = self.x[0] + v "
                    "end"),
        "self.grid.n: i32\nself.dt: f32\nn: i32\nv: f32\n");
  }
}

static void test_parameters(World *w) {
  TEST("a parameter is inferred as a captured number is") {
    give_numbers(w, 2);
    CHECK_TEXT(types_of(w, "function(n, v) x[n] = v end"), "n: i32\nv: f32\n");
    give_numbers(w, 0);
  }
  TEST("an annotated parameter has its type") {
    give_numbers(w, 2);
    CHECK_TEXT(types_of(w, "function(n: i64, m: f64) x[n] = m return n end"), "n: i64\nm: f64\n");
    give_numbers(w, 0);
  }
  TEST("an assigned parameter is a variable") {
    give_numbers(w, 2);
    CHECK_TEXT(types_of(w, "function(n, m) n = n - 1 x[m] = n end"), "n: f32\nm: i32\nn: f32\n");
    CHECK_TEXT(types_of(w, "function(n) n = n - 1 x[n] = 1 end"), "n: i32\nn: i32\n");
    give_numbers(w, 0);
  }
}

static void test_locals(World *w) {
  TEST("a local has the joined type of all values that it is assigned") {
    CHECK_TEXT(
        types_of(w, "function() local s = 0 s = s + x[0] local q = 0 q = q + n64[0] local r = 0.5 "
                    "r = y[0] end"),
        "s: f32\nq: i64\nr: f64\n");
    CHECK_TEXT(
        types_of(w, "function() local w = 1 w = s8[0] local u = 0 u = h32[0] local v = 0 v += z[0] "
                    "end"),
        "w: i32\nu: u32\nv: f32\n");
    CHECK_TEXT(types_of(w, "function() local s, m = 0, 1000 for i in rg.range(9) do s += x[i] m = "
                           "math.min(m, n8[i]) end end"),
               "s: f32\nm: i32\ni: i32\n");
  }
  TEST("a literal alone is an i32, or what holds it, or the default float") {
    CHECK_TEXT(
        types_of(w, "function() local p, q, r, v = 1, 5000000000, -2147483648, 9223372036854775808 "
                    "local f, e = 1.0, 1e3 end"),
        "p: i32\nq: i64\nr: i32\nv: u64\nf: f32\ne: f32\n");
    CHECK_TEXT(types_of(w, "function() local p = 1LL local q = 1ULL local r = 0xFFFFFFFF end"),
               "p: i64\nq: u64\nr: i64\n");
  }
  TEST("a literal has the type that it is combined with, if it fits") {
    CHECK_TEXT(types_of(w,
                        "function() local p = n8[0] + 200 local q = n8[0] + 300 local r = n32[0] + "
                        "5000000000 local v = y[0] + 1 local w = z[0] * 0.5 end"),
               "p: u8\nq: i32\nr: i64\nv: f64\nw: f32\n");
    CHECK_TEXT(
        types_of(w, "function() local p = h32[0] ~ 0x9E3779B9 local q = n32[0] & 0xFFFFFFFF end"),
        "p: u32\nq: i32\n");
  }
  TEST("integers join to the wider, at one width to the unsigned") {
    CHECK_TEXT(types_of(w,
                        "function() local p = h32[0] + n32[0] local q = h32[0] + n64[0] local r = "
                        "n8[0] + s8[0] local v = h64[0] + n64[0] end"),
               "p: u32\nq: i64\nr: u8\nv: u64\n");
  }
  TEST("an integer with a float is a float") {
    CHECK_TEXT(
        types_of(w, "function() local p = z[0] + n64[0] local q = z[0] + y[0] local r = n32[0] * "
                    "0.5 end"),
        "p: f32\nq: f64\nr: f32\n");
    CHECK_TEXT(types_of(w, "function() local p = rg.f16(x[0]) local q = p * 0.5 end"),
               "p: f16\nq: f16\n");
  }
  TEST("/ and ^ give floats, // keeps integers") {
    CHECK_TEXT(types_of(w,
                        "function() local p = 1 / 3 local q = 2 ^ 3 local r = n32[0] / 2 local v = "
                        "n32[0] // 2 local w = 7 // 2 local u = y[0] // 2 end"),
               "p: f32\nq: f32\nr: f32\nv: i32\nw: i32\nu: f64\n");
  }
  TEST("math.floor and math.ceil give floats, and integers where one is needed") {
    CHECK_TEXT(types_of(w, "function() local p = math.floor(x[0]) local q = p + 1 n32[q] = 1 "
                           "local r = math.ceil(x[1]) local s = r * 2 end"),
               "p: i32\nq: i32\nr: f32\ns: f32\n");
    CHECK_TEXT(types_of(w,
                        "function() local p = math.floor(x[0]) local q = math.ceil(y[0]) local r = "
                        "math.floor(n64[0] / n8[0]) local v = math.floor(n8[0]) end"),
               "p: f32\nq: f64\nr: i64\nv: u8\n");
  }
  TEST("bit operators keep the type of their operand") {
    CHECK_TEXT(types_of(w, "function() local p = n8[0] << n64[0] local q = ~h64[0] local r = "
                           "bit.rshift(n64[0], 1) local v = bit.tobit(n64[0]) end"),
               "p: u8\nq: u64\nr: i64\nv: i32\n");
  }
  TEST("conversions, calls and comparisons have their own types") {
    CHECK_TEXT(
        types_of(w, "function() local p = rg.u16(x[0]) local q = rg.f64(dt) local r = rg.i32(b) "
                    "local v = x[0] < 1 and on end"),
        "dt: f64\nb: f64\non: bool\np: u16\nq: f64\nr: i32\nv: bool\n");
    CHECK_TEXT(types_of(w, "function() local p = x:add(0, 1) local q = block:count() local r = "
                           "block:is_active(1, 2) end"),
               "p: f32\nq: i64\nr: bool\n");
  }
  TEST("sizes are constants") {
    CHECK_TEXT(types_of(w, "function() local r = #x local v = g.shape[2] local f = #far local q = "
                           "#g.shape local w = #t[0] end"),
               "r: i32\nv: i32\nf: i64\nq: i32\nw: i32\n");
  }
  TEST("a view, a node, a type and a function are not variables") {
    CHECK_TEXT(
        types_of(w, "function() local f, row, sh, to, m = math.floor, t[1], x.shape, rg.f64, block "
                    "x[f(2.5)] = row[2] + sh[0] + to(1) m:clear() end"),
        "");
  }
}

static void test_loops(World *w) {
  TEST("indices are i32, i64 where extents or bounds need it") {
    CHECK_TEXT(
        types_of(w, "function() for i in far:active() do far[i] = 1 end for i, j in t:active() do "
                    "t[i][j] = 1 end end"),
        "i: i64\ni: i32\nj: i32\n");
    CHECK_TEXT(
        types_of(w, "function() for i in rg.range(big) do x[i] = 1 end for k = 1, n64[0] do x[k] = "
                    "1 end for k = 1, h32[0] do x[k] = 1 end end"),
        "big: i64\ni: i64\nk: i64\nk: i64\n");
  }
  TEST("a loop over floats has a float index") {
    CHECK_TEXT(
        types_of(w, "function() for k = 0.0, 1, 0.25 do x[0] = k end for k = 1, y[0], 0.5 do y[0] "
                    "= k end end"),
        "k: f32\nk: f64\n");
  }
  TEST("an annotated index has its type") {
    CHECK_TEXT(types_of(w, "function() for i: i64 in rg.range(3) do n64[i] = i end end"),
               "i: i64\n");
  }
}

int main(void) {
  World w;
  world_init(&w);
  test_numbers(&w);
  test_parameters(&w);
  test_locals(&w);
  test_loops(&w);
  world_deinit(&w);
  return check_report();
}
