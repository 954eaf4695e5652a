-- cloth.lua - mass-spring cloth that falls on a sphere: damped springs to twelve neighbours.
-- usage: cloth [points per axis]
local rg, bench = require "regolith", require "bench"
local n = bench.arguments(256)

local spacing, dt = 1 / n, 2e-2 / n
local gravity, stiffness, damping, drag = rg.vec3(0, -9.8, 0), 3e4, 1e4, 1
local ball, radius = rg.vec3(0, 0, 0), 0.3
local x, v, force = rg.field(rg.vec3, n, n), rg.field(rg.vec3, n, n), rg.field(rg.vec3, n, n)

local links = {}
for a = -2, 2 do
  for b = -2, 2 do
    local far = math.abs(a) + math.abs(b)
    if far > 0 and far <= 2 then links[#links + 1] = { a, b } end
  end
end

local start = rg.kernel(function()
  for i, j in rg.range(n, n) do
    x[i][j] = rg.vec3(i * spacing - 0.5 + 0.1 * spacing * bench.noise(i * n + j), 0.301,
      j * spacing - 0.5)
    v[i][j] = rg.vec3(0)
  end
end)

local step = rg.kernel(function()
  for i, j in rg.range(n, n) do
    local sum = gravity
    for _, link in ipairs(links) do
      local a, b = i + link[1], j + link[2]
      if a >= 0 and a < n and b >= 0 and b < n then
        local d = x[i][j] - x[a][b]
        local length = d:norm()
        local along = d / length
        local rest = spacing * math.sqrt(link[1] * link[1] + link[2] * link[2])
        sum = sum - stiffness * along * (length / rest - 1)
        sum = sum - rg.dot(v[i][j] - v[a][b], along) * along * damping * spacing
      end
    end
    force[i][j] = sum
  end
  for i, j in rg.range(n, n) do
    local u = (v[i][j] + dt * force[i][j]) * math.exp(-drag * dt)
    local out = x[i][j] - ball
    if out:norm() <= radius then
      local normal = out:normalize()
      u = u - math.min(rg.dot(u, normal), 0) * normal
    end
    v[i][j] = u
    x[i][j] = x[i][j] + dt * u
  end
end)

local height = rg.kernel(function()
  local s = rg.f64(0)
  for i, j in rg.range(n, n) do s = s + x[i][j].y + 0.1 * rg.dot(x[i][j], x[i][j]) end
  return s / n / n
end)

bench.run { start = start, step = step, checksum = height }
