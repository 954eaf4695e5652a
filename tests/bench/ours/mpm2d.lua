-- mpm2d.lua - W8: the kernel of examples/mpm_dense.lua, 2-D MLS-MPM of a fluid.
-- usage: mpm2d [particles] [nodes per axis] [leaf: a sparse grid of such blocks]
local rg, bench = require "regolith", require "bench"
local count, n, leaf = bench.arguments(8192, 128, 0)

local dx, dt = 1 / n, 2e-4 * 128 / n
local volume, stiffness, gravity = (0.5 * dx) ^ 2, 400, 9.8
local mass = volume

local x, v = rg.field(rg.vec2, count), rg.field(rg.vec2, count)
local C, J = rg.field(rg.mat2, count), rg.field(rg.f32, count)
local grid_v, grid_m
if leaf > 0 then
  grid_v, grid_m = rg.field(rg.vec2), rg.field(rg.f32)
  rg.root:pointer("ij", n / leaf):dense("ij", leaf):place(grid_v, grid_m)
else
  grid_v, grid_m = rg.field(rg.vec2, n, n), rg.field(rg.f32, n, n)
end

local function weights(f)
  return rg.vec3(0.5 * (1.5 - f) * (1.5 - f), 0.75 - (f - 1) * (f - 1), 0.5 * (f - 0.5) * (f - 0.5))
end

local options = { fast_math = true } -- what a C compiler may contract, this one may too
local substep = rg.kernel(function()
  for i, j in grid_m:active() do
    grid_v[i][j] = rg.vec2(0)
    grid_m[i][j] = 0
  end
  for p in rg.range(count) do
    local base = rg.floor(x[p] * n - 0.5)
    local f = x[p] * n - base
    local wx, wy = weights(f.x), weights(f.y)
    local stress = -4 * dt * stiffness * volume * (J[p] - 1) * n * n
    local affine = rg.mat2(stress) + mass * C[p]
    for i = 0, 2 do
      for j = 0, 2 do
        local offset = (rg.vec2(i, j) - f) * dx
        local weight = wx[i] * wy[j]
        local node = base + rg.ivec2(i, j)
        grid_v[node] = grid_v[node] + weight * (mass * v[p] + affine * offset)
        grid_m[node] = grid_m[node] + weight * mass
      end
    end
  end
  for i, j in grid_m:active() do
    if grid_m[i][j] > 0 then
      local u = grid_v[i][j] / grid_m[i][j]
      u.y = u.y - dt * gravity
      if i < 3 and u.x < 0 or i > n - 3 and u.x > 0 then u.x = 0 end
      if j < 3 and u.y < 0 or j > n - 3 and u.y > 0 then u.y = 0 end
      grid_v[i][j] = u
    end
  end
  for p in rg.range(count) do
    local base = rg.floor(x[p] * n - 0.5)
    local f = x[p] * n - base
    local wx, wy = weights(f.x), weights(f.y)
    local u, B = rg.vec2(0), rg.mat2(0)
    for i = 0, 2 do
      for j = 0, 2 do
        local offset = (rg.vec2(i, j) - f) * dx
        local weighted = wx[i] * wy[j] * grid_v[base + rg.ivec2(i, j)]
        u = u + weighted
        B = B + 4 * n * n * rg.outer(weighted, offset)
      end
    end
    v[p] = u
    x[p] = x[p] + dt * u
    J[p] = J[p] * (1 + dt * rg.trace(B))
    C[p] = B
  end
end, options)

local start = rg.kernel(function()
  for p in rg.range(count) do
    local at = rg.vec2(0)
    for axis = 0, 1 do
      local h = (2ULL * rg.u64(p) + rg.u64(axis)) + 0x9E3779B97F4A7C15ULL
      h = bit.bxor(h, bit.rshift(h, 30)) * 0xBF58476D1CE4E5B9ULL
      h = bit.bxor(h, bit.rshift(h, 27)) * 0x94D049BB133111EBULL
      h = bit.bxor(h, bit.rshift(h, 31))
      at[axis] = rg.f32(bit.rshift(h, 40)) * (1 / 16777216) * 0.4 + 0.2
    end
    x[p] = at
    v[p] = rg.vec2(0, -1)
    C[p] = rg.mat2(0)
    J[p] = 1
  end
end)

local total = rg.kernel(function()
  local sum = rg.f64(0)
  for p in rg.range(count) do sum = sum + rg.f64(x[p].y) + 0.5 * rg.f64(x[p].x) end
  return sum
end)

bench.run { start = start, step = substep, checksum = function() return total() / count end }
