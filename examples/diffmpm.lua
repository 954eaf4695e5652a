-- diffmpm.lua - a soft body learns to walk: MLS-MPM with muscles, trained by its gradient.
-- Gradients. Run it with:  examples/run diffmpm
--
-- Four muscles in two legs are driven by a sum of sine waves each. rg.grad runs a walk of `steps`
-- steps, then its kernels backwards, which gives the derivative of the distance by each weight;
-- Adam follows it. (Hu et al.: ChainQueen, ICRA 2019.)
local rg = require "regolith"

local folder = arg and arg[1] or "."
local n, dt, steps, rounds, waves = 64, 1e-3, 600, 8, 4
local dx, young, ground = 1 / n, 10, 3
local params = { gravity = { 3.8, 0, 10 }, strength = { 8, 0, 20 } }

-- A body on two legs: x, y and muscle of each particle. A leg has a muscle on each side.
local spots = {}
local function block(x, y, width, height, muscle)
  for i = 0, width - 1 do
    for j = 0, height - 1 do
      spots[#spots + 1] = { x + (i + 0.5) * dx / 2, y + (j + 0.5) * dx / 2,
        muscle and muscle + math.floor(2 * i / width) or -1 }
    end
  end
end
block(0.1, 0.15, 38, 12)
block(0.1, 0.05, 10, 12, 0)
block(0.32, 0.05, 10, 12, 2)

local count = #spots
local function particles(T) return rg.field(T, count, { grad = true }) end
local function cells(T) return rg.field(T, n, n, { grad = true }) end
local x, v, C, F = particles(rg.vec2), particles(rg.vec2), particles(rg.mat2), particles(rg.mat2)
local momentum, mass, flow = cells(rg.vec2), cells(rg.f32), cells(rg.vec2)
local weight = rg.field(rg.f32, 4, waves, { grad = true })
local loss = rg.field(rg.f32, 1, { grad = true })
local start, muscle = rg.field(rg.vec2, count), rg.field(rg.i32, count)
for p, s in ipairs(spots) do start[p - 1], muscle[p - 1] = { s[1], s[2] }, s[3] end
for m = 0, 3 do
  for k = 0, waves - 1 do weight[m][k] = 0.02 * math.sin(7 * m + 3 * k) end
end

local begin = rg.kernel(function()
  for p in rg.range(count) do
    x[p], v[p], C[p], F[p] = start[p], rg.vec2(0), rg.mat2(0), rg.mat2(1, 0, 0, 1)
  end
end)

-- Quadratic weights of the three nodes around a position, which is f cells from the first.
local function weights(f)
  return rg.vec3(0.5 * (1.5 - f) ^ 2, 0.75 - (f - 1) ^ 2, 0.5 * (f - 0.5) ^ 2)
end

local scatter = rg.kernel(function(t)
  for i, j in rg.range(n, n) do momentum[i][j], mass[i][j] = rg.vec2(0), 0 end
  for p in rg.range(count) do
    local bx, by = math.floor(x[p].x / dx - 0.5), math.floor(x[p].y / dx - 0.5)
    local fx, fy = x[p].x / dx - bx, x[p].y / dx - by
    local wx, wy, one = weights(fx), weights(fy), rg.mat2(1, 0, 0, 1)
    local f = (one + dt * C[p]) * F[p]
    local stress = young * (f * f:transpose() + one * (math.log(f:determinant()) - 1))
    if muscle[p] >= 0 then
      local pull = 0.0
      for k = 0, waves - 1 do
        pull = pull + weight[muscle[p]][k] * math.sin(25 * t + 2 * math.pi * k / waves)
      end
      stress = stress + f * rg.mat2(0, 0, 0, params.strength * math.tanh(pull)) * f:transpose()
    end
    local affine = C[p] - (4 * dt / (dx * dx)) * stress
    F[p] = f
    for i, j in rg.range(3, 3) do
      local w, d = wx[i] * wy[j], rg.vec2((i - fx) * dx, (j - fy) * dx)
      momentum[bx + i][by + j] = momentum[bx + i][by + j] + w * (v[p] + affine * d)
      mass[bx + i][by + j] = mass[bx + i][by + j] + w
    end
  end
end)

local gather = rg.kernel(function()
  for i, j in rg.range(n, n) do
    local u = momentum[i][j] / math.max(mass[i][j], 1e-9) - rg.vec2(0, dt * params.gravity)
    flow[i][j] = j < ground and rg.vec2(0, math.max(u.y, 0)) or u -- feet do not slip
  end
  for p in rg.range(count) do
    local bx, by = math.floor(x[p].x / dx - 0.5), math.floor(x[p].y / dx - 0.5)
    local fx, fy = x[p].x / dx - bx, x[p].y / dx - by
    local wx, wy, u, c = weights(fx), weights(fy), rg.vec2(0), rg.mat2(0)
    for i, j in rg.range(3, 3) do
      local g, w = flow[bx + i][by + j], wx[i] * wy[j]
      u, c = u + w * g, c + (4 * w / dx) * g:outer(rg.vec2(i - fx, j - fy))
    end
    v[p], C[p], x[p] = u, c, x[p] + dt * u
  end
end)

local measure = rg.kernel(function() -- minus the distance that the body went
  for p in rg.range(count) do loss[0] = loss[0] - (x[p].x - start[p].x) / count end
end)

local function walk()
  loss[0] = 0
  begin()
  for k = 1, steps do scatter(k * dt) gather() end
  measure()
end

local adam = rg.optim.adam { params = { weight }, lr = 0.1 }

-- The body; its earlier positions fade.
local picture, look = rg.field(rg.f32, 640, 240), { palette = "magma", high = 1 }
local paint = rg.kernel(function()
  for i, j in rg.range(640, 240) do picture[i][j] = picture[i][j] * 0.9 end
  for p in rg.range(count) do
    for i, j in rg.range({ -2, 3 }, { -2, 3 }) do
      picture[rg.floor(x[p] * 800) + rg.ivec2(i, j)] = muscle[p] < 0 and 0.6 or 1
    end
  end
end)

local push = rg.kernel(function(at, motion)
  for p in rg.range(count) do
    if rg.norm(x[p] - at) < 0.05 then v[p] = v[p] + motion end
  end
end)

local step = 0                                       -- of this walk; after each, the body learns
rg.live { params = params, reset = begin, speed = 10, width = 960, height = 360,
  step = function()
    if step == steps then adam:minimize(loss, walk, { steps = 1 }) begin() end
    step = step % steps + 1
    scatter(step * dt) gather()
  end,
  touch = function(a, b, da, db) push(rg.vec2(0.8 * a, 0.3 * b), 3 * rg.vec2(da, db)) end,
  draw = function(w) paint() w:show(picture, look) w:watch("went", -loss[0]) end,
  otherwise = function()
    local best = 0
    adam:minimize(loss, walk, { steps = rounds, each = function(round, value)
      best = math.max(best, -value)
      print(("round %d: it went %.3f"):format(round, -value))
    end })
    begin()
    for k = 1, steps do
      scatter(k * dt) gather()
      if k % 20 == 0 then
        paint()
        rg.image.write(("%s/diffmpm_%03d.png"):format(folder, k), picture, look)
      end
    end
    print(("checksum %d"):format(best > 0.04 and 1 or 0))
  end }
