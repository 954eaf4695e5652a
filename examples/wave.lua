-- wave.lua - water waves through a wall with two gaps: the 2-D wave equation, with swapped buffers.
-- Numerics. Run it with:  examples/run wave
--
-- A point keeps moving as it did, and is pulled toward the mean of its neighbours. The next state
-- needs the current and the previous one; it may replace the latter, which a point reads only where
-- it writes.
local rg = require "regolith"

local folder = arg and arg[1] or "."
local n, frames, steps = 400, 90, 6
local params = { swell = 0.06, pace = 0.22 }
-- position of the wall; half the width of a gap; half the distance between the gaps
local wall, gap, apart = 150, 12, 60

local now, before = rg.field(rg.f32, n, n), rg.field(rg.f32, n, n)
-- squared, in cells per step: below 1/2, or the waves grow without bound
local speed = rg.field(rg.f32, n, n)

-- Plain Lua functions are compiled into the kernels that call them.
local function is_gap(j)
  return math.abs(math.abs(j - n / 2) - apart) <= gap
end

-- Damps waves toward the edges of the grid, so that they are not reflected.
local function calm(i, j)
  local edge = math.min(i, j, n - 1 - i, n - 1 - j)
  if edge >= 40 then return 1 end
  local depth = 1 - edge / 40
  return 1 - 0.12 * depth * depth
end

local build = rg.kernel(function()
  for i, j in rg.range(n, n) do
    local is_wall = math.abs(i - wall) <= 2 and not is_gap(j)
    speed[i][j] = is_wall and 0 or 0.25
  end
end)

local step = rg.kernel(function(push)
  for i, j in rg.range(n, n) do
    local h = now[i][j]
    local pull = now[i - 1][j] + now[i + 1][j] + now[i][j - 1] + now[i][j + 1] - 4 * h
    local next_h = h + calm(i, j) * (h - before[i][j]) + speed[i][j] * pull
    if i == 60 then next_h = next_h + push * calm(60, j) end  -- a straight row of paddles
    before[i][j] = next_h
  end
end)

-- The swell, and the wall in white.
local picture = rg.field(rg.f32, n, n)
local paint = rg.kernel(function()
  for i, j in rg.range(n, n) do
    local level = 0.45 + 0.9 * now[i][j]
    picture[i][j] = speed[i][j] == 0 and 1 or math.min(math.max(level, 0), 0.95)
  end
end)

-- Integer sums do not depend on the order, so this number is the same on every run and machine.
local total = rg.kernel(function()
  local sum = 0LL
  for i, j in rg.range(n, n) do sum = sum + rg.i64(1000 * now[i][j] * now[i][j]) end
  return sum
end)

local drop = rg.kernel(function(a, b)                 -- a hill and a moat of the same volume
  for i, j in rg.range(n, n) do
    local d = ((i - a) * (i - a) + (j - b) * (j - b)) / 50
    local push = 0.2 * (1 - d) * math.exp(-d)
    now[i][j], before[i][j] = now[i][j] + push, before[i][j] + push
  end
end)

local count = 0
local function run()
  for _ = 1, steps do
    count = count + 1
    step(params.swell * math.sin(params.pace * (steps + count)))
    now, before = before, now -- swaps the buffers: captures are read at every launch
  end
end

local look = { low = 0, high = 1, palette = "heat" }
build()
rg.live { params = params, step = run,
  reset = function() now:fill(0) before:fill(0) end,
  touch = function(x, y) drop(x * n, y * n) end,
  draw = function(w) paint() w:show(picture, look) end,
  otherwise = function()
    for frame = 1, frames do
      run()
      if frame % 30 == 0 then
        paint()
        rg.image.write(("%s/wave_%03d.png"):format(folder, frame), picture, look)
      end
    end
    print(("checksum %d"):format(tonumber(total())))
  end }
