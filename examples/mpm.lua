-- mpm.lua - a ball of jelly hits falling water: MLS-MPM on a grid that exists only at particles.
-- Solids. Run it with:  examples/run mpm
-- The world is 4 units wide and 1 high: 512 x 128 nodes, of which few blocks exist. Each step frees
-- all blocks; the particles recreate those they touch. examples/mpm_dense.lua explains the loops.
local rg = require "regolith"

local folder, frames, steps = arg and arg[1] or ".", tonumber(arg and arg[2]) or 50, 50
local wide, n, leaf, size = 4, 128, 8, 320 -- units; nodes per unit, per block; pixels per unit
local dx, dt = 1 / n, 2e-4
local volume = (0.5 * dx) ^ 2                         -- of a particle, four to a cell
local mass, stiffness = volume, 400
local params = { gravity = 9.8, mu = { 30, 5, 100 }, lambda = { 60, 5, 200 } } -- of jelly

-- The initial particles, on a lattice: a column of water, a ball of jelly.
local places, is_jelly = {}, {}
local function add(x, y, jelly) places[#places + 1], is_jelly[#places + 1] = { x, y }, jelly end
for a = 0, wide / dx * 2 do
  for b = 0, 2 / dx do
    local x, y = 0.5 * dx * (a + 0.5), 0.5 * dx * (b + 0.5)
    if x > 1.8 and x < 2.15 and y > 0.03 and y < 0.53 then add(x, y, false) end
    if (x - 0.7) ^ 2 + (y - 0.5) ^ 2 < 0.12 ^ 2 then add(x, y, true) end
  end
end

local count = #places
local x, v, jelly = rg.field(rg.vec2, count), rg.field(rg.vec2, count), rg.field(rg.bool, count)
local C, F = rg.field(rg.mat2, count), rg.field(rg.mat2, count) -- velocity gradient; deformation
local grid_v, grid_m = rg.field(rg.vec2), rg.field(rg.f32)
local block = rg.root:pointer("ij", wide * n / leaf, n / leaf, { name = "block" })
block:dense("ij", leaf):place(grid_v, grid_m)

local function weights(f)
  local a, b, c = 1.5 - f, f - 1, f - 0.5
  return rg.vec3(0.5 * a * a, 0.75 - b * b, 0.5 * c * c)
end

local substep = rg.kernel(function()
  block:clear()
  -- particles transfer mass and momentum to 3 x 3 nodes
  for p in rg.range(count) do
    local base = rg.floor(x[p] * n - 0.5)
    local f = x[p] * n - base
    local wx, wy = weights(f.x), weights(f.y)
    local J = rg.determinant(F[p])
    local stress = rg.mat2(stiffness * (J - 1))       -- water resists compression, jelly also shear
    if jelly[p] then
      stress = params.mu * (F[p] * rg.transpose(F[p]) - rg.mat2(1))
        + rg.mat2(params.lambda * math.log(J))
    end
    local affine = mass * C[p] - 4 * dt * volume * n * n * stress
    for i = 0, 2 do
      for j = 0, 2 do
        local offset, weight = (rg.vec2(i, j) - f) * dx, wx[i] * wy[j]
        local node = base + rg.ivec2(i, j)
        grid_v[node] = grid_v[node] + weight * (mass * v[p] + affine * offset)
        grid_m[node] = grid_m[node] + weight * mass
      end
    end
  end
  -- nodes of existing blocks feel gravity, floor and walls
  for i, j in grid_m:active() do
    if grid_m[i][j] > 0 then
      local u = grid_v[i][j] / grid_m[i][j] - rg.vec2(0, dt * params.gravity)
      if i < 3 and u.x < 0 or i > wide * n - 3 and u.x > 0 then u.x = 0 end
      if j < 3 and u.y < 0 or j > n - 3 and u.y > 0 then u.y = 0 end
      grid_v[i][j] = u
    end
  end
  -- particles take back their new velocity, and move
  for p in rg.range(count) do
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
    local moved = (rg.mat2(1) + dt * B) * F[p]
    F[p] = jelly[p] and moved or rg.mat2(math.sqrt(rg.determinant(moved)))
  end
end)

-- Each particle leaves a blot; their height is lit. Behind them are the blocks that exist.
local blot, side = 6, leaf * size / n                 -- pixels, also of a block
local ink, pixel = rg.field(rg.vec4, wide * size, size), rg.field(rg.vec3, wide * size, size)
local paint = rg.kernel(function()
  ink:fill(rg.vec4(0))
  for p in rg.range(count) do
    local foam = rg.smoothstep(1.5, 6, v[p]:norm())
    local water = rg.mix(rg.vec3(0.05, 0.4, 0.75), rg.vec3(0.8, 0.94, 1), foam)
    local own = rg.vec4(jelly[p] and rg.vec3(0.95, 0.38, 0.2) or water, 1)
    for a, b in rg.range({ -blot, blot + 1 }, { -blot, blot + 1 }) do
      local at = rg.floor(x[p] * size) + rg.ivec2(a, b)
      local off = (at + 0.5 - x[p] * size) / blot
      if at.y >= 0 then ink[at] = ink[at] + math.max(1 - rg.dot(off, off), 0) ^ 2 * own end
    end
  end
  for i, j in rg.range(wide * size, size) do
    local here, exists = ink[i][j], block:is_active(math.floor(i / side), math.floor(j / side))
    local slope = rg.vec2(ink[i + 1][j].w - ink[i - 1][j].w, ink[i][j + 1].w - ink[i][j - 1].w)
    local light = 0.9 + 0.8 * math.exp(-0.25 * here.w) * rg.dot(slope, rg.vec2(0.5, -0.8))
    local line = exists and (i % side < 1 or j % side < 1)
    local wall = rg.vec3(0.06, 0.08, 0.13) * (line and 2.4 or exists and 1.6 or 1)
    pixel[i][j] = rg.mix(wall, here.xyz * rg.clamp(light, 0.4, 1.25) / math.max(here.w, 1e-3),
      rg.smoothstep(0.6, 1.4, here.w))
  end
end)

local function start()
  x:from_table(places)
  jelly:from_table(is_jelly)
  C:fill(rg.mat2(0))
  F:fill(rg.mat2(1))
  for p = 1, count do v[p - 1] = is_jelly[p] and { 4, 1 } or { 0, 0 } end
end

local stir = rg.kernel(function(at, motion)
  for p in rg.range(count) do
    if (x[p] - at):norm() < 0.1 then v[p] = rg.mix(v[p], motion, 0.3) end
  end
end)

rg.live { params = params, reset = start, step = substep, speed = 15, width = 1200, height = 300,
  ranges = { gravity = { -10, 20 } },
  touch = function(a, b, da, db)
    stir(rg.vec2(wide * a, b), rg.clamp(60 * rg.vec2(wide * da, db), -6, 6))
  end,
  draw = function(w) paint() w:show(pixel) w:watch("blocks", block:count()) end,
  otherwise = function()
    print(count .. " particles\n frame  blocks  of all  KiB of grid")
    for frame = 1, frames do
      for _ = 1, steps do substep() end
      if frame % 10 == 0 then
        local blocks, all = block:count(), wide * (n / leaf) ^ 2
        local kib, path = blocks * leaf ^ 2 * 12 / 1024, ("%s/mpm_%03d.png"):format(folder, frame)
        print(("%6d %7d %5.1f %% %12d"):format(frame, blocks, 100 * blocks / all, kib))
        paint()
        rg.image.write(path, pixel)
      end
    end
    -- the order of float sums, and so the spray, varies from run to run; the centre hardly does
    local sum = 0
    for p = 0, count - 1 do sum = sum + x[p].x end
    print(("checksum %d"):format(math.floor(100 * sum / count)))
  end }
