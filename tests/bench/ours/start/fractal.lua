-- The README's kernel, once.
local rg = require "regolith"
local n = 512
local pixel = rg.field(rg.f32, n, n)
local paint = rg.kernel(function(cx, cy)
  for i, j in rg.range(n, n) do
    local x, y, steps = 3.0 * i / n - 1.5, 3.0 * j / n - 1.5, 0
    while x * x + y * y < 16.0 and steps < 100 do
      x, y = x * x - y * y + cx, 2.0 * x * y + cy
      steps = steps + 1
    end
    pixel[i][j] = steps / 100
  end
end)
paint(-0.8, 0.156)
assert(pixel[256][256] > 0)
