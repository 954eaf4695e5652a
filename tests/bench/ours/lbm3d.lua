-- lbm3d.lua - lattice Boltzmann in a periodic cube, nineteen directions, Taylor and Green's vortex.
-- usage: lbm3d [cells per axis]
local rg, bench = require "regolith", require "bench"
local n = bench.arguments(128)

local lattice = { type = rg.vec(19, rg.f32), shape = { n, n, n }, layout = "soa" }
local f, g = rg.field(lattice), rg.field(lattice)
local e, w = { { 0, 0, 0 } }, { 1 / 3 }
for a = -1, 1 do
  for b = -1, 1 do
    for c = -1, 1 do
      local length = a * a + b * b + c * c
      if length == 1 or length == 2 then
        e[#e + 1], w[#w + 1] = { a, b, c }, length == 1 and 1 / 18 or 1 / 36
      end
    end
  end
end
local omega = 1 / 0.6

local function equilibrium(q, rho, u)
  local along = 3 * (e[q][1] * u.x + e[q][2] * u.y + e[q][3] * u.z)
  return w[q] * rho * (1 + along + 0.5 * along * along - 1.5 * rg.dot(u, u))
end

local start = rg.kernel(function()
  for i, j, k in rg.range(n, n, n) do
    local p = 6.2831853 / n * rg.vec3(i, j, k)
    local u = 0.04 * rg.vec3(math.sin(p.x) * math.cos(p.y) * math.cos(p.z),
      -math.cos(p.x) * math.sin(p.y) * math.cos(p.z), 0)
    for q, _ in ipairs(e) do f[i][j][k][q - 1] = equilibrium(q, 1, u) end
  end
end)

local step = rg.kernel(function()
  for i, j, k in rg.range(n, n, n) do
    local h = rg.vec(19, rg.f32)(0)
    for q, d in ipairs(e) do
      h[q - 1] = f[(i - d[1] + n) % n][(j - d[2] + n) % n][(k - d[3] + n) % n][q - 1]
    end
    local rho, u = 0.0, rg.vec3(0)
    for q, d in ipairs(e) do
      rho = rho + h[q - 1]
      u = u + h[q - 1] * rg.vec3(d[1], d[2], d[3])
    end
    u = u / rho
    for q, _ in ipairs(e) do
      g[i][j][k][q - 1] = h[q - 1] + omega * (equilibrium(q, rho, u) - h[q - 1])
    end
  end
end)

local energy = rg.kernel(function()
  local s = rg.f64(0)
  for i, j, k in rg.range(n, n, n) do
    local rho, u = rg.f64(0), rg.dvec3(0)
    for q, d in ipairs(e) do
      rho = rho + f[i][j][k][q - 1]
      u = u + f[i][j][k][q - 1] * rg.dvec3(d[1], d[2], d[3])
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
