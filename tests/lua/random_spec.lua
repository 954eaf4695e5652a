-- random_spec.lua - rg.random, rg.randn, math.random in kernels and outside: what they draw, that
-- only the seed and the program determine it, and statistical tests. The same expectations hold for
-- arch = "lua", whose numbers are the same.
local support = require "support"
local random = require "regolith.random"
local rg, failure = support.rg, support.failure

local function text_of(x)
  local list = {}
  for i = 0, #x - 1 do list[#list + 1] = tostring(x[i]) end
  return table.concat(list, " ")
end

-- Returns a field of `n` elements of type T after running `body`, which sets x[i], with a seed.
local function drawn(T, n, body, seed)
  local x = rg.field(T, n)
  rg.seed(seed or 1)
  rg.kernel(("function() for i in rg.range(n) do %s end end"):format(body), { x = x, n = n })()
  return x
end

describe("the generator", function()
  it("gives the published answers of Philox4x32-10", function()
    assert.equal(0xe169c58d6627e8d5ULL, random.bits(0ULL, 0LL, 0LL))
    assert.equal(0x9b00dbd8bc57ac4cULL, random.bits(0ULL, 0LL, 1LL))
    local key, index = 0x299f31d0a4093822ULL, 0x85a308d3243f6a88ULL
    assert.equal(0x94fdccebd16cfe09ULL, random.bits(key, index, 0x06e0e6882633145cULL))
    assert.equal(0x24126ea15001e420ULL, random.bits(key, index, 0x06e0e6882633145dULL))
  end)

  it("is the same in compiled kernels and in Lua", function()
    local x = rg.field(rg.u64, 40)
    rg.seed(12345)
    rg.kernel(function() for i in rg.range(40) do x[i] = rg.random(rg.u64) end end)()
    -- the key of stream 0: see llvm_bc/random.c
    local function mix(z)
      z = bit.bxor(z, bit.rshift(z, 30)) * 0xbf58476d1ce4e5b9ULL
      z = bit.bxor(z, bit.rshift(z, 27)) * 0x94d049bb133111ebULL
      return bit.bxor(z, bit.rshift(z, 31))
    end
    local key = mix(mix(12345 + 0x9e3779b97f4a7c15ULL))
    for i = 0, 39 do assert.equal(random.bits(key, i + 0LL, 0LL), x[i]) end
    -- streams of global loops are counted separately
    local all = rg.kernel(function()
      for i in rg.range(40):global() do x[i] = rg.random(rg.u64) end
    end)
    key = mix(mix(bit.bxor(12345, 0xd6e8feb86659fd93ULL) + 0x9e3779b97f4a7c15ULL))
    all()
    for i = 0, 39 do assert.equal(random.bits(key, i + 0LL, 0LL), x[i]) end
    rg.seed(12345)
    all()
    for i = 0, 39 do assert.equal(random.bits(key, i + 0LL, 0LL), x[i]) end
  end)
end)

