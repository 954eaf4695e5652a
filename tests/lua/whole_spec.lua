-- whole_spec.lua - calls on whole fields, arrays and members: sums, extremes, comparisons, x:map,
-- rg.zeros_like, views.
local support = require "support"
local rg, failure = support.rg, support.failure

local function text(v) return ("%.17g"):format(v) end

local state = 7
local function random()
  state = (state * 16807) % 2147483647
  return state / 2147483647 - 0.5
end

local function list_of(n, f)
  local list = {}
  for k = 1, n do list[k] = f(k - 1) end
  return list
end

local Body = rg.struct { { "pos", rg.vec3 }, { "mass", rg.f32 }, { "count", rg.i32 } }

local function bodies_of(n)
  local bodies = rg.field(Body, n)
  for k = 0, n - 1 do bodies[k] = { pos = { k, 2 * k, -k }, mass = k / 2, count = 3 * k } end
  return bodies
end

describe("a sum of all elements", function()
  it("is exact for every type", function()
    for _, name in ipairs { "i8", "i16", "i32", "u8", "u16", "u32", "f16", "f32", "f64" } do
      local x = rg.array(rg[name], 5):from_table { 1, 2, 3, 4, 120 }
      assert.equal(130, x:sum(), name)
      assert.equal(26, x:mean(), name)
    end
    assert.equal(2, rg.array(rg.bool, 3):from_table { true, false, true }:sum())
  end)

  it("of integers does not wrap below 64 bits", function()
    local x = rg.field(rg.i32, 1000)
    x:fill(2 ^ 31 - 1)
    assert.equal(1000 * (2 ^ 31 - 1), x:sum())
    local bytes = rg.field(rg.u8, 70000)
    bytes:fill(255)
    assert.equal(70000 * 255, bytes:sum())
    assert.equal(255, bytes:mean())
  end)

  it("of 64-bit integers is exact past 2^53, and their mean does not overflow", function()
    local x = rg.array(rg.i64, 2):from_table { 2LL ^ 62, 3LL }
    assert.equal(2LL ^ 62 + 3LL, x:sum())
    local y = rg.array(rg.u64, 4)
    y:fill(0xffffffffffffffffULL)
    assert.equal(0ULL - 4ULL, y:sum())
    assert.equal(2 ^ 64, y:mean())
  end)

  it("of floats is rounded once, also if large terms cancel", function()
    local x = rg.array(rg.f64, 4):from_table { 1e16, 1, -1e16, 2 ^ -20 }
    assert.equal(1 + 2 ^ -20, x:sum())
    local tenths = rg.array(rg.f64, 1000)
    tenths:fill(0.1)
    assert.equal(100, tenths:sum())
  end)

  it("of floats at the ends of their range neither overflows nor vanishes on the way", function()
    local large = rg.array(rg.f64, 3):from_table { 1.5e308, 1.5e308, -1.5e308 }
    assert.equal(1.5e308, large:sum())
    assert.equal(1.5e308 * math.sqrt(3) == math.huge, large:norm() == math.huge)
    local small = rg.array(rg.f64, 3):from_table { 2 ^ -1074, 2 ^ -1074, -2 ^ -1074 }
    assert.equal(2 ^ -1074, small:sum())
    assert.equal(text(2 ^ -700 * math.sqrt(2)),
      text(rg.array(rg.f64, 2):from_table { 2 ^ -700, 2 ^ -700 }:norm()))
  end)

  it("is the same in every layout and for every number of threads", function()
    local n = 5000
    local values = list_of(n, function() return random() * 2 ^ math.floor(random() * 40) end)
    local dense, array = rg.field(rg.f32, n), rg.array(rg.f32, n)
    local sparse, hashed = support.sparse(rg.f32, "i", 625, 8), rg.field(rg.f32)
    rg.root:hash("i"):dense("i", 4):place(hashed)
    local backward = rg.array(rg.f32, n)
    for k = 1, n do
      dense[k - 1], array[k - 1], sparse[k - 1] = values[k], values[k], values[k]
      hashed[7 * k - 9000], backward[n - k] = values[k], values[k]
    end
    local sum, norm, mean = dense:sum(), dense:norm(), dense:mean()
    for _, x in ipairs { array, sparse, hashed, backward } do
      assert.equal(text(sum), text(x:sum()))
      assert.equal(text(norm), text(x:norm()))
    end
    assert.equal(text(mean), text(backward:mean()))
    for threads = 1, 4 do
      local other = rg.new { threads = threads }
      local x = other.array(other.f32, n):from_table(values)
      assert.equal(text(sum), text(x:sum()))
      assert.equal(text(norm), text(x:norm()))
      assert.equal(text(dense:dot(array)), text(x:dot(x)))
      other.reset()
    end
  end)

  it("of values with infinities and NaNs is the one that addition gives", function()
    local x = rg.array(rg.f32, 3)
    assert.equal(math.huge, x:from_table({ 1, math.huge, 2 }):sum())
    assert.equal(-math.huge, x:from_table({ 1, -math.huge, 2 }):sum())
    assert.equal("nan", (tostring(x:from_table({ math.huge, -math.huge, 2 }):sum()):gsub("-", "")))
    assert.equal("nan", (tostring(x:from_table({ 0 / 0, 1, 2 }):sum()):gsub("-", "")))
    assert.equal(math.huge, x:from_table({ 1, -math.huge, 2 }):norm())
  end)

  it("of vectors and matrices is taken by component", function()
    local v = rg.field(rg.vec3, 2, 2)
    v:fill { 1, 2, 3 }
    assert.equal("dvec3(4, 8, 12)", tostring(v:sum()))
    assert.equal("dvec3(1, 2, 3)", tostring(v:mean()))
    assert.equal(math.sqrt(4 * 14), v:norm())
    local m = rg.array(rg.mat(3, 4, rg.i32), 2)
    m:fill(rg.mat(3, 4, rg.i32)(list_of(3, function(r)
      return list_of(4, function(c) return 10 * r + c end)
    end)))
    assert.equal(2 * 23, tonumber(m:sum()[2][3]))
  end)

  it("of no elements is 0, and there is no minimum, maximum and mean", function()
    local x = support.sparse(rg.f32, "ij", 4, 4)
    for _, empty in ipairs { x, rg.array(rg.f32, 0), rg.list(rg.f32) } do
      assert.equal(0, empty:sum())
      assert.equal(0, empty:norm())
      assert.equal(0, empty:dot(empty))
      for _, name in ipairs { "min", "max", "mean", "argmin", "argmax" } do
        assert.is_nil(empty[name](empty), name)
      end
    end
    local none = rg.array(rg.bool, 0)
    assert.is_false(none:any())
    assert.is_true(none:all())
  end)

  it("includes only active cells", function()
    local x, block = support.sparse(rg.f32, "ij", 8, 4)
    x[5][6], x[20][21] = 3, 5
    assert.equal(8, x:sum())
    assert.equal(8 / 32, x:mean())
    assert.equal(0, x:min())
    block:deactivate(5, 5)
    assert.equal(3, x:max())
  end)
end)

