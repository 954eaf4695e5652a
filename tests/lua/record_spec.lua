--- record_spec.lua - tables of values in kernels: `{pos = p, r = 2}`, `{a, b, c}`. Results are
--- compared with those of the same text run by Lua.
local support = require "support"
local rg = support.rg
local failure = support.failure

local runtime = rg.new { default_float = "f64" } -- as Lua has it

-- Compares a text `function(n) .. end` as a kernel and as Lua, for n from 0 to 7.
local function agrees(text, captures)
  captures = captures or {}
  captures.math, captures.ipairs, captures.unpack = math, ipairs, unpack
  local kernel = runtime.kernel(text, captures)
  local plain = setfenv(assert(loadstring("return " .. text)), captures)()
  for n = 0, 7 do assert.same({ plain(n) }, { kernel(n) }, text) end
end

local function fails(body, captures)
  return failure(rg.kernel(("function(n: i32) %s end"):format(body), captures or {}), 3)
end

describe("a table of values", function()
  it("has members that are read and written", function()
    agrees [[function(n)
      local p = {x = n + 1, r = 0.5, on = n > 3}
      p.x = p.x * 2
      p.r = p.r + p.x
      if p.on then p.x = -1 end
      return p.x, p.r, p["x"]
    end]]
  end)

  it("is nested, and copied where it is assigned", function()
    agrees [[function(n)
      local p = {at = {x = n, y = 2}, m = 3}
      local q = {at = p.at, m = p.m}
      p.at = {y = n * 2, x = 7}
      p.m = q.at.x + p.at.y
      return p.at.x, p.at.y, p.m, q.at.x, q.m
    end]]
    local k = rg.kernel "function(n) local p = {x = n} local q = p q.x = 9 return p.x, q.x end"
    assert.same({ 1, 9 }, { k(1) })
  end)

  it("takes one type from all branches and loops", function()
    agrees [[function(n)
      local p, best = {a = 1, b = 2}
      if n > 3 then p = {b = 2.5, a = n} elseif n > 1 then p = {a = p.b, b = p.a} end
      for i = 0, 9 do
        local d = (i - n) * (i - n) + 0.25
        if i == 0 or d < best.d then best = {d = d, i = i} end
        p.a = p.a + i
      end
      while p.b < 20 do p = {a = p.a + 1, b = p.b + p.b} end
      return p.a, p.b, best.d, best.i
    end]]
  end)

  it("is passed to functions and returned by them", function()
    agrees [[function(n)
      local function make(a) return {a = a, b = {c = a * 2, d = 3}} end
      local function early(i) if i > 3 then return {a = 1, b = 2} end return {b = 3.5, a = i} end
      local function two(p) return p.a, {x = p.b.c} end
      local function swap(p) return {a = p.b, b = p.a} end
      local p, m = make(n), early(n)
      local a, q = two(make(5))
      m = swap(swap(swap(m)))
      return p.a, p.b.c, m.a, m.b, a, q.x, make(n).b.d, early(n).b, swap(early(n)).a
    end]]
  end)

  it("has methods, and holds functions", function()
    agrees [[function(n)
      local p = {x = n, twice = function(self, by) return self.x * 2 + by end}
      return p:twice(3), p.twice(p, 1)
    end]]
  end)

  it("is chosen by a condition, one arm at a time", function()
    agrees [[function(n)
      local function make(a) return {x = a, y = 10 / (a + 1)} end
      local p = n > 3 and {x = 1, y = 2} or make(n)
      local q = n > 5 and p or n > 2 and {y = 7, x = 8} or {x = 9, y = 0}
      return p.x, p.y, q.x, q.y
    end]]
  end)

  it("is written to an element of structs, of fields and arrays", function()
    local P = rg.struct { { "pos", rg.vec2 }, { "mass", rg.f32 } }
    local x, y = rg.field(P, 4), rg.array(P, 4)
    rg.kernel(function()
      local function make(i) return { mass = i, pos = { i, 2 * i } } end
      for i in rg.range(4) do
        local p = { pos = rg.vec2(i, 1) }
        x[i] = p
        y[i] = { mass = 1, pos = p.pos + 1 }
        if i > 1 then y[i] = make(i) end
        local q = P(make(7))
        if i == 3 then x[i] = q end
      end
    end)()
    assert.equal("{pos = vec2(2, 1), mass = 0}", tostring(x[2]))
    assert.equal("{pos = vec2(7, 14), mass = 7}", tostring(x[3]))
    assert.equal("{pos = vec2(2, 2), mass = 1}", tostring(y[1]))
    assert.equal("{pos = vec2(2, 4), mass = 2}", tostring(y[2]))
  end)
end)

