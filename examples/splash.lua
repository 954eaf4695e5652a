-- splash.lua - a block of jelly drops into water: 3-D MLS-MPM on a grid that exists at particles.
-- Solids. Run it with:  examples/run splash
--
-- Hu et al. 2018. Like mpm.lua, with one more axis: a step frees all blocks; particles create those
-- that they touch, and take their velocities from 27 nodes.
local rg = require "regolith"

local folder = arg and arg[1] or "."
local frames, steps, n = tonumber(arg and arg[2]) or 10, 24, 36
local dx, dt = 1 / n, 5e-4
local params = { gravity = 9.8, stiffness = { 120, 20, 200 }, mu = { 60, 5, 120 } }
local volume, lambda = (0.5 * dx) ^ 3, 120
local mass = volume

local places = {}                                    -- at the start
local function add(low, high)
  for a = low[1], high[1], 0.5 * dx do
    for b = low[2], high[2], 0.5 * dx do
      for c = low[3], high[3], 0.5 * dx do places[#places + 1] = { a, b, c } end
    end
  end
end
add({ 0.09, 0.09, 0.09 }, { 0.91, 0.26, 0.91 })
local pool = #places                                 -- particles below this index are water
add({ 0.36, 0.5, 0.36 }, { 0.62, 0.76, 0.62 })

local count = #places
local x, v, C = rg.field(rg.vec3, count), rg.field(rg.vec3, count), rg.field(rg.mat3, count)
local F = rg.field(rg.mat3, count)                   -- deformation gradient
local grid_v, grid_m = rg.field(rg.vec3), rg.field(rg.f32)
local block = rg.root:pointer("ijk", n / 4)
block:dense("ijk", 4):place(grid_v, grid_m)

local function weights(f)
  return rg.vec3(0.5 * (1.5 - f) ^ 2, 0.75 - (f - 1) ^ 2, 0.5 * (f - 0.5) ^ 2)
end

local function stress_of(p)
  local J = rg.determinant(F[p])
  if p < pool then return rg.mat3(params.stiffness * (J - 1)) end
  return params.mu * (F[p] * F[p]:transpose() - rg.mat3(1)) + rg.mat3(lambda * math.log(J))
end

local substep = rg.kernel(function()
  block:clear()
  for p in rg.range(count) do
    local base = rg.floor(x[p] * n - 0.5)
    local f = x[p] * n - base
    local wx, wy, wz = weights(f.x), weights(f.y), weights(f.z)
    local affine = mass * C[p] - 4 * dt * volume * n * n * stress_of(p)
    for i, j, k in rg.range(3, 3, 3) do              -- a serial loop, inside an iteration
      local offset, weight = (rg.vec3(i, j, k) - f) * dx, wx[i] * wy[j] * wz[k]
      local node = base + rg.ivec3(i, j, k)
      grid_v[node] = grid_v[node] + weight * (mass * v[p] + affine * offset)
      grid_m[node] = grid_m[node] + weight * mass
    end
  end
  for I in grid_m:active():vec() do                  -- gravity; no flow out of the box
    if grid_m[I] > 0 then
      local u = grid_v[I] / grid_m[I] - rg.vec3(0, dt * params.gravity, 0)
      u = rg.select(rg.vec3(I) < 3, math.max(u, 0), u)
      grid_v[I] = rg.select(rg.vec3(I) > n - 4, math.min(u, 0), u)
    end
  end
  for p in rg.range(count) do
    local base = rg.floor(x[p] * n - 0.5)
    local f = x[p] * n - base
    local wx, wy, wz = weights(f.x), weights(f.y), weights(f.z)
    local u, B = rg.vec3(0), rg.mat3(0)
    for i, j, k in rg.range(3, 3, 3) do
      local weighted = wx[i] * wy[j] * wz[k] * grid_v[base + rg.ivec3(i, j, k)]
      u, B = u + weighted, B + 4 * n * rg.outer(weighted, rg.vec3(i, j, k) - f)
    end
    v[p], C[p] = u, B
    x[p] = x[p] + dt * u
    local moved = (rg.mat3(1) + dt * B) * F[p]
    F[p] = p < pool and rg.mat3(rg.determinant(moved) ^ (1 / 3)) or moved
  end
end)

-- The nearest ball of a pixel wins: a pixel keeps the largest number of nearness, then index.
local size, ball = 360, 4
local nearest, pixel = rg.array(rg.i64, size, size), rg.array(rg.vec3, size, size)
local camera = rg.perspective(0.62, 1, 0.1, 10)
  * rg.look_at(rg.vec3(1.3, 1.15, 2.4), rg.vec3(0.5, 0.28, 0.5), rg.vec3(0, 1, 0))

local function colour_of(p)
  local fast = rg.clamp(0.4 * v[p]:norm(), 0, 1)
  local blue = rg.mix(rg.vec3(0.04, 0.28, 0.6), rg.vec3(0.8, 0.95, 1), fast)
  return p < pool and blue or rg.vec3(0.95, 0.4, 0.25)
end

local draw = rg.kernel(function()
  for i, j in rg.range(size, size) do nearest[i][j] = 0 end
  for p in rg.range(count) do
    local seen = camera * rg.vec4(x[p], 1)
    local middle = rg.floor((0.5 + 0.5 * seen.xy / seen.w) * size)
    for a, b in rg.range({ -ball, ball + 1 }, { -ball, ball + 1 }) do
      local height = ball * ball + 1 - a * a - b * b
      if height > 0 then
        local near = rg.i64(1e5 * (5 - seen.w) + 200 * math.sqrt(height)) * 2097152 + p
        local at = middle + rg.ivec2(a, b)
        nearest[at] = math.max(nearest[at], near)
      end
    end
  end
  for i, j in rg.range(size, size) do
    local p = nearest[i][j] % 2097152
    pixel[i][j] = nearest[i][j] == 0 and rg.vec3(0.94, 0.93, 0.9) or colour_of(p)
  end
end)

-- In a window, balls are drawn by OpenGL: the left button turns, the right one throws the jelly up.
local colour = rg.field(rg.vec3, count)
local tint = rg.kernel(function()
  for p in rg.range(count) do colour[p] = colour_of(p) end
end)

local throw = rg.kernel(function()
  for p in rg.range({ pool, count }) do v[p] = v[p] + rg.vec3(0, 0.5, 0) end
end)

local function start()
  x:from_table(places)
  v:fill(rg.vec3(0))
  C:fill(rg.mat3(0))
  F:fill(rg.mat3(1))
  for p = pool, count - 1 do v[p] = { 0, -4, 0 } end -- the jelly is thrown
end

rg.live { params = params, reset = start, step = substep, speed = 4, width = 720, height = 600,
  touch = function(_, _, _, _, w) if select(3, w:mouse()).right then throw() end end,
  draw = function(w)
    tint()
    w:clear(0.94, 0.93, 0.9)
    w:camera { target = { 0.5, 0.28, 0.5 }, eye = { 1.3, 1.15, 2.4 } }
    w:spheres(x, { radius = 0.4 * dx, color = colour })
  end,
  otherwise = function()
    for frame = 1, frames do
      for _ = 1, steps do substep() end
      if frame % 2 == 0 then
        draw()
        rg.image.write(("%s/splash_%02d.png"):format(folder, frame), pixel)
      end
    end
    print(("checksum %d"):format(math.floor(20 * rg.scan(x).y / count))) -- the mean height
  end }
