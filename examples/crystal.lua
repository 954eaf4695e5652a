-- crystal.lua - atoms cool down and freeze: grains grow, and meet at their borders.
-- Solids. Run it with:  examples/run crystal
--
-- Lennard-Jones atoms in two dimensions, with a thermostat that takes heat away. In a crystal each
-- atom has six neighbours, a sixth of a turn apart. The colour says which way they point (the
-- argument of the mean of exp(6 i angle), Nelson and Halperin 1979); where atoms are out of order,
-- at borders and holes, they are grey.
local rg = require "regolith"

local folder = arg and arg[1] or "."
local frames, steps = tonumber(arg and arg[2]) or 60, 60
local side, reach, dt = 56, 2.2, 0.008
local count, width = side * side, 1.16 * side
local params = { temperature = { 0.6, 0.02, 1 }, friction = { 0.5, 0, 5 } }

local x, v, force = rg.field(rg.vec2, count), rg.field(rg.vec2, count), rg.field(rg.vec2, count)
local order = rg.field(rg.vec2, count)
local near = rg.neighbours(x, reach)
local run = rg.series { "time", "temperature", "order" }

local function start()
  params.temperature = 0.6
  rg.kernel(function()
    for i in rg.range(count) do
      x[i] = 1.16 * (rg.vec2(i % side, math.floor(i / side)) + 0.5)
      v[i] = 0.8 * rg.vec2(rg.randn(rg.f32), rg.randn(rg.f32))
    end
  end)()
end

local move = rg.kernel(function()
  for i in near:each() do
    local sum = rg.vec2(0)
    for _, d, way in near:others(i) do
      local s = 1 / math.max(d * d, 0.7)
      local s3 = s * s * s
      sum = sum + way * (24 * s * s3 * (1 - 2 * s3))
    end
    force[i] = sum
  end
  local heat = 0.0
  for i in rg.range(count) do
    local kick = math.sqrt(2 * params.friction * params.temperature * dt)
    v[i] = v[i] + dt * (force[i] - params.friction * v[i])
      + kick * rg.vec2(rg.randn(rg.f32), rg.randn(rg.f32))
    local to = x[i] + dt * v[i]
    for k in rg.static(rg.range(2)) do
      if to[k] < 0.5 or to[k] > width - 0.5 then v[i][k] = -v[i][k] end
    end
    x[i] = rg.clamp(to, 0.5, width - 0.5)
    heat = heat + 0.5 * rg.dot(v[i], v[i]) / count
  end
  return heat
end)

-- How much an atom's neighbours are a sixth of a turn apart: near 1 in a crystal.
local measure = rg.kernel(function()
  local sum = 0.0
  for i in near:each() do
    local turn, number = rg.vec2(0), 0
    for _, d, way in near:others(i) do
      if d < 1.5 then
        local angle = 6 * math.atan2(way.y, way.x)
        turn = turn + rg.vec2(math.cos(angle), math.sin(angle))
        number = number + 1
      end
    end
    order[i] = turn / math.max(number, 6)
    sum = sum + order[i]:norm() / count
  end
  return sum
end)

-- The picture: each pixel shows the atom that is nearest, as a ball.
local size = 640
local pixel = rg.array(rg.vec3, size, size)
local function colour_of(psi)
  local turn = math.atan2(psi.y, psi.x)
  local hue = rg.vec3(math.cos(turn), math.cos(turn - 2.094), math.cos(turn + 2.094))
  return rg.mix(rg.vec3(0.55, 0.55, 0.58), 0.58 + 0.38 * hue, rg.smoothstep(0.3, 0.85, psi:norm()))
end
local paint = rg.kernel(function()
  for i, j in rg.range(size, size) do
    local p = (rg.vec2(i, j) + 0.5) * (width / size)
    local colour = rg.vec3(0.05, 0.05, 0.08)
    for k, d in near:nearest(p, 1) do
      local ball = rg.smoothstep(0.54, 0.46, d)
      local lit = 0.72 + 0.28 * rg.dot(p - x[k], rg.vec2(-0.7, 0.9))
      colour = rg.mix(colour, colour_of(order[k]) * lit, ball)
    end
    pixel[i][j] = colour
  end
end)

local melt = rg.kernel(function(a, b)
  for i in rg.range(count) do
    if rg.norm(x[i] / width - rg.vec2(a, b)) < 0.05 then
      v[i] = 2.5 * rg.vec2(rg.randn(rg.f32), rg.randn(rg.f32))
    end
  end
end)

local time = 0
local function step()
  near:update()
  local heat = move()
  time = time + dt
  params.temperature = math.max(params.temperature * 0.9995, 0.05)
  return heat
end
local function look(heat)
  near:update()
  run:add(time, heat, measure())
end

rg.live { params = params, reset = start, touch = melt, width = 800, height = 800,
  step = function()
    local heat
    for _ = 1, 8 do heat = step() end
    look(heat)
  end,
  draw = function(w)
    paint()
    w:show(pixel)
    run:show(w)
  end,
  otherwise = function()
    local begin = rg.time()
    for frame = 1, frames do
      local heat
      for _ = 1, steps do heat = step() end
      look(heat)
      if frame % 20 == 0 then
        paint()
        rg.image.write(("%s/crystal_%03d.png"):format(folder, frame), pixel)
      end
    end
    local seconds, last = rg.time() - begin, run:last()
    run:plot(folder .. "/crystal_order.svg", { y = { "temperature", "order" } })
    print(("%.2f million atom steps per second; temperature %.2f, order %.2f"):format(
      count * frames * steps / seconds * 1e-6, last.temperature, last.order))
    print(("checksum %d"):format(last.order > 0.7 and count or 0))
  end }
