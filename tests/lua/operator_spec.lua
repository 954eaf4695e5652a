local rg = require "support".rg

-- The kernel's result compared with Lua's own, over pairs of numbers.
local function agree(expression, type_name, numbers, tolerance)
  local n = #numbers
  local a, b, out = rg.field(type_name, n * n), rg.field(type_name, n * n), rg.field(rg.f64, n * n)
  for p, left in ipairs(numbers) do
    for q, right in ipairs(numbers) do
      a[(p - 1) * n + q - 1], b[(p - 1) * n + q - 1] = left, right
    end
  end
  rg.kernel("function() for i in rg.range(" .. n * n .. ") do local a, b = x[i], y[i]; out[i] = " .. expression
    .. " end end", { x = a, y = b, out = out })()
  local lua = assert(loadstring("local a, b = ... return " .. expression))
  for i = 0, n * n - 1 do
    local expected, got = lua(tonumber(a[i]), tonumber(b[i])), out[i]
    local same = expected == got or (expected ~= expected and got ~= got)
      or (tolerance and math.abs(expected - got) <= tolerance * math.max(1, math.abs(expected)))
    assert(same, ("%s for %s, %s: Lua %s, kernel %s"):format(expression, tostring(a[i]), tostring(b[i]), expected, got))
  end
end

local floats = { -2.5, -1, -0.25, 0.5, 1, 3, 7.75, 100 }
local integers = { -10, -7, -3, -2, -1, 1, 2, 3, 5, 10 }

