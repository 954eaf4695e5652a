-- grad_mpm.lua - MLS-MPM of a soft body in 2-D, in place, and the gradient of its final position.
-- usage: grad_mpm forward|both [particles] [nodes per axis] [steps]
local rg, bench = require "regolith", require "bench"
local phase, count, n, steps = bench.arguments("both", 4096, 64, 200)

local dt, dx, mu, lambda, gravity = 1e-3, 1 / n, 20, 20, 3.8
local function particles(T) return rg.field(T, count, { grad = true }) end
local function cells(T) return rg.field(T, n, n, { grad = true }) end
local x, v, C, F = particles(rg.vec2), particles(rg.vec2), particles(rg.mat2), particles(rg.mat2)
local momentum, mass, flow = cells(rg.vec2), cells(rg.f32), cells(rg.vec2)
local first = rg.field(rg.vec2, 1, { grad = true })
local loss = rg.field(rg.f32, 1, { grad = true })
first[0] = { 1, 0.5 }

local start = rg.kernel(function()
  for p in rg.range(count) do
    x[p] = rg.vec2(0.2 + 0.3 * (p % 64) / 64, 0.2 + 0.3 * math.floor(p / 64) / 64)
    v[p], C[p], F[p] = first[0], rg.mat2(0), rg.mat2(1, 0, 0, 1)
  end
end)

local clear = rg.kernel(function()
  for i, j in rg.range(n, n) do momentum[i][j], mass[i][j] = rg.vec2(0), 0 end
end)

local function weights(f)
  return rg.vec3(0.5 * (1.5 - f) ^ 2, 0.75 - (f - 1) ^ 2, 0.5 * (f - 0.5) ^ 2)
end

local scatter = rg.kernel(function()
  for p in rg.range(count) do
    local bx, by = math.floor(x[p].x / dx - 0.5), math.floor(x[p].y / dx - 0.5)
    local fx, fy = x[p].x / dx - bx, x[p].y / dx - by
    local wx, wy, one = weights(fx), weights(fy), rg.mat2(1, 0, 0, 1)
    local f = (one + dt * C[p]) * F[p]
    local stress = mu * (f * f:transpose()) + one * (lambda * math.log(f:determinant()) - mu)
    local affine = C[p] - (dt * 4 / dx / dx) * stress
    F[p] = f
    for i = 0, 2 do
      for j = 0, 2 do
        local w, d = wx[i] * wy[j], rg.vec2((i - fx) * dx, (j - fy) * dx)
        momentum[bx + i][by + j] = momentum[bx + i][by + j] + w * (v[p] + affine * d)
        mass[bx + i][by + j] = mass[bx + i][by + j] + w
      end
    end
  end
end)

local move = rg.kernel(function()
  for i, j in rg.range(n, n) do
    local u = rg.vec2(0)
    if mass[i][j] > 0 then
      u = momentum[i][j] / mass[i][j]
      local ux, uy = u.x, u.y - dt * gravity
      if i < 3 and ux < 0 then ux = 0 end
      if i > n - 3 and ux > 0 then ux = 0 end
      if j < 3 and uy < 0 then uy = 0 end
      if j > n - 3 and uy > 0 then uy = 0 end
      u = rg.vec2(ux, uy)
    end
    flow[i][j] = u
  end
end)

local gather = rg.kernel(function()
  for p in rg.range(count) do
    local bx, by = math.floor(x[p].x / dx - 0.5), math.floor(x[p].y / dx - 0.5)
    local fx, fy = x[p].x / dx - bx, x[p].y / dx - by
    local wx, wy, u, c = weights(fx), weights(fy), rg.vec2(0), rg.mat2(0)
    for i = 0, 2 do
      for j = 0, 2 do
        local g, w = flow[bx + i][by + j], wx[i] * wy[j]
        u, c = u + w * g, c + (4 / dx * w) * g:outer(rg.vec2(i - fx, j - fy))
      end
    end
    v[p], C[p], x[p] = u, c, x[p] + dt * u
  end
end)

local measure = rg.kernel(function()
  for p in rg.range(count) do loss[0] = loss[0] + x[p].x / count end
end)

local function simulate()
  loss[0] = 0
  start()
  for _ = 1, steps do
    clear()
    scatter()
    move()
    gather()
  end
  measure()
end

bench.run {
  step = phase == "forward" and simulate or function() rg.grad(loss, simulate) end,
  checksum = function()
    return phase == "forward" and loss[0] or first.grad[0].x + 10 * first.grad[0].y
  end,
}
