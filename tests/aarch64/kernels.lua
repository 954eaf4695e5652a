-- kernels.lua - what tests/aarch64 runs on both machines: its results must agree to the last bit.
local rg = require "regolith"

local n = 300
local x, y = rg.field(rg.f32, n), rg.field(rg.f64, n)
local half, small = rg.field(rg.f16, n), rg.field(rg.i8, n)
local whole, wide = rg.field(rg.i32, n), rg.field(rg.i64, n)
local counts = rg.field(rg.i32, 16)
local grid = rg.field(rg.f32)
local block = rg.root:pointer("ij", 16)
local cells = block:bitmasked("ij", 8)
cells:place(grid)
local list = rg.root:dynamic("k", 4096, { chunk = 64 })
local item = rg.field(rg.i32)
list:place(item)

-- Mathematics in vectors, of both widths, beyond the range of the fast paths too.
local maths = rg.kernel(function()
  for i in rg.range(n) do
    local t = (i - 150) * 0.37
    x[i] = math.sin(t) + math.exp(t * 0.1) + math.atan2(t, 3) + math.sqrt(math.abs(t))
    y[i] = math.cos(t * 1e5) + math.log(math.abs(t) + 1e-9) + math.abs(t) ^ 1.7 + math.tanh(t)
    half[i] = t * 1.001
  end
end)
-- Integers: division, remainders and shifts at their ends, conversions out of range.
local integers = rg.kernel(function()
  for i in rg.range(n) do
    whole[i] = (i * 7919 - 1000000) // (i % 7 - 3) + (i * 31) % (i % 5 - 2)
    wide[i] = rg.i64(i) * 123456789012 // (i % 9 - 4) + rg.i64(y[i] * 1e6)
    small[i] = i * 3
  end
end)
-- Atomics, activation from all threads, appends.
local sparse = rg.kernel(function()
  for i in rg.range(20000) do
    counts:add(i * 7 % 16, i % 5)
    local a, b = (i * 37) % 128, (i * 101) % 128
    grid[a][b] = rg.f32(a * 1000 + b)
    if i % 17 == 0 then list:append(i) end
  end
end)
local shrink = rg.kernel(function()
  for i, j in grid:active() do
    if (i + j) % 3 == 0 then cells:deactivate(i, j) end
  end
end)
local stencil = rg.kernel(function()
  local sum = 0.0
  for i, j in grid:active() do sum = sum + (grid[i][j] + grid[i + 1][j] - 2 * grid[i][j + 1]) end
  return sum
end)
-- Errors come back.
local outside = rg.kernel(function(k) for i in rg.range(4) do x[i + k] = 1 end end)

-- An adjoint, whose kernel has lanes, and a loop that runs backwards.
local slope, loss = rg.field(rg.f32, n, { grad = true }), rg.field(rg.f64, 1, { grad = true })
local curve = rg.kernel(function()
  for i in rg.range(n) do
    local v = math.exp(0.01 * i) * math.sin(slope[i])
    for _ = 1, 5 do v = v * slope[(i + 7) % n] + 0.5 end
    loss[0] = loss[0] + v
  end
end)

maths() integers() sparse() stencil() shrink() outside(0)
rg.export({ maths = maths, integers = integers, sparse = sparse, stencil = stencil, shrink = shrink,
  outside = outside, x = x, y = y, half = half, small = small, whole = whole, wide = wide,
  counts = counts, grid = grid, item = item, list = list, slope = slope, loss = loss,
  curve = { curve, grad = true } }, { name = "kernels" })
