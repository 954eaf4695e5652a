-- tets.lua - two jellies fall onto a ring and onto each other: tetrahedra, contact, rays.
-- Solids. Run it with:  examples/run tets
--
-- Smith, de Goes, Kim 2018: a neo-Hookean solid that also resists when turned inside out. Points
-- inside another body move to its closest surface, and rays draw the picture: both ask rg.bvh.
local rg = require "regolith"

local folder = arg and arg[1] or "."
local frames, dt, density = tonumber(arg and arg[2]) or 40, 2e-4, 10
local params = { stiffness = 2.5e3, gravity = 9.8, friction = 0.4 }
local n = 40                                         -- the ring is the surface of a field
local field = rg.field(rg.f32, n, n, n)
rg.kernel(function()
  for i, j, k in field:active() do
    local p = rg.vec3(i, j, k) / (n - 1) - 0.5
    local off = math.sqrt(p.x * p.x + p.z * p.z) - 0.3
    field[i][j][k] = math.sqrt(off * off + p.y * p.y) - 0.09
  end
end)()
local ring = { skin = rg.mesh(field, { spacing = 1 / (n - 1), origin = { -0.5, -0.1, -0.5 } }) }
ring.tree = rg.bvh(ring.skin)

local function new_jelly(origin)
  local m = rg.mesh.block { cells = { 12, 4, 5 }, size = { 0.66, 0.22, 0.28 }, origin = origin }
  local v, force = rg.array(rg.vec3, m.point_count), rg.array(rg.vec3, m.point_count)
  return { mesh = m, skin = m:surface(), tree = rg.bvh(m:surface()), x = m.points, v = v,
    force = force, first = rg.zeros_like(m.points):copy_from(m.points), size = m:measures(),
    mass = density * m:volume() / m.point_count, at_rest = rg.array(rg.mat3, m.cell_count) }
end
local jellies = { new_jelly { -0.25, 0.62, -0.12 }, new_jelly { -0.42, 1.05, -0.05 } }

local function sides(x, c)                           -- as columns, from the first corner
  local a, b, d = x[c.y] - x[c.x], x[c.z] - x[c.x], x[c.w] - x[c.x]
  return rg.mat3(a.x, b.x, d.x, a.y, b.y, d.y, a.z, b.z, d.z)
end

