-- mpm_dense.lua - a block of water falls into a tank: 2-D MLS-MPM, particles on a dense grid.
-- Solids. Run it with:  examples/run mpm_dense
--
-- Each step has three loops. Particles give mass and momentum to the 3 x 3 grid nodes around them
-- (`scatter`), nodes turn momentum into velocity and feel gravity and walls, particles take their
-- new velocity back (`gather`). This is the model of Hu et al. 2018 for a weakly compressible
-- fluid: a particle's state is its position, velocity, the local velocity gradient `C`, and its
-- volume `J` relative to that at rest.
local rg = require "regolith"

local folder = arg and arg[1] or "."
local frames, steps = tonumber(arg and arg[2]) or 60, 50
local count, n = 8192, 128
local dx, dt = 1 / n, 2e-4
local params = { gravity = 9.8, stiffness = { 400, 50, 600 } }
local volume = (0.5 * dx) ^ 2
local mass = volume                                  -- density 1

local x, v = rg.field(rg.vec2, count), rg.field(rg.vec2, count)
local C, J = rg.field(rg.mat2, count), rg.field(rg.f32, count)
local grid_v, grid_m = rg.field(rg.vec2, n, n), rg.field(rg.f32, n, n)

-- Quadratic B-splines: the weights of the three nodes along an axis, for a particle `f` nodes from
-- the first.
local function weights(f)
  return rg.vec3(0.5 * (1.5 - f) * (1.5 - f), 0.75 - (f - 1) * (f - 1), 0.5 * (f - 0.5) * (f - 0.5))
end

local substep = rg.kernel(function()
  for i, j in rg.range(n, n) do
    grid_v[i][j] = rg.vec2(0)
    grid_m[i][j] = 0
  end
  for p in rg.range(count) do                        -- scatter
    local base = rg.floor(x[p] * n - 0.5)            -- integers: the first node
    local f = x[p] * n - base
    local wx, wy = weights(f.x), weights(f.y)
    local stress = -4 * dt * params.stiffness * volume * (J[p] - 1) * n * n
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
end)

-- The picture: particles by speed. Where several share a pixel the fastest is shown.
-- Each particle leaves a blot; how thick these lie is a height, which is lit.
local size, blot = 400, 6
local ink, pixel = rg.field(rg.vec4, size, size), rg.field(rg.vec3, size, size)
local paint = rg.kernel(function()
  ink:fill(rg.vec4(0))
  for p in rg.range(count) do
    local foam = rg.smoothstep(1, 4.5, v[p]:norm())
    local own = rg.vec4(rg.mix(rg.vec3(0.05, 0.4, 0.75), rg.vec3(0.85, 0.95, 1), foam), 1)
    for a, b in rg.range({ -blot, blot + 1 }, { -blot, blot + 1 }) do
      local at = rg.floor(x[p] * size) + rg.ivec2(a, b)
      local off = (at + 0.5 - x[p] * size) / blot
      ink[at] = ink[at] + math.max(1 - rg.dot(off, off), 0) ^ 2 * own
    end
  end
  for i, j in rg.range(size, size) do
    local here = ink[i][j]
    local slope = rg.vec2(ink[i + 1][j].w - ink[i - 1][j].w, ink[i][j + 1].w - ink[i][j - 1].w)
    local light = 0.9 + math.exp(-0.4 * here.w) * rg.dot(slope, rg.vec2(0.5, -0.8))
    local wall = rg.vec3(0.96, 0.94, 0.9) - 0.12 * j / size
    pixel[i][j] = rg.mix(wall, here.xyz * rg.clamp(light, 0.4, 1.3) / math.max(here.w, 1e-3),
      rg.smoothstep(0.5, 1.2, here.w))
  end
end)

local centre = rg.kernel(function()
  local sum = rg.vec2(0)
  for p in rg.range(count) do sum = sum + x[p] end
  return sum / count
end)

local function start()
  for p = 0, count - 1 do -- evenly distributed, by multiples of two irrational numbers
    x[p] = rg.vec2(0.2 + 0.4 * (0.7548776662 * p % 1), 0.2 + 0.4 * (0.5698402910 * p % 1))
  end
  v:fill(rg.vec2(0, -1))
  C:fill(rg.mat2(0))
  J:fill(1)
end

local stir = rg.kernel(function(at, motion)
  for p in rg.range(count) do
    if (x[p] - at):norm() < 0.08 then v[p] = rg.mix(v[p], motion, 0.3) end
  end
end)

rg.live { params = params, reset = start, step = substep, speed = 10,
  ranges = { gravity = { -10, 20 } },
  touch = function(a, b, da, db)
    stir(rg.vec2(a, b), rg.clamp(rg.vec2(da, db) * 60, -6, 6))
  end,
  draw = function(w) paint() w:show(pixel) end,
  otherwise = function()
    local seconds = 0
    for frame = 1, frames do
      local begin = rg.time()
      for _ = 1, steps do substep() end
      seconds = seconds + rg.time() - begin
      if frame % 15 == 0 then
        paint()
        rg.image.write(("%s/mpm_dense_%03d.png"):format(folder, frame), pixel)
      end
    end
    local at = centre()
    print(("%.1f million particle steps per second; the centre is at %.3f, %.4f"):format(
      count * frames * steps / seconds * 1e-6, at.x, at.y))
    -- Float sums differ in their last bits from run to run, and so do splashes.
    print(("checksum %d"):format(math.floor(100 * at.y)))
  end }
