-- nbody.lua - two galaxies pass each other: every body attracts every other.
-- Numerics. Run it with:  examples/run nbody
--
-- Direct sums with a softened force, advanced by leapfrog steps: half a step of velocity, a step of
-- position, half a step of velocity. The total energy, which is printed, hardly changes.
local rg = require "regolith"

local folder = arg and arg[1] or "."
local frames, steps = tonumber(arg and arg[2]) or 40, 5
local each = 512                                     -- bodies in a galaxy
local params = { dt = 0.004, softening = { 0.02, 0.005, 0.1 } }
local count = 2 * each
local mass = 1 / count

local x, v, a = rg.array(rg.vec3, count), rg.array(rg.vec3, count), rg.array(rg.vec3, count)

local attract = rg.kernel(function()
  for i in rg.range(count) do
    local here, sum = x[i], rg.vec3(0)
    for j = 0, count - 1 do
      local d = x[j] - here
      local r2 = rg.dot(d, d) + params.softening * params.softening
      sum = sum + d * (mass / (r2 * math.sqrt(r2)))
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
      if i ~= j then pull = pull - 0.5 * mass / math.sqrt(square) end
    end
    sum = sum + mass * (0.5 * rg.dot(v[i], v[i]) + pull)
  end
  return sum
end)

-- A disk of bodies on circles around a centre, seen at an angle; those inside attract each of them.
local make_disk = rg.kernel(function(first, centre, velocity, tilt)
  for k in rg.range(each) do
    local r = 0.05 + 0.4 * math.sqrt(rg.f32(k) / each)
    local angle = 2.399963 * k                       -- the golden angle spreads them evenly
    local speed = math.sqrt(0.5 * (r * r / (0.45 * 0.45)) * r * r / (r * r * r))
    local c, s = math.cos(tilt), math.sin(tilt)
    local at = rg.vec2(math.cos(angle), math.sin(angle))
    x[first + k] = centre + r * rg.vec3(at.x, c * at.y, s * at.y)
    v[first + k] = velocity + speed * rg.vec3(-at.y, c * at.x, s * at.x)
  end
end)

-- The picture: the number of bodies in each pixel, blurred over its neighbours.
local size = 400
local light = rg.field(rg.f32, size, size)
local paint = rg.kernel(function()
  for i, j in rg.range(size, size) do light[i][j] = 0.85 * light[i][j] end
  for b in rg.range(count) do
    local at = rg.floor((x[b].xy * 0.4 + 0.5) * size)
    for di = -1, 1 do
      for dj = -1, 1 do
        local pixel = at + rg.ivec2(di, dj)
        if pixel.x >= 0 and pixel.y >= 0 and pixel.x < size and pixel.y < size then
          light[pixel] = light[pixel] + 0.5 / (1 + di * di + dj * dj)
        end
      end
    end
  end
end)

local throw = rg.kernel(function(at, motion)
  for b in rg.range(count) do
    if (x[b].xy - at):norm() < 0.2 then v[b] = v[b] + rg.vec3(motion, 0) end
  end
end)

local function reset()
  make_disk(0, rg.vec3(-0.6, -0.2, 0), rg.vec3(0.5, 0.1, 0), 0.5)
  make_disk(each, rg.vec3(0.6, 0.2, 0), rg.vec3(-0.5, -0.1, 0), -0.8)
  attract()
end

local function step()
  kick(params.dt / 2)
  drift(params.dt)
  attract()
  kick(params.dt / 2)
end

local look = { low = 0, high = 2, palette = "heat" }
rg.live { params = params, reset = reset, step = step,
  touch = function(p, q, dx, dy)
    throw((rg.vec2(p, q) - 0.5) / 0.4, rg.vec2(dx, dy) * 10)
  end,
  draw = function(w) paint() w:show(light, look) end,
  otherwise = function()
    local before, seconds = energy(), 0
    for frame = 1, frames do
      local begin = rg.time()
      for _ = 1, steps do step() end
      seconds = seconds + rg.time() - begin
      paint()
      if frame % 10 == 0 then
        rg.image.write(("%s/nbody_%03d.png"):format(folder, frame), light, look)
      end
    end
    local change = energy() / before - 1
    print(("%.0f million pairs per second; the energy changed by %.2f %%"):format(
      count * count * frames * steps / seconds * 1e-6, 100 * change))
    print(("checksum %d"):format(math.abs(change) < 0.02 and count or 0))
  end }
