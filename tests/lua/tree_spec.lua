--- Trees: valid and invalid declarations, their nodes, and their lifetimes.
local support = require "support"
local rg, failure, sparse = support.rg, support.failure, support.sparse

describe("a tree", function()
  it("is drawn by tostring", function()
    local tree = rg.tree { name = "grid" }
    local x = rg.field { type = rg.f32, name = "density" }
    local block = tree:pointer("ij", 8, { name = "block" })
    block:dense("ij", 16):place(x)
    for _, drawing in ipairs { tostring(tree), tostring(block) } do
      assert.matches("pointer", drawing)
      assert.matches("block", drawing)
      assert.matches("density", drawing)
      assert.matches("dense", drawing)
    end
    assert.matches("root", tostring(rg.root))
  end)

  it("has several children that share their parent", function()
    local tree = rg.tree()
    local x, y = rg.field(rg.f32), rg.field(rg.i64)
    local block = tree:pointer("i", 4)
    block:dense("i", 8):place(x)
    block:dense("i", 2, { layout = "aos" }):place(y)
    x[9] = 1
    assert.equal(0LL, y[2])
    assert.equal(1, block:count())
    y[7] = 5LL
    assert.equal(2, block:count())
    assert.equal(32, x.shape[0])
    assert.equal(8, y.shape[0])
    assert.equal(4, block.shape[0])
  end)

  it("interleaves fields on request, with the same values", function()
    local a, b = rg.field(rg.f32), rg.field(rg.f64)
    rg.root:dense("i", 100, { layout = "aos" }):place(a, b)
    for i = 0, 99 do a[i], b[i] = i, -i end
    for i = 0, 99 do
      assert.equal(i, a[i])
      assert.equal(-i, b[i])
    end
  end)

  it("chains declarations", function()
    local x, y = rg.field(rg.f32), rg.field(rg.f32)
    local leaf = rg.root:pointer("ijk", 4):dense("ijk", 2, 3, 4)
    assert.is_true(leaf:place(x):place(y) == leaf)
    assert.equal("(8, 12, 16)", tostring(x.shape))
  end)

  it("is made for each child of rg.root", function()
    local x, y = rg.field(rg.i32), rg.field(rg.i32)
    local first = rg.root:pointer("i", 4)
    first:place(x)
    x[1] = 1
    local second = rg.root:pointer("i", 8)
    second:place(y)
    y[7] = 2
    assert.equal(1, first:count())
    assert.equal(1, second:count())
    local z = rg.field(rg.f64)
    rg.root:place(z)
    z[0] = 4
    assert.equal(4, z[0])
  end)

  it("is fixed by its first use, which errors name", function()
    local x, y = rg.field(rg.f32), rg.field(rg.f32)
    local block = rg.root:pointer("i", 4)
    block:dense("i", 4):place(x)
    x[1] = 1
    local line = debug.getinfo(1, "l").currentline - 1
    local failed = failure(block.place, block, y)
    assert.equal("tree.fixed", failed.code)
    assert.matches("tree_spec.lua:" .. line, tostring(failed))
    assert.equal("tree.fixed", failure(block.dense, block, "i", 4).code)
    assert.equal(1, x[1])
  end)

  it("frees its memory when it is destroyed; handles say where that was", function()
    collectgarbage() -- trees of other tests, which would go meanwhile
    collectgarbage()
    local before = rg.memory().live
    local tree = rg.tree()
    local x = rg.field(rg.f64)
    local block = tree:pointer("i", 16)
    block:dense("i", 1024):place(x)
    for i = 0, 15 do x[1024 * i] = 1 end
    assert.is_true(rg.memory().live >= before + 16 * 1024 * 8)
    local run = rg.kernel(function() for i in x:active() do x[i] = 1 end end)
    run()
    tree:destroy()
    local line = debug.getinfo(1, "l").currentline - 1
    assert.is_true(rg.memory().live <= before)
    for _, use in ipairs {
      function() return x[0] end, function() x[0] = 1 end, function() return block:count() end,
      function() block:activate(0) end, function() block:clear() end, run,
      function() return x:to_table() end, function() tree:destroy() end,
    } do
      local failed = failure(use)
      assert.equal("handle.destroyed", failed.code)
      assert.matches("tree_spec.lua:" .. line, tostring(failed))
    end
    local y = rg.field(rg.f64, 16)
    assert.equal(0, y[15])
  end)

  it("can be made and destroyed many times", function()
    for _, size in ipairs { 1, 10, 100 } do
      for _ = 1, 20 do
        local tree = rg.tree()
        local fields = {}
        for k = 1, 10 do fields[k] = rg.field(rg.f32) end
        tree:dense("i", size):place(unpack(fields, 1, 5))
        tree:pointer("i", size):place(unpack(fields, 6))
        fields[1][size - 1], fields[10][size - 1] = 3, 4
        assert.equal(3, fields[1][size - 1])
        assert.equal(4, fields[10][size - 1])
        tree:destroy()
      end
    end
  end)

  it("of unnamed, unreachable blocks is freed, ten thousand times #compiled", function()
    local function cycle()
      local x = sparse(rg.i32, "i", 4, 4)
      x[3] = 1
    end
    for _ = 1, 2000 do cycle() end
    collectgarbage()
    collectgarbage()
    local before = rg.memory()
    for _ = 1, 8000 do cycle() end
    collectgarbage()
    collectgarbage()
    local after = rg.memory()
    assert.is_true(after.live <= before.live)
    assert.is_true(#after.trees <= #before.trees)
  end)
end)

describe("a node", function()
  local x, block = sparse(rg.i32, "ij", 4, 4)

  it("activates, deactivates, counts and clears from Lua", function()
    block:activate(1, 2)
    block:activate({ 3, 3 })
    assert.is_true(block:is_active(1, 2))
    assert.is_false(block:is_active(2, 1))
    assert.equal(2, block:count())
    local seen = {}
    for i, j in block:active() do seen[#seen + 1] = 10 * i + j end
    assert.same({ 12, 33 }, seen)
    assert.equal(0, x[4][8])
    block:deactivate(1, 2):clear()
    assert.equal(0, block:count())
  end)

  it("does the same in kernels, where indices out of bounds are no error", function()
    local run = rg.kernel(function()
      block:activate(0, 1)
      block:activate(0, 4)
      block:activate(-1, 0)
      local n = 0
      if block:is_active(0, 1) then n = n + 1 end
      if block:is_active(0, 4) then n = n + 10 end
      return n
    end)
    assert.equal(1, run())
    assert.equal(1, block:count())
    local count = rg.kernel(function() return block:count() end)
    assert.equal(1, count())
    local clear = rg.kernel(function() block:clear() end)
    clear()
    assert.equal(0, block:count())
  end)

  it("refuses indices outside its shape from Lua", function()
    assert.equal("index.range", failure(block.activate, block, 4, 0).code)
    assert.equal("index.range", failure(block.is_active, block, 0, -1).code)
    assert.equal("index.count", failure(block.deactivate, block, 1).code)
    assert.equal("argument.invalid", failure(block.activate, block, 1.5, 0).code)
  end)

  it("suggests the method that was meant", function()
    assert.matches("did you mean 'activate'", failure(function() return block.actvate end).hint)
    assert.equal("argument.invalid", failure(function() block.name = 1 end).code)
  end)
end)

describe("a wrong declaration", function()
  local function declare(f)
    return failure(function() f(rg.tree()) end)
  end

  -- One sentence, of this code.
  local function refuses(code, pattern, f)
    local failed = failure(f)
    assert.equal(code, failed.code)
    assert.matches(pattern, failed.message)
    assert.is_nil(failed.message:match "[.\n]%s")
  end

  it("is refused with one sentence at the caller's line", function()
    local failed = failure(function() rg.root:dense("ij", 1.5) end)
    assert.equal("argument.invalid", failed.code)
    assert.matches("tree_spec.lua", failed.file)
    assert.is_false(failed.message:find "\n" ~= nil)
  end)

  it("has axes that do not exist, or that repeat", function()
    assert.equal("tree.declaration", declare(function(tree) tree:dense("xy", 4) end).code)
    assert.equal("tree.declaration", declare(function(tree) tree:dense("ii", 4) end).code)
    assert.equal("tree.declaration", declare(function(tree) tree:dense("", 4) end).code)
    assert.equal("argument.invalid", declare(function(tree) tree:dense(4) end).code)
  end)

  it("has sizes that are not positive whole numbers, or too many of them", function()
    for _, size in ipairs { 0, -4, 2.5, "four", 1 / 0 } do
      assert.equal("argument.invalid", declare(function(tree) tree:pointer("i", size) end).code)
    end
    assert.equal("tree.declaration", declare(function(tree) tree:dense("ij", 1, 2, 3) end).code)
    assert.equal("argument.invalid", declare(function(tree) tree:dense("i") end).code)
  end)

  it("is larger than memory", function()
    local code = failure(function()
      local x = rg.field(rg.f64)
      rg.root:dense("ijk", 2 ^ 20):place(x)
      x[0][0][0] = 1
    end).code
    assert.is_true(code == "tree.too_large" or code == "memory.budget", code)
  end)

  it("places a field twice, or something else", function()
    local x = rg.field(rg.f32)
    rg.root:dense("i", 4):place(x)
    assert.equal("field.placed", declare(function(tree) tree:dense("i", 4):place(x) end).code)
    assert.equal("argument.invalid", declare(function(tree) tree:place(3) end).code)
    assert.equal("argument.invalid", declare(function(tree) tree:place() end).code)
    x[3] = 1
    assert.equal(1, x[3])
  end)

  it("has options that do not exist", function()
    local failed = declare(function(tree) tree:dense("i", 4, { nam = "x" }) end)
    assert.equal("option.invalid", failed.code)
    assert.matches("did you mean 'name'", failed.hint)
    assert.equal("option.invalid", declare(
      function(tree) tree:dense("i", 4, { layout = "sao" }) end).code)
    assert.equal("argument.invalid",
      declare(function(tree) tree:dense("i", 4, { name = 3 }) end).code)
    assert.equal("option.invalid", failure(rg.tree, { nme = "x" }).code)
  end)

  it("names an unknown kind", function()
    assert.matches("did you mean 'dense'", declare(function(tree) tree.dens(tree) end).hint)
  end)

  it("meets fields of another runtime", function()
    local other = rg.new { threads = 1 }
    local x = other.field(other.f32)
    assert.equal("runtime.mixed", declare(function(tree) tree:place(x) end).code)
  end)

  it("of any kind gives one sentence", function()
    for _, kind in ipairs { "dense", "pointer", "bitmasked" } do
      refuses("argument.invalid", "positive whole number",
        function() rg.root[kind](rg.root, "i", 0) end)
      refuses("tree.declaration", "twice", function() rg.root[kind](rg.root, "ii", 4) end)
      refuses("tree.declaration", "takes one size",
        function() rg.root[kind](rg.root, "ij", 2, 3, 4) end)
      refuses("tree.too_large", "does not fit in any memory",
        function() rg.root[kind](rg.root, "i", 2 ^ 50) end)
    end
    refuses("tree.declaration", "already divided above",
      function() rg.root:dense("i", 4):dynamic("i", 4) end)
    refuses("tree.declaration", "already divided above",
      function() rg.root:pointer("ij", 4):hash("j") end)
    refuses("tree.declaration", "holds fields only",
      function() rg.root:dynamic("i", 4):pointer("j", 4) end)
    refuses("tree.too_large", "at most 2147483647 elements",
      function() rg.root:dynamic("i", 2 ^ 31) end)
  end)

  it("is to place a field twice, and to use one without a place", function()
    local x = rg.field { type = rg.i32, name = "x" }
    rg.root:bitmasked("i", 4):place(x)
    refuses("field.placed", "field 'x' is already placed",
      function() rg.root:dense("i", 4):place(x) end)
    local y = rg.field { type = rg.i32, name = "y" }
    refuses("field.unplaced", "field 'y' is not placed yet", function() y[0] = 1 end)
    refuses("field.unplaced", "'y' is not placed", rg.kernel(function() y[0] = 1 end))
  end)

  it("is to change a tree after its first use, which is named", function()
    for _, kind in ipairs { "dense", "bitmasked", "pointer" } do
      local x, y = rg.field(rg.i32), rg.field(rg.i32)
      local node = rg.root[kind](rg.root, "i", 4)
      node:place(x)
      x[0] = 1
      refuses("tree.fixed", "laid out since .*tree_spec.lua:%d+", function() node:place(y) end)
      refuses("tree.fixed", "below the " .. kind .. " node", function() node:bitmasked("i", 2) end)
    end
  end)

  it("is to give a kernel fields of two runtimes", function()
    local other = rg.new { threads = 1 }
    local x, y = rg.field(rg.i32, 4), other.field(other.i32, 4)
    refuses("runtime.mixed", "another runtime", rg.kernel(function() x[0] = y[0] end))
  end)
end)
