-- flock.lua - boids: birds that each follow their seven nearest neighbours, found in a grid.
-- usage: flock [birds] [cells per axis]
local rg, bench = require "regolith", require "bench"
local count, n = bench.arguments(16384, 64)

local size, dt, most, near = n, 0.05, 2, 7
local room = 32
local x, v = rg.field(rg.vec2, count), rg.field(rg.vec2, count)
local turn = rg.field(rg.vec2, count)
local held = rg.field(rg.i32, n, n)
local member = rg.field(rg.i32, n, n, room)

local start = rg.kernel(function()
  for p in rg.range(count) do
    x[p] = rg.vec2(bench.noise(3 * p), bench.noise(3 * p + 1)) * size
    local angle = 2 * math.pi * bench.noise(3 * p + 2)
    v[p] = rg.vec2(math.cos(angle), math.sin(angle))
  end
end)

local step = rg.kernel(function()
  for i, j in rg.range(n, n) do held[i][j] = 0 end
  for p in rg.range(count) do
    local c = rg.floor(x[p])
    local slot = held:add(c.x % n, c.y % n, 1)
    if slot < room then member[c.x % n][c.y % n][slot] = p end
  end
  for p in rg.range(count) do
    local at, c = x[p], rg.floor(x[p])
    local distance, who, found = rg.zeros(rg.f32, near), rg.zeros(rg.i32, near), 0
    for k = 0, near - 1 do distance[k], who[k] = 1e9, -1 end
    for a = -1, 1 do
      for b = -1, 1 do
        local i, j = (c.x + a) % n, (c.y + b) % n
        for k = 0, math.min(held[i][j], room) - 1 do
          local q = member[i][j][k]
          if q ~= p then
            local d = x[q] - at
            d = d - size * rg.round(d / size)
            local d2 = rg.dot(d, d)
            if d2 < distance[near - 1] then
              local m = near - 1
              while m > 0 and distance[m - 1] > d2 do
                distance[m], who[m] = distance[m - 1], who[m - 1]
                m = m - 1
              end
              distance[m], who[m] = d2, q
            end
          end
        end
      end
    end
    local push, align, centre = rg.vec2(0), rg.vec2(0), rg.vec2(0)
    for k = 0, near - 1 do
      local q = who[k]
      if q >= 0 then
        local d = x[q] - at
        d = d - size * rg.round(d / size)
        push = push - d / (rg.dot(d, d) + 0.01)
        align = align + v[q] - v[p]
        centre = centre + d
        found = found + 1
      end
    end
    if found > 0 then turn[p] = (0.1 * push + 0.8 * align + 0.3 * centre) / found end
  end
  for p in rg.range(count) do
    v[p] = v[p] + dt * turn[p]
    local speed = v[p]:norm()
    if speed > most then v[p] = v[p] * (most / speed) end
    x[p] = (x[p] + dt * v[p]) % size
  end
end)

local total = rg.kernel(function()
  local s = rg.f64(0)
  for p in rg.range(count) do s = s + v[p]:norm() end
  return s / count
end)

bench.run { start = start, step = step, checksum = total }
