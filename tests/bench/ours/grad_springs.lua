-- grad_springs.lua - a walker of masses and springs whose rest lengths oscillate; and the gradient
-- of the distance that its head travels with respect to the weights of the oscillation.
-- usage: grad_springs forward|both [points per row] [rows] [steps]
local rg, bench = require "regolith", require "bench"
local phase, width, height, steps = bench.arguments("both", 32, 12, 300)

local dt, stiffness, gravity, drag, waves, size = 2e-3, 4000, 4.8, 6, 8, 0.04
local count = width * height
local edges = {}
for i = 0, width - 1 do
  for j = 0, height - 1 do
    for _, by in ipairs { { 1, 0 }, { 0, 1 }, { 1, 1 }, { 1, -1 } } do
      local a, b = i + by[1], j + by[2]
      if a < width and b >= 0 and b < height then
        edges[#edges + 1] = { i * height + j, a * height + b, by[1] * by[2] ~= 0 and 2 ^ 0.5 or 1 }
      end
    end
  end
end

local m = #edges
local function moving(T) return rg.field(T, steps + 1, count, { grad = true }) end
local x, v, force = moving(rg.vec2), moving(rg.vec2), moving(rg.vec2)
local weight = rg.field(rg.f32, m, waves, { grad = true })
local loss = rg.field(rg.f32, 1, { grad = true })
local from, to, rest = rg.field(rg.i32, m), rg.field(rg.i32, m), rg.field(rg.f32, m)
for k, edge in ipairs(edges) do
  from[k - 1], to[k - 1], rest[k - 1] = edge[1], edge[2], edge[3] * size
end

local start = rg.kernel(function()
  for k, w in rg.range(m, waves) do weight[k][w] = 0.05 * (bench.noise(k * waves + w) - 0.5) end
  for p in rg.range(count) do
    x[0][p] = rg.vec2(math.floor(p / height) * size, 0.1 + (p % height) * size)
    v[0][p] = rg.vec2(0)
  end
end)
start()

local pull = rg.kernel(function(t)
  for k in rg.range(m) do
    local drive = 0.0
    for w = 0, waves - 1 do
      drive = drive + weight[k][w] * math.sin(20 * dt * t + 2 * math.pi / waves * w)
    end
    local a, b = from[k], to[k]
    local d = x[t][a] - x[t][b]
    local length = d:norm() + 1e-4
    local f = (stiffness * (length - rest[k] * (1 + 0.1 * math.tanh(drive))) / length) * d
    force[t][a] = force[t][a] - f
    force[t][b] = force[t][b] + f
  end
end)

local move = rg.kernel(function(t)
  for p in rg.range(count) do
    local u = math.exp(-dt * drag) * v[t][p] + dt * (force[t][p] + rg.vec2(0, -gravity))
    local at = x[t][p]
    if at.y <= 0 and u.y < 0 then u = rg.vec2(0, 0) end
    v[t + 1][p], x[t + 1][p] = u, at + dt * u
  end
end)

local measure = rg.kernel(function() -- its head is the last column
  for p in rg.range({ count - height, count }) do loss[0] = loss[0] - x[steps][p].x / height end
end)

local function simulate()
  loss[0] = 0
  force:fill(rg.vec2(0))
  for t = 0, steps - 1 do
    pull(t)
    move(t)
  end
  measure()
end

local slope = rg.kernel(function()
  local sum = rg.f64(0)
  for k, w in rg.range(m, waves) do sum = sum + math.abs(weight.grad[k][w]) end
  return sum
end)

bench.run {
  step = phase == "forward" and simulate or function() rg.grad(loss, simulate) end,
  checksum = function() return phase == "forward" and loss[0] or slope() end,
}