describe("the extremes of all elements", function()
  it("have the type of the elements, also for 64-bit integers", function()
    local x = rg.array(rg.i64, 3):from_table { -2LL ^ 62 - 1LL, 5LL, 2LL ^ 62 + 1LL }
    assert.equal(-2LL ^ 62 - 1LL, x:min())
    assert.equal(2LL ^ 62 + 1LL, x:max())
    local u = rg.array(rg.u8, 3):from_table { 7, 200, 9 }
    assert.equal(7, u:min())
    assert.equal(200, u:max())
    assert.equal(1, u:argmax())
  end)

  it("of vectors are taken by component", function()
    local v = rg.array(rg.vec2, 2):from_table { { 1, 8 }, { 3, -4 } }
    assert.equal("vec2(1, -4)", tostring(v:min()))
    assert.equal("vec2(3, 8)", tostring(v:max()))
  end)

  it("are a NaN if one element is, at the place of the first NaN", function()
    local x = rg.array(rg.f32, 4):from_table { 1, 0 / 0, -3, 0 / 0 }
    assert.is_true(x:max() ~= x:max() and x:min() ~= x:min())
    assert.equal(1, x:argmax())
    assert.equal(1, x:argmin())
  end)

  it("are found at the first place in index order, also with negative or unbounded \z
    indices", function()
    local x = rg.field { type = rg.f32, shape = { 4, 4 }, offset = { -2, -2 } }
    x[-1][1], x[1][-2] = 9, 9
    assert.same({ -1, 1 }, { x:argmax() })
    assert.same({ -2, -2 }, { x:argmin() })
    local h = rg.field(rg.i32)
    rg.root:hash("ij"):dense("ij", 2):place(h)
    h[-70][9], h[3][-1000] = 5, -5
    assert.same({ -70, 9 }, { h:argmax() })
    assert.same({ 3, -1000 }, { h:argmin() })
    assert.equal(5, h:get(h:argmax()))
  end)

  it("do not affect updates with indices", function()
    local x = rg.field(rg.f32, 4)
    assert.equal(0, x:max(2, 7))
    assert.equal(7, x:max())
  end)
end)

