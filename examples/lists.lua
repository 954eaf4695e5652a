-- lists.lua - two streams of grains pile up in heaps: each grain finds its neighbours in lists.
-- Solids. Run it with:  examples/run lists
--
-- The box is divided into cells a little wider than the largest grain. Each cell has a list that
-- grows as grains are appended: a `dynamic` node. Each step empties the lists, appends every grain
-- to the list of its cell, and then looks at the grains in the nine cells around it. The picture is
-- drawn with the same lists, pixel by pixel.
--
-- Lists are filled in parallel, so their order is undefined. Pushes are therefore summed as
-- integers, whose sum does not depend on it: the piles look the same on every run.
local rg = require "regolith"

local folder = arg and arg[1] or "."
local frames, steps = tonumber(arg and arg[2]) or 90, 66
local count, n, size = 1200, 40, 512 -- grains; cells and pixels along a side of the box, which is 1
local largest, dt, rate = 0.0115, 1e-3, 0.21 -- rate: grains that are let go in a step
local params = { stiffness = { 40000, 10000, 60000 }, damping = { 120, 0, 150 },
  friction = { 0.8, 0, 1 }, gravity = 6, drag = 8 }
local fixed = 4096 -- fixed-point units of a push

local x, v = rg.field(rg.vec2, count), rg.field(rg.vec2, count)
local push = rg.field(rg.ivec2, count)

local grain = rg.field(rg.i32) -- the lists hold indices of grains
local cells = rg.root:dense("ij", n)
local bin = cells:dynamic("k", 64, { chunk = 8, name = "bin" })
bin:place(grain)

local function cell_of(p) return rg.clamp(rg.floor(p * n), 0, n - 1) end

local function radius(p) return largest * (0.6 + 0.4 * (0.7548776662 * p % 1)) end

-- How grain q pushes grain p: outward in proportion to the overlap, and across that by friction,
-- which is limited by the push (Coulomb), so that heaps have slopes.
local function contact(p, q)
  local between, motion = x[p] - x[q], v[p] - v[q]
  local distance = between:norm()
  local overlap, force = radius(p) + radius(q) - distance, rg.vec2(0)
  if overlap > 0 and distance > 0 then
    local normal = between / distance
    local approach = rg.dot(motion, normal)
    local press = math.max(params.stiffness * overlap - params.damping * approach, 0.0)
    local slide = motion - approach * normal
    force = press * normal - slide * math.min(100, params.friction * press / (slide:norm() + 1e-6))
  end
  return rg.ivec2(rg.i32(force.x * fixed), rg.i32(force.y * fixed))
end

local start = rg.kernel(function()
  for p in rg.range(count) do -- at one of two spouts, in turn
    local jitter, lane = 0.006 * (0.5698402910 * p % 1), math.floor(p / 2) % 3
    x[p] = rg.vec2(0.24 + 0.48 * (p % 2) + 0.03 * lane + jitter, 0.98)
    v[p] = rg.vec2(0, -0.75)
  end
end)

local move = rg.kernel(function(free) -- the first `free` grains; the others wait in the spouts
  bin:clear()
  for p in rg.range(free) do grain:append(cell_of(x[p]), p) end
  for p in rg.range(free) do
    local cell, sum = cell_of(x[p]), rg.ivec2(0, 0)
    for di = -1, 1 do
      for dj = -1, 1 do
        for _, q in grain:items(cell + rg.ivec2(di, dj)) do -- lists outside the box are empty
          if q ~= p then sum = sum + contact(p, q) end
        end
      end
    end
    push[p] = sum
  end
  for p in rg.range(free) do
    local pull, r = rg.vec2(0, -params.gravity) - params.drag * v[p], radius(p)
    local u = v[p] + dt * (push[p] / fixed + pull)
    local to = x[p] + dt * u
    if to.x < r or to.x > 1 - r then u.x = -0.3 * u.x end
    if to.y < r then u = rg.vec2(0, -0.3 * u.y) end -- the floor is rough
    v[p] = u
    x[p] = rg.clamp(to, r, 1 - r)
  end
end)

local done = 0
local function step()
  done = done + 1
  move(math.min(math.floor(done * rate), count))
end
local function reset() done = 0 start() end

-- A pixel shows the grain that covers it, as a lit ball; its colour says when it was released.
local tones = { rg.vec3(0.93, 0.8, 0.58), rg.vec3(0.8, 0.42, 0.24), rg.vec3(0.35, 0.5, 0.52),
  rg.vec3(0.96, 0.92, 0.84), rg.vec3(0.55, 0.25, 0.22) }
local picture = rg.field(rg.vec3, size, size)
local paint = rg.kernel(function()
  for i, j in rg.range(size, size) do
    local at = (rg.vec2(i, j) + 0.5) / size
    local cell, colour = cell_of(at), rg.vec3(0.1, 0.12, 0.16) * (1 + at.y)
    for di = -1, 1 do
      for dj = -1, 1 do
        for _, q in grain:items(cell + rg.ivec2(di, dj)) do
          local off = (at - x[q]) / radius(q)
          local depth = 1 - rg.dot(off, off)
          if depth > 0 then
            local lit = 0.6 * off.y - 0.45 * off.x + 0.66 * math.sqrt(depth)
            for k, tone in ipairs(tones) do
              if q / 120 % 5 >= k - 1 then colour = tone * (0.4 + 0.65 * math.max(lit, 0.0)) end
            end
          end
        end
      end
    end
    picture[i][j] = colour
  end
end)

-- How full the lists are, and a checksum that is the same on every run.
local summary = rg.kernel(function()
  local longest, sum = 0, 0
  for i, j in rg.range(n, n) do longest = math.max(longest, grain:length(i, j)) end
  for p in rg.range(count) do sum = sum + rg.i32(1000 * x[p].x) + 3 * rg.i32(1000 * x[p].y) end
  return longest, sum
end)

local stir = rg.kernel(function(at, motion)
  for p in rg.range(count) do
    if (x[p] - at):norm() < 0.06 then v[p] = rg.mix(v[p], motion, 0.3) end
  end
end)

rg.live { params = params, reset = reset, step = step, speed = 10,
  touch = function(a, b, dx, dy)
    stir(rg.vec2(a, b), rg.clamp(rg.vec2(dx, dy) * 40, -2, 2))
  end,
  draw = function(w) paint() w:show(picture) end,
  otherwise = function()
    for frame = 1, frames do
      for _ = 1, steps do step() end
      if frame % 15 == 0 then
        paint()
        rg.image.write(("%s/lists_%03d.png"):format(folder, frame), picture)
      end
    end
    local longest, sum = summary()
    print(("%d grains in %d lists, at most %d in one"):format(bin:count(), n * n, longest))
    print(("checksum %d"):format(sum))
  end }
