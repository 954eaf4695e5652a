-- compile_spec.lua - the cost of compiling: time grows in proportion to the kernel, and memory is
-- freed.
local support = require "support"
local rg = support.rg

-- Returns the milliseconds of processor time of the first launch, without cached results of other
-- runs.
local function cost(text, captures)
  local k = rg.kernel(text, captures)
  local begin = os.clock()
  support.with_option("RG_COMPILED", "", k)
  return (os.clock() - begin) * 1000, k
end

-- Returns how many times as long the large one takes: the least ratio of several pairs, whose two
-- runs follow each other, since other work slows down both for a while.
local function ratio_of(large, small, most)
  local least = math.huge
  small() -- loads the compiler
  for _ = 1, 12 do
    local time = small()
    least = math.min(least, large() / time)
    if least < most then break end
  end
  return least
end

describe("compiling #compiled", function()
  it("takes time in proportion to unrolled algebra", function()
    local m = rg.field(rg.mat3, 2)
    local salt = 0
    local function algebra(rounds)
      salt = salt + 1
      return cost(([[function()
        for i in rg.range(1) do
          local a, b = rg.mat3(%d), m[0]
          for k in rg.static(rg.range(%d)) do
            a = a * b + rg.transpose(a) * 0.5
            b = b * 0.99 + a:inverse() * 0.001
          end
          m[1] = a * b
        end
      end]]):format(salt, rounds), { m = m })
    end
    local _, small = algebra(10)
    local _, large = algebra(70)
    local function ops(k) return select(2, k:ir():gsub("\n", "")) end
    assert.is_true(ops(large) < 7.1 * ops(small), "ops")
    local ratio = ratio_of(function() return algebra(80) end, function() return algebra(20) end, 9)
    assert.is_true(ratio < 9, ("4 times the text took %.1f times as long"):format(ratio))
  end)

  it("takes time in proportion to writes in a row", function()
    local x = rg.field(rg.f32, 64)
    local salt = 0
    local function writes(count)
      salt = salt + 1
      return cost(([[function()
        for i in rg.range(4):independent() do
          local a, b = x[0], %d.5
          for k in rg.static(rg.range(%d)) do
            for l in rg.static(rg.range(50)) do x[l] = x[l] * a + b end
          end
        end
      end]]):format(salt, count / 50), { x = x })
    end
    writes(50)
    local ratio = ratio_of(function() return writes(1000) end, function() return writes(250) end, 9)
    assert.is_true(ratio < 9, ("4 times the writes took %.1f times as long"):format(ratio))
  end)

  it("gives memory back with its kernels, and needs little for those that live #cpu", function()
    local script = os.tmpname()
    local file = assert(io.open(script, "w"))
    file:write [=[
      local rg = require "regolith"
      rg.init { threads = 1, cache = false }
      local x = rg.field(rg.f32, 64)
      local function resident()
        collectgarbage()
        collectgarbage()
        rg.sync()
        local f = io.open "/proc/self/statm"
        local _, pages = f:read("*n", "*n")
        f:close()
        return pages * 4
      end
      local function make(i)
        local k = rg.kernel(([[function(t)
          for i in rg.range(64) do x[i] = x[i] * 0.5 + math.sin(t) * %d.0 end
        end]]):format(i), { x = x })
        k(1.5)
        return k
      end
      for i = 1, 40 do make(-i) end
      local before = resident()
      for i = 1, 60 do make(i) end
      local dropped = resident() - before
      local kept = {}
      before = resident()
      for i = 1, 40 do kept[i] = make(1000 + i) end
      print(dropped, (resident() - before) / 40)
    ]=]
    file:close()
    local pipe = io.popen(("luajit '%s'"):format(script))
    local dropped, live = pipe:read("*n", "*n")
    pipe:close()
    os.remove(script)
    assert.is_true(dropped and dropped < 3000, ("60 kernels left %s KiB of garbage"):format(
      tostring(dropped)))
    assert.is_true(live < 50, ("a kernel takes %.0f KiB"):format(live))
  end)
end)