describe("a reduction", function()
  it("takes no axis, and no elements that hold arrays #compiled", function()
    local x = rg.field(rg.f32, 2, 2)
    local err = failure(function() return x:sum(1) end)
    assert.equal("x:sum takes no argument: it works on all elements", err.message)
    local lists = rg.zeros(rg.array_type(rg.f32), 3)
    assert.equal("x:sum does not work on array array(f32) [3], whose elements hold arrays",
      failure(function() return lists:sum() end).message)
  end)
end)

describe("x:dot", function()
  it("adds products, those of components of vectors, too", function()
    local v = rg.array(rg.vec2, 2):from_table { { 1, 2 }, { 3, 4 } }
    assert.equal(30, v:dot(v))
    local a = rg.field(rg.i32, 3):from_table { 1, 2, 3 }
    assert.equal(14, a:dot(a))
    assert.equal(7, a:dot(rg.array(rg.f32, 3):from_table { 0.5, 1, 1.5 }))
  end)

  it("pairs the first elements of fields whose indices begin elsewhere", function()
    local x = rg.field { type = rg.i32, shape = { 3 }, offset = { -5 } }
    x:from_table { 1, 10, 100 }
    local y = rg.array(rg.i32, 3):from_table { 1, 2, 3 }
    assert.equal(321, x:dot(y))
    assert.equal(321, y:dot(x))
  end)

  it("refuses other shapes", function()
    local err = failure(function() return rg.field(rg.f32, 3):dot(rg.field(rg.f32, 4)) end)
    assert.equal("x:dot: field f32 [3] and field f32 [4] have different shapes", err.message)
  end)
end)

describe("any and all", function()
  it("test booleans", function()
    local x = rg.field(rg.bool, 2, 2)
    assert.is_false(x:any())
    x[1][0] = true
    assert.is_true(x:any())
    assert.is_false(x:all())
    x:fill(true)
    assert.is_true(x:all())
    assert.equal("x:any takes booleans, and these are f32",
      failure(function() return rg.field(rg.f32, 2):any() end).message)
  end)
end)

describe("x:map", function()
  it("makes a field like x from the results of a function", function()
    local scale = 3
    local x = rg.field { type = rg.f32, shape = { 2, 3 }, offset = { -1, 0 } }
    x:fill(2)
    local y = x:map(function(v) return scale * v end)
    assert.equal(tostring(x.offset), tostring(y.offset))
    assert.equal(36, y:sum())
    scale = 4
    assert.equal(48, x:map(function(v) return scale * v end):sum())
    assert.equal(12, x:sum())
  end)

  it("passes the indices to a function that takes them", function()
    local x = rg.array(rg.i32, 2, 3):map(function(v, i, j) return v + 10 * i + j end)
    assert.same({ { 0, 1, 2 }, { 10, 11, 12 } }, x:to_table())
    local err = failure(function() return x:map(function(v, i) return v + i end) end)
    assert.equal("x:map calls its function with an element, or with an element and 2 indices, and "
      .. "it takes 2 parameters", err.message)
  end)

  it("makes elements of a given type, or writes to an existing field", function()
    local x = rg.array(rg.f32, 3):from_table { -1, 0, 4 }
    assert.same({ false, false, true },
      x:map(function(v) return v > 0 end, rg.bool):to_table())
    assert.equal(rg.vec2, x:map(function(v) return rg.vec2(v, 1) end, rg.vec2).type)
    assert.equal(x, x:map(math.abs, x))
    assert.same({ 1, 0, 4 }, x:to_table())
  end)

  it("keeps a sparse field sparse", function()
    local x, block = support.sparse(rg.f32, "ij", 64, 4)
    x[100][101] = 5
    local y = x:map(function(v) return 2 * v end)
    assert.equal(10, y[100][101])
    assert.equal(16, y:count())
    assert.equal(1, block:count())
    assert.equal(tostring(x.shape), tostring(y.shape))
  end)

  it("reports at the caller's line what does not fit", function()
    local x = rg.field(rg.f32, 3)
    local err = failure(function()
      local y = x:map(function(v) return v > 0 end)
      return y
    end)
    assert.is_truthy(err.file:find "whole_spec")
    assert.equal("an element of 'result' is an f32, and this value is a bool", err.message)
    assert.equal("the type of new elements is the second argument: x:map(f, rg.bool)", err.hint)
    assert.equal("x:map takes a function of an element, not 3",
      failure(function() return x:map(3) end).message)
  end)
end)

