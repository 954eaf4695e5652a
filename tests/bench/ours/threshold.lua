-- threshold.lua - adaptive threshold for letters on uneven paper: a summed-area table, then each
-- pixel is compared with the mean of its neighbourhood. usage: threshold [pixels per axis] [radius]
local rg, bench = require "regolith", require "bench"
local n, radius = bench.arguments(2048, 15)

local image, dark = rg.field(rg.u8, n, n), rg.field(rg.u8, n, n)
local sums = rg.field(rg.i32, n, n)

local start = rg.kernel(function()
  for i, j in rg.range(n, n) do
    local paper = 150 + 80 * math.sin(i / 300) * math.cos(j / 200)
    if (i * 7 + j * 3) % 40 < 6 then paper = paper * 0.7 end
    image[i][j] = math.floor(paper * (0.9 + 0.1 * bench.noise(i * n + j)))
  end
end)

local threshold = rg.kernel(function()
  for i in rg.range(n) do
    local s = 0
    for j = 0, n - 1 do
      s = s + image[i][j]
      sums[i][j] = s
    end
  end
  for j in rg.range(n) do
    local s = 0
    for i = 0, n - 1 do
      s = s + sums[i][j]
      sums[i][j] = s
    end
  end
  for i, j in rg.range(n, n) do
    local x0, x1 = math.max(i - radius, 0), math.min(i + radius, n - 1)
    local y0, y1 = math.max(j - radius, 0), math.min(j + radius, n - 1)
    local s = sums[x1][y1]
    if x0 > 0 then s = s - sums[x0 - 1][y1] end
    if y0 > 0 then s = s - sums[x1][y0 - 1] end
    if x0 > 0 and y0 > 0 then s = s + sums[x0 - 1][y0 - 1] end
    local area = (x1 - x0 + 1) * (y1 - y0 + 1)
    local out = 0
    if image[i][j] * area * 100 < s * 85 then out = 255 end
    dark[i][j] = out
  end
end)

local total = rg.kernel(function()
  local s = 0
  for i, j in rg.range(n, n) do s = s + dark[i][j] end
  return s / 255
end)

bench.run { start = start, step = threshold, checksum = total }
