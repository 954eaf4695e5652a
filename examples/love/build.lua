-- build.lua - the fire of ember (main.lua): a fluid of air, heat and smoke that flows around walls.
--     regolith build --love examples/love -o ember.love
--
-- Stable fluids (Stam 1999): air carries itself, heat and smoke; what is hot rises; then pressure
-- makes the flow free of divergence. The whole step is one kernel, and one launch a frame.
local rg = require "regolith"

local width, height, rounds = 320, 180, 30
local function grid(type) return rg.field(type, width, height) end
local air, carried_air = grid(rg.vec2), grid(rg.vec2)
local matter, carried = grid(rg.vec2), grid(rg.vec2) -- heat and smoke
local pressure, relaxed, excess, wall = grid(rg.f32), grid(rg.f32), grid(rg.f32), grid(rg.f32)

-- A field's value between cells.
local function sample(f, at)
  local p = rg.clamp(at, rg.vec2(0), rg.vec2(width - 1.001, height - 1.001))
  local c = rg.floor(p)
  local t, i, j = p - c, c.x, c.y
  return rg.mix(rg.mix(f[i][j], f[i + 1][j], t.x), rg.mix(f[i][j + 1], f[i + 1][j + 1], t.x), t.y)
end

local function swirl(i, j)
  return air[i + 1][j].y - air[i - 1][j].y - air[i][j + 1].x + air[i][j - 1].x
end

local step = rg.kernel(function(dt, wind)
  for i, j in rg.range(width, height) do
    local from = rg.vec2(i, j) - dt * air[i][j]
    local m = sample(matter, from)
    local slope = rg.vec2(math.abs(swirl(i + 1, j)) - math.abs(swirl(i - 1, j)),
      math.abs(swirl(i, j + 1)) - math.abs(swirl(i, j - 1)))
    local turn = rg.clamp(swirl(i, j), -40, 40) / (rg.norm(slope) + 1e-3) -- keeps eddies alive
    local push = rg.vec2(slope.y, -slope.x) * turn * 0.35 + rg.vec2(wind, 90 * m.x - 10 * m.y)
    carried_air[i][j] = (1 - wall[i][j]) * (sample(air, from) * (1 - 0.1 * dt) + dt * push)
    carried[i][j] = (1 - wall[i][j]) * m * rg.vec2(math.exp(-1.4 * dt), math.exp(-0.35 * dt))
  end
  for i, j in rg.range(width, height) do
    excess[i][j] = 0.5 * (carried_air[i + 1][j].x - carried_air[i - 1][j].x
      + carried_air[i][j + 1].y - carried_air[i][j - 1].y)
    matter[i][j] = carried[i][j]
    pressure[i][j] = 0
  end
  for _ = 1, rounds do
    for i, j in rg.range(width, height) do
      relaxed[i][j] = 0.25 * (pressure[i - 1][j] + pressure[i + 1][j] + pressure[i][j - 1]
        + pressure[i][j + 1] - excess[i][j])
    end
    for i, j in rg.range(width, height) do pressure[i][j] = relaxed[i][j] end
  end
  for i, j in rg.range(width, height) do
    local slope = rg.vec2(pressure[i + 1][j] - pressure[i - 1][j],
      pressure[i][j + 1] - pressure[i][j - 1])
    air[i][j] = (1 - wall[i][j]) * (carried_air[i][j] - 0.5 * slope)
  end
end)

-- A flame of this radius, which moves.
local burn = rg.kernel(function(at, motion, radius, heat)
  for i, j in rg.range(width, height) do
    local off = rg.vec2(i, j) - at
    local share = math.exp(-rg.dot(off, off) / (radius * radius)) * (1 - wall[i][j])
    matter[i][j] = rg.mix(matter[i][j], rg.vec2(heat, 0.7), 0.5 * share)
    air[i][j] = rg.mix(air[i][j], motion, 0.5 * share)
  end
end)

local clear = rg.kernel(function()
  for i, j in rg.range(width, height) do
    local is_inside = i > 0 and j > 0 and i < width - 1 and j < height - 1
    air[i][j], matter[i][j], wall[i][j] = rg.vec2(0), rg.vec2(0), is_inside and 0 or 1
  end
end)

local build = rg.kernel(function(low, high)
  for i, j in rg.range(width, height) do
    if i >= low.x and i < high.x and j >= low.y and j < high.y then wall[i][j] = 1 end
  end
end)

-- Pixels of an ImageData, the top row first: bricks and smoke that a light at this place shows, and
-- fire.
local paint = rg.kernel(function(pixels, at, light)
  for y, x in rg.range(height, width) do
    local j = height - 1 - y
    local m, off = matter[x][j], rg.norm(rg.vec2(x, j) - at)
    local lit = rg.vec3(1, 0.62, 0.3) * (light / (1 + 0.0005 * off * off))
    local fire = rg.smoothstep(0.05, 1.25, m.x)
    local flame = rg.vec3(1.7 * fire, 1.15 * fire ^ 1.8, 0.8 * fire ^ 4.5)
    local smoke = rg.vec3(0.17, 0.18, 0.22) + 0.4 * lit
    local night = (rg.vec3(0.03, 0.035, 0.07) + 0.06 * lit) * (1 + 0.8 * j / height)
    local row = math.floor(j / 6)
    local is_gap = j % 6 == 0 or (x + row % 2 * 4) % 8 == 0
    local stone = (rg.vec3(0.1, 0.1, 0.13) + 0.4 * lit) * (is_gap and 0.6 or 0.9 + 0.1 * (row % 3))
    local seen = rg.mix(night, smoke, 1 - math.exp(-2.5 * m.y)) + flame
    seen = 255 * rg.clamp(wall[x][j] > 0 and stone or seen, 0, 1)
    for k = 0, 2 do pixels[y][x][k] = rg.u8(seen[k]) end
    pixels[y][x][3] = 255
  end
end)

local warmth = rg.kernel(function(i, j) return matter[i][j].x end)

clear()
build(rg.vec2(0), rg.vec2(1))
burn(rg.vec2(9), rg.vec2(1), 5.5, 1.5)
step(0.01, 0.5)
paint(rg.array(rg.u8, height, width, 4), rg.vec2(9), 0.5)
warmth(9, 9)
rg.export({ step = step, burn = burn, clear = clear, build = build, paint = paint, warmth = warmth,
  matter = matter }, { name = "fire" })