describe("rg.zeros_like", function()
  it("has the shape, the levels and the type, and no cells", function()
    local x = rg.field(rg.vec2)
    rg.root:pointer("ij", 8):bitmasked("ij", 4, 2):dense("j", 3):place(x)
    x[3][5] = { 1, 2 }
    local y = rg.zeros_like(x)
    assert.equal(tostring(x), tostring(y))
    assert.equal(0, y:count())
    y[3][5] = { 1, 2 }
    assert.equal(x:count(), y:count())
    assert.is_true(x:equals(y))
    assert.equal(rg.f64, rg.zeros_like(x, rg.f64).type)
  end)

  it("of a growable array gives a growable array #compiled", function()
    local list = rg.list(rg.i32)
    list:append(4)
    local other = rg.zeros_like(list)
    other:append(5)
    assert.same({ 0, 5 }, other:to_table())
    assert.equal("array f32 [2 x 3]", tostring(rg.zeros_like(rg.array(rg.f32, 2, 3))))
  end)

  it("refuses values without a shape", function()
    assert.equal("rg.zeros_like takes a field or an array, not 3",
      failure(function() return rg.zeros_like(3) end).message)
  end)
end)

describe("x:equals", function()
  it("compares all elements, and says how far they differ", function()
    local x = rg.field(rg.f32, 3, 2)
    local y = rg.array(rg.f64, 3, 2)
    assert.same({ true, 0 }, { x:equals(y) })
    y[2][1] = 0.25
    assert.same({ false, 0.25 }, { x:equals(y) })
    assert.same({ true, 0.25 }, { x:equals(y, 0.25) })
    assert.is_true(y:equals { { 0, 0 }, { 0, 0 }, { 0, 0.25 } })
    assert.is_true(x:equals(0))
    assert.is_false(y:equals(0))
  end)

  it("takes inactive cells for zeros, on both sides", function()
    local x = support.sparse(rg.i32, "i", 8, 4)
    local y = support.sparse(rg.i32, "i", 8, 4)
    x[3] = 0
    assert.is_true(x:equals(y))
    y[30] = 2
    assert.same({ false, 2 }, { x:equals(y) })
    assert.same({ false, 2 }, { y:equals(x) })
  end)

  it("distinguishes 64-bit integers that are equal as doubles", function()
    local x, y = rg.array(rg.i64, 1), rg.array(rg.i64, 1)
    x[0], y[0] = 2LL ^ 60, 2LL ^ 60 + 1LL
    assert.is_false((x:equals(y)))
    assert.is_true((x:equals(y, 1)))
  end)

  it("considers a NaN equal to nothing, and an infinity equal to itself", function()
    local x = rg.array(rg.f32, 2):from_table { math.huge, 1 }
    assert.is_true(x:equals(x))
    x[1] = 0 / 0
    local is_equal, most = x:equals(x, 1)
    assert.is_false(is_equal)
    assert.is_true(most ~= most)
  end)

  it("compares structs and booleans", function()
    local a, b = bodies_of(4), bodies_of(4)
    assert.is_true(a:equals(b))
    a.pos.y[2] = 4.5
    assert.same({ false, 0.5 }, { a:equals(b) })
    assert.same({ false, 1 }, { rg.array(rg.bool, 2):equals { false, true } })
    assert.is_true(rg.array(rg.bool, 2):equals(false))
  end)

  it("refuses elements that cannot be compared", function()
    local x = rg.field(rg.f32, 3)
    assert.equal("x:equals: field f32 [3] and field f32 [4] have different shapes",
      failure(function() return x:equals(rg.field(rg.f32, 4)) end).message)
    assert.equal("x:equals compares field f32 [3] with a field, an array, a table or a number, "
      .. 'not "a"', failure(function() return x:equals "a" end).message)
    assert.equal("x:equals takes a tolerance of at least 0, not -1",
      failure(function() return x:equals(x, -1) end).message)
    assert.equal("x:equals: field f32 [3] and field vec2 [3] have elements of different kinds",
      failure(function() return x:equals(rg.field(rg.vec2, 3)) end).message)
  end)
end)

