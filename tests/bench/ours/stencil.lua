-- stencil.lua - W2: the 5-point step on a dense square, the 7-point step in a dense cube.
-- usage: stencil [axes] [cells per axis]
local rg, bench = require "regolith", require "bench"
local axes, n = bench.arguments(2, 4096)

local extents = axes == 2 and { n, n } or { n, n, n }
local x, y = rg.field(rg.f32, unpack(extents)), rg.field(rg.f32, unpack(extents))

local square = {
  fill = rg.kernel(function()
    for i, j in rg.range(n, n) do x[i][j] = bench.noise(i * n + j) end
  end),
  step = rg.kernel(function(a)
    for i, j in rg.range({ 1, n - 1 }, { 1, n - 1 }) do
      local c = x[i][j]
      y[i][j] = c + a * (x[i - 1][j] + x[i + 1][j] + x[i][j - 1] + x[i][j + 1] - 4 * c)
    end
  end),
  total = rg.kernel(function()
    local s = rg.f64(0)
    for i, j in rg.range(n, n) do s = s + y[i][j] end
    return s / n / n
  end),
}

local cube = {
  fill = rg.kernel(function()
    for i, j, k in rg.range(n, n, n) do x[i][j][k] = bench.noise((i * n + j) * n + k) end
  end),
  step = rg.kernel(function(a)
    for i, j, k in rg.range({ 1, n - 1 }, { 1, n - 1 }, { 1, n - 1 }) do
      local c = x[i][j][k]
      y[i][j][k] = c + a * (x[i - 1][j][k] + x[i + 1][j][k] + x[i][j - 1][k] + x[i][j + 1][k]
        + x[i][j][k - 1] + x[i][j][k + 1] - 6 * c)
    end
  end),
  total = rg.kernel(function()
    local s = rg.f64(0)
    for i, j, k in rg.range(n, n, n) do s = s + y[i][j][k] end
    return s / n / n / n
  end),
}

local grid = axes == 2 and square or cube
grid.fill()
bench.run { step = function() grid.step(0.1) end, checksum = grid.total }
