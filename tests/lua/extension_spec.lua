-- extension_spec.lua - extensions in C as Lua sees them: the sample of examples/extension.
local ffi = require "ffi"
local support = require "support"
local rg = support.rg

local folder = os.getenv "RG_LIBRARY":match "^(.*/)" .. "extension/"
local function open() return rg.extension(folder .. "sample.so") end

describe("an extension", function()
  it("has functions of numbers", function()
    local sample = open()
    assert.equal(5, sample.hypotenuse(3, 4))
    assert.equal(sample.hypotenuse, open().hypotenuse)
    assert.matches("^extension sample: drop, histogram, hypotenuse", tostring(sample))
  end)

  it("shares the memory of arrays #compiled", function()
    local a = rg.array(rg.f32, 4)
    a:from_table { 0.1, 0.15, 0.6, 0.9 }
    local h = open().histogram(a, 4)
    assert.same({ 2, 0, 1, 1 }, h:to_table())
    assert.equal("i32", h.type.name)
    open().scale(a, 2)
    assert.equal(1.8, math.floor(a[3] * 10 + 0.5) / 10)
    rg.kernel([=[function() for i in rg.range(4) do h[i] = h[i] + i end end]=], { h = h })()
    assert.same({ 2, 1, 3, 4 }, h:to_table())
  end)

  it("is called after launches that use the array are done #compiled", function()
    local a = rg.array(rg.f32, 1000)
    local fill = rg.kernel([=[function(v) for i in rg.range(1000) do a[i] = v end end]=], { a = a })
    for k = 1, 20 do
      fill(k)
      open().scale(a, 2)
      assert.equal(2 * k, a[999])
    end
  end)

  it("provides its own memory, which is released once with its last holder #compiled", function()
    local sample = open()
    local before = sample.ramps()
    local r = sample.ramp(100)
    assert.equal(99, r[99])
    assert.equal(before + 1, sample.ramps())
    r:destroy()
    assert.equal(before, sample.ramps())
    local kept = sample.ramp(10) -- luacheck: ignore
    kept = nil -- luacheck: ignore
    collectgarbage()
    collectgarbage()
    assert.equal(before, sample.ramps())
  end)

  it("keeps memory that it acquires beyond the life of the array #compiled", function()
    local sample, a = open(), rg.array(rg.f32, 10)
    a:fill(2)
    sample.keep(a)
    a:destroy()
    assert.equal(20, sample.kept_sum())
    sample.drop()
    assert.matches("sample.kept_sum: nothing is kept", support.failure(sample.kept_sum).message)
    assert.equal("extension.failed", support.failure(sample.kept_sum).code)
  end)

  it("keeps what a wrap points to until it releases it #compiled", function()
    local sample, is_gone = open(), false
    local owner = ffi.gc(ffi.new "float[4]", function() is_gone = true end)
    owner[3] = 7
    local w = rg.wrap(owner, rg.f32, { 4 })
    owner = nil -- luacheck: ignore
    sample.keep(w)
    w:destroy()
    w = nil -- luacheck: ignore
    collectgarbage()
    collectgarbage()
    assert.is_false(is_gone)
    assert.equal(7, sample.kept_sum())
    sample.drop()
    rg.sync()
    collectgarbage()
    collectgarbage()
    assert.is_true(is_gone)
  end)

  it("gets the table that Lua and C get", function()
    local address = ffi.cast("uint64_t", ffi.cast("uintptr_t", rg.extension_api()))
    assert.equal(address, open().table())
    local api = rg.extension_api()
    assert.equal(ffi.sizeof "RgExtensionApi", api.struct_size)
    local counted = api.allocate(api, 64)
    assert.equal(1, tonumber(api.count(api, counted)))
    api.release(api, counted)
  end)

  it("refuses arguments by name", function()
    local sample = open()
    assert.matches("sample.hypotenuse takes 2 arguments, not 1",
      support.failure(sample.hypotenuse, 1).message)
    assert.matches('sample.hypotenuse: argument 2 is f64, not "x"',
      support.failure(sample.hypotenuse, 1, "x").message)
    assert.matches("sample.ramp: argument 1 is i32, not", support.failure(sample.ramp, 1.5).message)
    assert.matches("sample.ramp: argument 1 is i32, not",
      support.failure(sample.ramp, 2 ^ 31).message)
    assert.matches("sample.scale: argument 1 is an array of f32, not 1",
      support.failure(sample.scale, 1, 2).message)
    assert.matches("sample.scale: argument 1 is an array of f32, not of f64",
      support.failure(sample.scale, rg.array(rg.f64, 4), 2).message)
  end)

  it("fails with its own message #compiled", function()
    assert.matches("sample.histogram: a histogram has at least one bin",
      support.failure(open().histogram, rg.array(rg.f32, 4), 0).message)
  end)

  it("has functions that kernels call #cpu", function()
    local sample, x = open(), rg.field(rg.f64, 100)
    local kernel = rg.kernel([=[function(b: f64)
      for i in rg.range(100) do x[i] = sample.hypotenuse(i, b) end
      return sample.hypotenuse(3, 4)
    end]=], { x = x, sample = sample })
    assert.equal(5, kernel(0.75))
    for i = 0, 99 do assert.equal(math.sqrt(i * i + 0.75 ^ 2), x[i]) end
    local hypotenuse = sample.hypotenuse
    assert.equal(13, rg.kernel([=[function() return hypotenuse(5, 12) end]=],
      { hypotenuse = hypotenuse })())
  end)

  it("has functions that share the arrays of kernels #cpu #compiled", function()
    local sample, before = open(), support.allocations(rg)
    local kernel = rg.kernel([=[function(n: i32)
      local a = rg.zeros(rg.f32, n)
      for i in rg.range(n) do a[i] = 0.1 + 0.2 * i end
      local first = a[0]
      sample.scale(a, 0.5)
      local bins = sample.histogram(a, 4)
      bins:append(100)
      local s = 0
      for i in rg.range(8) do
        local own = sample.ramp(i + 1)
        s += #own + rg.i32(own[i])
      end
      sample.keep(a)
      return #bins, bins[0] + bins[1] + bins[2] + bins[3] + bins[4], a[0] / first, s, bins
    end]=], { sample = sample })
    local n, sum, half, s, bins = kernel(10)
    assert.same({ 5, 110, 0.5, 36 + 28 }, { n, sum, half, s })
    assert.equal(0, sample.ramps())
    assert.equal(100, bins[4])
    bins:release()
    assert.near(0.5 * (1 + 0.2 * 45), sample.kept_sum(), 1e-5)
    sample.drop()
    local after = rg.allocations()
    assert.equal(after.alloc - before.alloc, after.free - before.free)
    assert.matches("cannot grow", support.failure(rg.kernel([=[function()
      local own = sample.ramp(3)
      own:append(3)
    end]=], { sample = sample })).message)
    assert.matches("a histogram has at least one bin", support.failure(rg.kernel([=[function()
      for i in rg.range(100) do
        local a = rg.zeros(rg.f32, 3)
        local h = sample.histogram(a, 50 - i)
      end
    end]=], { sample = sample })).message)
    after = rg.allocations()
    assert.equal(after.alloc - before.alloc, after.free - before.free)
  end)

  it("takes an rg.array in a kernel, too #cpu #compiled", function()
    local a = rg.array(rg.f32, 2):fill(3)
    rg.kernel([=[function() sample.scale(a, 2) end]=], { sample = open(), a = a })()
    assert.same({ 6, 6 }, a:to_table())
  end)

  it("gives kernels the same table #cpu", function()
    local sample = open()
    local address = rg.kernel([=[function() return sample.table() end]=], { sample = sample })()
    assert.equal(ffi.cast("uint64_t", ffi.cast("uintptr_t", rg.extension_api())), address)
  end)

  it("ends a launch by failing, with its message #cpu", function()
    local sample = open()
    sample.drop()
    local kernel = rg.kernel([=[function()
      local s = 0.0
      for i in rg.range(1000) do s += sample.kept_sum() end
      return s
    end]=], { sample = sample })
    local e = support.failure(kernel)
    assert.equal("extension.failed", e.code)
    assert.matches("sample.kept_sum: nothing is kept", e.message)
    assert.equal(5, sample.hypotenuse(3, 4))
  end)

  it("is not called by a GPU, which says so", function()
    if rg.info().device ~= "cuda" and os.getenv "RG_ARCH" ~= "cuda" then return end
    local sample = open()
    local e = support.failure(rg.kernel([=[function() return sample.hypotenuse(3, 4) end]=],
      { sample = sample }))
    assert.matches("functions of extensions cannot be called on a GPU", e.message)
  end)

  it("refuses arguments in kernels that these cannot pass", function()
    local sample, a = open(), rg.field(rg.f32, 4)
    local function refusal(text)
      return support.failure(rg.kernel(text, { sample = sample, a = a }))
    end
    assert.matches("'sample.scale' takes an array%(f32%), which 'a' is not",
      refusal([=[function() sample.scale(a, 2) end]=]).message)
    assert.matches("'sample.scale' takes an array%(f32%) here, but this is a number",
      refusal([=[function() sample.scale(1, 2) end]=]).message)
    assert.matches("'sample.hypotenuse' takes a number here, but this is an array%(f32%)",
      refusal([=[function() return sample.hypotenuse(1, rg.list(rg.f32)) end]=]).message)
    assert.equal("call.count", refusal([=[function() return sample.hypotenuse(1) end]=]).code)
    assert.matches("takes a number here, but this is a vector",
      refusal([=[function() return sample.hypotenuse(rg.vec2(1, 2), 1) end]=]).message)
    assert.matches("extension 'sample' has no function 'hypot'",
      refusal([=[function() return sample.hypot(1, 2) end]=]).message)
  end)

  it("names a function that it does not have", function()
    local e = support.failure(function() return open().histogramm end)
    assert.matches("extension 'sample' has no function 'histogramm'", e.message)
    assert.matches("histogram", e.hint)
  end)

  it("is refused by name if it is not an extension, has no such symbol, or another table \z
    version", function()
    local function refusal(name) return support.failure(rg.extension, name) end
    assert.equal("library.missing", refusal("/nowhere/x.so").code)
    assert.matches("'/nowhere/x.so' cannot be opened", refusal("/nowhere/x.so").message)
    assert.matches("no_such_function", refusal(folder .. "broken_symbol.so").message)
    assert.matches("no function regolith_extension", refusal("libm.so.6").message)
    assert.equal("library.version", refusal(folder .. "broken_version.so").code)
    assert.matches("version 99 of the extension table, and this library has version 1",
      refusal(folder .. "broken_version.so").message)
    assert.matches("failed to initialise: not today",
      refusal(folder .. "broken_refuses.so").message)
    assert.matches("takes the path of a shared library", support.failure(rg.extension, 3).message)
  end)

  it("belongs to its runtime", function()
    local own = rg.new {}
    local sample, a = own.extension(folder .. "sample.so"), rg.array(rg.f32, 4)
    assert.matches("an array of another runtime", support.failure(sample.scale, a, 2).message)
    own.reset()
    assert.equal("handle.destroyed", support.failure(sample.hypotenuse, 3, 4).code)
  end)
end)
