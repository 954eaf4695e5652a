-- counted.lua - arrays that Lua or a kernel made, compared with a field: written, read around each
-- element, summed up. usage: counted [zeros|list|field] [elements]
local rg, bench = require "regolith", require "bench"
local kind, n = bench.arguments("zeros", 1048576)

local x
if kind == "field" then
  x = rg.field(rg.f32, n)
elseif kind == "zeros" then
  x = rg.zeros(rg.f32, n)
else
  x = rg.kernel [=[function(n: i32)
    local made = rg.list(rg.f32)
    for _ = 1, n do made:append(0) end
    return made
  end]=](n)
end

local sum
local step = rg.kernel(function()
  local s = 0
  for i in rg.range(n) do x[i] = bench.noise(i) end
  for i in rg.range(n) do s = s + x[i - 1] * x[i + 1] end
  return s
end)

bench.run {
  start = function() end,
  step = function() sum = step() end,
  checksum = function() return sum / n end,
}
