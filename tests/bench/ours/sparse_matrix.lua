-- sparse_matrix.lua - the five-point matrix of a plate: products with a vector, or assembly from
-- the elements that a kernel adds. usage: sparse_matrix [product|assemble] [points per axis]
local rg, bench = require "regolith", require "bench"
local what, n = bench.arguments("product", 1000)

local A = rg.matrix(n * n)
local x, y = rg.array(rg.f64, n * n), rg.array(rg.f64, n * n)

local fill = rg.kernel(function()
  for i, j in rg.range(n, n) do
    local k = i * n + j
    A:add(k, k, 4)
    if i > 0 then A:add(k, k - n, -1) end
    if i < n - 1 then A:add(k, k + n, -1) end
    if j > 0 then A:add(k, k - 1, -1) end
    if j < n - 1 then A:add(k, k + 1, -1) end
  end
end)

local begin = rg.kernel(function() for k in rg.range(n * n) do x[k] = bench.noise(k) end end)

local total = rg.kernel(function()
  local s = rg.f64(0)
  for k in rg.range(n * n) do s = s + y[k] * (1 + k % 7) end
  return s
end)

begin()
fill()
A:assemble()
bench.run {
  step = function()
    if what == "product" then return A:apply(x, y) end
    A:clear()
    fill()
    A:assemble()
  end,
  checksum = function()
    A:apply(x, y)
    return total()
  end }
