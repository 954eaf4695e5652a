-- Loops over active cells that read fields of another tree, whose leaves may have another shape,
-- and may be absent where a leaf is visited; compared with plain Lua.
local support = require "support"
local rg = support.rg

local function pointer(root, n) return root:pointer("ij", n):dense("ij", 4) end
local function hash(root) return root:hash("ij"):dense("ij", 4) end
local function two(root) return root:pointer("ij", 2):pointer("ij", 3):dense("ij", 4) end
local function masked(root) return root:pointer("ij", 6):bitmasked("ij", 4) end
local function rows(root) return root:pointer("ij", 6):dense("ij", 2):dense("ij", 2) end
local function other(root) return root:pointer("ij", 3):dense("ij", 8) end

local twin = "reads 'y': cells of the leaf and of its neighbours, each found once per leaf"
local walk = "reads 'y': looked up through"

-- Each pair: the tree that is visited, the one that is read, what explain says of that.
local pairs_of_trees = {
  { "pointer, pointer", pointer, pointer, twin },
  { "pointer, hash", pointer, hash, twin },
  { "hash, pointer", hash, pointer, twin },
  { "hash, hash", hash, hash, twin },
  { "pointer, two levels of them", pointer, two, twin },
  { "masked, pointer", masked, pointer, twin },
  { "pointer, masked", pointer, masked, twin },
  { "pointer, cells divided twice", pointer, rows, twin },
  { "cells divided twice, pointer", rows, pointer, twin },
  { "pointer, larger leaves", pointer, other, walk },
}

local function place(T, make, n)
  local x = rg.field(T)
  make(rg.root, n):place(x)
  return x
end

-- About a third of all cells of 24 x 24, whole leaves left out; past `n` leaves nothing.
local function scatter(x, seed, n)
  for i = 0, 4 * n - 1 do
    for j = 0, 4 * n - 1 do
      local leaf = math.floor(i / 4) * 5 + math.floor(j / 4) * 3 + seed
      if leaf % 3 > 0 and (i * 7 + j * 5 + seed) % 3 == 0 then x[i][j] = i * 100 + j + seed end
    end
  end
end

local function around(value, i, j)
  local sum = 0
  for a = -1, 1 do
    for b = -1, 1 do sum = sum + (a * 3 + b + 5) * value(i + a, j + b) end
  end
  return sum
end

local function read(y)
  local values = {}
  for i, j, v in pairs(y) do values[i * 1000 + j] = v end
  return function(i, j) return values[i * 1000 + j] or 0 end
end

local function expect_same(x, value)
  local cells = 0
  for i, j, v in pairs(x) do
    assert.equal(around(value, i, j), v, ("at %d, %d"):format(i, j))
    cells = cells + 1
  end
  assert.is_true(cells > 100)
end

local function stencil(x, y)
  return rg.kernel(function()
    for i, j in x:active() do
      local sum = 0
      for a = -1, 1 do
        for b = -1, 1 do sum = sum + (a * 3 + b + 5) * y[i + a][j + b] end
      end
      x[i][j] = sum
    end
  end)
end

