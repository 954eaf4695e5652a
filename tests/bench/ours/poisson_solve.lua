-- poisson_solve.lua - Poisson's equation in a cube, to a residual of 1e-4 of the right-hand side:
-- one call, conjugate gradients with multigrid. usage: poisson_solve [cells per axis]
local rg, bench = require "regolith", require "bench"
local n = bench.arguments(128)

local x, b = rg.field(rg.f32, n, n, n), rg.field(rg.f32, n, n, n)

rg.kernel(function()
  for i, j, k in rg.range(n, n, n) do
    local p, q, r = i / n - 0.5, j / n - 0.5, k / n - 0.5
    b[i][j][k] = math.sin(7 * p) * math.sin(9 * q + 1) * math.sin(11 * r + 2)
  end
end)()

local function laplacian(p, i, j, k)
  return 6 * p[i][j][k] - p[i - 1][j][k] - p[i + 1][j][k] - p[i][j - 1][k] - p[i][j + 1][k]
    - p[i][j][k - 1] - p[i][j][k + 1]
end

bench.run {
  start = function() x:fill(0) end,
  step = function()
    rg.solve.cg { stencil = laplacian, x = x, b = b, tolerance = 1e-4,
      preconditioner = "multigrid" }
  end,
  checksum = function() return x:norm() / n ^ 2.5 end }