describe("a list of values", function()
  it("is indexed, counted and walked", function()
    agrees [[function(n)
      local fx = n * 0.25
      local w = {0.5 * (1.5 - fx) ^ 2, 0.75 - (fx - 1) ^ 2, 0.5 * (fx - 0.5) ^ 2}
      local s, t = 0, 0
      for k = 1, #w do s = s + w[k] * k end
      for k, v in ipairs(w) do t = t + v * w[k] + k end
      local a, b = unpack(w)
      return s, t, w[1], w[1 + 1], a + b, w[n % 3 + 1]
    end]]
  end)

  it("holds lists, vectors and tables with names", function()
    agrees [[function(n)
      local m = {{n, 2, 3}, {4, n + 1, 6}}
      local ps = {{x = n, m = 1}, {x = 2, m = n}}
      local s = 0
      for a = 1, 2 do
        for b = 1, 3 do s = s + m[a][b] * b end
        local p = ps[a]
        s = s + p.x * p.m + ps[3 - a].x
      end
      for _, p in ipairs(ps) do s = s + p.m end
      return s, m[2][n % 3 + 1], m[n % 2 + 1][2]
    end]]
    local k = rg.kernel(function(n)
      local w = { rg.vec2(n, 1), rg.vec2(2, n) }
      local s = rg.vec2(0)
      for k = 1, 2 do s = s + w[k] * k end
      return s, w[2].y, w[1][0]
    end)
    local s, y, x = k(3)
    assert.same({ 7, 7, 3, 3 }, { s.x, s.y, y, x })
  end)

  it("holds matrices and vectors, written whole or computed", function()
    for values, expected in pairs {
      ["rg.mat2(1), rg.mat2(2)"] = "mat2(2, 0, 0, 2)",
      ["rg.mat2(n), rg.mat2(n + 1)"] = "mat2(3, 0, 0, 3)",
      ["rg.mat2(1), rg.mat2(1, 2, 3, 4) * 2"] = "mat2(2, 4, 6, 8)",
      ["rg.mat2(1), rg.mat2(1, 2, 3, 4):transpose()"] = "mat2(1, 3, 2, 4)",
      ["rg.mat2(1), rg.transpose(rg.mat2(1, 2, 3, 4))"] = "mat2(1, 3, 2, 4)",
      ["rg.vec2(1), rg.mat2(2) * rg.vec2(1, 2)"] = "vec2(2, 4)",
      ["rg.vec2(1), -rg.vec2(1, 2)"] = "vec2(-1, -2)",
      ["rg.ivec2(1), -rg.ivec2(1, 2) * 2"] = "ivec2(-2, -4)",
    } do
      local text = ("function(n: i32) local t = { %s } return t[n] end"):format(values)
      assert.equal(expected, tostring(rg.kernel(text)(2)), values)
    end
  end)

  it("can be written, also at a run-time index", function()
    agrees [[function(n)
      local w, u = {0, 0, 0}, {1, 2}
      for j = 0, 7 do w[j % 3 + 1] = w[j % 3 + 1] + j end
      w[2] = w[2] * 10
      u = {n, w[n % 3 + 1]}
      local ps = {{x = 1, y = 2}, {x = n, y = 4}}
      ps[n % 2 + 1] = {x = 7, y = n}
      ps[1].x = ps[1].x + 1
      return w[1], w[2], w[3], u[1], u[2], ps[1].x, ps[2].x, ps[2].y
    end]]
    local k = rg.kernel [[function(n: i32)
      local w = {1, 2}
      w[n] += 5
      w[1] *= 3
      return w[1], w[2]
    end]]
    assert.same({ 18, 2 }, { k(1) })
    assert.same({ 3, 7 }, { k(2) })
  end)

  it("can be written at an index that is computed from known numbers", function()
    agrees [[function(n)
      local w, ps, m = {n, 2}, {{x = 1}, {x = n}}, {{1, n}, {3, 4}}
      w[1 + 1] = 5
      ps[2 - 1].x = 7
      m[1 + 0][2] = 9
      m[2][3 - 2] = n
      return w[2], ps[1].x, m[1][2], m[2][1]
    end]]
  end)

  it("can be written at several run-time indices in one assignment", function()
    agrees [[function(n)
      local a, i, t = {n, 3, 1}, 1, 0
      for k = 1, 3 do
        for j = 1, 2 do if a[j] > a[j + 1] then a[j], a[j + 1] = a[j + 1], a[j] end end
      end
      local ps, q = {{x = 1}, {x = n}}, {5, 6}
      ps[i], ps[i + 1] = ps[i + 1], ps[i]
      i, q[i], t = i + 1, 20, q[i]
      return a[1], a[2], a[3], ps[1].x, ps[2].x, i, q[1], q[2], t
    end]]
  end)

  it("may replace the list whose values it is made of, and may be empty", function()
    agrees [[function(n)
      local t = {n}
      local t = {t[1], 2, t[1] + t[1]}
      local u = {{}, {n}}
      u[1] = {}
      return t[1], t[2], t[3], #u[1], #u
    end]]
  end)

  it("may hold only fields, whose elements are written", function()
    local a, b = rg.field(rg.f32, 4), rg.field(rg.f32, 4)
    local k = rg.kernel(function(n)
      local both, named = { a, b }, { a = a }
      both[2][n], both[1 + 0][1] = 5, 6
      named.a[3] = 7
      return both[2][2] + both[1][1] * 10 + named.a[3] * 100
    end)
    assert.equal(765, k(2))
  end)

  it("is zero at an index out of bounds", function()
    local k = rg.kernel "function(n: i32) local w = {n, 2} w[n] = 9 return w[n], w[1], w[2] end"
    assert.same({ 0, 5, 2 }, { k(5) })
    assert.same({ 0, -1, 2 }, { k(-1) })
    assert.same({ 0, 0, 2 }, { k(0) })
  end)
end)

