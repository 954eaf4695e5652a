-- histogram.lua - W14 c: how often each key occurs. usage: histogram [bins] [keys]
local rg, bench = require "regolith", require "bench"
local bins, n = bench.arguments(256, 16777216)

local key, count = rg.field(rg.u32, n), rg.field(rg.i32, bins)

local fill = rg.kernel(function()
  for i in rg.range(n) do key[i] = rg.u32(rg.i32(bench.noise(i) * 16777216)) end
end)

local histogram = rg.kernel(function()
  for b in rg.range(bins) do count[b] = 0 end
  for i in rg.range(n) do
    local b = key[i] % bins
    count[b] = count[b] + 1
  end
end)

local total = rg.kernel(function()
  local s = rg.f64(0)
  for b in rg.range(bins) do s = s + rg.f64(count[b]) * (1 + b % 7) end
  return s
end)

fill()
bench.run { step = histogram, checksum = total }
