-- values_spec.lua - vectors of booleans and of many numbers, reductions of vectors, the bits and
-- parts of numbers, transforms and quaternions: in kernels, and the same from Lua.
local support = require "support"
local rg = support.rg
local failure = support.failure

local function run(text, ...)
  return rg.kernel(("function(a, b) return %s end"):format(text))(...)
end

-- `text` is the same in a kernel and, as Lua, outside.
local function both(text, ...)
  local inside = { run(text, ...) }
  local chunk = assert(loadstring(("local rg, a, b = ... return %s"):format(text)))
  local outside = { chunk(rg, ...) }
  for k = 1, #inside do assert.equal(inside[k], outside[k]) end
  return unpack(inside)
end

local function near(wanted, got)
  for k = 0, #wanted - 1 do
    assert.is_true(math.abs(wanted[k] - got[k]) < 1e-6, tostring(got))
  end
end

describe("a vector of booleans", function()
  it("is what a comparison of vectors gives", function()
    assert.equal(rg.bvec3(true, false, false), run "rg.vec3(1, 2, 3) < 2")
    assert.equal(rg.bvec3(false, true, true), run "2 <= rg.vec3(1, 2, 3)")
    assert.equal(rg.bvec2(true, false), run "rg.ivec2(3, 200) < rg.dvec2(3.5, 100)")
    assert.equal(rg.bvec2(false, true), run "not (rg.vec2(1, 0) > 0)")
    assert.equal(rg.bvec3(false, true, false), run("(a > 1) & (a < 3)", rg.vec3(1, 2, 3)))
  end)

  it("has any and all, and selects by rg.select", function()
    assert.is_true(both("rg.any(a)", rg.bvec3(false, true, false)))
    assert.is_false(both("a:all()", rg.bvec3(false, true, false)))
    assert.is_true(both("a:all()", rg.bvec2(true)))
    assert.equal(rg.vec2(1, 5), both("rg.select(a, 1, rg.vec2(4, 5))", rg.bvec2(true, false)))
    assert.equal(rg.vec3(0, 2, 3),
      run("rg.select(a > 1.5, a, 0)", rg.vec3(1, 2, 3)))
    assert.equal(rg.bvec2(false, true),
      both("rg.select(a, false, true)", rg.bvec2(true, false)))
  end)

  it("is an element, a local, an argument and a result", function()
    local x = rg.field(rg.vec(3, rg.bool), 4)
    x[1] = { true, false, true }
    rg.kernel(function(on)
      for i in rg.range(4) do
        local v = rg.vec3(i, 2, 1) > 1
        v.z = x[i].z
        v[1] = v[1] and on.x
        x[i] = v
      end
    end)(rg.bvec2(true, false))
    assert.same({ rg.bvec3(false, true, false), rg.bvec3(false, true, true) }, { x[0], x[1] })
    assert.equal(rg.bvec3(true, true, false), x:to_table()[3])
  end)

  it("reports what it cannot do", function()
    local function message(text) return failure(run, text).message end
    local refused = failure(run, "rg.vec2(1) > 0 and 1 or 2")
    assert.equal("a condition is one boolean, but this is a vector of 2", refused.message)
    assert.equal("rg.any(rg.vec2(1) > 0) or rg.all(rg.vec2(1) > 0) makes it one", refused.hint)
    assert.equal("'rg.any' takes booleans, but each of these is an f32",
      message "rg.any(rg.vec2(1))")
    assert.equal("'+' takes numbers, but this is a bool", message "rg.bvec2(true) + 1")
    assert.equal("rg.any takes a vector of booleans, not vec2", failure(rg.any, rg.vec2(1)).message)
  end)
end)

