-- identity_spec.lua - which launches share a compiled kernel, and that their results are right.
local support = require "support"
local rg = support.rg

-- How many kernels `f` makes the compiler compile.
local function compiles(f, ...)
  local before = rg.stats().compiles
  f(...)
  return rg.stats().compiles - before
end

local function counting(t, n)
  local x = rg.field(t, n)
  for i = 0, n - 1 do x[i] = i end
  return x
end

local function tree_of(value)
  local x = rg.field(rg.f32)
  rg.root:pointer("i", 4):dense("i", 4):place(x)
  x[5] = value
  return x
end

describe("one kernel with fields in two places", function()
  local add = rg.kernel("function(a, b) for i in rg.range(#a) do b[i] = a[i] * 10 + b[i] end end")

  it("is compiled once for fields of equal layout, and once more if they are the same \z
    field", function()
    local x, y = counting(rg.i32, 4), counting(rg.i32, 4)
    assert.equal(1, compiles(function()
      add(x, y)
      add(y, x)
      add(x, y)
    end))
    assert.equal(1, compiles(function()
      add(x, x)
      add(y, y)
    end))
    assert.equal(1, compiles(add, counting(rg.f32, 4), counting(rg.f32, 4)))
    assert.equal(0, compiles(add, y, counting(rg.i32, 4)))
  end)

  it("sees its own writes if both are the same field", function()
    local x = counting(rg.i32, 4)
    rg.kernel("function(a, b) for i in rg.range(4) do a[i] = i + 1 b[i] = a[i] + b[i] a[i] = \z
      b[i] * 10 end end")(x, x)
    assert.same({ 20, 40, 60, 80 }, x:to_table())
  end)

  it("updates both halves if both are the same field", function()
    local x = rg.field(rg.i32, 1)
    local k = rg.kernel("function(a, b) for i in rg.range(1000) do a[0] = a[0] + 1 b[0] += 2 end \z
      end")
    k(x, x)
    assert.equal(3000, x[0])
    local y = rg.field(rg.i32, 1)
    k(x, y)
    assert.same({ 4000, 2000 }, { x[0], y[0] })
  end)
end)

describe("captured fields", function()
  it("swapped between launches share code, which runs over the current ones",
    function()
    local a, b = counting(rg.f32, 8), counting(rg.f32, 8)
    local step = rg.kernel(function()
      for i in rg.range(8) do b[i] = a[i] + 1 end
    end)
    assert.equal(1, compiles(function()
      for _ = 1, 6 do
        step()
        a, b = b, a
      end
    end))
    assert.same({ 6, 5 }, { a[0], b[0] })
  end)

  it("of one leaf swapped share a kernel", function()
    local a, b = rg.field(rg.f32), rg.field(rg.f32)
    rg.root:dense("i", 8):place(a, b)
    local step = rg.kernel(function()
      for i in rg.range(8) do b[i] = a[i] + 1 end
    end)
    assert.equal(1, compiles(function()
      for _ = 1, 8 do
        step()
        a, b = b, a
      end
    end))
    assert.same({ 8, 7 }, { a[0], b[0] })
  end)

  it("of sparse trees of one layout share a kernel, and one that aliases the other has its own",
    function()
    local p, q = tree_of(1), tree_of(7)
    local sum = rg.kernel(function()
      local s = 0
      for i in p:active() do s = s + p[i] * 10 + q[i] end
      return s
    end)
    local results = {}
    assert.equal(1, compiles(function()
      results[1] = sum()
      p, q = q, p
      results[2] = sum()
    end))
    assert.equal(1, compiles(function()
      q = p
      results[3] = sum()
    end))
    assert.same({ 17, 71, 77 }, results)
  end)

  it("of other extents, types and trees compile anew, numbers and their changes do not", function()
    local x, scale = counting(rg.f32, 8), 1
    local k = rg.kernel(function(n)
      local s = 0
      for i in rg.range(n) do s = s + x[i] * scale end
      return s
    end)
    assert.equal(1, compiles(k, 4))
    assert.equal(0, compiles(function()
      for n = 1, 8 do
        scale = n
        assert.equal(n * n * (n - 1) / 2, k(n))
      end
    end))
    x = counting(rg.f64, 8)
    assert.equal(1, compiles(k, 4))
    x = counting(rg.f64, 9)
    assert.equal(1, compiles(k, 4))
  end)
end)

describe("a kernel's kinds of arguments", function()
  it("are part of what it is compiled for, their values are not", function()
    local k = rg.kernel(function(a, b) return b and a or -a end)
    local results = {}
    assert.equal(1, compiles(function() results = { k(1, true), k(2.5, false), k(-3, true) } end))
    assert.same({ 1, -2.5, -3 }, results)
    assert.equal(1, compiles(function() results[1] = k(7LL, true) end))
    assert.equal(7LL, results[1])
  end)

  it("distinguish functions by their text", function()
    local k = rg.kernel(function(f, a) return f(a) end)
    local function twice(v) return 2 * v end
    local function thrice(v) return 3 * v end
    assert.same({ 8, 12, 8 }, { k(twice, 4), k(thrice, 4), k(twice, 4) })
    assert.equal(0, compiles(function()
      k(thrice, 5)
      k(twice, 5)
    end))
  end)
end)
