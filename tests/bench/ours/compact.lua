-- compact.lua - stream compaction: numbers below a limit are counted by blocks, then written
-- without gaps.
-- usage: compact [numbers] [block]
local rg, bench = require "regolith", require "bench"
local n, block = bench.arguments(1048576, 1024)
local value, kept = rg.field(rg.f32, n), rg.field(rg.f32, n)
local sums = rg.field(rg.i32, n / block)

rg.kernel(function() for k in rg.range(n) do value[k] = bench.noise(k) end end)()

local compact = rg.kernel(function(limit)
  for b in rg.range(n / block) do
    local count = 0
    for k = b * block, b * block + block - 1 do
      if value[k] < limit then count = count + 1 end
    end
    sums[b] = count
  end
  local sum = 0
  for b = 0, n / block - 1 do
    local count = sums[b]
    sums[b] = sum
    sum = sum + count
  end
  for b in rg.range(n / block) do
    local at = sums[b]
    for k = b * block, b * block + block - 1 do
      if value[k] < limit then
        kept[at] = value[k]
        at = at + 1
      end
    end
  end
  return sum
end)

local total = rg.kernel(function(m)
  local s = rg.f64(0)
  for k in rg.range(m) do s = s + kept[k] * (k % 64) end
  return s / n
end)
local m

bench.run {
  step = function() m = compact(0.3) end,
  checksum = function() return total(m) end,
}
