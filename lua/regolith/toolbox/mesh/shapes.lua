--- Meshes of simple shapes: `rg.mesh.block { cells = { 8, 8 } }`, `rg.mesh.sphere { detail = 3 }`.
local fail = require "regolith.error"
local meshes = require "regolith.toolbox.mesh"
local surface = require "regolith.toolbox.mesh.surface"

local shapes = {}

-- Kuhn 1960: the points of each path along the axes from a corner of a cube to the opposite one are
-- the corners of a simplex; odd paths exchange two of them, so that all measures are positive. The
-- simplices of adjacent cubes fit.
local paths = {
  { { 1 } },
  { { 1, 2 }, { 2, 1, is_odd = true } },
  { { 1, 2, 3 }, { 2, 3, 1 }, { 3, 1, 2 }, { 1, 3, 2, is_odd = true }, { 2, 1, 3, is_odd = true },
    { 3, 2, 1, is_odd = true } },
}
local kinds = { "lines", "triangles", "tetrahedra" }

--- A block of cubes of six tetrahedra each; with two counts in `cells` a sheet of triangles, with
--- one a chain of lines. `size` is the extent along each axis, `origin` the first corner.
function shapes.block(session, options)
  local caller = "rg.mesh.block"
  options = fail.options(options, { "cells", "size", "origin" }, caller)
  local counts = options.cells == nil and { 1, 1, 1 } or options.cells
  if type(counts) ~= "table" or #counts < 1 or #counts > 3 then
    return fail.option(options, "cells", caller, "a list of one to three counts",
      "cells = { 8, 8, 8 }")
  end
  local total = 1
  for k, n in ipairs(counts) do
    if type(n) ~= "number" or n < 1 or n % 1 ~= 0 or n > 2 ^ 20 then
      return fail.argument(("option 'cells' of %s must have whole numbers from 1 to 2^20, but \z
        number %d is %s"):format(caller, k, fail.describe(n)), nil, "option.invalid")
    end
    total = total * (n + 1)
  end
  if total > 2 ^ 26 then
    return fail.argument(("%s: the mesh would have %.0f points, but may have at most 2^26"):format(
      caller, total))
  end
  local size = surface.vector_option(options, "size", 1)
  local origin = surface.vector_option(options, "origin", 0)
  local n = { counts[1], counts[2] or 0, counts[3] or 0 }
  local function id(at) return (at[1] * (n[2] + 1) + at[2]) * (n[3] + 1) + at[3] end
  local points, cells, rank = {}, {}, #counts
  for i = 0, n[1] do
    for j = 0, n[2] do
      for k = 0, n[3] do
        points[#points + 1] = { origin[1] + size[1] * i / n[1],
          origin[2] + (n[2] > 0 and size[2] * j / n[2] or 0),
          origin[3] + (n[3] > 0 and size[3] * k / n[3] or 0) }
        local is_corner = i < n[1] and (rank < 2 or j < n[2]) and (rank < 3 or k < n[3])
        for _, path in ipairs(is_corner and paths[rank] or {}) do
          local at, cell = { i, j, k }, {}
          cell[1] = id(at)
          for s = 1, rank do
            at[path[s]] = at[path[s]] + 1
            cell[s + 1] = id(at)
          end
          if path.is_odd then cell[rank], cell[rank + 1] = cell[rank + 1], cell[rank] end
          cells[#cells + 1] = cell
        end
      end
    end
  end
  return meshes.create(session, { points = points, [kinds[rank]] = cells })
end

-- An octahedron, counter-clockwise seen from outside.
local octahedron = {
  points = { { 1, 0, 0 }, { -1, 0, 0 }, { 0, 1, 0 }, { 0, -1, 0 }, { 0, 0, 1 }, { 0, 0, -1 } },
  cells = { { 0, 2, 4 }, { 2, 1, 4 }, { 1, 3, 4 }, { 3, 0, 4 }, { 2, 0, 5 }, { 1, 2, 5 },
    { 3, 1, 5 }, { 0, 3, 5 } },
}

--- A sphere of triangles: an octahedron whose triangles are divided into four, `detail` times.
function shapes.sphere(session, options)
  local caller = "rg.mesh.sphere"
  options = fail.options(options, { "detail", "radius", "center" }, caller)
  local detail = options.detail == nil and 3 or options.detail
  if type(detail) ~= "number" or detail < 0 or detail > 9 or detail % 1 ~= 0 then
    return fail.option(options, "detail", caller, "a whole number from 0 to 9")
  end
  local radius = surface.vector_option(options, "radius", 1)
  local center = surface.vector_option(options, "center", 0)
  local points, cells = { unpack(octahedron.points) }, octahedron.cells
  for _ = 1, detail do
    local made, finer = {}, {}
    local function middle(a, b)
      local key = math.min(a, b) * 2 ^ 26 + math.max(a, b)
      if not made[key] then
        local p, q = points[a + 1], points[b + 1]
        local x, y, z = p[1] + q[1], p[2] + q[2], p[3] + q[3]
        local length = math.sqrt(x * x + y * y + z * z)
        points[#points + 1] = { x / length, y / length, z / length }
        made[key] = #points - 1
      end
      return made[key]
    end
    for _, c in ipairs(cells) do
      local a, b, d = middle(c[1], c[2]), middle(c[2], c[3]), middle(c[3], c[1])
      finer[#finer + 1] = { c[1], a, d }
      finer[#finer + 1] = { c[2], b, a }
      finer[#finer + 1] = { c[3], d, b }
      finer[#finer + 1] = { a, b, d }
    end
    cells = finer
  end
  for k, p in ipairs(points) do
    points[k] = { center[1] + radius[1] * p[1], center[2] + radius[2] * p[2],
      center[3] + radius[3] * p[3] }
  end
  return meshes.create(session, { points = points, triangles = cells })
end

return shapes
