-- Tests whether cells around the visited one are active, in loops over active cells: bits of words,
-- made once per row, are compared with the host's look-up of each cell.
local support = require "support"
local rg = support.rg

-- Each tree: its name, how a field is placed in it, its extents, and what explain says.
local words = "bits of mask words, read once per row"
local once = "looked up once per neighbouring leaf"
local walk = "looked up from the root at each call"
local trees = {
  { "masked rows of 8", { 24, 24 }, words, function(root)
    return root:pointer("ij", 3):bitmasked("ij", 8)
  end },
  { "masked rows of 6", { 24, 18 }, words, function(root)
    return root:pointer("ij", 4, 3):bitmasked("ij", 6)
  end },
  { "masked rows of 33", { 8, 99 }, words, function(root)
    return root:pointer("ij", 4, 3):bitmasked("ij", 2, 33)
  end },
  { "masked rows of 64", { 8, 128 }, words, function(root)
    return root:pointer("ij", 4, 2):bitmasked("ij", 2, 64)
  end },
  { "masked rows of one cell", { 16, 16 }, words, function(root)
    return root:pointer("ij", 4, 16):bitmasked("ij", 4, 1)
  end },
  { "masked cells in another order", { 16, 16 }, words, function(root)
    return root:pointer("ij", 2):bitmasked("ji", 8)
  end },
  { "masked cells of a hash", { 32, 32 }, words, function(root)
    return root:hash("ij"):bitmasked("ij", 8)
  end },
  { "masked cells, an axis undivided above", { 32, 8 }, words, function(root)
    return root:pointer("i", 4):bitmasked("ij", 8)
  end },
  { "leaves of 4", { 24, 24 }, once, function(root)
    return root:pointer("ij", 6):dense("ij", 4)
  end },
  { "leaves of 64", { 4, 192 }, once, function(root)
    return root:pointer("ij", 2, 3):dense("ij", 2, 64)
  end },
  { "leaves two levels down", { 32, 32 }, once, function(root)
    return root:pointer("ij", 2):pointer("ij", 4):dense("ij", 4)
  end },
  { "leaves of a hash", { 32, 32 }, once, function(root)
    return root:hash("ij"):dense("ij", 8)
  end },
  { "rows of 80", { 4, 160 }, walk, function(root)
    return root:pointer("ij", 2):bitmasked("ij", 2, 80)
  end },
  { "masks above the cells", { 32, 32 }, walk, function(root)
    return root:pointer("ij", 2):bitmasked("ij", 4):dense("ij", 4)
  end },
}

local function scatter(x, extents)
  for n = 0, extents[1] * extents[2] / 6 do
    x[(n * 7 + n * n % 5) % extents[1]][(n * 13 + n * n % 11) % extents[2]] = 1
  end
end

-- The sum of numbers that tell which of the cells around all active ones are active.
local function asked_by_host(x, extents)
  local active, sum = {}, 0
  for i, j in pairs(x) do active[i * extents[2] + j] = true end
  for at in pairs(active) do
    local i, j = math.floor(at / extents[2]), at % extents[2]
    for a = -2, 2 do
      for b = -2, 2 do
        local is_inside = j + b >= 0 and j + b < extents[2]
        if is_inside and active[(i + a) * extents[2] + j + b] then
          sum = sum + (a + 3) * 10 + b + 3
        end
      end
    end
  end
  return sum
end

local function asking(x)
  return rg.kernel(function()
    local s = 0
    for i, j in x:active() do
      for a = -2, 2 do
        for b = -2, 2 do
          if x:is_active(i + a, j + b) then s = s + (a + 3) * 10 + b + 3 end
        end
      end
    end
    return s
  end)
end

local function is_inside(field, i, j)
  local n, m = field.shape[0], field.shape[1]
  return n == 0 or i < n and j < m -- a hash has no end
end

-- A number that tells which of the cells around all active ones are active, and what they hold,
-- where the first cell follows the last; `field` may have more or fewer cells than the loop's.
local function around_by_host(x, field, extents)
  local n, m = extents[1], extents[2]
  local sum = 0
  for i, j in pairs(x) do
    for a = -2, 2 do
      for b = -2, 2 do
        local k, l = (i + a) % n, (j + b) % m
        local held = is_inside(field, k, l) and field[k][l] or 0
        if is_inside(x, k, l) and x:is_active(k, l) then held = held + 7 end
        sum = sum + ((a + 3) * 10 + b + 3) * held
      end
    end
  end
  return sum
end

