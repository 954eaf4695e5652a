-- lists.lua - W6: a million numbers appended to thousands of lists in a scattered order, and a sum
-- over all elements. usage: lists append|iterate [lists] [elements]
local rg, bench = require "regolith", require "bench"
local phase, lists, count = bench.arguments("append", 4096, 1048576)

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

append()
bench.run {
  start = function() if phase == "append" then empty() end end,
  step = phase == "append" and append or iterate,
  checksum = iterate,
}
