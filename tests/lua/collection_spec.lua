--- Memory is returned: deactivated blocks are reused, destroyed trees are freed, and programs that
--- deactivate nothing never collect.
local rg = require "regolith"

local collects_each_launch = (os.getenv "RG_STRESS" or ""):find "gc_each_launch"

-- The row of a named SNode in the memory report.
local function node_memory(runtime, name)
  for _, tree in ipairs(runtime.memory().trees) do
    for _, node in ipairs(tree.nodes) do
      if node.name == name then return node end
    end
  end
  error("no SNode called " .. name)
end

describe("collection", function()
  local own

  before_each(function() own = rg.new { threads = 2 } end)
  after_each(function() own.reset() end)

  it("keeps a moving blob of particles within the blocks that it covers", function()
    local x = own.field(own.i32)
    local outer = own.root:pointer("ij", 64, { name = "outer" })
    local inner = outer:pointer("ij", 32, { name = "inner" })
    inner:dense("ij", 8):place(x)
    local seed = 12345
    local function random()
      seed = (seed * 16807) % 2147483647
      return seed / 2147483647
    end
    local count = os.getenv "RG_ARCH" and 1000 or 5000 -- Lua, or a GPU that is executed, is slow
    local px, py = own.field(own.f32, count), own.field(own.f32, count)
    for i = 0, count - 1 do px[i], py[i] = 0.1 * random(), 0.1 * random() end
    local scatter = own.kernel(function(shift)
      for i in own.range(count) do
        local a, b = math.floor((px[i] + shift) * 2560), math.floor((py[i] + shift) * 2560)
        x[a][b] = x[a][b] + 1
      end
      local n = 0
      for i, j in x:active() do n = n + x[i][j] end
      for i, j in outer:active() do outer:deactivate(i, j) end
      return n
    end)
    local outer_reserved, inner_reserved
    for round = 1, 40 do
      assert.equal(count, scatter(0.1 * round))
      assert.equal(0, outer:count())
      if round == 4 then
        outer_reserved, inner_reserved = node_memory(own, "outer").reserved,
          node_memory(own, "inner").reserved
      end
    end
    -- where the blob straddles a border it covers up to four outer blocks, and up to 34^2 inner
    -- ones
    assert.is_true(node_memory(own, "outer").reserved <= 4 * outer_reserved)
    assert.is_true(node_memory(own, "inner").reserved <= 2 * inner_reserved)
    assert.equal(0, node_memory(own, "inner").cells)
  end)

  it("reuses the block that was just cleared", function()
    local x = own.field(own.i32)
    local outer = own.root:pointer("ij", 32, { name = "outer" })
    local inner = outer:pointer("ij", 32, { name = "inner" })
    inner:dense("ij", 4):place(x)
    local touch = own.kernel(function(at)
      for _ in own.range(1) do x[4 * at][4 * at] = at end
      for i, j in outer:active() do outer:deactivate(i, j) end
    end)
    touch(0)
    touch(1)
    local outer_reserved, inner_reserved = node_memory(own, "outer").reserved,
      node_memory(own, "inner").reserved
    for at = 0, 1023 do touch(at) end
    assert.equal(outer_reserved, node_memory(own, "outer").reserved)
    assert.equal(inner_reserved, node_memory(own, "inner").reserved)
    assert.same({ 0, 0 }, { outer:count(), inner:count() })
  end)

  it("reuses what Lua clears, too", function()
    local x = own.field(own.i32)
    local block = own.root:pointer("i", 64, { name = "block" })
    block:dense("i", 64):place(x)
    local reserved
    for round = 1, 100 do
      for i = 0, 63 do x[64 * i + round % 64] = round end
      assert.equal(64, block:count())
      assert.equal(0, x[64 + (round + 1) % 64])
      block:clear()
      own.gc()
      if round == 2 then reserved = node_memory(own, "block").reserved end
    end
    assert.equal(reserved, node_memory(own, "block").reserved)
  end)

  it("is not needed by programs that deactivate nothing", function()
    local x = own.field(own.i32)
    own.root:pointer("i", 64):dense("i", 64):place(x)
    local fill = own.kernel(function()
      for i in own.range(4096) do x[i] = x[i] + 1 end
      for i in x:active() do x[i] = x[i] + 1 end
    end)
    for _ = 1, 5 do fill() end
    assert.is_true(own.stats().gcs <= (collects_each_launch and 5 or 0))
    assert.equal(10, x[4095])
  end)

  it("happens automatically after a loop that deactivates #compiled", function()
    local x = own.field(own.i32)
    local block = own.root:pointer("i", 64)
    block:dense("i", 64):place(x)
    local cycle = own.kernel(function()
      for i in own.range(4096) do x[i] = 1 end
      for i in block:active() do
        if i > 2 then block:deactivate(i) end
      end
    end)
    cycle()
    assert.equal(3, block:count())
    assert.is_true(own.stats().gcs >= 1)
  end)

  it("may be stopped and done later", function()
    local x = own.field(own.i32)
    local block = own.root:pointer("i", 64)
    block:dense("i", 64):place(x)
    local cycle = own.kernel(function(value)
      for i in own.range(4096) do x[i] = value end
      for i in block:active() do
        if i % 2 == 0 then block:deactivate(i) end
      end
      local s = 0
      for i in x:active() do s = s + x[i] end
      return s
    end)
    own.gc "stop"
    assert.is_false(own.gc "isrunning")
    for value = 1, 4 do assert.equal(2048 * value, cycle(value)) end
    own.gc "restart"
    assert.is_true(own.gc "isrunning")
    own.gc()
    local live = own.memory().live
    for value = 1, 4 do assert.equal(2048 * value, cycle(value)) end
    own.gc()
    assert.equal(live, own.memory().live)
  end)

  it("reserves no more for the same work again than for its nodes and a batch per worker #compiled",
    function()
    local workers, live, batch = 8, 600, 32 -- see llvm_bc/node_manager.c
    local function make(runtime)
      local x = runtime.field(runtime.f32)
      local block = runtime.root:pointer("i", 4096, { name = "block" })
      block:dense("i", 256):place(x)
      return x, block
    end
    local single = rg.new { threads = 1 }
    local _, filled = make(single)
    for i = 0, live + workers * batch - 1 do filled:activate(i) end
    local bound = node_memory(single, "block").reserved
    single.reset()

    local many = rg.new { threads = workers }
    local x, block = make(many)
    local grow = many.kernel(function(first)
      for i in rg.range(live):block(4) do x[(first + i * 3) % 4096 * 256] = 1 end
    end)
    local shrink = many.kernel(function(part)
      for i in block:active() do
        if i % 2 == part then block:deactivate(i) end
      end
    end)
    for round = 1, 60 do
      grow(round * 17)
      assert.equal(live, block:count())
      if round % 3 == 0 then block:clear() else shrink(0) shrink(1) end
      assert.equal(0, block:count())
      local reserved = node_memory(many, "block").reserved
      assert.is_true(reserved <= bound, ("%d > %d in round %d"):format(reserved, bound, round))
    end
    many.reset()
  end)

  it("returns all memory of trees without handles #compiled", function()
    own.sync()
    local before = own.memory().live
    for _ = 1, 20 do
      local x = own.field(own.f64, 1000, 100)
      x[999][99] = 1
      local y = own.field(own.i32)
      own.root:pointer("i", 100):place(y)
      y[99] = 1
    end
    collectgarbage()
    collectgarbage()
    own.sync()
    assert.equal(before, own.memory().live)
  end)

  it("lets a program outlive its budget many times over #compiled", function()
    local small = rg.new { threads = 2, memory = "16MiB" }
    local x = small.field(small.f32)
    local block = small.root:pointer("i", 4096)
    block:dense("i", 1024):place(x)
    local walk = small.kernel(function(first)
      for i in small.range({ 1024 * first, 1024 * (first + 512) }) do x[i] = 1 end
      local n = 0
      for i in block:active() do
        block:deactivate(i)
        n = n + 1
      end
      return n
    end)
    for round = 0, 31 do assert.equal(512, walk(112 * round)) end
    small.reset()
  end)

  it("is counted if a level is cleared as a whole #compiled #cpu", function()
    local x = rg.field(rg.i32)
    local block = rg.root:pointer("i", 64)
    block:dense("i", 64):place(x)
    local clear = rg.kernel(function() block:clear() end)
    for _, f in ipairs { clear, function() block:clear() end } do
      for i = 0, 4095, 64 do x[i] = 1 end
      local before = rg.stats().gcs
      f()
      assert.equal(before + 1, rg.stats().gcs)
    end
  end)
end)
