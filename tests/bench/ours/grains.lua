-- grains.lua - discrete element method: a heap of grains that repel each other on contact, whose
-- neighbours are found in cell lists in one array. usage: grains [grains] [cells per axis]
local rg, bench = require "regolith", require "bench"
local count, n = bench.arguments(32768, 256)

local width, dt, stiffness, damping, gravity = 1 / n, 1e-4, 8e5, 40, 9.8
local x, v, force = rg.field(rg.vec2, count), rg.field(rg.vec2, count), rg.field(rg.vec2, count)
local radius = rg.field(rg.f32, count)
local held, first, filled = rg.field(rg.i32, n, n), rg.field(rg.i32, n, n), rg.field(rg.i32, n, n)
local member = rg.field(rg.i32, count)

local start = rg.kernel(function()
  local wide = math.floor(n * 0.75)
  for p in rg.range(count) do
    local i, j = p % wide, math.floor(p / wide)
    local jitter = rg.vec2(bench.noise(3 * p), bench.noise(3 * p + 1))
    x[p] = (rg.vec2(i, j) + rg.vec2(4, 1) + 0.4 * jitter) * width
    v[p] = rg.vec2(0)
    radius[p] = (0.35 + 0.14 * bench.noise(3 * p + 2)) * width
  end
end)

local bin = rg.kernel(function()
  for i, j in rg.range(n, n) do
    held[i][j] = 0
    filled[i][j] = 0
  end
  for p in rg.range(count) do
    local c = rg.floor(x[p] * n)
    held[c.x][c.y] = held[c.x][c.y] + 1
  end
  local sum = 0
  for i = 0, n - 1 do
    for j = 0, n - 1 do
      first[i][j] = sum
      sum = sum + held[i][j]
    end
  end
  for p in rg.range(count) do
    local c = rg.floor(x[p] * n)
    member[first[c.x][c.y] + filled:add(c.x, c.y, 1)] = p
  end
end)

local push = rg.kernel(function()
  for p in rg.range(count) do
    local at, speed, sum = x[p], v[p], rg.vec2(0, -gravity)
    local c = rg.floor(at * n)
    for i = math.max(c.x - 1, 0), math.min(c.x + 1, n - 1) do
      for j = math.max(c.y - 1, 0), math.min(c.y + 1, n - 1) do
        for k = first[i][j], first[i][j] + held[i][j] - 1 do
          local other = member[k]
          if other ~= p then
            local d = at - x[other]
            local distance = d:norm()
            local overlap = radius[p] + radius[other] - distance
            if overlap > 0 then
              local normal = d / distance
              local closing = (speed - v[other]):dot(normal)
              sum = sum + (stiffness * overlap - damping * closing) * normal
            end
          end
        end
      end
    end
    force[p] = sum
  end
  for p in rg.range(count) do
    v[p] = v[p] + dt * force[p]
    x[p] = x[p] + dt * v[p]
    if x[p].y < radius[p] then
      x[p].y = radius[p]
      v[p].y = -0.5 * v[p].y
    end
    if x[p].x < radius[p] then
      x[p].x = radius[p]
      v[p].x = -0.5 * v[p].x
    elseif x[p].x > 1 - radius[p] then
      x[p].x = 1 - radius[p]
      v[p].x = -0.5 * v[p].x
    end
  end
end)

local total = rg.kernel(function()
  local s = rg.f64(0)
  for p in rg.range(count) do s = s + x[p].x + x[p].y + 0.1 * v[p]:norm() end
  return s / count
end)

bench.run {
  start = start,
  step = function()
    bin()
    push()
  end,
  checksum = total,
}
