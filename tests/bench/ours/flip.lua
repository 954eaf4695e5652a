-- flip.lua - FLIP with some PIC: particles of a collapsing column of water transfer velocity to a
-- staggered grid, which a pressure solve makes divergence-free, and take the change back.
-- usage: flip [cells per axis]
local rg, bench = require "regolith", require "bench"
local n = bench.arguments(256)

local AIR, WATER, WALL = 0, 1, 2
local gravity, flip, rounds = -9.8, 0.95, 40
local h, dt = 1 / n, 0.25 / n
local wide, high = math.floor(0.4 * n), math.floor(0.6 * n)
local count = 4 * wide * high
local x, v = rg.field(rg.vec2, count), rg.field(rg.vec2, count)
local function upright() return rg.field(rg.f32, n + 1, n) end
local function level() return rg.field(rg.f32, n, n + 1) end
local u, u_weight, u_old = upright(), upright(), upright()
local w, w_weight, w_old = level(), level(), level()
local kind, divergence = rg.field(rg.i32, n, n), rg.field(rg.f32, n, n)
local pressure, next_pressure = rg.field(rg.f32, n, n), rg.field(rg.f32, n, n)

local start = rg.kernel(function()
  for p in rg.range(count) do
    local cell = math.floor(p / 4)
    local corner = rg.vec2(2 + cell % wide, 2 + math.floor(cell / wide))
    x[p] = (corner + rg.vec2(bench.noise(2 * p), bench.noise(2 * p + 1))) * h
    v[p] = rg.vec2(0)
  end
  for i, j in rg.range(n, n) do pressure[i][j] = 0 end
end)

-- Adds to the four faces around a position, in a grid shifted by half a cell along one axis.
local function splat(grid, weight, at, value)
  local i, j = math.floor(at.x), math.floor(at.y)
  local fx, fy = at.x - i, at.y - j
  for a = 0, 1 do
    for b = 0, 1 do
      local share = (a == 0 and 1 - fx or fx) * (b == 0 and 1 - fy or fy)
      grid[i + a][j + b] = grid[i + a][j + b] + share * value
      weight[i + a][j + b] = weight[i + a][j + b] + share
    end
  end
end

local function sample(grid, at)
  local i, j = math.floor(at.x), math.floor(at.y)
  local fx, fy = at.x - i, at.y - j
  return (1 - fx) * ((1 - fy) * grid[i][j] + fy * grid[i][j + 1])
    + fx * ((1 - fy) * grid[i + 1][j] + fy * grid[i + 1][j + 1])
end

local to_grid = rg.kernel(function()
  for i, j in rg.range(n + 1, n) do
    u[i][j] = 0
    u_weight[i][j] = 0
  end
  for i, j in rg.range(n, n + 1) do
    w[i][j] = 0
    w_weight[i][j] = 0
  end
  for i, j in rg.range(n, n) do
    kind[i][j] = (i == 0 or j == 0 or i == n - 1 or j == n - 1) and WALL or AIR
  end
  for p in rg.range(count) do
    local at = x[p] * n
    splat(u, u_weight, at - rg.vec2(0, 0.5), v[p].x)
    splat(w, w_weight, at - rg.vec2(0.5, 0), v[p].y)
    kind[math.floor(at.x)][math.floor(at.y)] = WATER
  end
  for i, j in rg.range(n + 1, n) do
    if u_weight[i][j] > 0 then u[i][j] = u[i][j] / u_weight[i][j] end
    u_old[i][j] = u[i][j]
  end
  for i, j in rg.range(n, n + 1) do
    if w_weight[i][j] > 0 then w[i][j] = w[i][j] / w_weight[i][j] end
    w_old[i][j] = w[i][j]
    w[i][j] = w[i][j] + gravity * dt
  end
end)

local walls = rg.kernel(function()
  for i, j in rg.range(n + 1, n) do
    if i <= 1 or i >= n - 1 then u[i][j] = 0 end
  end
  for i, j in rg.range(n, n + 1) do
    if j <= 1 or j >= n - 1 then w[i][j] = 0 end
  end
  for i, j in rg.range(n, n) do
    divergence[i][j] = u[i + 1][j] - u[i][j] + w[i][j + 1] - w[i][j]
  end
end)

local relax = rg.kernel(function()
  for i, j in rg.range({ 1, n - 1 }, { 1, n - 1 }) do
    if kind[i][j] == WATER then
      local sum, open = -divergence[i][j], 0
      if kind[i - 1][j] ~= WALL then
        sum = sum + pressure[i - 1][j]
        open = open + 1
      end
      if kind[i + 1][j] ~= WALL then
        sum = sum + pressure[i + 1][j]
        open = open + 1
      end
      if kind[i][j - 1] ~= WALL then
        sum = sum + pressure[i][j - 1]
        open = open + 1
      end
      if kind[i][j + 1] ~= WALL then
        sum = sum + pressure[i][j + 1]
        open = open + 1
      end
      next_pressure[i][j] = sum / open
    else
      next_pressure[i][j] = 0
    end
  end
end)

local project = rg.kernel(function()
  for i, j in rg.range({ 2, n - 1 }, { 1, n - 1 }) do
    if kind[i][j] == WATER or kind[i - 1][j] == WATER then
      u[i][j] = u[i][j] - (pressure[i][j] - pressure[i - 1][j])
    end
  end
  for i, j in rg.range({ 1, n - 1 }, { 2, n - 1 }) do
    if kind[i][j] == WATER or kind[i][j - 1] == WATER then
      w[i][j] = w[i][j] - (pressure[i][j] - pressure[i][j - 1])
    end
  end
end)

local to_particles = rg.kernel(function()
  for p in rg.range(count) do
    local at = x[p] * n
    local pu, pw = at - rg.vec2(0, 0.5), at - rg.vec2(0.5, 0)
    local now = rg.vec2(sample(u, pu), sample(w, pw))
    local before = rg.vec2(sample(u_old, pu), sample(w_old, pw))
    v[p] = flip * (v[p] + now - before) + (1 - flip) * now
    x[p] = rg.clamp(x[p] + dt * now, 1.01 * h, 1 - 1.01 * h)
  end
end)

local total = rg.kernel(function()
  local s = rg.f64(0)
  for p in rg.range(count) do s = s + x[p].y + 0.5 * x[p].x + 0.01 * rg.dot(v[p], v[p]) end
  return s / count
end)

bench.run {
  start = start,
  step = function()
    to_grid()
    walls()
    for _ = 1, rounds do
      relax()
      pressure, next_pressure = next_pressure, pressure
    end
    project()
    to_particles()
  end,
  checksum = total,
}
