-- plasma.lua - particle-in-cell, the two-stream instability: electrons deposit charge on a grid,
-- relaxation gives the potential, and its field accelerates the electrons.
-- usage: plasma [electrons] [cells per axis] [sweeps]
local rg, bench = require "regolith", require "bench"
local count, n, sweeps = bench.arguments(262144, 128, 20)

local dt = 0.05
local x, v = rg.field(rg.vec2, count), rg.field(rg.vec2, count)
local rho, phi, phi2 = rg.field(rg.f32, n, n), rg.field(rg.f32, n, n), rg.field(rg.f32, n, n)
local E = rg.field(rg.vec2, n, n)

local start = rg.kernel(function()
  for p in rg.range(count) do
    x[p] = rg.vec2(bench.noise(3 * p), bench.noise(3 * p + 1)) * n
    v[p] = rg.vec2((p % 2 * 2 - 1) * (1 + 0.1 * bench.noise(3 * p + 2)), 0)
  end
  for i, j in rg.range(n, n) do phi[i][j] = 0 end
end)

local deposit = rg.kernel(function()
  for i, j in rg.range(n, n) do rho[i][j] = -1 end
  for p in rg.range(count) do
    local base = rg.floor(x[p])
    local f = x[p] - base
    local i, j = base.x % n, base.y % n
    local k, l = (i + 1) % n, (j + 1) % n
    local q = n * n / count
    rho[i][j] = rho[i][j] + q * (1 - f.x) * (1 - f.y)
    rho[k][j] = rho[k][j] + q * f.x * (1 - f.y)
    rho[i][l] = rho[i][l] + q * (1 - f.x) * f.y
    rho[k][l] = rho[k][l] + q * f.x * f.y
  end
end)

local relax = rg.kernel(function(a, b)
  for i, j in rg.range(n, n) do
    b[i][j] = 0.25 * (a[(i + 1) % n][j] + a[(i + n - 1) % n][j] + a[i][(j + 1) % n]
      + a[i][(j + n - 1) % n] + rho[i][j])
  end
end)

local push = rg.kernel(function()
  for i, j in rg.range(n, n) do
    E[i][j] = 0.5 * rg.vec2(phi[(i + n - 1) % n][j] - phi[(i + 1) % n][j],
      phi[i][(j + n - 1) % n] - phi[i][(j + 1) % n])
  end
  for p in rg.range(count) do
    local base = rg.floor(x[p])
    local f = x[p] - base
    local i, j = base.x % n, base.y % n
    local k, l = (i + 1) % n, (j + 1) % n
    local e = (1 - f.x) * (1 - f.y) * E[i][j] + f.x * (1 - f.y) * E[k][j]
      + (1 - f.x) * f.y * E[i][l] + f.x * f.y * E[k][l]
    v[p] = v[p] - dt * e
    local at = x[p] + dt * v[p]
    x[p] = at - n * rg.floor(at / n)
  end
end)

local total = rg.kernel(function()
  local s = rg.f64(0)
  for p in rg.range(count) do s = s + v[p]:dot(v[p]) end
  return s / count
end)

bench.run {
  start = start,
  step = function()
    deposit()
    for _ = 1, sweeps / 2 do
      relax(phi, phi2)
      relax(phi2, phi)
    end
    push()
  end,
  checksum = total,
}
