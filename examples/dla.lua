-- dla.lua - coral from wandering grains: diffusion-limited aggregation on an unbounded plane.
-- Growth and life. Run it with:  examples/run dla
--
-- Witten and Sander 1981: a grain walks at random until it touches the cluster, and sticks there.
-- Tips catch most grains, so branches grow. Thousands of grains walk at once over a sparse plane:
-- only blocks that a grain has reached exist.
local rg = require "regolith"

local folder = arg and arg[1] or "."
local rounds = tonumber(arg and arg[2]) or 1300
local walkers, n, leaf = 4096, 1024, 16
local params = { stride = { 32, 1, 100 }, colours = { 1300, 100, 3000 } } -- rounds for all colours
local mid = rg.ivec2(n / 2)

local age = rg.field(rg.i32)                         -- the round when a grain came to rest; 0: none
local block = rg.root:pointer("ij", n / leaf)
block:dense("ij", leaf):place(age)
local place, rests = rg.array(rg.ivec2, walkers), rg.array(rg.bool, walkers)

local function touches(I)
  return age[I + rg.ivec2(1, 0)] + age[I - rg.ivec2(1, 0)] + age[I + rg.ivec2(0, 1)]
    + age[I - rg.ivec2(0, 1)] > 0
end

-- A random point on a circle around the cluster.
local function on_circle(radius)
  local angle = rg.random(rg.f32, 0, 6.2831853)
  return mid + rg.round(radius * rg.vec2(math.cos(angle), math.sin(angle)))
end

local start = rg.kernel(function(radius)
  for k in rg.range(walkers) do place[k] = on_circle(radius) end
end)

-- First all grains walk, and nothing changes that another grain reads; then those that touch the
-- cluster settle, so the coral does not depend on the number of threads. Returns its new radius.
local walk = rg.kernel(function(round, radius)
  local reach = 0.0
  for k in rg.range(walkers) do
    local at, left = place[k], params.stride
    while left > 0 and not touches(at) do
      local way = rg.random(rg.i32, 0, 3)
      local far = way < 2 and 1 or -1
      at = at + (way % 2 == 0 and rg.ivec2(far, 0) or rg.ivec2(0, far))
      left = left - 1
    end
    if (at - mid):norm() > 1.5 * radius + 40 then at = on_circle(radius + 10) end
    place[k], rests[k] = at, touches(at)
  end
  for k in rg.range(walkers) do
    local at = place[k]
    if rests[k] then
      age[at] = round
      reach = math.max(reach, (at - mid):norm())
      place[k] = on_circle(radius + 10)
    end
  end
  return reach
end)

local size = 512
local picture = rg.field(rg.f32, size, size)
local paint = rg.kernel(function()
  for I in rg.range(size, size):vec() do
    local when = age[I + mid - rg.ivec2(size / 2)]
    picture[I] = when > 0 and 0.25 + 0.75 * when / params.colours or 0
  end
end)

local grains = rg.kernel(function()
  local count = 0
  for i, j in age:active() do if age[i][j] > 0 then count = count + 1 end end
  return count
end)

local radius, round
local function reset()
  block:clear()
  age[mid.x][mid.y] = 1                              -- a seed
  radius, round = 1, 0
  start(40)
end

local function step()
  round = round + 1
  radius = math.max(radius, walk(round, radius))
end

local look = { low = 0, high = 1, palette = "magma" }
rg.live { params = params, reset = reset, speed = 4,
  step = function() if radius < size / 2 - 20 then step() end end,
  touch = function(x, y)                             -- another seed
    age[math.floor(x * size) + mid.x - size / 2][math.floor(y * size) + mid.y - size / 2] = round
    radius = math.max(radius, (rg.vec2(x, y) * size - size / 2):norm())
  end,
  draw = function(w) paint() w:show(picture, look) w:plot("radius", radius) end,
  otherwise = function()
    for _ = 1, rounds do step() end
    paint()
    rg.image.write(folder .. "/dla.png", picture, look)
    print(("%d grains, %.0f from the seed to the tips, in %d of %d blocks"):format(grains(),
      radius, block:count(), (n / leaf) ^ 2))
    print(("checksum %d"):format(grains()))
  end }