describe("a view of a member", function()
  it("reads and writes the elements of its field", function()
    local bodies = bodies_of(4)
    assert.equal("vec3(2, 4, -2)", tostring(bodies.pos[2]))
    assert.equal(4, bodies.pos.y[2])
    assert.equal("vec2(4, 2)", tostring(bodies.pos.yx[2]))
    bodies.pos[1] = { 7, 8, 9 }
    bodies.mass[1] = 5
    bodies.pos.z[1] = -1
    assert.equal("{pos = vec3(7, 8, -1), mass = 5, count = 3}", tostring(bodies[1]))
    local v = rg.field(rg.vec2, 2, 2)
    v.y[1][0] = 3
    assert.equal("vec2(0, 3)", tostring(v[1][0]))
    assert.equal(3, v.y[1][0])
    assert.equal(3, v.y:get(1, 0))
    assert.equal("3", tostring(v.y[{ 1, 0 }]))
  end)

  it("of integers refuses numbers that it would have to round", function()
    local bodies, v = bodies_of(4), rg.field(rg.ivec2, 2, 2)
    local count = bodies:member "count"
    for _, f in ipairs { function() count[1] = 2.5 end, function() count:fill(2.5) end,
      function() count:set(1, 0 / 0) end, function() v.x[1][0] = 3e10 end,
      function() v.y:fill(-0.5) end } do
      assert.equal("value.fit", failure(f).code)
    end
    assert.equal("'x' of field ivec2 [2 x 2] cannot hold 2.5: its type is i32",
      failure(function() v.x[0][0] = 2.5 end).message)
    count[1], v.x[1][0] = 7, -3
    assert.equal(7, count[1])
    assert.equal("ivec2(-3, 0)", tostring(v[1][0]))
  end)

  it("of an unknown name lists the names that exist", function()
    local function hint_of(f) return select(2, pcall(f)).hint end
    local bodies, v, x = bodies_of(4), rg.array(rg.vec2, 3), rg.field(rg.f32, 3)
    assert.equal("its elements have pos, mass, count", hint_of(function() return bodies.vel end))
    assert.equal("did you mean 'mass'?", hint_of(function() return bodies.mas end))
    assert.equal("its elements have x, y", hint_of(function() return v.q end))
    assert.equal("did you mean 'sum'?", hint_of(function() return v:sumo() end))
    assert.equal(nil, hint_of(function() return x.vel end))
  end)

  it("has the methods of whole fields", function()
    local bodies = bodies_of(4)
    assert.equal(3, bodies.mass:sum())
    assert.equal("dvec3(6, 12, -6)", tostring(bodies.pos:sum()))
    assert.equal(3, bodies.pos.x:max())
    assert.equal(0, bodies.mass:argmin())
    assert.equal(14, bodies.pos.x:dot(bodies.pos.x))
    assert.is_true(bodies.pos.y:equals(bodies.pos.x:map(function(v) return 2 * v end)))
    bodies.pos:fill { 1, 2, 3 }
    assert.equal(8, bodies.pos.y:sum())
    bodies.mass:copy_from(rg.array(rg.f32, 4):from_table { 4, 3, 2, 1 })
    assert.same({ 4, 3, 2, 1 }, bodies.mass:to_table())
    bodies.mass:from_table { 1, 1, 1, 5 }
    assert.equal(8, bodies.mass:sum())
    assert.equal(9, bodies:member("count"):max())
    local x = rg.field(rg.vec3, 4):copy_from(bodies.pos)
    assert.equal("vec3(1, 2, 3)", tostring(x[3]))
  end)

  it("has a shape and a type, and can be copied", function()
    local v = rg.field(rg.vec2, 3, 5)
    assert.equal("(3, 5)", tostring(v.x.shape))
    assert.equal(3, #v.x)
    assert.equal(rg.f32, v.x.type)
    assert.equal("view .x (f32) of field vec2 [3 x 5]", tostring(v.x))
    assert.equal("array f32 [3 x 5]", tostring(v.x:array()))
    assert.is_true(v.x == v.x and v.x ~= v.y)
  end)

  it("visits the active cells", function()
    local v = support.sparse(rg.vec2, "i", 16, 2)
    v[9] = { 4, 5 }
    local seen = {}
    for i, y in pairs(v.y) do seen[#seen + 1] = ("%d %g"):format(i, y) end
    assert.same({ "8 0", "9 5" }, seen)
    assert.equal(1, v.y:map(function(y) return y > 0 and 1 or 0 end):sum())
    v.x:from_table(list_of(32, function(i) return i == 20 and 1 or 0 end))
    assert.equal(4, v:count())
    assert.equal("vec2(0, 5)", tostring(v[9]))
  end)

  it("of a hash is copied with its cells", function()
    local h = rg.field(rg.vec2)
    rg.root:hash("i"):dense("i", 2):place(h)
    h[-400] = { 1, 2 }
    local copy = h.y:array()
    assert.equal(2, copy[-400])
    assert.equal(h:count(), copy:count())
  end)

  it("of an array of vectors, of one with strides, too", function()
    local a = rg.array(rg.vec3, 2):from_table { { 1, 2, 3 }, { 4, 5, 6 } }
    assert.same({ 3, 6 }, a.z:to_table())
    assert.equal(7, a.y:sum())
    local list = rg.zeros(rg.vec2, 1)
    list[0] = { 3, 4 }
    assert.equal(4, list.y[0])
    list.y:fill(9)
    assert.equal("vec2(3, 9)", tostring(list[0]))
  end)

  it("is written as a picture, as points and as numbers", function()
    local path = os.tmpname()
    local v = rg.field(rg.vec3, 8, 4)
    v.y:fill(0.5)
    rg.image.write(path .. ".png", v.y, { low = 0, high = 1 })
    local picture = rg.image.read(path .. ".png")
    assert.equal("(8, 4)", tostring(picture.shape))
    local bodies = bodies_of(5)
    rg.points.write(path .. ".ply", { pos = bodies.pos, mass = bodies.mass })
    local points, count = rg.points.read(path .. ".ply")
    assert.equal(5, count)
    assert.is_true(points.mass:equals(bodies.mass))
    rg.numpy.write(path .. ".npy", bodies.pos)
    assert.equal(bodies.pos.z:sum(), rg.numpy.read(path .. ".npy"):map(function(z, _, k)
      return k == 2 and z or 0
    end):sum())
    rg.plot(path .. ".svg", { x = bodies.pos.x, y = bodies.mass })
    for _, ending in ipairs { "", ".png", ".ply", ".npy", ".svg" } do os.remove(path .. ending) end
  end)

  it("is sorted in its field, alone or by other keys", function()
    local bodies = bodies_of(4)
    rg.sort(bodies.mass, { descending = true })
    assert.same({ 1.5, 1, 0.5, 0 }, bodies.mass:to_table())
    assert.equal(0, bodies.pos.x[0])
    rg.sort(bodies.mass, bodies.pos)
    assert.same({ 3, 2, 1, 0 }, bodies.pos.x:to_table())
    assert.equal(6, rg.scan(bodies.pos.x))
  end)

  it("reports what it cannot do", function()
    local bodies = bodies_of(2)
    assert.equal("a view cannot be called", failure(function() return bodies.pos() end).message)
    assert.equal("ipairs counts from 1, and views from 0",
      failure(function() return ipairs(bodies.pos) end).message)
    assert.equal("did you mean 'pos'?", failure(function() return bodies.poss end).hint)
    local err = failure(function() return bodies.pos.q end)
    assert.is_truthy(err.message:find("have no member 'q'", 1, true))
    assert.equal("they have x, y, z", err.hint)
    assert.equal("x:sum takes numbers and vectors, and these are structs",
      failure(function() return bodies:sum() end).message)
    assert.equal("take a member: x.pos", failure(function() return bodies:sum() end).hint)
    assert.equal("x:argmax takes numbers, and vectors have no order",
      failure(function() return bodies.pos:argmax() end).message)
    assert.equal("'pos' of a field cannot be set",
      failure(function() bodies.pos = 3 end).message)
    assert.equal("cannot store a vec2 in an f32 element",
      failure(function() bodies.mass:fill(rg.vec2(1, 2)) end).message)
    assert.equal("a view is not a number: arithmetic works on its elements, x.pos[i]",
      failure(function() return bodies.pos * 2 end).message)
    err = failure(function() return rg.kernel(function(p) return p[0].x end)(bodies.pos) end)
    assert.is_truthy(err.message:find("'p' is a view of a member", 1, true))
  end)

  it("does not outlive its runtime or its tree", function()
    local other = rg.new()
    local x = other.field(other.vec2, 3)
    local view = x.x
    assert.equal(0, view:sum())
    other.reset()
    assert.equal("handle.destroyed", failure(function() return view:sum() end).code)
  end)
end)
