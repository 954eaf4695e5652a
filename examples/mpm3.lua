-- mpm3.lua - water, jelly and snow fall into one tank: 2-D MLS-MPM with three materials.
-- Solids. Run it with:  examples/run mpm3
--
-- The loops of mpm_dense. A particle keeps its deformation gradient `F`, whose singular values give
-- its stress. Water resists only changes of volume, jelly springs back, and snow that is compressed
-- or stretched too far stays deformed and hardens (Stomakhin et al. 2013).
local rg = require "regolith"

local folder = arg and arg[1] or "."
local frames, steps = tonumber(arg and arg[2]) or 40, 30
local count, n, dt = 8192, 64, 3e-4
local mass, params = 0.25 / n ^ 2, { gravity = 20, harden = 10 } -- density 1: mass is volume
local shear, bulk = 1000 / 2.4, 200 / (1.2 * 0.6)    -- stiffness 1000, Poisson's ratio 0.2
local WATER, JELLY, SNOW = 0, 1, 2
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
  local pressure, is_water = rg.mat2(bulk * area * (area - 1)), material[p] == WATER
  F[p] = is_water and rg.mat2(math.sqrt(area)) or U * rg.mat2(s.x, 0, 0, s.y) * V:transpose()
  if is_water then return pressure end
  return harder * (2 * shear * (F[p] - U * V:transpose()) * F[p]:transpose() + pressure)
end

local substep = rg.kernel(function()
  grid_v:fill(rg.vec2(0))
  grid_m:fill(0)
  for p in rg.range(count) do                        -- scatter
    local base = rg.floor(x[p] * n - 0.5)
    local f = x[p] * n - base
    local wx, wy = weights(f.x), weights(f.y)
    local affine = -4 * dt * mass * n * deform(p) + mass / n * C[p]
    for i = 0, 2 do
      for j = 0, 2 do
        local weight, node = wx[i] * wy[j], base + rg.ivec2(i, j)
        grid_v[node] = grid_v[node] + weight * (mass * v[p] + affine * (rg.vec2(i, j) - f))
        grid_m[node] = grid_m[node] + weight * mass
      end
    end
  end
  for i, j in rg.range(n, n) do                      -- the grid
    if grid_m[i][j] > 0 then
      local u = grid_v[i][j] / grid_m[i][j] - rg.vec2(0, dt * params.gravity)
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
        u, B = u + weighted, B + 4 * n * rg.outer(weighted, rg.vec2(i, j) - f)
      end
    end
    v[p], C[p], x[p] = u, B, x[p] + dt * u
  end
end)

-- The picture: each particle leaves a blot; how thick these lie is a height, which is lit.
local size, blot = 384, 7
local tint, ink = rg.array(rg.vec3, count), rg.field(rg.vec4, size, size)
local pixel = rg.array(rg.vec3, size - 2, size - 2)
local paint = rg.kernel(function()
  ink:fill(rg.vec4(0))
  for p in rg.range(count) do
    local foam = material[p] == WATER and rg.smoothstep(1.5, 6, v[p]:norm()) or 0.0
    for di = -blot, blot do
      for dj = -blot, blot do
        local at = rg.floor(x[p] * size) + rg.ivec2(di, dj)
        local off = (at + 0.5 - x[p] * size) / blot
        local weight = math.max(1 - rg.dot(off, off), 0.0) ^ 2
        ink[at] = ink[at] + weight * rg.vec4(rg.mix(tint[p], rg.vec3(0.85, 0.95, 1), foam), 1)
      end
    end
  end
  for i, j in rg.range({ 1, size - 1 }, { 1, size - 1 }) do
    local here = ink[i][j]
    local slope = rg.vec2(ink[i + 1][j].w - ink[i - 1][j].w, ink[i][j + 1].w - ink[i][j - 1].w)
    local light = 0.85 + 1.3 * math.exp(-0.5 * here.w) * rg.dot(slope, rg.vec2(0.5, -0.8))
    local colour = here.xyz * rg.clamp(light, 0.4, 1.25) / math.max(here.w, 1e-3)
    local wall = rg.vec3(0.1, 0.13, 0.2) * (1 + 1.2 * j / size)
    pixel[i - 1][j - 1] = rg.mix(wall, colour, rg.smoothstep(0.5, 0.9, here.w))
  end
end)

-- A pool, which is half of the particles; two checked cubes of jelly and two snowballs above it.
local corners = { rg.vec2(0.1, 0.36), rg.vec2(0.62, 0.66), rg.vec2(0.62, 0.36), rg.vec2(0.2, 0.68) }
local function start()
  for p = 0, count - 1 do
    local part, a, b = math.floor(8 * p / count) - 3, 0.7548776662 * p % 1, 0.5698402910 * p % 1
    local k, r, angle = part < 1 and WATER or part < 3 and JELLY or SNOW, a ^ 0.5, 6.2831853 * b
    if k == WATER then
      x[p], tint[p] = rg.vec2(0.04 + 0.92 * a, 0.04 + 0.272 * b), rg.vec3(0.1, 0.36 + 0.25 * b, 0.8)
    elseif k == JELLY then
      x[p] = corners[part] + 0.25 * rg.vec2(a, b)
      local check = (math.floor(4 * a) + math.floor(4 * b)) % 2
      tint[p] = rg.vec3(0.85, 0.2, 0.3) + check * rg.vec3(0.15, 0.35, 0.15)
    else
      x[p] = corners[part] + 0.125 + 0.141 * r * rg.vec2(math.cos(angle), math.sin(angle))
      tint[p] = rg.vec3(0.93, 0.95, 1)
    end
    material[p], F[p], J[p], v[p], C[p] = k, rg.mat2(1), 1, rg.vec2(0, -k), rg.mat2(0)
  end
end

local stir = rg.kernel(function(at, motion)
  for p in rg.range(count) do
    if (x[p] - at):norm() < 0.08 then v[p] = rg.mix(v[p], motion, 0.3) end
  end
end)

rg.live { params = params, ranges = { gravity = { -20, 40 } },
  reset = start, step = substep, speed = 15,
  draw = function(w) paint() w:show(pixel) end,
  touch = function(a, b, da, db) stir(rg.vec2(a, b), rg.clamp(rg.vec2(da, db) * 60, -8, 8)) end,
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
