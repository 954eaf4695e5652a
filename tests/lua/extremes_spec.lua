-- extremes_spec.lua - the limits of integer types, and trees with more than 2^32 cells.
-- (behaviours 90 and 91 of Taichi's tests) luacheck: ignore 512
local support = require "support"
local rg, failure = support.rg, support.failure

local high, low = 9223372036854775807LL, -9223372036854775807LL - 1LL

describe("a loop that ends where its type ends", function()
  local function iterations(head, captures, ...)
    return rg.kernel("function(a: i64, b: i64) local n = 0 " .. head
      .. " do n += 1 end return n end", captures)(...)
  end

  it("does not wrap, up or down, at 32 bits", function()
    assert.equal(8, iterations("for k = 2147483640, 2147483647", nil, 0, 0))
    assert.equal(9, iterations("for k = -2147483640, -2147483648, -1", nil, 0, 0))
    assert.equal(2, iterations("for k = 2147483000, 2147483647, 400", nil, 0, 0))
    assert.equal(8, iterations("for k in rg.range({ -2147483648, -2147483640 })", nil, 0, 0))
    assert.equal(7, iterations("for k in rg.range({ 2147483640, 2147483647 })", nil, 0, 0))
  end)

  it("does not wrap, up or down, at 64 bits", function()
    assert.equal(8, iterations("for k = a, b", nil, high - 7, high))
    assert.equal(3, iterations("for k = a, b, -3", nil, low + 8, low))
    assert.equal(2, iterations("for k = 0LL, b, a", nil, high, high))
    assert.equal(7, iterations("for k in rg.range({ a, b })", nil, high - 7, high))
    assert.equal(7, iterations("for k in rg.range({ a, b }):serial()", nil, low, low + 7))
    assert.equal(21, iterations("for k, l in rg.range({ a, b }, 3)", nil, low, low + 7))
    assert.equal(0, iterations("for k in rg.range({ a, b })", nil, high, low))
  end)

  it("counts to the limits of narrow and unsigned types", function()
    assert.equal(8, rg.kernel "function(a: i8) local n = 0 for k = a, rg.i8(127) do n += 1 end \z
      return n end"(120))
    assert.equal(6, rg.kernel "function(a: u32) local n = 0 for k = a, a + 5 do n += 1 end \z
      return n end"(4294967290))
    assert.equal(6, rg.kernel "function(a: u64) local n = 0 for k = a, a + 5 do n += 1 end \z
      return n end"(18446744073709551610ULL))
  end)

  it("gives indices of 64 bits where its bounds are such", function()
    local n, last = rg.kernel [[function(a: i64)
      local n, last = 0, rg.i64(0)
      for k in rg.range({ a, a + 10 }) do
        n += k - a
        last = math.max(last, k)
      end
      return n, last
    end]](4294967290)
    assert.equal(45LL, n)
    assert.equal(4294967299LL, last)
  end)
end)

describe("integers of 64 bits", function()
  local odd = 9007199254740993LL -- no double

  it("pass through arguments, captures, results, locals and reductions exactly", function()
    local captured = -odd
    local a, b, c, d = rg.kernel(function(v)
      local sum, most = rg.i64(0), 18446744073709551600ULL
      for i in rg.range(10) do
        sum = sum + odd
        most = math.max(most, 18446744073709551615ULL - rg.u64(i))
      end
      return v, captured, sum, most
    end)(odd)
    assert.is_true(a == odd and b == -odd and c == 10 * odd and d == 18446744073709551615ULL)
  end)

  it("pass through fields, and through bulk reads and writes from Lua", function()
    for _, values in ipairs { { rg.i64, high, low, odd }, { rg.u64, 18446744073709551615ULL, 0ULL,
      9223372036854775809ULL } } do
      local x, y = rg.field(values[1], 3), rg.field(values[1], 3)
      for i = 0, 2 do x[i] = values[i + 2] end
      y:from_table(x:to_table())
      rg.kernel("function() for i in rg.range(3) do y[i] = y[i] ~ 1 end end", { y = y })()
      for i = 0, 2 do
        local bit = require "bit"
        assert.is_true(x[i] == values[i + 2] and y[i] == bit.bxor(values[i + 2], 1))
      end
      y:copy_from(x)
      x:fill(values[4])
      assert.is_true(y[0] == values[2] and x[0] == values[4] and x:to_table()[3] == values[4])
    end
  end)

  it("divide, and reach their limits, as narrower ones do", function()
    local k = rg.kernel "function(a: i64, b: i64) return a // b, a % b, math.floor(a / b), \z
      math.ceil(a / b) end"
    local function is(a, b, ...)
      local given, want = { k(a, b) }, { ... }
      for i = 1, 4 do
        assert.is_true(given[i] == want[i], ("%s %s: %s"):format(tostring(a), tostring(b),
          tostring(given[i])))
      end
    end
    is(low, -1LL, low, 0LL, low, low)
    is(-high, 10LL, -922337203685477581LL, 3LL, -922337203685477581LL, -922337203685477580LL)
    is(7LL, 0LL, 0LL, 0LL, 0LL, 0LL)
    is(odd, -2LL, -4503599627370497LL, -1LL, -4503599627370497LL, -4503599627370496LL)
  end)

  it("refuse numbers that they cannot hold", function()
    local x = rg.field(rg.u64, 1)
    assert.equal("value.fit", failure(function() x[0] = -1 end).code)
    assert.equal("value.fit", failure(rg.kernel "function(a: i64) return a end",
      18446744073709551615ULL).code)
    assert.equal("value.fit", failure(rg.kernel "function(a: u64) return a end", -1LL).code)
    assert.equal("value.fit", failure(rg.kernel "function(a: i64) return a end", 1.5).code)
  end)
end)

describe("a tree with more cells than 32 bits count", function()
  local function line()
    local x = rg.field(rg.i32)
    local block = rg.root:pointer("i", 2 ^ 28)
    block:dense("i", 64):place(x)
    return x, block
  end

  it("is read, written, looped over and counted at its end", function()
    local x, block = line()
    local n = 2 ^ 34
    x[n - 1], x[2 ^ 33 + 7] = 5, 3
    assert.same({ n, 5, 0, 2 }, { #x, x[n - 1], x[n - 2], block:count() })
    local sum, last, count = rg.kernel(function()
      local s, at, visits = 0, rg.i64(0), 0
      for i in x:active() do
        visits = visits + 1
        if x[i] > 0 then
          s = s + x[i]
          at = math.max(at, i)
        end
      end
      return s, at, visits
    end)()
    assert.same({ 8, 128 }, { sum, count })
    assert.equal(17179869183LL, last)
  end)

  it("takes indices that a kernel computes in 64 bits, and checks bounds", function()
    local x = line()
    local k = rg.kernel [[function(x, a: i64)
      for i in rg.range({ a, a + 5 }) do x[i] = i % 1000 end
      return x[a + 4], x[-1], x[17179869184], #x
    end]]
    local inside, before, past, length = k(x, 2 ^ 33 + 100)
    assert.same({ 696, 0, 0 }, { inside, before, past })
    assert.equal(17179869184LL, length)
    assert.same({ 692, 696, 0 }, { x[2 ^ 33 + 100], x[2 ^ 33 + 104], x[2 ^ 33 + 105] })
  end)

  it("has neighbours across its blocks", function()
    local x = line()
    x[2 ^ 33 - 1], x[2 ^ 33], x[2 ^ 34 - 1] = 1, 10, 100
    local sum = rg.kernel [[function(x)
      local s = 0
      for i in x:active() do s += x[i - 1] * 2 + x[i + 1] end
      return s
    end]](x)
    assert.equal(3 * 11 + 100, sum) -- of the last, no right neighbour is active
  end)

  it("may have several axes", function()
    local y = rg.field(rg.f32)
    rg.root:pointer("ij", 2 ^ 14):pointer("ij", 2 ^ 10):dense("ij", 16):place(y)
    y[2 ^ 27][2 ^ 28 - 1] = 4
    local s, i, j = rg.kernel [[function(y)
      local s, a, b = 0.0, rg.i64(0), rg.i64(0)
      for i, j in y:active() do
        if y[i][j] > 0 then
          s += y[i][j]
          a = math.max(a, i)
          b = math.max(b, j)
        end
      end
      return s, a, b
    end]](y)
    assert.equal(4, s)
    assert.is_true(i == 134217728LL and j == 268435455LL)
  end)
end)