describe("all numbers of a value", function()
  it("have a sum, a least, a greatest", function()
    assert.equal(6, both("a:sum()", rg.vec3(1, 2, 3)))
    assert.equal(10, both("rg.sum(a)", rg.mat2(1, 2, 3, 4)))
    assert.equal(-2, both("a:min()", rg.mat2(1, -2, 3, 4)))
    assert.equal(7, both("rg.max(a)", rg.ivec3(1, 7, 3)))
    assert.equal(44, both("a:sum()", rg.vec(2, rg.u8)(200, 100)))
    assert.equal("'rg.sum' takes a vector or a matrix, but this is a number",
      failure(run, "rg.sum(3)").message)
  end)

  it("are multiplied element by element by rg.hadamard", function()
    assert.equal(rg.mat2(5, 12, 21, 32),
      both("rg.hadamard(a, b)", rg.mat2(1, 2, 3, 4), rg.mat2(5, 6, 7, 8)))
  end)

  it("may be 64, in one row or one column", function()
    local wide = rg.vec(64, rg.i32)
    assert.equal(64 * 63 / 2, (rg.kernel(function()
      local v = wide(0)
      for k in rg.static(rg.range(64)) do v[k] = k end
      return v:sum()
    end)()))
    local M = rg.mat(8, 8, rg.f64)
    local m = rg.kernel(function(m) return m * m, m:trace() end)
    local square, trace = m(M(3))
    assert.equal(M(9), square)
    assert.equal(24, trace)
    assert.equal(6, (run "rg.mat(1, 3, rg.f32)(1, 2, 3) * rg.vec3(1)"))
    assert.equal(rg.vec3(1, 2, 3), (run "rg.mat(1, 3, rg.f32)(1, 2, 3):transpose()"))
    assert.equal(rg.vec2(2, 4), both("rg.column(a, 1)", rg.mat2(1, 2, 3, 4)))
    assert.equal("a vector or matrix has 2 to 64 numbers", failure(rg.mat, 8, 9, rg.f32).message)
  end)

  it("has determinants and inverses of every size", function()
    local S = rg.mat(6, 6, rg.f64)
    local m, unit = {}, S(1)
    for r = 1, 6 do
      m[r] = {}
      for c = 1, 6 do m[r][c] = math.sin(r * 7.3 + c * c) + (r == c and 2 or 0) end
    end
    local k = rg.kernel(function(a) return a:determinant(), a:inverse(), rg.inverse(a) * a end)
    local d, inverse, product = k(S(m))
    assert.equal(S(m):determinant(), d)
    assert.equal(S(m):inverse(), inverse)
    for r = 0, 5 do
      for c = 0, 5 do assert.is_true(math.abs(product[r][c] - unit[r][c]) < 1e-13) end
    end
    local L, U, P = rg.lu(S(m))
    local by_factors = P:determinant()
    for r = 0, 5 do by_factors = by_factors * L[r][r] * U[r][r] end
    assert.is_true(math.abs(by_factors - d) < 1e-13 * math.abs(d))
    assert.equal(32, (run "rg.determinant(rg.mat(5, 5, rg.f32)(2))"))
    assert.equal(0, (run "rg.determinant(rg.mat(5, 5, rg.f32)(0))"))
    assert.equal("'rg.inverse' takes a square matrix, but this is a matrix of 5 x 4",
      failure(run, "rg.inverse(rg.mat(5, 4, rg.f32)(1))").message)
  end)
end)

describe("an integer to a power", function()
  it("is a float, whether the power is written or not, and does not wrap", function()
    local x = rg.field(rg.u8, 4)
    x[0], x[1] = 3, 16
    local a, b, c, d, e, f = rg.kernel([[function(m)
      local i = 2
      return i ^ 40, i ^ m, x[0] ^ 3, x[1] ^ 2, (i ^ 3) / 16, i ^ -1
    end]], { x = x })(40)
    assert.same({ 2 ^ 40, 2 ^ 40, 27, 256, 0.5, 0.5 }, { a, b, c, d, e, f })
    assert.equal(rg.vec3(1, 8, -27), both("a ^ 3", rg.ivec3(1, 2, -3)))
  end)

  it("is refused by an integer element, in a parallel loop and elsewhere", function()
    local x = rg.field(rg.i32, 4)
    for _, loop in ipairs { "i in rg.range(4)", "i = 0, 3" } do
      local k = rg.kernel("function() for " .. loop .. " do x[i] = x[i] ^ 2 end end", { x = x })
      assert.equal("type.float_to_int", failure(k).code)
    end
  end)
end)

