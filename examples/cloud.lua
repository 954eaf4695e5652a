-- cloud.lua - a cloud in the evening sun: paths of light through a sparse volume.
-- Rendering. Run it with:  examples/run cloud
--
-- Woodcock 1965: light travels as if the cloud had its greatest density everywhere; where it is
-- thinner, most collisions are rejected. A path is scattered, mostly forward (Henyey and Greenstein
-- 1941), at each collision, until it leaves the cloud. Empty blocks do not exist, and paths skip
-- them. At each collision a shadow ray tests whether the sun is visible.
local rg = require "regolith"

local folder = arg and arg[1] or "."
local size, samples = 224, tonumber(arg and arg[2]) or 36
local n, leaf, densest = 128, 8, 0.6                 -- densest: hits per cell
local params = { forward = { 0.5, 0.05, 0.9 }, sunlight = { 14, 1, 40 } }

local density = rg.field(rg.f32)
local block = rg.root:pointer("ijk", n / leaf)
block:dense("ijk", leaf):place(density)

-- Random numbers on a lattice, interpolated; several octaves of them, finer and fainter.
local function noise(p)
  local cell = rg.floor(p)
  local f = p - cell
  local t, sum = f * f * (3 - 2 * f), 0.0
  for k = 0, 7 do
    local side = rg.ivec3(k % 2, bit.rshift(k, 1) % 2, bit.rshift(k, 2))
    local h = rg.sum(rg.uvec3(cell + side) * rg.uvec3(73856093, 19349663, 83492791))
    h = bit.bxor(h, bit.rshift(h, 13)) * 1274126177
    local part = rg.mix(1 - t, t, side)
    sum = sum + part.x * part.y * part.z * bit.rshift(h, 8) / 2 ^ 24
  end
  return sum
end

local grow = rg.kernel(function()
  for I in rg.range(n, n, n):vec() do
    local p, puff, scale = (I + 0.5) / n - rg.vec3(0.5, 0.45, 0.5), 0.0, 1.0
    for k = 0, 4 do
      puff = puff + scale * (noise(p * 5 * 2 ^ k + 17) - 0.5)
      scale = 0.55 * scale
    end
    local ball = 0.30 - (p * rg.vec3(0.8, p.y < 0 and 1.9 or 1.1, 0.9)):norm()
    local thick = rg.clamp(20 * (ball + 0.36 * puff), 0, 1)
    if thick > 0 then density[I] = densest * thick end -- a write creates the block
  end
end)

-- The distance to the next collision, or a number past the cube. A path through a leaf that does
-- not exist skips to its far side.
local function fly(from, way)
  local t = 0.0
  for _ = 1, 400 do
    local p = from + t * way
    local cell = rg.floor(p)
    if rg.any(p < 0) or rg.any(p >= n) then return 1e6 end
    if density:is_active(cell) then
      t = t - math.log(1 - rg.random()) / densest
      if rg.random() * densest < density[rg.floor(from + t * way)] then return t end
    else
      local corner = rg.floor(p / leaf) * leaf
      local sides = rg.select(way > 0, rg.vec3(corner + leaf), rg.vec3(corner))
      t = t + rg.min((sides - p) / way) + 1e-3
    end
  end
  return 1e6
end

local function enter(from, way)                      -- where a ray enters the cube
  local a, b = (0.01 - from) / way, (n - 0.01 - from) / way
  local near, far = rg.max(math.min(a, b)), rg.min(math.max(a, b))
  return near < far and near or 1e6
end

local function turn(way)
  local g = params.forward
  local s = (1 - g * g) / (1 - g + 2 * g * rg.random())
  local c = (1 + g * g - s * s) / (2 * g)
  local angle, r = rg.random(rg.f32, 0, 6.2831853), math.sqrt(math.max(1 - c * c, 0))
  local side = rg.normalize(rg.cross(way, math.abs(way.y) < 0.9 and rg.vec3(0, 1, 0)
    or rg.vec3(1, 0, 0)))
  return c * way + r * (math.cos(angle) * side + math.sin(angle) * rg.cross(way, side))
end

local sun = rg.normalize(rg.vec3(0.8, 0.4, -0.35))

local function sunlight() return params.sunlight * rg.vec3(1, 0.78, 0.55) end

-- The phase function: how much sunlight is scattered by an angle.
local function phase(way)
  local g = params.forward
  return (1 - g * g) / (12.566371 * math.pow(1 + g * g - 2 * g * rg.dot(way, sun), 1.5))
end

local function sky(way)
  return rg.mix(rg.vec3(0.5, 0.45, 0.5), rg.vec3(0.06, 0.16, 0.4), rg.clamp(way.y + 0.4, 0, 1))
end

local pixel = rg.array(rg.vec3, size, size)
local paint = rg.kernel(function()
  local eye, bright = rg.vec3(0.5, 0.42, -1.15) * n, 0.0
  for i, j in rg.range(size, size) do
    local sum = rg.vec3(0)
    for _ = 1, samples do
      local way = rg.vec3((rg.vec2(i, j) + rg.random(rg.vec2)) / size - 0.5, 1.25):normalize()
      local from, share = eye + enter(eye, way) * way, 1.0
      for _ = 1, 60 do
        local t = fly(from, way)
        if t >= 1e6 then break end
        from, share = from + t * way, 0.99 * share
        if fly(from, sun) >= 1e6 then sum = sum + share * phase(way) * sunlight() end
        way = turn(way)
      end
      sum = sum + share * sky(way)
    end
    local c = sum / samples
    pixel[i][j] = math.pow(1.2 * c / (c + 0.6), rg.vec3(0.6)) -- tone mapping, like film
    bright = bright + rg.sum(pixel[i][j])
  end
  return bright / size ^ 2
end)

-- In a window pictures of few samples add up, until the mouse moves the sun.
local shown, count = rg.array(rg.vec3, size, size), 0
local blend = rg.kernel(function(share)
  for I in rg.range(size, size):vec() do shown[I] = rg.mix(shown[I], pixel[I], share) end
end)

grow()
local drawn                                          -- with these parameters
local function step()
  local now = params.forward .. " " .. params.sunlight
  if drawn ~= now then count = 0 end
  drawn, samples, count = now, 1, count + 1
  paint()
  blend(1 / count)
end

rg.live { params = params, step = step,
  touch = function(x, y)
    sun, count = rg.normalize(rg.vec3(3 * x - 1.5, 2 * y - 0.6, -0.35)), 0
  end,
  draw = function(w) w:show(shown, { smooth = true }) w:watch("samples", count) end,
  otherwise = function()
    print(("checksum %d"):format(math.floor(20 * paint())))
    rg.image.write(folder .. "/cloud.png", pixel)
  end }
