-- fem.lua - a rubber beam falls over three pegs: finite elements of a neo-Hookean solid, in 2-D.
-- Solids. Run it with:  examples/run fem
--
-- Sifakis and Barbic 2012: a triangle's deformation F, relative to its rest shape, determines its
-- elastic energy; the force on a corner is minus the gradient of that energy. Several triangles add
-- to each point, so these updates are atomic.
local rg = require "regolith"

local folder = arg and arg[1] or "."
local frames, steps = tonumber(arg and arg[2]) or 18, 240
local nx, ny = 96, 16                                -- squares of two triangles each
local h, dt = 0.8 / nx, 8e-5
local params = { gravity = 9.8, drag = 0.6 }
local young, ratio, density = 3e3, 0.35, 10
local mu, lambda = young / (2 * (1 + ratio)), young * ratio / ((1 + ratio) * (1 - 2 * ratio))
local points, count = (nx + 1) * (ny + 1), 2 * nx * ny
local pegs = { rg.vec3(0.2, 0.3, 0.05), rg.vec3(0.45, 0.45, 0.05), rg.vec3(0.75, 0.2, 0.05) }

local x, v, force = rg.array(rg.vec2, points), rg.array(rg.vec2, points), rg.array(rg.vec2, points)
local corners = rg.array(rg.ivec3, count)
local at_rest, tension = rg.array(rg.mat2, count), rg.array(rg.f32, count)

-- The edges of triangle t from its first corner, as columns.
local function sides(t)
  local a, b, c = x[corners[t].x], x[corners[t].y], x[corners[t].z]
  return rg.mat2(b.x - a.x, c.x - a.x, b.y - a.y, c.y - a.y)
end

local start = rg.kernel(function()
  for i, j in rg.range(nx + 1, ny + 1) do
    x[i * (ny + 1) + j] = rg.vec2(0.1 + i * h, 0.7 + j * h)
  end
  for i, j in rg.range(nx, ny) do
    local a, b = i * (ny + 1) + j, (i + 1) * (ny + 1) + j
    corners[2 * (i * ny + j)] = rg.ivec3(a, b, a + 1)
    corners[2 * (i * ny + j) + 1] = rg.ivec3(b + 1, a + 1, b)
  end
  for t in rg.range(count) do at_rest[t] = sides(t):inverse() end
end)

local step = rg.kernel(function()
  for k in rg.range(points) do force[k] = rg.vec2(0, -params.gravity * density * h * h) end
  for t in rg.range(count) do
    local F = sides(t) * at_rest[t]
    local J = math.max(F:determinant(), 0.1)
    local turned = F:inverse():transpose()
    local stress = mu * (F - turned) + lambda * math.log(J) * turned
    local H = -0.5 * h * h * stress * at_rest[t]:transpose()
    local first, second = rg.column(H, 0), rg.column(H, 1)
    local a, b, c = corners[t].x, corners[t].y, corners[t].z
    force[a] = force[a] - first - second
    force[b] = force[b] + first
    force[c] = force[c] + second
    tension[t] = 0.5 * mu * (rg.sum(rg.hadamard(F, F)) - 2)
  end
  for k in rg.range(points) do
    local u = (v[k] + dt * force[k] / (density * h * h)) * math.exp(-params.drag * dt)
    for _, peg in ipairs(pegs) do
      local out = x[k] - peg.xy
      if out:norm() < peg.z then                     -- a peg pushes outward, with a little friction
        local normal = out:normalize()
        local inward = math.min(rg.dot(u, normal), 0)
        u = 0.99 * (u - inward * normal) + normal * (peg.z - out:norm()) * 20
      end
    end
    if x[k].y < 0.02 then u = rg.vec2(0.9 * u.x, math.max(u.y, 0)) end
    if x[k].x < 0.02 then u.x = math.max(u.x, 0) end
    if x[k].x > 0.98 then u.x = math.min(u.x, 0) end
    v[k], x[k] = u, x[k] + dt * u
  end
end)

-- Tests each pixel of a triangle's bounding box, and colours those inside the triangle.
local size = 400
local pixel = rg.array(rg.vec3, size, size)
local blue, red = rg.vec3(0.15, 0.35, 0.65), rg.vec3(1, 0.4, 0.15)
local draw = rg.kernel(function()
  for i, j in rg.range(size, size) do
    pixel[i][j] = rg.vec3(0.97, 0.96, 0.93)
    for _, peg in ipairs(pegs) do
      if (rg.vec2(i, j) / size - peg.xy):norm() < peg.z then pixel[i][j] = rg.vec3(0.3) end
    end
  end
  for t in rg.range(count) do
    local a, inside = x[corners[t].x], sides(t):inverse()
    local b, c = x[corners[t].y], x[corners[t].z]
    local low = rg.floor(size * rg.vec2(math.min(a.x, b.x, c.x), math.min(a.y, b.y, c.y)))
    local high = rg.floor(size * rg.vec2(math.max(a.x, b.x, c.x), math.max(a.y, b.y, c.y)))
    for i = math.max(low.x, 0), math.min(high.x, size - 1) do
      for j = math.max(low.y, 0), math.min(high.y, size - 1) do
        local st = inside * (rg.vec2(i, j) / size - a)
        if st.x >= 0 and st.y >= 0 and st.x + st.y <= 1 then
          pixel[i][j] = rg.mix(blue, red, rg.clamp(tension[t] / (0.08 * mu), 0, 1))
        end
      end
    end
  end
end)

local pull = rg.kernel(function(at, motion)
  for k in rg.range(points) do
    if (x[k] - at):norm() < 0.06 then v[k] = v[k] + motion end
  end
end)

local function reset()
  v:fill(rg.vec2(0))
  start()
end

rg.live { params = params, reset = reset, step = step, speed = 60,
  ranges = { gravity = { -10, 20 } },
  touch = function(a, b, dx, dy) pull(rg.vec2(a, b), rg.vec2(dx, dy) * 6) end,
  draw = function(w) draw() w:show(pixel) end,
  otherwise = function()
    for frame = 1, frames do
      for _ = 1, steps do step() end
      if frame % 6 == 0 then
        draw()
        rg.image.write(("%s/fem_%02d.png"):format(folder, frame), pixel)
      end
    end
    print(("checksum %d"):format(math.floor(20 * rg.scan(x).y / points)))
  end }
