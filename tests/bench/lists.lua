-- lists.lua - a million numbers appended to thousands of lists in a scattered order, and a sum over
-- all elements. usage: luajit lists.lua append|iterate [lists] [elements] [repetitions]. One JSON
-- line, as ref/lists.c prints.
local rg = require "regolith"

local phase, lists, count, reps = arg[1] or "append", tonumber(arg[2] or 4096),
  tonumber(arg[3] or 1048576), tonumber(arg[4] or 9)
rg.init { threads = tonumber(os.getenv "OMP_NUM_THREADS" or 0) }
local x = rg.field(rg.i32)
local list = rg.root:dense("i", lists):dynamic("j", 1024, { chunk = 64 })
list:place(x)

local empty = rg.kernel(function() list:clear() end)
local append = rg.kernel(function()
  for k in rg.range(count) do x:append(rg.i32(rg.u32(k) * 2654435761LL % lists), k) end
end)
local iterate = rg.kernel(function()
  local sum = 0
  for i, j in x:active() do sum = sum + x[i][j] end
  return sum
end)

local rates = {}
append()
for rep = 1, reps do
  if phase == "append" then empty() end
  local begin = rg.time()
  if phase == "append" then append() else iterate() end
  rates[rep] = count / (rg.time() - begin) / 1e6
end
table.sort(rates)
print(('{"bench":"lists","phase":"%s","threads":%d,"median_rate":%.3f,"checksum":%d}')
  :format(phase, rg.info().threads, rates[math.floor((reps + 1) / 2)], iterate()))
