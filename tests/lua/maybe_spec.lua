--- maybe_spec.lua - values that may be nil in kernels: "found or nil". Results are compared with
--- those of the same text run by Lua.
local support = require "support"
local rg = support.rg
local failure = support.failure

local runtime = rg.new { default_float = "f64" } -- as Lua has it

-- Compares a text `function(n) .. end` as a kernel and as Lua, for n from 0 to 7.
local function agrees(text)
  local captures = { math = math, ipairs = ipairs }
  local kernel = runtime.kernel(text, captures)
  local plain = setfenv(assert(loadstring("return " .. text)), captures)()
  for n = 0, 7 do assert.same({ plain(n) }, { kernel(n) }, text) end
end

describe("a value that may be nil", function()
  it("is the result of a function that may end without a return, where it is tested", function()
    agrees [[function(n)
      local function find(i) if i > 3 then return i * 2 end end
      local function loop(i) for k = 1, 5 do if k * k >= i then return k end end return nil end
      local h, r = find(n), 0
      if h then r = r + h + 100 end
      if h == nil then r = r + 1000 end
      if nil ~= h then r = r + 10000 end
      if not h then r = r + 5 elseif h > 9 and n < 7 then r = r + 7 end
      return r, h or -7, find(n) or -1, find(n) == nil, find(n + 1) ~= nil, h and 1 or 2, h == 8,
        h ~= 8, h == 0, loop(n * n * n) or 77, n > 2 and h or 3
    end]]
  end)

  it("may be a boolean, which may also be false", function()
    agrees [[function(n)
      local function is(i) if i > 3 then return i > 5 end end
      local b, flag = is(n)
      if n > 2 then flag = n > 4 end
      return b == nil, b and 1 or 0, not b, flag and 1 or 0, flag == nil, is(n) and 3 or 4
    end]]
  end)

  it("may be a local that has no value yet, or is set to nil", function()
    agrees [[function(n)
      local best, near, x, y = nil, nil, nil, 3
      for i = 0, 9 do
        local d = (i - n) * (i - n) + 0.25
        if best == nil or d < best then best = d end
        if not near or d < near.d then near = {d = d, i = i} end
      end
      if n > 4 then x = n end
      if n == 6 then x = nil end
      if n > 2 then y = nil end
      if y then y = y + 1 end
      return best, near.d, near.i, x or 9, y or 77, y == nil, (x and x > 5) and 1 or 0
    end]]
  end)

  it("may be assigned in a loop above and below the test", function()
    agrees [[function(n)
      local function step(i) if i < 9 then return i + 2 end end
      local at, count = n, 0
      while at ~= nil do
        count = count + at
        at = step(at)
      end
      local other = step(n)
      repeat
        count = count + 1
        other = other and step(other)  or nil
      until not other
      return count, at == nil
    end]]
  end)

  it("is a table, or one of several values", function()
    agrees [[function(n)
      local function hit(i) if i % 2 == 0 then return {t = i, k = i + 1} end end
      local function two(i)
        if i > 5 then return nil, 3 end
        if i > 3 then return 4 end
        return i, i
      end
      local function chain(i) return two(i) end
      local h, s = hit(n), 0
      if h then s = h.t + h.k end
      while h and h.t < 20 do h = hit(h.t + 4) end
      local a, b = two(n)
      local q = {a = chain(n), b = hit(n + 1)}
      local r = q
      a, b = b, a
      return s, h and h.t or 0, a or -1, b or -2, q.a or 5, r.a == nil, r.b == nil, r.b and 1 or 2
    end]]
    local k = rg.kernel(function(n)
      local function at(i) if i > 3 then return rg.vec2(i, 1) end end
      local v = at(n)
      local w = v or rg.vec2(7, 7)
      return w.x, v == nil
    end)
    assert.same({ 7, true }, { k(1) })
    assert.same({ 5, false }, { k(5) })
  end)

  it("is passed to functions, with defaults", function()
    agrees [[function(n)
      local function find(i) if i > 3 then return i end end
      local function pass(v) if v == nil then return 1 end return v * 2 end
      local function either(v) v = v or 11 return v end
      local function set(v) if v == nil then v = 12 end return v + 1 end
      local sum = 0
      for _, k in ipairs({1, 2, 3}) do
        local z = find(k + n)
        if z then sum = sum + z end
      end
      return pass(find(n)), either(find(n)), set(find(n)), sum
    end]]
  end)

  it("is each iteration's own in a parallel loop", function()
    local x = rg.field(rg.i32, 8)
    rg.kernel(function()
      local function find(i) if i % 3 == 0 then return i end end
      for i in rg.range(8) do
        local h = find(i)
        x[i] = h or -1
        if h then x[i] = x[i] + 10 end
      end
    end)()
    assert.same({ 10, -1, -1, 13, -1, -1, 16, -1 }, support.list(x))
  end)

  it("is zero if it is nil and nothing tests it", function()
    local k = rg.kernel [[function(n)
      local function f(i) if i > 3 then return i end end
      return f(n) + 1
    end]]
    assert.same({ 1, 6 }, { k(1), k(5) })
  end)

  it("costs nothing if nothing can be nil", function()
    local k = rg.kernel "function(n: i32) local s if n > 1 then s = 1 else s = 2 end return s end"
    k(1)
    assert.falsy(k:ir():find("bool = var", 1, true))
  end, "#compiled")

  it("is reported where it is not supported", function()
    local function fails(body)
      return failure(rg.kernel(("function(n: i32) %s end"):format(body), {}), 3).message
    end
    assert.equal("'p.a' always has a value, but this may be nil",
      fails "local p = {a = n} p.a = nil return p.a")
    assert.truthy(fails("return nil"):find("nil", 1, true))
  end)
end)
