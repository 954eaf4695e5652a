-- icp.lua - iterative closest point: each point of a scan finds the nearest one of another scan in
-- a grid, and the best rotation for all pairs moves the scan. usage: icp [points] [cells per axis]
local rg, bench = require "regolith", require "bench"
local n, cells = bench.arguments(32768, 24)

local fixed, moving, sorted = rg.field(rg.vec3, n), rg.field(rg.vec3, n), rg.field(rg.vec3, n)
local first = rg.field(rg.i32, cells ^ 3 + 1)
local filled = rg.field(rg.i32, cells ^ 3)

local function surface(k)
  local u, v = 2 * math.pi * bench.noise(2 * k), 2 * bench.noise(2 * k + 1) - 1
  local r = 0.35 + 0.06 * math.sin(3 * u) * math.cos(4 * v)
  local flat = math.sqrt(1 - v * v)
  return rg.vec3(r * flat * math.cos(u), 0.8 * r * flat * math.sin(u), 0.6 * r * v)
end

local function cell_of(p)
  local c = math.floor((p + 0.5) * cells)
  c = rg.clamp(c, 0, cells - 1)
  return (c.x * cells + c.y) * cells + c.z
end

local start = rg.kernel(function()
  for c in rg.range(cells ^ 3) do filled[c] = 0 end
  for i in rg.range(n) do
    fixed[i] = surface(i)
    local p = surface(i + n)
    local c, s = math.cos(0.15), math.sin(0.15)
    moving[i] = rg.vec3(c * p.x - s * p.y, s * p.x + c * p.y, p.z) + rg.vec3(0.02, -0.01, 0.015)
    local k = rg.i32(cell_of(fixed[i]))
    filled[k] = filled[k] + 1
  end
  for _ in rg.range(1):serial() do
    first[0] = 0
    for c = 0, cells ^ 3 - 1 do
      first[c + 1] = first[c] + filled[c]
      filled[c] = 0
    end
  end
  for i in rg.range(n):serial() do
    local k = rg.i32(cell_of(fixed[i]))
    sorted[first[k] + filled[k]] = fixed[i]
    filled[k] = filled[k] + 1
  end
end)

local step = rg.kernel(function()
  local count = 0
  local a, b = rg.vec3(0), rg.vec3(0)
  local m = rg.mat3(0)
  for i in rg.range(n) do
    local p = moving[i]
    local c = math.floor((p + 0.5) * cells)
    local cx, cy, cz = rg.i32(c.x), rg.i32(c.y), rg.i32(c.z)
    local best, least = -1, 1e9
    for x = math.max(cx - 1, 0), math.min(cx + 1, cells - 1) do
      for y = math.max(cy - 1, 0), math.min(cy + 1, cells - 1) do
        for z = math.max(cz - 1, 0), math.min(cz + 1, cells - 1) do
          local k = (x * cells + y) * cells + z
          for q = first[k], first[k + 1] - 1 do
            local d = sorted[q] - p
            local far = d:dot(d)
            if far < least then best, least = q, far end
          end
        end
      end
    end
    if best >= 0 then
      count = count + 1
      a = a + p
      b = b + sorted[best]
      m = m + rg.outer(sorted[best], p)
    end
  end
  a = a / count
  b = b / count
  local U, _, V = rg.svd(m / count - rg.outer(b, a))
  local R = U * V:transpose()
  if R:determinant() < 0 then
    R = U * rg.mat3 { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, -1 } } * V:transpose()
  end
  for i in rg.range(n) do moving[i] = R * (moving[i] - a) + b end
end)

local total = rg.kernel(function()
  local s = rg.f64(0)
  for i in rg.range(n) do s = s + moving[i]:dot(rg.vec3(1, 2, 3)) ^ 2 end
  return s / n
end)

bench.run { start = start, step = step, checksum = total }
