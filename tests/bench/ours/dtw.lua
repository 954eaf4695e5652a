-- dtw.lua - dynamic time warping: the distances of pairs of signals, one of which may lag behind.
-- usage: dtw [pairs] [samples] [band]
local rg, bench = require "regolith", require "bench"
local count, samples, band = bench.arguments(2048, 256, 24)

local first, second = rg.field(rg.f32, count, samples), rg.field(rg.f32, count, samples)
local row, last = rg.field(rg.f32, count, samples + 1), rg.field(rg.f32, count, samples + 1)
local distance = rg.field(rg.f32, count)

local start = rg.kernel(function()
  for p, t in rg.range(count, samples) do
    local k = p * samples + t
    first[p][t] = math.sin(0.05 * t + p) + 0.3 * bench.noise(k)
    second[p][t] = math.sin(0.055 * t + p) + 0.3 * bench.noise(k + 7919)
  end
end)

local step = rg.kernel(function()
  for p in rg.range(count) do
    for j = 0, samples do last[p][j] = 1e9 end
    last[p][0] = 0
    for i = 1, samples do
      for j = 0, samples do row[p][j] = 1e9 end
      for j = math.max(1, i - band), math.min(samples, i + band) do
        local cost = math.abs(first[p][i - 1] - second[p][j - 1])
        row[p][j] = cost + math.min(last[p][j - 1], last[p][j], row[p][j - 1])
      end
      for j = 0, samples do last[p][j] = row[p][j] end
    end
    distance[p] = last[p][samples]
  end
end)

bench.run {
  start = start,
  step = step,
  checksum = function() return distance:mean() end,
}
