-- counted_copies_spec.lua - counted arrays of which tasks of a GPU have copies: every reader sees
-- the last write, whoever made it.
local rg = require "regolith"

local N = 1000

local make = rg.kernel [=[function(n: i32)
  local a = rg.zeros(rg.i32, n)
  for i in rg.range(n) do a[i] = i end
  return a
end]=]
local add = rg.kernel [=[function(a: array(i32), k: i32)
  for i in rg.range(#a) do a[i] = a[i] + k end
end]=]
local sum = rg.kernel [=[function(a: array(i32))
  local s = 0
  for i in rg.range(#a) do s = s + a[i] end
  return s
end]=]
local total = N * (N - 1) / 2

describe("a counted array #compiled", function()
  it("contains what Lua and kernels have written alternately", function()
    local a = make(N)
    add(a, 1)
    assert.equal(total + N, sum(a))
    assert.same({ 1, 501, 1000 }, { a[0], a[500], a[N - 1] })
    a[500] = 0
    assert.equal(total + N - 501, sum(a))
    add(a, 1)
    assert.equal(1, a[500])
    a:fill(3)
    add(a, 1)
    assert.equal(4 * N, sum(a))
  end)

  it("shares what is written with its slices, and with rg.arrays in its memory", function()
    local a = make(N)
    local part, view = a:slice(100, 10), a:array()
    add(a, 1)
    add(part, 1000)
    assert.equal(total + N + 10000, sum(a))
    assert.equal(1101, view[100])
    view[101] = 0
    assert.same({ 1101, 0, 1103 }, { part[0], part[1], part[2] })
    local twice = rg.kernel(function(x) for i in rg.range(10) do x[i] = x[i] * 2 end end)
    twice(view)
    assert.equal(18, a[8])
    add(a, 1)
    assert.same({ 19, 12 }, { view[8], a[10] })
  end)

  it("is the same for loops that access it through its header, or make others grow", function()
    local a, list = make(N), make(4)
    add(a, 1)
    add(list, 1)
    rg.kernel [=[function(a: array(i32), list: array(i32))
      for i in rg.range(10) do list:append(a[i]) end
    end]=](a, list)
    assert.equal(14, #list)
    add(list, 1)
    assert.equal(2 + 3 + 4 + 5 + 55 + 10, sum(list))
    local swap = rg.kernel [=[function(x: array(array(i32)), i: i32, k: i32)
      for j in rg.range(1) do x[i][j] = x[i][j] + k end
    end]=]
    local all = rg.kernel([=[function(a: array(i32), b: array(i32))
      local x = rg.zeros(List, 2)
      x[0] = a
      x[1] = b
      return x
    end]=], { List = rg.array_type(rg.i32) })(a, list)
    add(a, 10)
    swap(all, 0, 100)
    add(a, 10)
    assert.same({ 121, 22 }, { a[0], a[1] })
  end)

  it("contains what the host region has written between two loops", function()
    local a = make(N)
    local k = rg.kernel [=[function(a: array(i32), n: i32)
      local found = 0
      for turn = 1, n do
        for i in rg.range(#a) do a[i] = a[i] + 1 end
        found = found + a[turn]
        a[turn] = 0
      end
      return found
    end]=]
    assert.equal(2 + 4 + 6, k(a, 3))
    assert.equal(total + 3 * N - (1 + 3) - (2 + 3) - (3 + 3) + 2 + 1, sum(a))
  end)

  it("is waited for by a host region no longer, once a task has failed", function()
    local a, b = make(N), make(4)
    local k = rg.kernel [=[function(a: array(i32), b: array(i32), limit: i32)
      local turns = 0
      while a[5] < 100 do
        for i in rg.range(4) do b[i] = b[i] + 1 end
        for i in rg.range(#a) do
          assert(a[i] < limit or i ~= 5)
          a[i] = a[i] + 10
        end
        turns = turns + 1
      end
      return turns
    end]=]
    local list = rg.list(rg.i32)
    local fill = rg.kernel [=[function(list: array(i32))
      while #list < 10 do
        for i in rg.range(2) do
          assert(#list < 4)
          list:append(i)
        end
      end
    end]=]
    assert.equal("kernel.assert", select(2, pcall(k, a, b, 35)).code)
    assert.same({ 35, 4 }, { a[5], b[0] })
    assert.equal("kernel.assert", select(2, pcall(fill, list)).code)
    assert.equal(7, k(a, b, 1000))
    local x = rg.field(rg.i32, 8)
    local forever = rg.kernel([=[function(list: array(i32))
      while #list < 10 do for i in rg.range(8) do assert(i < 3) x[i] = 1 end end
    end]=], { x = x })
    local ok, e = pcall(function()
      forever(rg.list(rg.i32))
      return x[0]
    end)
    assert.same({ false, "kernel.assert" }, { ok, e.code })
  end)

  it("counts and sums into few elements", function()
    local bins, sums = make(4), rg.zeros(rg.f32, 3)
    local k = rg.kernel [=[function(bins: array(i32), sums: array(f32), n: i32)
      for i in rg.range(n) do
        bins[i % 4] = bins[i % 4] + 1
        sums[i % 3] = sums[i % 3] + 0.5
        sums[0] = math.max(sums[0], 1)
      end
    end]=]
    rg.kernel [=[function(bins: array(i32), n: i32)
      for i in rg.range(n) do bins[i % 4] = bins[i % 4] + 1 end
    end]=](bins, N)
    assert.same({ 250, 251, 252, 253 }, { bins[0], bins[1], bins[2], bins[3] })
    k(bins, sums, 9)
    assert.same({ 253, 1.5 }, { bins[0], sums[2] })
  end)

  it("grows and shrinks from Lua", function()
    local a = make(4)
    add(a, 1)
    a:append(100)
    add(a, 1)
    assert.equal(101, a:pop())
    assert.equal(2 + 3 + 4 + 5, sum(a))
    add(a, 1)
    a:append(7)
    assert.equal(3 + 4 + 5 + 6 + 7, sum(a))
  end)
end)

-- With the driver that executes PTX, which counts copies.
describe("a copy of a counted array on a GPU #ptx", function()
  local ffi = require "ffi"
  local PAGE, FEW = 65536, 4096 -- bytes that move for one element; of a launch itself

  local function moved(work)
    local counts = ffi.new "uint64_t[8]"
    local driver = ffi.load(os.getenv "RG_CUDA_DRIVER")
    driver.ptxCounts(counts)
    work()
    rg.sync()
    driver.ptxCounts(counts)
    return tonumber(counts[7])
  end

  setup(function() pcall(ffi.cdef, "void ptxCounts(uint64_t counts[8])") end)

  local driver_here = os.getenv "RG_CUDA_DRIVER" or ""
  if os.getenv "RG_ARCH" ~= "cuda" or not driver_here:find "tests/cuda/libcuda" then return end

  it("moves when a task first needs it, and not again before the host accesses it", function()
    local n = 100000
    local a = make(n)
    assert.is_true(moved(function() add(a, 1) end) < FEW) -- made by tasks, that is where it is
    assert.is_true(moved(function() for _ = 1, 5 do add(a, 1) end end) < 5 * FEW)
    assert.is_true(moved(function() assert.equal(99999 + 6, a[n - 1]) end) <= PAGE)
    assert.is_true(moved(function() add(a, 1) end) < FEW) -- read alone, it is in both
    a[0] = 100
    local once = moved(function() add(a, 1) end)
    assert.is_true(once >= FEW and once < PAGE + FEW)
    assert.equal(101, a[0])
    assert.equal(8, rg.kernel [=[function(a: array(i32)) return a[1] end]=](a) - 1)
  end)

  it("stays where it is while a loop makes another one grow", function()
    local n = 100000
    local a, list = make(n), make(4)
    local grow = rg.kernel [=[function(list: array(i32), k: i32)
      for i in rg.range(10) do list:append(i + k) end
    end]=]
    add(a, 1)
    grow(list, 1)
    assert.is_true(moved(function()
      grow(list, 2)
      add(a, 1)
    end) < 2 * FEW)
    assert.equal(24, #list)
    assert.equal(n - 1 + 2, a[n - 1])
  end)
end)
