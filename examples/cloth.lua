-- cloth.lua - a square of cloth falls on a ball: masses and springs, shaded by a light.
-- Solids. Run it with:  examples/run cloth
--
-- Provot 1995: every point pulls on twelve neighbours: along axes and diagonals, and two points
-- away to resist bending. Each spring is damped only along its axis, so the cloth folds freely.
local rg = require "regolith"

local folder = arg and arg[1] or "."
local frames, steps = tonumber(arg and arg[2]) or 16, 120
local n = 128                                        -- points along a side
local spacing, dt = 1 / n, 2e-2 / n
local params = { stiffness = 3e4, gravity = 9.8, drag = 1 }
local damping = 1e4
local ball, radius = rg.vec3(0, 0, 0), 0.3
local x, v, force = rg.field(rg.vec3, n, n), rg.field(rg.vec3, n, n), rg.field(rg.vec3, n, n)
local whole = rg.field(rg.f32, n, n)                 -- 0: points that have been cut out

-- An ordinary Lua table; the loop over it in the kernel is unrolled.
local springs = {}
for a = -2, 2 do
  for b = -2, 2 do
    local far = math.abs(a) + math.abs(b)
    if far > 0 and far <= 2 then springs[#springs + 1] = { a, b } end
  end
end

local start = rg.kernel(function()
  for i, j in rg.range(n, n) do
    x[i][j] = rg.vec3(i * spacing - 0.5, 0.31 + 1e-3 * rg.random(), j * spacing - 0.5)
    v[i][j], whole[i][j] = rg.vec3(0), 1
  end
end)

local step = rg.kernel(function()
  for i, j in rg.range(n, n) do
    local sum = rg.vec3(0, -params.gravity, 0)
    for _, spring in ipairs(springs) do
      local a, b = i + spring[1], j + spring[2]
      if a >= 0 and a < n and b >= 0 and b < n then
        local d = x[i][j] - x[a][b]
        local length = d:norm()
        local along = d / length
        local rest = spacing * math.sqrt(spring[1] ^ 2 + spring[2] ^ 2)
        local hold = whole[i][j] * whole[a][b]
        sum = sum - hold * params.stiffness * along * (length / rest - 1)
          - hold * damping * spacing * along * rg.dot(v[i][j] - v[a][b], along)
      end
    end
    force[i][j] = sum
  end
  for i, j in rg.range(n, n) do
    local u = (v[i][j] + dt * force[i][j]) * math.exp(-params.drag * dt)
    local out = x[i][j] - ball
    if out:norm() <= radius then                     -- no motion into the ball
      local normal = out:normalize()
      u = u - math.min(rg.dot(u, normal), 0) * normal
    end
    v[i][j], x[i][j] = u, x[i][j] + dt * u
  end
end)

-- The picture: patches of cloth, cut into dots, and the ball. The nearest dot of a pixel wins: each
-- is a number with nearness in its upper bits and brightness below; a pixel keeps the largest.
local size, detail = 400, 6
local seen = rg.array(rg.i64, size, size)
local pixel = rg.array(rg.vec3, size, size)
local eye = rg.look_at(rg.vec3(0.72, 0.78, 1.32), rg.vec3(0, -0.08, 0), rg.vec3(0, 1, 0))
local light = rg.normalize(rg.vec3(0.5, 1, 0.3))

local function project(at)                           -- to 0 to 1, and how near it is
  local p = (eye * rg.vec4(at, 1)).xyz
  return rg.vec3(0.5 - 1.05 * p.xy / p.z, p.z)
end

local function dot(at, normal, is_ball)
  local p, bright = project(at), math.abs(rg.dot(normal, light))
  local where = rg.floor(p.xy * size)
  local key = rg.i64(1e6 * (4 + p.z)) * 1024 + rg.i64(500 * bright) + (is_ball and 512 or 0)
  if rg.all(where >= 0) and rg.all(where < size) then seen[where] = math.max(seen[where], key) end
end

local draw = rg.kernel(function()
  for i, j in rg.range(size, size) do seen[i][j] = 0 end
  for i, j in rg.range(n - 1, n - 1) do
    local a, b, c, d = x[i][j], x[i + 1][j], x[i][j + 1], x[i + 1][j + 1]
    local normal = rg.normalize(rg.cross(d - a, c - b))
    local is_whole = whole[i][j] * whole[i + 1][j] * whole[i][j + 1] * whole[i + 1][j + 1] > 0
    for s = 0, is_whole and detail - 1 or -1 do
      for t = 0, detail - 1 do
        dot(rg.mix(rg.mix(a, b, s / detail), rg.mix(c, d, s / detail), t / detail), normal, false)
      end
    end
  end
  for i, j in rg.range(1200, 600) do
    local a, b = 2 * math.pi * i / 1200, math.pi * j / 600
    local out = rg.vec3(math.sin(b) * math.cos(a), math.cos(b), math.sin(b) * math.sin(a))
    dot(ball + 0.98 * radius * out, rg.clamp(out, 0, 1), true)
  end
  for i, j in rg.range(size, size) do
    local code = seen[i][j] % 1024
    local bright, warm = code % 512 / 500, rg.vec3(0.95, 0.35, 0.22)
    local colour = code >= 512 and rg.vec3(0.25, 0.45, 0.75) or warm
    pixel[i][j] = seen[i][j] == 0 and rg.vec3(0.93, 0.92, 0.9) - 0.1 * rg.vec3(j / size)
      or colour * (0.25 + 0.75 * bright)
  end
end)

-- The mouse cuts along its way, which ends at `to`; with the right button it blows.
local cut = rg.kernel(function(to, way)
  for i, j in rg.range(n, n) do
    local off = project(x[i][j]).xy - to
    local back = rg.clamp(-rg.dot(off, way) / math.max(rg.dot(way, way), 1e-9), 0, 1)
    if rg.norm(off + back * way) < 0.008 then whole[i][j] = 0 end
  end
end)

local blow = rg.kernel(function(wind)
  for i, j in rg.range(n, n) do v[i][j] = v[i][j] + wind end
end)

rg.live { params = params, reset = start, step = step, speed = 20,
  ranges = { stiffness = { 1e3, 3e4 }, gravity = { 0, 20 } },
  touch = function(a, b, dx, dy, w)
    local is_right = select(3, w:mouse()).right
    if is_right then blow(rg.clamp(rg.vec3(2 * dx, 2 * dy, -dx), -0.2, 0.2))
    else cut(rg.vec2(a, b), rg.vec2(dx, dy)) end
  end,
  draw = function(w) draw() w:show(pixel, { smooth = true }) end,
  otherwise = function()
    for frame = 1, frames do
      for _ = 1, steps do step() end
      if frame % 8 == 0 then
        draw()
        rg.image.write(("%s/cloth_%02d.png"):format(folder, frame), pixel)
      end
    end
    local height = 0
    for _, _, at in pairs(x) do height = height + at.y / (n * n) end
    print(("checksum %d"):format(math.floor(100 * height)))
  end }
