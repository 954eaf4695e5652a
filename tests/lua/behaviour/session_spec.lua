--- Sessions: runtimes begin, end and live side by side; what kernels capture is read at every launch.
local rg = require "regolith"

local function sum_of(x, n)
  local s = 0
  for i = 0, n - 1 do s = s + x[i] end
  return s
end

describe("a runtime", function()
  it("begins and ends a hundred times", function()
    for round = 1, 100 do
      local own = rg.new { threads = 1 + round % 3, memory = "64MiB" }
      local x = own.field(own.i32)
      own.root:pointer("i", 4):dense("i", 4):place(x)
      x[5] = round
      if round % 20 == 1 then
        local double = own.kernel(function()
          for i in x:active() do x[i] = 2 * x[i] end
        end)
        double()
        assert.equal(2 * round, x[5])
      else
        assert.equal(round, x[5])
      end
      own.reset()
    end
  end)

  it("may be reset and initialised again and again", function()
    rg.reset()
    for round = 1, 20 do
      rg.init { threads = 1 + round % 2 }
      local x = rg.field(rg.f64, 8)
      x[3] = round
      assert.equal(round, x[3])
      rg.reset()
      assert.is_false((pcall(function() return x[3] end)))
    end
  end)

  it("stays apart from another one", function()
    local a, b = rg.new { threads = 1 }, rg.new { threads = 2 }
    local x, y = a.field(a.i32, 100), b.field(b.i32, 100)
    local fill_x = a.kernel(function(n) for i in a.range(100) do x[i] = n * i end end)
    local fill_y = b.kernel(function(n) for i in b.range(100) do y[i] = n * i end end)
    for n = 1, 3 do
      fill_x(n)
      fill_y(10 * n)
      assert.equal(4950 * n, sum_of(x, 100))
      assert.equal(49500 * n, sum_of(y, 100))
    end
    assert.equal(3, a.stats().launches)
    assert.equal(3, b.stats().launches)
    local mixed = a.kernel(function() for i in a.range(100) do x[i] = y[i] end end)
    local ok, failure = pcall(mixed)
    assert.is_false(ok)
    assert.equal("runtime.mixed", failure.code)
    a.reset()
    fill_y(7)
    assert.equal(7 * 99, y[99])
    assert.is_false((pcall(fill_x, 1)))
    b.reset()
  end)

  it("stays usable after every kind of error", function()
    local x = rg.field(rg.i32, 4)
    local good = rg.kernel(function(n) for i in x:active() do x[i] = x[i] + n end end)
    local bad = {
      function() rg.kernel("function( for")() end,
      function() rg.kernel("function() for i in rg.range(3) do x[i] = unknown_name end end", { x = x })() end,
      function() rg.kernel("function() for i in rg.range(3) do x[i] = 1.5 end end", { x = x })() end,
      function() x[4] = 1 end,
      function() good(0.5) end,
      function() good() end,
    }
    for round, action in ipairs(bad) do
      local ok, failure = pcall(action)
      assert.is_false(ok)
      assert.is_string(failure.code)
      good(1)
      assert.equal(round, x[3])
    end
  end)

  it("counts launches and compiles", function()
    local own = rg.new { threads = 1 }
    local x = own.field(own.i32, 4)
    local add = own.kernel(function(n) for i in own.range(4) do x[i] = x[i] + n end end)
    for n = 1, 5 do add(n) end
    local stats = own.stats()
    assert.equal(5, stats.launches)
    assert.equal(1, stats.compiles)
    own.reset()
  end)
end)

