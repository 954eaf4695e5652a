-- nbody.lua - a small galaxy passes a spiral one: every body attracts every other.
-- Numerics. Run it with:  examples/run nbody
--
-- Direct sums with a softened force, advanced by leapfrog steps: half a step of velocity, a step of
-- position, half a step of velocity. The total energy, which is printed, hardly changes.
local rg = require "regolith"

local folder = arg and arg[1] or "."
local frames, steps = tonumber(arg and arg[2]) or 40, 2
local large, count = 1664, 2048                      -- bodies in the spiral; in both
local params = { dt = 0.008, softening = { 0.12, 0.05, 0.2 } }
local heavy = 0.6                                    -- of a galaxy's mass is in its first body

local x, v, a = rg.array(rg.vec3, count), rg.array(rg.vec3, count), rg.array(rg.vec3, count)
local mass = rg.array(rg.f32, count)

local attract = rg.kernel(function()
  for i in rg.range(count) do
    local here, sum = x[i], rg.vec3(0)
    for j = 0, count - 1 do
      local d = x[j] - here
      local r2 = rg.dot(d, d) + params.softening * params.softening
      sum = sum + d * (mass[j] / (r2 * math.sqrt(r2)))
    end
    a[i] = sum
  end
end)

local kick = rg.kernel(function(h)
  for i in rg.range(count) do v[i] = v[i] + h * a[i] end
end)
local drift = rg.kernel(function(h)
  for i in rg.range(count) do x[i] = x[i] + h * v[i] end
end)

local energy = rg.kernel(function()
  local sum = rg.f64(0)
  for i in rg.range(count) do
    local pull = rg.f64(0)
    for j = 0, count - 1 do
      local d = x[j] - x[i]
      local square = rg.dot(d, d) + params.softening * params.softening
      if i ~= j then pull = pull - 0.5 * mass[j] / math.sqrt(square) end
    end
    sum = sum + mass[i] * (0.5 * rg.dot(v[i], v[i]) + pull)
  end
  return sum
end)

-- Bodies on circles around a centre, along two arms that trail, seen at an angle; those inside
-- attract each of them. `age` is 1 for the old ones in the middle, 0 for the young in the arms.
local age = rg.array(rg.f32, count)
local make_disk = rg.kernel(function(first, last, centre, velocity, radius, tilt)
  for b in rg.range({ first, last }) do
    local part = (b - first + 0.5) / (last - first)
    local r = b == first and 0.0 or radius * (0.04 + (0.8 + 0.3 * rg.random(rg.f32)) * part ^ 0.9)
    local spread = (rg.random(rg.f32) + rg.random(rg.f32) + rg.random(rg.f32) - 1.5)
      * (0.45 + 0.2 * radius / (r + 0.1 * radius))
    local angle = math.pi * b + 1.2 * math.log(r / radius + 0.02) + spread
    local all = (last - first) / count
    mass[b] = b == first and all * heavy or all * (1 - heavy) / (last - first)
    local pull = all * rg.mix(heavy, 1, part) / (r * r + params.softening ^ 2) ^ 1.5
    local c, s = math.cos(tilt), math.sin(tilt)
    local at = rg.vec2(math.cos(angle), math.sin(angle))
    x[b] = centre + r * rg.vec3(at.x, c * at.y, s * at.y)
    v[b] = velocity + r * math.sqrt(pull) * rg.vec3(at.y, -c * at.x, -s * at.x)
    age[b] = rg.clamp(1.1 - 1.9 * part + 0.7 * math.abs(spread), 0, 1)
  end
end)

-- The picture: bodies glow, old ones in yellow, young ones in blue.
local size, glow = 400, 16
local light, pixel = rg.array(rg.vec3, size, size), rg.array(rg.vec3, size, size)
local paint = rg.kernel(function()
  light:fill(rg.vec3(0))
  for b in rg.range(count) do
    local place = (x[b].xy * 0.5 + 0.5) * size
    local colour = rg.mix(rg.vec3(0.35, 0.55, 1), rg.vec3(1, 0.72, 0.4), age[b])
    if b % 29 == 7 then colour = rg.vec3(1.6, 0.5, 0.8) end -- clouds in which stars are born
    if mass[b] > 0.01 then colour = colour * 12 end
    for di = -glow, glow do
      for dj = -glow, glow do
        local at = rg.floor(place) + rg.ivec2(di, dj)
        local off = at + 0.5 - place
        local square = rg.dot(off, off)
        if square < glow * glow and at.x >= 0 and at.y >= 0 and at.x < size and at.y < size then
          light[at] = light[at] + colour * (0.8 * math.exp(-square) + 0.07 * math.exp(-square / 50))
        end
      end
    end
  end
  for i, j in rg.range(size, size) do
    local c = light[i][j]
    pixel[i][j] = 1 - math.exp(-1.3 * c) + rg.vec3(0.015, 0.02, 0.045)
  end
end)

local throw = rg.kernel(function(at, motion)
  for b in rg.range(count) do
    if (x[b].xy - at):norm() < 0.2 then v[b] = v[b] + rg.vec3(motion, 0) end
  end
end)

local function reset()
  make_disk(0, large, rg.vec3(-0.1, -0.05, 0), rg.vec3(0.03, -0.05, 0), 0.85, 0.5)
  make_disk(large, count, rg.vec3(0.5, 0.9, -0.2), rg.vec3(0.2, -0.4, 0.1), 0.25, -0.6)
  attract()
end

local function step()
  kick(params.dt / 2)
  drift(params.dt)
  attract()
  kick(params.dt / 2)
end

rg.live { params = params, reset = reset, step = step,
  touch = function(p, q, dx, dy)
    throw((rg.vec2(p, q) - 0.5) / 0.5, rg.vec2(dx, dy) * 10)
  end,
  draw = function(w) paint() w:show(pixel) end,
  otherwise = function()
    local before, seconds = energy(), 0
    for frame = 1, frames do
      local begin = rg.time()
      for _ = 1, steps do step() end
      seconds = seconds + rg.time() - begin
      if frame % 10 == 0 then
        paint()
        rg.image.write(("%s/nbody_%03d.png"):format(folder, frame), pixel)
      end
    end
    local change = energy() / before - 1
    print(("%.0f million pairs per second; the energy changed by %.2f %%"):format(
      count * count * frames * steps / seconds * 1e-6, 100 * change))
    print(("checksum %d"):format(math.abs(change) < 0.02 and count or 0))
  end }
