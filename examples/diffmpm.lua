-- diffmpm.lua - a soft body learns to walk: MLS-MPM with muscles, trained by its gradient.
-- Gradients. Run it with:  examples/run diffmpm
--
-- Four muscles in two legs contract in sine waves, whose weights are learned. rg.grad runs a walk
-- of `steps` steps and then its kernels backwards, which gives the distance's derivative by each
-- weight; Adam follows it. (Hu et al.: ChainQueen, ICRA 2019.)
local rg = require "regolith"

local folder = arg and arg[1] or "."
local n, dt, steps, rounds = 64, 1e-3, 600, 8
local dx, stiffness, ground = 1 / n, 10, 3
local params = { gravity = { 3.8, 0, 10 }, strength = { 8, 0, 20 } }

-- The body on two legs: a position and a muscle, or -1, for each particle.
local places, muscles = {}, {}
local function block(x, y, width, height, muscle) -- with a muscle on each side
  for i, j in rg.range(width, height) do
    places[#places + 1] = { x + (i + 0.5) * dx / 2, y + (j + 0.5) * dx / 2 }
    muscles[#places] = muscle and muscle + math.floor(2 * i / width) or -1
  end
end
block(0.1, 0.15, 38, 12)
block(0.1, 0.05, 10, 12, 0)
block(0.32, 0.05, 10, 12, 2)

local count = #places
local function particles(T) return rg.field(T, count, { grad = true }) end
local function cells(T) return rg.field(T, n, n, { grad = true }) end
local x, v = particles(rg.vec2), particles(rg.vec2)
local C, F = particles(rg.mat2), particles(rg.mat2)  -- velocity gradient; deformation
local node, flow = cells(rg.vec3), cells(rg.vec2)    -- momentum and mass; velocity
local loss, weight = rg.field(rg.f32, 1, { grad = true }), rg.field(rg.vec4, 4, { grad = true })
local start = rg.field(rg.vec2, count):from_table(places)
local muscle = rg.field(rg.i32, count):from_table(muscles)
rg.kernel(function()
  for m in rg.range(4) do weight[m] = 0.02 * math.sin(7 * m + rg.vec4(0, 3, 6, 9)) end
end)()

local begin = rg.kernel(function()
  for p in rg.range(count) do
    x[p], v[p], C[p], F[p] = start[p], rg.vec2(0), rg.mat2(0), rg.mat2(1)
  end
end)

-- Quadratic weights of three nodes along an axis, f cells from the first one.
local function weights(f)
  return rg.vec3(0.5 * (1.5 - f) ^ 2, 0.75 - (f - 1) ^ 2, 0.5 * (f - 0.5) ^ 2)
end

-- The 3 x 3 nodes around a position: the first one, its distance in cells, weights along x and y.
local function stencil(at)
  local first = rg.floor(at * n - 0.5)
  local f = at * n - first
  return first, f, weights(f.x), weights(f.y)
end

local scatter = rg.kernel(function(t)
  node:fill(rg.vec3(0))
  for p in rg.range(count) do
    local deformed = (rg.mat2(1) + dt * C[p]) * F[p]
    local square = deformed * deformed:transpose()
    local stress = stiffness * (square + rg.mat2(math.log(deformed:determinant()) - 1))
    if muscle[p] >= 0 then
      local waves = math.sin(25 * t + math.pi * rg.vec4(0, 0.5, 1, 1.5))
      local pull = params.strength * math.tanh(rg.dot(weight[muscle[p]], waves))
      stress = stress + deformed * rg.mat2(0, 0, 0, pull) * deformed:transpose()
    end
    local affine = C[p] - (4 * dt / (dx * dx)) * stress
    F[p] = deformed
    local first, f, wx, wy = stencil(x[p])
    for i, j in rg.range(3, 3) do
      local momentum, at = v[p] + affine * (dx * (rg.vec2(i, j) - f)), first + rg.ivec2(i, j)
      node[at] = node[at] + wx[i] * wy[j] * rg.vec3(momentum, 1)
    end
  end
end)

local gather = rg.kernel(function()
  for i, j in rg.range(n, n) do
    local u = node[i][j].xy / math.max(node[i][j].z, 1e-9) - rg.vec2(0, dt * params.gravity)
    flow[i][j] = j < ground and rg.vec2(0, math.max(u.y, 0)) or u   -- feet do not slip
  end
  for p in rg.range(count) do
    local first, f, wx, wy = stencil(x[p])
    local u, c = rg.vec2(0), rg.mat2(0)
    for i, j in rg.range(3, 3) do
      local weighted = wx[i] * wy[j] * flow[first + rg.ivec2(i, j)]
      u, c = u + weighted, c + 4 * n * weighted:outer(rg.vec2(i, j) - f)
    end
    v[p], C[p], x[p] = u, c, x[p] + dt * u
  end
end)

local measure = rg.kernel(function()                 -- minus the distance that the body went
  for p in rg.range(count) do loss[0] = loss[0] - (x[p].x - start[p].x) / count end
end)

local adam = rg.optim.adam { params = { weight }, lr = 0.1 }
local function learn(walks)                          -- and improves the weights after each walk
  return adam:minimize(loss, function()
    loss[0] = 0
    begin()
    for k = 1, steps do scatter(k * dt) gather() end
    measure()
  end, { steps = walks, show = walks > 1 })
end

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
    if step == steps then learn(1) begin() end
    step = step % steps + 1
    scatter(step * dt) gather()
  end,
  touch = function(a, b, da, db) push(rg.vec2(0.8 * a, 0.3 * b), 3 * rg.vec2(da, db)) end,
  draw = function(w) paint() w:show(picture, look) w:watch("distance", -loss[0]) end,
  otherwise = function()
    local losses = learn(rounds)
    print(("it went %.3f"):format(-losses[#losses]))
    begin()
    for k = 1, steps do
      scatter(k * dt) gather()
      if k % 20 == 0 then
        paint()
        rg.image.write(("%s/diffmpm_%03d.png"):format(folder, k), picture, look)
      end
    end
    print(("checksum %d"):format(math.min(unpack(losses)) < -0.04 and 1 or 0))
  end }
