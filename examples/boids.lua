-- boids.lua - a flock: each bird keeps its distance, flies as its neighbours fly, and stays near.
-- Growth and life. Run it with:  examples/run boids
--
-- Reynolds' three rules (1987) in a square whose opposite sides meet. Cells are as wide as a bird
-- can see, and each has a list of its birds, so a bird looks at nine cells, not at all other birds.
local rg = require "regolith"

local folder = arg and arg[1] or "."
local frames, steps = tonumber(arg and arg[2]) or 40, 8
local count, cells, sight, dt = 4096, 32, 1 / 32, 0.01
local near, slow, fast = 0.4 * sight, 0.25, 0.5
local params = { apart = 0.02, along = 10, together = 20 } -- the weights of the three rules

local place, velocity = rg.field(rg.vec2, count), rg.field(rg.vec2, count)
local turned = rg.field(rg.vec2, count)
local bird = rg.field(rg.i32)
local cell = rg.root:dense("ij", cells):dynamic("k", count, { chunk = 16 })
cell:place(bird)

local begin = rg.kernel(function()
  for b in rg.range(count) do
    place[b] = rg.vec2(rg.random(rg.f32), rg.random(rg.f32))
    local angle = 6.2831853 * rg.random(rg.f32)
    velocity[b] = fast * rg.vec2(math.cos(angle), math.sin(angle))
  end
end)

local function cell_of(x) return rg.floor(x * cells) % cells end
-- the shortest way, also across an edge of the square
local function way(from, to) return to - from - rg.round(to - from) end

local step = rg.kernel(function()
  for i, j in rg.range(cells, cells) do cell:deactivate(i, j) end
  for b in rg.range(count) do cell:append(cell_of(place[b]), b) end
  for b in rg.range(count) do
    local x, v = place[b], velocity[b]
    local apart, along, together, seen = rg.vec2(0), rg.vec2(0), rg.vec2(0), 0
    local home = cell_of(x)
    for di = -1, 1 do
      for dj = -1, 1 do
        for _, other in bird:items((home + rg.ivec2(di, dj)) % cells) do
          local d = way(x, place[other])
          local distance = d:norm()
          if other ~= b and distance < sight then
            if distance < near then apart = apart - d * (1 / (distance + 1e-4) - 1 / near) end
            along, together, seen = along + velocity[other], together + d, seen + 1
          end
        end
      end
    end
    if seen > 0 then
      v = v + dt * (params.apart * apart + params.along * (along / seen - v)
        + params.together * together / seen)
    end
    local speed = math.max(v:norm(), 1e-6)
    turned[b] = v * (rg.clamp(speed, slow, fast) / speed)
  end
  for b in rg.range(count) do
    velocity[b] = turned[b]
    place[b] = (place[b] + dt * turned[b]) % 1.0
  end
end)

-- How much all of them agree: 1 if all fly in one direction, about 0 for no order at all.
local order = rg.kernel(function()
  local sum, alike = rg.vec2(0), 0.0
  for b in rg.range(count) do
    sum = sum + velocity[b] / velocity[b]:norm()
    local near_by, seen = 0.0, 0
    for _, other in bird:items(cell_of(place[b])) do
      near_by = near_by + rg.dot(velocity[other], velocity[b])
        / (velocity[other]:norm() * velocity[b]:norm())
      seen = seen + 1
    end
    alike = alike + (seen > 0 and near_by / seen or 1.0)
  end
  return sum:norm() / count, alike / count
end)

local size = 400
local pixel = rg.field(rg.f32, size, size)
local paint = rg.kernel(function()
  for i, j in rg.range(size, size) do pixel[i][j] = 0.8 * pixel[i][j] end
  for b in rg.range(count) do
    local at = rg.floor(place[b] * size)
    pixel[at] = math.max(pixel[at], 1.0)
  end
end)

local scare = rg.kernel(function(at)                 -- a hawk
  for b in rg.range(count) do
    local d = way(at, place[b])
    if d:norm() < 0.15 then velocity[b] = velocity[b] + 0.1 * d / (d:norm() + 0.01) end
  end
end)

-- In a window with OpenGL a bird is a triangle, which beats its wings.
local corner, tint = rg.array(rg.vec2, 3 * count), rg.array(rg.vec3, 3 * count)
local outline = rg.kernel(function(time)
  for b in rg.range(count) do
    local ahead = velocity[b]:normalize() * 0.007
    local wing = rg.vec2(-ahead.y, ahead.x) * (0.45 + 0.25 * math.sin(time * 9 + b))
    corner[3 * b] = place[b] + ahead
    corner[3 * b + 1], corner[3 * b + 2] = place[b] - ahead + wing, place[b] - ahead - wing
    for k = 0, 2 do
      tint[3 * b + k] = rg.mix(rg.vec3(0.1, 0.12, 0.2), rg.vec3(0.75, 0.25, 0.2),
        rg.clamp(velocity[b].y / fast, 0, 1))
    end
  end
end)

local look = { low = 0, high = 1, palette = "heat" }
local function draw(w)
  outline(rg.time())
  w:clear(0.95, 0.85, 0.72)
  if not pcall(w.triangles, w, corner, { color = tint }) then
    paint()
    w:show(pixel, look)
  end
end

rg.live { params = params, reset = begin, step = step, width = 800, height = 800,
  ranges = { apart = { 0, 0.1 }, along = { 0, 30 }, together = { 0, 60 } },
  touch = function(x, y) scare(rg.vec2(x, y)) end,
  draw = draw,
  otherwise = function()
    local seconds = 0
    for frame = 1, frames do
      local start = rg.time()
      for _ = 1, steps do step() end
      seconds = seconds + rg.time() - start
      paint()
      if frame % 10 == 0 then
        rg.image.write(("%s/boids_%03d.png"):format(folder, frame), pixel, look)
      end
    end
    local all, neighbours = order()
    print(("%.1f million birds per second; order %.2f, among neighbours %.2f"):format(
      count * frames * steps / seconds * 1e-6, all, neighbours))
    -- The order of sums over lists varies, so no two flights are quite the same, but all flock.
    print(("checksum %d"):format(neighbours > 0.8 and count or 0))
  end }
