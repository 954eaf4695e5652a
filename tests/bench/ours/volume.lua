-- volume.lua - ray marching through sparse smoke, whose density is interpolated between eight
-- cells. usage: volume [pixels per axis] [blocks per axis]
local rg, bench = require "regolith", require "bench"
local size, blocks = bench.arguments(160, 12)
local n = 8 * blocks
local smoke = rg.field(rg.f32)
rg.root:pointer("ijk", blocks):dense("ijk", 8):place(smoke)
local picture = rg.field(rg.f32, size, size)

rg.kernel(function()
  for i, j, k in rg.range(n, n, n) do
    local p = rg.vec3(i, j, k) / n - 0.5
    local d = 0.12 - math.abs(p:norm() - 0.3)
      + 0.05 * math.sin(20 * p.x) * math.sin(17 * p.y) * math.cos(15 * p.z)
    if d > 0.05 then smoke[i][j][k] = d end
  end
end)()

local function density(p)
  local c = rg.floor(p)
  local i, j, k = rg.i32(c.x), rg.i32(c.y), rg.i32(c.z)
  local f = p - c
  local sum = 0.0
  for a in rg.static(rg.range(2)) do
    for b in rg.static(rg.range(2)) do
      for e in rg.static(rg.range(2)) do
        local w = (a == 0 and 1 - f.x or f.x) * (b == 0 and 1 - f.y or f.y)
          * (e == 0 and 1 - f.z or f.z)
        sum = sum + w * smoke[i + a][j + b][k + e]
      end
    end
  end
  return sum
end

local render = rg.kernel(function(angle)
  for i, j in rg.range(size, size) do
    local c, s = math.cos(angle), math.sin(angle)
    local u, v = (i + 0.5) / size - 0.5, (j + 0.5) / size - 0.5
    local origin = rg.vec3(0.5 - 1.2 * s, 0.5, 0.5 - 1.2 * c) * n
    local way = rg.normalize(rg.vec3(u * c + s, v, c - u * s))
    local through, light, t = 1.0, 0.0, 0.5 * n
    while t < 2.0 * n and through > 0.01 do
      local p = origin + t * way
      if p.x > 1 and p.x < n - 2 and p.y > 1 and p.y < n - 2 and p.z > 1 and p.z < n - 2 then
        local d = density(p)
        if d > 0 then
          local absorbed = 1 - math.exp(-d * 2)
          light = light + through * absorbed * (0.3 + p.y / n)
          through = through * (1 - absorbed)
        end
      end
      t = t + 1
    end
    picture[i][j] = light
  end
end)

local total = rg.kernel(function()
  local s = rg.f64(0)
  for i, j in rg.range(size, size) do s = s + picture[i][j] end
  return s / (size * size)
end)

bench.run {
  step = function() render(0.4) end,
  checksum = total,
}
