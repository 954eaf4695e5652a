--- Activation and deactivation: which cells exist afterwards, and when a loop sees the change.
local support = require "support"
local rg, sparse, visits = support.rg, support.sparse, support.visits

local sum = rg.kernel(function(x)
  local s = 0
  for i in x:active() do s = s + x[i] end
  return s
end)

describe("explicit activation", function()
  it("creates whole blocks that are all zero", function()
    local x, block = sparse(rg.i32, "i", 16, 16)
    local activate = rg.kernel(function()
      for _ in rg.range(1) do
        block:activate(math.floor(1 / 16))
        block:activate(math.floor(32 / 16))
      end
    end)
    activate()
    assert.equal(32, visits(x))
    assert.equal(0, sum(x))
    assert.is_true(block:is_active(0))
    assert.is_true(block:is_active(2))
    assert.is_false(block:is_active(1))
  end)

  it("changes nothing where the cell exists", function()
    local x, block = sparse(rg.i32, "i", 4, 4)
    x[5] = 7
    block:activate(1)
    assert.equal(7, x[5])
    assert.equal(1, block:count())
  end)

  it("activates the path above", function()
    local x = rg.field(rg.i32)
    local outer = rg.root:pointer("i", 8)
    local inner = outer:pointer("i", 8)
    inner:dense("i", 4):place(x)
    local activate = rg.kernel(function()
      for _ in rg.range(1) do inner:activate(19) end
    end)
    activate()
    assert.same({ 1, 1 }, { outer:count(), inner:count() })
    assert.is_true(outer:is_active(2))
    inner:activate(60)
    assert.is_true(outer:is_active(7))
    for _, i in ipairs { 0, 80, 100, 240, 255 } do assert.equal(0, x[i]) end
    assert.equal(8, visits(x))
  end)

  it("does nothing outside the shape of the level", function()
    local _, block = sparse(rg.i32, "i", 4, 4)
    local outside = rg.kernel(function()
      local found = 0
      for i in rg.range({ -3, 20 }) do
        if i < 0 or i >= 4 then
          block:activate(i)
          block:deactivate(i)
          if block:is_active(i) then found = found + 1 end
        end
      end
      return found
    end)
    assert.equal(0, outside())
    assert.equal(0, block:count())
  end)

  it("is forwarded by a field to the node it is placed under", function()
    local x, block = sparse(rg.i32, "i", 4, 4)
    x:activate(9)
    assert.is_true(block:is_active(2))
    assert.is_true(x:is_active(8))
    assert.is_false(x:is_active(7))
    assert.equal(4, x:count())
  end)
end)

describe("deactivation", function()
  it("removes a block, and a later write brings it back", function()
    local x, block = sparse(rg.i32, "i", 16, 16)
    x[0], x[19] = 1, 1
    assert.equal(32, visits(x))
    block:deactivate(0)
    assert.equal(16, visits(x))
    x[0], x[19], x[20], x[45] = 1, 1, 1, 1
    assert.equal(48, visits(x))
    block:deactivate(0)
    assert.equal(32, visits(x))
  end)

  it("leaves zeros, also in memory that is reused", function()
    local x, block = sparse(rg.i32, "i", 16, 16)
    local fill = rg.kernel(function()
      for i in rg.range(256) do x[i] = 1 end
    end)
    local clear = rg.kernel(function()
      for i in block:active() do block:deactivate(i) end
    end)
    fill()
    assert.equal(256, sum(x))
    clear()
    for i = 0, 255 do assert.equal(0, x[i]) end
    assert.equal(0, block:count())
    x[10] = 10
    for i = 0, 255 do assert.equal(i == 10 and 10 or 0, x[i]) end
    fill()
    clear()
    rg.gc()
    for i = 0, 15 do x[16 * i] = 2 end
    assert.equal(32, sum(x))
  end)

  it("has no effect on a cell that does not exist", function()
    local x, block = sparse(rg.i32, "i", 8, 8)
    x[9] = 4
    block:deactivate(0)
    local deactivate = rg.kernel(function()
      for i in rg.range(8) do
        if i ~= 1 then block:deactivate(i) end
      end
    end)
    deactivate()
    assert.equal(1, block:count())
    assert.equal(4, x[9])
  end)

  it("frees a cell once when many iterations ask for it", function()
    local x, block = sparse(rg.i32, "i", 8, 64)
    local fill = rg.kernel(function()
      for i in rg.range(512) do x[i] = i end
    end)
    local clear = rg.kernel(function()
      for i in x:active() do block:deactivate(math.floor(i / 64)) end
    end)
    fill()
    clear()
    assert.equal(0, block:count())
    assert.is_true(support.stays(function() return rg.memory().reserved end, 20, function()
      fill()
      assert.equal(8, block:count())
      assert.equal(512 * 511 / 2, sum(x))
      clear()
      assert.equal(0, block:count())
    end))
  end)

  it("of a parent removes its children, that of a child keeps its parent", function()
    local x = rg.field(rg.i32)
    local outer = rg.root:pointer("i", 4)
    local inner = outer:pointer("i", 4)
    inner:dense("i", 4):place(x)
    for _, i in ipairs { 0, 4, 8, 12, 16 } do x[i] = 1 end
    assert.same({ 2, 5 }, { outer:count(), inner:count() })
    inner:deactivate(4)
    assert.same({ 2, 4 }, { outer:count(), inner:count() })
    outer:deactivate(0)
    assert.same({ 1, 0 }, { outer:count(), inner:count() })
    assert.is_false(inner:is_active(2))
    assert.equal(0, x[8])
    x[0] = 1
    assert.equal(0, x[4])
    assert.same({ 2, 1 }, { outer:count(), inner:count() })
    assert.equal(4, visits(x))
  end)

  it("clears a level and all levels below it", function()
    local x, mark = rg.field(rg.i32), rg.field(rg.i32)
    local outer = rg.root:pointer("i", 4)
    outer:place(mark)
    local inner = outer:pointer("i", 4)
    inner:dense("i", 4):place(x)
    local fill = rg.kernel(function()
      for i in rg.range(64) do x[i] = 1 end
      for i in rg.range(4) do mark[i] = i + 1 end
    end)
    fill()
    inner:clear()
    assert.same({ 4, 0 }, { outer:count(), inner:count() })
    assert.equal(10, sum(mark))
    fill()
    outer:clear()
    assert.same({ 0, 0 }, { outer:count(), inner:count() })
    assert.equal(0, mark[3])
    outer:clear()
    assert.equal(0, outer:count())
  end)
end)

