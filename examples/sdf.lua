-- sdf.lua - a small planet of drops over a mirror sea: rays march through distances.
-- Rendering. Run it with:  examples/run sdf
--
-- Hart 1996: a function says how far the nearest surface is at least; a ray advances that far,
-- evaluates it again, and has hit where it is almost zero. Shadows, ambient occlusion, reflections
-- use the same function (Quilez 2008). Helpers are plain Lua, and can be tried at the prompt.
local rg = require "regolith"

local folder = arg and arg[1] or "."
local size, samples = tonumber(arg and arg[2]) or 400, 2 -- samples along a pixel's side
local light = rg.normalize(rg.vec3(0.7, 0.75, -0.45))
local params = { height = { 0.75, 0.1, 1 }, turn = { 2.14, -3.14, 3.14 },
  blend = { 0.2, 0.02, 0.5 } }
local drops = {}
for k = 1, 14 do                                     -- on a spiral around a sphere
  local y, angle = 1 - 2 * (k - 0.5) / 14, 2.39996 * k
  local r = 0.85 * math.sqrt(1 - y * y)
  local width = 0.2 + 0.06 * (k % 3)
  drops[k] = rg.vec4(r * math.cos(angle), 0.85 * y + 0.35, r * math.sin(angle), width)
end

-- The smaller of two distances, with a smooth blend between them.
local function join(a, b, width)
  local t = rg.clamp(0.5 + 0.5 * (b - a) / width, 0, 1)
  return rg.mix(b, a, t) - width * t * (1 - t)
end

local function planet(p)
  local d = (p - rg.vec3(0, 0.35, 0)):norm() - 0.62
  for k = 1, #drops do                               -- a loop; with ipairs it would be unrolled
    d = join(d, (p - drops[k].xyz):norm() - drops[k].w, params.blend)
  end
  return d
end

local function sea(p) return p.y + 0.95 + 0.012 * math.sin(9 * p.x + 2 * math.sin(3 * p.z)) end

local function distance(p) return math.min(planet(p), sea(p)) end

local function normal_of(p)                          -- from four distances around p
  local sum = rg.vec3(0)
  for k = 0, 3 do
    local way = rg.vec3(k % 3 == 0 and 1 or -1, k < 2 and 1 or -1, k % 2 == 0 and 1 or -1)
    sum = sum + way * distance(p + 1e-3 * way)
  end
  return rg.normalize(sum)
end

-- How far a ray gets; 20 and more: it missed and sees the sky.
local function march(from, way)
  local t = 0.01
  for _ = 1, 120 do
    local d = distance(from + t * way)
    if d < 4e-4 * t or t > 20 then break end
    t = t + d
  end
  return t
end

-- How much light arrives: little where the path passes close to a surface (soft shadows).
local function shadow(from)
  local t, open = 0.02, 1.0
  for _ = 1, 50 do
    local d = distance(from + t * light)
    open = math.min(open, 10 * d / t)
    t = t + rg.clamp(d, 0.01, 0.2)
    if open < 0.005 or t > 4 then break end
  end
  return rg.clamp(open, 0, 1)
end

local function sky(way)
  local sun = math.max(rg.dot(way, light), 0)
  return rg.mix(rg.vec3(1, 0.75, 0.55), rg.vec3(0.2, 0.4, 0.75), rg.clamp(1.6 * way.y + 0.1, 0, 1))
    + rg.vec3(1, 0.7, 0.4) * (0.25 * sun ^ 8 + math.pow(sun, 600))
end

local function shade(p, way, normal, sun)
  local near = rg.clamp(0.5 + 2.5 * distance(p + 0.2 * normal), 0, 1) -- less light in hollows
  local bright = math.max(rg.dot(normal, light), 0) * sun
  local shine = math.pow(math.max(rg.dot(normal, rg.normalize(light - way)), 0), 60)
  local colour = 0.5 + 0.5 * math.cos(6.28 * (rg.vec3(0.0, 0.33, 0.67) + 0.35 * p.y + 0.45))
  return colour * (0.3 * near * rg.vec3(0.6, 0.75, 1) + bright * rg.vec3(1.1, 0.95, 0.75))
    + bright * shine
end

-- The sea shows what a reflected ray sees.
local function look(from, way)
  local seen, share = rg.vec3(0), 1.0
  for _ = 1, 2 do
    local t = march(from, way)
    if t >= 20 then return seen + share * sky(way) end
    local p = from + t * way
    local normal, sun = normal_of(p), shadow(p)
    if planet(p) < sea(p) then return seen + share * shade(p, way, normal, sun) end
    local mirror = 0.25 + 0.6 * math.pow(1 - math.abs(rg.dot(normal, way)), 3)
    seen, share = share * (1 - mirror) * (0.4 + 0.6 * sun) * rg.vec3(0.02, 0.1, 0.16), mirror
    from, way = p + 2e-3 * t * normal, way - 2 * rg.dot(way, normal) * normal
  end
  return seen
end

local pixel = rg.array(rg.vec3, size, size)
local paint = rg.kernel(function()
  local bright = 0.0
  for i, j in rg.range(size, size) do
    local sum = rg.vec3(0)
    for a = 0, samples - 1 do
      for b = 0, samples - 1 do
        local at = (rg.vec2(i, j) + (rg.vec2(a, b) + 0.5) / samples) / size - 0.5
        sum = sum + look(rg.vec3(0, 0.55, -4.2), rg.vec3(at.x, at.y - 0.1, 1.25):normalize())
      end
    end
    pixel[i][j] = math.sqrt(rg.clamp(sum / (samples * samples), 0, 1))
    bright = bright + rg.sum(pixel[i][j])
  end
  return bright / size ^ 2
end)

-- In a window the mouse moves the sun, and a pixel is one sample. Only what changes is painted.
local painted
rg.live { params = params,
  reset = function() samples = 1 end,
  step = function()
    local now = table.concat({ params.height, params.turn, params.blend }, " ")
    if now == painted then return end
    light = rg.normalize(rg.vec3(0.83 * math.sin(params.turn), params.height,
      0.83 * math.cos(params.turn)))
    paint()
    painted = now
  end,
  touch = function(x, y) params.turn, params.height = 6.28 * x - 3.14, math.max(y, 0.1) end,
  draw = function(w) w:show(pixel, { smooth = true }) end,
  otherwise = function()
    samples = 2
    print(("checksum %d"):format(math.floor(20 * paint())))
    rg.image.write(folder .. "/sdf.png", pixel)
  end }
