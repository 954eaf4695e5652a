-- launch.lua - what a launch costs before any work is done: nanoseconds per launch, best of several
-- batches.
local rg = require "regolith"
local x = rg.field(rg.f32, 8)
local wide = rg.field(rg.f32, 65536)

local empty = rg.kernel(function() end)
local serial = rg.kernel(function() x[0] = 1.0 end)
local numbers = rg.kernel(function(a, b, c, d) x[0] = a + b + c + d end)
local parallel = rg.kernel(function()
  for i in rg.range(65536):block(32768) do wide[i] = 1.0 end
end)

local function best(launch, count)
  local least = math.huge
  for _ = 1, 7 do
    local t0 = rg.time()
    for _ = 1, count do launch() end
    least = math.min(least, (rg.time() - t0) / count)
  end
  return least * 1e9
end

print(("empty kernel            %8.0f ns"):format(best(empty, 100000)))
print(("one store               %8.0f ns"):format(best(serial, 100000)))
print(("four numbers, one store %8.0f ns"):format(best(function() numbers(1, 2, 3, 4) end, 100000)))
print(("parallel, 2 chunks      %8.0f ns  (64 Ki stores included)"):format(best(parallel, 2000)))
collectgarbage() collectgarbage()
local before = collectgarbage "count"
for _ = 1, 100000 do serial() end
print(("Lua garbage per launch  %8.2f bytes"):format((collectgarbage "count" - before) * 1024
  / 100000))
