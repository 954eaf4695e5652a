-- voxels.lua - ray casting in sparse voxels: rays step from cell to cell until one is solid.
-- usage: voxels [pixels per axis] [blocks per axis]
local rg, bench = require "regolith", require "bench"
local size, blocks = bench.arguments(320, 16)

local n = 8 * blocks
local solid = rg.field(rg.u8)
rg.root:pointer("ijk", blocks):dense("ijk", 8):place(solid)
local picture = rg.field(rg.f32, size, size)

-- Hills with tunnels, one cell thick.
rg.kernel(function()
  for i, k in rg.range(n, n) do
    local x, z = 6.0 * i / n, 6.0 * k / n
    local ground = math.floor(n * (0.3 + 0.1 * math.sin(2 * x) * math.cos(1.5 * z)))
    solid[i][ground][k] = 1
    if bench.noise(i * n + k) > 0.995 then
      for j = ground, ground + 12 do solid[i][j][k] = 2 end
    end
  end
end)()

local draw = rg.kernel(function(angle)
  for a, b in rg.range(size, size) do
    local c, s = math.cos(angle), math.sin(angle)
    local u, v = (a + 0.5) / size - 0.5, (b + 0.5) / size - 0.5
    local way = rg.normalize(rg.vec3(u * c + s, v - 0.35, c - u * s))
    local origin = rg.vec3(0.5, 0.6, 0.5) * n
    local cell = rg.ivec3(rg.floor(origin))
    local step = rg.ivec3(rg.sign(way))
    local stride = math.abs(1 / way)
    local edge = rg.vec3(cell) + math.max(step, 0)
    local after = (edge - origin) / way
    local t, found = 0.0, 0
    while found == 0 and cell.x >= 0 and cell.x < n and cell.y >= 0 and cell.y < n
      and cell.z >= 0 and cell.z < n do
      found = solid[cell]
      if after.x < after.y and after.x < after.z then
        t = after.x
        cell.x = cell.x + step.x
        after.x = after.x + stride.x
      elseif after.y < after.z then
        t = after.y
        cell.y = cell.y + step.y
        after.y = after.y + stride.y
      else
        t = after.z
        cell.z = cell.z + step.z
        after.z = after.z + stride.z
      end
    end
    picture[a][b] = found > 0 and found / (1 + 4 * t / n) or 0
  end
end)

local total = rg.kernel(function()
  local s = rg.f64(0)
  for a, b in rg.range(size, size) do s = s + picture[a][b] end
  return s / (size * size)
end)

bench.run { step = function() draw(0.5) end, checksum = total }
