-- membrane.lua - a membrane of triangles under a load, by matrix-free conjugate gradients.
-- usage: membrane [points per axis] [iterations]
local rg, bench = require "regolith", require "bench"
local n, iterations = bench.arguments(257, 50)

local points, faces = n * n, 2 * (n - 1) * (n - 1)
local place = rg.field(rg.vec2, points)
local face = rg.field(rg.ivec3, faces)
local fixed = rg.field(rg.i32, points)
local u, r, p, ap = rg.field(rg.f32, points), rg.field(rg.f32, points), rg.field(rg.f32, points),
  rg.field(rg.f32, points)

local start = rg.kernel(function()
  for i, j in rg.range(n, n) do
    local k = i * n + j
    local edge = i == 0 or j == 0 or i == n - 1 or j == n - 1
    fixed[k] = edge and 1 or 0
    local jitter = rg.vec2(bench.noise(2 * k), bench.noise(2 * k + 1)) - 0.5
    place[k] = (rg.vec2(i, j) + (edge and 0 or 0.4) * jitter) / (n - 1)
    u[k] = 0
    r[k] = edge and 0 or 1 / points
    p[k] = r[k]
  end
  for i, j in rg.range(n - 1, n - 1) do
    local k, f = i * n + j, 2 * (i * (n - 1) + j)
    face[f] = rg.ivec3(k, k + n, k + 1)
    face[f + 1] = rg.ivec3(k + n, k + n + 1, k + 1)
  end
end)

local apply = rg.kernel(function()
  for k in rg.range(points) do ap[k] = 0 end
  for f in rg.range(faces) do
    local v = face[f]
    local a, b, c = place[v.x], place[v.y], place[v.z]
    local ea, eb, ec = c - b, a - c, b - a
    local area = 0.5 * (ec.x * -eb.y + ec.y * eb.x)
    local flow = (p[v.x] * ea + p[v.y] * eb + p[v.z] * ec) / (4 * area)
    ap[v.x] = ap[v.x] + rg.dot(flow, ea)
    ap[v.y] = ap[v.y] + rg.dot(flow, eb)
    ap[v.z] = ap[v.z] + rg.dot(flow, ec)
  end
  local s = 0.0
  for k in rg.range(points) do
    if fixed[k] == 1 then ap[k] = 0 end
    s = s + p[k] * ap[k]
  end
  return s
end)

local move = rg.kernel(function(alpha)
  local s = 0.0
  for k in rg.range(points) do
    u[k] = u[k] + alpha * p[k]
    r[k] = r[k] - alpha * ap[k]
    s = s + r[k] * r[k]
  end
  return s
end)

local turn = rg.kernel(function(beta)
  for k in rg.range(points) do p[k] = r[k] + beta * p[k] end
end)

local norm = rg.kernel(function()
  local s = 0.0
  for k in rg.range(points) do s = s + r[k] * r[k] end
  return s
end)

local function solve()
  local rr = norm()
  for _ = 1, iterations do
    local new = move(rr / apply())
    turn(new / rr)
    rr = new
  end
end

local total = rg.kernel(function()
  local s = rg.f64(0)
  for k in rg.range(points) do s = s + u[k] end
  return s
end)

bench.run { start = start, step = solve, checksum = total }
