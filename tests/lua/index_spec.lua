--- An index is computed in its own type, where it wraps; then it is compared, as an i64, with the
--- field's offset and extent. Out of bounds, reads give zero and writes are counted.
package.path = "tests/support/?.lua;" .. package.path
local support = require "support"
local rg = support.rg
local maker = require "index_maker"

local levels = { "x86-64-v2" }
if support.processor_has "avx2" then table.insert(levels, "x86-64-v3") end
if support.processor_has "avx512vl" then table.insert(levels, "x86-64-v4") end

local i32_edges = { -2147483648, -2147483647, -1, 0, 1, 2147483629, 2147483630, 2147483646,
  2147483647 }

-- Element j of the field is its distance from `first`, plus 1.
local function numbered(shape, first)
  local x = rg.field { type = rg.i32, shape = shape, offset = first, name = "x" }
  for k = 0, shape - 1 do x[first + k] = k + 1 end
  return x
end

local function of(kind, list)
  local a = rg.field(kind, #list)
  a:from_table(list)
  return a
end

local function wrapped(value, bits)
  local turn = 2 ^ bits
  return (value + turn / 2) % turn - turn / 2
end

-- What index `at` reads of such a field.
local function there(shape, first, at)
  return at >= first and at < first + shape and at - first + 1 or 0
end

describe("an index that wraps", function()
  for _, case in ipairs { { 20, 2147483630 }, { 20, 2147483628 }, { 20, -2147483648 },
    { 20, -2147483650 },
    { 40, -2147483668 }, { 20, 5 }, { 3, 2147483645 }, { 1, 2147483647 }, { 1, -2147483648 } } do
    local shape, first = case[1], case[2]
    it(("stays outside %d elements from %d on"):format(shape, first), function()
      local x, a, n = numbered(shape, first), of(rg.i32, i32_edges), #i32_edges
      local r, s = rg.field(rg.i32, n), rg.field(rg.i32, n)
      local t, u = rg.field(rg.i32, n), rg.field(rg.i32, n)
      rg.kernel(function()
        for k in rg.range(n) do
          r[k] = x[a[k] - 1]
          s[k] = x[a[k] - 1] + x[a[k] + 1]
          local sum = 0
          for d = -1, 1 do sum = sum + x[a[k] + d] end
          t[k] = sum
          local q = a[k] + 1
          u[k] = x[q - 2147483647]
        end
      end)()
      local below, pair, three, far = {}, {}, {}, {}
      for k, v in ipairs(i32_edges) do
        local function at(d) return there(shape, first, wrapped(v + d, 32)) end
        below[k], pair[k], far[k] = at(-1), at(-1) + at(1), at(-2147483646)
        three[k] = pair[k] + at(0)
      end
      assert.same(below, r:to_table())
      assert.same(pair, s:to_table())
      assert.same(three, t:to_table())
      assert.same(far, u:to_table())
    end)
  end

  it("wraps in its type where the field begins at the type's limit", function()
    for _, one in ipairs { { rg.i16, 32767, -32768 }, { rg.i8, 127, -128 },
      { rg.i32, 2147483647, -2147483648 } } do
      local kind, most, first = unpack(one)
      local x, a = numbered(4, first), of(kind, { most, most })
      local outside = rg.stats().out_of_range
      rg.kernel(function() for k in rg.range(1) do x[a[k] + 1] = 7777 end end)()
      assert.same({ 7777, 2, 3, 4 }, x:to_table())
      rg.kernel(function()
        for k in rg.range(1) do
          local q = a[k] + 1
          x[q] = 8888
          x[q + 1] = 9999
        end
      end)()
      assert.same({ 8888, 9999, 3, 4 }, x:to_table())
      assert.equal(outside, rg.stats().out_of_range)
      rg.kernel(function() for k in rg.range(1) do x[a[k] + 5] = 1 end end)()
      assert.equal(outside + 1, rg.stats().out_of_range)
    end
  end)

  it("may be the index of a loop", function()
    local x, r = numbered(4, -2147483648), rg.field(rg.i32, 8)
    rg.kernel(function()
      for i in rg.range({ 2147483640, 2147483647 }) do r[i - 2147483640] = x[i + 2] end
    end)()
    assert.same({ 0, 0, 0, 0, 0, 0, 1, 0 }, r:to_table())
    local above = numbered(4, 2147483646)
    rg.kernel(function()
      for i in rg.range({ 2147483640, 2147483647 }) do r[i - 2147483640] = above[i + 2] end
    end)()
    assert.same({ 0, 0, 0, 0, 1, 2, 0, 0 }, r:to_table())
  end)

  it("wraps in lanes of every width without a write to other memory #compiled #cpu", function()
    for _, cpu in ipairs(levels) do
      local own = support.with_stress("guard_pages", function()
        return rg.new { threads = 1, cpu = cpu, cache = false }
      end)
      local x = own.field { type = own.i32, shape = 256, offset = -2147483648 }
      local k = own.kernel("function(a: i32) for i in rg.range(64) do x[a + i] = 7 end end",
        { rg = own, x = x })
      k(2147483640)
      local count = 0
      for j = 0, 255 do count = count + x[-2147483648 + j] end
      assert.equal(56 * 7, count, cpu)
      assert.equal(7, x[-2147483648])
    end
  end)

  it("may be the bound of a loop, which then runs over other indices", function()
    local x, a, r = numbered(8, 0), of(rg.i32, { 2147483647, 3 }), rg.field(rg.i32, 2)
    rg.kernel(function()
      for k in rg.range(2) do
        for j = a[k] + 1, a[k] - 5, 1073741824 do r[k] = r[k] + x[j] end
      end
    end)()
    assert.same({ 1, 0 }, r:to_table())
  end)

  it("is not confused with one of an unsigned type", function()
    local a = of(rg.u32, { 4294967295, 0, 3, 4294967294 })
    local x, r = numbered(64, 0), rg.field(rg.i32, 4)
    local wide = numbered(64, 4294967290)
    local s = rg.field(rg.i32, 4)
    rg.kernel(function()
      for k in rg.range(4) do
        local sum, other = 0, 0
        local j = rg.i64(a[k])
        for d = 1, 3 do
          sum = sum + x[j + d]
          other = other + wide[j + d]
        end
        r[k], s[k] = sum, other
      end
    end)()
    assert.same({ 0, 2 + 3 + 4, 5 + 6 + 7, 0 }, r:to_table())
    assert.same({ 7 + 8 + 9, 0, 0, 6 + 7 + 8 }, s:to_table())
  end)
end)

describe("a constant index", function()
  it("may be any number", function()
    local x = numbered(8, 0)
    local y = rg.field(rg.f64)
    rg.root:dense("ij", 16):place(y)
    local r = rg.kernel([=[function()
      return x[9223372036854775807LL] + x[-9223372036854775807LL] + y[4611686018427387904LL][0]
        + y[0][9223372036854775807LL] + y[9223372036854775807LL][9223372036854775807LL]
    end]=], { x = x, y = y })()
    assert.equal(0, r)
  end)

  it("may bound a loop that is not unrolled", function()
    local x = numbered(8, 0)
    local r = rg.kernel([=[function()
      local n = 0
      for k in rg.range(1) do
        for i = 0LL, -9223372036854775807LL - 1LL, -1LL do
          n = n + x[i]
          if i < -3 then break end
        end
      end
      return n
    end]=], { x = x, rg = rg })()
    assert.equal(1, r)
  end)
end)

-- RG_INDEX: how many kernels of 10 expressions, over 24 rows each; RG_SEED: the first. 3000
-- expressions take a minute; for a million, run processes from seeds that far apart.
describe("random indices #compiled", function()
  local count, first = tonumber(os.getenv "RG_INDEX") or 20, tonumber(os.getenv "RG_SEED") or 1

  it(("are those of Lua in %d kernels, from seed %d, between guard pages"):format(count, first),
    function()
      local guarded = {} -- of every width of vectors that the processor has
      for k, cpu in ipairs(levels) do
        local stress = (os.getenv "RG_STRESS" or "") .. ",guard_pages,force_lanes"
        guarded[k] = support.with_stress(stress, function()
          return rg.new { threads = 2, cpu = cpu }
        end)
      end
      local oracle = rg.new { arch = "lua" }
      for seed = first, first + count - 1 do
        if seed % 10 == 0 then -- guards take address space, of which there are 2^47 bytes
          collectgarbage()
          collectgarbage()
        end
        math.randomseed(seed)
        local case = maker.case(10)
        local expected = maker.run(oracle, case)
        local level = seed % #guarded + 1
        local shown = ("seed %d, %s, %s, %d elements from %d on, at %d\n%s\n%s\n%s"):format(seed,
          levels[level], case.kind, case.size, case.first, case.at, case.text, case.range,
          case.lanes)
        assert.equal(expected, maker.run(guarded[level], case), shown)
      end
    end)
end)
