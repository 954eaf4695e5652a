-- mpm3d.lua - W9: 3-D MLS-MPM of a block of fluid that falls, on a sparse grid made anew each step.
-- usage: mpm3d [particles] [nodes per axis] [plain or packed: particles of 64, or 32 bytes]
local rg, bench = require "regolith", require "bench"
local count, n, kind = bench.arguments(131072, 128, "plain")

local dx, dt = 1 / n, 1e-4 * 128 / n
local volume, stiffness, gravity = (0.5 * dx) ^ 3, 400, 9.8
local side = 0.5 * dx * count ^ (1 / 3) -- eight particles in a cell
local x, v, C, J
if kind == "packed" then
  local node = rg.root:dense("i", count)
  local place = rg.packed({ x = rg.vec(3, rg.fixed(21, { 0, 1 })) }, { word = 64 })
  local motion = rg.packed({ v = rg.vec(3, rg.fixed(16, { -16, 16 })), J = rg.fixed(16, { 0, 2 }) },
    { word = 64 })
  local affine = rg.packed({ C = rg.mat(3, 3, rg.float(5, 6)) }, { word = 64 })
  node:place(place)
  node:place(motion)
  node:place(affine)
  x, v, C, J = place.x, motion.v, affine.C, motion.J
else
  x, v = rg.field(rg.vec3, count), rg.field(rg.vec3, count)
  C, J = rg.field(rg.mat3, count), rg.field(rg.f32, count)
end
local grid_v, grid_m = rg.field(rg.vec3), rg.field(rg.f32)
local top = rg.root:pointer("ijk", n / 16)
top:pointer("ijk", 4):dense("ijk", 4):place(grid_v, grid_m)

local start = rg.kernel(function()
  for p in rg.range(count) do
    local at = rg.vec3(bench.noise(3 * p), bench.noise(3 * p + 1), bench.noise(3 * p + 2))
    x[p] = at * side + rg.vec3(0.5 - 0.5 * side, 0.1, 0.5 - 0.5 * side)
    v[p] = rg.vec3(0, -2, 0)
    C[p] = rg.mat3(0)
    J[p] = 1
  end
end)

local function weights(f)
  return rg.vec3(0.5 * (1.5 - f) * (1.5 - f), 0.75 - (f - 1) * (f - 1), 0.5 * (f - 0.5) * (f - 0.5))
end

local scatter = rg.kernel(function()
  for p in rg.range(count) do
    local base = rg.floor(x[p] * n - 0.5)
    local f = x[p] * n - base
    local wx, wy, wz = weights(f.x), weights(f.y), weights(f.z)
    local stress = -4 * dt * stiffness * volume * (J[p] - 1) * n * n
    local affine = rg.mat3(stress) + volume * C[p]
    for i = 0, 2 do
      for j = 0, 2 do
        for k = 0, 2 do
          local offset = (rg.vec3(i, j, k) - f) * dx
          local weight, node = wx[i] * wy[j] * wz[k], base + rg.ivec3(i, j, k)
          grid_v[node] = grid_v[node] + weight * (volume * v[p] + affine * offset)
          grid_m[node] = grid_m[node] + weight * volume
        end
      end
    end
  end
end)

local walls = rg.kernel(function()
  for i, j, k in grid_m:active() do
    if grid_m[i][j][k] > 0 then
      local u = grid_v[i][j][k] / grid_m[i][j][k]
      u.y = u.y - dt * gravity
      if i < 3 and u.x < 0 or i > n - 3 and u.x > 0 then u.x = 0 end
      if j < 3 and u.y < 0 or j > n - 3 and u.y > 0 then u.y = 0 end
      if k < 3 and u.z < 0 or k > n - 3 and u.z > 0 then u.z = 0 end
      grid_v[i][j][k] = u
    end
  end
end)

local gather = rg.kernel(function()
  for p in rg.range(count) do
    local base = rg.floor(x[p] * n - 0.5)
    local f = x[p] * n - base
    local wx, wy, wz = weights(f.x), weights(f.y), weights(f.z)
    local u, B = rg.vec3(0), rg.mat3(0)
    for i = 0, 2 do
      for j = 0, 2 do
        for k = 0, 2 do
          local weighted = wx[i] * wy[j] * wz[k] * grid_v[base + rg.ivec3(i, j, k)]
          u = u + weighted
          B = B + 4 * n * rg.outer(weighted, rg.vec3(i, j, k) - f)
        end
      end
    end
    v[p], C[p] = u, B
    x[p] = x[p] + dt * u
    J[p] = J[p] * (1 + dt * rg.trace(B))
  end
end)

local total = rg.kernel(function()
  local s = rg.f64(0)
  for p in rg.range(count) do s = s + x[p].y + 0.5 * x[p].x + 0.25 * J[p] end
  return s / count
end)

bench.run {
  start = start,
  step = function()
    top:clear()
    scatter()
    walls()
    gather()
  end,
  checksum = total,
}
