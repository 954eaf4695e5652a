-- ocean.lua - the open sea in the evening: waves by an inverse Fourier transform in every frame.
-- Fluids. Run it with:  examples/run ocean
--
-- Tessendorf 2001. The wind gives each wave of a square of the sea its mean energy (Phillips'
-- spectrum), chance its amplitude; a wave of length 2 pi / k turns with the frequency sqrt(g k), as
-- in deep water. rg.ifft adds all of them up: to the height, and to its slopes along both axes.
-- A pixel is a ray that meets the sea, which repeats, and reflects the sky. Needs FFTW (Debian:
-- libfftw3-single3).
local rg = require "regolith"

local folder = arg and arg[1] or "."
local n, frames = 256, tonumber(arg and arg[2]) or 40
local width, height = 480, 270
local side = 90                                      -- of the square, in metres
local params = { wind = 11, angle = 0.6, sun = rg.vec2(0.12, 0.1) } -- m/s, radians, left and up

local seed = rg.field(rg.vec2, n, n)                 -- two normal random numbers for each wave
local start = rg.field(rg.vec2, n, n)                -- the waves at time 0, complex numbers
local waves, along, across = rg.array(rg.vec2, n, n / 2 + 1), rg.array(rg.vec2, n, n / 2 + 1),
  rg.array(rg.vec2, n, n / 2 + 1)
local sea, slope_x, slope_y = rg.array(rg.f32, n, n), rg.array(rg.f32, n, n),
  rg.array(rg.f32, n, n)
local picture = rg.array(rg.vec3, width, height)

rg.seed(4)
rg.kernel(function()
  for i, j in rg.range(n, n) do seed[i][j] = rg.vec2(rg.randn(), rg.randn()) end
end)()

local function wave_number(i, j)
  local x, y = i < n / 2 and i or i - n, j < n / 2 and j or j - n
  return 2 * math.pi / side * rg.vec2(x, y)
end

local blow = rg.kernel(function()
  local wind = rg.vec2(math.cos(params.angle), math.sin(params.angle))
  local largest = params.wind * params.wind / 9.81
  for i, j in rg.range(n, n) do
    local k = wave_number(i, j)
    local square = rg.dot(k, k) + 1e-9
    local with = rg.dot(k, wind)
    local energy = math.exp(-1 / (square * largest * largest)) / (square * square)
      * with * with / square * math.exp(-square * 0.0004) * (with < 0 and 0.1 or 1)
    start[i][j] = 0.035 * 2 * math.pi / side * math.sqrt(energy) * seed[i][j]
    if i == 0 and j == 0 then start[i][j] = rg.vec2(0) end
  end
end)

local function times(a, b) return rg.vec2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x) end

-- Half of the spectrum, as the height is real: the other half repeats it.
local turn = rg.kernel(function(time)
  for i, j in waves:active() do
    local k = wave_number(i, j)
    local phase = math.sqrt(9.81 * rg.norm(k)) * time
    local spin = rg.vec2(math.cos(phase), math.sin(phase))
    local back = start[(n - i) % n][(n - j) % n]     -- the wave in the opposite direction
    local h = n * n * (times(start[i][j], spin) + times(rg.vec2(back.x, -back.y), rg.vec2(spin.x,
      -spin.y)))
    waves[i][j] = h
    along[i][j], across[i][j] = k.x * rg.vec2(-h.y, h.x), k.y * rg.vec2(-h.y, h.x)
  end
end)

-- Between four elements of a square that repeats.
local function sample(x, p)
  local q = p * (n / side)
  local cell = rg.floor(q)
  local f, i, j = q - cell, cell.x % n, cell.y % n
  local right, up = (i + 1) % n, (j + 1) % n
  return rg.mix(rg.mix(x[i][j], x[right][j], f.x), rg.mix(x[i][up], x[right][up], f.x), f.y)
end

local function sky(d, sun)
  local high = math.max(d.z, 0)
  local glow = math.max(rg.dot(d, sun), 0)
  local base = rg.mix(rg.vec3(0.95, 0.55, 0.32), rg.vec3(0.13, 0.27, 0.5), 1 - (1 - high) ^ 4)
  return base + rg.vec3(1, 0.62, 0.3) * (0.35 * glow ^ 8 + 0.5 * glow ^ 60)
    + rg.vec3(1, 0.85, 0.6) * 6 * glow ^ 2500
end

local paint = rg.kernel(function(time)
  local eye = rg.vec3(3 * time, 0, 7)
  local sun = rg.normalize(rg.vec3(1, params.sun))
  for i, j in rg.range(width, height) do
    local d = rg.normalize(rg.vec3(1.25, (width / 2 - i) / height, (j - 0.62 * height) / height))
    local colour = sky(d, sun)
    if d.z < -0.001 then
      local reach = eye.z / -d.z
      for _ = 1, 3 do
        reach = (eye.z - sample(sea, eye.xy + reach * d.xy)) / -d.z
      end
      local at = eye.xy + reach * d.xy
      local calm = 1 / (1 + reach * reach * 0.00002)  -- far waves are smaller than pixels
      local normal = rg.normalize(rg.vec3(-calm * sample(slope_x, at), -calm * sample(slope_y, at),
        1))
      local facing = math.max(-rg.dot(d, normal), 0)
      local mirror = d + 2 * facing * normal
      local share = 0.02 + 0.98 * (1 - facing) ^ 5
      local depth = rg.vec3(0.004, 0.05, 0.07) + rg.vec3(0.02, 0.09, 0.08)
        * math.max(0.4 + 0.35 * sample(sea, at), 0)
      local bright = rg.normalize(rg.vec3(mirror.x, mirror.y, math.abs(mirror.z)))
      local water = rg.mix(depth, sky(bright, sun), share)
      colour = rg.mix(colour, water, math.exp(-reach * 0.0012))
    end
    picture[i][j] = rg.vec3(1) - rg.vec3(math.exp(-1.6 * colour.x), math.exp(-1.6 * colour.y),
      math.exp(-1.6 * colour.z))
  end
end)

local time = 0
local function step()
  time = time + 1 / 30
  blow()
  turn(time)
  rg.ifft(waves, sea)
  rg.ifft(along, slope_x)
  rg.ifft(across, slope_y)
end

rg.live { params = params, step = step, width = 2 * width, height = 2 * height,
  ranges = { wind = { 3, 20 }, angle = { -3.14, 3.14 }, ["sun.x"] = { -1, 1 },
    ["sun.y"] = { 0.02, 0.5 } },
  touch = function(x, y)                             -- the sun goes there
    params.sun = rg.vec2(0.8 * (0.5 - x) * width / height, math.max(0.8 * (y - 0.62), 0.02))
  end,
  draw = function(w)
    paint(time)
    w:show(picture, { smooth = true })
  end,
  otherwise = function()
    for _ = 1, frames do step() end
    paint(time)
    rg.image.write(folder .. "/ocean.png", picture)
    print(("checksum %.0f"):format(400 * sea:norm() / n)) -- the height of waves, in centimetres
  end }
