-- sph.lua - a column of water collapses: smoothed particles that press on their neighbours.
-- Fluids. Run it with:  examples/run sph
--
-- Mueller, Charypar and Gross 2003, in 2-D. A particle is a struct, with methods of its own;
-- rg.neighbours finds those within the kernel's support.
local rg = require "regolith"

local folder = arg and arg[1] or "."
local frames, steps = tonumber(arg and arg[2]) or 40, 40
local columns, rows = 32, 64
local count, reach, dt = columns * rows, 1 / 40, 2.5e-4
local params = { stiffness = { 300, 50, 400 }, thickness = { 1.5, 0.2, 5 }, gravity = 9.8 }
local spacing, rest = 0.45 * reach, 1000
local mass = rest * spacing * spacing

local Particle = rg.struct({
  { "x", rg.vec2 }, { "v", rg.vec2 }, { "force", rg.vec2 }, { "density", rg.f32 },
}, { methods = {
  pressure = function(self) return params.stiffness * math.max(self.density - rest, 0) end,
} })
local p = rg.array(Particle, count)
local near = rg.neighbours(p.x, reach)

-- The smoothing kernels in 2-D: for density, and for the forces of pressure and viscosity.
local pi = math.pi
local function smooth(r2) return 4 / (pi * reach ^ 8) * (reach * reach - r2) ^ 3 end
local function push(r) return 30 / (pi * reach ^ 5) * (reach - r) * (reach - r) end
local function drag(r) return 40 / (pi * reach ^ 5) * (reach - r) end

local move = rg.kernel(function()
  for k in near:each() do
    local density = 0.0
    for _, r in near:of(k) do density = density + mass * smooth(r * r) end
    p[k].density = density
  end
  for k in near:each() do
    local me, force = p[k], rg.vec2(0)
    for j, r, d in near:others(k) do
      local you = p[j]
      local pressed = (me:pressure() + you:pressure()) / (2 * you.density) * push(r)
      force = force - mass * pressed * d / math.max(r, 1e-6)
        + mass * params.thickness * (you.v - me.v) / you.density * drag(r)
    end
    p[k].force = force
  end
  for k in rg.range(count) do
    local v = p[k].v + dt * (p[k].force / p[k].density + rg.vec2(0, -params.gravity))
    local x = p[k].x + dt * v
    if x.x < 0.01 or x.x > 0.99 then v.x = -0.3 * v.x end
    if x.y < 0.01 or x.y > 0.99 then v.y = -0.3 * v.y end
    p[k].x, p[k].v = rg.clamp(x, 0.01, 0.99), v
  end
end)

local function step()
  near:update()
  move()
end

-- The picture: particles leave blots whose sum is a smooth height, from which a light is reflected;
-- deep water is darker, fast water foams.
local size, blot = 400, 9
local ink, pixel = rg.field(rg.vec2, size, size), rg.array(rg.vec3, size - 2, size - 2)
local paint = rg.kernel(function()
  ink:fill(rg.vec2(0))
  for k in rg.range(count) do
    local x, foam = p[k].x * size, rg.smoothstep(1, 3, p[k].v:norm())
    for di = -blot, blot do
      for dj = -blot, blot do
        local at = rg.floor(x) + rg.ivec2(di, dj)
        local off = (at + 0.5 - x) / blot
        local weight = math.max(1 - rg.dot(off, off), 0.0) ^ 2
        if weight > 0 and at.x >= 0 and at.y >= 0 and at.x < size and at.y < size then
          ink[at] = ink[at] + weight * rg.vec2(1, foam)
        end
      end
    end
  end
  for i, j in rg.range({ 1, size - 1 }, { 1, size - 1 }) do
    local here = ink[i][j]
    local slope = rg.vec2(ink[i + 1][j].x - ink[i - 1][j].x, ink[i][j + 1].x - ink[i][j - 1].x)
    local light = rg.dot(slope, rg.vec2(0.6, -1.3)) * math.exp(-0.5 * here.x)
    local water = rg.mix(rg.vec3(0.02, 0.16, 0.42), rg.vec3(0.12, 0.62, 0.85), 1.6 * j / size)
    local foam = here.y / math.max(here.x, 1e-3) * (1 - 0.65 * rg.smoothstep(1.5, 4, here.x))
    local lit = 0.92 + rg.clamp(light, -0.3, 0.4)
    local colour = rg.mix(water, rg.vec3(0.92, 0.98, 1), foam) * lit
    local wall = rg.vec3(0.93, 0.87, 0.78) * (0.75 + 0.25 * j / size)
    pixel[i - 1][j - 1] = rg.mix(wall, colour, rg.smoothstep(0.5, 0.8, here.x))
  end
end)

local function start()
  for k = 0, count - 1 do
    local i, j = k % columns, math.floor(k / columns)
    p[k] = { x = rg.vec2(0.02 + i * spacing, 0.02 + j * spacing), density = rest }
  end
end

local stir = rg.kernel(function(at, motion)
  for k in rg.range(count) do
    if (p[k].x - at):norm() < 0.1 then p[k].v = rg.mix(p[k].v, motion, 0.2) end
  end
end)

rg.live { params = params, reset = start, step = step, speed = 10,
  touch = function(x, y, dx, dy)
    stir(rg.vec2(x, y), rg.clamp(rg.vec2(dx, dy) * 60, -4, 4))
  end,
  draw = function(w) paint() w:show(pixel) end,
  otherwise = function()
    local begin = rg.time()
    for frame = 1, frames do
      for _ = 1, steps do step() end
      if frame % 10 == 0 then
        paint()
        rg.image.write(("%s/sph_%03d.png"):format(folder, frame), pixel)
      end
    end
    local seconds, height = rg.time() - begin, 0
    for k = 0, count - 1 do height = height + p[k].x.y / count end
    print(("%.2f million particle steps per second; mean height %.3f"):format(
      count * frames * steps / seconds * 1e-6, height))
    print(("checksum %d"):format(math.floor(10 * height)))
  end }
