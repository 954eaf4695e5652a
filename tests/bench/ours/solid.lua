-- solid.lua - a beam of rubber bends: Neo-Hookean finite elements on tetrahedra, in explicit
-- steps. usage: solid [cubes across]
local rg, bench = require "regolith", require "bench"
local n = bench.arguments(10)

local long = 4 * n
local points, tets = (long + 1) * (n + 1) * (n + 1), 5 * long * n * n
local width, dt = 1 / n, 2e-5
local mu, lambda, density = 4e4, 1e5, 1000
local x, v, force = rg.field(rg.vec3, points), rg.field(rg.vec3, points), rg.field(rg.vec3, points)
local corner, rest = rg.field(rg.ivec4, tets), rg.field(rg.mat3, tets)
local volume = rg.field(rg.f32, tets)

local function point(i, j, k) return (i * (n + 1) + j) * (n + 1) + k end

local function edges(c)
  local a, b, d = x[c.y] - x[c.x], x[c.z] - x[c.x], x[c.w] - x[c.x]
  return rg.mat3 { { a.x, b.x, d.x }, { a.y, b.y, d.y }, { a.z, b.z, d.z } }
end

local start = rg.kernel(function()
  for i, j, k in rg.range(long + 1, n + 1, n + 1) do
    local p = point(i, j, k)
    x[p] = rg.vec3(i, j, k) * width
    v[p] = rg.vec3(0)
  end
  for i, j, k in rg.range(long, n, n) do
    local a, b = point(i, j, k), point(i + 1, j, k)
    local c, d = point(i + 1, j + 1, k), point(i, j + 1, k)
    local e, f = point(i, j, k + 1), point(i + 1, j, k + 1)
    local g, h = point(i + 1, j + 1, k + 1), point(i, j + 1, k + 1)
    local t = 5 * ((i * n + j) * n + k)
    if (i + j + k) % 2 == 0 then
      corner[t] = rg.ivec4(a, b, c, f)
      corner[t + 1] = rg.ivec4(a, c, d, h)
      corner[t + 2] = rg.ivec4(a, f, h, e)
      corner[t + 3] = rg.ivec4(c, h, f, g)
      corner[t + 4] = rg.ivec4(a, c, h, f)
    else
      corner[t] = rg.ivec4(b, d, a, e)
      corner[t + 1] = rg.ivec4(b, c, d, g)
      corner[t + 2] = rg.ivec4(b, g, e, f)
      corner[t + 3] = rg.ivec4(d, e, g, h)
      corner[t + 4] = rg.ivec4(b, d, e, g)
    end
  end
  for t in rg.range(tets) do
    local m = edges(corner[t])
    rest[t] = m:inverse()
    volume[t] = math.abs(m:determinant()) / 6
  end
end)

local step = rg.kernel(function()
  for p in rg.range(points) do force[p] = rg.vec3(0, 0, -9.8 * density * width ^ 3) end
  for t in rg.range(tets) do
    local c = corner[t]
    local F = edges(c) * rest[t]
    local J = math.max(F:determinant(), 0.1)
    local FiT = F:inverse():transpose()
    local P = mu * (F - FiT) + lambda * math.log(J) * FiT
    local H = -volume[t] * P * rest[t]:transpose()
    local f1 = rg.vec3(H[0][0], H[1][0], H[2][0])
    local f2 = rg.vec3(H[0][1], H[1][1], H[2][1])
    local f3 = rg.vec3(H[0][2], H[1][2], H[2][2])
    force[c.y] = force[c.y] + f1
    force[c.z] = force[c.z] + f2
    force[c.w] = force[c.w] + f3
    force[c.x] = force[c.x] - (f1 + f2 + f3)
  end
  for p in rg.range(points) do
    if p >= (n + 1) * (n + 1) then
      v[p] = (v[p] + dt * force[p] / (density * width ^ 3)) * 0.9999
      x[p] = x[p] + dt * v[p]
    end
  end
end)

local total = rg.kernel(function()
  local s = rg.f64(0)
  for p in rg.range(points) do s = s + v[p]:norm() end
  return s / points
end)

bench.run { start = start, step = step, checksum = total }
