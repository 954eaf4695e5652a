-- bilateral.lua - bilateral filter, which smooths noise but keeps edges: a pixel becomes the mean
-- of nearby pixels of similar brightness. usage: bilateral [pixels per axis] [radius]
local rg, bench = require "regolith", require "bench"
local n, radius = bench.arguments(512, 5)

local near, like = 2.5, 0.15 -- how far in space, and in brightness
local picture, smooth = rg.field(rg.f32, n, n), rg.field(rg.f32, n, n)

rg.kernel(function()
  for i, j in rg.range(n, n) do
    local edge = math.floor(8 * i / n) % 2 == math.floor(8 * j / n) % 2 and 0.7 or 0.3
    picture[i][j] = edge + 0.2 * (bench.noise(i * n + j) - 0.5)
  end
end)()

local filter = rg.kernel(function()
  for i, j in rg.range(n, n) do
    local centre, sum, weight = picture[i][j], 0.0, 0.0
    for x = math.max(i - radius, 0), math.min(i + radius, n - 1) do
      for y = math.max(j - radius, 0), math.min(j + radius, n - 1) do
        local d = picture[x][y] - centre
        local apart = (x - i) * (x - i) + (y - j) * (y - j)
        local w = math.exp(-apart / (2 * near * near) - d * d / (2 * like * like))
        sum = sum + w * picture[x][y]
        weight = weight + w
      end
    end
    smooth[i][j] = sum / weight
  end
end)

local total = rg.kernel(function()
  local s = rg.f64(0)
  for i, j in rg.range(n, n) do s = s + smooth[i][j] * smooth[i][j] end
  return s / (n * n)
end)

bench.run { step = filter, checksum = total }
