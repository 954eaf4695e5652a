--- Arithmetic: operators and math.* have Lua's semantics, integers wrap and never trap, conversions
--- saturate, and 64-bit integers are exact.
local bit = require "bit"
local support = require "support"
local rg = support.rg

-- Evaluates several expressions in one kernel over columns of inputs; returns a list of results
-- each.
--   inputs: { a = { "i32", { 1, 2 } }, .. }   outputs: { { "i32", "a // 2" }, .. }
local function compute(inputs, outputs)
  local captures, lines, n = {}, {}, nil
  for name, column in pairs(inputs) do
    n = #column[2]
    local x = rg.field(rg[column[1]], n)
    for k, value in ipairs(column[2]) do x[k - 1] = value end
    captures["in_" .. name] = x
    lines[#lines + 1] = ("local %s = in_%s[i]"):format(name, name)
  end
  for number, output in ipairs(outputs) do
    captures["out_" .. number] = rg.field(rg[output[1]], n)
    lines[#lines + 1] = ("out_%d[i] = %s"):format(number, output[2])
  end
  rg.kernel(("function()\nfor i in rg.range(%d) do\n%s\nend\nend"):format(
    n, table.concat(lines, "\n")), captures)()
  local results = {}
  for number in ipairs(outputs) do
    results[number] = {}
    for k = 1, n do results[number][k] = captures["out_" .. number][k - 1] end
  end
  return unpack(results)
end

local nan, inf = 0 / 0, math.huge
local function same_number(expected, actual, message)
  if expected ~= expected then
    assert.is_true(actual ~= actual, message)
  else
    assert.equal(expected, actual, message)
  end
end

-- All pairs of -10..10 in steps.
local function pairs_of(step)
  local a, b = {}, {}
  for x = -10, 10, step do
    for y = -10, 10, step do a[#a + 1], b[#b + 1] = x, y end
  end
  return a, b
end

describe("a periodic stencil", function()
  for _, kind in ipairs { "field", "array" } do
    it("reads the other side of a " .. kind .. ", whatever the range's end is", function()
      local size = 12
      local make = kind == "array" and rg.array or rg.field
      local x, y = make(rg.f32, size, size), make(rg.f32, size, size)
      for i = 0, size - 1 do for j = 0, size - 1 do x[i][j] = i * 31 + j * 7 % 5 end end
      local step = rg.kernel(function(n --[[: i32]], m --[[: i32]])
        for i, j in rg.range(n, m) do
          y[i][j] = x[(i + 1) % n][j] + 2 * x[(i - 1) % n][j] + 3 * x[i][(j + 1) % m]
            + 5 * x[i][(j - 1) % m] + 7 * x[(i - 1) % n][(j + 1) % m]
        end
      end)
      local function at(i, j) return i < size and j < size and x[i][j] or 0 end
      for _, n in ipairs { 0, 1, 2, 3, 11, 12, 13, 15 } do
        for _, m in ipairs { 1, 2, 12, 14 } do
          y:fill(0)
          step(n, m)
          for i = 0, size - 1 do
            for j = 0, size - 1 do
              local up, down, left, right = (i + 1) % n, (i - 1) % n, (j - 1) % m, (j + 1) % m
              local sum = at(up, j) + 2 * at(down, j) + 3 * at(i, right) + 5 * at(i, left)
                + 7 * at(down, right)
              assert.equal(i < n and j < m and sum or 0, y[i][j])
            end
          end
        end
      end
    end)
  end
end)

describe("floor division and modulo", function()
  it("have the sign of the divisor for every pair of small integers", function()
    local a, b = pairs_of(1)
    for _, type in ipairs { "i8", "i16", "i32", "i64" } do
      local q, r, f, g = compute({ a = { type, a }, b = { type, b } },
        { { type, "a // b" }, { type, "a % b" }, { type, "math.floor(a / b)" },
          { type, "math.ceil(a / b)" } })
      for k = 1, #a do
        local quotient, rest = 0, 0
        if b[k] ~= 0 then quotient, rest = math.floor(a[k] / b[k]), a[k] % b[k] end
        assert.equal(quotient, tonumber(q[k]))
        assert.equal(rest, tonumber(r[k]))
        assert.equal(quotient, tonumber(f[k]))
        if b[k] ~= 0 then assert.equal(math.ceil(a[k] / b[k]), tonumber(g[k])) end
      end
    end
  end)

  it("give the same results for constant divisors", function()
    local a = pairs_of(1)
    for _, c in ipairs { -7, -2, -1, 1, 2, 3, 8 } do
      local q, r, f = compute({ a = { "i32", a } },
        { { "i32", "a // " .. c }, { "i32", "a % " .. c },
          { "i32", ("math.floor(a / %d)"):format(c) } })
      for k = 1, #a do
        assert.same({ math.floor(a[k] / c), a[k] % c, math.floor(a[k] / c) }, { q[k], r[k], f[k] })
      end
    end
  end)

  it("are Lua's for floats", function()
    local a, b = pairs_of(0.5)
    local q, r = compute({ a = { "f64", a }, b = { "f64", b } },
      { { "f64", "a // b" }, { "f64", "a % b" } })
    local q32, r32 = compute({ a = { "f32", a }, b = { "f32", b } },
      { { "f32", "a // b" }, { "f32", "a % b" } })
    for k = 1, #a do
      if b[k] ~= 0 then
        assert.same({ math.floor(a[k] / b[k]), a[k] % b[k] }, { q[k], r[k] })
        assert.same({ math.floor(a[k] / b[k]), a[k] % b[k] }, { q32[k], r32[k] })
      else
        assert.is_true(r[k] ~= r[k])
      end
    end
  end)

  it("are unsigned for unsigned types, and whole for 64 bits", function()
    local q, r = compute({ a = { "u32", { 3583196299, 4294967295, 7 } },
      b = { "u32", { 524288, 10, 0 } } },
      { { "u32", "a // b" }, { "u32", "a % b" } })
    assert.same({ 6834, 429496729, 0 }, q)
    assert.same({ 212107, 5, 0 }, r)
    local wide = compute({ a = { "i64", { 1000001000000000LL, -1000001000000000LL } } },
      { { "i64", "a // 10000000000" } })
    assert.equal(100000LL, wide[1])
    assert.equal(-100001LL, wide[2])
    local top = compute({ a = { "u64", { 18446744073709551615ULL } } }, { { "u64", "a // 3" } })
    assert.equal(6148914691236517205ULL, top[1])
    assert.equal(0.5, (compute({ a = { "f32", { 0.5 } } }, { { "f32", "a % 1" } }))[1])
  end)

  it("never trap: by zero they give 0, and the smallest integer by -1 wraps", function()
    local smallest = { i8 = -128, i16 = -32768, i32 = -2147483648, i64 = -9223372036854775807LL
      - 1 }
    for type, low in pairs(smallest) do
      local q, r, z, m = compute({ a = { type, { low, 5 } }, b = { type, { -1, -1 } },
        o = { type, { 0, 0 } } },
        { { type, "a // b" }, { type, "a % b" }, { type, "a // o" }, { type, "a % o" } })
      assert.equal(low, q[1])
      assert.equal(0, tonumber(r[1]))
      assert.equal(-5, tonumber(q[2]))
      for k = 1, 2 do
        assert.equal(0, tonumber(z[k]))
        assert.equal(0, tonumber(m[k]))
      end
    end
    local f = compute({ a = { "f32", { 1, -1, 0 } }, o = { "f32", { 0, 0, 0 } } },
      { { "f32", "a / o" } })
    assert.same({ inf, -inf }, { f[1], f[2] })
    assert.is_true(f[3] ~= f[3])
  end)
end)

describe("integers", function()
  it("wrap in their own type", function()
    local cases = {
      i8 = { 127, -128 }, i16 = { 32767, -32768 }, i32 = { 2147483647, -2147483648 },
      u8 = { 255, 0 }, u16 = { 65535, 0 }, u32 = { 4294967295, 0 },
      i64 = { 9223372036854775807LL, -9223372036854775807LL - 1 }, u64 = { 18446744073709551615ULL,
        0ULL },
    }
    for type, case in pairs(cases) do
      local high, low = case[1], case[2]
      local up, down, negated, squared = compute({ a = { type, { high, low } } },
        { { type, "a + 1" }, { type, "a - 1" }, { type, "-a" }, { type, "a * a" } })
      assert.equal(low, up[1])
      assert.equal(high, down[2])
      assert.equal(low, negated[2])
      assert.equal(1, tonumber(squared[1]))
      assert.equal(0, tonumber(squared[2]))
    end
  end)

  it("of two types are computed in the wider one, at one width in the unsigned one", function()
    local a, b, c, d = compute({
      w = { "u16", { 1000, 100 } }, n = { "u8", { 255, 255 } }, s = { "i32", { -1, 5 } },
        u = { "u32", { 0, 1 } },
      l = { "i64", { 1LL, 2LL } },
    }, { { "i64", "w - n" }, { "i64", "n - w" }, { "i64", "s + u" }, { "i64", "s * l" } })
    assert.same({ 745, 65381 }, { tonumber(a[1]), tonumber(a[2]) })
    assert.same({ 64791, 155 }, { tonumber(b[1]), tonumber(b[2]) })
    assert.same({ 4294967295, 6 }, { tonumber(c[1]), tonumber(c[2]) })
    assert.same({ -1, 10 }, { tonumber(d[1]), tonumber(d[2]) })
  end)

  it("give floats by division and by powers", function()
    local half, power, root = compute({ a = { "i32", { 7, 2 } }, b = { "i32", { 2, 10 } } },
      { { "f32", "a / b" }, { "f32", "a ^ b" }, { "f64", "a ^ 0.5" } })
    assert.equal(3.5, half[1])
    assert.same({ 49, 1024 }, power)
    assert.is_near(math.sqrt(2), root[2], 1e-7)
  end)

  it("are exact beyond the range of doubles", function()
    local start = 9007199254740993LL
    local plus, product, back = compute({ a = { "i64", { start, -start } } },
      { { "i64", "a + 2" }, { "i64", "a * 3" }, { "i64", "-(a - 1) + 1" } })
    assert.equal(start + 2, plus[1])
    assert.equal(3 * start, product[1])
    assert.equal(-start + 2, back[1])
    assert.equal(start + 2, back[2])
    local literal, unsigned = compute({ a = { "i64", { 0LL } } },
      { { "i64", "a + 9007199254740993" }, { "u64", "18446744073709551615ULL - 4" } })
    assert.equal(start, literal[1])
    assert.equal(18446744073709551611ULL, unsigned[1])
  end)
end)

describe("bits", function()
  local a, b = {}, {}
  for k = 1, 40 do a[k], b[k] = (k * 1103515245 + 12345) % 2 ^ 32 - 2 ^ 31, k end

  it("are those of LuaJIT's bit library for i32", function()
    local band, bor, bxor, bnot, shl, shr, sar, rol, ror,
      swap = compute({ a = { "i32", a }, b = { "i32", b } }, {
      { "i32", "bit.band(a, b * 77)" }, { "i32", "bit.bor(a, b)" }, { "i32", "bit.bxor(a, b, 5)" },
        { "i32", "bit.bnot(a)" },
      { "i32", "bit.lshift(a, b)" }, { "i32", "bit.rshift(a, b)" }, { "i32", "bit.arshift(a, b)" },
      { "i32", "bit.rol(a, b)" }, { "i32", "bit.ror(a, b)" }, { "i32", "bit.bswap(a)" },
    })
    for k = 1, #a do
      local x, y = a[k], b[k]
      assert.same({ bit.band(x, y * 77), bit.bor(x, y), bit.bxor(x, y, 5), bit.bnot(x) },
        { band[k], bor[k], bxor[k], bnot[k] })
      assert.same({ bit.lshift(x, y), bit.rshift(x, y), bit.arshift(x, y) },
        { shl[k], shr[k], sar[k] })
      assert.same({ bit.rol(x, y), bit.ror(x, y), bit.bswap(x) }, { rol[k], ror[k], swap[k] })
    end
  end)

  it("have operators with the same results", function()
    local band, bor, bxor, bnot, shl, shr, sar,
      mixed = compute({ a = { "i32", a }, b = { "i32", b } }, {
      { "i32", "a & b * 77" }, { "i32", "a | b" }, { "i32", "a ~ b" }, { "i32", "~a" },
      { "i32", "a << b" }, { "i32", "a >> b" }, { "i32", "a ~>> b" },
        { "i32", "a & 0xff | b << 2 ~ 1" },
    })
    for k = 1, #a do
      local x, y = a[k], b[k]
      assert.same({ bit.band(x, y * 77), bit.bor(x, y), bit.bxor(x, y), bit.bnot(x) },
        { band[k], bor[k], bxor[k], bnot[k] })
      assert.same({ bit.lshift(x, y), bit.rshift(x, y), bit.arshift(x, y) },
        { shl[k], shr[k], sar[k] })
      assert.equal(bit.bor(bit.band(x, 0xff), bit.bxor(bit.lshift(y, 2), 1)), mixed[k])
    end
  end)

  it("keep the operand's type, and mask counts to its width", function()
    local not8, shl8, shr8, wide8 = compute({ a = { "u8", { 255, 0x81 } } },
      { { "i32", "~a" }, { "i32", "a << 1" }, { "i32", "a >> 4" }, { "i32", "a << 9" } })
    assert.same({ 0, 0x7e }, not8)
    assert.same({ 254, 2 }, shl8)
    assert.same({ 15, 8 }, shr8)
    assert.same({ 254, 2 }, wide8)
    local sar16, shr16 = compute({ a = { "i16", { -16, 16 } } },
      { { "i32", "a ~>> 2" }, { "i32", "a >> 12" } })
    assert.same({ -4, 4 }, sar16)
    assert.same({ 15, 0 }, shr16)
    local shl64, shr64, sar64 = compute({ a = { "i64", { 1LL, -1LL } }, n = { "i32", { 40, 63 } } },
      { { "i64", "a << n" }, { "i64", "a >> n" }, { "i64", "a ~>> n" } })
    assert.same({ 2 ^ 40, 0, 0 }, { tonumber(shl64[1]), tonumber(shr64[1]), tonumber(sar64[1]) })
    assert.equal(-9223372036854775807LL - 1, shl64[2])
    assert.same({ 1, -1 }, { tonumber(shr64[2]), tonumber(sar64[2]) })
  end)
end)

describe("conversions", function()
  it("between integers wrap", function()
    local i8, u8, u32, i64, u64 = compute({ a = { "i32", { 300, -1, 128, -129 } } },
      { { "i32", "rg.i8(a)" }, { "i32", "rg.u8(a)" }, { "u32", "rg.u32(a)" },
        { "i64", "rg.i64(a)" }, { "u64", "rg.u64(a)" } })
    assert.same({ 44, -1, -128, 127 }, i8)
    assert.same({ 44, 255, 128, 127 }, u8)
    assert.same({ 300, 4294967295, 128, 4294967167 }, u32)
    assert.equal(-129LL, i64[4])
    assert.equal(18446744073709551615ULL, u64[2])
    local low, unsigned = compute({ a = { "i64", { 4294967301LL, -1LL } } },
      { { "i32", "rg.i32(a)" }, { "u32", "rg.u32(a)" } })
    assert.same({ 5, -1 }, low)
    assert.same({ 5, 4294967295 }, unsigned)
  end)

  it("from floats go toward zero, saturate, and make 0 of NaN", function()
    local values = { 2.9, -2.9, 1e10, -1e10, nan, inf, -inf, 0.5 }
    for _, type in ipairs { "f32", "f64" } do
      local i32, u8, i16, i64 = compute({ a = { type, values } },
        { { "i32", "rg.i32(a)" }, { "i32", "rg.u8(a)" }, { "i32", "rg.i16(a)" },
          { "i64", "rg.i64(a)" } })
      assert.same({ 2, -2, 2147483647, -2147483648, 0, 2147483647, -2147483648, 0 }, i32)
      assert.same({ 2, 0, 255, 0, 0, 255, 0, 0 }, u8)
      assert.same({ 2, -2, 32767, -32768, 0, 32767, -32768, 0 }, i16)
      assert.equal(10000000000LL, i64[3])
      assert.equal(9223372036854775807LL, i64[6])
      assert.equal(-9223372036854775807LL - 1, i64[7])
      local u64 = compute({ a = { type, { 1e19, 1e20, -1 } } }, { { "u64", "rg.u64(a)" } })
      assert.is_near(1e19, tonumber(u64[1]), 1e12)
      assert.equal(18446744073709551615ULL, u64[2])
      assert.equal(0ULL, u64[3])
    end
  end)

  it("of constants give the same as of run-time values", function()
    local a, b, c, d = compute({ z = { "i32", { 0 } } },
      { { "i32", "rg.i32(2.9)" }, { "i32", "rg.i32(-2.9)" }, { "i32", "rg.u8(300)" },
        { "i32", "rg.i32(1e30)" } })
    assert.same({ 2, -2, 44, 2147483647 }, { a[1], b[1], c[1], d[1] })
  end)

  it("to floats round to the nearest", function()
    local f32, f64 = compute({ a = { "i32", { 16777217, 3, -2147483648 } } },
      { { "f32", "a" }, { "f64", "a" } })
    assert.same({ 16777216, 3, -2147483648 }, f32)
    assert.same({ 16777217, 3, -2147483648 }, f64)
    local narrow = compute({ a = { "f64", { 0.1, 1e300, 2 ^ -200 } } }, { { "f32", "a" } })
    assert.same({ 0.10000000149011612, inf, 0 }, narrow)
    local unsigned = compute({ a = { "u64", { 18446744073709551615ULL } } }, { { "f64", "a" } })
    assert.equal(2 ^ 64, unsigned[1])
  end)

  it("of comparisons give booleans, and 0 or 1 in integers", function()
    local truth, number = compute({ a = { "i32", { 0, 1, -5 } } },
      { { "bool", "a ~= 0" }, { "i32", "rg.i32(a > 0)" } })
    assert.same({ false, true, true }, truth)
    assert.same({ 0, 1, 0 }, number)
  end)

  it("of a float to an integer element must be explicit", function()
    local x = rg.field(rg.i32, 3)
    local ok, failure = pcall(function()
      rg.kernel("function() for i in rg.range(3) do x[i] = 0.5 * i end end", { x = x })()
    end)
    assert.is_false(ok)
    assert.equal("type.float_to_int", failure.code)
    assert.is_truthy(failure.hint:find("math.floor", 1, true) or failure.hint:find("rg.i32", 1,
      true))
  end)

  it("in plain Lua are those of kernels", function()
    assert.equal(3, rg.i32(3.7))
    assert.equal(-3, rg.i32(-3.7))
    assert.equal(0, rg.u8(-4))
    assert.equal(255, rg.u8(300))
    assert.equal(44, rg.i8(300LL))
    assert.equal(0, rg.i32(0 / 0))
    assert.equal(0x7fffffffffffffffLL, rg.i64(1e30))
    assert.equal(0.333251953125, rg.f16(1 / 3))
    assert.is_true(rg.bool(2))
    assert.same({ 2 ^ 31 - 1, -2 ^ 31 }, { rg.i32(1e30), rg.i32(-1e30) })
    assert.equal("f32", tostring(rg.f32))
  end)
end)

describe("f16", function()
  it("stores the nearest half", function()
    local x = rg.field(rg.f16, 6)
    for k, value in ipairs { 0.1, 2049, 65504, 1e6, 2 ^ -24, -0.333 } do x[k - 1] = value end
    assert.same({ 0.0999755859375, 2048, 65504, inf, 2 ^ -24, -0.33300781250 }, {
      x[0], x[1], x[2], x[3], x[4], x[5] })
  end)

  it("is an f32 once read, and rounds where it is stored", function()
    local sum, wide, doubled, made = compute(
      { a = { "f16", { 2048, 0.1 } }, b = { "f64", { 1, 0.1 } } },
      { { "f32", "a + 1" }, { "f64", "a + b" }, { "f16", "a * 2 + 1" },
        { "f32", "rg.f16(a + 1)" } })
    assert.equal(2049, sum[1])
    assert.equal(0.0999755859375 + 0.1, wide[2])
    assert.equal(4096, doubled[1])
    assert.equal(2048, made[1])
    local large = compute({ a = { "f16", { 60000 } } }, { { "f16", "a * a / a" } })
    assert.equal(60000, large[1])
  end)

  it("rounds the term of an update, too", function()
    local h = rg.field(rg.f16, 2)
    h[0], h[1] = 1, 1
    rg.kernel([[function(v: f32)
      for i in rg.range(1) do h[i] += v end
      h[1] = v + 1
    end]], { h = h })(2049)
    assert.same({ 2048, 2050 }, { h[0], h[1] })
  end)

  it("is an f32 as a component, as a member, and in a sum", function()
    local Pair = rg.struct { { "a", rg.f16 }, { "v", rg.vec(2, rg.f16) } }
    local x, v, p = rg.field(rg.f16, 4), rg.field(rg.vec(2, rg.f16), 1), rg.field(Pair, 1)
    for i = 0, 3 do x[i] = 2048 end
    v[0], p[0] = { 2048, 1 }, { a = 2048, v = { 2048, 1 } }
    local text = [[function()
      local s, w = 0.0, v[0] + 1
      for i in rg.range(4) do s = s + x[i] + 1 end
      return s, w.x, v[0].x + v[0].y, p[0].a + 1, p[0].v.x + p[0].v.y
    end]]
    assert.same({ 8196, 2049, 2049, 2049, 2049 },
      { rg.kernel(text, { x = x, v = v, p = p })() })
  end)

  it("rounds what a kernel stores, as f32 does", function()
    local h, s = rg.field(rg.f16, 1), rg.field(rg.f32, 1)
    local third = 1 / 3
    rg.kernel(function()
      h[0] = third
      s[0] = third
    end)()
    assert.equal(rg.f16(third), h[0])
    assert.equal(rg.f32(third), s[0])
  end)

  it("compares in conditions of vectorised loops as in scalar ones", function()
    local h, b, c = rg.array(rg.f16, 20), rg.array(rg.i32, 20), rg.array(rg.i32, 20)
    for i = 0, 19 do h[i], b[i] = i % 3 - 1, i % 2 end
    support.with_stress("force_lanes", rg.kernel(function()
      for i in rg.range(20) do
        if b[i + 1] > 0 then
          if h[i] >= 0 then c[i] = 1 end
        end
      end
    end))
    for i = 0, 18 do assert.equal((i + 1) % 2 > 0 and i % 3 > 0 and 1 or 0, c[i], i) end
  end)
end)

describe("comparisons", function()
  it("of an integer and a float are exact", function()
    local greater, equal, less = compute({
      a = { "i64", { 9007199254740993LL, 9007199254740992LL, -9007199254740993LL,
        9223372036854775807LL, 0LL } },
      b = { "f64", { 9007199254740992, 9007199254740992, -9007199254740992, 2 ^ 63, nan } },
    }, { { "bool", "a > b" }, { "bool", "a == b" }, { "bool", "a < b" } })
    assert.same({ true, false, false, false, false }, greater)
    assert.same({ false, true, false, false, false }, equal)
    assert.same({ false, false, true, true, false }, less)
    local above, same_as, at_most = compute({
      a = { "i32", { 16777217, 16777216, 0, 1 } }, b = { "f32", { 16777216, 16777216, 0.5, 0.5 } },
    }, { { "bool", "a > b" }, { "bool", "a == b" }, { "bool", "a <= b" } })
    assert.same({ true, false, false, true }, above)
    assert.same({ false, true, false, false }, same_as)
    assert.same({ false, true, true, false }, at_most)
    local below = compute({ a = { "u64", { 18446744073709551615ULL } }, b = { "f64", { 2 ^ 64 } } },
      { { "bool", "a < b" } })
    assert.same({ true }, below)
  end)

  it("of NaN are false, except ~=", function()
    local lt, ge, eq, ne = compute({ a = { "f32", { nan, nan } }, b = { "f32", { 1, nan } } },
      { { "bool", "a < b" }, { "bool", "a >= b" }, { "bool", "a == b" }, { "bool", "a ~= b" } })
    assert.same({ false, false }, lt)
    assert.same({ false, false }, ge)
    assert.same({ false, false }, eq)
    assert.same({ true, true }, ne)
  end)

  it("with and, or, not short-circuit", function()
    local x = rg.field(rg.i32, 4)
    local choice, nested, inverted, guarded = compute({ a = { "i32", { -2, 0, 3, 8 } },
      b = { "i32", { 1, 2, 3, 4 } } }, {
      { "i32", "a > 0 and a or b" }, { "i32", "a == 0 and 10 or (a < 0 and 20 or 30)" },
      { "bool", "not (a > 0 and b < 4)" }, { "bool", "b < 2 or a // (b - 1) > 0" },
    })
    assert.same({ 1, 2, 3, 8 }, choice)
    assert.same({ 20, 10, 30, 30 }, nested)
    assert.same({ true, true, false, true }, inverted)
    assert.same({ true, false, true, true }, guarded)
    local run = rg.kernel([[function()
      for i in rg.range(4) do
        local seen = i > 1 and x:add(i, 5) == 0
        x[i] = seen ? x[i] + 1 : x[i]
      end
    end]], { x = x })
    run()
    assert.same({ 0, 0, 6, 6 }, x:to_table())
  end)

  it("do not accept numbers as conditions", function()
    local x = rg.field(rg.i32, 1)
    for _, body in ipairs { "if x[0] then end", "while x[0] do end", "x[0] = x[0] and 1 or 2",
      "local b = not x[0]" } do
      local ok, failure = pcall(function()
        rg.kernel("function() for i in rg.range(1) do " .. body .. " end end", { x = x })()
      end)
      assert.is_false(ok)
      assert.equal("type.condition", failure.code)
    end
  end)
end)

describe("division by a captured number", function()
  local ends = { i8 = { -128, 127 }, u8 = { 0, 255 }, i16 = { -32768, 32767 },
    u16 = { 0, 65535 }, i32 = { -2147483648, 2147483647 }, u32 = { 0, 4294967295 } }
  local function wrap(value, low, high)
    return (value - low) % (high - low + 1) + low
  end

  it("rounds down at every edge, wraps, and by zero gives 0", function()
    for type, range in pairs(ends) do
      local low, high = range[1], range[2]
      local values, divisors = {}, {}
      local near = { low, low + 1, low + 2, math.floor(low / 2), -7, -2, -1, 0, 1, 2, 3, 5, 7, 10,
        100, 127, 641, 46340, 46341, 65537, 1000003, math.floor(high / 2), high - 2, high - 1,
        high }
      for _, value in ipairs(near) do
        if value >= low and value <= high then divisors[#divisors + 1] = value end
      end
      for _, d in ipairs(divisors) do -- the multiples of divisors, and their neighbours
        for _, m in ipairs { -3, -1, 1, 2, 3, 1000, math.floor(high / math.max(1, math.abs(d))) } do
          for by = -1, 1 do
            local value = d * m + by
            if value >= low and value <= high then values[#values + 1] = value end
          end
        end
      end
      local n = #values
      local x, q, r = rg.field(rg[type], n), rg.field(rg[type], n), rg.field(rg[type], n)
      for k, value in ipairs(values) do x[k - 1] = value end
      local numbers = { x = x, q = q, r = r, by = 1 }
      local divide = rg.kernel(("function() local d: %s = by for i in rg.range(%d) do \z
        q[i] = x[i] // d r[i] = x[i] %% d end end"):format(type, n), numbers)
      for _, d in ipairs(divisors) do
        numbers.by = d
        divide()
        for k, value in ipairs(values) do
          local quotient = d == 0 and 0 or wrap(math.floor(value / d), low, high)
          local rest = d == 0 and 0 or value - math.floor(value / d) * d
          if q[k - 1] ~= quotient or r[k - 1] ~= rest then
            assert.same({ type, value, d, quotient, rest }, { type, value, d, q[k - 1], r[k - 1] })
          end
        end
      end
    end
  end)
end)

describe("a remainder by the end of the range", function()
  it("wraps the index to the other side, for ranges of one element and more", function()
    for _, n in ipairs { 1, 2, 3, 7, 40 } do
      local left, right = rg.field(rg.i32, 40), rg.field(rg.i32, 40)
      local far = rg.field(rg.i32, 40)
      rg.kernel([[function()
        for i in rg.range(n) do
          right[i], left[i], far[i] = (i + 1) % n, (i - 1) % n, (i + 2) % n
        end
      end]], { left = left, right = right, far = far, n = n })()
      for i = 0, n - 1 do
        assert.same({ (i + 1) % n, (i - 1) % n, (i + 2) % n }, { right[i], left[i], far[i] })
      end
    end
  end)

  it("wraps the index by a bit mask, too", function()
    for _, n in ipairs { 1, 2, 8, 32 } do
      for _, mask in ipairs { 0, 1, 7, 31 } do
        local x, y = rg.field(rg.i32, 32), rg.field(rg.i32, 32)
        for i = 0, 31 do x[i] = i * i + 1 end
        local text = ([[function()
          for i in rg.range(%d) do
            local s = 0
            for d = -1, 2 do s = 3 * s + x[bit.band(i + d, %d)] + x[bit.band(i - 1, %d)] end
            y[i] = s
          end
        end]]):format(n, mask, mask)
        rg.kernel(text, { x = x, y = y, bit = bit })()
        for i = 0, n - 1 do
          local s = 0
          for d = -1, 2 do s = 3 * s + x[bit.band(i + d, mask)] + x[bit.band(i - 1, mask)] end
          assert.equal(s, y[i])
        end
      end
    end
  end)

  it("wraps the index for steps from a loop, a table and branches", function()
    local size = 40
    local x, y, z = rg.field(rg.i32, size), rg.field(rg.i32, size), rg.field(rg.i32, size)
    for i = 0, size - 1 do x[i] = i * i + 1 end
    local even, odd = { 0, 1, -1, 2 }, { -1, 0, 1, -2 }
    local text = [[function()
      for i in rg.range(n) do
        local s, q = 0, 0
        for d = -1, 1 do
          s = 3 * s + x[(i + d) % n] + 2 * x[(i - d + n) % n] + x[(i + 2 * d) % n]
        end
        for k = 1, 4 do
          local d = even[k]
          if i % 2 == 1 then d = odd[k] end
          if i == 5 then d = far end
          q = 5 * q + x[(i + d + n) % n] + 3 * x[(i + n - d) % n] + 7 * x[(i + even[k]) % n]
        end
        y[i], z[i] = s, q
      end
    end]]
    local function wrap(value) return bit.tobit(value) end
    for _, n in ipairs { 1, 2, 3, 5, 17, 40 } do
      for _, constant in ipairs { false, true } do
        for _, far in ipairs { 1, 100 } do
          local here = constant and text:gsub("%f[%w]n%f[%W]", n) or text
          local captured = { x = x, y = y, z = z, n = n, even = even, odd = odd, far = far }
          rg.kernel(here, captured)()
          local function at(i) return x[i % n] end
          for i = 0, n - 1 do
            local s, q = 0, 0
            for d = -1, 1 do s = 3 * s + at(i + d) + 2 * at(i - d) + at(i + 2 * d) end
            for k = 1, 4 do
              local d = i == 5 and far or (i % 2 == 1 and odd or even)[k]
              q = 5 * q + at(i + d) + 3 * at(i - d) + 7 * at(i + even[k])
            end
            assert.same({ n, wrap(s), wrap(q) }, { n, y[i], z[i] })
          end
        end
      end
    end
  end)
end)

describe("math", function()
  local values = {}
  for k = -20, 20 do values[#values + 1] = k / 7 end

  it("agrees with Lua's for doubles, and within float precision for floats", function()
    local unary = { "sin", "cos", "tan", "atan", "sinh", "cosh", "tanh", "exp", "abs", "deg",
      "rad" }
    local positive = { "sqrt", "log", "log10" }
    local inverse = { "asin", "acos" }
    local function check(names, input)
      for _, type in ipairs { "f64", "f32" } do
        local outputs = {}
        for number, name in ipairs(names) do
          outputs[number] = { type, "math." .. name .. "(a)" }
        end
        outputs[#outputs + 1] = { type, "a" }
        local tolerance = type == "f64" and 1e-14 or 1e-6
        local results = { compute({ a = { type, input } }, outputs) }
        for number, name in ipairs(names) do
          for k, x in ipairs(results[#outputs]) do -- as the type holds it
            local expected = math[name](x)
            assert.is_near(expected, results[number][k], tolerance * math.max(
              1, math.abs(expected)) * 4, name)
          end
        end
      end
    end
    check(unary, values)
    local above_zero, inside = {}, {}
    for k, x in ipairs(values) do
      above_zero[k] = x + 3
      inside[k] = x / 3
    end
    check(positive, above_zero)
    check(inverse, inside)
  end)

  it("gives the core's own results to the last bit, on every arch and in vectors", function()
    local core = require("regolith.lib").C
    local a, b = {}, {}
    for k = 1, 67 do
      a[k], b[k] = (k - 20) * 0.37, (k % 9 - 4) * 0.61
    end
    a[1], a[2], a[3], b[4], b[5] = 1e300, -inf, nan, 2, 3
    local unary = { "exp", "log", "log10", "sin", "cos", "tan", "asin", "acos", "atan", "sinh",
      "cosh", "tanh" }
    for _, type in ipairs { "f64", "f32" } do
      local single = type == "f32" and 1 or 0
      local outputs = { { type, "a" }, { type, "b" }, { type, "math.pow(a, b)" },
        { type, "math.atan2(a, b)" }, { type, "math.fmod(a, b)" } }
      for _, name in ipairs(unary) do
        outputs[#outputs + 1] = { type, "math." .. name .. "(a)" }
      end
      local results = { compute({ a = { type, a }, b = { type, b } }, outputs) }
      for k = 1, #a do
        local x, y = results[1][k], results[2][k]
        for at, name in ipairs { "pow", "atan2", "fmod" } do
          same_number(core.rg_math(name, single)(x, y), results[at + 2][k], name)
        end
        for at, name in ipairs(unary) do
          same_number(core.rg_math(name, single)(x, 0), results[at + 5][k], name)
        end
      end
    end
    assert.is_true(core.rg_math("cbrt", 0) == nil)
  end)

  it("takes two arguments as Lua does", function()
    local a, b = pairs_of(1.25)
    local arc, rest, power, low, high = compute({ a = { "f64", a }, b = { "f64", b } }, {
      { "f64", "math.atan2(a, b)" }, { "f64", "math.fmod(a, b)" },
        { "f64", "math.pow(math.abs(a), b)" },
      { "f64", "math.min(a, b)" }, { "f64", "math.max(a, b, 0.5)" },
    })
    for k = 1, #a do
      assert.is_near(math.atan2(a[k], b[k]), arc[k], 1e-14)
      same_number(math.fmod(a[k], b[k]), rest[k])
      local expected = math.pow(math.abs(a[k]), b[k])
      if expected == inf then
        assert.equal(inf, power[k])
      else
        assert.is_near(expected, power[k], 1e-14 * math.max(1, expected))
      end
      assert.equal(math.min(a[k], b[k]), low[k])
      assert.equal(math.max(a[k], b[k], 0.5), high[k])
    end
  end)

  it("gives integers by floor and ceil", function()
    local a = {}
    for k = 1, #values do a[k] = values[k] * 3.5 end
    for _, type in ipairs { "f32", "f64" } do
      local floor, ceil, cell = compute({ a = { type, a } },
        { { "i32", "math.floor(a)" }, { "i32", "math.ceil(a)" },
          { "i32", "math.floor(a) // 2 % 3" } })
      local as_stored = compute({ a = { type, a } }, { { "f64", "a" } })
      for k = 1, #a do
        local x = as_stored[k]
        assert.same({ math.floor(x), math.ceil(x), math.floor(math.floor(x) / 2) % 3 },
          { floor[k], ceil[k], cell[k] })
      end
    end
  end)

  -- No integer is made if nothing needs one.
  it("gives the floats of Lua by floor and ceil, beyond all integers, too", function()
    local a, rounded = {
      nan, inf, -inf, -0.0, -0.25, 0.25, 2.75, -2.75, 3e9, -3e9, 2 ^ 31, 65536.5 }
    for _, type in ipairs { "f32", "f64" } do
      for _, name in ipairs { "floor", "ceil" } do
        rounded = compute({ a = { type, a } }, {
          { type, ("1 / rg.%s(math.%s(a))"):format(type, name) } })
        for k, x in ipairs(a) do
          local expected = 1 / math[name](x)
          if type == "f32" then expected = rg.vec2(expected, 0).x end
          assert.equal(tostring(expected), tostring(rounded[k]))
        end
      end
    end
  end)

  it("rounds to an integer where one is needed, and leaves a float elsewhere", function()
    local x, n = rg.field(rg.f32, 4), rg.field(rg.i32, 4)
    x[0], x[1], x[2] = 3e9, 2.5, -2.5
    local function run(text)
      return rg.kernel("local function wrap(i) return i % 4 end function(v: vec2) " .. text ..
        " end", { x = x, n = n, rg = rg, math = math, bit = bit })(rg.vec2(1.5, 2.5))
    end
    assert.same({ 3e9, 0.5, -2, -3 }, { run [[
      return math.floor(x[0]), x[1] - math.floor(x[1]), math.ceil(x[2]), rg.round(x[2])]] })
    assert.is_near(1e15, run "return math.floor(1e15)", 1e8)
    assert.equal(rg.vec2(0.5, 0.5), run "return v - rg.floor(v)")
    assert.equal(-2.5, run "return x[math.floor(x[1])]")
    assert.equal(-2.5, run "local I = rg.floor(v) return x[I.y]")
    assert.equal(2.5, run "return x[wrap(math.floor(x[1]) + 3)]")
    assert.same({ 0, 1, 2, 1 }, { run [[return math.floor(x[1]) % 2, math.floor(x[1]) // 2,
      bit.band(math.floor(x[1]), 3), math.floor(math.floor(x[1]) / 2)]] })
    assert.equal(9, run "n[1] = math.floor(x[1]) * 4 + 1 return n[1]")
    assert.equal(2147483647, run "n[1] = math.floor(x[0]) return n[1]") -- of the integer's type
    assert.equal(14, run [[local s = 0
      for i = math.floor(x[1]), math.floor(x[1] + 3) do s = s + i end return s]])
    assert.equal(2, run "local s = 0 for i in rg.range(math.floor(x[1])) do s = s + 1 end return s")
    assert.equal(1e15, run "return rg.i64(math.floor(rg.f64(1e15))) + 0.0 * rg.f64(x[1])")
  end)

  it("has minimum and maximum of integers, and constants", function()
    local low, high, circle, huge = compute({ a = { "i32", { -3, 5 } }, b = { "i32", { 2, 4 } } }, {
      { "i32", "math.min(a, b, 3)" }, { "i32", "math.max(a, b)" }, { "f64", "math.pi" },
        { "f32", "-math.huge" },
    })
    assert.same({ -3, 3 }, low)
    assert.same({ 2, 5 }, high)
    assert.is_near(math.pi, circle[1], 1e-6)
    assert.equal(math.pi, rg.kernel("function() return rg.f64(math.pi) end")())
    assert.equal(-inf, huge[2])
  end)
end)

describe("precision", function()
  it("of floats is that of their type, step by step", function()
    local sum32, sum64, product = compute({ a = { "f32", { 0.1, 16777216 } },
      b = { "f32", { 0.2, 1 } }, c = { "f64", { 0.1, 1 } } },
      { { "f64", "a + b" }, { "f64", "c + 0.2" }, { "f64", "a * b" } })
    assert.same({ 0.30000001192092896, 16777216 }, sum32)
    assert.equal(0.1 + 0.2, sum64[1])
    assert.is_near(0.02, product[1], 1e-8)
  end)

  it("is never changed by contraction", function()
    -- a * b - c of these is not 0 if the product is kept exact
    local a = 1 + 2 ^ -27
    local rest = compute({ a = { "f64", { a } }, c = { "f64", { a * a } } },
      { { "f64", "a * a - c" } })
    assert.equal(0, rest[1])
  end)

  it("follows default_float where nothing else decides", function()
    local own = rg.new { default_float = "f64", threads = 1 }
    local x = own.field(own.f64, 1)
    local third = own.kernel(function(n)
      for i in own.range(1) do x[i] = 1 / n end
    end)
    third(3.0)
    assert.equal(1 / 3, x[0])
    own.reset()
  end)
end)

-- Compares the kernel's result with Lua's, over pairs of numbers.
local function agree(expression, type_name, numbers, tolerance)
  local n = #numbers
  local a, b, out = rg.field(type_name, n * n), rg.field(type_name, n * n), rg.field(rg.f64, n * n)
  for p, left in ipairs(numbers) do
    for q, right in ipairs(numbers) do
      a[(p - 1) * n + q - 1], b[(p - 1) * n + q - 1] = left, right
    end
  end
  rg.kernel("function() for i in rg.range(" .. n * n .. ") do local a, b = x[i], y[i]; out[i] = "
    .. expression
    .. " end end", { x = a, y = b, out = out })()
  local lua = assert(loadstring("local a, b = ... return " .. expression))
  for i = 0, n * n - 1 do
    local expected, got = lua(tonumber(a[i]), tonumber(b[i])), out[i]
    local same = expected == got or (expected ~= expected and got ~= got)
      or (tolerance and math.abs(expected - got) <= tolerance * math.max(1, math.abs(expected)))
    assert(same, ("%s for %s, %s: Lua %s, kernel %s"):format(expression, tostring(a[i]),
      tostring(b[i]), expected, got))
  end
end

local floats = { -2.5, -1, -0.25, 0.5, 1, 3, 7.75, 100 }
local integers = { -10, -7, -3, -2, -1, 1, 2, 3, 5, 10 }

describe("operators", function()
  for _, expression in ipairs { "a + b", "a - b", "a * b", "a / b", "a % b", "-a + b",
    "a * a - b * b" } do
    it(("mean Lua's for floats: %s"):format(expression),
      function() agree(expression, rg.f64, floats) end)
  end

  for _, expression in ipairs { "a + b", "a - b", "a * b", "a / b", "a % b", "-a",
    "math.floor(a / b)" } do
    it(("mean Lua's for integers: %s"):format(expression),
      function() agree(expression, rg.i32, integers) end)
  end

  it("compare as Lua does", function()
    for _, op in ipairs { "<", "<=", ">", ">=", "==", "~=" } do
      agree(("(a %s b) and 1 or 0"):format(op), rg.f64, floats)
      agree(("(a %s b) and 1 or 0"):format(op), rg.i32, integers)
    end
  end)

  it("compare integers with a captured number exactly", function()
    local numbers = { 0, -0.5, 0.5, 1, 3, 7, -7, 127, 127.5, -128, -128.5, 128, 255, 255.25, 256,
      32767, 65535.5, 2147483520, 2147483648, -2147483648, -2147483904, 4294967040, 4294967296,
      1e20, -1e20, 1 / 0, -1 / 0, 0 / 0 }
    local kinds = {
      i8 = { -128, -7, 0, 3, 127 }, u8 = { 0, 1, 128, 255 }, i16 = { -32768, 7, 32767 },
      u16 = { 0, 256, 65535 }, u32 = { 0, 7, 4294967040, 4294967295 },
      i32 = { -2147483648, -7, 0, 1, 2147483520, 2147483647 },
    }
    local n
    for kind, values in pairs(kinds) do
      local x, out, by_index = rg.field(kind, #values), rg.field(rg.i32, #values),
        rg.field(rg.i32, #values)
      for i, value in ipairs(values) do x[i - 1] = value end
      local k = rg.kernel(function()
        for i in rg.range(#x) do
          local v = x[i]
          out[i] = (v < n and 1 or 0) + (v <= n and 2 or 0) + (n < v and 4 or 0)
            + (n <= v and 8 or 0) + (v == n and 16 or 0) + (n ~= v and 32 or 0)
          by_index[i] = (i < n and 1 or 0) + (i <= n and 2 or 0) + (i > n and 4 or 0)
            + (i >= n and 8 or 0) + (i == n and 16 or 0) + (i ~= n and 32 or 0)
        end
      end)
      local function expected(v)
        return (v < n and 1 or 0) + (v <= n and 2 or 0) + (n < v and 4 or 0)
          + (n <= v and 8 or 0) + (v == n and 16 or 0) + (n ~= v and 32 or 0)
      end
      for _, number in ipairs(numbers) do
        n = number
        k()
        for i, value in ipairs(values) do
          assert.equal(expected(value), out[i - 1])
          assert.equal(expected(i - 1), by_index[i - 1])
        end
      end
    end
  end)

  it("combine booleans, and select", function()
    agree("(a > 1 and b > 1) and 1 or 0", rg.f64, floats)
    agree("(a > 1 or b > 1) and 1 or 0", rg.f64, floats)
    agree("(not (a > b)) and a or b", rg.f64, floats)
    agree("(a > 0 and b / a > 1 or b < 0) and 1 or 2", rg.f64, floats)
  end)

  it("raise to powers", function()
    agree("math.abs(a) ^ 2", rg.f64, floats, 1e-14)
    agree("math.abs(a) ^ b", rg.f64, { 0.5, 1, 2, 3 }, 1e-14)
    assert.equal(1024, rg.kernel(function() return 2 ^ 10 end)())
  end)

  it("raise to small whole numbers by multiplying", function()
    for _, power in ipairs { "^ 3", "^ 4", "^ -2", "^ 7.0", "^ -16", "^ 0", "^ -1", "^ (2 + 3)" } do
      agree("a " .. power, rg.f64, floats, 1e-14)
    end
    local same = {
      ["a ^ 3"] = "a * (a * a)", ["a ^ 4"] = "(a * a) * (a * a)", ["a ^ 2.0"] = "a * a",
      ["a ^ 5"] = "a * ((a * a) * (a * a))", ["a ^ -2"] = "1 / (a * a)", ["a ^ -1"] = "1 / a",
      ["a ^ 0"] = "1.0", ["a ^ 1"] = "a",
    }
    for _, type_name in ipairs { "f32", "f64" } do
      local x, vec = rg.field(type_name, 6), type_name == "f64" and "dvec2" or "vec2"
      for i, value in ipairs { 0.1, -3.7e12, 1e-30, 0, 1 / 0, 0 / 0 } do x[i - 1] = value end
      for power, product in pairs(same) do
        local differ = rg.kernel(([=[function()
          local count = 0
          for i in rg.range(6) do
            local a = x[i]
            local p, q = %s, %s
            if p ~= q and (p == p or q == q) then count += 1 end
            local v = rg.%s(a, 2 * a)
            if (v %s).x ~= p and p == p then count += 1 end
          end
          return count
        end]=]):format(power, product, vec, power:match("%^ .*")), { x = x })
        assert.equal(0, differ(), power)
      end
    end
  end)

  it("have LuaJIT's newer spellings in text kernels", function()
    local run = rg.kernel([=[function(a, b)
      const two = 2
      local r = a != b ? a : b
      r += two; r *= 3; r -= 1_000; r /= 4; r //= 1
      return r
    end]=])
    assert.equal(math.floor(((5 + 2) * 3 - 1000) / 4), run(5, 6))
  end)

  it("nest to any depth without taking ever longer to read", function()
    local x = rg.field(rg.f32, 4)
    local function run(text)
      return rg.kernel("function() return " .. text .. " end", { x = x })()
    end
    assert.is_true(run(("x[0] < 1 and "):rep(60) .. "x[1] < 1"))
    assert.equal(2, run(("rg.select(x[0] + "):rep(40) .. "x[1]" .. (" > 1, 2, 2)"):rep(40)))
    assert.equal(2, run(("(("):rep(40) .. "x[0]" .. (") > 1 ? 2 : 2)"):rep(40)))
  end)
end)

describe("a number of the launch that is only stored", function()
  local function stores(t, v)
    local x = rg.field(t, 1)
    local ok, message = pcall(rg.kernel("function() x[0] = v end", { x = x, v = v }))
    return ok and x[0] or tostring(message):match "cannot hold %S+: its type is %S+"
  end

  it("has the type of what it is stored in, and must fit it", function()
    assert.equal(255, stores(rg.u8, 255))
    assert.equal("cannot hold 300: its type is u8", stores(rg.u8, 300))
    assert.equal("cannot hold -1: its type is u32", stores(rg.u32, -1))
    assert.equal(4294967295, stores(rg.u32, 4294967295))
    assert.equal(-5000000000LL, stores(rg.i64, -5000000000))
    local run = rg.kernel [[function()
      local a: i8, b: f16, c: f32 = 0xff, 65519, -math.huge
      return a, b, c
    end]]
    assert.same({ -1, 65504, -math.huge }, { run() })
  end)
end)

describe("a number of the launch that is stored and used elsewhere", function()
  local x, n8, u16 = rg.field(rg.i32, 1), rg.field(rg.i8, 1), rg.field(rg.u16, 1)
  local function run(body, a)
    local k = rg.kernel("function(a) " .. body .. " end", { x = x, n8 = n8, u16 = u16 })
    local ok, err = pcall(k, a)
    return ok and "" or err.code .. ": " .. err.message
  end

  it("must fit wherever it is stored, also negated and through a local", function()
    assert.equal("", run("n8[0] = a x[0] = a", -128))
    assert.equal(-128, n8[0])
    assert.equal(
      "value.fit: argument 'a', where it is stored here, cannot hold 128: its type is i8",
      run("x[0] = a n8[0] = a", 128))
    assert.equal(-128, x[0])
    assert.matches("^value.fit: the negative of argument 'a'.* cannot hold %-1:",
      run("u16[0] = -a", 1))
    assert.equal("", run("u16[0] = -a", -300))
    assert.equal(300, u16[0])
    assert.matches("value.fit", run("local b = a local c = -(b) n8[0] = c x[0] = b", 200))
    assert.equal("", run("local b = a local c = -(b) n8[0] = c x[0] = b", -127))
    assert.equal(127, n8[0])
  end)

  it("may be guarded", function()
    assert.equal("", run("x[0] = a if a < 128 then n8[0] = a end", 300))
    assert.equal("", run("x[0] = a if x[0] < 128 then n8[0] = a end", 300))
    assert.equal("", run("x[0] = a if x[0] > 127 then return end n8[0] = a", 300))
    assert.equal("", run("local b = a x[0] = b local fits = b < 128 n8[0] = fits and b or 5", 300))
    assert.equal(5, n8[0])
  end)
end)

describe("a literal", function()
  it("must fit the element that it updates, and the vector that contains it", function()
    local n8 = rg.field(rg.i8, 1)
    local function says(body)
      local ok, err = pcall(rg.kernel("function() " .. body .. " end", { n8 = n8, rg = rg }))
      return ok and "" or err.message
    end
    assert.equal("300 does not fit an i8", says "n8[0] += 300")
    assert.equal("300 does not fit an i8", says "for i in rg.range(8) do n8[0] += 300 end")
    assert.equal("300 does not fit a u8", says "local s: u8 = 0 s += 300 return s")
    assert.equal("-1 does not fit a u8", says "local s: u8 = -1 return s")
    assert.equal("5000000000LL does not fit an i32", says "local s: i32 = 5000000000LL return s")
    assert.equal("5000000000 does not fit an i32", says "return rg.ivec2(5000000000, 1)")
    assert.equal("-1 does not fit a u32", says "return rg.uvec2(1, -1)")
    assert.equal("", says "n8[0] += 1 n8[0] = rg.i8(300) return rg.ivec2(0xffffffff, 1)")
  end)
end)

describe("a component that a vector does not have", function()
  it("is an error where the index is known", function()
    local function says(index)
      local text = "function() local v, k = rg.vec2(1, 2), 2 return v[%s] end"
      local ok, message = pcall(rg.kernel(text:format(index), { rg = rg }))
      return ok and message or tostring(message):match "has no number %S+"
    end
    assert.equal(2, says "k - 1")
    assert.equal("has no number 2", says "k")
    assert.equal("has no number 3", says "k + 1")
    assert.equal("has no number -1", says "1 - k")
  end)
end)

describe("a square root compared with a constant", function()
  -- Compares, for numbers near the square of c, with the root, which a field hides from the
  -- compiler.
  local function compares(name, c, near)
    local t = rg[name]
    local values = { 0, 1e-40, inf, nan, c * c }
    for k = -3, 3 do values[#values + 1] = near(c * c, k) end
    local n = #values
    local x, root = rg.field(t, n), rg.field(t, n)
    for k = 1, n do x[k - 1] = values[k] end
    local made, expected = {}, {}
    local captures = { x = x, root = root, T = t, select = rg.select }
    local lines = {}
    for k, op in ipairs { "<", "<=", ">", ">=" } do
      for side = 0, 1 do
        local name_of = ("o%d%d"):format(k, side)
        made[#made + 1], expected[#expected + 1] = rg.field(rg.i32, n), rg.field(rg.i32, n)
        captures[name_of], captures["e" .. name_of] = made[#made], expected[#expected]
        local text = side == 0 and "%s %s C" or "C %s %s"
        local of = "math.sqrt(math.abs(x[i]))"
        local a = side == 0 and text:format(of, op) or text:format(op, of)
        local b = side == 0 and text:format("root[i]", op) or text:format(op, "root[i]")
        lines[#lines + 1] = ("%s[i] = (%s) and 1 or 0 e%s[i] = (%s) and 1 or 0"):format(name_of, a,
          name_of, b)
      end
    end
    rg.kernel("function() for i in rg.range(#x) do root[i] = math.sqrt(math.abs(x[i])) end end",
      captures)()
    rg.kernel(("function() for i in rg.range(#x) do %s end end"):format(
      table.concat(lines, "\n"):gsub("C", ("T(%.17g)"):format(c))), captures)()
    for k = 1, #made do
      for i = 0, n - 1 do
        assert.equal(expected[k][i], made[k][i], ("%s, row %d, sqrt of %.17g beside %.17g"):format(
          name, k, x[i], c))
      end
    end
  end

  local ffi = require "ffi"
  local single, double = ffi.new("union { float x; int32_t n; }"),
    ffi.new("union { double x; int64_t n; }")
  local function near_single(x, k)
    single.x = x
    single.n = single.n + k
    return tonumber(single.x)
  end
  local function near_double(x, k)
    double.x = x
    double.n = double.n + k
    return tonumber(double.x)
  end

  it("is compared exactly", function()
    for _, c in ipairs { 0.2, 1, 3, 1e-3, 0.7071, 1e10 } do
      compares("f32", c, near_single)
      compares("f64", c, near_double)
    end
    -- subnormal squares, and one that is infinite
    compares("f32", 1e-22, function(x, k) return math.max(x + k * 1e-45, 0) end)
    compares("f32", 3e19, function(_, k) return 1e38 * (k + 3) end)
    compares("f64", -1, function(x, k) return x + k end)
    compares("f64", 0, function(x, k) return math.max(x + k * 5e-324, 0) end)
  end)
end)

describe("a number of the launch that becomes an integer", function()
  it("keeps its digits above 2^24, in sums and products, too", function()
    local out = rg.field(rg.u32, 4)
    local captured = 33554433
    local k = rg.kernel(function(seed)
      for i in rg.range(1) do
        out[0] = rg.u32(seed)
        out[1] = rg.u32((seed + 2) * 3 - captured)
        out[2] = rg.u32(rg.i64(captured))
        out[3] = rg.u32(seed) + rg.u32(0.5 * seed)
      end
    end)
    k(16777217)
    assert.same({ 16777217, 16777224, 33554433, 25165825 }, { out[0], out[1], out[2], out[3] })
    k(2.5)
    assert.same({ 2, 3 }, { out[0], out[3] })
  end)

  it("keeps its digits when it is converted to 64 bits", function()
    local square = rg.kernel(function(n) return rg.i64(n * n) end)
    assert.equal(10000000000LL, square(100000))
    assert.equal(49LL, square(7))
  end)

  it("keeps its digits through locals and helpers, while it is whole", function()
    local out = rg.field(rg.i32, 4)
    local n = 160
    local function low(v) return bit.band(rg.i32(rg.u32(v)), 255) end
    local k = rg.kernel(function(frame)
      for i in rg.range(4) do
        local seed = (frame * n * n + i) * 16
        out[i] = low(seed)
      end
    end)
    for _, frame in ipairs { 3, 701, 1.5 } do
      k(frame)
      for i = 0, 3 do assert.equal((frame * n * n + i) * 16 % 256, out[i]) end
    end
  end)

  it("stays an f32 if it is only used as one", function()
    local x = rg.field(rg.f32, 1)
    local k = rg.kernel(function(a) x[0] = a * 3 end)
    k(16777217)
    assert.equal(50331648, x[0])
  end)
end)
