-- language_spec.lua - what users of Lua and of Taichi expect of the kernel language. T: behaviours
-- 72 to 91 of Taichi's tests; L: expectations of Lua users.
-- luacheck: globals nobody, ignore 512 411 421 431
local support = require "support"
local rg, failure = support.rg, support.failure

local function numbers(t, ...)
  local x = rg.field(t, select("#", ...))
  for k, v in ipairs { ... } do x[k - 1] = v end
  return x
end

local function run(text, captures, ...) return rg.kernel(text, captures)(...) end

describe("loops", function()
  it("with zero iterations change nothing (T72)", function()
    local x = numbers(rg.i32, 7, 7)
    run("function(n) for i in rg.range(n) do x[0] = 0 end for i = 1, n do x[1] = 0 end end",
      { x = x }, 0)
    run("function(n) for i, j in rg.range(n, 5) do x[0] = 0 end \z
      for i, j in rg.range(3, n) do x[1] = 0 end end", { x = x }, -4)
    run("function(n) for i in rg.range(2) do for l in rg.range(n) do x[i] = 0 end end end",
      { x = x }, -1)
    assert.same({ 7, 7 }, x:to_table())
  end)

  it("take begin and end from fields and arguments (T72)", function()
    local b = numbers(rg.i32, 10, 20)
    assert.equal(145, run("function() local s = 0 \z
      for i in rg.range({ b[0], b[1] }) do s += i end return s end", { b = b }))
    assert.equal(-15, run("function(a, z) local s = 0 for i in rg.range({ a, z }) do s += i end \z
      return s end", nil, -5, 0))
  end)

  it("have bounds that an earlier loop computed (T73)", function()
    local n = 10
    local total = run([[function(n)
      local m, s = 0, 0
      for i in rg.range(n) do m += i * 2 end
      for i in rg.range(m) do s += 1 end
      for i in rg.range(n * n) do s += 1 end
      return s
    end]], nil, n)
    assert.equal(n * (n - 1) + n * n, total)
  end)

  it("are left by break where they are serial, each its own (T74)", function()
    local x = rg.field(rg.i32, 4)
    rg.kernel(function()
      for i in rg.range(4) do
        for k = 0, 1000 do
          if k * (i + 1) >= 100 then break end
          local n = 0
          while true do
            n = n + 1
            if n > 2 then break end
          end
          x[i] = x[i] + n
        end
      end
      for k in rg.range(50):serial() do
        if k == 25 then break end
        x[0] = x[0] + 1
      end
    end)()
    assert.same({ 325, 150, 102, 75 }, x:to_table())
    assert.equal("loop.invalid", failure(
      rg.kernel(function() for _ in rg.range(4) do break end end)).code)
  end)

  it("carry locals of the kernel from one to the next (T76)", function()
    local a, b, c = rg.kernel(function()
      local s = 0
      for i in rg.range(10) do s = s + i end
      local copy, t = 1, s
      for _ in rg.range(21) do
        local mine = copy
        mine = mine + t
        s = s + mine - 1
      end
      t = t + 1
      return s, t, copy
    end)()
    assert.same({ 45 + 45 * 21, 46, 1 }, { a, b, c })
  end)

  it("see changes of an element through another name of it (T77)", function()
    local p = rg.field(rg.f32, 2)
    rg.kernel(function()
      for n in rg.range(2) do
        local row = p
        for _ = 1, 3 do p[n] = p[n] + 1 end
        row[n] = row[n] + p[n] - 2
      end
    end)()
    assert.same({ 4, 4 }, p:to_table())
  end)
end)

describe("arithmetic", function()
  it("of mixed unsigned types is that of the wider (T82)", function()
    local a, b = numbers(rg.u16, 900), numbers(rg.u8, 155)
    assert.same({ 745, 65536 - 745 }, { run("function() return a[0] - b[0], b[0] - a[0] end",
      { a = a, b = b }) })
  end)

  it("divides and takes remainders as in Lua (T90)", function()
    local f, u, w = numbers(rg.f64, 0.5, 1e15 + 1e9), numbers(rg.u32, 3583196299),
      numbers(rg.i64, 1000001000000000LL)
    local c = { f = f, u = u, w = w }
    assert.same({ 0.5, 212107 }, { run("function() return f[0] % 1, u[0] % 524288 end", c) })
    assert.equal(100000LL, run("function() return w[0] // 10000000000 end", c))
    assert.equal(100000, run("function() return f[1] // 1e10 end", c))
  end)

  it("is Lua's for a table of expressions (L22)", function()
    local expressions = {
      "7 / 2", "-7 % 3", "7 % -3", "2 ^ 10", "2 ^ -1", "-2 ^ 2", "2 ^ 3 ^ 2", "7.5 % 2", "-7.5 % 2",
        "1 - 2 - 3", "2 * 3 % 4",
      "(5 > 3 and 1 or 2) + 0.5", "not (1 > 2) and 3 or 4", "1 < 2 and 2 < 1 and 5 or 6",
        "math.floor(-3.5)", "math.ceil(-3.5)",
      "math.max(3, 1, 2)", "math.min(3.5, 2)", "math.abs(-4)", "math.fmod(-7, 3)", "10 / 4 * 2",
        "5 // 2 == 2 and 1 or 0",
      "1e3 + 0x10", "3 ~= 4 and 7 or 8", "math.sqrt(2) ^ 2 > 1.999 and 1 or 0",
    }
    local lua = { ["5 // 2 == 2 and 1 or 0"] = 1 }
    for _, e in ipairs(expressions) do
      local want = lua[e] or loadstring("return " .. e)()
      assert.is_near(want, run(("function() return rg.f64(%s) end"):format(e)), 1e-12, e)
    end
  end)

  it("of a literal, of a local that starts with one, and of a float's local, \z
    stays what it is (L23)", function()
    local x = numbers(rg.f32, 0.5, 0.25)
    local s, n = rg.kernel(function()
      local s, n = 0, 0
      for i in rg.range(2) do
        s = s + x[i]
        n = n + 1
      end
      return s, n
    end)()
    assert.same({ 0.75, 2 }, { s, n })
  end)
end)

describe("statements of Lua (L24)", function()
  it("assign several at once, values first", function()
    local x = numbers(rg.i32, 1, 2, 3)
    local a, b, c = rg.kernel(function()
      local i, a, b, c = 0, 1, 2, 3
      a, b, c = c, a, b
      x[0], x[1], x[2] = x[2], x[0], x[1]
      i, x[i] = i + 1, 20
      return a + i * 0, b, c
    end)()
    assert.same({ 3, 1, 2 }, { a, b, c })
    assert.same({ 20, 1, 2 }, x:to_table())
  end)

  it("repeat until a condition that sees the body's locals", function()
    assert.equal(5, rg.kernel(function()
      local n = 0
      repeat
        local done = n >= 4
        n = n + 1
      until done
      return n
    end)())
  end)

  it("hide names in inner blocks", function()
    assert.same({ 1, 12 }, { rg.kernel(function()
      local v, w = 1, 0
      do
        local v = 2
        w = w + v
        for v = 5, 5 do
          local u = v * 2
          w = w + u
        end
      end
      return v, w
    end)() })
  end)

  it("count down and in steps, also of fractions", function()
    assert.same({ 15, 9, 2.5 }, { rg.kernel(function()
      local a, b, c = 0, 0, 0.0
      for i = 5, 1, -1 do a = a + i end
      for i = 1, 6, 2 do b = b + i end
      for i = 0, 1, 0.25 do c = c + i end
      return a, b, c
    end)() })
  end)
end)

describe("kernels as values", function()
  it("can be stored in tables, passed on, and printed (L15)", function()
    local kit = { double = rg.kernel(function(v) return 2 * v end, { name = "double" }) }
    local function apply(f, ...) return f(...) end
    assert.equal(8, apply(kit.double, 4))
    assert.truthy(tostring(kit.double):find("double", 1, true) and tostring(kit.double):find(
      "language_spec.lua:", 1, true))
  end)

  it("are methods of the user's tables (L21)", function()
    local Solver = { n = 3 }
    Solver.__index = Solver
    local x = rg.field(rg.f32, 8)
    Solver.fill = rg.kernel(function(self, v) for i in rg.range(self.n) do self.x[i] = v
      * self.scale end end)
    local s = setmetatable({ x = x, scale = 2, n = 4 }, Solver)
    s:fill(1.5)
    s.n, s.scale = 2, 10
    s:fill(1)
    assert.same({ 10, 10, 3, 3, 0, 0, 0, 0 }, x:to_table())
  end)

  it("leave errors that pcall, xpcall and tostring know (L30)", function()
    local ok, err = pcall(rg.kernel(function() return nobody.here end))
    assert.is_false(ok)
    assert.truthy(err.code and err.message and err.file and err.line and err.column and tostring(
      err):find(err.message, 1, true))
    local k = rg.kernel(function(v) return v + nobody.here end)
    local _, seen = xpcall(k, function(e) return e.code end, 1)
    assert.equal(err.code, seen)
  end)

  it("name and refuse what kernels do not support (L27)", function()
    local cases = {
      ["function() return function() end end"] = "function",
        ["function() local s = 'a' .. 'b' end"] = "string",
      ["function(...) return ... end"] = "variable arguments",
        ["function() return { a = 1 } end"] = "table",
      ["function() coroutine.yield(1) end"] = "coroutine.yield",
        ["function() goto done ::done:: end"] = "goto",
      ["function() return nil end"] = "nil",
    }
    for text, word in pairs(cases) do
      local err = failure(run, text, { coroutine = coroutine })
      assert.truthy(err.message:find(word, 1, true), text .. ": " .. err.message)
      assert.truthy(err.line and err.column)
    end
  end)
end)
