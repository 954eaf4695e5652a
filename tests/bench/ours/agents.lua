-- agents.lua - physarum: agents follow the trails that they deposit, as slime moulds do.
-- usage: agents [agents] [cells per axis]
local rg, bench = require "regolith", require "bench"
local count, n = bench.arguments(262144, 1024)

local reach, turn, bend, speed, keep = 9, 0.4, 0.7, 1.4, 0.95
local x, heading = rg.field(rg.vec2, count), rg.field(rg.f32, count)
local trail, spread = rg.field(rg.f32, n, n), rg.field(rg.f32, n, n)

local start = rg.kernel(function()
  for p in rg.range(count) do
    x[p] = rg.vec2(bench.noise(2 * p), bench.noise(2 * p + 1)) * n
    heading[p] = 6.2831853 * bench.noise(2 * count + p)
  end
  for i, j in rg.range(n, n) do trail[i][j] = 0 end
end)

local function sense(p, angle)
  local at = rg.floor(x[p] + reach * rg.vec2(math.cos(angle), math.sin(angle)))
  return trail[at.x % n][at.y % n]
end

local step = rg.kernel(function()
  for p in rg.range(count) do
    local angle = heading[p]
    local left, ahead, right = sense(p, angle - bend), sense(p, angle), sense(p, angle + bend)
    if left > ahead and left > right then
      angle = angle - turn
    elseif right > ahead and right > left then
      angle = angle + turn
    end
    heading[p] = angle
    x[p] = x[p] + speed * rg.vec2(math.cos(angle), math.sin(angle))
  end
  for p in rg.range(count) do
    local at = rg.floor(x[p])
    local i, j = at.x % n, at.y % n
    trail[i][j] = trail[i][j] + 1
  end
  for i, j in rg.range(n, n) do
    local sum = 0
    for a = -1, 1 do
      for b = -1, 1 do sum = sum + trail[(i + a) % n][(j + b) % n] end
    end
    spread[i][j] = sum * keep / 9
  end
end)

local total = rg.kernel(function()
  local s = rg.f64(0)
  for i, j in rg.range(n, n) do s = s + trail[i][j] end
  return s / count
end)

bench.run {
  start = start,
  step = function()
    step()
    trail, spread = spread, trail
  end,
  checksum = total,
}
