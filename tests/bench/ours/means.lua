-- means.lua - non-local means: each pixel becomes the mean of nearby pixels with similar
-- neighbourhoods. usage: means [pixels per axis] [reach]
local rg, bench = require "regolith", require "bench"
local n, reach = bench.arguments(192, 5)

local image, out = rg.field(rg.f32, n, n), rg.field(rg.f32, n, n)
local patch, strength = 1, 0.02

local start = rg.kernel(function()
  for i, j in rg.range(n, n) do
    image[i][j] = 0.5 + 0.3 * math.sin(i * 0.1) * math.cos(j * 0.07) + 0.1 * bench.noise(i * n + j)
  end
end)

local denoise = rg.kernel(function()
  for i, j in rg.range(n, n) do
    local sum, weight = 0.0, 0.0
    for x = math.max(i - reach, patch), math.min(i + reach, n - 1 - patch) do
      for y = math.max(j - reach, patch), math.min(j + reach, n - 1 - patch) do
        local d = 0.0
        for a = -patch, patch do
          for b = -patch, patch do
            local p = math.max(0, math.min(n - 1, i + a))
            local q = math.max(0, math.min(n - 1, j + b))
            d = d + (image[p][q] - image[x + a][y + b]) ^ 2
          end
        end
        local w = math.exp(-d / strength)
        sum = sum + w * image[x][y]
        weight = weight + w
      end
    end
    out[i][j] = sum / weight
  end
end)

bench.run { start = start, step = denoise, checksum = function() return out:sum() / n end }
