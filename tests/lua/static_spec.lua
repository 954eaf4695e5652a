-- luacheck: globals nobody, ignore 241
local support = require "support"
local rg, failure = support.rg, support.failure

local function compiles_of(f)
  local before = rg.stats().compiles
  f()
  return rg.stats().compiles - before
end

describe("rg.static", function()
  it("is the value itself outside of kernels", function()
    assert.equal(3, rg.static(3))
  end)

  it("evaluates the roundings, roots and extremes of math", function()
    local n = 7
    local k = rg.kernel(function()
      local s = 0
      for i in rg.static(rg.range(math.floor(n / 2))) do s = s + 10 + i end
      return s, rg.static(math.min(n, 3, 5)), rg.static(math.max(math.abs(-n), 2)),
        rg.static(math.ceil(n / 2)), rg.static(math.sqrt(n + 2))
    end)
    assert.same({ 33, 3, 7, 4, 3 }, { k() })
    n = 4
    n = 14
    assert.same({ 91, 3, 14, 7, 4 }, { k() })
  end)

  it("reads a captured number at compile time, once for each value", function()
    local order = 2
    local k = rg.kernel(function(v) return v * rg.static(order + 1) end)
    assert.equal(6, k(2))
    order = 3
    assert.equal(1, compiles_of(function() assert.equal(8, k(2)) end))
    order = 2
    assert.equal(0, compiles_of(function() assert.equal(6, k(2)) end))
  end)

  it("evaluates arguments, shapes and paths", function()
    local x = rg.field(rg.f32, 5, 7)
    local self = { grid = { scale = 0.5 } }
    local k = rg.kernel(function(n, f) return rg.static(n * 2 + f.shape[1] + #f) + rg.static(
      self.grid.scale) + rg.static(x.shape[0]) end)
    assert.equal(3 * 2 + 7 + 5 + 0.5 + 5, k(3, x))
    self.grid.scale = -0.25
    assert.equal(4 * 2 + 7 + 5 - 0.25 + 5, k(4, x))
  end)

  it("evaluates the length of a vector, the rows of a matrix, and locals that start with \z
    it", function()
    local k = rg.kernel(function(v, m)
      local rows, s = #m, 0
      local last = rows - 1
      for i in rg.static(rg.range(#v)) do s = s + v[i] end
      for r, c in rg.static(rg.range(rows, #m[0])) do s = s + m[r][c] end
      return s, rg.static(last * 10), #v
    end)
    assert.same({ 15, 10, 3 }, { k(rg.vec3(1, 2, 3), rg.mat(2, 3, rg.f32)(1, 2, 3, 1, 1, 1)) })
    local failed = failure(rg.kernel "function() local n = 3 n = n + 1 return rg.static(n) end")
    assert.equal("static.unknown", failed.code)
  end)

  it("knows Lua's operators", function()
    local a, b = 7, 2
    local on = true
    local k = rg.kernel(function()
      return rg.static((a - b) / 2) + rg.static(-a % 3) * 10 + rg.static(b ^ 3) * 100 + rg.static(
        a > b and on and 1 or 2) * 1000
        + rg.static(a == 7 and not on and 4 or 3) * 10000
    end)
    assert.equal(2.5 + 20 + 800 + 1000 + 30000, k())
  end)

  it("picks one arm, and the others are not compiled", function()
    local options = { wide = false, kind = 2 }
    local k = rg.kernel(function()
      if rg.static(options.wide) then
        return nobody.knows(nobody)
      elseif rg.static(options.kind == 2) then
        return 20
      elseif rg.static(options.missing) then
        return nobody
      else
        return 30
      end
    end)
    assert.equal(20, k())
    options.kind = 3
    assert.equal(30, k())
  end)

  it("leaves branches that are decided at run time", function()
    local mode = 1
    local k = rg.kernel(function(v)
      local r
      if v > 10 then r = 1 elseif rg.static(mode == 1) then r = 2 else r = 3 end
      if rg.static(mode == 2) then r = r + 10 end
      return r
    end)
    assert.equal(1, k(11))
    assert.equal(2, k(1))
    mode = 2
    assert.equal(13, k(1))
  end)

  it("unrolls a range, whose indices are static", function()
    local n = 3
    local k = rg.kernel(function(v)
      local s = 0
      for i in rg.static(rg.range(n)) do s = s + v ^ rg.static(i) end
      for i, j in rg.static(rg.range({ 1, 3 }, 2)) do
        if rg.static(i == j) then s = s + 100 end
      end
      return s
    end)
    assert.equal(107, k(2))
    n = 4
    assert.equal(115, k(2))
  end)

  it("unrolls inside parallel loops, with updates and reductions", function()
    local x = rg.field(rg.i32, 8)
    local k = rg.kernel(function()
      local s = 0
      for i in rg.range(8) do
        for d in rg.static(rg.range({ -1, 2 })) do
          x[i + d] = x[i + d] + 1
          s = s + d * d
        end
      end
      return s
    end)
    assert.equal(16, k())
    assert.equal(3, x[4])
    assert.equal(2, x[0])
  end)

  it("ends an iteration by continue", function()
    local x = rg.field(rg.i32, 4)
    local k = rg.kernel([=[function(v)
      local sum = 0
      for i in rg.static(rg.range(5)) do
        if i == v then continue end
        for j = 0, 3 do
          if j == 2 then continue end
          sum = sum + 1
        end
        sum += 10 ^ i
      end
      for i in rg.range(4) do
        for d in rg.static(rg.range(3)) do
          if i == d then continue end
          x[i] = x[i] + 1
        end
      end
      return sum
    end]=], { x = x })
    assert.equal(11011 + 12, k(2))
    assert.same({ 2, 2, 2, 3 }, x:to_table())
  end)

  it("leaves a function from an unrolled loop", function()
    local k = rg.kernel([=[
      local function find(v)
        for i in rg.static(rg.range(4)) do
          if i < 1 then continue end
          if i * i >= v then return i end
        end
        return -1
      end
      function(v) return find(v) end
    ]=])
    assert.equal(1, k(0))
    assert.equal(3, k(8))
    assert.equal(-1, k(10))
  end)

  it("unrolls nothing where a range is empty", function()
    assert.equal(1, rg.kernel(function()
      local s = 1
      for i in rg.static(rg.range(0)) do s = s + i + 5 end
      return s
    end)())
  end)

  it("works in functions that are called, also on their parameters", function()
    local function power(v, n)
      local r = 1
      for i in rg.static(rg.range(n)) do r = r * v + 0 * i end
      if rg.static(n > 2) then return r end
      return -r
    end
    assert.equal(8 - 9, rg.kernel(function() return power(2, rg.static(3)) + power(
      3, rg.static(2)) end)())
  end)

  it("tells whether two names are one field or node", function()
    local x, y = rg.field(rg.i32, 4), rg.field(rg.i32, 4)
    local block, part = rg.root:pointer("i", 4), rg.field(rg.i32)
    block:place(part)
    local k = rg.kernel([=[function(a, b)
      local code = 0
      if rg.static(a == b) then code = 1 end
      if rg.static(a ~= x) then code = code + 10 end
      if rg.static(block == node) then code = code + 100 end
      if rg.static(a == nil) then code = code + 1000 end
      return code
    end]=], { x = x, block = block, node = block })
    assert.equal(101, k(x, x))
    assert.equal(100, k(x, y))
    assert.equal(110, k(y, x))
    assert.equal(111, k(y, y))
    local hint = failure(rg.kernel("function() if x == y then x[0] = 1 end end",
      { x = x, y = y })).hint
    assert.equal("compare elements: x[i] == y[i]; whether they are one field is rg.static(x == y)",
      hint)
  end)

  it("reports what is not known", function()
    local function fails(f, ...) return failure(rg.kernel(f), ...).code end
    assert.equal("static.unknown", fails(function(v) local w = v * 2 return rg.static(w) end, 3))
    assert.equal("static.unknown", fails(
      function() for i in rg.range(4) do if rg.static(i > 2) then return end end end))
    assert.equal("static.unknown", fails(
      function() for i in rg.static(rg.range(2.5)) do local _ = i end end))
    assert.equal("name.unknown", fails(function(v) return rg.static(v + nobody) end, 3))
    assert.equal("call.count", fails(function() return rg.static(1, 2) end))
    assert.equal("kernel.unsupported",
      fails(function() for i in rg.static(rg.range(100000)) do local _ = i end end))
    assert.equal("kernel.unsupported", fails(function()
      for i in rg.static(rg.range(1000)) do
        for j in rg.static(rg.range(1000)) do local _ = i + j end
      end
    end))
    assert.equal("loop.invalid", fails(function(v) for i in rg.static(v) do local _ = i end end, 3))
  end)
end)

describe("a captured list", function()
  it("is walked by ipairs, unrolled, its numbers static", function()
    local weights = { 0.25, 0.5, 0.25 }
    local x = rg.field(rg.f32, 16)
    for i = 0, 15 do x[i] = i end
    local blur = rg.kernel(function(i)
      local s = 0
      for k, w in ipairs(weights) do s = s + w * x[i + k - 2] end
      return s
    end)
    assert.equal(3, blur(3))
    weights[4] = 2
    assert.equal(13, blur(3))
    weights[4], weights[3] = nil, nil
    assert.equal(2, blur(3))
  end)

  it("gives integers where one is needed, however it is nested", function()
    local x = rg.field(rg.f64, 8)
    for i = 0, 7 do x[i] = i end
    local o, l = { 1, 2, 0.1 }, { { 1, 2 }, { 3, 4 } }
    local function run(text)
      return rg.kernel(text, { x = x, o = o, l = l, rg = rg, ipairs = ipairs })()
    end
    assert.equal(10, run "function() local s = 0 for i in rg.range(4) do s += x[i + o[1]] end \z
      return s end")
    assert.equal(3, run "function() return x[l[2][1]] end")
    assert.equal(5, run "function() return x[o[1] + l[2][2]] end")
    assert.equal(2, run "function() local n = 2 local row = l[1] return x[row[n]] end")
    assert.equal(13, run "function() local s = 0 for _, p in ipairs(l) do s += x[p[1]] * p[2] - \z
      x[p[2] - p[1]] end return s + 1 end")
    assert.equal(0.1, run "function() x[0] = o[3] return x[0] end")
  end)

  it("of fields that a kernel writes itself has elements, which are assigned", function()
    local a, b = rg.field(rg.i32, 4), rg.field(rg.vec2, 4)
    rg.kernel([[function()
      local t = {a, {b}, name = a}
      t[1][1] = 5
      t[2][1][1] = rg.vec2(1, 2)
      t[2][1][2].y = 7
      for i in rg.range(4) do t.name[i] += 2 end
    end]], { rg = rg, a = a, b = b })()
    assert.same({ 2, 7, 2, 2 }, a:to_table())
    assert.equal(rg.vec2(1, 2), b[1])
    assert.equal(7, b[2].y)
    local ok, e = pcall(rg.kernel([[function() local t = {a, a} t[1] = a end]], { a = a }))
    assert.is_false(ok)
    assert.matches("cannot be assigned", e.message)
  end)
  it("of fields needs a static index, which is not the index of the field", function()
    local f, g = rg.field(rg.i32, 4), rg.field(rg.i32, 4)
    local c = { a = { f, g }, l = { { f }, { g } }, rg = rg }
    for i = 0, 3 do f[i], g[i] = i, 10 + i end
    local function run(text) return rg.kernel(text, c)() end
    assert.same({ 10, 3 }, { run "function() return a[2][0], a[1][3] end" })
    assert.same({ 10, 3 }, { run "function() return a[rg.static(2)][0], \z
      l[1][rg.static(1)][3] end" })
    run "function() for i in rg.range(4) do a[2][i] = a[2][i] + 100 a[1][i] = a[2][i] \z
      l[2][1]:add(i, 1) end end"
    assert.same({ 110, 111, 112, 113 }, f:to_table())
    assert.same({ 111, 112, 113, 114 }, g:to_table())
  end)

  it("may hold fields, functions and lists", function()
    local a, b = rg.field(rg.f32, 4), rg.field(rg.i32, 4)
    local fields = { a, b }
    rg.kernel(function()
      for k, f in ipairs(fields) do
        for i in rg.range(4) do f[i] = k * i end
      end
    end)()
    assert.equal(3, a[3])
    assert.equal(6, b[3])
    local steps = {
      function(v) return v + 1 end,
      function(v) return v * 2 end,
    }
    assert.equal(8, rg.kernel(function(v)
      for _, f in ipairs(steps) do v = f(v) end
      return v
    end)(3))
    local m = { { 1, 2 }, { 3, 4.5 } }
    assert.equal(186, rg.kernel(function()
      local s = 0
      for r, row in ipairs(m) do
        for c, v in ipairs(row) do s = s + r * 10 * v + c end
      end
      return s
    end)())
  end)

  it("may hold vectors", function()
    local offsets = { rg.ivec2(1, 0), rg.ivec2(0, 1), rg.ivec2(-1, 0) }
    local x = rg.field(rg.f32, 4, 4)
    for i = 0, 3 do
      for j = 0, 3 do x[i][j] = 10 * i + j end
    end
    local k = rg.kernel(function(i, j)
      local s = 0
      for w, d in ipairs(offsets) do
        local at = d
        at.x = at.x + i
        s = s + w * x[at.x][j + d.y]
      end
      return s + 1000 * offsets[3].x
    end)
    assert.equal(22 + 2 * 13 + 3 * 2 - 1000, k(1, 2))
  end)

  it("has vectors that are constants where ipairs walks it #compiled", function()
    local offsets = { rg.ivec2(1, 0), rg.ivec2(0, 7) }
    local k = rg.kernel([=[function()
      local s = 0
      for _, d in ipairs(offsets) do s = s + d.x * 10 + d.y end
      return s
    end]=], { offsets = offsets })
    assert.equal(17, k())
    assert.is_nil(k:ir():find("= arg", 1, true))
    offsets[2] = rg.ivec2(0, 8)
    assert.equal(18, k())
  end)

  it("may be an argument, and a part of one", function()
    local k = rg.kernel(function(self)
      local s = 0
      for _, v in ipairs(self.items) do s = s + v end
      return s + #self.items
    end)
    assert.equal(6 + 3, k { items = { 1, 2, 3 } })
    assert.equal(9 + 2, k { items = { 4, 5 } })
  end)

  it("is read at every launch if its index is a literal", function()
    local t = { 5, { x = 7 } }
    local k = rg.kernel(function() return t[1] * 100 + t[2].x end)
    assert.equal(507, k())
    t[1], t[2].x = 6, 8
    assert.equal(0, compiles_of(function() assert.equal(608, k()) end))
  end)

  it("is constant data for a run-time index, from 1, and zero out of bounds", function()
    local t = { 10, -20, 30.5 }
    local k = rg.kernel(function(i) return t[i] end)
    local read = {}
    for i = -1, 5 do read[#read + 1] = k(i) end
    assert.same({ 0, 0, 10, -20, 30.5, 0, 0 }, read)
    t[2] = 4
    assert.equal(4, k(2))
    local x = rg.field(rg.i32, 3)
    local whole = { 7, 8, 9 }
    rg.kernel(function() for i in rg.range(3) do x[i] = x[i] + whole[3 - i] end end)()
    assert.same({ 9, 8, 7 }, x:to_table())
    local none = {}
    assert.equal(0, rg.kernel(function(i) return none[i] + #none end)(1))
  end)

  it("cannot be assigned", function()
    local t = { 1, 2 }
    assert.equal("name.assign", failure(rg.kernel(function() t[1] = 3 end)).code)
    assert.equal("name.assign", failure(rg.kernel(function(i) t[i] = 3 end), 1).code)
    assert.equal("name.assign", failure(
      rg.kernel(function() for i in rg.range(2) do t[i + 1] = 3 end end)).code)
  end)

  it("reports what it cannot do", function()
    local t = { 1, true }
    local function fails(f, ...) return failure(rg.kernel(f), ...) end
    assert.equal("kernel.unsupported", fails(function(i) return t[i] end, 1).code)
    local err = fails(function() return t[3] end)
    assert.equal("name.nil", err.code)
    assert.truthy(err.message:find("t[3]", 1, true))
    assert.equal("loop.invalid", fails(function(n) for k in ipairs(n) do local _ = k end end,
      1).code)
    assert.equal("loop.invalid", fails(
      function() for a, b, c in ipairs(t) do local _ = a + b + c end end).code)
  end)
end)

describe("break out of an unrolled loop", function()
  it("skips the remaining iterations", function()
    local list = { 1, 5, 7, 9 }
    local k = rg.kernel(function(n)
      local s = 0
      for _, v in ipairs(list) do
        if v == n then break end
        s = s + v
      end
      return s
    end)
    assert.same({ 0, 1, 6, 13, 22 }, { k(1), k(5), k(7), k(9), k(2) })
  end)

  it("works together with continue", function()
    local k = rg.kernel [[function(n)
      local s = 0
      for k in rg.static(rg.range(6)) do
        if k == n then break end
        if k == 2 then continue end
        s += k
        while true do s += 100 break end
      end
      return s
    end]]
    assert.same({ 100, 201, 201, 304, 513 }, { k(1), k(2), k(3), k(4), k(9) })
  end)

  it("leaves each of two nested ones whose iterations also continue", function()
    local x = rg.field(rg.i32, 12)
    rg.kernel([[function()
      for i in rg.range(12) do
        for a in rg.static(rg.range(3)) do
          for b in rg.static(rg.range(4)) do
            if b == 1 then continue end
            if i % 4 == b then break end
            x[i] = x[i] + 10 * a + b
          end
          if a == 1 then continue end
          if i % 3 == a then break end
        end
      end
    end]], { x = x })()
    assert.same({ 0, 105, 30, 2, 0, 105, 0, 66, 0, 5, 30, 66 }, x:to_table())
  end)
  it("leaves only the innermost", function()
    local k = rg.kernel [[function(n)
      local s = 0
      for a in rg.static(rg.range(3)) do
        for b in rg.static(rg.range(3)) do
          if b == n then break end
          s += 1
        end
        s += 10
      end
      return s
    end]]
    assert.same({ 30, 33, 36, 39 }, { k(0), k(1), k(2), k(3) })
  end)

  it("works in the body of a parallel loop", function()
    local x = rg.field(rg.i32, 8)
    rg.kernel(function()
      for i in rg.range(8) do
        for k in rg.static(rg.range(5)) do
          if k == i then break end
          x[i] = x[i] + 1
        end
      end
    end)()
    assert.same({ 0, 1, 2, 3, 4, 5, 5, 5 }, x:to_table())
  end)
end)

describe("rg.static of other things than plain numbers", function()
  it("keeps all 64 bits of an integer", function()
    local c = { w = 9007199254740993LL, u = 18446744073709551615ULL, low = -9223372036854775807LL
      - 1LL }
    local function value(text) return rg.kernel("function() return " .. text .. " end", c)() end
    assert.is_true(value "rg.static(w)" == c.w and value "rg.static(u)" == c.u
      and value "rg.static(low)" == c.low)
    assert.is_true(value "rg.static(w + 1)" == c.w + 1 and value "rg.static(-w)" == -c.w)
    assert.is_true(value "rg.static(u > w)" and value "rg.static(w == 9007199254740993LL)")
    assert.equal(1, value "rg.static(low < 0) and 1 or 2")
    assert.is_true(value "rg.static(w // 2)" == 4503599627370496LL
      and value "rg.static(low // 3)" == -3074457345618258603LL
      and value "rg.static(low % 3)" == 1LL and value "rg.static(u // 10)" == 1844674407370955161ULL
      and value "rg.static(u % 10)" == 5ULL and value "rg.static(w // 0)" == 0LL
      and value "rg.static(w & 3 | 8)" == 9LL and value "rg.static(w << 3)" == 72057594037927944LL)
    assert.equal(2, value "rg.static(4 / 2LL)")
    assert.equal(8, value "rg.static(2LL ^ 3)")
    assert.equal(12, value "rg.static(5 & 6 | 8)")
  end)

  it("evaluates functions of known values", function()
    local scale, field, v = 3, rg.field(rg.f32, 20, 5), rg.vec2(3, 4)
    local weights = { 1, 2, 1 }
    local function area(x) return x.shape[0] * x.shape[1] end
    local function scaled(x) return x * scale end
    local function factorial(n)
      if n == 0 then return 1 end
      return n * factorial(n - 1)
    end
    local function upper(n)
      local p, steps = 1, 0
      while true do
        if p >= n then break end
        p, steps = p * 2, steps + 1
      end
      repeat steps = steps - 1 until steps <= 2
      return p + steps
    end
    local function total(t)
      local s = 0
      for k = 1, #t do
        if t[k] == 2 then s = s + 10 else s = s + t[k] end
      end
      return s
    end
    local function square(w) return w.x * w.x + w[1] * w[1] end
    local function pair(n) return rg.vec2(n, n + 1) end
    local k = rg.kernel(function()
      local sum = 0
      for _ in rg.static(rg.range(scaled(2))) do sum = sum + 1 end
      if rg.static(area(field) > 99) then sum = sum + 1000 end
      return sum, rg.static(factorial(10)), rg.static(upper(100)), rg.static(total(weights)),
        rg.static(square(v)), rg.static(pair(6)), rg.vec(rg.static(scaled(1)), rg.f32)(1):sum()
    end)
    assert.same({ 1006, 3628800, 130, 12, 25, rg.vec2(6, 7), 3 }, { k() })
    scale = 2
    assert.equal(1004, (k()))
    local function endless() while true do field[0][0] = 1 end end
    local function deep(n) return deep(n + 1) end
    local function reads() return field[0][0] end
    local function nothing() end
    local f = { endless = endless, deep = deep, reads = reads, nothing = nothing, square = square }
    for text, message in pairs {
      ["f.endless()"] = "that 'rg.static' runs cannot do this",
      ["f.deep(1)"] = "the limit of 'rg.static'",
      ["f.reads()"] = "'field[0][0]' is not known when the kernel is compiled",
      ["f.nothing()"] = "'f.nothing()' is nil",
      ["f.square(1, 2)"] = "'f.square(1, 2)' is not known when the kernel is compiled",
    } do
      local err = failure(rg.kernel("function() return rg.static(" .. text .. ") end",
        { rg = rg, f = f }))
      assert.truthy(err.message:find(message, 1, true), err.message)
    end
  end)

  it("indexes tables of such integers, and unrolls loops over them", function()
    local t, u = { 1LL, 9007199254740993LL, -9223372036854775807LL - 1LL },
      { 18446744073709551615ULL }
    local item = rg.kernel(function(i) return t[i], u[i] end)
    local a, b = item(3)
    assert.is_true(a == t[3] and b == 0ULL)
    a, b = item(1)
    assert.is_true(a == 1LL and b == u[1])
    local sum = rg.kernel(function()
      local s = 0LL
      for _, v in ipairs(t) do s = s + v end
      return s
    end)
    assert.is_true(sum() == t[1] + t[2] + t[3])
  end)

  it("evaluates vectors and matrices, as a whole or in part", function()
    local c = { v = rg.vec3(1, 0.1, -2), m = rg.mat2(1, 2, 3, 4), n = rg.ivec2(-3, 2),
      d = rg.dvec2(0.1, 1 / 3) }
    local function value(text) return rg.kernel("function() return " .. text .. " end", c)() end
    assert.is_true(value "rg.static(v)" == c.v and value "rg.static(d)" == c.d
      and value "rg.static(m)" == c.m)
    assert.is_true(value "rg.static(v.zx)" == rg.vec2(-2, 1) and value "rg.static(m[1])" == rg.vec2(
      3, 4))
    assert.equal(c.v.y, value "rg.static(v.y)")
    assert.same({ -2, 3, -2 }, { value "rg.static(v[2])", value "rg.static(m[1][0])",
      value "rg.static(n.x) + 1" })
    assert.equal("index.range", failure(value, "rg.static(v[3])").code)
    assert.equal("static.unknown", failure(value, "rg.static(m + m)").code)
    local unrolled = rg.kernel([[function()
      local s = 0
      for k in rg.static(rg.range(n.y)) do s += k + 1 end
      return s
    end]], c)
    assert.equal(3, unrolled())
  end)

  it("compiles once for each value of a vector", function()
    local v = rg.vec2(1, 2)
    local k = rg.kernel(function() return rg.static(v) end)
    local before = rg.stats().compiles
    for i = 1, 6 do
      v = rg.vec2(i % 2, 0)
      assert.is_true(k() == v)
    end
    assert.equal(before + 2, rg.stats().compiles)
  end)

  it("evaluates all of math and bit, on numbers", function()
    local n = 3
    local k = rg.kernel(function()
      return rg.static(math.sin(n / 2)), rg.static(math.log(8, 2)), rg.static(math.rad(180)),
        rg.static(math.atan2(1, n)), rg.static(math.fmod(-7, n)), rg.static(math.pow(2, n)),
        rg.static(bit.lshift(n, 4)), rg.static(bit.band(n, 6, 2)), rg.static(bit.bnot(n))
    end)
    local got = { k() }
    local expected = { math.sin(1.5), 3, math.pi, math.atan2(1, 3), -1, 8, 48, 2, -4 }
    for i, v in ipairs(expected) do assert.is_true(math.abs(got[i] - v) < 1e-6, tostring(i)) end
  end)

  it("evaluates vectors, their parts, and arithmetic of them", function()
    local v = rg.vec3(1, 2, 3)
    local k = rg.kernel(function()
      local two = rg.vec2(0.5, 4)
      local sum = rg.static((v.zy + two) * 2)
      if rg.static(v.y + two[1] == 6) then return sum, rg.static(rg.i32(two.x + 2.7)) end
      return sum, 0
    end)
    local a, b = k()
    assert.equal(rg.vec2(7, 12), a)
    assert.equal(3, b)
  end)

  it("converts as a kernel does", function()
    local k = rg.kernel(function()
      return rg.static(rg.u8(300)), rg.static(rg.i32(-2.9)), rg.static(rg.i8(-300)),
        rg.static(rg.f32(0.1)), rg.static(rg.bool(2)), rg.static(rg.i32(0 / 0))
    end)
    assert.same({ 255, -2, -128, 0.10000000149011612, true, 0 }, { k() })
  end)

  it("compares strings", function()
    local mode, other = "fast", { name = "slow" }
    local k = rg.kernel(function(way)
      if rg.static(mode == "fast") then return 1 end
      if rg.static(mode == other.name or way ~= "up") then return 2 end
      return 3
    end)
    assert.equal(1, k("up"))
    mode = "slow"
    assert.equal(2, k("up"))
    mode = "none"
    assert.same({ 2, 3 }, { k("down"), (k("up")) })
    local before = rg.stats().compiles
    for _ = 1, 3 do
      mode = "fast"
      assert.equal(1, k("up"))
      mode = "slow"
      assert.equal(2, k("up"))
    end
    assert.is_true(rg.stats().compiles <= before + 2)
  end)
end)
