-- splash.lua - a block of jelly drops into water: 3-D MLS-MPM on a grid that exists at particles.
-- Solids. Run it with:  examples/run splash
--
-- Hu et al. 2018. Like mpm.lua, with one more axis: particles create the blocks that they touch.
local rg = require "regolith"

local folder, frames = arg and arg[1] or ".", tonumber(arg and arg[2]) or 10
local steps, n, dx, dt, lambda = 24, 36, 1 / 36, 5e-4, 120
local params = { gravity = 9.8, stiffness = { 120, 20, 200 }, mu = { 60, 5, 120 } }

local wide, deep, side = 60, 13, 19                  -- of the pool and the jelly, in particles
local pool = wide * wide * deep                      -- particles below this index are water
local count = pool + side ^ 3
local x, v, radius = rg.field(rg.vec3, count), rg.field(rg.vec3, count), rg.field(rg.f32, count)
local C, F, colour = rg.field(rg.mat3, count), rg.field(rg.mat3, count), rg.field(rg.vec3, count)
local grid = rg.field(rg.vec4)                       -- momentum, then velocity; mass
local block = rg.root:pointer("ijk", n / 4)
block:dense("ijk", 4):place(grid)
local blue, white = rg.vec3(0.04, 0.42, 0.66), rg.vec3(0.93, 0.97, 1)
local function lattice(k, a, b) return rg.floor(rg.vec3(k % a, k / a % b, k / a / b)) end
local start = rg.kernel(function()                   -- the jelly is thrown
  for p in rg.range(count) do
    x[p] = p < pool and 0.09 + 0.5 * dx * lattice(p, wide, deep)
      or rg.vec3(0.36, 0.5, 0.36) + 0.5 * dx * lattice(p - pool, side, side)
    v[p], C[p], F[p] = rg.vec3(0, p < pool and 0 or -4, 0), rg.mat3(0), rg.mat3(1)
    colour[p], radius[p] = p < pool and blue or rg.vec3(0.95, 0.32, 0.18), 0.4 * dx
  end
end)

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
    local affine = C[p] - 4 * dt * n * n * stress_of(p) -- a particle's mass is 1
    for i, j, k in rg.range(3, 3, 3) do              -- a serial loop, inside an iteration
      local node, weight = base + rg.ivec3(i, j, k), wx[i] * wy[j] * wz[k]
      grid[node] = grid[node] + weight * rg.vec4(v[p] + affine * ((rg.vec3(i, j, k) - f) * dx), 1)
    end
  end
  for I in grid:active():vec() do                    -- gravity; no flow out of the box
    if grid[I].w > 0 then
      local u = grid[I].xyz / grid[I].w - rg.vec3(0, dt * params.gravity, 0)
      u = rg.select(rg.vec3(I) < 3, math.max(u, 0), u)
      grid[I] = rg.vec4(rg.select(rg.vec3(I) > n - 4, math.min(u, 0), u), grid[I].w)
    end
  end
  for p in rg.range(count) do
    local base = rg.floor(x[p] * n - 0.5)
    local f = x[p] * n - base
    local wx, wy, wz = weights(f.x), weights(f.y), weights(f.z)
    local u, B, mass = rg.vec3(0), rg.mat3(0), 1e9
    for i, j, k in rg.range(3, 3, 3) do
      local node, weight = grid[base + rg.ivec3(i, j, k)], wx[i] * wy[j] * wz[k]
      u, mass = u + weight * node.xyz, math.min(mass, node.w)
      B = B + 4 * n * rg.outer(weight * node.xyz, rg.vec3(i, j, k) - f)
    end
    radius[p] = mass < 4 and 0.4 * dx or 0           -- those inside are hidden
    v[p], C[p], x[p] = u, B, x[p] + dt * u
    local moved = (rg.mat3(1) + dt * B) * F[p]       -- F: the deformation gradient
    F[p] = p < pool and rg.mat3(rg.determinant(moved) ^ (1 / 3)) or moved
    if p < pool then colour[p] = rg.mix(blue, white, rg.smoothstep(0.8, 2.6, u:norm())) end
  end
