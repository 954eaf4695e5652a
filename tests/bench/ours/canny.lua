-- canny.lua - Canny edge detection: blur, gradients, non-maximum suppression, then hysteresis,
-- which repeats until no more weak edges are added. usage: canny [pixels per axis]
local rg, bench = require "regolith", require "bench"
local n = bench.arguments(1024)

local image, blurred, half = rg.field(rg.f32, n, n), rg.field(rg.f32, n, n), rg.field(rg.f32, n, n)
local strength = rg.field(rg.f32, n, n)
local direction, edge = rg.field(rg.i32, n, n), rg.field(rg.i32, n, n)
local weights = { 0.0545, 0.2442, 0.4026, 0.2442, 0.0545 }
local low, high = 0.12, 0.3

local start = rg.kernel(function()
  for i, j in rg.range(n, n) do
    local x, y = i / 32, j / 32
    local d = (x - math.floor(x) - 0.5) ^ 2 + (y - math.floor(y) - 0.5) ^ 2
    local disc = 0.0
    if d < 0.1 then disc = 0.6 end
    image[i][j] = disc + 0.25 * bench.noise(i * n + j) + 0.1 * math.sin(0.05 * (i + j))
  end
end)

local canny = rg.kernel(function()
  for i, j in rg.range(n, n) do
    local s = 0.0
    for k = -2, 2 do s = s + weights[k + 3] * image[i][math.max(0, math.min(n - 1, j + k))] end
    half[i][j] = s
  end
  for i, j in rg.range(n, n) do
    local s = 0.0
    for k = -2, 2 do s = s + weights[k + 3] * half[math.max(0, math.min(n - 1, i + k))][j] end
    blurred[i][j] = s
  end
  for i, j in rg.range({ 1, n - 1 }, { 1, n - 1 }) do
    local b = blurred
    local gx = b[i + 1][j - 1] + 2 * b[i + 1][j] + b[i + 1][j + 1]
      - b[i - 1][j - 1] - 2 * b[i - 1][j] - b[i - 1][j + 1]
    local gy = b[i - 1][j + 1] + 2 * b[i][j + 1] + b[i + 1][j + 1]
      - b[i - 1][j - 1] - 2 * b[i][j - 1] - b[i + 1][j - 1]
    strength[i][j] = math.sqrt(gx * gx + gy * gy)
    local angle = math.atan2(gy, gx) * 180 / math.pi
    if angle < 0 then angle = angle + 180 end
    direction[i][j] = math.floor((angle + 22.5) / 45) % 4
  end
  for i, j in rg.range(n, n) do
    local m, d, a, b = strength[i][j], direction[i][j]
    if d == 0 then
      a, b = strength[i + 1][j], strength[i - 1][j]
    elseif d == 1 then
      a, b = strength[i + 1][j + 1], strength[i - 1][j - 1]
    elseif d == 2 then
      a, b = strength[i][j + 1], strength[i][j - 1]
    else
      a, b = strength[i - 1][j + 1], strength[i + 1][j - 1]
    end
    local kind = 0
    if m >= a and m >= b then
      if m > high then
        kind = 2
      elseif m > low then
        kind = 1
      end
    end
    edge[i][j] = kind
  end
  local changed = 1
  while changed > 0 do
    local found = 0
    for i, j in rg.range({ 1, n - 1 }, { 1, n - 1 }) do
      if edge[i][j] == 1 then
        local touches = false
        for x = i - 1, i + 1 do
          for y = j - 1, j + 1 do
            if edge[x][y] == 2 then touches = true end
          end
        end
        if touches then
          edge[i][j] = 2
          found = found + 1
        end
      end
    end
    changed = found
  end
end)

local total = rg.kernel(function()
  local s = 0
  for i, j in rg.range(n, n) do
    if edge[i][j] == 2 then s = s + 1 end
  end
  return s
end)

bench.run { start = start, step = canny, checksum = total }
