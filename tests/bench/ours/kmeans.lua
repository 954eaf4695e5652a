-- kmeans.lua - k-means clustering of the colours of a picture.
-- usage: kmeans [pixels] [clusters]
local rg, bench = require "regolith", require "bench"
local count, colours = bench.arguments(262144, 64)

local pixel, label = rg.field(rg.vec3, count), rg.field(rg.i32, count)
local centre, sum, size = rg.field(rg.vec3, colours), rg.field(rg.vec3, colours),
  rg.field(rg.i32, colours)

rg.kernel(function()
  for p in rg.range(count) do
    local a, b, c = bench.noise(3 * p), bench.noise(3 * p + 1), bench.noise(3 * p + 2)
    pixel[p] = rg.vec3(a * a, 0.5 * (a + b), b * c)
  end
end)()

local start = rg.kernel(function()
  for k in rg.range(colours) do centre[k] = pixel[math.floor(k * count / colours)] end
end)

local step = rg.kernel(function()
  for k in rg.range(colours) do
    sum[k] = rg.vec3(0)
    size[k] = 0
  end
  for p in rg.range(count) do
    local best, least = 0, 1e9
    for k = 0, colours - 1 do
      local d = pixel[p] - centre[k]
      local distance = rg.dot(d, d)
      if distance < least then best, least = k, distance end
    end
    label[p] = best
    sum[best] = sum[best] + pixel[p]
    size[best] = size[best] + 1
  end
  for k in rg.range(colours) do
    if size[k] > 0 then centre[k] = sum[k] / size[k] end
  end
end)

local total = rg.kernel(function()
  local s = rg.f64(0)
  for p in rg.range(count) do
    local d = pixel[p] - centre[label[p]]
    s = s + rg.dot(d, d)
  end
  return 1000 * s / count
end)

bench.run { start = start, step = step, checksum = total }
