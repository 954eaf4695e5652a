-- hair.lua - position-based hair in the wind: each point keeps its distance to the one before it,
-- and stays outside a sphere. usage: hair [strands] [points of a strand] [sweeps]
local rg, bench = require "regolith", require "bench"
local strands, points, sweeps = bench.arguments(8192, 24, 4)

local dt, length, radius = 0.01, 0.05, 1
local x, old = rg.field(rg.vec3, strands, points), rg.field(rg.vec3, strands, points)

local start = rg.kernel(function()
  for s in rg.range(strands) do
    local up, around = 0.2 + 0.8 * bench.noise(2 * s), 2 * math.pi * bench.noise(2 * s + 1)
    local flat = math.sqrt(1 - up * up)
    local root = rg.vec3(flat * math.cos(around), flat * math.sin(around), up)
    for k = 0, points - 1 do
      x[s][k] = root * (radius + length * k)
      old[s][k] = x[s][k]
    end
  end
end)

local step = rg.kernel(function()
  for s, k in rg.range(strands, points) do
    if k > 0 then
      local p = x[s][k]
      x[s][k] = p + 0.98 * (p - old[s][k]) + dt * dt * rg.vec3(2 * math.sin(3 * p.z), 0, -9.8)
      old[s][k] = p
    end
  end
  for s in rg.range(strands) do
    for _ = 1, sweeps do
      for k = 1, points - 1 do
        local a, b = x[s][k - 1], x[s][k]
        local d = b - a
        local far = d:norm()
        local shift = (far - length) / far * d
        if k == 1 then
          b = b - shift
        else
          x[s][k - 1] = a + 0.5 * shift
          b = b - 0.5 * shift
        end
        local out = b:norm()
        if out < radius then b = b * (radius / out) end
        x[s][k] = b
      end
    end
  end
end)

local total = rg.kernel(function()
  local s = rg.f64(0)
  for i, k in rg.range(strands, points) do s = s + x[i][k].z end
  return s / strands
end)

bench.run { start = start, step = step, checksum = total }
