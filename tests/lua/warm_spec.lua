-- warm_spec.lua - compiling before the first launch: kernel:compile(..) and rg.warm.
local support = require "support"
local rg, failure = support.rg, support.failure

-- How many kernels the runtime compiles, or finds on disk, while f runs; its launches.
local function compiles(f, ...)
  local before = rg.stats()
  f(...)
  local after = rg.stats()
  return after.compiles + after.cache_hits - before.compiles - before.cache_hits,
    after.launches - before.launches
end

describe("kernel:compile", function()
  it("compiles what a launch with these values needs, and launches nothing", function()
    local x = rg.field(rg.f32, 8)
    local rate = 2
    local k = rg.kernel(function(n, v)
      for i in rg.range(n) do x[i] = x[i] + rate * v.y end
      return n
    end)
    local made, launched = compiles(k.compile, k, rg.i32, rg.vec2)
    assert.same({ 1, 0 }, { made, launched })
    assert.equal(0, x[0])
    rate = 3
    assert.equal(0, (compiles(function() assert.equal(8, k(8, rg.vec2(1, 2))) end)))
    assert.equal(6, x[7])
    assert.equal(0, (compiles(k.compile, k, 100, rg.vec2(7))))
  end)

  it("accepts a type in place of a value, and nil for a number", function()
    local k = rg.kernel(function(a, b, c, d, e)
      if b then return a + c.x, d, e end
      return a - c.x, d, e
    end)
    k:compile(nil, rg.bool, rg.dvec2, rg.i64)
    assert.equal(0, (compiles(function()
      assert.same({ 4, 5LL, 7 }, { k(1, true, rg.dvec2(3, 0), 5LL, 7) })
    end)))
  end)

  it("uses fields and nodes as they are, and lays out their trees", function()
    local a, b = rg.field(rg.f32), rg.field(rg.f32, 4)
    local block = rg.root:pointer("i", 4)
    block:dense("i", 4):place(a)
    local k = rg.kernel(function(f, node)
      for i in f:active() do f[i] = f[i] + 1 end
      return node:count()
    end)
    k:compile(a, block)
    assert.equal(0, block:count())
    assert.equal("tree.fixed", failure(function() block:dense("i", 2) end).code)
    assert.equal(0, (compiles(function() assert.equal(0, k(a, block)) end)))
    assert.equal(1, (compiles(k.compile, k, b, block)))
  end)

  it("compiles for the values that rg.static reads", function()
    local k = rg.kernel(function(n)
      local s = 0
      for i in rg.static(rg.range(n)) do s = s + i end
      return s
    end)
    k:compile(4)
    assert.equal(0, (compiles(function() assert.equal(6, k(4)) end)))
    assert.equal(1, (compiles(function() assert.equal(10, k(5)) end)))
  end)

  it("passes functions, also those that it meets for the first time", function()
    local x = rg.field(rg.f32, 4)
    local function twice(a) return 2 * a end
    local self = { f = function(a) return twice(a) + 1 end }
    local k = rg.kernel(function(g)
      for i in rg.range(4) do x[i] = self.f(i) + g(i) end
    end)
    k:compile(twice)
    assert.equal(0, (compiles(k, twice)))
    assert.equal(13, x[3])
  end)

  it("raises the kernel's errors at that call, and the kernel stays usable", function()
    local x = rg.field(rg.i32, 4)
    local k = rg.kernel(function(v) for i in rg.range(4) do x[i] = v.x end end)
    assert.equal("type.mismatch", failure(k.compile, k, rg.f32).code)
    k:compile(rg.ivec2)
    k(rg.ivec2(5, 6))
    assert.equal(5, x[3])
    local bad = rg.kernel(function() return no_such_name end) -- luacheck: ignore
    local err = failure(bad.compile, bad)
    assert.equal("name.unknown", err.code)
    assert.truthy(err.line)
    assert.equal("launch.arguments", failure(k.compile, k, 1, 2).code)
    assert.truthy(failure(function() k.compile() end).message:find("colon", 1, true))
  end)

  it("does not check whether numbers fit, as a launch does", function()
    local n8, a = rg.field(rg.u8, 4), 300
    local k = rg.kernel(function() n8[0] = a end)
    k:compile()
    assert.equal("value.fit", failure(k).code)
    a = 30
    assert.equal(0, (compiles(k)))
    assert.equal(30, n8[0])
  end)

  it("lets explain() describe the kernel before the first launch #compiled", function()
    local x = rg.field(rg.f32, 64)
    local k = rg.kernel(function() for i in rg.range(64) do x[i] = i end end)
    k:compile()
    assert.truthy(k:explain():find("parallel", 1, true))
    assert.is_true(#k:asm() > 0)
  end)
end)

describe("rg.warm", function()
  it("compiles each kernel of a list for its values, and reports progress", function()
    local x, y = rg.field(rg.f32, 4), rg.field(rg.f64, 4)
    local a = rg.kernel(function(v) for i in rg.range(4) do x[i] = v end end)
    local b = rg.kernel(function(f, v) for i in rg.range(4) do f[i] = v.x end end)
    local seen = {}
    local made, launched = compiles(rg.warm, { a, { b, y, rg.vec2 }, { b, x, rg.vec2 } },
      function(done, count) seen[#seen + 1] = ("%d of %d"):format(done, count) end)
    assert.same({ 3, 0 }, { made, launched })
    assert.same({ "1 of 3", "2 of 3", "3 of 3" }, seen)
    assert.equal(0, (compiles(function() a(1) b(y, rg.vec2(2)) b(x, rg.vec2(3)) end)))
    assert.same({ 3, 2 }, { x[0], y[0] })
  end)

  it("is all that a game compiles: swaps, functions, vectors and another level compile nothing",
    function()
    local game = { gravity = rg.vec2(0, -9.8), dt = 1 / 60, paused = false }
    local function load_level()
      local level = { tree = rg.tree(), water = rg.field(rg.f32), next = rg.field(rg.f32),
        position = rg.field(rg.vec2, 100) }
      level.tree:pointer("ij", 4):dense("ij", 8):place(level.water, level.next, rg.field(rg.vec2))
      return level
    end
    local level = load_level()
    local function splash(a, b) return a + b end
    local function drain(a, b) return a - b * game.dt end
    local rain = rg.kernel(function(count, start, f)
      for k in rg.range(count) do
        local i, j = (k * 7 + start) % 32, math.floor(k / 32) % 32
        level.water[i][j] = f(level.water[i][j] * 0.0, game.dt)
      end
    end)
    local flow = rg.kernel(function(rate)
      for i, j in level.water:active() do
        level.next[i][j] = level.water[i][j] * (1 - rate) + rate * level.water[i - 1][j]
      end
    end)
    local move = rg.kernel(function()
      if not game.paused then
        for k in rg.range(100) do
          level.position[k] = level.position[k] + game.gravity * game.dt
        end
      end
    end)
    local total = rg.kernel(function(x)
      local sum = 0.0
      for i, j in x:active() do sum = sum + x[i][j] end
      return sum
    end)
    rg.warm { flow, { rain, rg.i32, rg.i32, splash }, { rain, 0, 0, drain }, move,
      { total, level.water } }
    local function play(frames)
      for n = 1, frames do
        rain(100 + n, n, n % 2 == 0 and splash or drain)
        flow(0.1)
        level.water, level.next = level.next, level.water
        move()
        game.dt, game.paused, game.gravity = 1 / (50 + n), n % 3 == 0, rg.vec2(n, -9.8)
        total(level.water)
      end
    end
    assert.equal(0, (compiles(play, 10)))
    level.tree:destroy()
    level = load_level()
    assert.equal(0, (compiles(play, 10)))
  end)

  it("raises the first error of the list, and the kernels before it are compiled nevertheless",
    function()
    local x = rg.field(rg.f32, 64)
    local fine = rg.kernel(function(v) for i in rg.range(64) do x[i] = math.sin(i * v) end end)
    local bad = rg.kernel(function() return no_such_name end) -- luacheck: ignore
    local after = rg.kernel(function(v) for i in rg.range(64) do x[i] = v end end)
    assert.equal("name.unknown", failure(rg.warm, { fine, bad, after }).code)
    assert.equal(0, (compiles(fine, 2)))
    assert.is_true(math.abs(x[1] - math.sin(2)) < 1e-6)
    assert.equal(1, (compiles(after, 7)))
  end)

  it("may be abandoned: kernels and runtimes can end while they compile #compiled", function()
    for _ = 1, 3 do
      local other = rg.new { threads = 2 }
      local x = other.field(other.f32, 64)
      local bad = other.kernel(function() return no_such_name end) -- luacheck: ignore
      local function wave(n)
        return other.kernel([=[function(v)
          for i in rg.range(64) do x[i] = math.sin(i * v) + ]=] .. n .. " end end",
          { x = x, rg = other })
      end
      local list = { wave(1), wave(2), wave(3), wave(4), bad }
      assert.equal("name.unknown", failure(other.warm, list).code)
      list[1], list[2] = nil, nil
      collectgarbage()
      list[3](1)
      assert.is_true(math.abs(x[1] - math.sin(1) - 3) < 1e-5)
      other.reset()
    end
  end)

  it("compiles ever more kernels than there are cores", function()
    local x, list = rg.field(rg.f32, 64), {}
    for n = 1, 24 do
      list[n] = rg.kernel("function(v) for i in rg.range(64) do x[i] = x[i] * v + " .. n
        .. " end end", { x = x })
    end
    assert.same({ 24, 0 }, { compiles(rg.warm, list) })
    assert.equal(0, (compiles(function() for n = 1, 24 do list[n](0) end end)))
    assert.equal(24, x[63])
  end)

  it("refuses values that are not lists of kernels", function()
    local k = rg.kernel(function() return 1 end)
    assert.truthy(failure(rg.warm, k).message:find("a list of kernels, not a kernel", 1, true))
    assert.truthy(failure(rg.warm).message:find("a list of kernels", 1, true))
    assert.truthy(failure(rg.warm, { k, 5 }).message:find("item 2", 1, true))
    assert.truthy(failure(rg.warm, { k, { 1, k } }).message:find("item 2", 1, true))
    assert.truthy(failure(rg.warm, { k }, "progress").message:find("function", 1, true))
  end)
end)
