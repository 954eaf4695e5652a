-- sand.lua - falling sand and water: grains claim the cell that they would move to, and the highest
-- of random priorities wins it. usage: sand [cells per axis]
local rg, bench = require "regolith", require "bench"
local n = bench.arguments(1024)

local EMPTY, SAND, WATER, WALL = 0, 1, 2, 3
local kind, after, claim = rg.field(rg.i32, n, n), rg.field(rg.i32, n, n), rg.field(rg.i32, n, n)
local frame = 0

local fill = rg.kernel(function()
  for i, j in rg.range(n, n) do
    local r = bench.noise(i * n + j)
    local k = EMPTY
    if r < 0.2 then
      k = SAND
    elseif r < 0.35 then
      k = WATER
    elseif r > 0.99 then
      k = WALL
    end
    kind[i][j] = k
  end
end)

local function hash(i, j, t)
  local h = bit.bxor(rg.u32(i) * 73856093, rg.u32(j) * 19349663, rg.u32(t) * 83492791)
  h = bit.bxor(h, bit.rshift(h, 13)) * 1274126177
  return rg.i32(bit.band(bit.bxor(h, bit.rshift(h, 16)), 0xffffff))
end

local function free(i, j)
  return i >= 0 and i < n and j >= 0 and kind[i][j] == EMPTY
end

-- The direction in which a cell's grain would move, as steps along both axes; 0, 0 if it stays.
local function wish(i, j, t)
  local k = kind[i][j]
  if k == SAND or k == WATER then
    if free(i, j - 1) then return 0, -1 end
    local side = hash(i, j, t) % 2 * 2 - 1
    if free(i + side, j - 1) then return side, -1 end
    if free(i - side, j - 1) then return -side, -1 end
    if k == WATER then
      if free(i + side, j) then return side, 0 end
      if free(i - side, j) then return -side, 0 end
    end
  end
  return 0, 0
end

local step = rg.kernel(function(t)
  for i, j in rg.range(n, n) do claim[i][j] = 0 end
  for i, j in rg.range(n, n) do
    local di, dj = wish(i, j, t)
    if di ~= 0 or dj ~= 0 then
      local key = hash(i, j, t) * 8 + (di + 1) * 2 + dj + 1
      claim[i + di][j + dj] = math.max(claim[i + di][j + dj], key)
    end
  end
  for i, j in rg.range(n, n) do
    local k = kind[i][j]
    if claim[i][j] > 0 then
      local code = claim[i][j] % 8
      k = kind[i - (math.floor(code / 2) - 1)][j - (code % 2 - 1)]
    elseif k ~= EMPTY then
      local di, dj = wish(i, j, t)
      if di ~= 0 or dj ~= 0 then
        local key = hash(i, j, t) * 8 + (di + 1) * 2 + dj + 1
        if claim[i + di][j + dj] == key then k = EMPTY end
      end
    end
    after[i][j] = k
  end
end)

local total = rg.kernel(function()
  local s = 0
  for i, j in rg.range(n, n) do s = s + kind[i][j] * (j % 64 + i % 3) end
  return s / n
end)

bench.run {
  start = function()
    frame = 0
    fill()
  end,
  step = function()
    frame = frame + 1
    step(frame)
    kind, after = after, kind
  end,
  checksum = function() return total() end,
}
