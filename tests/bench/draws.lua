-- draws.lua - uniform f32, one per iteration, or 16 per iteration in a serial loop. usage: luajit
-- draws.lua fill|loop [iterations] [repetitions]. One JSON line, as ref/draws.c prints; the
-- checksum is how many of the first fill are below a half.
local rg = require "regolith"

local phase, n, reps = arg[1] or "fill", tonumber(arg[2] or 4194304), tonumber(arg[3] or 9)
rg.init { threads = tonumber(os.getenv "OMP_NUM_THREADS" or 0), seed = 1 }
local x = rg.field(rg.f32, n)

local fill = rg.kernel(function() for i in rg.range(n) do x[i] = rg.random(rg.f32) end end)
local loop = rg.kernel(function()
  for i in rg.range(n) do
    local sum = 0.0
    for _ = 1, 16 do sum = sum + rg.random(rg.f32) end
    x[i] = sum
  end
end)
local count = rg.kernel(function()
  local below = 0
  for i in rg.range(n) do
    if x[i] < 0.5 then below = below + 1 end
  end
  return below
end)

fill()
local checksum, rates = count(), {}
local run, each = phase == "fill" and fill or loop, phase == "fill" and 1 or 16
if phase ~= "fill" then n = n / 16 end
run()
for rep = 1, reps do
  local begin = rg.time()
  run()
  rates[rep] = n * each / (rg.time() - begin) / 1e6
end
table.sort(rates)
print(('{"bench":"draws","phase":"%s","threads":%d,"median_rate":%.3f,"checksum":%d}')
  :format(phase, rg.info().threads, rates[math.floor((reps + 1) / 2)], checksum))
