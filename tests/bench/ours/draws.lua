-- draws.lua - uniform f32, one per iteration, or 16 per iteration in a serial loop; the checksum is
-- how many are below a half (with 16: how many of their means).
-- usage: draws fill|state|loop [iterations]
local rg, bench = require "regolith", require "bench"
local phase, n = bench.arguments("fill", 4194304)

rg.seed(1)
local x = rg.field(rg.f32, n)

local fill = rg.kernel(function() for i in rg.range(n) do x[i] = rg.random(rg.f32) end end)
local loop = rg.kernel(function()
  for i in rg.range(n) do
    local sum = 0.0
    for _ = 1, 16 do sum = sum + rg.random(rg.f32) end
    x[i] = sum / 16
  end
end)
local count = rg.kernel(function()
  local below = 0
  for i in rg.range(n) do
    if x[i] < 0.5 then below = below + 1 end
  end
  return below
end)

bench.run { step = phase == "loop" and loop or fill, checksum = function() return count() / n end }
