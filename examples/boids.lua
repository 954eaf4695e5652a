-- boids.lua - a flock: each bird keeps its distance, flies as its neighbours fly, and stays near.
-- Growth and life. Run it with:  examples/run boids
--
-- Reynolds' three rules (1987) in a square whose opposite sides meet. Cells are as wide as a bird
-- can see, and each has a list of its birds, so a bird looks at nine cells, not at all other birds.
local rg = require "regolith"

local folder = arg and arg[1] or "."
local frames, steps = tonumber(arg and arg[2]) or 40, 8
local count, cells, sight, dt = 2048, 24, 1 / 24, 0.01
local near, slow, fast = 0.6 * sight, 0.25, 0.5
local params = { apart = 2, along = 10, together = 8 } -- the weights of the three rules

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
-- The vector between two positions: the shortest one, also across an edge of the square.
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

-- The picture: silhouettes in the evening. Each bird has a distance of its own; far ones are small
-- and pale. `ink` is how much of the sky a bird hides in a pixel.
local size = 640
local ink, pixel = rg.field(rg.f32, size, size), rg.array(rg.vec3, size, size)

local function sky(at)
  local sun = (at - rg.vec2(0.68, 0.24)):norm()
  local colour = rg.mix(rg.vec3(1, 0.72, 0.42), rg.vec3(0.36, 0.52, 0.78),
    rg.smoothstep(0.05, 0.95, at.y))
  colour = rg.mix(colour, rg.vec3(1, 0.9, 0.66), 0.7 * math.exp(-5 * sun))
  return rg.mix(colour, rg.vec3(1, 0.97, 0.86), 1 - rg.smoothstep(0.075, 0.08, sun))
end

local paint = rg.kernel(function(time)
  for i, j in rg.range(size, size) do ink[i][j] = 0 end
  for b in rg.range(count) do
    local near_by = (0.6180339887 * b % 1) ^ 8     -- 1 for the nearest
    local span = (0.009 + 0.045 * near_by) * size  -- of a wing, in pixels
    local centre, ahead = place[b] * size, velocity[b]:normalize()
    local beat, reach = 0.8 + 0.2 * math.sin(time * 9 + b), rg.i32(span) + 1
    for di = -reach, reach do
      for dj = -reach, reach do
        local at = rg.floor(centre) + rg.ivec2(di, dj)
        local off = (at + 0.5 - centre) / span
        -- along the flight and across it: wings swept back, and a body
        local along, across = rg.dot(off, ahead), math.abs(off.x * ahead.y - off.y * ahead.x) / beat
        local wing = math.min(0.42 - 0.95 * across - along, along + 0.05 + 0.48 * across)
        local body = math.min(0.09 - across, 0.62 - math.abs(along))
        local cover = rg.clamp(math.max(wing, body) * span + 0.5, 0, 1)
        local dark = cover * (0.4 + 0.6 * math.sqrt(near_by))
        if dark > 0 then ink[at % size] = math.max(ink[at % size], dark) end
      end
    end
  end
  for i, j in rg.range(size, size) do
    pixel[i][j] = rg.mix(sky(rg.vec2(i, j) / size), rg.vec3(0.1, 0.08, 0.16), ink[i][j])
  end
end)

local scare = rg.kernel(function(at)                 -- a hawk
  for b in rg.range(count) do
    local d = way(at, place[b])
    if d:norm() < 0.15 then velocity[b] = velocity[b] + 0.1 * d / (d:norm() + 0.01) end
  end
end)

rg.live { params = params, reset = begin, step = step, width = 800, height = 800,
  ranges = { apart = { 0, 6 }, along = { 0, 30 }, together = { 0, 60 } },
  touch = function(x, y) scare(rg.vec2(x, y)) end,
  draw = function(w) paint(rg.time()) w:show(pixel) end,
  otherwise = function()
    local seconds = 0
    for frame = 1, frames do
      local start = rg.time()
      for _ = 1, steps do step() end
      seconds = seconds + rg.time() - start
      if frame % 10 == 0 then
        paint(0.08 * frame)
        rg.image.write(("%s/boids_%03d.png"):format(folder, frame), pixel)
      end
    end
    local all, neighbours = order()
    print(("%.1f million birds per second; order %.2f, among neighbours %.2f"):format(
      count * frames * steps / seconds * 1e-6, all, neighbours))
    -- The order of sums over lists varies, so no two flights are quite the same, but all flock.
    print(("checksum %d"):format(neighbours > 0.8 and count or 0))
  end }
