-- clahe.lua - contrast-limited adaptive histogram equalisation (CLAHE): clipped histograms per
-- tile, whose transfer functions are interpolated. usage: clahe [pixels per axis] [tile size]
local rg, bench = require "regolith", require "bench"
local n, size = bench.arguments(1024, 64)
local tiles = n / size

local image, out = rg.field(rg.u8, n, n), rg.field(rg.u8, n, n)
local bins = rg.field(rg.i32, tiles, tiles, 256)
local curve = rg.field(rg.f32, tiles, tiles, 256)
local clip = 4 * size * size / 256

local start = rg.kernel(function()
  for i, j in rg.range(n, n) do
    local v = 90 + 60 * math.sin(0.004 * i) * math.cos(0.005 * j) + 50 * bench.noise(i * n + j)
    image[i][j] = rg.u8(v)
  end
end)

local step = rg.kernel(function()
  for a, b, v in rg.range(tiles, tiles, 256) do bins[a][b][v] = 0 end
  for i, j in rg.range(n, n) do
    local a, b, v = math.floor(i / size), math.floor(j / size), image[i][j]
    bins[a][b][v] = bins[a][b][v] + 1
  end
  for a, b in rg.range(tiles, tiles) do
    local excess = 0
    for v = 0, 255 do excess = excess + math.max(bins[a][b][v] - rg.i32(clip), 0) end
    local more, sum = excess / 256, 0.0
    for v = 0, 255 do
      sum = sum + math.min(bins[a][b][v], rg.i32(clip)) + more
      curve[a][b][v] = 255 * sum / (size * size)
    end
  end
  for i, j in rg.range(n, n) do
    local x, y = (i + 0.5) / size - 0.5, (j + 0.5) / size - 0.5
    local a, b = math.floor(x), math.floor(y)
    local fx, fy = x - a, y - b
    local a0, a1 = math.max(a, 0), math.min(a + 1, tiles - 1)
    local b0, b1 = math.max(b, 0), math.min(b + 1, tiles - 1)
    local v = image[i][j]
    local top = rg.mix(curve[a0][b0][v], curve[a0][b1][v], fy)
    local bottom = rg.mix(curve[a1][b0][v], curve[a1][b1][v], fy)
    out[i][j] = rg.u8(rg.mix(top, bottom, fx) + 0.5)
  end
end)

local total = rg.kernel(function()
  local s = 0
  for i, j in rg.range(n, n) do s = s + out[i][j] * (i % 3 + 1) end
  return s / n
end)

bench.run { start = start, step = step, checksum = total }
