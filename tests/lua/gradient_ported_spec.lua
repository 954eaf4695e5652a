-- gradient_ported_spec.lua - Taichi's own tests of reverse and forward mode, ported: the same
-- values from launches that correspond to those of Taichi.
local support = require "support"
local rg = support.rg

local D = rg.new { default_float = "f64" }

local function field(...)
  local extents = { ... }
  extents[#extents + 1] = { grad = true }
  return rg.field(rg.f32, unpack(extents))
end

local function near(expected, got, limit)
  assert.is_true(math.abs(got - expected) <= (limit or 1e-4) * math.max(1, math.abs(expected)),
    ("%.9g, not %.9g"):format(got, expected))
end

local function launches(text, captures)
  local k = rg.kernel("function()\n" .. text .. "\nend", captures)
  return function() k() end
end

describe("of a function Taichi's derivative at 0.234, backwards and forwards",
  function()
    local v = 0.234
    local functions = {
      { "x", 1 }, { "math.abs(-x)", 1 }, { "-x", -1 }, { "x * x", 2 * v }, { "x ^ 2", 2 * v },
      { "x * x * x", 3 * v ^ 2 }, { "x * x * x * x", 4 * v ^ 3 }, { "0.4 * x * x - 3", 0.8 * v },
      { "(x - 3) * (x - 1)", 2 * v - 4 }, { "(x - 3) * (x - 1) + x * x", 4 * v - 4 },
      { "math.tanh(x)", 1 - math.tanh(v) ^ 2 }, { "math.sin(x)", math.cos(v) },
      { "math.cos(x)", -math.sin(v) }, { "math.acos(x)", -1 / math.sqrt(1 - v * v) },
      { "math.asin(x)", 1 / math.sqrt(1 - v * v) }, { "1 / x", -1 / (v * v) },
      { "(x + 1) / (x - 1)", -2 / (v - 1) ^ 2 },
      { "(x + 1) * (x + 2) / ((x - 1) * (x + 3))",
        ((2 * v + 3) * (v - 1) * (v + 3) - (v + 1) * (v + 2) * (2 * v + 2))
          / ((v - 1) * (v + 3)) ^ 2 },
      { "math.sqrt(x)", 0.5 / math.sqrt(v) }, { "1 / math.sqrt(x)", -0.5 * v ^ -1.5 },
      { "math.exp(x)", math.exp(v) }, { "math.log(x)", 1 / v },
      { "math.min(x, 0)", 0 }, { "math.min(x, 1)", 1 }, { "math.min(0, x)", 0 },
      { "math.min(1, x)", 1 }, { "math.max(x, 0)", 1 }, { "math.max(x, 1)", 0 },
      { "math.max(0, x)", 1 }, { "math.max(1, x)", 0 },
      { "math.atan2(0.4, x)", -0.4 / (0.16 + v * v) },
      { "math.atan2(x, 0.4)", 0.4 / (0.16 + v * v) },
      { "0.4 ^ x", 0.4 ^ v * math.log(0.4) }, { "x ^ 0.4", 0.4 * v ^ -0.6 },
      { "x % 3", 1 },
    }
    for _, row in ipairs(functions) do
      it(row[1], function()
        local x, y = D.field(D.f64, 1, { grad = true }), D.field(D.f64, 1, { grad = true })
        local k = D.kernel("function() for i in rg.range(1) do local x = x[i]\ny[i] = " .. row[1]
          .. "\nend end", { x = x, y = y })
        x[0], y.grad[0] = v, 1
        k()
        k:grad()
        near(row[2], x.grad[0], 1e-9)
        x.dual[0] = 1
        D.jvp(function() k() end)
        near(row[2], y.dual[0], 1e-9)
      end)
    end
  end)

describe("Taichi's loops in an iteration", function()
  local n = 10
  -- f by a, or by b, as loops over j < c[i] make it.
  local function assert_loop(body, expect, values)
    local a, b, c, f = field(n), field(n), rg.field(rg.i32, n), field(n)
    a:fill(values[1])
    b:fill(values[2])
    for i = 0, n - 1 do c[i] = i end
    local run = launches("for i in rg.range(n) do\n" .. body .. "\nend",
      { a = a, b = b, c = c, f = f, n = n })
    rg.grad(f, run)
    local by_a, by_b = {}, {}
    for i = 0, n - 1 do by_a[i], by_b[i] = a.grad[i], b.grad[i] end
    for i = 0, n - 1 do
      local value, slope_a, slope_b = expect(i)
      assert.equal(value, f[i])
      near(slope_a, by_a[i], 1e-5)
      near(slope_b, by_b[i], 1e-5)
    end
    for number, slopes in ipairs { by_a, by_b } do
      a.dual:fill(number == 1 and 1 or 0)
      b.dual:fill(number == 2 and 1 or 0)
      rg.jvp(run)
      for i = 0, n - 1 do near(slopes[i], f.dual[i], 1e-5) end
    end
  end

  it("sum the same number", function()
    assert_loop("local s = 1.0 for _ = 1, c[i] do s = s + a[i] end f[i] = s",
      function(i) return 3 * i + 1, i, 0 end, { 3, 0 })
  end)

  it("compute a power", function()
    assert_loop("local s = 1.0 for _ = 1, c[i] do s = s * a[i] end f[i] = s",
      function(i) return 3 ^ i, i * 3 ^ (i - 1), 0 end, { 3, 0 })
  end)

  it("compute Fibonacci's numbers from two variables that are exchanged", function()
    local fib = { [-1] = 0, [0] = 1 }
    for i = 1, n do fib[i] = fib[i - 1] + fib[i - 2] end
    assert_loop("local p, q = a[i], b[i] for _ = 1, c[i] do p, q = q, p + q end f[i] = q",
      function(i) return fib[i], i == 0 and 0 or fib[i - 1], fib[i] end, { 0, 1 })
  end)

  it("weight with an integer that grows", function()
    assert_loop([[local weight, s = 1, 0.0
      for _ = 1, math.min(c[i], 5) do
        s = s + weight * a[i] + b[i]
        weight = weight * 10
      end
      f[i] = s]], function(i)
      local m = math.min(i, 5)
      local t = (10 ^ m - 1) / 9
      return t + m, t, m
    end, { 1, 1 })
  end)

  it("follow each other, where the second uses what the first made", function()
    assert_loop([[local weight, s = 1.0, 0.0
      for _ = 1, c[i] do weight = weight * a[i] end
      for _ = 1, 2 * c[i] do s = s + (weight + b[i]) end
      f[i] = s]], function(i)
      return 2 * i * (1 + 2 ^ i), 2 * i * i * 2 ^ (i - 1), 2 * i
    end, { 2, 1 })
  end)

  it("carry values that several statements change, through f64 and back", function()
    assert_loop([[local weight, s = 2.0, 0.0
      for _ = 1, c[i] do
        s = s + (weight + 1) * a[i]
        weight = weight + 1
        weight = weight * 4
        weight = rg.f32(rg.f64(weight))
      end
      f[i] = s]], function(i)
      local weight, sum = 2, 0
      for _ = 1, i do
        sum = sum + weight + 1
        weight = (weight + 1) * 4
      end
      return 2 * sum, sum, 0
    end, { 2, 1 })
  end)

  it("set an element that loops added to, which discards the sum", function()
    local a, p = field(n), field(n)
    for i = 0, n - 1 do a[i] = i end
    local k = rg.kernel(function()
      for i in rg.range(n) do
        local value = a[i]
        for _ = 1, 2 do p[i] = p[i] + i end
        p[i] = value * i
      end
    end)
    k()
    p.grad:fill(1)
    k:grad()
    for i = 0, n - 1 do
      assert.equal(i * i, p[i])
      assert.equal(i, a.grad[i])
    end
  end)

  it("read and add at indices that a loop computes", function()
    local m = 10
    local a, b, f = field(m), field(m), field(1)
    a:fill(1)
    local k = rg.kernel(function()
      for _ in rg.range(5) do
        local p, q = 0, 1
        for _ = 1, 5 do
          p, q = q, p + q
          b[q] = b[q] + a[q]
        end
      end
      for i in rg.range(m) do f[0] = f[0] + b[i] end
    end)
    rg.grad(f, function() k() end)
    for i = 0, m - 1 do
      local is_one = i == 1 or i == 2 or i == 3 or i == 5 or i == 8
      assert.equal(is_one and 5 or 0, a.grad[i])
    end
  end)

  it("read at an index that counts up", function()
    local a, b, f = field(5), field(5), field(1)
    for i = 0, 4 do a[i] = i end
    local k = rg.kernel(function()
      for i in rg.range(5) do
        local p = 0
        for _ = 1, 5 do
          b[i] = b[i] + a[p] ^ 2
          p = p + 1
        end
      end
      for i in rg.range(5) do f[0] = f[0] + b[i] end
    end)
    rg.grad(f, function() k() end)
    for i = 0, 4 do near(2 * i * 5, a.grad[i]) end
  end)

  it("are nested in two parallel ones", function()
    local a, b, f = field(6), field(6), field(6, 3)
    a:fill(2)
    b:fill(1)
    local k = rg.kernel(function()
      for i, j in rg.range(6, 3) do
        local weight, s = 1.0, 0.0
        for _ = 1, i + j do weight = weight * a[i] end
        for _ = 1, 2 * (i + j) do s = s + (weight + b[i]) end
        f[i][j] = s
      end
    end)
    rg.grad(f, function() k() end)
    for i = 0, 5 do
      local by_a, by_b = 0, 0
      for j = i, i + 2 do by_a, by_b = by_a + 2 * j * j * 2 ^ (j - 1), by_b + 2 * j end
      near(by_a, a.grad[i])
      near(by_b, b.grad[i])
    end
  end)

  it("multiply neighbours, and add others", function()
    local size, m = 8, 3
    local a, b, f = field(size), field(2 * size), field(size - m, size)
    a:fill(2)
    for i = 0, 2 * size - 1 do b[i] = i end
    local k = rg.kernel(function()
      for i, l in rg.range(size - m, size) do
        local weight, s = 1.0, 0.0
        for j = 0, m - 1 do weight = weight * a[i + j] end
        for j = 0, 2 * m - 1 do s = s + (weight + b[2 * i + j]) end
        f[i][l] = s
      end
    end)
    rg.grad(f, function() k() end)
    for i = 0, size - 1 do
      local times = math.min(size - i - 1, i + 1, m) * size
      near(2 * m * times * 2 ^ (m - 1), a.grad[i])
      near(times, b.grad[2 * i])
      near(times, b.grad[2 * i + 1])
    end
  end)
end)

describe("Taichi's mixtures of loops and statements", function()
  -- Adds to y[0] in `count` parallel iterations; its value and its derivative by x at `at`.
  local function assert_mixture(count, body, at, value, slope)
    local x, y = field(1), field(1)
    x[0] = at
    rg.grad(y, launches("for q in rg.range(count) do\n" .. body .. "\nend",
      { x = x, y = y, count = count }))
    assert.equal(value, y[0])
    assert.equal(slope, x.grad[0])
  end
  local add, sine = "y[0] = y[0] + x[0]\n", "math.sin(x[0])"
  local function loop(k, body) return ("for _ = 1, %d do\n%send\n"):format(k, body) end

  it("nothing at all", function()
    local loss = field(1)
    local k = rg.kernel(function() for _ in rg.range(5) do for _ = 1, 5 do end end end)
    assert.equal(0, rg.grad(loss, function() k() end))
  end)

  it("a statement, then a loop", function()
    assert_mixture(5, "y[0] = y[0] + " .. sine .. "\n"
      .. loop(2, "y[0] = y[0] + " .. sine .. " + 1\n"), 0, 10, 15)
  end)

  it("variables of an inner loop", function()
    assert_mixture(2, loop(3, "local s, t = 0.0, 0.0\n" .. loop(3, "s = s + (" .. sine
      .. " + 1)\nt = t + " .. sine .. "\n") .. "y[0] = y[0] + (s + t)\n"), 0, 18, 36)
  end)

  it("variables of two inner loops", function()
    assert_mixture(2, loop(2, "local s = 0.0\n" .. loop(3, "local u = 0.0\ns = s + (" .. sine
      .. " + 1)\n" .. loop(2, "u = u + " .. sine .. "\n") .. "y[0] = y[0] + u\n")
      .. "y[0] = y[0] + s\n"), 0, 12, 36)
  end)

  it("stacked loops with variables", function()
    local one = loop(3, "local s = 0.0\n" .. loop(3, "s = s + (" .. sine .. " + 1)\n")
      .. "y[0] = y[0] + s\n")
    assert_mixture(2, "y[0] = y[0] + " .. sine .. "\n" .. one .. one, 0, 36, 38)
    local plain = loop(3, loop(3, "y[0] = y[0] + (" .. sine .. " + 1)\n"))
    assert_mixture(2, "y[0] = y[0] + " .. sine .. "\n" .. plain .. one .. plain, 0, 54, 56)
  end)

  it("loops of millions of iterations", function()
    assert_mixture(5, loop(2000, loop(100, "y[0] = y[0] + (" .. sine .. " + 1)\n")), 0, 1e6, 1e6)
  end)

  it("adjacent loops, one to four deep", function()
    assert_mixture(2, loop(3, add) .. loop(3, add), 1, 12, 12)
    assert_mixture(2, loop(3, add) .. loop(3, add .. loop(2, add)) .. loop(3, add), 1, 30, 30)
    assert_mixture(2, loop(3, add) .. loop(3, loop(2, add)) .. loop(3, loop(2, loop(2, add))),
      1, 42, 42)
    assert_mixture(2, loop(3, add) .. loop(3, loop(2, add) .. loop(2, add .. loop(2, add)))
      .. loop(3, loop(2, loop(2, add))), 1, 78, 78)
  end)

  it("parallel loops in sequence", function()
    local x, y = field(1), field(1)
    x[0] = 1
    local part = "for q in rg.range(2) do\n" .. loop(3, add) .. loop(3, add) .. "end\n"
    rg.grad(y, launches(part .. part, { x = x, y = y }))
    assert.same({ 24, 24 }, { y[0], x.grad[0] })
  end)

  it("loops whose length is an index", function()
    local x, y = field(10), field(10)
    x:fill(1)
    local k = rg.kernel(function()
      for j in rg.range(10) do
        for _ = 1, j do y[j] = y[j] + x[j] end
        for _ = 1, 3 do for _ = 1, j do y[j] = y[j] + x[j] end end
        for _ = 1, 3 do for _ = 1, 2 do for _ = 1, j do y[j] = y[j] + x[j] end end end
      end
    end)
    rg.grad(y, function() k() end)
    for j = 0, 9 do assert.same({ 10 * j, 10 * j }, { y[j], x.grad[j] }) end
  end)

  it("a write, then additions to it in a loop, and the other way round", function()
    local x, y = field(1), field(1)
    local first = rg.kernel(function()
      for i in rg.range(1) do
        y[i] = x[i] * 42
        for _ = 1, 3 do y[i] = y[i] + x[i] end
      end
    end)
    rg.grad(y, function() first() end)
    assert.equal(45, x.grad[0])
    local second = rg.kernel(function()
      for i in rg.range(1) do
        for _ = 1, 3 do y[i] = y[i] + x[i] end
        y[i] = y[i] + x[i] * 42 - x[i] * 5
      end
    end)
    rg.grad(y, function() second() end)
    assert.equal(40, x.grad[0])
  end)
end)

describe("Taichi's branches", function()
  local function branch(text, n, values, expected, captures)
    local x, y = field(n), field(n)
    for i = 0, n - 1 do x[i] = values[i + 1] end
    captures = captures or {}
    captures.x, captures.y, captures.n = x, y, n
    local run = launches("for i in rg.range(n) do\n" .. text .. "\nend", captures)
    rg.grad(y, run)
    for i = 0, n - 1 do assert.equal(expected[i + 1], x.grad[i]) end
    x.dual:fill(1)
    y.dual:fill(0)
    rg.jvp(run)
    for i = 0, n - 1 do assert.equal(expected[i + 1], y.dual[i]) end
  end

  it("without else", function() branch("if x[i] > 0 then y[i] = x[i] end", 1, { 1 }, { 1 }) end)

  it("with else, on elements and on variables", function()
    branch("if x[i] > 0 then y[i] = x[i] else y[i] = 2 * x[i] end", 2, { 0, 1 }, { 2, 1 })
    branch("local t = x[i] if t > 0 then y[i] = t else y[i] = 2 * t end", 2, { 0, 1 }, { 2, 1 })
  end)

  it("that guard a division", function()
    branch("local t = 0.0 if x[i] > 0 then t = 1 / x[i] end y[i] = t", 2, { 0, 2 }, { 0, -0.25 })
  end)

  it("by parity of the index", function()
    branch("y[i] = y[i] + rg.select(i % 2 == 1, x[i], -x[i])", 4, { 1, 2, 3, 4 },
      { -1, 1, -1, 1 })
  end)

  it("nested", function()
    local x, y, z = field(20), field(20), field(20)
    z:fill(1)
    for i = 0, 19 do x[i] = i % 4 end
    local run = launches([[for i in rg.range(20) do
      if x[i] < 2 then
        if x[i] == 0 then y[i] = 0 else y[i] = z[i] * 1 end
      elseif x[i] == 2 then y[i] = z[i] * 2 else y[i] = z[i] * 3 end
    end]], { x = x, y = y, z = z })
    rg.grad(y, run)
    for i = 0, 19 do assert.same({ i % 4, i % 4 }, { y[i], z.grad[i] }) end
  end)
end)

describe("Taichi's other cases", function()
  it("sums of squares, of a whole loop", function()
    local x, loss = field(16), field(1)
    for i = 0, 15 do x[i] = i end
    local k = rg.kernel(function() for i in rg.range(16) do loss[0] = loss[0] + x[i] ^ 2 end end)
    assert.equal(1240, rg.grad(loss, function() k() end))
    for i = 0, 15 do assert.equal(2 * i, x.grad[i]) end
  end)

  it("chains of elements that each step overwrites, whose gradients end as 0", function()
    local x, a, b, c, d, e = field(1), field(1), field(1), field(1), field(1), field(1)
    local k = rg.kernel(function()
      a[0] = x[0]
      b[0] = a[0] * 2
      c[0] = b[0] * 3
      d[0] = c[0] * 4
      e[0] = d[0] * 5
    end)
    x[0] = 1
    rg.grad(e, function() k() end)
    assert.same({ 120, 0, 0, 0, 0 }, { x.grad[0], a.grad[0], b.grad[0], c.grad[0], d.grad[0] })
  end)

  it("f32 from f64, and f64 from f32", function()
    for _, pair in ipairs { { rg.f32, rg.f64 }, { rg.f64, rg.f32 } } do
      local loss, x = rg.field(pair[1], 1, { grad = true }), rg.field(pair[2], 1, { grad = true })
      local k = rg.kernel(function() loss[0] = x[0] end)
      rg.grad(loss, function() k() end)
      assert.equal(1, x.grad[0])
    end
  end)

  it("fractional parts", function()
    local x, y, loss = field(10), field(10), field(1)
    local function fraction(v)
      if v > 0 then return v - math.floor(v) end
      return v - math.ceil(v)
    end
    local k = rg.kernel(function()
      for i in rg.range(10) do y[i] = fraction(x[i]) ^ 2 end
      for i in rg.range(10) do loss[0] = loss[0] + y[i] end
    end)
    for i = 0, 9 do x[i] = 0.37 * i - 1.5 end
    rg.grad(loss, function() k() end)
    for i = 0, 9 do near(2 * fraction(0.37 * i - 1.5), x.grad[i]) end
  end)

  it("matrices with computed indices", function()
    local m, n = rg.field(rg.mat2, 5, { grad = true }), rg.field(rg.mat2, 5, { grad = true })
    local loss = field(1)
    local k = rg.kernel(function()
      for i in rg.range(5) do
        for r = 0, 1 do
          for c = 0, 1 do
            m[i][r][c] = (r + 1) * (c + 1) * n[i][r][c]
            loss[0] = loss[0] + m[i][r][c]
          end
        end
      end
    end)
    rg.grad(loss, function() k() end)
    for i = 0, 4 do
      local g = n.grad[i]
      assert.same({ 1, 2, 2, 4 }, { g[0][0], g[0][1], g[1][0], g[1][1] })
    end
  end)

  it("directions of one element, of two, and of one field of two", function()
    local x, loss = field(5), field(5)
    for i = 0, 4 do x[i] = i end
    local double = rg.kernel(function() loss[1] = loss[1] + 2 * x[3] end)
    x.dual[3] = 1
    rg.jvp(function() double() end)
    assert.equal(2, loss.dual[1])
    local product = rg.kernel(function() loss[2] = loss[2] + x[3] * x[4] end)
    x.dual[4] = 1
    rg.jvp(function() product() end)
    assert.equal(7, loss.dual[2])
    local a, b, y = field(5), field(5), field(2)
    for i = 0, 4 do a[i], b[i] = i, i end
    local mixed = rg.kernel(function()
      y[0] = 3 * b[1] ^ 2 + 5 * a[3] ^ 2
      y[1] = 4 * b[2] ^ 2 + 6 * a[4] ^ 2
    end)
    for number, expected in ipairs { { 30, 48 }, { 6, 16 } } do
      a.dual:fill(number == 1 and 1 or 0)
      b.dual:fill(number == 2 and 1 or 0)
      rg.jvp(function() mixed() end)
      assert.same(expected, { y.dual[0], y.dual[1] })
    end
  end)

  it("stopped gradients, of all loops and of one of two", function()
    local x, loss = field(128), field(1)
    for i = 0, 127 do x[i] = i end
    local none = rg.kernel(function()
      for i in rg.range(128) do loss[0] = loss[0] + rg.stop(x[i]) ^ 2 end
    end)
    rg.grad(loss, function() none() end)
    assert.equal(0, x.grad[100])
    local half = rg.kernel(function()
      for i in rg.range(128) do loss[0] = loss[0] + rg.stop(x[i]) ^ 2 end
      for i in rg.range(128) do loss[0] = loss[0] + x[i] ^ 2 end
    end)
    rg.grad(loss, function() half() end)
    assert.equal(200, x.grad[100])
  end)

  it("kernels that are checked against difference quotients", function()
    local x, y = D.field(D.dvec3, 2, 2, { grad = true }), D.field(D.f64, 1, { grad = true })
    for k = 0, 3 do x[math.floor(k / 2)][k % 2] = { 3 * k + 1, 3 * k + 2, 3 * k + 3 } end
    local k = D.kernel(function()
      y[0] = x[0][0].x + math.cos(x[1][0].y) + x[1][1].z
    end)
    assert.is_true(D.check_gradient(y, function() k() end, { x }).error < 1e-6)
  end)

  it("random numbers, which Taichi refuses", function()
    local x, loss = field(1), field(1)
    local k = rg.kernel(function() loss[0] = x[0] * rg.random() end)
    x[0] = 1
    rg.grad(loss, function() k() end)
    assert.equal(loss[0], x.grad[0])
  end)

  it("indices and remainders of integers have no derivative and are no error", function()
    local x, y = rg.field(rg.i32, 1), field(1)
    local k = rg.kernel(function() y[0] = x[0] % 3 end)
    rg.grad(y, function() k() end)
    assert.equal(0, y[0])
  end)
end)

describe("Taichi's replaced gradients", function()
  local x, total, add
  before_each(function()
    x, total = field(128), field(1)
    add = rg.kernel(function(by)
      for i in rg.range(128) do total[0] = total[0] + x[i] * by end
    end)
  end)

  local function twice(by)
    add(by)
    add(by)
  end

  it("are called in place of the adjoints of what is launched, with its arguments", function()
    local replaced = rg.adjoint(twice, function(by) add:grad(by) end)
    rg.grad(total, function() replaced(4) end)
    assert.equal(4, x.grad[0])
    rg.grad(total, function() replaced(4) end, { checkpoints = 2 })
    assert.equal(4, x.grad[0])
  end)

  it("may do nothing, next to a launch that has an adjoint", function()
    local without = rg.adjoint(twice, function() end)
    rg.grad(total, function()
      without(4)
      add(5)
    end)
    assert.equal(5, x.grad[0])
  end)

  it("are not called outside rg.grad", function()
    local replaced = rg.adjoint(function(by)
      add(by)
      return by, nil, 3
    end, error)
    x:fill(1)
    assert.same({ 4, nil, 3 }, { replaced(4) })
    assert.equal(512, total[0])
  end)
end)
