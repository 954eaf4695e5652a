-- raster.lua - a software rasterizer with a depth buffer: a rotating torus of triangles.
-- usage: raster [pixels per axis] [corners around] [corners across]
local rg, bench = require "regolith", require "bench"
local size, around, across = bench.arguments(512, 256, 128)

local triangles = 2 * around * across
local corner, seen = rg.field(rg.vec3, around, across), rg.field(rg.vec3, around * across)
local mesh = rg.field(rg.ivec3, triangles)
local nearest = rg.field(rg.i64, size, size)
local pixel = rg.field(rg.vec3, size, size)
local turn = 0.0

local build = rg.kernel(function()
  for i, j in rg.range(around, across) do
    local a, b = 6.2831853 * i / around, 6.2831853 * j / across
    local r = 0.6 + 0.25 * math.cos(b)
    corner[i][j] = rg.vec3(r * math.cos(a), r * math.sin(a), 0.25 * math.sin(b))
    local k, i2, j2 = 2 * (i * across + j), (i + 1) % around, (j + 1) % across
    mesh[k] = rg.ivec3(i * across + j, i2 * across + j, i2 * across + j2)
    mesh[k + 1] = rg.ivec3(i * across + j, i2 * across + j2, i * across + j2)
  end
end)

local function edge(a, b, x, y) return (b.x - a.x) * (y - a.y) - (b.y - a.y) * (x - a.x) end

local draw = rg.kernel(function()
  local c, s = math.cos(turn), math.sin(turn)
  local rotation = rg.mat3(1, 0, 0, 0, c, -s, 0, s, c)
  for i, j in rg.range(around, across) do
    local p = rotation * corner[i][j] + rg.vec3(0, 0, 2.4)
    seen[i * across + j] = rg.vec3((0.5 + 1.1 * p.xy / p.z) * size, p.z)
  end
  for i, j in rg.range(size, size) do nearest[i][j] = 0 end
  for t in rg.range(triangles) do
    local a, b, d = seen[mesh[t].x], seen[mesh[t].y], seen[mesh[t].z]
    local area = edge(a, b, d.x, d.y)
    if area > 0 then
      local left = math.floor(math.max(math.min(a.x, b.x, d.x), 0))
      local right = math.floor(math.min(math.max(a.x, b.x, d.x), size - 1))
      local bottom = math.floor(math.max(math.min(a.y, b.y, d.y), 0))
      local top = math.floor(math.min(math.max(a.y, b.y, d.y), size - 1))
      for i = left, right do
        for j = bottom, top do
          local wa, wb = edge(b, d, i + 0.5, j + 0.5) / area, edge(d, a, i + 0.5, j + 0.5) / area
          local wd = 1 - wa - wb
          if wa >= 0 and wb >= 0 and wd >= 0 then
            local z = wa * a.z + wb * b.z + wd * d.z
            local key = rg.i64(1e6 / z) * 4294967296LL + t
            nearest[i][j] = math.max(nearest[i][j], key)
          end
        end
      end
    end
  end
  for i, j in rg.range(size, size) do
    local colour = rg.vec3(0.05, 0.06, 0.09)
    if nearest[i][j] > 0 then
      local t = rg.i32(nearest[i][j] % 4294967296LL)
      local a, b, d = seen[mesh[t].x], seen[mesh[t].y], seen[mesh[t].z]
      local normal = rg.cross(b - a, d - a):normalize()
      colour = rg.vec3(0.9, 0.6, 0.3) * (0.2 + 0.8 * math.abs(normal.z))
    end
    pixel[i][j] = colour
  end
end)

local total = rg.kernel(function()
  local s = rg.f64(0)
  for i, j in rg.range(size, size) do s = s + pixel[i][j].x + (nearest[i][j] > 0 and 1 or 0) end
  return s
end)

build()
bench.run {
  start = function() turn = 0.3 end,
  step = function()
    draw()
    turn = turn + 0.1
  end,
  checksum = total,
}
