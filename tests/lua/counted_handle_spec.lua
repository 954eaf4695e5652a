-- counted_handle_spec.lua - counted arrays as Lua has them: rg.zeros, rg.list, what kernels return.
local support = require "support"
local rg = support.rg

local function ramp(n)
  return rg.kernel([=[function(n: i32)
    local a = rg.list(rg.f32)
    for i = 0, n - 1 do a:append(2.0 * i) end
    return a
  end]=])(n)
end

local sum = rg.kernel [=[function(a: array(f32)): f32
  local s: f32 = 0
  for i = 0, #a - 1 do s = s + a[i] end
  return s
end]=]

describe("an array that a kernel returns #cpu #compiled", function()
  it("has its elements where the kernel put them", function()
    local a = ramp(5)
    assert.equal(5, #a)
    assert.equal(6, a[3])
    assert.same({ 0, 2, 4, 6, 8 }, a:to_table())
    assert.equal("f32", a.type.name)
    assert.equal("array(f32) [5]", tostring(a))
    assert.equal(1, a:count())
  end)

  it("is readable after collections, and freed with its last handle", function()
    local own = rg.new { allocations = true }
    local make = own.kernel [=[function()
      local a = rg.zeros(rg.i32, 1000)
      a[999] = 7
      return a
    end]=]
    local a = make()
    collectgarbage()
    collectgarbage()
    assert.equal(7, a[999])
    a = nil -- luacheck: ignore
    collectgarbage()
    collectgarbage()
    own.sync()
    local all = own.allocations()
    assert.equal(all.alloc, all.free)
    assert.equal(0, all.bytes)
    own.reset()
  end)

  it("goes back into kernels, which see what Lua changed, and the reverse", function()
    local a = ramp(4)
    assert.equal(12, sum(a))
    a[0] = 100
    assert.equal(112, sum(a))
    rg.kernel [=[function(a: array(f32)) a:append(5.5) end]=](a)
    assert.equal(5, #a)
    assert.equal(5.5, a[4])
    assert.equal(117.5, sum(a))
  end)

  it("grows from Lua, too", function()
    local a = ramp(0)
    assert.equal(0, #a)
    for k = 0, 99 do assert.equal(k, a:append(k)) end
    assert.equal(99, a:pop())
    assert.equal(99, #a)
    assert.equal(98 * 99 / 2, sum(a))
    a:clear()
    assert.equal(0, #a)
    assert.is_nil(a:pop())
    assert.equal("index.range", support.failure(function() return a[0] end).code)
  end)

  it("raises once it is released, also in launches", function()
    local a = ramp(3)
    assert.equal(6, sum(a))
    a:release()
    local e = support.failure(function() return a[0] end)
    assert.equal("handle.destroyed", e.code)
    assert.matches("was released at .*counted_handle_spec.lua", e.message)
    assert.equal("handle.destroyed", support.failure(sum, a).code)
    assert.matches("released", tostring(a))
  end)

  it("is kept by an extension that holds it", function()
    local folder = os.getenv "RG_LIBRARY":match "^(.*/)" .. "extension/"
    local sample, a = rg.extension(folder .. "sample.so"), ramp(4)
    sample.keep(a)
    assert.equal(2, a:count())
    a:release()
    assert.equal(12, sample.kept_sum())
    sample.drop()
  end)
end)

describe("an array of arrays #cpu #compiled", function()
  it("has elements that are held by one more handle each", function()
    local all = rg.kernel [=[function()
      local all = rg.list(rg.array_type(rg.i32))
      for k = 1, 3 do
        local one = rg.zeros(rg.i32, k)
        one[k - 1] = 10 * k
        all:append(one)
      end
      return all
    end]=]()
    assert.equal(3, #all)
    local last = all[2]
    assert.equal(2, last:count())
    assert.equal(30, last[2])
    all:release()
    assert.equal(1, last:count())
    assert.equal(30, last[2])
    last:release()
  end)
end)

describe("rg.zeros and rg.list #cpu #compiled", function()
  it("make arrays from Lua that kernels take", function()
    local z = rg.zeros(rg.f32, 10)
    assert.equal(0, sum(z))
    z[3] = 7
    assert.equal(7, sum(z))
    local l = rg.list(rg.f32)
    l:append(1.5)
    assert.equal(1.5, sum(l))
  end)

  it("have several axes, vectors and structs", function()
    local m = rg.zeros(rg.i32, 2, 3)
    m[1][2] = 5
    assert.same({ { 0, 0, 0 }, { 0, 0, 5 } }, m:to_table())
    assert.equal(5, rg.kernel [=[function(m: array(i32, 2)) return m[1][2] end]=](m))
    local v = rg.list(rg.vec2)
    v:append { 3, 4 }
    assert.equal(rg.vec2(3, 4), v[0])
  end)

  it("refuse what they cannot make", function()
    assert.matches("whole number", support.failure(rg.zeros, rg.f32, 1.5).message)
    assert.equal("memory.budget", support.failure(rg.zeros, rg.f64, 2 ^ 44).code)
  end)
end)
