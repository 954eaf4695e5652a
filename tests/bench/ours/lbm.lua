-- lbm.lua - W12: lattice Boltzmann in a periodic square, nine directions, a double shear layer.
-- usage: lbm soa|aos [cells per axis]
local rg, bench = require "regolith", require "bench"
local layout, n = bench.arguments("soa", 1024)

local lattice = { type = rg.vec(9, rg.f32), shape = { n, n }, layout = layout }
local f, g = rg.field(lattice), rg.field(lattice)
local e = { { 0, 0 }, { 1, 0 }, { -1, 0 }, { 0, 1 }, { 0, -1 }, { 1, 1 }, { -1, -1 }, { 1, -1 },
  { -1, 1 } }
local w = { 4 / 9, 1 / 9, 1 / 9, 1 / 9, 1 / 9, 1 / 36, 1 / 36, 1 / 36, 1 / 36 }
local omega = 1 / 0.6

local function equilibrium(q, rho, u)
  local along = 3 * (e[q][1] * u.x + e[q][2] * u.y)
  return w[q] * rho * (1 + along + 0.5 * along * along - 1.5 * rg.dot(u, u))
end

local start = rg.kernel(function()
  for i, j in rg.range(n, n) do
    local x, y = i / n, j / n
    local u = rg.vec2(0.04 * math.tanh(y <= 0.5 and 20 * (y - 0.25) or 20 * (0.75 - y)),
      0.002 * math.sin(6.2831853 * (x + 0.25)))
    for q, _ in ipairs(e) do f[i][j][q - 1] = equilibrium(q, 1, u) end
  end
end)

local step = rg.kernel(function()
  for i, j in rg.range(n, n) do
    local h = rg.vec(9, rg.f32)(0)
    for q, d in ipairs(e) do h[q - 1] = f[(i - d[1] + n) % n][(j - d[2] + n) % n][q - 1] end
    local rho, u = 0.0, rg.vec2(0)
    for q, d in ipairs(e) do
      rho = rho + h[q - 1]
      u = u + h[q - 1] * rg.vec2(d[1], d[2])
    end
    u = u / rho
    for q, _ in ipairs(e) do
      g[i][j][q - 1] = h[q - 1] + omega * (equilibrium(q, rho, u) - h[q - 1])
    end
  end
end)

local energy = rg.kernel(function()
  local s = rg.f64(0)
  for i, j in rg.range(n, n) do
    local rho, u = rg.f64(0), rg.dvec2(0)
    for q, d in ipairs(e) do
      rho = rho + f[i][j][q - 1]
      u = u + f[i][j][q - 1] * rg.dvec2(d[1], d[2])
    end
    s = s + rg.dot(u, u) / rho
  end
  return s
end)

bench.run {
  start = start,
  step = function()
    step()
    f, g = g, f
  end,
  checksum = energy,
}
