-- luacheck: globals nobody
local support = require "support"
local rg, failure = support.rg, support.failure

local function scale(v, by, shift)
  by = by or 3
  if shift == nil then shift = 0.5 end
  return v * by + shift
end

describe("an omitted parameter", function()
  it("has its default value", function()
    local k = rg.kernel(function(v)
      return scale(v), scale(v, 2), scale(v, 2, 1), scale(v, nil, 1)
    end)
    assert.same({ 6.5, 4.5, 5, 7 }, { k(2) })
  end)

  it("is nil, which is known when the kernel is compiled", function()
    local x = rg.field(rg.f32, 4)
    local function store(v, to)
      if to ~= nil then to[1] = v end
      if not to then return -v end
      return to == nil and 1 or v
    end
    local k = rg.kernel(function(v) return store(v), store(v + 1, x) end)
    assert.same({ -3, 4 }, { k(3) })
    assert.equal(4, x[1])
  end)

  it("chooses between two values", function()
    local function pick(v, other) return other == nil and v * 10 or other end
    local function either(v, other) return other or v end
    local k = rg.kernel(function(v) return pick(v), pick(v, 7), either(v), either(v, 8) end)
    assert.same({ 20, 7, 2, 8 }, { k(2) })
  end)

  it("may be a field, which may have a default too", function()
    local x, y = rg.field(rg.f32, 4), rg.field(rg.f32, 4)
    local function put(v, to)
      to = to or x
      for i in rg.range(4) do to[i] = to[i] + v end
    end
    rg.kernel(function() put(1) put(2, y) end)()
    assert.same({ 1, 2 }, { x[3], y[3] })
  end)

  it("is known at compile time if its default or its argument is", function()
    local function sum(n)
      n = n or 3
      local s = 0
      for k in rg.static(rg.range(n)) do s = s + k + 1 end
      return s
    end
    local m = 5
    local k = rg.kernel(function() return sum(4), sum(m) end)
    assert.same({ 10, 15 }, { k() })
  end)

  it("may be assigned to", function()
    local function down(v, n)
      n = n or 4
      while n > 0 do v = v + n n = n - 1 end
      return v, n
    end
    local k = rg.kernel(function(v) return down(v), (down(v, 2)) end)
    assert.equal(11, (k(1)))
    local a, b = k(1)
    assert.same({ 11, 4 }, { a, b })
  end)

  it("is a boolean that may be false", function()
    local function flag(on) on = on or false return on and 1 or 2 end
    local function asked(on)
      if on == nil then on = true end
      return on and 1 or 2
    end
    local k = rg.kernel(function(b)
      return flag(b), flag(), flag(not b), asked(), asked(false), asked(b) end)
    assert.same({ 1, 2, 2, 1, 2, 1 }, { k(true) })
    assert.same({ 2, 2, 1, 1, 2, 2 }, { k(false) })
  end)

  it("may be a vector, or a number computed from other parameters", function()
    local function move(p, v, dt)
      v = v or rg.vec2(1, 2)
      dt = dt or p.x / 2
      return p + v * dt
    end
    local k = rg.kernel(function()
      return move(rg.vec2(4, 0)), move(rg.vec2(4, 0), rg.vec2(0, 1), 3)
    end)
    local a, b = k()
    assert.equal(rg.vec2(6, 4), a)
    assert.equal(rg.vec2(4, 3), b)
  end)

  it("may belong to a kernel", function()
    local x = rg.field(rg.i32, 8)
    local k = rg.kernel(function(n, v --[[: f32]], b)
      n = n or 3
      v = v or 1.5
      if b == nil then b = true end
      for i in rg.range(n) do x[i] = x[i] + 1 end
      return n, v, b
    end)
    assert.same({ 3, 1.5, true }, { k() })
    assert.same({ 5, 1.5, true }, { k(5) })
    assert.same({ 5, 2.5, false }, { k(5, 2.5, false) })
    assert.same({ 3, 3, 2 }, { x[2], x[1] , x[4] })
    local t = rg.kernel([=[function(n: i32) n = n or 7 return n end]=], {})
    assert.same({ 7, 2 }, { t(), t(2) })
  end)

  it("may belong to a recursive function", function()
    local function count(n --[[: i32]], step --[[: i32]]) --[[: i32]]
      step = step or 1
      if n <= 0 then return 0 end
      return 1 + count(n - step, step)
    end
    local k = rg.kernel(function(n) return count(n), count(n, 2) end)
    assert.same({ 10, 5 }, { k(10) })
  end)
end)

describe("a mistake with an omitted parameter", function()
  it("is to use it without a default", function()
    local function twice(v, n) return v * n end
    local err = failure(rg.kernel(function(v) return twice(v) end), 3)
    assert.equal("name.nil", err.code)
    assert.truthy(err.message:find("does not pass 'n'", 1, true))
    assert.truthy(err.hint:find("n = n or ..", 1, true))
    assert.equal("name.nil", failure(rg.kernel(function(v, n) return v * n end), 3).code)
  end)

  it("is to assign it without a default", function()
    local function twice(v, n)
      if v > 1 then n = 2 end
      return n
    end
    assert.equal("name.nil", failure(rg.kernel(function(v) return twice(v) end), 3).code)
  end)

  it("is an argument too many", function()
    local err = failure(rg.kernel(function(v) return scale(v, 1, 2, 3) end), 3)
    assert.equal("call.count", err.code)
  end)
end)