describe("a loop over active cells that reads another tree", function()
  for _, case in ipairs(pairs_of_trees) do
    local name, visited, other_tree, says = unpack(case)
    it("finds the elements that exist: " .. name, function()
      local x, y = place(rg.i32, visited, 6), place(rg.i32, other_tree, 6)
      scatter(x, 0, 6)
      scatter(y, 1, 6)
      local step = stencil(x, y)
      step()
      expect_same(x, read(y))
      if os.getenv "RG_ARCH" ~= "lua" then assert.matches(says, step:explain(), 1, true) end
    end)
  end

  it("reads zero where the other tree ends", function()
    for _, visited in ipairs { pointer, hash } do
      local x, y = place(rg.i32, visited, 6), place(rg.i32, pointer, 4)
      scatter(x, 0, 6)
      scatter(y, 1, 4)
      if visited == hash then
        for k = 1, 9 do x[-k][-k] = k end
        y[0][0] = 7
      end
      stencil(x, y)()
      expect_same(x, read(y))
    end
  end)

  it("sees its own writes into leaves that were not there", function()
    local x, y = place(rg.i32, pointer, 6), place(rg.i32, pointer, 6)
    scatter(x, 0, 6)
    local before = read(x)
    rg.kernel(function()
      for i, j in x:active() do
        y[i][j] = x[i][j] + 1
        x[i][j] = y[i][j] * 2
      end
    end)()
    for i, j, v in pairs(x) do assert.equal((before(i, j) + 1) * 2, v) end
    for i, j, v in pairs(y) do assert.equal(before(i, j) + 1, v) end
  end)

  it("writes each cell into leaves that it creates", function()
    for _, case in ipairs { { pointer, pointer }, { pointer, hash }, { hash, hash },
      { pointer, two }, { rows, pointer }, { pointer, masked }, { masked, pointer } } do
      local x, y = place(rg.i32, case[1], 6), place(rg.i32, case[2], 6)
      scatter(x, 0, 6)
      y[5][5] = 1000
      local before, cells, sum = read(x), 0, 0
      local step = rg.kernel(function()
        for i, j in x:active() do
          y[i][j] = y[i][j] + x[i][j] + 1
          x[i][j] = y[i][j] * 2
        end
      end)
      step()
      for i, j, v in pairs(x) do
        local own = before(i, j) + 1 + (i == 5 and j == 5 and 1000 or 0)
        assert.same({ own, 2 * own }, { y[i][j], v })
        cells, sum = cells + 1, sum + own
      end
      for _, _, v in pairs(y) do sum = sum - v end
      assert.equal(x[5][5] == 0 and -1000 or 0, sum)
      assert.is_true(cells > 100)
    end
  end)

  it("creates no leaf there without a write", function()
    local x, y, z = place(rg.i32, pointer, 6), place(rg.i32, pointer, 6), place(rg.i32, pointer, 6)
    for _, at in ipairs { 0, 5, 13, 22 } do x[at][at] = at end
    rg.kernel(function()
      for i, j in x:active() do
        if x[i][j] > 5 then y[i][j] = x[i][j] end
        if i == j and x[i][j] == 0 then goto next end
        z[i][j] = 1
        ::next::
      end
    end)()
    assert.same({ 2 * 16, 13, 22, 4 * 16 }, { y:count(), y[13][13], y[22][22], x:count() })
    assert.same({ 0, 1, 1 }, { z[6][6], z[22][22], z[20][21] })
  end)

  it("does not see its own writes before it makes them", function()
    local x, y = rg.field(rg.i32), rg.field(rg.i32)
    local block = rg.root:pointer("i", 8)
    rg.root:pointer("i", 8):dense("i", 1):place(x)
    block:dense("i", 1):place(y)
    for i = 0, 6, 2 do x[i] = 1 end
    y[4] = 1
    rg.kernel(function()
      for i in x:active() do
        if block:is_active(i) then x[i] = 7 end
        y[i] = x[i]
      end
    end)()
    assert.same({ 1, 1, 7, 1 }, { x[0], x[2], x[4], x[6] })
    assert.equal(4, block:count())
  end)

  it("drops and counts writes where the other tree ends", function()
    local x, y = place(rg.i32, pointer, 6), place(rg.i32, pointer, 4)
    for at = 0, 23, 4 do x[at][at] = 1 end
    local outside = rg.stats().out_of_range
    rg.kernel(function()
      for i, j in x:active() do y[i][j] = i + j + 1 end
    end)()
    assert.same({ 4 * 16, 32 }, { y:count(), tonumber(rg.stats().out_of_range - outside) })
    assert.equal(31, y[15][15])
  end)

  it("reports that no memory is left for them #compiled", function()
    local small = rg.new { memory = "2MiB" }
    local function tree(...)
      small.root:pointer("i", 60):dense("i", 1024):place(...)
      return (...)
    end
    local x, z = tree(small.field(small.i32)), small.field(small.i32, 64)
    local y = tree(small.field(small.i32), small.field(small.vec(16, small.i32)))
    for at = 0, 59 do x[at * 1024] = 1 end
    local copy = small.kernel("function() for i in x:active() do y[i] = x[i] + 1 end end",
      { x = x, y = y })
    assert.equal("memory.budget", support.failure(function()
      copy()
      small.sync()
    end).code)
    for _, v in pairs(y) do assert.is_true(v == 1 or v == 2) end
    assert.equal(0, z[5])
    y:clear()
    x:clear()
    x[7] = 5
    copy()
    assert.same({ 6, 1, 0 }, { y[7], y[8], y[1024] })
  end)

  it("sees its own deactivations there", function()
    local x, y = place(rg.i32, pointer, 6), place(rg.i32, masked, 6)
    scatter(x, 0, 6)
    y:copy_from(x)
    rg.kernel(function()
      for i, j in x:active() do
        y:deactivate(i, j)
        x[i][j] = y[i][j]
      end
    end)()
    for _, _, v in pairs(x) do assert.equal(0, v) end
  end)

  it("reads, in lanes, floats of leaves that come and go", function()
    local x, y = place(rg.f32, pointer, 6), rg.field(rg.f32)
    local block = rg.root:pointer("ij", 6)
    block:dense("ij", 4):place(y)
    for turn = 0, 3 do
      x:clear()
      scatter(x, turn, 6)
      scatter(y, turn + 1, 6)
      stencil(x, y)()
      expect_same(x, read(y))
      for b = 0, 5 do block:deactivate(b, (b + turn) % 6) end
      scatter(x, 1, 6)
      stencil(x, y)()
      expect_same(x, read(y))
    end
  end)
end)