describe("the bits and parts of numbers", function()
  it("are counted in the number's own width", function()
    assert.same({ 8, 32, 64, 0 },
      { run "rg.popcnt(255), rg.popcnt(-1), rg.popcnt(rg.i64(-1)), rg.popcnt(0)" })
    assert.same({ 31, 32, 7, 63, 14 }, { run
      "rg.clz(1), rg.clz(0), rg.clz(rg.u8(1)), rg.clz(rg.i64(1)), rg.clz(rg.i16(3))" })
    assert.same({ 3, 32, 7, 64 },
      { run "rg.ctz(8), rg.ctz(0), rg.ctz(rg.u8(128)), rg.ctz(rg.u64(0))" })
    assert.equal("'bit.popcnt' takes integers, but this is an f32",
      failure(run, "rg.popcnt(1.5)").message)
  end)

  it("have the names of math, and are evaluated for constants", function()
    assert.same({ 0.875, 2, 3, 0.5, 14 }, { rg.kernel(function(x)
      local m, e = math.frexp(x)
      local whole, rest = math.modf(x)
      return m, e, whole, rest, math.ldexp(x, 2)
    end)(3.5) })
    local x = rg.field(rg.u32, 1000)
    rg.kernel(function()
      for i in rg.range(1000) do x[i] = rg.popcnt(i * 77777777) + 100 * rg.clz(i) end
    end)()
    for i = 1, 999 do
      local bits = bit.tobit(i * 77777777)
      local count = 0
      for k = 0, 31 do count = count + bit.band(bit.rshift(bits, k), 1) end
      assert.equal(count + 100 * (31 - math.floor(math.log(i) / math.log(2) + 1e-9)), x[i])
    end
    assert.same({ 3, 28 }, { rg.kernel("function() return rg.popcnt(7), rg.clz(12) end")() })
  end)

  it("are split and put together", function()
    for _, x in ipairs { 10, 0.5, -1, 0, 3e-40, 1e38, -0.3 } do
      local m, e = run("rg.frexp(a)", x)
      local wanted, exponent = math.frexp(rg.f32(x))
      assert.same({ wanted, exponent }, { m, e })
      assert.equal(rg.f32(x), run("rg.ldexp(a, b)", m, e))
    end
    assert.same({ 3, 0.75 }, { run("rg.modf(a)", 3.75) })
    assert.same({ -3, -0.75 }, { run("rg.modf(a)", -3.75) })
    assert.same({ -1, 0, 1 }, { run("rg.sign(a), rg.sign(0), rg.sign(b)", -2.5, 3) })
    assert.equal(rg.ivec3(1, -1, 0), run "rg.sign(rg.vec3(1, -2, 0))")
    assert.same({ true, false, false },
      { run("rg.isnan(a), rg.isinf(a), rg.isnan(b)", 0 / 0, 1 / 0) })
    assert.equal(rg.bvec2(true, false), run("rg.isinf(a)", rg.vec2(-1 / 0, 1)))
  end)
end)

describe("a transform", function()
  it("moves, scales and rotates points", function()
    local p = rg.vec4(1, 2, 3, 1)
    assert.equal(rg.vec4(11, 22, 33, 1), both("rg.translate(a) * b", rg.vec3(10, 20, 30), p))
    assert.equal(rg.vec4(10, 40, 90, 1), both("rg.scale(a) * b", rg.vec3(10, 20, 30), p))
    near(rg.vec4(-2, 1, 3, 1), run("rg.rotate(rg.vec3(0, 0, 2), b) * a", p, math.pi / 2))
    near(rg.vec4(0, 0, -5, 1),
      run("rg.look_at(a, rg.vec3(0), rg.vec3(0, 1, 0)) * rg.vec4(0, 0, 0, 1)", rg.vec3(3, 0, 4)))
    local far = run("rg.perspective(1.0, 1.5, a, b) * rg.vec4(0, 0, -100, 1)", 0.1, 100)
    near(rg.vec2(1, 100), rg.vec2(far.z / far.w, far.w))
    assert.equal("mat(4,4,f64)", (tostring(run "rg.translate(rg.dvec3(1))"):match "^[^%)]*%)"))
    assert.equal("'rg.translate' takes a vector of 3, but this is a vector of 2",
      failure(run, "rg.translate(rg.vec2(1))").message)
  end)
end)

describe("a quaternion", function()
  it("rotates as its matrix does, and about its axis", function()
    local q = run("rg.quat(a, b)", rg.vec3(1, 2, 3), 1.2)
    local v = rg.vec3(3, -1, 2)
    local turned = run("rg.quat_rotate(a, b)", q, v)
    near(turned, run("rg.quat_matrix(a) * b", q, v))
    near(rg.vec4(turned, 1), run("rg.rotate(rg.vec3(1, 2, 3), 1.2) * rg.vec4(a, 1)", v))
  end)

  it("is multiplied and passed through", function()
    local z = rg.vec3(0, 0, 1)
    local half, whole = run("rg.quat(a, 0.4)", z), run("rg.quat(a, 0.8)", z)
    near(whole, run("rg.quat_mul(a, b)", half, half))
    local one = rg.vec4(0, 0, 0, 1)
    near(half, run("rg.slerp(a, b, 0.5)", one, whole))
    near(half, run("rg.slerp(a, b, 0.5)", one, -whole))
    near(one, run("rg.slerp(a, b, 0.5)", one, one))
  end)
end)