describe("tables of values in parallel loops", function()
  it("are each iteration's own, or what it reduces into", function()
    local x = rg.field(rg.f32, 16)
    local k = rg.kernel(function()
      local all = { sum = 0, most = -1, count = { rg.i32(0), 2 } }
      for i in rg.range(16) do
        local w = { i * 0.5, 1 - i * 0.5 }
        x[i] = w[i % 2 + 1]
        all.sum = all.sum + w[1]
        all.most = math.max(all.most, i)
        all.count[1] = all.count[1] + 1
      end
      return all.sum, all.most, all.count[1], all.count[2]
    end)
    assert.same({ 60, 15, 16, 2 }, { k() })
    assert.equal(-0.5, x[3])
    assert.equal(2, x[4])
  end)

  it("make no branch and no memory where indices are known", function()
    local x = rg.field(rg.f32, 64)
    local k = rg.kernel(function()
      for i in rg.range(64) do
        local w = { i * 0.5, 1 - i * 0.5 }
        local p = { a = w[1], b = { w[2], 3 } }
        x[i] = p.a + p.b[1] * p.b[2]
      end
    end)
    k()
    local ir = k:ir()
    for _, op in ipairs { " var", " if", "pick" } do assert.falsy(ir:find(op, 1, true), ir) end
  end, "#compiled")
end)

describe("a table of values reports in one sentence", function()
  local cases = {
    { "local p = {x = n} p.y = 1", "'p' is a table {x}, and has no 'y'" },
    { "local p = {x = n} return p.z", "'p' is a table {x}, and has no 'z'" },
    { "local p = {pos = n} return p.poss", "did you mean 'pos'?" },
    { "local p = {x = n} return p + 1",
      "a number or a vector is needed here, but this is a table {x}" },
    { "local p, q = {x = n}, {x = n} return p == q",
      "a table in a kernel is a value without identity, so 'p == q' cannot be evaluated" },
    { "local p = {x = n} if n > 1 then p = {y = 1} end",
      "'p' is a table {x}, but this is a table {y}" },
    { "local p = {x = n} p = 3", "'p' is a table {x}, but this is a number" },
    { "local p = {x = n, y = {1}} p.y = 4", "'p.y' is a list of 1 value, but this is a number" },
    { "local p = {x = n} p = {x = rg.vec2(1, 2)}",
      "'p.x' is a number, and this value is a vector of 2" },
    { "local w = {n + 1, 2} w[1] = 0 return w[3]", "'w' is a list of 2 values, and has no [3]" },
    { "local w = {n, 2} w[1] = 0 return w[0]", "lists start at 1, as in Lua" },
    { "local m = n * 2 local w = {m, rg.vec2(1, 2)} return w[n].x",
      "'w' holds values of several kinds, so its index must be known" },
    { "local p = {x = n} return p[n]",
      "'p' is a table {x}: values with names can only be accessed by name" },
    { "local p = {x = n, x = 2}", "'x' is given twice" },
    { "local p = {[n] = 2}", "the keys of a table in a kernel must be names" },
    { "local p = {n, nil, 3}", "a table in a kernel cannot have holes" },
    { "local p = {x = n, s = 'a'}", "strings exist in kernels only" },
    { "local p = {x = n} for k, v in pairs(p) do end", "pairs" },
    { "local function f(p) p.x = 2 end f({x = n})",
      "'p' is a copy of the caller's table, so changing it would not change that table" },
    { "local p = n > 1 and {x = n} return p.x", "table" },
    { "local m = {{1, n}, {3, 4}} m[n][2] = 7",
      "'m[n][2]' cannot be assigned: with an index known only at run time, only whole values" },
    { "local function f(a) return a end local t = {n + 1, f} return t[n]",
      "'t' holds more than numbers" },
    { "local m = {{x = n}, {x = 2}} m[n].x = 7", "local v = m[n], change v, then m[n] = v" },
    { "local w = {n, 2} w[n], w[1] = 5", "together with locals and such elements only" },
    { "return {x = n}", "a number or a vector is needed here, but this is a table {x}" },
  }
  for _, case in ipairs(cases) do
    it("what is wrong with " .. case[1], function()
      local err = fails(case[1], { rg = rg, pairs = pairs })
      local said = err.message .. (err.hint or "")
      assert.truthy(said:find(case[2], 1, true), said)
    end)
  end
end)
