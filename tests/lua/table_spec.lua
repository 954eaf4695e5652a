local support = require "support"
local rg, failure = support.rg, support.failure

local function kernel(text, captures) return rg.kernel(text, captures or {}) end

-- Reads table entries at indices from a field, for each integer type, in a parallel loop and in
-- scalar code.
local function entries_of(t, indices, type)
  local n = #indices
  local at, x = rg.field(type, n), rg.field(rg.f64, n)
  for k, index in ipairs(indices) do at[k - 1] = index end
  rg.kernel(function() for i in rg.range(n) do x[i] = t[at[i]] end end)()
  local one = rg.kernel(function(k) return t[at[k]] end)
  local found = {}
  for k = 1, n do
    found[k] = x[k - 1]
    assert.equal(found[k], one(k - 1))
  end
  return found
end

describe("a constant table that is indexed at run time", function()
  it("gives its entries, and zero out of bounds, whatever type the index has", function()
    local t = {}
    for k = 1, 200 do t[k] = (k * 37) % 101 - 50.5 end
    for _, type in ipairs { rg.i8, rg.u8, rg.i16, rg.i32, rg.u32, rg.i64, rg.u64 } do
      local name = tostring(type)
      local low = name:find "u" and 0 or -9
      local high = name:find "8" and (low < 0 and 127 or 210) or 210
      local indices, expected = {}, {}
      for index = low, high do
        indices[#indices + 1] = index
        expected[#expected + 1] = t[index] or 0
      end
      assert.same(expected, entries_of(t, indices, type))
    end
    assert.same({ 0, 0, 0, 0 }, entries_of(t, { 2147483647, -2147483647, 65537, -65535 }, rg.i32))
    local far = { 4294967297LL, -4294967295LL, 9007199254740993LL, -9007199254740991LL }
    assert.same({ 0, 0, 0, 0 }, entries_of(t, far, rg.i64))
  end)

  it("gives the same in lanes as in scalar code, from one word, from several, and from \z
    memory", function()
    local spans = { { 0, 1 }, { -1, 3 }, { 5, 12 }, { -300, 200 }, { 7, 2147483647 } }
    support.with_stress("force_lanes", function()
      for _, size in ipairs { 1, 3, 8, 9, 16, 21, 40, 64, 65, 130, 300 } do
        for _, span in ipairs(spans) do
          local t, indices, expected = {}, {}, {}
          local least, most = unpack(span)
          for k = 1, size do t[k] = least + (k * 2654435 + k * k) % (most - least + 1) end
          for index = -1, size + 18 do
            indices[#indices + 1] = index
            expected[#expected + 1] = t[index] or 0
          end
          assert.same(expected, entries_of(t, indices, rg.i32))
        end
      end
    end)
  end)

  it("may have rows of several lengths, and may index another table", function()
    local rows = { { 3, 1 }, {}, { 2 }, { 5, 6, 7, -8 } }
    local ways, m = { 2, 1, 4, 3 }, 7
    local x = rg.field(rg.i32, m, m)
    local y = rg.field(rg.i32, m, m)
    rg.kernel(function()
      for i, j in rg.range(m, m) do
        x[i][j] = rows[i - 1][j - 1]
        y[i][j] = ways[rows[ways[i]][j]] + 10 * #rows[i]
      end
    end)()
    for i = 0, m - 1 do
      for j = 0, m - 1 do
        assert.equal((rows[i - 1] or {})[j - 1] or 0, x[i][j])
        local way = (rows[ways[i] or 0] or {})[j] or 0
        assert.equal((ways[way] or 0) + 10 * #(rows[i] or {}), y[i][j])
      end
    end
  end)

  it("may be as large as the table of marching cubes", function()
    local t, n = {}, 256 * 16
    for i = 1, 256 do
      t[i] = {}
      for j = 1, 16 do t[i][j] = (i * 37 + j * 11) % 13 - 1 end
    end
    local x = rg.field(rg.i32, n)
    rg.kernel(function()
      for i in rg.range(n) do x[i] = t[math.floor(i / 16) + 1][i % 16 + 1] end
    end)()
    for i = 0, n - 1 do
      if t[math.floor(i / 16) + 1][i % 16 + 1] ~= x[i] then error("x[" .. i .. "]") end
    end
    t[257] = { 1 }
    local message = failure(function()
      rg.kernel(function() for i in rg.range(n) do x[i] = t[i][1] end end)()
    end)
    assert.matches("too long to be indexed", message, 1, true)
  end)

  it("may hold booleans, vectors, and numbers that are no literals", function()
    local is, to = { true, false, true }, { rg.vec2(1, 2), rg.vec2(-3, 4) }
    local below = 1 / -math.huge -- -0.0, which LuaJIT reads as 0 on aarch64
    local odd = { math.huge, below, -math.huge, 2 ^ -60 }
    local count, last = rg.field(rg.i32, 5), rg.field(rg.vec2, 5)
    local x = rg.field(rg.f64, 6)
    rg.kernel(function()
      for i in rg.range(5) do
        if is[i] then count[i] = 1 end
        last[i] = to[i]
      end
      for i in rg.range(6) do x[i] = 1 / odd[i] end
    end)()
    assert.same({ 0, 1, 0, 1, 0 }, { count[0], count[1], count[2], count[3], count[4] })
    assert.same({ 0, 0, 1, 2, -3, 4, 0, 0 }, { last[0].x, last[0].y, last[1].x, last[1].y,
      last[2].x, last[2].y, last[3].x, last[3].y })
    assert.same({ 0, -math.huge, 0, 2 ^ 60, math.huge }, { x[1], x[2], x[3], x[4], x[5] })
  end)

  it("picks components of vectors", function()
    local which = { 2, 0, 7, 1, 3 }
    local n = 8
    local x = rg.field(rg.f32, n)
    local y = rg.field(rg.f32, n)
    rg.kernel(function()
      for i in rg.range(n) do
        local v = rg.vec(8, rg.f32)(0)
        for c = 0, 7 do v[c] = 10 * i + c end
        local w = rg.vec4(i, i + 1, i, i + 1)
        x[i] = v[which[i]]
        y[i] = w[which[i]] + w[i - 2]
      end
    end)()
    for i = 0, n - 1 do
      local w = which[i] or 0
      assert.equal(10 * i + w, x[i])
      local far = w > 3 and 0 or i + w % 2
      assert.equal(far + ((i >= 2 and i < 6) and i + i % 2 or 0), y[i])
    end
  end)
end)

describe("a table that a kernel writes", function()
  it("is indexed from 1, at compile time or at run time", function()
    local k = rg.kernel(function(i --[[: i32]], j --[[: i32]])
      local offsets = { { -1, 0 }, { 0, 1 }, { 5, 6 } }
      local weights = { 0.5, 1, 2 }
      return offsets[1][1], offsets[i][j], weights[i], #offsets, offsets[3][2], #offsets[1]
    end)
    assert.same({ -1, 1, 1, 3, 6, 2 }, { k(2, 2) })
    assert.same({ -1, 5, 2, 3, 6, 2 }, { k(3, 1) })
    assert.same({ -1, 0, 0, 3, 6, 2 }, { k(4, 1) })
    assert.same({ -1, 0, 0.5, 3, 6, 2 }, { k(1, 0) })
  end)

  it("holds integers if they are whole, for indices and bounds", function()
    local x = rg.field(rg.i32, 8)
    local k = kernel([=[function()
      local at, n = {1, 3, 6}, {2, 4}
      for i in rg.range(n[1]) do x[at[i + 1]] = x[at[i + 1]] + n[2] end
      for k = 1, 3 do x[at[k]] += 1 end
      return at[2] / 2, at[3] // 4
    end]=], { x = x })
    local half, quarter = k()
    assert.equal(1.5, half)
    assert.equal(1, quarter)
    assert.same({ 5, 5, 1, 0 }, { x[1], x[3], x[6], x[0] })
  end)

  it("is unrolled by ipairs, with constants", function()
    local x = rg.field(rg.f32, 4, 4)
    local k = rg.kernel(function()
      for i, j in rg.range({ 1, 3 }, { 1, 3 }) do
        local s = 0
        for _, d in ipairs({ { -1, 0 }, { 1, 0 }, { 0, -1 }, { 0, 1 } }) do
          s = s + x[i + d[1]][j + d[2]]
        end
        x[i][j] = s
      end
    end)
    for i = 0, 3 do for j = 0, 3 do x[i][j] = 1 end end
    k()
    assert.is_true(x[1][1] >= 4)
    local sum = rg.kernel(function()
      local s = 0
      for n, w in ipairs({ 1, 2, 4 }) do
        if rg.static(n ~= 2) then s = s + rg.static(w * 10) end
      end
      return s
    end)
    assert.equal(50, sum())
  end)

  it("may hold vectors, booleans, fields, functions, and captured numbers", function()
    local x, y, n = rg.field(rg.f32, 4), rg.field(rg.f32, 4), 7
    x[1], y[1] = 3, 4
    local function twice(v) return 2 * v end
    local function half(v) return v / 2 end
    local k = rg.kernel(function()
      local pair, f = { x, y }, { twice, half }
      local v = { rg.vec2(1, 2), rg.vec2(3, 4) }
      local s = v[2].y
      for _, w in ipairs(v) do s = s + w.x end
      local on = { true, false }
      return pair[1][1] + 10 * pair[2][1], f[1](pair[2][1]), f[2](3), s, on[2], ({ n, 2 })[1]
    end)
    assert.same({ 43, 8, 1.5, 8, false, 7 }, { k() })
    n = 8
    assert.equal(8, (select(6, k())))
  end)

  it("may be passed to functions", function()
    local function at(t, i, j) return t[i][j] end
    local function total(t)
      local s = 0
      for _, v in ipairs(t) do s = s + v end
      return s
    end
    local k = rg.kernel(function(i --[[: i32]])
      local t = { { 1, 2 }, { 3, 4 } }
      return at(t, i, 2), at({ { 7, 8 } }, 1, 1), total(t[2]), total({ 5, 6 })
    end)
    assert.same({ 4, 7, 7, 11 }, { k(2) })
  end)

  it("is indexed deeper at run time where it is captured, too", function()
    local t = { { 1, 2 }, { 3, 4, 5 } }
    local k = rg.kernel(function(i --[[: i32]], j --[[: i32]]) return t[i][j], t[2][j] end)
    assert.same({ 4, 4 }, { k(2, 2) })
    assert.same({ 0, 5 }, { k(1, 3) })
    t[1] = { 9, 8, 7 }
    assert.same({ 7, 5 }, { k(1, 3) })
  end)
end)

describe("a row of a table that is picked at run time", function()
  local edges = { { 0, 1 }, { 0, 2 }, { 3, 4 } }

  it("may be a local", function()
    local x = rg.field(rg.f32, 3)
    local k = rg.kernel(function(m --[[: i32]])
      for i in x:active() do
        local edge, twice = edges[i + 1], 2 * i
        local same = edge
        x[i] = 10 * edge[1] + same[2] + 100 * twice
      end
      local own = { { 1, 2 }, { 3, 4 } }
      local row = own[m]
      m = 1
      return row[1], row[m + 1], #row, #own[m]
    end)
    assert.same({ 3, 4, 2, 2 }, { k(2) })
    assert.same({ 1, 202, 434 }, { x[0], x[1], x[2] })
    assert.same({ 0, 0, 2, 2 }, { k(3) })
  end)

  it("may be picked by several indices, and in steps", function()
    local tris = { { { 0, 1, 2 }, { 2, 1, 3 } }, {}, { { 4, 5, 6 } } }
    local k = rg.kernel(function(case --[[: i32]])
      local sum, cuts = 0, tris[case]
      for n = 1, #cuts do
        local a, tri = tris[case][n], cuts[n]
        sum = sum + a[1] + 10 * tri[2] + 100 * tri[#tri]
      end
      return sum, #tris[case]
    end)
    assert.same({ 2 + 20 + 500, 2 }, { k(1) })
    assert.same({ 0, 0 }, { k(2) })
    assert.same({ 654, 1 }, { k(3) })
    assert.same({ 0, 0 }, { k(9) })
  end)

  it("is computed once", function()
    local n = rg.field(rg.i32, 1)
    local k = kernel([=[function()
      local function next_one() n[0] += 1 return n[0] end
      local edge = edges[next_one()]
      return edge[1] + edge[2] + edge[1] + edge[2]
    end]=], { n = n, edges = edges })
    assert.equal(2, k())
    assert.equal(1, n[0])
    assert.equal(4, k())
    assert.equal(14, k())
  end)

  it("is unrolled by ipairs, unpacked, and passed to functions", function()
    local deep = { { { 1, 2 }, { 3, 4 } }, { { 5, 6 }, { 7, 8 } } }
    local function second(row, k) return row[k] end
    local k = rg.kernel(function(i --[[: i32]])
      local s, edge = 0, edges[i]
      for n, v in ipairs(edge) do s = s + n * v end
      for _, v in ipairs(edges[i]) do s = s + 100 * v end
      for _, row in ipairs(deep[i]) do s = s + 1000 * row[2] end
      local a, b = unpack(edge)
      return s, a, b, second(edge, 2), second(edges[i], i)
    end)
    assert.same({ 4 + 200 + 14000, 0, 2, 2, 2 }, { k(2) })
    assert.same({ 2 + 100 + 6000, 0, 1, 1, 0 }, { k(1) })
  end)

  it("may hold vectors", function()
    local steps = { { rg.ivec2(1, 2), rg.ivec2(3, 4) }, { rg.ivec2(5, 6), rg.ivec2(7, 8) } }
    local k = rg.kernel(function(i --[[: i32]])
      local step = steps[i]
      return step[1].x, step[i].y
    end)
    assert.same({ 5, 8 }, { k(2) })
  end)

  it("reports what it cannot be", function()
    local function fails(body, ...)
      return failure(kernel("function(i: i32) local t = {{1, 2}, {3}} " .. body .. " end"), ...)
    end
    assert.equal("loop.invalid", fails("for _, v in ipairs(t[i]) do end", 1).code)
    assert.equal("call.invalid", fails("return unpack(t[i])", 1).code)
    assert.equal("type.mismatch", fails("local e = t[i] return e[1][2]", 1).code)
    assert.equal("static.unknown", fails("local e = t[i] return rg.static(e[1])", 1).code)
    assert.truthy(fails("local e = t[1.5] return e[1]", 1).message)
    assert.equal("kernel.unsupported", fails([[
      local function f(row, n: i32): i32
        if n < 1 then return row[1] end
        return f(row, n - 1)
      end
      return f(t[i], i) ]], 1).code)
    assert.equal("kernel.unsupported", fails([[
      local e = t[i]
      local function f(n: i32): i32
        if n < 1 then return e[1] end
        return f(n - 1)
      end
      return f(i)]], 1).code)
  end)
end)

describe("a mistake with a table that a kernel writes", function()
  local function fails(text, ...) return failure(kernel(text), ...) end

  it("is an index out of bounds", function()
    local err = fails "function() local t = {1, 2} return t[0] end"
    assert.equal("index.range", err.code)
    assert.equal("lists start at 1, as in Lua", err.hint)
    assert.equal("index.range", fails("function() local t = {1, 2} return t[3] end").code)
    assert.equal("type.mismatch", fails("function() local t = {1, 2} return t[1][2] end").code)
  end)

  it("is a hole", function()
    assert.equal("name.nil", fails("function() local t = {1, nil, 3} return t[1] end").code)
  end)

  it("is its use as a value, and an assignment to it", function()
    assert.equal("kernel.unsupported", fails("function() local t = {1, 2} return t end").code)
    assert.equal("kernel.unsupported",
      fails("function(i: i32) local t = {{1}, {2}} return t[i] end", 1).code)
    assert.equal("kernel.unsupported",
      fails("function(i: i32) local t = {{1}, {2}} local u = t[i] return u end", 1).code)
    assert.equal("type.mismatch",
      fails("function(i: i32) local t = {{1}, {2}} local u: i32 = t[i] return u end", 1).code)
    assert.equal("kernel.unsupported",
      fails("function(i: i32) local t = {{1}, {2}} local u = t[i] u = t[1] return 1 end", 1).code)
    assert.truthy(fails("function() local t = {1, 2} t = {3} return t[1] end").code)
  end)

  it("is a run-time index where it holds more than numbers", function()
    assert.equal("kernel.unsupported",
      fails("function(i: i32) local t = {rg.vec2(1, 2), 3} return t[i].x end", 1).code)
  end)

  it("hold vectors, matrices or booleans that are indexed at run time", function()
    local steps, turns = { rg.ivec2(1, 0), rg.ivec2(0, 1) }, { rg.mat2 { { 1, 2 }, { 3, 4 } } }
    local marks, wide = { true, false, true }, { { rg.dvec2(0.1, 2), rg.dvec2(3, 4) }, {} }
    local big = { rg.vec(2, rg.i64)(9007199254740993LL, -1) }
    local f = rg.field(rg.f32, 4, 4)
    local k = rg.kernel(function(i)
      local written = { rg.vec2(1, 0.1), rg.vec2(0, 1) }
      for q in rg.range(#steps) do f[rg.ivec2(1, 1) + steps[q + 1]] = q + 1 end
      return written[i], turns[i] * rg.vec2(1, 1), marks[i], wide[i][2], big[i].x
    end)
    assert.same({ rg.vec2(1, 0.1), rg.vec2(3, 7), true, rg.dvec2(3, 4), 9007199254740993LL },
      { k(1) })
    assert.same({ 1, 2 }, { f[2][1], f[1][2] })
    assert.same({ rg.vec2(0), rg.vec2(0), true, rg.dvec2(0), 0LL }, { k(3) })
    steps[2] = rg.ivec2(2, 2)
    k(2)
    assert.equal(2, f[3][3])
    for _, items in ipairs { { rg.vec2(1), 3 }, { rg.vec2(1), rg.vec3(1) }, { 1, true },
      { rg.vec2(1), rg.ivec2(1) } } do
      local ok, refused = pcall(rg.kernel(function(i) return items[i] end), 1)
      assert.is_false(ok)
      assert.equal("kernel.unsupported", refused.code)
    end
  end)
end)
