-- eikonal.lua - the eikonal equation around obstacles by fast sweeping: Gauss-Seidel in four
-- directions. usage: eikonal [cells per axis]
local rg, bench = require "regolith", require "bench"
local n = bench.arguments(512)

local h, far = 1 / n, 1e3
local time, slowness = rg.field(rg.f32, n, n), rg.field(rg.f32, n, n)

local start = rg.kernel(function()
  for i, j in rg.range(n, n) do
    local x, y = i * h, j * h
    slowness[i][j] = 1 + 0.5 * math.sin(9 * x) * math.cos(7 * y)
    time[i][j] = i == math.floor(n / 3) and j == math.floor(n / 4) and 0 or far
  end
end)

local function relax(i, j)
  local a, b = far, far
  if i > 0 then a = time[i - 1][j] end
  if i < n - 1 then a = math.min(a, time[i + 1][j]) end
  if j > 0 then b = time[i][j - 1] end
  if j < n - 1 then b = math.min(b, time[i][j + 1]) end
  local f = slowness[i][j] * h
  local t = math.min(a, b) + f
  if math.abs(a - b) < f then t = 0.5 * (a + b + math.sqrt(2 * f * f - (a - b) * (a - b))) end
  time[i][j] = math.min(time[i][j], t)
end

local sweep = rg.kernel(function()
  for i = 0, n - 1 do
    for j = 0, n - 1 do relax(i, j) end
  end
  for i = n - 1, 0, -1 do
    for j = 0, n - 1 do relax(i, j) end
  end
  for i = n - 1, 0, -1 do
    for j = n - 1, 0, -1 do relax(i, j) end
  end
  for i = 0, n - 1 do
    for j = n - 1, 0, -1 do relax(i, j) end
  end
end)

local total = rg.kernel(function()
  local s = rg.f64(0)
  for i, j in rg.range(n, n) do s = s + time[i][j] end
  return s / n / n
end)

bench.run { start = start, step = sweep, checksum = total }
