-- lists.lua - 3000 grains pour into a box and pile up: each finds its neighbours through lists.
-- Solids. Run it with:  examples/run lists
--
-- The box is divided into cells a little wider than a grain. Each cell has a list that grows as
-- grains are appended: a `dynamic` node. Each step empties the lists, appends every grain to the
-- list of its cell, and then looks at the grains in the nine cells around it. The picture is drawn
-- with the same lists, pixel by pixel.
--
-- Lists are filled in parallel, so their order is undefined. Pushes are therefore summed as
-- integers, whose sum does not depend on it: the piles look the same on every run.
local rg = require "regolith"

local folder = arg and arg[1] or "."
local frames, steps = tonumber(arg and arg[2]) or 90, 20
local count, n, size = 3000, 64, 512 -- grains; cells and pixels along a side of the box, which is 1
local radius, dt = 0.0072, 1e-3
local params = { stiffness = { 8000, 1000, 10000 }, friction = { 12, 0, 30 }, gravity = 3 }
local fixed = 4096 -- fixed-point units of a push

local x, v = rg.field(rg.vec2, count), rg.field(rg.vec2, count)
local push = rg.field(rg.ivec2, count)

local grain = rg.field(rg.i32) -- the lists hold indices of grains
local cells = rg.root:dense("ij", n)
local bin = cells:dynamic("k", 64, { chunk = 8, name = "bin" })
bin:place(grain)

local function cell_of(p) return rg.clamp(rg.floor(p * n), 0, n - 1) end

-- How grain q pushes grain p: outward in proportion to the overlap, and against their relative
-- motion.
local function contact(p, q)
  local between = x[p] - x[q]
  local distance = between:norm()
  local overlap = 2 * radius - distance
  local force = rg.vec2(0)
  if overlap > 0 and distance > 0 then
    force = between / distance * (params.stiffness * overlap) - params.friction * (v[p] - v[q])
  end
  return rg.ivec2(rg.i32(force.x * fixed), rg.i32(force.y * fixed))
end

local start = rg.kernel(function()
  for p in rg.range(count) do -- a block in the upper left, a little disturbed
    local row, column = math.floor(p / 50), p % 50
    x[p] = rg.vec2(0.02 + column * 0.0152 + 0.001 * (row % 3), 0.06 + row * 0.0152)
    v[p] = rg.vec2(0.3 * math.sqrt(row), 0)
  end
end)

local step = rg.kernel(function()
  bin:clear()
  for p in rg.range(count) do grain:append(cell_of(x[p]), p) end
  for p in rg.range(count) do
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
  for p in rg.range(count) do
    local u = v[p] + dt * (push[p] / fixed + rg.vec2(0, -params.gravity))
    local to = x[p] + dt * u
    if to.x < radius or to.x > 1 - radius then u.x = -0.3 * u.x end
    if to.y < radius or to.y > 1 - radius then u = rg.vec2(0.9 * u.x, -0.3 * u.y) end
    v[p] = u
    x[p] = rg.clamp(to, radius, 1 - radius)
  end
end)

-- A pixel shows the grain that covers it, brighter the faster it moves.
local picture = rg.field(rg.f32, size, size)
local paint = rg.kernel(function()
  for i, j in rg.range(size, size) do
    local at = (rg.vec2(i, j) + 0.5) / size
    local cell, shade = cell_of(at), 0.0
    for di = -1, 1 do
      for dj = -1, 1 do
        for _, q in grain:items(cell + rg.ivec2(di, dj)) do
          local off = (x[q] - at):norm() / radius
          if off < 1 then
            shade = math.max(shade, (1 - 0.5 * off * off) * math.min(0.35 + 0.4 * v[q]:norm(), 1))
          end
        end
      end
    end
    picture[i][j] = shade
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

local look = { low = 0, high = 1, palette = "heat" }
rg.live { params = params, reset = start, step = step, speed = 10,
  touch = function(a, b, dx, dy)
    stir(rg.vec2(a, b), rg.clamp(rg.vec2(dx, dy) * 40, -2, 2))
  end,
  draw = function(w) paint() w:show(picture, look) end,
  otherwise = function()
    for frame = 1, frames do
      for _ = 1, steps do step() end
      if frame % 15 == 0 then
        paint()
        rg.image.write(("%s/lists_%03d.png"):format(folder, frame), picture, look)
      end
    end
    local longest, sum = summary()
    print(("%d grains in %d lists, at most %d in one"):format(bin:count(), n * n, longest))
    print(("checksum %d"):format(sum))
  end }