local start = rg.kernel(function(body)
  for p in rg.range(#body.x) do body.x[p], body.v[p] = body.first[p], rg.vec3(0) end
  for c in rg.range(body.mesh.cell_count) do
    body.at_rest[c] = sides(body.first, body.mesh.cells[c]):inverse()
  end
end)

local move = rg.kernel(function(body)
  for p in rg.range(#body.x) do body.force[p] = rg.vec3(0, -params.gravity * body.mass, 0) end
  for c in rg.range(body.mesh.cell_count) do
    local corners = body.mesh.cells[c]
    local F = sides(body.x, corners) * body.at_rest[c]
    local a, b, d = rg.column(F, 0), rg.column(F, 1), rg.column(F, 2)
    local u, v, w = rg.cross(b, d), rg.cross(d, a), rg.cross(a, b)
    local cofactor = rg.mat3(u.x, v.x, w.x, u.y, v.y, w.y, u.z, v.z, w.z)
    local mu, lambda = 0.36 * params.stiffness, 1.5 * params.stiffness
    local square, J = rg.dot(a, a) + rg.dot(b, b) + rg.dot(d, d), rg.dot(a, u)
    local stress = mu * (1 - 1 / (square + 1)) * F + (lambda * (J - 1) - 0.75 * mu) * cofactor
    local H = -body.size[c] * stress * body.at_rest[c]:transpose()
    for k in rg.static(rg.range(3)) do
      body.force[corners[k + 1]] = body.force[corners[k + 1]] + rg.column(H, k)
      body.force[corners.x] = body.force[corners.x] - rg.column(H, k)
    end
  end
  for p in rg.range(#body.x) do
    local v = (body.v[p] + dt * body.force[p] / body.mass) * (1 - dt)
    if body.x[p].y < 0 then v = rg.vec3(0.9 * v.x, math.max(v.y, 0), 0.9 * v.z) end
    body.v[p], body.x[p] = v, body.x[p] + dt * v
  end
end)

-- Points of `body` that are inside `other` move half of the way out, or all of it.
local touch = rg.kernel(function(body, other, share)
  for p in rg.range(#body.x) do
    if other.tree:inside(body.x[p]) then
      local near, v = other.tree:closest(body.x[p]), body.v[p]
      if near and near.distance > 0 then
        local out = (near.point - body.x[p]) / near.distance
        local inward, along = math.min(rg.dot(v, out), 0), v - rg.dot(v, out) * out
        local slow = math.min(-params.friction * inward / math.max(along:norm(), 1e-6), 1)
        body.v[p] = v - inward * out - slow * along
        body.x[p] = body.x[p] + share * near.distance * out
      end
    end
  end
end)

local function step()
  for _ = 1, 8 do
    for _, body in ipairs(jellies) do
      for _ = 1, 6 do move(body) end
      body.tree:refit()
    end
    touch(jellies[1], jellies[2], 0.5)
    touch(jellies[2], jellies[1], 0.5)
    for _, body in ipairs(jellies) do touch(body, ring, 1) end
  end
end

-- The picture: the first triangle that a ray from the eye meets, and whether it sees the light.
local size, eye, light = 400, rg.vec3(0.9, 1, 1.5), rg.normalize(rg.vec3(0.5, 1, 0.25))
local pixel = rg.array(rg.vec3, size, size)
local forward = rg.normalize(rg.vec3(0, 0.34, 0) - eye)
local right = rg.normalize(rg.cross(forward, rg.vec3(0, 1, 0)))
local up = rg.cross(right, forward)
local bodies = { { jellies[1], rg.vec3(0.9, 0.25, 0.3) }, { jellies[2], rg.vec3(0.25, 0.7, 0.35) },
  { ring, rg.vec3(0.85, 0.7, 0.3) } }
local paint = rg.kernel(function()
  for i, j in rg.range(size, size) do
    local ray = rg.normalize(forward + 0.7 * (right * (i / size - 0.5) + up * (j / size - 0.5)))
    local t = ray.y < 0 and -eye.y / ray.y or 9.0    -- the floor
    local at = eye + t * ray
    local check = (math.floor(4 * at.x) + math.floor(4 * at.z)) % 2
    local colour, normal = rg.vec3(0.78, 0.8, 0.83) * (1 + 0.15 * check), rg.vec3(0, 1, 0)
    for _, row in ipairs(bodies) do
      local hit, x = row[1].tree:ray(eye, ray, t), row[1].skin.points
      if hit then
        local c = row[1].skin.cells[hit.cell]
        normal = rg.normalize(rg.cross(x[c.y] - x[c.x], x[c.z] - x[c.x]))
        t, colour = hit.t, row[2]
      end
    end
    local shade, from = math.max(rg.dot(normal, light), 0.0), eye + t * ray + 2e-3 * normal
    for _, row in ipairs(bodies) do
      if row[1].tree:ray(from, light) then shade = 0.0 end
    end
    local sky = rg.smoothstep(3, 8, t)
    pixel[i][j] = rg.mix(colour * (0.35 + 0.65 * shade), rg.vec3(0.75, 0.83, 0.92), sky)
  end
end)

local floor = { { -1, 0, -1 }, { -1, 0, 1 }, { 1, 0, -1 }, { 1, 0, -1 }, { -1, 0, 1 }, { 1, 0, 1 } }
rg.live { params = params, step = step, shadows = true,
  reset = function() for _, body in ipairs(jellies) do start(body) end end,
  draw = function(w)
    w:clear(0.75, 0.83, 0.92):camera { target = { 0, 0.28, 0 }, eye = eye }
    w:mesh(floor, { color = { 0.78, 0.8, 0.83 }, shine = 0 })
    for _, row in ipairs(bodies) do w:mesh(row[1].skin, { color = row[2] }) end
  end,
  touch = function(_, _, _, _, w)                    -- the right button throws them up
    for _, body in ipairs(select(3, w:mouse()).right and jellies or {}) do
      body.v:map(function(v) return v + rg.vec3(0, 0.3, 0) end, body.v)
    end
  end,
  otherwise = function()
    for frame = 8, frames, 8 do
      for _ = 1, 8 do step() end
      paint()
      rg.image.write(("%s/tets_%02d.png"):format(folder, frame), pixel)
    end
    local height = (jellies[1].x:sum().y + jellies[2].x:sum().y) / #jellies[1].x
    print(("checksum %d"):format(math.floor(20 * height)))
  end }
