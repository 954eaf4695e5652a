-- fractal.lua - a first kernel: every pixel of a Julia set, in parallel, into a picture.
-- Rendering. Run it with:  examples/run fractal
local rg = require "regolith"

local folder = arg and arg[1] or "."
local n = 512

-- A field of n x n floats. With its size given it is dense: every element exists.
local pixel = rg.field(rg.f32, n, n)

-- A kernel is an ordinary Lua function. It is parsed here and compiled at its first call.
local paint = rg.kernel(function(cx, cy)
  -- parallel: i and j run from 0 to n - 1, in no particular order
  for i, j in rg.range(n, n) do
    local x, y, steps = 3.0 * i / n - 1.5, 3.0 * j / n - 1.5, 0
    while x * x + y * y < 16.0 and steps < 100 do -- serial: inside one iteration
      x, y = x * x - y * y + cx, 2.0 * x * y + cy
      steps = steps + 1
    end
    pixel[i][j] = steps / 100                     -- 0 outside, 1 where the orbit stays
  end
end)

-- A local that a parallel loop adds to is a sum over all iterations; a kernel may return it.
local count_inside = rg.kernel(function()
  local inside = 0
  for i, j in rg.range(n, n) do
    if pixel[i][j] > 0.5 then inside = inside + 1 end
  end
  return inside
end)

-- In a window the mouse chooses the set; without one, this is a picture.
local params = { c = rg.vec2(-0.8, 0.156) }
rg.live { params = params, step = function() paint(params.c.x, params.c.y) end,
  touch = function(x, y) params.c = rg.vec2(2 * x - 1.5, 2 * y - 1) end,
  draw = function(w) w:show(pixel, { low = 0, high = 1, palette = "heat" }) end,
  otherwise = function()
    paint(-0.8, 0.156)
    rg.image.write(folder .. "/fractal.png", pixel, { low = 0, high = 1, palette = "heat" })
    print(("the middle pixel is %.2f"):format(pixel[n / 2][n / 2])) -- reads an element from Lua
    print(("checksum %d"):format(count_inside()))
  end }
