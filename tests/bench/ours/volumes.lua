-- volumes.lua - the Euler equations of a gas by finite volumes: limited slopes and Rusanov fluxes,
-- along x, then along y. usage: volumes [cells per axis]
local rg, bench = require "regolith", require "bench"
local n = bench.arguments(384)

local gamma, dx = 1.4, 1 / n
local dt = 0.2 * dx
local u, next_u = rg.field(rg.vec4, n, n), rg.field(rg.vec4, n, n)

local start = rg.kernel(function()
  for i, j in rg.range(n, n) do
    local inside = (i / n - 0.4) ^ 2 + (j / n - 0.5) ^ 2 < 0.03
    local p, rho = 0.1, 0.125
    if inside then
      p = 1
      rho = 1
    end
    u[i][j] = rg.vec4(rho, 0, 0, p / (gamma - 1))
  end
end)

local function minmod(a, b)
  if a * b <= 0 then return 0.0 end
  if math.abs(a) < math.abs(b) then return a end
  return b
end

local function slope(a, b, c)
  return rg.vec4(minmod(b.x - a.x, c.x - b.x), minmod(b.y - a.y, c.y - b.y),
    minmod(b.z - a.z, c.z - b.z), minmod(b.w - a.w, c.w - b.w))
end

local function pressure(q) return (gamma - 1) * (q.w - 0.5 * (q.y * q.y + q.z * q.z) / q.x) end

-- The flux along the axis of component y.
local function flux(q)
  local v, p = q.y / q.x, pressure(q)
  return rg.vec4(q.y, q.y * v + p, q.z * v, (q.w + p) * v)
end

local function between(a, b, c, d)
  local l, r = b + 0.5 * slope(a, b, c), c - 0.5 * slope(b, c, d)
  local speed = math.max(math.abs(l.y / l.x) + math.sqrt(gamma * pressure(l) / l.x),
    math.abs(r.y / r.x) + math.sqrt(gamma * pressure(r) / r.x))
  return 0.5 * (flux(l) + flux(r) - speed * (r - l))
end

local function clamped(i) return math.max(0, math.min(n - 1, i)) end

local step = rg.kernel(function()
  for i, j in rg.range(n, n) do
    local a, b, c = u[clamped(i - 2)][j], u[clamped(i - 1)][j], u[i][j]
    local d, e = u[clamped(i + 1)][j], u[clamped(i + 2)][j]
    next_u[i][j] = c - dt / dx * (between(b, c, d, e) - between(a, b, c, d))
  end
  for i, j in rg.range(n, n) do
    local a, b = next_u[i][clamped(j - 2)].xzyw, next_u[i][clamped(j - 1)].xzyw
    local c = next_u[i][j].xzyw
    local d, e = next_u[i][clamped(j + 1)].xzyw, next_u[i][clamped(j + 2)].xzyw
    u[i][j] = (c - dt / dx * (between(b, c, d, e) - between(a, b, c, d))).xzyw
  end
end)

local total = rg.kernel(function()
  local s = rg.f64(0)
  for i, j in rg.range(n, n) do s = s + u[i][j].w + math.abs(u[i][j].y) end
  return s / (n * n)
end)

bench.run { start = start, step = step, checksum = total }