-- `n` and `m` are the ends of indices in the kernel's text.
local function around(x, field, n, m)
  local text = ([[function()
    local s = rg.i64(0)
    for i, j in x:active() do
      for a = -2, 2 do
        for b = -2, 2 do
          local held = field[(i + a + 3 * N) % N][(j - 5 * M + b) % M]
          if x:is_active((i + a) % N, (j + b + M) % M) then held = held + 7 end
          s = s + ((a + 3) * 10 + b + 3) * held
        end
      end
    end
    return s
  end]]):gsub("N", n):gsub("M", m)
  return rg.kernel(text, { x = x, field = field })
end

local function placed(place)
  local x = rg.field(rg.i32)
  place(rg.root):place(x)
  return x
end

local function compare_around(x, field, extents)
  local expected = around_by_host(x, field, extents)
  for _, stress in ipairs { "", "guard_pages,force_lanes" } do
    local sum = support.with_stress(stress, function()
      return around(x, field, extents[1], extents[2])()
    end)
    assert.equal(expected, tonumber(sum))
  end
end

local function compare_around_itself(place, extents)
  local x = placed(place)
  scatter(x, extents)
  compare_around(x, x, extents)
end

describe("a loop over active cells that wraps indices around the field", function()
  for _, tree in ipairs(trees) do
    it("reads the cells at the other side: " .. tree[1], function()
      compare_around_itself(tree[4], tree[2])
    end)
  end

  it("does so where two steps reach around a field of two cells", function()
    local function wide(root) return root:pointer("ij", 1, 2):dense("ij", 2) end
    local function one(root) return root:pointer("ij", 1):bitmasked("ij", 2) end
    local function small(root) return root:pointer("ij", 3):dense("ij", 1) end
    compare_around_itself(wide, { 2, 4 })
    compare_around_itself(one, { 2, 2 })
    compare_around_itself(small, { 3, 3 })
  end)

  it("reads other leaves of the same shape, of which there are more, or fewer", function()
    local function blocks(count)
      return placed(function(root) return root:pointer("ij", count):dense("ij", 4) end)
    end
    for _, count in ipairs { 2, 3, 5 } do
      local x, other = blocks(3), blocks(count)
      scatter(x, { 12, 12 })
      for i = 0, 4 * count - 1, 3 do
        for j = 0, 4 * count - 1 do other[i][j] = i * 31 + j + 1 end
      end
      compare_around(x, other, { 12, 12 })
    end
  end)

  it("does not wrap at other numbers than the field's end", function()
    local x = placed(function(root) return root:pointer("ij", 4):dense("ij", 4) end)
    scatter(x, { 16, 16 })
    for _, n in ipairs { 4, 12, 20, 32 } do compare_around(x, x, { n, 16 }) end
  end)

  it("wraps by a mask, and finds each neighbouring leaf once #compiled", function()
    local x, y = rg.field(rg.i32), rg.field(rg.i32)
    rg.root:pointer("ij", 4):dense("ij", 8):place(x, y)
    for i = 0, 31 do x[i][31 - i], x[i][0] = i + 1, 3 * i + 1 end
    local kernel = rg.kernel([[function()
      for i, j in x:active() do
        y[i][j] = x[bit.band(i + 1, 31)][j] + 100 * x[i][bit.band(j - 1, 31)]
      end
    end]], { x = x, y = y, bit = bit })
    kernel()
    for i, j, value in pairs(y) do
      assert.equal(x[(i + 1) % 32][j] + 100 * x[i][(j - 1) % 32], value)
    end
    local how = "cells of neighbouring leaves, each found once per leaf"
    assert.matches(how, kernel:explain(), 1, true)
  end)

  it("sees what its own iteration has activated and written at the other side", function()
    for _, cells in ipairs { "dense", "bitmasked" } do
      local x, seen = rg.field(rg.i32), rg.field(rg.i32, 4)
      local block = rg.root:pointer("i", 4)
      block[cells](block, "i", 8):place(x)
      x[0] = 1
      rg.kernel([[function()
        for i in x:active() do
          if i == 0 then
            if x:is_active((i - 1) % 32) then seen[0] = 1 end
            seen[1] = x[(i - 1) % 32] + 1
            x[(i - 1) % 32] = 5
            if x:is_active((i - 1) % 32) then seen[2] = 1 end
            seen[3] = x[(i - 1) % 32]
          end
        end
      end]], { x = x, seen = seen })()
      assert.same({ 0, 1, 1, 5 }, { seen[0], seen[1], seen[2], seen[3] })
    end
  end)
end)

