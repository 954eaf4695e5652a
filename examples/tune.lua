-- tune.lua - finds out which of several kernels is fastest, while they are used.
-- Running. Run it with:  examples/run tune
-- No window: it shows times, and blurs one picture.
--
-- Tunes three ways to blur a picture, and the number of threads and the chunk size of a kernel.
-- Each call is a trial of one way; nothing runs twice. Results are kept on disk: where they were
-- conclusive, a second run of this script tries nothing.
local rg = require "regolith"

local folder = arg and arg[1] or "."
local n, steps = 256, 400

rg.init { tune = "online" }
local x, y, half = rg.field(rg.f32, n, n), rg.field(rg.f32, n, n), rg.field(rg.f32, n, n)

-- 1: the 25 neighbours of a cell at once
local direct = rg.kernel(function(from, to)
  for i, j in rg.range({ 2, n - 2 }, { 2, n - 2 }) do
    local sum = 0.0
    for a in rg.static(rg.range({ -2, 3 })) do
      for b in rg.static(rg.range({ -2, 3 })) do sum = sum + from[i + a][j + b] end
    end
    to[i][j] = sum / 25
  end
end)

-- 2: rows, then columns: 10 neighbours, but two loops over memory
local rows = rg.kernel(function(from, to)
  for i, j in rg.range(n, { 2, n - 2 }) do
    to[i][j] = (from[i][j - 2] + from[i][j - 1] + from[i][j] + from[i][j + 1] + from[i][j + 2]) / 5
  end
end)
local columns = rg.kernel(function(from, to)
  for i, j in rg.range({ 2, n - 2 }, { 2, n - 2 }) do
    to[i][j] = (from[i - 2][j] + from[i - 1][j] + from[i][j] + from[i + 1][j] + from[i + 2][j]) / 5
  end
end)
local function separable(from, to)
  rows(from, half)
  columns(half, to)
end

-- 3: one column after the other, which wastes cache lines
local by_columns = rg.kernel(function(from, to)
  for j in rg.range({ 2, n - 2 }) do
    for i = 2, n - 3 do
      local sum = 0.0
      for a = -2, 2 do
        for b = -2, 2 do sum = sum + from[i + a][j + b] end
      end
      to[i][j] = sum / 25
    end
  end
end)

-- A set is called like each of its candidates.
local blur = rg.tune {
  key = "examples/tune.lua: blur",
  candidates = { direct, separable, by_columns },
  names = { "direct", "separable", "by columns" },
  budget = 0.5, -- the share of the time that may go into trials, here for a quick show; else 0.05
}

-- A kernel is tuned automatically once it has run for a tenth of a second: the number of threads,
-- the chunk size, private copies or atomic updates.
local bins = rg.field(rg.i32, 256)
local count = rg.kernel(function(from)
  for i, j in from:active() do
    local k = math.floor(from[i][j] * 256)
    bins[k] = bins[k] + 1
  end
end)

local tiles = rg.kernel(function(to)
  for i, j in rg.range(n, n) do
    local tile = (math.floor(i / 96) + math.floor(j / 96)) % 2
    to[i][j] = 0.1 + 0.6 * tile + 0.299 * rg.random(rg.f32)
  end
end)

tiles(x)
y:copy_from(x) -- the rim, which stays as it is
half:copy_from(x)
for _ = 1, steps do
  blur(x, y)
  count(y)
  x, y = y, x
end

print(("%d steps; tuning is \"%s\""):format(steps, rg.info().tune))
print("blur: " .. blur:tuned())
print("count: " .. count:tuned())

rg.image.write(folder .. "/tune.png", x, { palette = "viridis" })
local sum = 0
for k = 0, 255 do sum = sum + bins[k] end
print("checksum " .. sum) -- every cell was counted once in every step, whatever was tried
