-- tsdf.lua - depth images are fused into a sparse truncated signed distance field (TSDF), whose
-- blocks are activated near surfaces. usage: tsdf [images] [pixels per axis] [voxels per unit]
local rg, bench = require "regolith", require "bench"
local views, size, scale = bench.arguments(8, 160, 100)
local band = 4 / scale

local distance, weight = rg.field(rg.f32), rg.field(rg.f32)
local block = rg.root:hash("ijk")
block:dense("ijk", 8):place(distance, weight)
local depth = rg.field(rg.f32, views, size, size)

local function pose(f)
  local a = 6.2831853 * f / views
  local eye = rg.vec3(1.6 * math.cos(a), 0.6, 1.6 * math.sin(a))
  local ahead = (-eye):normalize()
  local right = rg.cross(ahead, rg.vec3(0, 1, 0)):normalize()
  return eye, ahead, right, rg.cross(right, ahead)
end

local function scene(p)
  local ball = (p - rg.vec3(0.1, 0, 0)):norm() - 0.4
  local other = (p - rg.vec3(-0.35, -0.2, 0.2)):norm() - 0.25
  return math.min(math.min(ball, other), p.y + 0.5)
end

local look = rg.kernel(function()
  for f, u, v in rg.range(views, size, size) do
    local eye, ahead, right, up = pose(f)
    local x, y = (u + 0.5) / size - 0.5, (v + 0.5) / size - 0.5
    local way = ahead + x * right + y * up
    local length, t = way:norm(), 0.0
    for _ = 1, 64 do
      local d = scene(eye + t * way)
      t = t + d / length
      if d < 1e-4 or t > 3 then break end
    end
    depth[f][u][v] = t < 2.5 and t or 0.0
  end
end)

local allocate = rg.kernel(function(f)
  for u, v in rg.range(size, size) do
    local d = depth[f][u][v]
    if d > 0 then
      local eye, ahead, right, up = pose(f)
      local way = ahead + ((u + 0.5) / size - 0.5) * right + ((v + 0.5) / size - 0.5) * up
      for s = -2, 2 do
        local p = (eye + (d + 0.5 * s * band) * way) * scale / 8
        block:activate(math.floor(p.x), math.floor(p.y), math.floor(p.z))
      end
    end
  end
end)

local integrate = rg.kernel(function(f)
  for i, j, k in distance:active() do
    local eye, ahead, right, up = pose(f)
    local p = rg.vec3(i + 0.5, j + 0.5, k + 0.5) / scale - eye
    local z = p:dot(ahead)
    if z > 0.1 then
      local u = math.floor((p:dot(right) / z + 0.5) * size)
      local v = math.floor((p:dot(up) / z + 0.5) * size)
      if u >= 0 and u < size and v >= 0 and v < size then
        local d = depth[f][u][v]
        if d > 0 then
          local signed = d - z
          if signed > -band then
            local w = weight[i][j][k]
            local value = math.min(1, signed / band)
            distance[i][j][k] = (distance[i][j][k] * w + value) / (w + 1)
            weight[i][j][k] = w + 1
          end
        end
      end
    end
  end
end)

local total = rg.kernel(function()
  local s, n = rg.f64(0), 0
  for i, j, k in distance:active() do
    s = s + distance[i][j][k]
    if weight[i][j][k] > 0 then n = n + 1 end
  end
  return s + n
end)

look()
bench.run {
  start = function() block:clear() end,
  step = function()
    for f = 0, views - 1 do
      allocate(f)
      integrate(f)
    end
  end,
  checksum = total,
}