describe("rg.bitcast", function()
  local function cast(t, x) return both(("rg.bitcast(rg.%s, a)"):format(t), x) end

  it("takes the bits of floats, and makes floats of bits", function()
    local x = rg.field(rg.f32, 4)
    local n, back = rg.field(rg.u32, 4), rg.field(rg.f32, 4)
    local below = 1 / -math.huge -- -0.0, which LuaJIT reads as 0 on aarch64
    local values = { 1.5, below, 2 ^ -149, -1 / 0 }
    for k, v in ipairs(values) do x[k - 1] = v end
    rg.kernel([[function()
      for i in rg.range(4) do
        n[i] = rg.bitcast(rg.u32, x[i])
        back[i] = rg.bitcast(rg.f32, n[i])
      end
    end]], { x = x, n = n, back = back })()
    assert.same({ 0x3fc00000, 0x80000000, 1, 0xff800000 }, { n[0], n[1], n[2], n[3] })
    for k, v in ipairs(values) do
      assert.equal(1 / v, 1 / back[k - 1])
      assert.equal(n[k - 1], rg.bitcast(rg.u32, v))
    end
  end)

  it("is of 16, 32 and 64 bits, signed or not", function()
    assert.equal(-1073741824, cast("i32", -2.0))
    assert.equal(0x3ff8000000000000LL, (run "rg.bitcast(rg.i64, rg.f64(1.5))"))
    assert.equal(0x3ff8000000000000ULL, rg.bitcast(rg.u64, 1.5))
    assert.equal(1.5, cast("f64", 0x3ff8000000000000LL))
    for half, bits in pairs { [1] = 0x3c00, [2 ^ -24] = 1, [65504] = 0x7bff, [-0.1] = 0xae66 } do
      assert.equal(bits, (run("rg.bitcast(rg.u16, rg.f16(a))", half + 0.0)))
      assert.equal(bits, rg.bitcast(rg.u16, half))
      assert.equal(rg.f16(half), (run(("rg.bitcast(rg.f16, %d)"):format(bits))))
      assert.equal(rg.f16(half), rg.bitcast(rg.f16, bits))
    end
    assert.equal(-1, (run("rg.bitcast(rg.i32, rg.u32(0xffffffff))")))
  end)

  it("gives what is written in the kernel the type whose bits are meant", function()
    assert.equal(0x3f800000, both "rg.bitcast(rg.u32, 1)")
    assert.equal(1.5, both "rg.bitcast(rg.f32, 0x3fc00000)")
    assert.equal(-0.1, rg.bitcast(rg.f64, run "rg.bitcast(rg.u64, -0.1)"))
    assert.equal(rg.uvec2(0x3f800000, 0x40000000), both("rg.bitcast(rg.u32, a)", rg.vec2(1, 2)))
    assert.equal(rg.vec2(1, 2), both("rg.bitcast(rg.f32, a)", rg.ivec2(0x3f800000, 0x40000000)))
  end)

  it("gives one NaN", function()
    for _, bits in ipairs { 0xffffffff, 0x7f800001, 0xffc00000 } do
      local x = run("rg.bitcast(rg.f32, rg.u32(a))", rg.i64(bits) + 0LL)
      assert.equal("number", type(x))
      assert.is_true(x ~= x)
      x = rg.bitcast(rg.f32, bits)
      assert.equal("number", type(x))
    end
    assert.equal("number", type((run("rg.bitcast(rg.f64, a)", -1LL))))
    assert.equal("number", type((run "rg.bitcast(rg.f32, 0xffffffff)")))
    assert.equal(0x7fc00000, (run("rg.bitcast(rg.u32, a / a)", 0.0)))
    assert.equal(0x7fc00000, rg.bitcast(rg.u32, 0 / 0))
  end)

  it("is refused for other sizes, and for what is no number", function()
    local message = "'rg.bitcast' to u32 takes 32 bits, but this is an f64"
    assert.equal(message, failure(run, "rg.bitcast(rg.u32, rg.f64(1))").message)
    assert.equal("'rg.bitcast' to u8 takes 8 bits, but this is an f32",
      failure(run, "rg.bitcast(rg.u8, 1.5)").message)
    assert.equal("'rg.bitcast' takes numbers, but this is a bool",
      failure(run, "rg.bitcast(rg.u8, true)").message)
    for _, wrong in ipairs { "rg.bool", "rg.vec2", "1" } do
      assert.equal("'rg.bitcast' takes a number type first, then the value whose bits \z
        are reinterpreted",
        failure(run, ("rg.bitcast(%s, 1)"):format(wrong)).message)
    end
    assert.equal("'rg.bitcast' to u8 takes 8 bits, but this is a float",
      failure(rg.bitcast, rg.u8, 1).message)
    assert.equal([['rg.bitcast' takes numbers, but this is "a"]],
      failure(rg.bitcast, rg.u32, "a").message)
    assert.equal("1.5 does not fit a u32, whose bits 'rg.bitcast' takes",
      failure(rg.bitcast, rg.f32, 1.5).message)
    assert.equal("'rg.bitcast' to u32 takes 32 bits, but this is made of f64",
      failure(rg.bitcast, rg.u32, rg.dvec2(1)).message)
  end)
end)

