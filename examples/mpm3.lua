-- mpm3.lua - water, jelly and snow fall into one tank: 2-D MLS-MPM with three materials.
-- Solids. Run it with:  examples/run mpm3
--
-- The loops of mpm_dense. A particle keeps its deformation gradient `F`, whose singular values give
-- its stress. Water resists only changes of volume, jelly springs back, and snow that is compressed
-- or stretched too far stays deformed and hardens (Stomakhin et al. 2013).
local rg = require "regolith"

local folder = arg and arg[1] or "."
local frames, steps = tonumber(arg and arg[2]) or 40, 40
local count, n = 6144, 96
local dx, dt = 1 / n, 2e-4
local volume, stiffness, ratio = (0.5 * dx) ^ 2, 1000, 0.2
local params = { gravity = 20, harden = 10 }
local mass = volume                                  -- density 1
local shear = stiffness / (2 * (1 + ratio))
local bulk = stiffness * ratio / ((1 + ratio) * (1 - 2 * ratio))
local WATER, SNOW = 0, 2                             -- jelly is 1
local x, v, C = rg.array(rg.vec2, count), rg.array(rg.vec2, count), rg.array(rg.mat2, count)
local F, J, material = rg.array(rg.mat2, count), rg.array(rg.f32, count), rg.array(rg.i32, count)
local grid_v, grid_m = rg.field(rg.vec2, n, n), rg.field(rg.f32, n, n)

local function weights(f) -- of the three nodes along an axis
  return rg.vec3(0.5 * (1.5 - f) * (1.5 - f), 0.75 - (f - 1) * (f - 1), 0.5 * (f - 0.5) * (f - 0.5))
end

-- Updates the deformation of particle p, and returns its stress.
local function deform(p)
  local U, S, V = rg.svd((rg.mat2(1) + dt * C[p]) * F[p])
  local s, harder = rg.vec2(S[0][0], S[1][1]), 0.3
  if material[p] == SNOW then
    local kept = rg.clamp(s, 1 - 2.5e-2, 1 + 4.5e-3)
    J[p] = J[p] * s.x * s.y / (kept.x * kept.y)
    harder = math.exp(params.harden * (1 - math.max(0.6, math.min(J[p], 20))))
    s = kept
  end
  local area = s.x * s.y
  local pressure = rg.mat2(bulk * area * (area - 1))
  if material[p] == WATER then
    F[p] = rg.mat2(math.sqrt(area))
    return pressure
  end
  F[p] = U * rg.mat2(s.x, 0, 0, s.y) * V:transpose()
  return harder * (2 * shear * (F[p] - U * V:transpose()) * F[p]:transpose() + pressure)
end

local substep = rg.kernel(function()
  for i, j in rg.range(n, n) do
    grid_v[i][j] = rg.vec2(0)
    grid_m[i][j] = 0
  end
  for p in rg.range(count) do                        -- scatter
    local base = rg.floor(x[p] * n - 0.5)
    local f = x[p] * n - base
    local wx, wy = weights(f.x), weights(f.y)
    local affine = -4 * dt * volume * n * n * deform(p) + mass * C[p]
    for i = 0, 2 do
      for j = 0, 2 do
        local offset = (rg.vec2(i, j) - f) * dx
        local weight, node = wx[i] * wy[j], base + rg.ivec2(i, j)
        grid_v[node] = grid_v[node] + weight * (mass * v[p] + affine * offset)
        grid_m[node] = grid_m[node] + weight * mass
      end
    end
  end
  for i, j in rg.range(n, n) do                      -- the grid
    if grid_m[i][j] > 0 then
      local u = grid_v[i][j] / grid_m[i][j]
      u.y = u.y - dt * params.gravity
      if i < 3 and u.x < 0 or i > n - 3 and u.x > 0 then u.x = 0 end
      if j < 3 and u.y < 0 or j > n - 3 and u.y > 0 then u.y = 0 end
      grid_v[i][j] = u
    end
  end
  for p in rg.range(count) do                        -- gather
    local base = rg.floor(x[p] * n - 0.5)
    local f = x[p] * n - base
    local wx, wy = weights(f.x), weights(f.y)
    local u, B = rg.vec2(0), rg.mat2(0)
    for i = 0, 2 do
      for j = 0, 2 do
        local weighted = wx[i] * wy[j] * grid_v[base + rg.ivec2(i, j)]
        u = u + weighted
        B = B + 4 * n * rg.outer(weighted, rg.vec2(i, j) - f)
      end
    end
    v[p], C[p] = u, B
    x[p] = x[p] + dt * u
  end
end)

local size, colours = 400, { rg.vec3(0.1, 0.5, 0.9), rg.vec3(0.95, 0.35, 0.3), rg.vec3(1) }
local pixel = rg.array(rg.vec3, size, size)
local paint = rg.kernel(function()
  for i, j in rg.range(size, size) do pixel[i][j] = rg.vec3(0.07, 0.12, 0.16) end
  for p in rg.range(count) do
    for k, colour in ipairs(colours) do
      if material[p] == k - 1 then pixel[rg.floor(x[p] * size)] = colour end
    end
  end
end)

local function start()
  for p = 0, count - 1 do
    local k = math.floor(3 * p / count)
    local a, b = 0.7548776662 * p % 1, 0.5698402910 * p % 1
    x[p] = rg.vec2(0.3 + 0.2 * a + 0.1 * k, 0.06 + 0.2 * b + 0.3 * k)
    material[p], F[p], J[p] = k, rg.mat2(1), 1
    v[p], C[p] = rg.vec2(0), rg.mat2(0)
  end
end

local stir = rg.kernel(function(at, motion)
  for p in rg.range(count) do
    if (x[p] - at):norm() < 0.08 then v[p] = rg.mix(v[p], motion, 0.3) end
  end
end)

rg.live { params = params, reset = start, step = substep, speed = 15,
  ranges = { gravity = { -20, 40 } },
  touch = function(a, b, da, db)
    stir(rg.vec2(a, b), rg.clamp(rg.vec2(da, db) * 60, -8, 8))
  end,
  draw = function(w) paint() w:show(pixel) end,
  otherwise = function()
    local begin = rg.time()
    for frame = 1, frames do
      for _ = 1, steps do substep() end
      if frame % 10 == 0 then
        paint()
        rg.image.write(("%s/mpm3_%03d.png"):format(folder, frame), pixel)
      end
    end
    local seconds, height = rg.time() - begin, rg.scan(x).y / count
    print(("%.1f million particle steps per second; mean height %.3f"):format(
      count * frames * steps / seconds * 1e-6, height))
    print(("checksum %d"):format(math.floor(10 * height)))
  end }
