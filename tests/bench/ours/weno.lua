-- weno.lua - level-set advection in a vortex: fifth-order WENO in space, third-order Runge-Kutta in
-- time, periodic. usage: weno [cells per axis]
local rg, bench = require "regolith", require "bench"
local n = bench.arguments(512)

local h = 1 / n
local dt = 0.3 * h
local phi, phi1, phi2 = rg.field(rg.f32, n, n), rg.field(rg.f32, n, n), rg.field(rg.f32, n, n)
local velocity = rg.field(rg.vec2, n, n)

local start = rg.kernel(function()
  for i, j in rg.range(n, n) do
    local x, y = (i + 0.5) * h, (j + 0.5) * h
    phi[i][j] = math.sqrt((x - 0.5) ^ 2 + (y - 0.75) ^ 2) - 0.15
    local sx, sy = math.sin(math.pi * x), math.sin(math.pi * y)
    velocity[i][j] = rg.vec2(-sx * sx * math.sin(2 * math.pi * y),
      sy * sy * math.sin(2 * math.pi * x))
  end
end)

local function weno(a, b, c, d, e)
  local s0 = 13 / 12 * (a - 2 * b + c) ^ 2 + 0.25 * (a - 4 * b + 3 * c) ^ 2
  local s1 = 13 / 12 * (b - 2 * c + d) ^ 2 + 0.25 * (b - d) ^ 2
  local s2 = 13 / 12 * (c - 2 * d + e) ^ 2 + 0.25 * (3 * c - 4 * d + e) ^ 2
  local w0, w1, w2 = 0.1 / (1e-6 + s0) ^ 2, 0.6 / (1e-6 + s1) ^ 2, 0.3 / (1e-6 + s2) ^ 2
  return (w0 * (2 * a - 7 * b + 11 * c) + w1 * (-b + 5 * c + 2 * d) + w2 * (2 * c + 5 * d - e))
    / (6 * (w0 + w1 + w2))
end

local function along_x(f, i, j) return (f[(i + 1 + n) % n][j] - f[(i + n) % n][j]) / h end
local function along_y(f, i, j) return (f[i][(j + 1 + n) % n] - f[i][(j + n) % n]) / h end

local function change(f, i, j)
  local v = velocity[i][j]
  local fx, fy
  if v.x > 0 then
    fx = weno(along_x(f, i - 3, j), along_x(f, i - 2, j), along_x(f, i - 1, j), along_x(f, i, j),
      along_x(f, i + 1, j))
  else
    fx = weno(along_x(f, i + 2, j), along_x(f, i + 1, j), along_x(f, i, j), along_x(f, i - 1, j),
      along_x(f, i - 2, j))
  end
  if v.y > 0 then
    fy = weno(along_y(f, i, j - 3), along_y(f, i, j - 2), along_y(f, i, j - 1), along_y(f, i, j),
      along_y(f, i, j + 1))
  else
    fy = weno(along_y(f, i, j + 2), along_y(f, i, j + 1), along_y(f, i, j), along_y(f, i, j - 1),
      along_y(f, i, j - 2))
  end
  return -(v.x * fx + v.y * fy)
end

local step = rg.kernel(function()
  for i, j in rg.range(n, n) do phi1[i][j] = phi[i][j] + dt * change(phi, i, j) end
  for i, j in rg.range(n, n) do
    phi2[i][j] = 0.75 * phi[i][j] + 0.25 * (phi1[i][j] + dt * change(phi1, i, j))
  end
  for i, j in rg.range(n, n) do
    phi[i][j] = (phi[i][j] + 2 * (phi2[i][j] + dt * change(phi2, i, j))) / 3
  end
end)

local total = rg.kernel(function()
  local s = rg.f64(0)
  for i, j in rg.range(n, n) do s = s + math.abs(phi[i][j]) * (i % 7) end
  return s / (n * n)
end)

bench.run { start = start, step = step, checksum = total }