describe("a slice of a vector", function()
  it("is a vector of adjacent numbers, or a number if there is one", function()
    local v = rg.vec(6, rg.f32)(1, 2, 3, 4, 5, 6)
    assert.equal(rg.vec3(3, 4, 5), both("a:slice(2, 3)", v))
    assert.equal(v, both("a:slice(0, 6)", v))
    assert.equal(6, both("a:slice(5, 1)", v))
    assert.equal(5, both("a:slice(3, 3):slice(1, 2).x", v))
    assert.equal(rg.vec2(2, 2), both("a:slice(3, 2) - a:slice(1, 2) * a:slice(0, 1)", v))
    assert.equal(rg.ivec2(4, 3), both("rg.ivec4(1, 2, 3, 4):slice(2, 2).yx"))
    assert.equal(rg.vec2(5, 6), both("a[1]:slice(1, 2)", rg.mat(2, 3, rg.f32)(1, 2, 3, 4, 5, 6)))
  end)

  it("of an element, a member and a local is the same", function()
    local V = rg.vec(4, rg.f16)
    local x, p = rg.field(V, 2), rg.field(rg.struct { { "m", rg.f32 }, { "v", V } }, 1)
    x[1], p[0] = { 1, 2, 3, 4 }, { m = 0, v = { 5, 6, 7, 8 } }
    local a, b, c = rg.kernel([[function()
      local n, s = 2, rg.vec3(0)
      local w = x[1]
      w.y = 9
      for i in rg.range(2) do s = s + x[i]:slice(1, 3) end
      return s, p[0].v:slice(n, 2), w:slice(1, n)
    end]], { x = x, p = p })()
    assert.same({ rg.vec3(2, 3, 4), rg.vec2(7, 8), rg.vec2(9, 3) }, { a, b, c })
  end)

  it("is refused if it is out of bounds, or not known", function()
    for _, args in ipairs { "3, 2", "-1, 2", "0, 0", "4, 1" } do
      assert.equal("a vector of 4 has no such slice",
        failure(run, ("a:slice(%s)"):format(args), rg.vec4(1)).message)
      assert.equal("a vec4 has no such slice", failure(assert(loadstring(
        ("local a = ... return a:slice(%s)"):format(args))), rg.vec4(1)).message)
    end
    assert.equal("the begin and the length of a slice must be literal numbers",
      failure(run, "a:slice(b, 2)", rg.vec4(1), 1).message)
    assert.equal("'slice' takes vectors, but this is a matrix of 2 x 2",
      failure(run, "a:slice(0, 2)", rg.mat2(1)).message)
    for _, text in ipairs { "v:slice(0, 2).x = 1", "v:slice(0, 2)[1] = 4",
      "v:slice(0, 2)[1] += 4" } do
      assert.equal("'v:slice(0, 2)' cannot be assigned",
        failure(rg.kernel("function() local v = rg.vec4(1) " .. text .. " end")).message)
    end
    assert.equal("':slice' takes 2 arguments, 1 given",
      failure(run, "a:slice(0)", rg.vec4(1)).message)
  end)
end)

describe("the old value of a half", function()
  it("is an f32, like an element that is read", function()
    local k = rg.kernel(function(x)
      local a = x:exchange(0, 1)
      local b = x:add(0, 1)
      x:add(1, 3)
      local c = x:compare_exchange(1, 3, 5)
      return a + 0.5, b / 3 == rg.f32(1) / 3, c, x[1]
    end)
    for _, x in ipairs { rg.field(rg.f16, 4), rg.array(rg.f16, 4) } do
      x[0] = 2049 -- 2048 as a half
      assert.same({ 2048.5, true, 3, 5 }, { k(x) })
    end
    local v = rg.field(rg.vec(2, rg.f16), 2)
    v[0] = { 2048, 3 }
    assert.equal(2048.5, (rg.kernel(function()
      local old = v:exchange(0, { 1, 2 })
      return old.x + 0.5
    end)()))
  end)
end)
