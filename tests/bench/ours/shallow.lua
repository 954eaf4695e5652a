-- shallow.lua - the shallow-water equations by finite volumes, with Rusanov fluxes: a dam breaks
-- between walls. usage: shallow [cells per axis]
local rg, bench = require "regolith", require "bench"
local n = bench.arguments(768)

local dx, gravity = 1 / n, 9.8
local dt = 0.1 * dx
local q, next_q = rg.field(rg.vec3, n, n), rg.field(rg.vec3, n, n) -- depth and momentum

local start = rg.kernel(function()
  for i, j in rg.range(n, n) do
    local x, y = (i + 0.5) * dx - 0.4, (j + 0.5) * dx - 0.5
    q[i][j] = rg.vec3(x * x + y * y < 0.04 and 2 or 1, 0, 0)
  end
end)

local function flux_x(s)
  local u = s.y / s.x
  return rg.vec3(s.y, s.y * u + 0.5 * gravity * s.x * s.x, s.z * u)
end

local function flux_y(s)
  local w = s.z / s.x
  return rg.vec3(s.z, s.y * w, s.z * w + 0.5 * gravity * s.x * s.x)
end

local function speed(s, momentum) return math.abs(momentum / s.x) + math.sqrt(gravity * s.x) end

local function across_x(a, b)
  return 0.5 * (flux_x(a) + flux_x(b)) - 0.5 * math.max(speed(a, a.y), speed(b, b.y)) * (b - a)
end

local function across_y(a, b)
  return 0.5 * (flux_y(a) + flux_y(b)) - 0.5 * math.max(speed(a, a.z), speed(b, b.z)) * (b - a)
end

local step = rg.kernel(function()
  for i, j in rg.range(n, n) do
    local here = q[i][j]
    local west, east = rg.vec3(here.x, -here.y, here.z), rg.vec3(here.x, -here.y, here.z)
    local south, north = rg.vec3(here.x, here.y, -here.z), rg.vec3(here.x, here.y, -here.z)
    if i > 0 then west = q[i - 1][j] end
    if i < n - 1 then east = q[i + 1][j] end
    if j > 0 then south = q[i][j - 1] end
    if j < n - 1 then north = q[i][j + 1] end
    next_q[i][j] = here - dt / dx * (across_x(here, east) - across_x(west, here)
      + across_y(here, north) - across_y(south, here))
  end
end)

local total = rg.kernel(function()
  local s = rg.f64(0)
  for i, j in rg.range(n, n) do s = s + q[i][j].x * q[i][j].x + q[i][j].y end
  return s / (n * n)
end)

bench.run {
  start = start,
  step = function()
    step()
    q, next_q = next_q, q
  end,
  checksum = total,
}
