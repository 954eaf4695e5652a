-- flip.lua - a dam breaks: particles carry the water, a grid makes it incompressible (FLIP).
-- Fluids. Run it with:  examples/run flip
--
-- Zhu and Bridson 2005. Particles transfer their velocities to the faces of cells, where a
-- pressure solve removes divergence; then particles add the change on the grid to their velocities.
-- A few per cent of the grid's own velocity (PIC) damp the noise.
local rg = require "regolith"

local folder = arg and arg[1] or "."
local frames, steps = tonumber(arg and arg[2]) or 80, 6
local n, rounds = 128, 40
-- gravity in cells per step and step
local params = { flip = { 0.95, 0, 1 }, gravity = { -0.004, -0.01, 0.01 } }
local wide, high = math.floor(0.45 * n), math.floor(0.35 * n)
local count = 4 * wide * high                        -- particles, four in a cell
local AIR, WATER, WALL = 0, 1, 2

local x, v = rg.array(rg.vec2, count), rg.array(rg.vec2, count)
-- Velocities, .x on a cell's left face and .y on its lower one, and the particles' weights there.
local u, before, share = rg.field(rg.vec2, n, n), rg.field(rg.vec2, n, n), rg.field(rg.vec2, n, n)
local kind, p, divergence = rg.field(rg.i32, n, n), rg.field(rg.f32, n, n), rg.field(rg.f32, n, n)

local start = rg.kernel(function()
  for k in rg.range(count) do
    local cell = math.floor(k / 4)
    x[k] = rg.vec2(2 + cell % wide, 2 + math.floor(cell / wide)) + rg.random(rg.vec2)
    v[k] = rg.vec2(0)
  end
end)

local corners = { rg.ivec2(0, 0), rg.ivec2(1, 0), rg.ivec2(0, 1), rg.ivec2(1, 1) }
local faces = { rg.vec2(0, 0.5), rg.vec2(0.5, 0) }   -- their positions in a cell, by axis

-- The bilinear weight of a corner, for a point `f` past the lower left one.
local function part(f, c) return (c.x == 0 and 1 - f.x or f.x) * (c.y == 0 and 1 - f.y or f.y) end
local function is_open(i, j) return kind[i][j] ~= WALL and 1 or 0 end

local step = rg.kernel(function()
  for I in rg.range(n, n):vec() do
    u[I], share[I] = rg.vec2(0), rg.vec2(0)
    kind[I] = (math.min(I.x, I.y) < 2 or math.max(I.x, I.y) > n - 3) and WALL or AIR
  end
  for k in rg.range(count) do                        -- to the grid
    for axis, face in ipairs(faces) do               -- both loops are unrolled
      local base = rg.floor(x[k] - face)
      local f = x[k] - face - base
      for _, corner in ipairs(corners) do
        local I, weight = base + corner, part(f, corner)
        u[I][axis - 1] = u[I][axis - 1] + weight * v[k][axis - 1]
        share[I][axis - 1] = share[I][axis - 1] + weight
      end
    end
    kind[rg.floor(x[k])] = WATER
  end
  for I in rg.range(n, n):vec() do                   -- gravity; no flow into walls
    before[I] = u[I] / math.max(share[I], 1e-6)
    local w = before[I] + rg.vec2(0, params.gravity)
    local is_wall = kind[I] == WALL
    local off = is_wall and math.min(w, 0) or math.max(w, 0) -- only away from the wall
    if is_wall ~= (kind[I - rg.ivec2(1, 0)] == WALL) then w.x = off.x end
    if is_wall ~= (kind[I - rg.ivec2(0, 1)] == WALL) then w.y = off.y end
    u[I] = w
  end
  for i, j in rg.range(n, n) do
    divergence[i][j] = u[i + 1][j].x - u[i][j].x + u[i][j + 1].y - u[i][j].y
  end
  for round = 1, 2 * rounds do                       -- Gauss-Seidel, in two colours
    for i, j in rg.range(n, n) do
      if (i + j + round) % 2 == 0 and kind[i][j] == WATER then
        local open = is_open(i - 1, j) + is_open(i + 1, j) + is_open(i, j - 1) + is_open(i, j + 1)
        local sum = p[i - 1][j] + p[i + 1][j] + p[i][j - 1] + p[i][j + 1] - divergence[i][j]
        p[i][j] = 1.8 * sum / open - 0.8 * p[i][j]
      elseif kind[i][j] ~= WATER then
        p[i][j] = 0
      end
    end
  end
  for I in rg.range(n, n):vec() do
    local beside, below = I - rg.ivec2(1, 0), I - rg.ivec2(0, 1)
    if kind[I] ~= WALL and kind[beside] ~= WALL then u[I].x = u[I].x - (p[I] - p[beside]) end
    if kind[I] ~= WALL and kind[below] ~= WALL then u[I].y = u[I].y - (p[I] - p[below]) end
  end
  for k in rg.range(count) do                        -- to the particles
    local now, old = rg.vec2(0), rg.vec2(0)
    for axis, face in ipairs(faces) do
      local base = rg.floor(x[k] - face)
      local f = x[k] - face - base
      for _, corner in ipairs(corners) do
        local I, weight = base + corner, part(f, corner)
        now[axis - 1] = now[axis - 1] + weight * u[I][axis - 1]
        old[axis - 1] = old[axis - 1] + weight * before[I][axis - 1]
      end
    end
    v[k] = params.flip * (v[k] + now - old) + (1 - params.flip) * now
    x[k] = rg.clamp(x[k] + now, 2.01, n - 2.01)
  end
end)

local size, pixel = 384, rg.array(rg.vec3, 384, 384)
local paint = rg.kernel(function()
  for i, j in rg.range(size, size) do pixel[i][j] = rg.vec3(0.96, 0.95, 0.92) end
  for k in rg.range(count) do
    local at, foam = rg.floor(x[k] * size / n), rg.clamp(1.2 * v[k]:norm() - 0.1, 0, 1)
    for a = -1, 1 do
      for b = -1, 1 do
        pixel[at + rg.ivec2(a, b)] = rg.mix(rg.vec3(0.05, 0.22, 0.5), rg.vec3(0.6, 0.9, 1), foam)
      end
    end
  end
end)

local stir = rg.kernel(function(at, motion)
  for k in rg.range(count) do
    if (x[k] - at):norm() < 10 then v[k] = rg.mix(v[k], motion, 0.5) end
  end
end)

rg.live { params = params, reset = start, step = step, speed = 3,
  touch = function(a, b, dx, dy)
    stir(rg.vec2(a, b) * n, rg.clamp(rg.vec2(dx, dy) * n * 0.3, -1, 1))
  end,
  draw = function(w) paint() w:show(pixel) end,
  otherwise = function()
    for frame = 1, frames do
      for _ = 1, steps do step() end
      if frame % 10 == 0 then
        paint()
        rg.image.write(("%s/flip_%03d.png"):format(folder, frame), pixel)
      end
    end
    print(("checksum %d"):format(math.floor(10 * rg.scan(x).y / count / n))) -- the mean height
  end }