describe("operators", function()
  for _, expression in ipairs { "a + b", "a - b", "a * b", "a / b", "a % b", "-a + b", "a * a - b * b" } do
    it(("mean Lua's for floats: %s"):format(expression), function() agree(expression, rg.f64, floats) end)
  end

  for _, expression in ipairs { "a + b", "a - b", "a * b", "a / b", "a % b", "-a", "math.floor(a / b)" } do
    it(("mean Lua's for integers: %s"):format(expression), function() agree(expression, rg.i32, integers) end)
  end

  it("compare as Lua does", function()
    for _, op in ipairs { "<", "<=", ">", ">=", "==", "~=" } do
      agree(("(a %s b) and 1 or 0"):format(op), rg.f64, floats)
      agree(("(a %s b) and 1 or 0"):format(op), rg.i32, integers)
    end
  end)

  it("join booleans, and choose", function()
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

  it("divide integers as floats", function()
    assert.equal(3.5, rg.kernel(function() return 7 / 2 end)())
    assert.equal(2, rg.kernel(function() return -7 % 3 end)())
  end)

  it("floor with // for all pairs of small integers, 0 by zero", function()
    local run = rg.kernel("function(a, b) return rg.i32(a) // rg.i32(b) end")
    local mod = rg.kernel("function(a, b) return rg.i32(a) % rg.i32(b) end")
    for a = -10, 10 do
      for b = -10, 10 do
        if b ~= 0 then
          assert.equal(math.floor(a / b), run(a, b))
          assert.equal(a % b, mod(a, b))
        end
      end
      assert.equal(0, run(a, 0))
    end
    assert.equal(-3, rg.kernel("function(a, b) return a // b end")(-5.5, 2))
  end)

  it("never trap on the smallest integer", function()
    local x = rg.field(rg.i32, 2)
    x[0], x[1] = -2 ^ 31, -1
    assert.equal(-2 ^ 31, rg.kernel("function() return x[0] // x[1] end", { x = x })())
    assert.equal(0, rg.kernel("function() return x[0] % x[1] end", { x = x })())
  end)

  it("wrap integers at their width", function()
    local x = rg.field(rg.i32, 3)
    x[0] = 2 ^ 31 - 1
    local b, c = rg.field(rg.u8, 1), rg.field(rg.i16, 1)
    b[0], c[0] = 250, 32767
    rg.kernel(function()
      x[1] = x[0] + 1
      x[2] = x[0] * 2
      b[0] = b[0] + 10
      c[0] = c[0] + 1
    end)()
    assert.equal(-2 ^ 31, x[1])
    assert.equal(-2, x[2])
    assert.equal(4, b[0])
    assert.equal(-32768, c[0])
  end)

  it("take the wider integer, at one width the unsigned", function()
    local u16, u8, out = rg.field(rg.u16, 1), rg.field(rg.u8, 1), rg.field(rg.i32, 2)
    u16[0], u8[0] = 1000, 255
    rg.kernel(function()
      out[0] = u16[0] - u8[0]
      out[1] = rg.u8(u8[0] - 100)
    end)()
    assert.equal(745, out[0])
    assert.equal(155, out[1])
  end)

  it("shift and mask as LuaJIT's bit library", function()
    local out = rg.field(rg.i32, 7)
    local run = rg.kernel([=[function(a, n)
      local x = rg.i32(a)
      out[0] = x << n
      out[1] = x >> n
      out[2] = x ~>> n
      out[3] = x & 0xff
      out[4] = x | 0x10
      out[5] = x ~ 0xff
      out[6] = ~x
    end]=], { out = out })
    for _, a in ipairs { 0, 1, -1, 12345, -98765 } do
      for _, n in ipairs { 0, 1, 5, 31 } do
        run(a, n)
        assert.same({ bit.lshift(a, n), bit.rshift(a, n), bit.arshift(a, n), bit.band(a, 0xff), bit.bor(a, 0x10),
          bit.bxor(a, 0xff), bit.bnot(a) }, require "support".list(out))
      end
    end
  end)

  it("know the bit library's functions", function()
    local out = rg.field(rg.i32, 4)
    local run = rg.kernel(function(a, n)
      out[0] = bit.rol(a, n)
      out[1] = bit.ror(a, n)
      out[2] = bit.bswap(a)
      out[3] = bit.bxor(a, n, 3)
    end)
    run(0x12345678, 8)
    assert.same({ bit.rol(0x12345678, 8), bit.ror(0x12345678, 8), bit.bswap(0x12345678), bit.bxor(0x12345678, 8, 3) },
      require "support".list(out))
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
end)

describe("math", function()
  local tolerances = { sqrt = 0, abs = 0, floor = 0, ceil = 0 }
  for _, name in ipairs { "sin", "cos", "tan", "exp", "sqrt", "abs", "floor", "ceil", "atan", "sinh", "cosh", "tanh",
    "deg", "rad" } do
    it(("has %s"):format(name), function()
      agree(("math.%s(math.abs(a)) + 0 * b"):format(name), rg.f64, floats, tolerances[name] or 1e-13)
    end)
  end

  it("has functions of a part of the line, and of two numbers", function()
    agree("math.asin(a) + math.acos(b)", rg.f64, { -1, -0.5, 0, 0.25, 1 }, 1e-13)
    agree("math.log(math.abs(a)) + math.log10(math.abs(b))", rg.f64, floats, 1e-13)
    agree("math.atan2(a, b)", rg.f64, floats, 1e-13)
    agree("math.fmod(a, b)", rg.f64, floats, 1e-13)
    agree("math.pow(math.abs(a), b)", rg.f64, { 0.5, 1, 2, 3 }, 1e-13)
    agree("math.max(a, b) - math.min(a, b)", rg.f64, floats)
    agree("math.max(a, b, 1) - math.min(a, b, -1)", rg.i32, integers)
  end)

  it("has pi and huge", function()
    assert.equal(math.pi, rg.kernel("function() return rg.f64(math.pi) end")())
    assert.equal(math.huge, rg.kernel(function() return math.huge end)())
  end)
end)

describe("conversions", function()
  it("go toward zero, saturate, and make 0 of NaN", function()
    local x, out = rg.field(rg.f64, 5), rg.field(rg.i32, 5)
    x[0], x[1], x[2], x[3], x[4] = 2.9, -2.9, 1e30, -1e30, 0 / 0
    rg.kernel(function() for i in rg.range(5) do out[i] = rg.i32(x[i]) end end)()
    assert.same({ 2, -2, 2 ^ 31 - 1, -2 ^ 31, 0 }, require "support".list(out))
    for i = 0, 4 do assert.equal(out[i], rg.i32(x[i])) end
  end)

  it("wrap between integers", function()
    local x, out = rg.field(rg.i32, 1), rg.field(rg.i32, 3)
    x[0] = -1
    rg.kernel(function()
      out[0] = rg.i32(rg.u8(x[0]))
      out[1] = rg.i32(rg.i8(x[0] + 129))
      out[2] = rg.i32(rg.u16(x[0]))
    end)()
    assert.same({ 255, -128, 65535 }, require "support".list(out))
  end)

  it("keep booleans boolean", function()
    local flag = rg.field(rg.bool, 4)
    rg.kernel(function() for i in rg.range(4) do flag[i] = i > 1 end end)()
    assert.same({ false, false, true, true }, require "support".list(flag))
    assert.is_true(rg.kernel(function() return flag[3] and not flag[0] end)())
  end)

  it("round to halves and singles when stored", function()
    local h, s = rg.field(rg.f16, 1), rg.field(rg.f32, 1)
    local third = 1 / 3
    rg.kernel(function()
      h[0] = third
      s[0] = third
    end)()
    assert.equal(rg.f16(third), h[0])
    assert.equal(rg.f32(third), s[0])
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
    assert.equal("f32", tostring(rg.f32))
  end)

  it("nest to any depth without taking ever longer to read", function()
    local x = rg.field(rg.f32, 4)
    local function run(text) return rg.kernel("function() return " .. text .. " end", { x = x })() end
    assert.is_true(run(("x[0] < 1 and "):rep(60) .. "x[1] < 1"))
    assert.equal(2, run(("rg.select(x[0] + "):rep(40) .. "x[1]" .. (" > 1, 2, 2)"):rep(40)))
    assert.equal(2, run(("(("):rep(40) .. "x[0]" .. (") > 1 ? 2 : 2)"):rep(40)))
  end)
end)
