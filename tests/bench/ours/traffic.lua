-- traffic.lua - the Nagel-Schreckenberg model of traffic on ring roads: each car accelerates, keeps
-- its distance, and brakes at random.
-- usage: traffic [lanes] [cells of a lane]
local rg, bench = require "regolith", require "bench"
local lanes, cells = bench.arguments(256, 4096)
local top = 5
local speed, after = rg.field(rg.i32, lanes, cells), rg.field(rg.i32, lanes, cells)

local start = rg.kernel(function()
  for l, c in rg.range(lanes, cells) do
    speed[l][c] = bench.noise(l * cells + c) < 0.2 and 0 or -1
  end
end)

local drive = rg.kernel(function(tick)
  for l, c in rg.range(lanes, cells) do after[l][c] = -1 end
  for l, c in rg.range(lanes, cells) do
    local v = speed[l][c]
    if v >= 0 then
      v = math.min(v + 1, top)
      local gap = 0
      while gap < v and speed[l][(c + gap + 1) % cells] < 0 do gap = gap + 1 end
      v = math.min(v, gap)
      if v > 0 and bench.noise((rg.i32(tick) * lanes + l) * cells + c) < 0.25 then v = v - 1 end
      after[l][(c + v) % cells] = v
    end
  end
end)

local total = rg.kernel(function()
  local s = rg.f64(0)
  for l, c in rg.range(lanes, cells) do s = s + speed[l][c] end
  return s / lanes
end)
local tick = 0

bench.run {
  start = function() tick = 0 start() end,
  step = function()
    tick = tick + 1
    drive(tick)
    speed, after = after, speed
  end,
  checksum = total,
}