describe("random numbers in a kernel", function()
  it("are of the requested type, in its range", function()
    local k = rg.kernel(function()
      local least, most = 1.0, 0.0
      for i in rg.range(1000) do
        local v = rg.random(rg.f16)
        least = math.min(least, rg.f32(v))
        most = math.max(most, rg.f32(v))
      end
      return least, most
    end)
    local least, most = k()
    assert.is_true(least >= 0 and most < 1 and most > 0.98 and least < 0.02)
    assert.same({ true, false }, (function()
      local x, seen = drawn(rg.bool, 50, "x[i] = rg.random(rg.bool)"), {}
      for i = 0, 49 do seen[x[i] and 1 or 2] = x[i] end
      return seen
    end)())
  end)

  it("without a type have the float type of their use", function()
    local x = drawn(rg.f64, 20, "x[i] = math.random()")
    local y = drawn(rg.f64, 20, "x[i] = rg.random(rg.f64)")
    assert.equal(text_of(y), text_of(x))
    assert.equal(text_of(drawn(rg.f32, 20, "x[i] = rg.random(rg.f32)")),
      text_of(drawn(rg.f32, 20, "x[i] = rg.random()")))
    assert.equal("type.float_to_int", failure(drawn, rg.i32, 4, "x[i] = math.random()").code)
  end)

  it("within bounds include both bounds if they are integers", function()
    for _, case in ipairs {
      { rg.i32, "math.random(6)", 1, 6 }, { rg.i32, "math.random(-2, 2)", -2, 2 },
      { rg.u8, "rg.random(rg.u8, 250, 255)", 250, 255 },
      { rg.i8, "rg.random(rg.i8, -128, -126)", -128, -126 },
      { rg.i32, "rg.random(rg.i32, 7, 7)", 7, 7 },
    } do
      local x, seen = drawn(case[1], 400, "x[i] = " .. case[2]), {}
      for i = 0, 399 do seen[x[i]] = true end
      for v = case[3], case[4] do assert.is_true(seen[v], case[2] .. " never gave " .. v) end
      for v in pairs(seen) do assert.is_true(v >= case[3] and v <= case[4]) end
    end
    assert.equal(3, drawn(rg.i32, 1, "x[i] = rg.random(rg.i32, 3, 1)")[0]) -- none: the first
    local x = drawn(rg.f32, 400, "x[i] = rg.random(rg.f32, -2, 3)")
    for i = 0, 399 do assert.is_true(x[i] >= -2 and x[i] < 3) end
    local big = drawn(rg.i64, 100, "x[i] = rg.random(rg.i64, -9000000000000000000, "
      .. "9000000000000000000)")
    for i = 0, 99 do assert.is_true(big[i] >= -9000000000000000000LL) end
  end)

  it("fill vectors and matrices", function()
    local v = drawn(rg.vec3, 10, "x[i] = rg.random(rg.vec3)")
    local x = drawn(rg.f32, 10, "x[i] = rg.random(rg.f32)")
    for i = 0, 9 do
      assert.equal(x[i], v[i].x) -- the first word of an iteration
      assert.is_true(v[i].x ~= v[i].y and v[i].y ~= v[i].z)
    end
    local w = drawn(rg.ivec2, 50, "x[i] = rg.random(rg.ivec2, rg.ivec2(0, 10), 12)")
    for i = 0, 49 do
      assert.is_true(w[i].x >= 0 and w[i].x <= 12 and w[i].y >= 10 and w[i].y <= 12)
    end
  end)

  it("do not depend on threads, tasks or the order of a list", function()
    local function run(options)
      local r = rg.new(options)
      local x, y = r.field(r.f32), r.field(r.i32, 5000)
      r.root:pointer("ij", 32):dense("ij", 4):place(x)
      for k = 1, 40 do x[(k * 37) % 128][(k * k) % 128] = 1 end
      local k = r.kernel([[function()
        local sum = 0
        for i in rg.range(5000) do y[i] = math.random(1000000) end
        for i, j in x:active() do
          x[i][j] = rg.random(rg.f32, 1, 2)
          if math.random() < 0.1 then x[i][j] = x[i][j] + 1 end
        end
        for i, j in x:active() do sum = sum + math.random(100) end
        return sum, math.random(1000)
      end]], { x = x, y = y })
      local a, b = k()
      local list = { a, b, text_of(y) }
      for i, j, v in pairs(x) do list[#list + 1] = ("%d,%d=%.17g"):format(i, j, v) end
      return table.concat(list, ";")
    end
    local arch = os.getenv "RG_ARCH"
    local one = run { threads = 1, seed = 5, arch = arch }
    assert.is_true(one == run { threads = 3, seed = 5, arch = arch })
    assert.is_true(one == run { seed = 5, arch = "lua" })
    assert.is_false(one == run { seed = 6, arch = arch })
    assert.is_false(run { seed = 0, arch = arch } == run { arch = arch })
    assert.is_true(run { seed = 0, arch = arch } == run { seed = 0, arch = "lua" })
  end)

  it("differ between loops, launches, iterations, inner iterations and calls", function()
    local seen, count = {}, 0
    local function note(v)
      v = tostring(v)
      assert.is_nil(seen[v], "drawn twice: " .. v)
      seen[v], count = true, count + 1
    end
    local x, y = rg.field(rg.u64, 30, 30, 6), rg.field(rg.u64, 10)
    local function pair() return rg.random(rg.u64), rg.random(rg.u64) end
    local k = rg.kernel(function()
      for step = 1, 2 do y[step] = rg.random(rg.u64) end
      y[3] = rg.random(rg.u64)
      for i, j in rg.range(30, 30) do
        x[i][j][0] = rg.random(rg.u64)
        local a, b = pair()
        x[i][j][1] = a
        x[i][j][2] = b
        for k = 3, 4 do x[i][j][k] = rg.random(rg.u64) end
        x[i][j][5] = rg.random(rg.u64)
      end
      for i in rg.range({ 4, 8 }) do y[i] = rg.random(rg.u64) end
      local n = 8
      repeat
        y[n] = rg.random(rg.u64)
        n = n + 1
      until rg.random(rg.u64) == 0 or n == 10
    end)
    rg.seed(3)
    for _ = 1, 2 do
      k()
      for i = 0, 29 do
        for j = 0, 29 do
          for l = 0, 5 do note(x[i][j][l]) end
        end
      end
      for i = 1, 9 do note(y[i]) end
    end
    assert.equal(2 * (5400 + 9), count)
  end)

  it("start over with a seed", function()
    local x = rg.field(rg.f32, 10)
    local k = rg.kernel(function() for i in rg.range(10) do x[i] = rg.random() end end)
    rg.seed(7)
    k()
    local first = text_of(x)
    k()
    assert.not_equal(first, text_of(x))
    rg.seed(7)
    k()
    assert.equal(first, text_of(x))
    rg.seed(8)
    k()
    assert.not_equal(first, text_of(x))
    assert.equal("argument.invalid", failure(rg.seed, 1.5).code)
  end)

  it("are drawn in conditions and in functions", function()
    local k = rg.kernel(function()
      local total = 0
      for i in rg.range(200) do
        local n = 0
        while math.random() < 0.5 do n = n + 1 end
        total = total + n
      end
      return total
    end)
    rg.seed(11)
    local total = k()
    assert.is_true(total > 140 and total < 260)
  end)

  it("are refused for types that have none", function()
    for text, code in pairs {
      ["rg.random(1, 6)"] = "call.invalid", ["rg.random(rg.i32, 6)"] = "call.invalid",
      ["rg.random(rg.bool, 0, 1)"] = "type.mismatch", ["rg.randn(rg.i32)"] = "type.mismatch",
      ["math.random(1.5)"] = "type.mismatch", ["math.random(1, 2, 3)"] = "call.count",
      ["rg.random(rg.i32, 1, 2.5)"] = "type.float_to_int",
      ["rg.random(rg.u8, 0, 300)"] = "value.fit",
    } do
      assert.equal(code, failure(drawn, rg.f64, 1, "x[i] = " .. text).code, text)
    end
  end)
end)

describe("random numbers outside kernels", function()
  it("are a stream of their own", function()
    rg.seed(9)
    local a = { rg.random(rg.f32), rg.random(), rg.random(rg.i32, 1, 6), rg.randn(rg.f64) }
    local x = drawn(rg.f32, 3, "x[i] = rg.random()", 9)
    local inside = text_of(x)
    rg.seed(9)
    local b = { rg.random(rg.f32), rg.random(), rg.random(rg.i32, 1, 6), rg.randn(rg.f64) }
    assert.same(a, b)
    rg.kernel(function() for i in rg.range(3) do x[i] = rg.random() end end)()
    assert.equal(inside, text_of(x))
    assert.is_true(a[3] >= 1 and a[3] <= 6 and a[3] % 1 == 0)
  end)

  it("are of any type", function()
    assert.equal("vec3", tostring(rg.random(rg.vec3)):match "%a+%d")
    assert.equal("boolean", type(rg.random(rg.bool)))
    assert.equal("cdata", type(rg.random(rg.i64)))
    local v = rg.random(rg.ivec2, 1, rg.ivec2(1, 2))
    assert.is_true(v.x == 1 and v.y >= 1 and v.y <= 2)
    assert.equal("argument.invalid", failure(rg.random, 6).code)
    assert.equal("argument.invalid", failure(rg.random, rg.i32, 6).code)
    assert.equal("argument.invalid", failure(rg.randn, rg.i32).code)
  end)
end)

-- -- statistics ----------------------------------------------------------------------------------
-- With fixed seeds, so they pass always or never. Limits are about five standard deviations.

local n = os.getenv "RG_ARCH" == "lua" and 4000 or 100000

local function moments(x)
  local sum, squares, cubes, fourths = 0, 0, 0, 0
  for i = 0, n - 1 do sum = sum + x[i] end
  local mean = sum / n
  for i = 0, n - 1 do
    local d = x[i] - mean
    squares, cubes, fourths = squares + d ^ 2, cubes + d ^ 3, fourths + d ^ 4
  end
  local variance = squares / n
  return mean, variance, cubes / n / variance ^ 1.5, fourths / n / variance ^ 2
end

local function near(expected, value, deviation)
  assert.is_true(math.abs(value - expected) < 5 * deviation,
    ("%g is not near %g"):format(value, expected))
end

-- Returns the deviation of counts that should be equal, in standard deviations.
local function chi_square(counts, cells)
  local total, sum = 0, 0
  for c = 0, cells - 1 do total = total + (counts[c] or 0) end
  for c = 0, cells - 1 do sum = sum + ((counts[c] or 0) - total / cells) ^ 2 / (total / cells) end
  return (sum - (cells - 1)) / math.sqrt(2 * (cells - 1))
end

local function correlation(x, y, shift)
  local sum = 0
  for i = 0, n - 1 - shift do sum = sum + (x[i] - 0.5) * (y[i + shift] - 0.5) end
  return sum / (n - shift) * 12
end

describe("the statistics of random numbers", function()
  it("uniform ones have the moments of a uniform distribution", function()
    for _, T in ipairs { "f32", "f64" } do
      local x = drawn(rg[T], n, "x[i] = rg.random()", 1234)
      local mean, variance, skew, kurtosis = moments(x)
      near(0.5, mean, math.sqrt(1 / 12 / n))
      near(1 / 12, variance, math.sqrt(1 / 180 / n))
      near(0, skew, 1.2 / math.sqrt(n))
      near(1.8, kurtosis, 2 / math.sqrt(n))
    end
  end)

  it("normal ones have the moments of a normal distribution", function()
    for _, T in ipairs { "f32", "f64" } do
      local x = drawn(rg[T], n, "x[i] = rg.randn()", 99)
      local mean, variance, skew, kurtosis = moments(x)
      near(0, mean, 1 / math.sqrt(n))
      near(1, variance, math.sqrt(2 / n))
      near(0, skew, math.sqrt(6 / n))
      near(3, kurtosis, math.sqrt(24 / n))
    end
  end)

  it("every byte is as frequent as any other", function()
    local x, counts = drawn(rg.u32, n, "x[i] = rg.random(rg.u32)", 77), { {}, {}, {}, {} }
    for i = 0, n - 1 do
      local v = x[i]
      for b = 1, 4 do
        local byte = v % 256
        counts[b][byte] = (counts[b][byte] or 0) + 1
        v = (v - byte) / 256
      end
    end
    for b = 1, 4 do near(0, chi_square(counts[b], 256), 1) end
  end)

  it("no iteration, launch or call is correlated with the next", function()
    local x, y = rg.field(rg.f64, n), rg.field(rg.f64, n)
    local k = rg.kernel(function()
      for i in rg.range(n) do
        x[i] = rg.random()
        y[i] = rg.random()
      end
    end)
    rg.seed(31)
    k()
    for _, shift in ipairs { 1, 2, 7, 64 } do
      near(0, correlation(x, x, shift), 1 / math.sqrt(n))
    end
    near(0, correlation(x, y, 0), 1 / math.sqrt(n))
    near(0, correlation(x, y, 1), 1 / math.sqrt(n))
    local before = rg.field(rg.f64, n)
    before:copy_from(x)
    k()
    near(0, correlation(x, before, 0), 1 / math.sqrt(n))
  end)

  it("pairs of neighbours fill the square evenly, along either axis and over launches", function()
    local side, cells = math.floor(math.sqrt(n)), 16
    local x, again = rg.field(rg.f32, side, side), rg.field(rg.f32, side, side)
    local k = rg.kernel(function()
      for i, j in rg.range(side, side) do x[i][j] = rg.random() end
    end)
    rg.seed(41)
    k()
    again:copy_from(x)
    k()
    local function cell(a, b) return math.floor(a * cells) * cells + math.floor(b * cells) end
    local counts = { {}, {}, {} }
    for i = 0, side - 2 do
      for j = 0, side - 2 do
        local v = x[i][j]
        for number, other in ipairs { x[i + 1][j], x[i][j + 1], again[i][j] } do
          local c = cell(v, other)
          counts[number][c] = (counts[number][c] or 0) + 1
        end
      end
    end
    for number = 1, 3 do near(0, chi_square(counts[number], cells * cells), 1.4) end
  end)

  it("dice are fair, and differ by seed and runtime", function()
    local x, counts = drawn(rg.i32, n, "x[i] = math.random(6) - 1", 5), {}
    for i = 0, n - 1 do counts[x[i]] = (counts[x[i]] or 0) + 1 end
    near(0, chi_square(counts, 6), 1)
    local a = drawn(rg.f64, n, "x[i] = rg.random()", 1)
    local b = drawn(rg.f64, n, "x[i] = rg.random()", 2)
    near(0, correlation(a, b, 0), 1 / math.sqrt(n))
  end)
end)