describe("a loop that tests whether cells around are active", function()
  for _, tree in ipairs(trees) do
    local name, extents, how, place = tree[1], tree[2], tree[3], tree[4]
    it("is reported: " .. name, function()
      local x = rg.field(rg.i32)
      place(rg.root):place(x)
      scatter(x, extents)
      assert.equal(asked_by_host(x, extents), asking(x)())
    end)
    it("tells how: " .. name .. " #compiled", function()
      local x = rg.field(rg.i32)
      place(rg.root):place(x)
      local kernel = asking(x)
      kernel()
      assert.matches(how, kernel:explain(), 1, true)
    end)
  end

  it("gets the state along one axis", function()
    local x = rg.field(rg.i32)
    rg.root:pointer("i", 4):bitmasked("i", 16):place(x)
    for i = 0, 63, 3 do x[i] = 1 end
    local kernel = rg.kernel(function()
      local s = 0
      for i in x:active() do
        if x:is_active(i - 3) then s = s + 1 end
        if x:is_active(i + 3) then s = s + 100 end
        if x:is_active(i + 1) then s = s + 10000 end
      end
      return s
    end)
    assert.equal(21 * 101, kernel())
  end)

  it("gets the state of another field's cells", function()
    local x, y = rg.field(rg.i32), rg.field(rg.i32)
    local block = rg.root:pointer("ij", 4)
    block:bitmasked("ij", 8):place(x)
    block:bitmasked("ij", 8):place(y)
    x[9][9], x[17][8], y[9][10], y[16][8] = 1, 1, 1, 1
    local kernel = rg.kernel(function()
      local s = 0
      for i, j in x:active() do
        if y:is_active(i, j + 1) then s = s + 1 end
        if y:is_active(i - 1, j) then s = s + 10 end
        if y:is_active(i, j) then s = s + 100 end
      end
      return s
    end)
    assert.equal(11, kernel())
  end)

  it("sees cells that its own iteration has activated", function()
    local x, seen = rg.field(rg.i32), rg.field(rg.i32, 2)
    rg.root:pointer("ij", 4):bitmasked("ij", 8):place(x)
    x[7][7] = 1
    rg.kernel(function()
      for i, j in x:active() do
        if i == 7 then
          if x:is_active(i + 1, j) then seen[0] = 1 end
          x[i + 1][j] = 5
          if x:is_active(i + 1, j) then seen[1] = 1 end
        end
      end
    end)()
    assert.same({ 0, 1 }, { seen[0], seen[1] })
    assert.is_true(x:is_active(8, 7))
  end)

  it("sees a leaf that its own iteration has created", function()
    local x, seen = rg.field(rg.i32), rg.field(rg.i32, 2)
    rg.root:pointer("ij", 4):dense("ij", 8):place(x)
    x[7][7] = 1
    rg.kernel(function()
      for i, j in x:active() do
        if i == 7 and j == 7 then
          if x:is_active(i + 1, j) then seen[0] = 1 end
          x[i + 2][j - 3] = 5
          if x:is_active(i + 1, j) then seen[1] = 1 end
        end
      end
    end)()
    assert.same({ 0, 1 }, { seen[0], seen[1] })
  end)

  it("sees cells that earlier iterations of a serial loop have activated", function()
    local x, count = rg.field(rg.i32), rg.field(rg.i32, 1)
    rg.root:pointer("ij", 4):bitmasked("ij", 8):place(x)
    x[7][7] = 1
    rg.kernel(function(turns)
      for i, j in x:active() do
        if i == 7 and j == 7 then
          for turn = 1, turns do
            if x:is_active(i + 1, j) then count[0] = count[0] + 1 end
            x[i + 1][j] = turn
          end
        end
      end
    end)(4)
    assert.equal(3, count[0])
  end)

  it("grows by one cell each time", function()
    local x = rg.field(rg.i32)
    rg.root:pointer("ij", 4):bitmasked("ij", 8):place(x)
    x[15][15] = 1
    local grow = rg.kernel(function(step)
      for i, j in x:active() do
        if x[i][j] < step then
          for a = -1, 1 do
            for b = -1, 1 do
              if not x:is_active(i + a, j + b) then x[i + a][j + b] = step end
            end
          end
        end
      end
    end)
    for step = 2, 5 do
      grow(step)
      local cells = 0
      for i, j in pairs(x) do
        cells = cells + 1
        assert.equal(math.max(math.abs(i - 15), math.abs(j - 15)) + 1, x[i][j])
      end
      assert.equal((2 * step - 1) ^ 2, cells)
    end
  end)
end)
