--- rg.rescale: an index of one level of a tree as an index of another.
local rg = require "regolith"
local failure = require("support").failure

local function levels()
  local x, age = rg.field(rg.i32), rg.field(rg.i32)
  local block = rg.root:pointer("ij", 4)
  block:place(age)
  block:bitmasked("ij", 4):place(x)
  return x, age, block
end

describe("rg.rescale", function()
  it("gives the coarse cell of a fine one, in kernels", function()
    local x, age = levels()
    rg.kernel(function()
      for i, j in rg.range(16, 16) do
        local bi, bj = rg.rescale(x, age, i, j)
        age[bi][bj] = age[bi][bj] + 1
      end
    end)()
    for i = 0, 3 do
      for j = 0, 3 do assert.equal(16, age[i][j]) end
    end
  end)

  it("gives the first fine cell of a coarse one", function()
    local x, age = levels()
    rg.kernel(function()
      for i, j in rg.range(4, 4) do
        local xi, xj = rg.rescale(age, x, i, j)
        x[xi][xj] = 1
      end
    end)()
    assert.equal(16, x:count())
    for i, j in pairs(x) do assert.equal(0, i % 4 + j % 4) end
  end)

  it("takes an integer vector, and nodes for levels", function()
    local x, _, block = levels()
    x[5][14] = 1
    local a, b, is_there = rg.kernel(function()
      local v = rg.ivec2(5, 14)
      local bi, bj = rg.rescale(x, block, v)
      return bi, bj, block:is_active(bi, bj)
    end)()
    assert.same({ 1, 3, true }, { a, b, is_there })
  end)

  it("does the same from Lua", function()
    local x, age, block = levels()
    assert.same({ 1, 3 }, { rg.rescale(x, block, 5, 14) })
    assert.same({ 1, 3 }, { rg.rescale(x, age, { 5, 14 }) })
    assert.same({ 4, 12 }, { rg.rescale(block, x, 1, 3) })
    x[5][14] = 1
    assert.is_true(block:is_active(rg.rescale(x, block, 5, 14)))
    assert.equal(2, select("#", rg.rescale(x, block, 5, 14)))
  end)

  it("rounds down on unbounded axes", function()
    local x = rg.field(rg.i32)
    local block = rg.root:hash("i")
    block:dense("i", 8):place(x)
    assert.equal(-2, (rg.rescale(x, block, -9)))
    assert.equal(-2, rg.kernel(function() return rg.rescale(x, block, -9) end)())
  end)

  it("counts from the offset of a field", function()
    local x = rg.field { type = rg.i32, shape = 8, offset = -4 }
    assert.equal(3, (rg.rescale(x, x, 3)))
    assert.equal(3, rg.kernel(function() return rg.rescale(x, x, 3) end)())
  end)

  it("refuses two levels that are not of one tree", function()
    local x, _, block = levels()
    local y = rg.field(rg.i32, 4)
    assert.matches("of one tree", failure(rg.rescale, x, y, 1, 2).message)
    assert.matches("of one tree", failure(
      rg.kernel(function() local i = rg.rescale(x, y, 1, 2) return i end)).message)
    assert.equal("index.count", failure(rg.rescale, x, block, 1).code)
    assert.equal("index.count", failure(
      rg.kernel(function() local i = rg.rescale(x, block, 1) return i end)).code)
    assert.matches("takes two levels first", failure(rg.rescale, 3, block, 1).message)
    assert.matches("takes two levels",
      failure(rg.kernel(function() local i = rg.rescale(3, block, 1) return i end)).message)
  end)
end)
