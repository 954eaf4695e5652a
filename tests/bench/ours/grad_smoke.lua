-- grad_smoke.lua - smoke whose initial velocity is optimised to reach a target picture: advection,
-- pressure by Jacobi iteration, and the gradient with respect to that velocity. Fields have an axis
-- for time. usage: grad_smoke forward|both [cells per axis] [steps]
local rg, bench = require "regolith", require "bench"
local phase, n, steps = bench.arguments("both", 128, 20)
local rounds = 6

local function field(T, ...)
  local extents = { ... }
  extents[#extents + 1] = { grad = true }
  return rg.field(T, unpack(extents))
end
local v, bent = field(rg.vec2, steps + 1, n, n), field(rg.vec2, steps, n, n)
local density = field(rg.f32, steps + 1, n, n)
local divergence = field(rg.f32, steps, n, n)
local pressure = field(rg.f32, steps * (rounds + 1), n, n)
local loss, wanted = field(rg.f32, 1), rg.field(rg.f32, n, n)

local start = rg.kernel(function()
  for i, j in rg.range(n, n) do
    local a, b = (i - 0.5 * n) / n, (j - 0.5 * n) / n
    v[0][i][j] = rg.vec2(2 * b, 1 - 3 * a)
    density[0][i][j] = a * a + b * b < 0.04 and 1 or 0
    wanted[i][j] = bench.noise(i * n + j)
  end
end)
start()

local function sample(x, t, at)
  local bx, by = math.floor(at.x), math.floor(at.y)
  local fx, fy = at.x - bx, at.y - by
  local i, j, k, l = bx % n, by % n, (bx + 1) % n, (by + 1) % n
  return (1 - fx) * ((1 - fy) * x[t][i][j] + fy * x[t][i][l])
    + fx * ((1 - fy) * x[t][k][j] + fy * x[t][k][l])
end

local advect = rg.kernel(function(t)
  for i, j in rg.range(n, n) do
    local from = rg.vec2(i, j) - v[t][i][j]
    bent[t][i][j] = sample(v, t, from)
    density[t + 1][i][j] = sample(density, t, from)
  end
end)

local diverge = rg.kernel(function(t)
  for i, j in rg.range(n, n) do
    divergence[t][i][j] = 0.5 * (bent[t][(i + 1) % n][j].x - bent[t][(i - 1) % n][j].x
      + bent[t][i][(j + 1) % n].y - bent[t][i][(j - 1) % n].y)
  end
end)

local relax = rg.kernel(function(t, k)
  for i, j in rg.range(n, n) do
    pressure[k + 1][i][j] = 0.25 * (pressure[k][(i + 1) % n][j] + pressure[k][(i - 1) % n][j]
      + pressure[k][i][(j + 1) % n] + pressure[k][i][(j - 1) % n] - divergence[t][i][j])
  end
end)

local project = rg.kernel(function(t, k)
  for i, j in rg.range(n, n) do
    v[t + 1][i][j] = bent[t][i][j] - 0.5 * rg.vec2(
      pressure[k][(i + 1) % n][j] - pressure[k][(i - 1) % n][j],
      pressure[k][i][(j + 1) % n] - pressure[k][i][(j - 1) % n])
  end
end)

local measure = rg.kernel(function()
  for i, j in rg.range(n, n) do
    loss[0] = loss[0] + (density[steps][i][j] - wanted[i][j]) ^ 2 / (n * n)
  end
end)

local function simulate()
  loss[0] = 0
  for t = 0, steps - 1 do
    local first = t * (rounds + 1)
    advect(t)
    diverge(t)
    for k = first, first + rounds - 1 do relax(t, k) end
    project(t, first + rounds)
  end
  measure()
end

local slope = rg.kernel(function()
  local sum = rg.f64(0)
  for i, j in rg.range(n, n) do
    sum = sum + math.abs(v.grad[0][i][j].x) + math.abs(v.grad[0][i][j].y)
  end
  return sum
end)

bench.run {
  step = phase == "forward" and simulate or function() rg.grad(loss, simulate) end,
  checksum = function() return phase == "forward" and loss[0] or slope() end,
}