describe("a loop over active cells", function()
  it("visits what was active when it began, even if it deactivates it", function()
    local x, block = sparse(rg.i32, "i", 16, 16)
    for i = 0, 7 do x[32 * i] = 1 end
    local drain = rg.kernel(function()
      local n = 0
      for i in block:active() do
        block:deactivate(i)
        n = n + 1
      end
      return n
    end)
    assert.equal(8, drain())
    assert.equal(0, drain())
  end)

  it("does not visit blocks that it activates itself; the next loop does", function()
    local x = sparse(rg.i32, "i", 64, 16)
    x[0] = 1
    local grow = rg.kernel(function()
      local n = 0
      for i in x:active() do
        x[i + 16] = 1
        n = n + 1
      end
      return n
    end)
    assert.equal(16, grow())
    assert.equal(32, grow())
    assert.equal(48, grow())
    assert.equal(64, visits(x))
  end)

  it("sees in the next loop of a kernel only what was written after deactivation", function()
    local x, block = sparse(rg.i32, "i", 8, 8)
    local rewrite = rg.kernel(function()
      for i in rg.range(64) do x[i] = 5 end
      for i in block:active() do block:deactivate(i) end
      for i in rg.range(8) do x[8 * i + 1] = 7 end
      local s = 0
      for i in x:active() do s = s + x[i] end
      return s
    end)
    assert.equal(56, rewrite())
    assert.equal(56, rewrite())
    assert.same({ 0, 7, 0 }, { x[0], x[1], x[2] })
  end)

  it("activates a cell again that an iteration writes after its own deactivation", function()
    local x, block = sparse(rg.i32, "i", 8, 8)
    x[0], x[3], x[40] = 1, 2, 3
    local renew = rg.kernel(function()
      for i in block:active() do
        block:deactivate(i)
        x[8 * i + 7] = i
      end
    end)
    renew()
    assert.equal(2, block:count())
    assert.same({ 0, 0, 0, 0, 5 }, { x[0], x[3], x[7], x[40], x[47] })
  end)

  it("empties and fills a field again and again without growing #compiled", function()
    local x = rg.field(rg.i32)
    local block = rg.root:pointer("ij", 64)
    block:dense("ij", 8):place(x)
    local round = rg.kernel(function()
      for i, j in rg.range(512, 512) do x[i][j] = i + j end
      local full = 0
      for _, _ in block:active() do full = full + 1 end
      for i, j in x:active() do block:deactivate(math.floor(i / 8), math.floor(j / 8)) end
      return full
    end)
    assert.equal(4096, round())
    assert.is_true(support.stays(function() return rg.memory().reserved end, 5, function()
      assert.equal(4096, round())
      assert.equal(0, block:count())
    end))
  end)

  it("carries a sparse set from field to field and back", function()
    local fields, blocks = {}, {}
    for number = 1, 2 do
      fields[number] = rg.field(rg.i32)
      blocks[number] = rg.root:pointer("ij", 16)
      blocks[number]:dense("ij", 16):place(fields[number])
    end
    local x, y = fields[1], fields[2]
    local fill = rg.kernel(function()
      for i, j in rg.range(256, 256) do x[i][j] = i + j end
    end)
    local copy = rg.kernel(function(from, to)
      for i, j in from:active() do
        if from[i][j] < 100 then to[i][j] = from[i][j] end
      end
    end)
    local clear = rg.kernel(function(block)
      for i, j in block:active() do block:deactivate(i, j) end
    end)
    fill()
    for _ = 1, 25 do
      copy(x, y)
      clear(blocks[1])
      copy(y, x)
      blocks[2]:clear()
    end
    for _, at in ipairs { { 0, 0 }, { 1, 0 }, { 50, 49 }, { 0, 99 }, { 99, 0 }, { 50, 50 },
      { 200, 200 } } do
      local expected = at[1] + at[2] < 100 and at[1] + at[2] or 0
      assert.equal(expected, x[at[1]][at[2]])
    end
    assert.equal(28, blocks[1]:count())
    assert.equal(0, blocks[2]:count())
  end)

  it("does not visit cells that it activates explicitly, either", function()
    local x, block = sparse(rg.i32, "i", 64, 4)
    block:activate(0)
    local grow = rg.kernel(function()
      local n = 0
      for i in block:active() do
        block:activate(i + 1)
        n = n + 1
      end
      return n
    end)
    assert.equal(1, grow())
    assert.equal(2, grow())
    assert.equal(3, grow())
    assert.equal(16, visits(x))
  end)

  it("after one that activated by a pattern visits exactly what that asked for, a hundred times \z
    over", function()
    local x, block = sparse(rg.i32, "i", 1000, 4)
    local touch = rg.kernel(function() for i in rg.range(4000) do x[(7 * i) % 2000] = 1 end end)
    for _ = 1, 100 do
      touch()
      assert.equal(500, block:count())
      block:clear()
    end
  end)
end)
