-- launch.lua - M1: what a launch costs before any work is done; a step is a thousand of them, so
-- milliseconds per step are microseconds per launch.
-- usage: launch empty|store|one|sixteen|small|wide
local rg, bench = require "regolith", require "bench"
local phase = bench.arguments "empty"

local x, wide = rg.field(rg.f32, 16), rg.field(rg.f32, 65536)

local kernels = {
  empty = rg.kernel(function() end),
  store = rg.kernel(function() x[0] = 1 end),
  one = rg.kernel(function(a) x[0] = a end),
  sixteen = rg.kernel(function(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p)
    x[0] = a + b + c + d + e + f + g + h + i + j + k + l + m + n + o + p
  end),
  small = rg.kernel(function() for i in rg.range(16) do x[i] = 1 end end),
  wide = rg.kernel(function() for i in rg.range(65536) do wide[i] = 1 end end),
}
local launch = kernels[phase]

local function step()
  for _ = 1, 1000 do launch() end
end
if phase == "one" then
  function step() for _ = 1, 1000 do launch(1) end end
elseif phase == "sixteen" then
  function step()
    for _ = 1, 1000 do launch(1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1) end
  end
end

bench.run { step = step, checksum = function() return x[0] + wide[9] end }
