-- linked.lua - SPH whose cells are linked lists: a cell stores its first particle, and each
-- particle the next one.
-- usage: linked [particles] [cells per axis]
local rg, bench = require "regolith", require "bench"
local count, n = bench.arguments(32768, 96)
local h = 1 / n
local x, v, acc = rg.field(rg.vec2, count), rg.field(rg.vec2, count), rg.field(rg.vec2, count)
local rho = rg.field(rg.f32, count)
local head, follow = rg.field(rg.i32, n, n), rg.field(rg.i32, count)

local start = rg.kernel(function()
  for p in rg.range(count) do
    x[p] = 0.1 + 0.8 * rg.vec2(bench.noise(2 * p), bench.noise(2 * p + 1))
    v[p] = rg.vec2(0)
  end
end)

local link = rg.kernel(function()
  for i, j in rg.range(n, n) do head[i][j] = -1 end
  for p in rg.range(count) do
    local c = rg.ivec2(x[p] * n)
    follow[p] = head:exchange(c.x, c.y, p)
  end
end)

local density = rg.kernel(function()
  for p in rg.range(count) do
    local c, sum = rg.ivec2(x[p] * n), 0.0
    for i = c.x - 1, c.x + 1 do
      for j = c.y - 1, c.y + 1 do
        if i >= 0 and i < n and j >= 0 and j < n then
          local q = head[i][j]
          while q >= 0 do
            local d = x[p] - x[q]
            local r2 = d:dot(d) / (h * h)
            if r2 < 1 then sum = sum + (1 - r2) ^ 3 end
            q = follow[q]
          end
        end
      end
    end
    rho[p] = sum
  end
end)

local force = rg.kernel(function()
  for p in rg.range(count) do
    local c, a = rg.ivec2(x[p] * n), rg.vec2(0, -1)
    local pressure = math.max(rho[p] - 4, 0)
    for i = c.x - 1, c.x + 1 do
      for j = c.y - 1, c.y + 1 do
        if i >= 0 and i < n and j >= 0 and j < n then
          local q = head[i][j]
          while q >= 0 do
            if q ~= p then
              local d = x[p] - x[q]
              local r = d:norm() / h
              if r < 1 then
                local other = math.max(rho[q] - 4, 0)
                a = a + d * ((pressure + other) / (rho[q] + 1) * (1 - r) ^ 2 / (r + 0.01))
                a = a + 0.5 * (v[q] - v[p]) * (1 - r) / (rho[q] + 1)
              end
            end
            q = follow[q]
          end
        end
      end
    end
    acc[p] = a
  end
end)

local move = rg.kernel(function(dt)
  for p in rg.range(count) do
    v[p] = v[p] + dt * acc[p]
    x[p] = rg.clamp(x[p] + dt * v[p], 0.01, 0.99)
  end
end)

local total = rg.kernel(function()
  local s = rg.f64(0)
  for p in rg.range(count) do s = s + rho[p] + x[p].x + 2 * x[p].y end
  return s / count
end)

bench.run {
  start = start,
  step = function()
    link()
    density()
    force()
    move(1e-4)
  end,
  checksum = total,
}
