-- contacts.lua - discs with friction: every contact keeps its tangential spring from step to step.
-- usage: contacts [discs] [cells per axis]
local rg, bench = require "regolith", require "bench"
local count, n = bench.arguments(16384, 192)

local most, width, dt = 8, 1 / n, 5e-5
local normal_k, tangent_k, damping, friction, gravity = 8e5, 4e5, 60, 0.5, 9.8
local x, v, force = rg.field(rg.vec2, count), rg.field(rg.vec2, count), rg.field(rg.vec2, count)
local spin, torque = rg.field(rg.f32, count), rg.field(rg.f32, count)
local radius = 0.45 * width
local head, next_one = rg.field(rg.i32, n, n), rg.field(rg.i32, count)
local touched = rg.field(rg.i32, count)
local Contact = rg.struct { { "other", rg.i32 }, { "slip", rg.f32 } }
local contacts = rg.field(Contact, count, most)

local start = rg.kernel(function()
  local wide = math.floor(n * 0.8)
  for p in rg.range(count) do
    local i, j = p % wide, math.floor(p / wide)
    local jitter = rg.vec2(bench.noise(2 * p), bench.noise(2 * p + 1))
    x[p] = (rg.vec2(i, j) + rg.vec2(4, 1) + 0.1 * jitter) * width * rg.vec2(1, 0.92)
    v[p] = rg.vec2(0)
    spin[p] = 0
    touched[p] = 0
  end
end)

local step = rg.kernel(function()
  for i, j in rg.range(n, n) do head[i][j] = -1 end
  for p in rg.range(count) do
    local c = rg.floor(x[p] * n)
    next_one[p] = head:exchange(c.x, c.y, p)
  end
  for p in rg.range(count) do
    local at, c = x[p], rg.floor(x[p] * n)
    local push, turn = rg.vec2(0, -gravity), 0.0
    local old, kept = touched[p], 0
    local fresh = rg.zeros(Contact, most)
    for i = math.max(c.x - 1, 0), math.min(c.x + 1, n - 1) do
      for j = math.max(c.y - 1, 0), math.min(c.y + 1, n - 1) do
        local q = head[i][j]
        while q >= 0 do
          if q ~= p then
            local d = at - x[q]
            local distance = d:norm()
            local overlap = 2 * radius - distance
            if overlap > 0 then
              local normal = d / distance
              local tangent = rg.vec2(-normal.y, normal.x)
              local speed = v[p] - v[q]
              local sliding = rg.dot(speed, tangent) - radius * (spin[p] + spin[q])
              local slip = 0.0
              for k = 0, old - 1 do
                if contacts[p][k].other == q then slip = contacts[p][k].slip end
              end
              slip = slip + sliding * dt
              local pressing = normal_k * overlap - damping * rg.dot(speed, normal)
              local limit = friction * math.max(pressing, 0)
              local drag = -tangent_k * slip
              if math.abs(drag) > limit then
                drag = limit * rg.sign(drag)
                slip = -drag / tangent_k
              end
              push = push + pressing * normal + drag * tangent
              turn = turn - radius * drag
              if kept < most then
                fresh[kept] = Contact { other = q, slip = slip }
                kept = kept + 1
              end
            end
          end
          q = next_one[q]
        end
      end
    end
    for k = 0, kept - 1 do contacts[p][k] = fresh[k] end
    touched[p] = kept
    force[p] = push
    torque[p] = turn
  end
  for p in rg.range(count) do
    v[p] = v[p] + dt * force[p]
    spin[p] = spin[p] + dt * torque[p] / (0.5 * radius * radius)
    x[p] = x[p] + dt * v[p]
    if x[p].y < radius then
      x[p].y = radius
      v[p].y = -0.3 * v[p].y
    end
    if x[p].x < radius then
      x[p].x = radius
      v[p].x = -0.3 * v[p].x
    elseif x[p].x > 1 - radius then
      x[p].x = 1 - radius
      v[p].x = -0.3 * v[p].x
    end
  end
end)

local total = rg.kernel(function()
  local s = rg.f64(0)
  for p in rg.range(count) do s = s + x[p].x + x[p].y + 0.01 * v[p]:norm() + touched[p] end
  return s / count
end)

bench.run { start = start, step = step, checksum = total }
