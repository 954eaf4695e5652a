-- heat.lua - a sphere of heat grows through a sparse grid: its blocks are created and freed.
-- Numerics. Run it with:  examples/run heat
--
-- The grid has 256^3 cells in 32^3 blocks, and memory only for blocks that are warm: a shell.
local rg = require "regolith"

local folder = arg and arg[1] or "."
local n, leaf, frames = 256, 8, 100
local params = { rate = { 0.15, 0, 0.16 }, keep = { 0.92, 0.8, 1 } }
local mid = n / 2

-- The tree: 32^3 slots for blocks, none of which exists yet; in each block 8^3 cells of two
-- temperatures, now and next, and one number for the block as a whole.
local t, next_t, peak = rg.field(rg.f32), rg.field(rg.f32), rg.field(rg.f32)
local block = rg.root:pointer("ijk", n / leaf, { name = "block" })
block:dense("ijk", leaf):place(t, next_t)
block:place(peak)

-- One step of diffusion, with a little loss of heat. `t:active()` visits the cells of blocks that
-- exist, in parallel. Reading where no block exists gives zero.
local step = rg.kernel(function(rate, keep)
  for i, j, k in t:active() do
    local c = t[i][j][k]
    next_t[i][j][k] = keep * (c + rate * (t[i - 1][j][k] + t[i + 1][j][k] + t[i][j - 1][k]
      + t[i][j + 1][k] + t[i][j][k - 1] + t[i][j][k + 1] - 6.0 * c))
  end
end)

-- The source: a thin sphere around the middle of the grid is held at temperature 1.
local ignite = rg.kernel(function(radius)
  for i, j, k in t:active() do
    local x, y, z = i - mid, j - mid, k - mid
    local d2 = x * x + y * y + z * z
    if d2 >= (radius - 1.5) * (radius - 1.5) and d2 <= radius * radius then t[i][j][k] = 1.0 end
  end
end)

-- Creates and frees blocks. `block:active()` visits blocks, with block indices. The three loops run
-- in sequence.
local tend = rg.kernel(function(cold, warm)
  for i, j, k in block:active() do
    -- a compile-time constant: cells of the block are found directly
    local most, m = 0.0, rg.static(leaf)
    for a = 0, m - 1 do                          -- an ordinary Lua loop: both ends included
      for b = 0, m - 1 do
        for c = 0, m - 1 do most = math.max(most, t[m * i + a][m * j + b][m * k + c]) end
      end
    end
    peak[i][j][k] = most
  end
  for i, j, k in block:active() do               -- cold blocks are freed
    if peak[i][j][k] < cold then block:deactivate(i, j, k) end
  end
  for i, j, k in block:active() do               -- warm ones create their neighbours
    if peak[i][j][k] > warm then
      block:activate(i - 1, j, k)
      block:activate(i + 1, j, k)
      block:activate(i, j - 1, k)
      block:activate(i, j + 1, k)
      block:activate(i, j, k - 1)
      block:activate(i, j, k + 1)
    end
  end
end)

-- A slice through the middle, as a dense picture.
local picture = rg.field(rg.f32, n, n)
local slice = rg.kernel(function()
  for i, j in rg.range(n, n) do picture[i][j] = t[i][j][mid] end
end)

-- Integer sums do not depend on the order, so this number is the same on every run and machine.
local total = rg.kernel(function()
  local sum = 0LL
  for i, j, k in t:active() do sum = sum + rg.i64(1000 * t[i][j][k]) end
  return sum
end)

local frame = 0
local function run()
  if frame % 120 == 0 then t[mid][mid][mid] = 1 end -- writing an element creates its block
  frame = frame + 1
  ignite(1.0 + frame % 120)
  for _ = 1, 2 do
    step(params.rate, params.keep)
    t, next_t = next_t, t -- swaps the buffers: captures are read at every launch
  end
  tend(0.02, 0.2)
end

local function reset()
  frame = 0
  block:clear()
end

local look = { low = 0, high = 1, palette = "heat" }
rg.live { params = params, reset = reset, step = run,
  touch = function(x, y) t[math.floor(x * n)][math.floor(y * n)][mid] = 20 end,
  draw = function(w)
    slice()
    w:show(picture, look)
    w:watch("blocks", block:count())
  end,
  otherwise = function()
    for _ = 1, frames do
      run()
      if frame % 10 == 0 then
        print(("frame %3d: %5d blocks, %6.1f MiB"):format(frame, block:count(), rg.memory().live
          / 2 ^ 20))
      end
      if frame % 25 == 0 then
        slice()
        rg.image.write(("%s/heat_%03d.png"):format(folder, frame), picture, look)
      end
    end
    print(("checksum %d"):format(tonumber(total())))
  end }
