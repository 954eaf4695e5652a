-- grad_heat.lua - the heat equation with an axis for time, and the gradient of the final state
-- with respect to the conductivity. usage: grad_heat forward|both [points per axis] [steps]
local rg, bench = require "regolith", require "bench"
local phase, n, steps = bench.arguments("both", 512, 50)

local function field(...)
  local extents = { ... }
  extents[#extents + 1] = { grad = true }
  return rg.field(rg.f32, unpack(extents))
end
local u, conductivity, loss = field(steps + 1, n, n), field(n, n), field(1)

local start = rg.kernel(function()
  for i, j in rg.range(n, n) do
    conductivity[i][j] = 0.1 + 0.1 * bench.noise(i * n + j)
    u[0][i][j] = bench.noise(i * n + j + 7)
  end
end)
start()

local step = rg.kernel(function(t)
  for i, j in rg.range({ 1, n - 1 }, { 1, n - 1 }) do
    local c = u[t][i][j]
    u[t + 1][i][j] = c + conductivity[i][j]
      * (u[t][i - 1][j] + u[t][i + 1][j] + u[t][i][j - 1] + u[t][i][j + 1] - 4 * c)
  end
end)

local measure = rg.kernel(function()
  for i, j in rg.range(n, n) do loss[0] = loss[0] + u[steps][i][j] ^ 2 / (n * n) end
end)

local function simulate()
  loss[0] = 0
  for t = 0, steps - 1 do step(t) end
  measure()
end

local slope = rg.kernel(function()
  local sum = rg.f64(0)
  for i, j in rg.range(n, n) do sum = sum + math.abs(conductivity.grad[i][j]) end
  return sum
end)

bench.run {
  step = phase == "forward" and simulate or function() rg.grad(loss, simulate) end,
  checksum = function() return phase == "forward" and loss[0] or slope() end,
}