end)

-- The nearest ball of a pixel wins: a pixel keeps the largest number of nearness, then index. What
-- is seen of the balls becomes a smooth surface, which is lit.
local size, ball, unit = 720, 9, 0.0023              -- of pixels, of which four become one
local nearest, pixel = rg.array(rg.i64, size, size), rg.array(rg.vec3, size / 2, size / 2)
local seen, smooth = rg.field(rg.vec4, size, size), rg.field(rg.vec4, size, size)
local camera = rg.perspective(0.62, 1, 0.1, 10)
  * rg.look_at(rg.vec3(1.3, 1.15, 2.4), rg.vec3(0.5, 0.28, 0.5), rg.vec3(0, 1, 0))

local function average(from, to)                     -- of pixels at about the same depth
  for i, j in rg.range(size, size) do
    local sum, total = rg.vec4(0), 0.0
    for a, b in rg.range({ -6, 7 }, { -6, 7 }) do
      local other, weight = from[i + a][j + b], math.exp(-0.05 * (a * a + b * b))
      if math.abs(other.w - from[i][j].w) > 14 then weight = 0.0 end
      sum, total = sum + weight * other, total + weight
    end
    to[i][j] = sum / total
  end
end

local function lit(i, j)
  local across, up = seen[i + 2][j].w - seen[i - 2][j].w, seen[i][j + 2].w - seen[i][j - 2].w
  local normal = rg.normalize(rg.vec3(-rg.clamp(rg.vec2(across, up), -9, 9), 4))
  local shine = math.max(rg.dot(normal, rg.vec3(-0.26, 0.45, 0.85)), 0) ^ 60
  local sky = rg.vec3(0.75, 0.87, 1) * (0.7 * (1 - normal.z) ^ 2 + 0.7 * shine)
  local own = seen[i][j].xyz * (0.6 + 0.6 * rg.dot(normal, rg.vec3(-0.35, 0.9, 0.25))) + sky
  return seen[i][j].w < 0 and seen[i][j].xyz or rg.clamp(own, 0, 1)
end

local draw = rg.kernel(function()
  nearest:fill(0)
  for p in rg.range(count) do
    local place = camera * rg.vec4(x[p], 1)
    local middle = rg.floor((0.5 + 0.5 * place.xy / place.w) * size)
    for a, b in rg.range({ -ball, ball + 1 }, { -ball, ball + 1 }) do
      local height = math.sqrt(math.max(ball * ball + 1 - a * a - b * b, 0))
      local near, at = rg.i64(100 * ((5 - place.w) / unit + height)), middle + rg.ivec2(a, b)
      if height > 0 then nearest[at] = math.max(nearest[at], near * 2097152 + p) end
    end
  end
  for i, j in rg.range(size, size) do
    local own = rg.vec4(colour[nearest[i][j] % 2097152], nearest[i][j] / 2097152 * 0.01)
    seen[i][j] = nearest[i][j] > 0 and own or rg.vec4(0.94, 0.93, 0.9, -99)
  end
  average(seen, smooth)
  average(smooth, seen)
  for i, j in rg.range(size / 2, size / 2) do
    pixel[i][j] = rg.vec3(0)
    for a, b in rg.range(2, 2) do pixel[i][j] = pixel[i][j] + lit(2 * i + a, 2 * j + b) / 4 end
  end
end)

-- In a window, balls are drawn by OpenGL: the left button turns, the right one throws the jelly up.
local throw = rg.kernel(function()
  for p in rg.range({ pool, count }) do v[p].y = v[p].y + 0.5 end
end)

rg.live { params = params, reset = start, step = substep, speed = 4, width = 720, height = 600,
  touch = function(_, _, _, _, w) if select(3, w:mouse()).right then throw() end end,
  draw = function(w)
    w:clear(0.94, 0.93, 0.9):camera { target = { 0.5, 0.28, 0.5 }, eye = { 1.3, 1.15, 2.4 } }
    w:spheres(x, { radius = radius, color = colour })
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