describe("captures", function()
  it("are read at every launch", function()
    local n, dt, config = 2, 0.5, { grid = { scale = 3 } }
    local x = rg.field(rg.f32, 8)
    local run = rg.kernel(function()
      for i in rg.range(n) do x[i] = x[i] + dt * config.grid.scale end
    end)
    run()
    assert.same({ 1.5, 1.5, 0 }, { x[0], x[1], x[2] })
    local compiles = rg.stats().compiles
    n, dt = 3, 2
    run()
    assert.same({ 7.5, 7.5, 6, 0 }, { x[0], x[1], x[2], x[3] })
    config.grid = { scale = -1 }
    n = 1
    run()
    assert.same({ 5.5, 7.5 }, { x[0], x[1] })
    assert.equal(compiles, rg.stats().compiles)
  end)

  it("swap buffers between launches", function()
    local a, b = rg.field(rg.i32, 16), rg.field(rg.i32, 16)
    local step = rg.kernel(function()
      for i in rg.range(16) do b[i] = a[i] + 1 end
    end)
    step()
    local compiles = rg.stats().compiles
    for _ = 1, 9 do
      a, b = b, a
      step()
    end
    assert.equal(10, b[7])
    assert.equal(9, a[7])
    assert.equal(compiles, rg.stats().compiles)
  end)

  it("swap sparse buffers of two trees, with what is active in them", function()
    local fields, blocks = {}, {}
    for number = 1, 2 do
      fields[number] = rg.field(rg.i32)
      blocks[number] = rg.root:pointer("i", 64)
      blocks[number]:dense("i", 4):place(fields[number])
    end
    local from, to, old = fields[1], fields[2], blocks[1]
    local march = rg.kernel(function()
      for i in from:active() do
        if from[i] > 0 then to[i + 4] = from[i] + 1 end
      end
      for i in old:active() do old:deactivate(i) end
    end)
    from[1] = 1
    for round = 1, 30 do
      march()
      from, to = to, from
      old = round % 2 == 0 and blocks[1] or blocks[2]
      assert.equal(1, old:count())
    end
    assert.equal(31, from[121])
  end)

  it("may be the same field twice", function()
    local x, y = rg.field(rg.i32, 8), rg.field(rg.i32, 8)
    local add = rg.kernel(function(from, to)
      for i in rg.range(8) do to[i] = to[i] + from[i] + 1 end
    end)
    add(x, y)
    add(y, y)
    assert.same({ 0, 3 }, { x[4], y[4] })
    add(y, x)
    assert.same({ 4, 3 }, { x[4], y[4] })
  end)

  it("compile once for each layout, whoever asks", function()
    local count = rg.kernel(function(x)
      local n = 0
      for i in x:active() do n = n + x[i] end
      return n
    end)
    local before = rg.stats().compiles
    for size = 1, 4 do
      local x = rg.field(rg.i32, 10)
      x:fill(size)
      assert.equal(10 * size, count(x))
    end
    assert.equal(before + 1, rg.stats().compiles)
    local y = rg.field(rg.f32, 10)
    y:fill(0.5)
    assert.equal(5, count(y))
    assert.equal(before + 2, rg.stats().compiles)
  end)

  it("keep their tree alive as long as the kernel can be called", function()
    local run
    do
      local x = rg.field(rg.i32)
      rg.root:pointer("i", 8):dense("i", 8):place(x)
      x[9] = 5
      run = rg.kernel(function()
        local s = 0
        for i in x:active() do
          x[i] = x[i] + 1
          s = s + x[i]
        end
        return s
      end)
    end
    for round = 1, 5 do
      collectgarbage()
      assert.equal(5 + 8 * round, run())
    end
  end)

  it("of a destroyed tree raise, naming where it was destroyed, and others go on", function()
    local tree = rg.tree()
    local x, y = rg.field(rg.i32), rg.field(rg.i32, 4)
    tree:dense("i", 4):place(x)
    local run = rg.kernel(function(from)
      for i in rg.range(4) do y[i] = from[i] + 1 end
    end)
    run(x)
    tree:destroy()
    local ok, failure = pcall(run, x)
    assert.is_false(ok)
    assert.equal("handle.destroyed", failure.code)
    run(y)
    assert.equal(2, y[2])
  end)

  it("take whole numbers for integers, and refuse fractions by name", function()
    local x = rg.field(rg.i32, 4)
    local n = 2
    local run = rg.kernel(function() for i in rg.range(n) do x[i] = x[i] + n end end)
    run()
    n = 2.5
    local ok, failure = pcall(run)
    assert.is_false(ok)
    assert.equal("value.fit", failure.code)
    assert.is_truthy(failure.message:find("n", 1, true))
    n = 4
    run()
    assert.same({ 6, 4 }, { x[0], x[3] })
  end)
end)

describe("arguments and results", function()
  it("are numbers, booleans and 64-bit integers", function()
    local x = rg.field(rg.i64, 1)
    local run = rg.kernel([[function(flag, count: i64, scale: f64)
      for _ in rg.range(1) do
        x[0] = flag and count * 3 or -count
      end
      return scale * 2
    end]], { x = x })
    assert.equal(0.2, run(true, 9007199254740993LL, 0.1))
    assert.equal(27021597764222979LL, x[0])
    assert.equal(1e300, run(false, 5, 0.5e300))
    assert.equal(-5LL, x[0])
  end)

  it("return one number or boolean, or nothing", function()
    local x = rg.field(rg.i32, 2)
    x[1] = 41
    local number = rg.kernel(function() return x[1] + 1 end)
    local truth = rg.kernel(function(n) return x[1] > n end)
    local early = rg.kernel(function(n)
      if n < 0 then return -1 end
      for i in rg.range(2) do x[i] = n end
      return n
    end)
    local nothing = rg.kernel(function() for i in rg.range(2) do x[i] = 7 end end)
    assert.equal(42, number())
    assert.is_true(truth(40))
    assert.is_false(truth(41))
    assert.equal(-1, early(-3))
    assert.equal(41, x[1])
    assert.equal(3, early(3))
    assert.equal(3, x[0])
    assert.is_nil(nothing())
  end)
end)
