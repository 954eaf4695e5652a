-- stereo.lua - stereo by semi-global matching: costs are aggregated along rows and columns, both
-- ways. usage: stereo [height] [width] [disparities]
local rg, bench = require "regolith", require "bench"
local height, width, disparities = bench.arguments(192, 256, 32)

local left, right = rg.field(rg.i32, height, width), rg.field(rg.i32, height, width)
local cost = rg.field(rg.i32, height, width, disparities)
local path = rg.field(rg.i32, height, width, disparities)
local sum = rg.field(rg.i32, height, width, disparities)
local depth = rg.field(rg.i32, height, width)
local small, large = 8, 40

local start = rg.kernel(function()
  for y, x in rg.range(height, width) do
    right[y][x] = math.floor(256 * bench.noise(y * 1024 + x))
    local d = 6 + math.floor(8 + 8 * math.sin(0.03 * x) * math.cos(0.04 * y))
    left[y][x] = math.floor(256 * bench.noise(y * 1024 + x - d))
  end
end)

local function from(y, x, py, px)
  local least = path[py][px][0]
  for d = 1, disparities - 1 do least = math.min(least, path[py][px][d]) end
  for d = 0, disparities - 1 do
    local best = math.min(path[py][px][d], least + large)
    if d > 0 then best = math.min(best, path[py][px][d - 1] + small) end
    if d < disparities - 1 then best = math.min(best, path[py][px][d + 1] + small) end
    path[y][x][d] = cost[y][x][d] + best - least
    sum[y][x][d] = sum[y][x][d] + path[y][x][d]
  end
end

local function begin(y, x)
  for d = 0, disparities - 1 do
    path[y][x][d] = cost[y][x][d]
    sum[y][x][d] = sum[y][x][d] + cost[y][x][d]
  end
end

local match = rg.kernel(function()
  for y, x, d in rg.range(height, width, disparities) do
    local c = 255
    if x >= d then c = math.abs(left[y][x] - right[y][x - d]) end
    cost[y][x][d] = c
    sum[y][x][d] = 0
  end
  for y in rg.range(height) do
    begin(y, 0)
    for x = 1, width - 1 do from(y, x, y, x - 1) end
  end
  for y in rg.range(height) do
    begin(y, width - 1)
    for x = width - 2, 0, -1 do from(y, x, y, x + 1) end
  end
  for x in rg.range(width) do
    begin(0, x)
    for y = 1, height - 1 do from(y, x, y - 1, x) end
  end
  for x in rg.range(width) do
    begin(height - 1, x)
    for y = height - 2, 0, -1 do from(y, x, y + 1, x) end
  end
  for y, x in rg.range(height, width) do
    local best = 0
    for d = 1, disparities - 1 do
      if sum[y][x][d] < sum[y][x][best] then best = d end
    end
    depth[y][x] = best
  end
end)

bench.run {
  start = start,
  step = match,
  checksum = function() return tonumber(depth:sum()) / height end,
}
