--- `rg.bvh(mesh)`: a tree of boxes over the triangles (or tetrahedra) of a mesh, for queries in
--- kernels and from Lua: the first hit of a ray, the closest point, whether a point is inside, the
--- cells that meet a box, the tetrahedron at a point.
---
--- A node has the boxes of its two children, and a code for each child: from 1 on the number of a
--- node; -1 - (4 first + count - 1) for a leaf with the cells order[first] to
--- order[first + count - 1]; 0 for no child, which only the root may have.
---
--- `tree:refit()` fits the boxes to points that moved; after large movements, `tree:rebuild()`
--- sorts the cells again. The results of both do not depend on the order of threads.
local fail = require "regolith.error"
local iterator = require "regolith.kernel.iterator"
local substitute = require "regolith.kernel.substitute"
local build = require "regolith.toolbox.mesh.bvh_build"
local meshes = require "regolith.toolbox.mesh"
local object = require "regolith.toolbox.object"
local rg = require "regolith" -- for names that kernels know; arrays are those of the mesh's runtime

local bvh = {}

local Bvh = { __regolith = "a bvh", __kernel = true }
local methods = {} -- for all kinds of cells
local queries = { triangles = {}, tetrahedra = {} } -- by the kind of cell

function Bvh:__index(name)
  local own = queries[rawget(self, "mesh").kind]
  if methods[name] or own[name] then return methods[name] or own[name] end
  local names, hint = {}, nil
  for _, list in ipairs { methods, own } do
    for known in pairs(list) do names[#names + 1] = known end
  end
  if queries.triangles[name] then hint = "surfaces have it: rg.bvh(m:surface())" end
  if queries.tetrahedra[name] then hint = "a bvh of tetrahedra has it" end
  return fail.argument(("a bvh of %s has no '%s'"):format(self.mesh.kind, tostring(name)),
    hint or fail.nearest(name, names), "name.unknown")
end

function Bvh:__tostring() return ("bvh of a %s"):format(tostring(self.mesh)) end

methods.rebuild, methods.refit = build.rebuild, build.refit

fail.guard(methods, function(self) return getmetatable(self) == Bvh end, "tree")

-- -- queries, for kernels and for Lua -------------------------------------------------------------

-- The parameter t at which a ray enters a box, or `most` if it does not enter before that.
local function entry(low, high, origin, inverse, most)
  local a, b = (low - origin) * inverse, (high - origin) * inverse
  local near, far = rg.math.min(a, b), rg.math.max(a, b)
  local first = rg.math.max(rg.math.max(near.x, near.y), rg.math.max(near.z, 0))
  local last = rg.math.min(rg.math.min(far.x, far.y), rg.math.min(far.z, most))
  return first <= last and first or most
end

-- 1 / d, without infinities, whose product with 0 is NaN.
local function inverse_of(d)
  local x = math.abs(d.x) > 1e-30 and 1 / d.x or 1e30
  local y = math.abs(d.y) > 1e-30 and 1 / d.y or 1e30
  local z = math.abs(d.z) > 1e-30 and 1 / d.z or 1e30
  return rg.vec3(x, y, z)
end

--- The first triangle that a ray meets: nil, or { cell, t, u, v }, where the hit is at
--- origin + t * direction, in the triangle at a + u * (b - a) + v * (c - a). `limit` is the largest
--- t. Moeller and Trumbore 1997.
function queries.triangles:ray(origin, direction, limit)
  local most = 3.0e38
  if limit ~= nil then most = limit * 1.0 end
  local inverse = inverse_of(direction)
  local cell, u, v = -1, 0.0, 0.0
  local stack, reach, top, node = rg.zeros(rg.i32, 128), rg.zeros(rg.f32, 128), 0, 0
  while node >= 0 do
    local one = self.nodes[node]
    local t0 = entry(one.low0, one.high0, origin, inverse, most)
    local t1 = entry(one.low1, one.high1, origin, inverse, most)
    local child0 = t0 < most and one.left or 0
    local child1 = t1 < most and one.right or 0
    for rank = 0, 1 do -- the nearer child first
      local code = (rank == 0) == (t0 <= t1) and child0 or child1
      if code < 0 then
        local first = math.floor((-1 - code) / 4)
        for k = first, first + (-1 - code) % 4 do
          local a = self.shapes[k][0]
          local e1, e2 = self.shapes[k][1] - a, self.shapes[k][2] - a
          local p = rg.cross(direction, e2)
          local scale = 1 / rg.dot(e1, p)
          local away = origin - a
          local q = rg.cross(away, e1)
          local s, r = rg.dot(away, p) * scale, rg.dot(direction, q) * scale
          local t = rg.dot(e2, q) * scale
          if s >= 0 and r >= 0 and s + r <= 1 and t >= 0 and t < most then
            most, u, v, cell = t, s, r, self.order[k]
          end
        end
      end
    end
    node = -1
    if child0 > 0 and child1 > 0 then
      stack[top] = t0 <= t1 and child1 or child0
      reach[top] = rg.math.max(t0, t1)
      top = top + 1
      node = t0 <= t1 and child0 or child1
    elseif child0 > 0 then node = child0
    elseif child1 > 0 then node = child1
    end
    while node < 0 and top > 0 do
      top = top - 1
      if reach[top] < most then node = stack[top] end
    end
  end
  if cell < 0 then return nil end
  return { cell = cell, t = most, u = u, v = v }
end

-- The closest point of a triangle, as weights of b - a and c - a. Ericson 2005.
local function closest_weights(p, a, ab, ac)
  local ap = p - a
  local d1, d2 = rg.dot(ab, ap), rg.dot(ac, ap)
  if d1 <= 0 and d2 <= 0 then return 0.0, 0.0 end
  local bp = ap - ab
  local d3, d4 = rg.dot(ab, bp), rg.dot(ac, bp)
  if d3 >= 0 and d4 <= d3 then return 1.0, 0.0 end
  local vc = d1 * d4 - d3 * d2
  if vc <= 0 and d1 >= 0 and d3 <= 0 then return d1 / (d1 - d3), 0.0 end
  local cp = ap - ac
  local d5, d6 = rg.dot(ab, cp), rg.dot(ac, cp)
  if d6 >= 0 and d5 <= d6 then return 0.0, 1.0 end
  local vb = d5 * d2 - d1 * d6
  if vb <= 0 and d2 >= 0 and d6 <= 0 then return 0.0, d2 / (d2 - d6) end
  local va = d3 * d6 - d5 * d4
  if va <= 0 and d4 >= d3 and d5 >= d6 then
    local w = (d4 - d3) / (d4 - d3 + d5 - d6)
    return 1 - w, w
  end
  local scale = 1 / (va + vb + vc)
  return vb * scale, vc * scale
end

-- The square of the distance to a box.
local function box_distance(p, low, high)
  local away = rg.math.max(rg.math.max(low - p, p - high), p * 0)
  return rg.dot(away, away)
end

--- The closest point of all triangles: nil, or { cell, point, distance, u, v }; nil if none is
--- closer than `limit`.
function queries.triangles:closest(p, limit)
  local most = 3.0e38
  if limit ~= nil then most = limit * limit * 1.0 end
  local cell, u, v, found = -1, 0.0, 0.0, p
  local stack, reach, top, node = rg.zeros(rg.i32, 128), rg.zeros(rg.f32, 128), 0, 0
  while node >= 0 do
    local one = self.nodes[node]
    local d0 = box_distance(p, one.low0, one.high0)
    local d1 = box_distance(p, one.low1, one.high1)
    for rank = 0, 1 do
      local is_left = (rank == 0) == (d0 <= d1)
      local code = is_left and one.left or one.right
      if code < 0 and (is_left and d0 or d1) < most then
        local first = math.floor((-1 - code) / 4)
        for k = first, first + (-1 - code) % 4 do
          local a = self.shapes[k][0]
          local ab, ac = self.shapes[k][1] - a, self.shapes[k][2] - a
          local s, r = closest_weights(p, a, ab, ac)
          local q = a + s * ab + r * ac
          local d = rg.dot(p - q, p - q)
          if d < most then most, u, v, found, cell = d, s, r, q, self.order[k] end
        end
      end
    end
    local child0 = d0 < most and one.left or 0
    local child1 = d1 < most and one.right or 0
    node = -1
    if child0 > 0 and child1 > 0 then
      stack[top] = d0 <= d1 and child1 or child0
      reach[top] = rg.math.max(d0, d1)
      top = top + 1
      node = d0 <= d1 and child0 or child1
    elseif child0 > 0 then node = child0
    elseif child1 > 0 then node = child1
    end
    while node < 0 and top > 0 do
      top = top - 1
      if reach[top] < most then node = stack[top] end
    end
  end
  if cell < 0 then return nil end
  return { cell = cell, point = found, distance = math.sqrt(most), u = u, v = v }
end

local function meet(low, high, least, most)
  return low.x <= most.x and low.y <= most.y and low.z <= most.z and least.x <= high.x
    and least.y <= high.y and least.z <= high.z
end

-- The places in `order` of the leaves whose boxes meet the box from low to high.
local leaves = iterator.create(function(self, low, high, visit)
  local stack, top = rg.zeros(rg.i32, 128), 1
  while top > 0 do
    top = top - 1
    local one = self.nodes[stack[top]]
    for side = 0, 1 do
      local code, least, most = one.left, one.low0, one.high0
      if side == 1 then code, least, most = one.right, one.low1, one.high1 end
      if meet(low, high, least, most) then
        if code > 0 then
          stack[top] = code
          top = top + 1
        elseif code < 0 then
          local first = math.floor((-1 - code) / 4)
          for k = first, first + (-1 - code) % 4 do visit(k) end
        end
      end
    end
  end
end)

-- -- intersections --------------------------------------------------------------------------------
--
-- Two convex bodies are disjoint if their projections onto the normal of a face, or onto the cross
-- product of two edges, are disjoint (Gottschalk 1996). Pairs of corners of a cell are its edges,
-- and triples its faces.

-- The interval of the projections of the corners of the cell at k onto an axis through `origin`.
local function projection(self, k, origin, axis)
  local least = rg.dot(axis, self.shapes[k][0] - origin)
  local most = least
  for c = 1, self.mesh.corners - 1 do
    local at = rg.dot(axis, self.shapes[k][c] - origin)
    least, most = rg.math.min(least, at), rg.math.max(most, at)
  end
  return least, most
end

local function separates_box(self, k, middle, half, axis)
  local least, most = projection(self, k, middle, axis)
  local reach = rg.dot(half, rg.math.abs(axis))
  return least > reach or most < -reach
end

-- Whether the cell at k meets a box.
local function meets_box(self, k, low, high)
  local middle, half, last = 0.5 * (low + high), 0.5 * (high - low), self.mesh.corners - 1
  local x, y, z = rg.vec3(1, 0, 0), rg.vec3(0, 1, 0), rg.vec3(0, 0, 1)
  for n = 0, 2 do
    local axis = n == 0 and x or n == 1 and y or z
    if separates_box(self, k, middle, half, axis) then return false end
    for i = 0, last do
      for j = i + 1, last do
        local edge = self.shapes[k][j] - self.shapes[k][i]
        if separates_box(self, k, middle, half, rg.cross(axis, edge)) then return false end
      end
    end
  end
  for i = 0, last do
    for j = i + 1, last do
      for l = j + 1, last do
        local normal = rg.cross(self.shapes[k][j] - self.shapes[k][i],
          self.shapes[k][l] - self.shapes[k][i])
        if separates_box(self, k, middle, half, normal) then return false end
      end
    end
  end
  return true
end

--- `for c in tree:overlapping(low, high) do`: the cells that meet the box from low to high.
local overlapping = iterator.create(function(self, low, high, visit)
  for k in leaves(self, low, high) do
    if meets_box(self, k, low, high) then visit(self.order[k]) end
  end
end)

local function separates_triangle(self, k, a, ab, ac, axis)
  local least, most = projection(self, k, a, axis)
  local b, c = rg.dot(axis, ab), rg.dot(axis, ac)
  return least > rg.math.max(rg.math.max(b, c), 0) or most < rg.math.min(rg.math.min(b, c), 0)
end

-- Whether the cell at k meets a triangle. The products of edges and normals separate triangles in
-- the same plane.
local function meets_triangle(self, k, a, b, c)
  local ab, ac, last = b - a, c - a, self.mesh.corners - 1
  local normal = rg.cross(ab, ac)
  if separates_triangle(self, k, a, ab, ac, normal) then return false end
  for n = 0, 2 do
    local side = n == 0 and ab or n == 1 and ac or c - b
    if separates_triangle(self, k, a, ab, ac, rg.cross(normal, side)) then return false end
    for i = 0, last do
      for j = i + 1, last do
        local edge = self.shapes[k][j] - self.shapes[k][i]
        if separates_triangle(self, k, a, ab, ac, rg.cross(side, edge)) then return false end
      end
    end
  end
  for i = 0, last do
    for j = i + 1, last do
      local edge = self.shapes[k][j] - self.shapes[k][i]
      if separates_triangle(self, k, a, ab, ac, rg.cross(normal, edge)) then return false end
      for l = j + 1, last do
        local face = rg.cross(edge, self.shapes[k][l] - self.shapes[k][i])
        if separates_triangle(self, k, a, ab, ac, face) then return false end
      end
    end
  end
  return true
end

--- `for c in tree:touching(a, b, c) do`: the cells that meet a triangle.
local touching = iterator.create(function(self, a, b, c, visit)
  local low, high = rg.math.min(rg.math.min(a, b), c), rg.math.max(rg.math.max(a, b), c)
  for k in leaves(self, low, high) do
    if meets_triangle(self, k, a, b, c) then visit(self.order[k]) end
  end
end)

-- Whether the half-line from p along x crosses a triangle. The two triangles of an edge order its
-- ends equally, so a line through the edge crosses exactly one of them.
local function crosses(p, a, b, c)
  local is_inside = false
  for side = 0, 2 do
    local s, e = side == 0 and a or side == 1 and b or c, side == 0 and b or side == 1 and c or a
    if (s.z > p.z) ~= (e.z > p.z) then
      local lower, upper = s.z < e.z and s or e, s.z < e.z and e or s
      local y = lower.y + (p.z - lower.z) / (upper.z - lower.z) * (upper.y - lower.y)
      if p.y < y then is_inside = not is_inside end
    end
  end
  if not is_inside then return false end
  local n = rg.cross(b - a, c - a)
  return rg.dot(n, a - p) / n.x > 0
end

--- Whether a point is inside a closed surface: whether a line from it crosses an odd number of
--- triangles.
function queries.triangles:inside(p)
  local is_inside = false
  for k in leaves(self, p, rg.vec3(3.0e38, p.y, p.z)) do
    if crosses(p, self.shapes[k][0], self.shapes[k][1], self.shapes[k][2]) then
      is_inside = not is_inside
    end
  end
  return is_inside
end

--- The tetrahedron that contains a point: nil, or { cell, weights }. The weights of its four
--- corners interpolate values of the points.
function queries.tetrahedra:cell_at(p)
  for k in leaves(self, p, p) do
    local a, away = self.shapes[k][0], p - self.shapes[k][0]
    local e1, e2, e3 = self.shapes[k][1] - a, self.shapes[k][2] - a, self.shapes[k][3] - a
    local scale = 1 / rg.dot(rg.cross(e1, e2), e3)
    local u = rg.dot(rg.cross(away, e2), e3) * scale
    local v = rg.dot(rg.cross(e1, away), e3) * scale
    local w = rg.dot(rg.cross(e1, e2), away) * scale
    if rg.math.min(rg.math.min(u, v), rg.math.min(w, 1 - u - v - w)) >= -1e-6 then
      return { cell = self.order[k], weights = rg.vec4(1 - u - v - w, u, v, w) }
    end
  end
  return nil
end

-- Called from Lua, a query first checks its arguments; kernels compile the query itself. The first
-- `points[name]` arguments are vectors, and the next one may be a limit.
local points = { ray = 2, closest = 1, inside = 1, cell_at = 1, overlapping = 2, touching = 3 }
local has_limit = { ray = true, closest = true }

local function vector_of(self, name, v)
  return object.vector(v, 3, self.mesh.points.type) or fail.argument((
    "tree:%s takes %s of three numbers, not %s"):format(name, points[name] == 1 and "a vector"
      or points[name] .. " vectors", fail.describe(v)),
    "rg.vec3(1, 2, 3), or { 1, 2, 3 }")
end

-- The arguments of a query, vectors in place of lists.
local function checked(self, name, ...)
  local list, count = { ... }, select("#", ...)
  for k = 1, points[name] do list[k] = vector_of(self, name, list[k]) end
  local limit = list[points[name] + 1]
  if has_limit[name] and limit ~= nil and type(limit) ~= "number" then
    return fail.argument(("the limit of tree:%s must be a number, not %s"):format(name,
      fail.describe(limit)))
  end
  return unpack(list, 1, math.max(count, points[name]))
end

-- Adds queries to `to`, a table of methods by name.
local function publish(list, to)
  local host = {}
  for name, query in pairs(list) do
    host[name] = function(self, ...)
      return query(self, checked(self, name, ...))
    end
  end
  fail.guard(host, function(self) return getmetatable(self) == Bvh end, "tree")
  for name, query in pairs(list) do to[name] = substitute.set(host[name], query) end
end

publish({ overlapping = overlapping, touching = touching }, methods)
publish(queries.triangles, queries.triangles)
publish(queries.tetrahedra, queries.tetrahedra)

-- -- creating -------------------------------------------------------------------------------------

--- `rg.bvh(mesh)`
function bvh.create(_, mesh)
  if not meshes.is(mesh) then
    return fail.argument("rg.bvh takes a mesh, not " .. fail.describe(mesh),
      "rg.bvh(rg.mesh { points = p, triangles = t })")
  elseif mesh.kind == "lines" or mesh.points.type.count ~= 3 or mesh.cell_count == 0 then
    return fail.argument(("rg.bvh takes triangles or tetrahedra in three dimensions, not a %s")
      :format(tostring(mesh)))
  end
  local own, n = mesh.session.module, mesh.cell_count
  local vector, inner = mesh.points.type, math.max(1, n - 1)
  local Node = own.struct { { "low0", vector }, { "left", own.i32 }, { "high0", vector },
    { "right", own.i32 }, { "low1", vector }, { "size", own.i32 }, { "high1", vector } }
  local self = setmetatable({ mesh = mesh, order = own.array(own.i32, n),
    nodes = own.array(Node, inner), parents = own.array(own.i32, inner),
    seen = own.array(own.i32, inner), shapes = own.array(vector, n, mesh.corners) }, Bvh)
  return self:rebuild()
end

return bvh
