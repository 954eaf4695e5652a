-- quant_fluid.lua - a fluid in a square: semi-Lagrangian advection, and a projection by Jacobi
-- iteration; with f32, or with packed numbers in half of the memory.
-- usage: quant_fluid plain|packed [cells per axis]
local rg, bench = require "regolith", require "bench"
local kind, n = bench.arguments("packed", 1024)

local sweeps, dt = 20, 0.5
local velocity, pressure, shade = rg.vec2, rg.f32, rg.f32
if kind == "packed" then
  velocity = rg.vec(2, rg.fixed(16, { -4, 4 }))
  pressure, shade = rg.fixed(16, { -32, 32 }), rg.fixed(16, { 0, 1.25 })
end
local u, next_u = rg.field(velocity, n, n), rg.field(velocity, n, n)
local c, next_c = rg.field(shade, n, n), rg.field(shade, n, n)
local q, next_q = rg.field(pressure, n, n), rg.field(pressure, n, n)
local divergence = rg.field(pressure, n, n)

local fill = rg.kernel(function(vel, dye, p)
  for i, j in vel:active() do
    local x, y = i / n - 0.5, j / n - 0.5
    vel[i][j] = rg.vec2(math.sin(12 * y) * 1.5, math.sin(9 * x) * 1.5)
    dye[i][j] = (math.floor(i / 8) + math.floor(j / 8)) % 2
    p[i][j] = 0
  end
end)

local advect = rg.kernel(function(vel, next_vel, dye, next_dye)
  for I in vel:active():vec() do
    local at = I - dt * vel[I]
    next_vel[I] = vel:sample(at)
    next_dye[I] = dye:sample(at)
  end
end)

local diverge = rg.kernel(function(vel)
  for i, j in vel:active() do
    divergence[i][j] = 0.5 * (vel[i + 1][j].x - vel[i - 1][j].x + vel[i][j + 1].y
      - vel[i][j - 1].y)
  end
end)

local relax = rg.kernel(function(p, next_p)
  for i, j in p:active() do
    next_p[i][j] = 0.25 * (p[i + 1][j] + p[i - 1][j] + p[i][j + 1] + p[i][j - 1]
      - divergence[i][j])
  end
end)

local project = rg.kernel(function(vel, p)
  for i, j in vel:active() do
    vel[i][j] = vel[i][j] - 0.5 * rg.vec2(p[i + 1][j] - p[i - 1][j], p[i][j + 1] - p[i][j - 1])
  end
end)

local total = rg.kernel(function(vel, dye)
  local s = rg.f64(0)
  for I in vel:active():vec() do s = s + rg.dot(vel[I], vel[I]) + dye[I] end
  return s / n / n
end)

bench.run {
  start = function() fill(u, c, q) end,
  step = function()
    advect(u, next_u, c, next_c)
    u, next_u, c, next_c = next_u, u, next_c, c
    diverge(u)
    for _ = 1, sweeps do
      relax(q, next_q)
      q, next_q = next_q, q
    end
    project(u, q)
  end,
  checksum = function() return total(u, c) end,
}
