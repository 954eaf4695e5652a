-- erosion.lua - hydraulic erosion: drops of rain carve a terrain of Perlin noise.
-- usage: erosion [cells per axis] [drops]
local rg, bench = require "regolith", require "bench"
local n, drops = bench.arguments(512, 32768)

local inertia, capacity, settling, eroding, evaporation, gravity = 0.05, 4, 0.3, 0.3, 0.01, 4
local lifetime = 30
local height, first = rg.field(rg.f32, n, n), rg.field(rg.f32, n, n)
local showers = 0

local function slope(i, j, x, y)
  local angle = 6.2831853 * bench.noise(57 * i + 131 * j)
  return math.cos(angle) * x + math.sin(angle) * y
end

local function fade(t) return t * t * t * (t * (t * 6 - 15) + 10) end

local function perlin(x, y)
  local i, j = math.floor(x), math.floor(y)
  local u, v = x - i, y - j
  local low = rg.mix(slope(i, j, u, v), slope(i + 1, j, u - 1, v), fade(u))
  local high = rg.mix(slope(i, j + 1, u, v - 1), slope(i + 1, j + 1, u - 1, v - 1), fade(u))
  return rg.mix(low, high, fade(v))
end

local start = rg.kernel(function()
  for i, j in rg.range(n, n) do
    local h, amplitude, frequency = 0.5, 0.5, 4 / n
    for _ = 1, 6 do
      h = h + amplitude * perlin(i * frequency, j * frequency)
      amplitude, frequency = 0.5 * amplitude, 2 * frequency
    end
    height[i][j] = h
    first[i][j] = h
  end
end)

local function sample(at)
  local i, j = math.floor(at.x), math.floor(at.y)
  local u, v = at.x - i, at.y - j
  local a, b = height[i][j], height[i + 1][j]
  local c, d = height[i][j + 1], height[i + 1][j + 1]
  local h = (a * (1 - u) + b * u) * (1 - v) + (c * (1 - u) + d * u) * v
  local gradient = rg.vec2((b - a) * (1 - v) + (d - c) * v, (c - a) * (1 - u) + (d - b) * u)
  return h, gradient
end

local function deposit(at, amount)
  local i, j = math.floor(at.x), math.floor(at.y)
  local u, v = at.x - i, at.y - j
  height[i][j] = height[i][j] + amount * (1 - u) * (1 - v)
  height[i + 1][j] = height[i + 1][j] + amount * u * (1 - v)
  height[i][j + 1] = height[i][j + 1] + amount * (1 - u) * v
  height[i + 1][j + 1] = height[i + 1][j + 1] + amount * u * v
end

local rain = rg.kernel(function(shower)
  for p in rg.range(drops) do
    local k = 2 * (p + shower * drops)
    local at = rg.vec2(bench.noise(k), bench.noise(k + 1)) * (n - 2)
    local way, speed, water, sediment = rg.vec2(0), 1.0, 1.0, 0.0
    for _ = 1, lifetime do
      local h, gradient = sample(at)
      way = way * inertia - gradient * (1 - inertia)
      local length = way:norm()
      if length < 1e-8 then break end
      way = way / length
      local to = at + way
      if to.x < 0 or to.y < 0 or to.x >= n - 2 or to.y >= n - 2 then break end
      local rise = sample(to) - h
      local carried = math.max(-rise * speed * water * capacity, 0.001)
      if sediment > carried or rise > 0 then
        local amount = (sediment - carried) * settling
        if rise > 0 then amount = math.min(rise, sediment) end
        sediment = sediment - amount
        deposit(at, amount)
      else
        local amount = math.min((carried - sediment) * eroding, -rise)
        sediment = sediment + amount
        deposit(at, -amount)
      end
      speed = math.sqrt(math.max(speed * speed - rise * gravity, 0))
      water = water * (1 - evaporation)
      at = to
    end
  end
end)

local total = rg.kernel(function()
  local s = rg.f64(0)
  for i, j in rg.range(n, n) do s = s + math.abs(height[i][j] - first[i][j]) end
  return s
end)

bench.run {
  start = function()
    showers = 0
    start()
  end,
  step = function()
    rain(showers)
    showers = showers + 1
  end,
  checksum = total,
}
