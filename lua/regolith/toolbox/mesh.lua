--- `rg.mesh`: points, and cells that join them: lines, triangles or tetrahedra.
---
---     rg.mesh(field, { level = 0 })                      the surface of a field (mesh/surface.lua)
---     rg.mesh "bunny.obj"                                a file (file/mesh.lua)
---     rg.mesh { points = p, tetrahedra = t }             arrays, fields or tables
---
--- Members are arrays that kernels read: `points`, `cells`, and relations (mesh/relations.lua),
--- which are computed at their first use. The points may move, so normals and measures, which
--- depend on them, are computed at each call. The cells of a mesh do not change.
local ffi = require "ffi"
local fail = require "regolith.error"
local field = require "regolith.data.field"
local subject = require "regolith.data.subject"
local whole = require "regolith.data.whole"
local types = require "regolith.data.type"
local iterator = require "regolith.kernel.iterator"
local binary = require "regolith.file.binary"
local files = require "regolith.file.mesh"
local relations = require "regolith.toolbox.mesh.relations"
local surface = require "regolith.toolbox.mesh.surface"

local mesh = {}

local Mesh = { __regolith = "a mesh", __kernel = true }
local methods, computed = {}, {} -- name -> function(self); the results of `computed` are kept

--- Whether the value is a mesh.
function mesh.is(what) return getmetatable(what) == Mesh end

function Mesh:__index(name)
  if methods[name] then return methods[name] end
  local compute = computed[name]
  if not compute then
    local names = {}
    for known in pairs(methods) do names[#names + 1] = known end
    for known in pairs(computed) do names[#names + 1] = known end
    return fail.argument(("a mesh has no '%s'"):format(tostring(name)), fail.nearest(name, names),
      "name.unknown")
  end
  rawset(self, name, compute(self, name))
  return rawget(self, name)
end

function Mesh:__tostring()
  return ("mesh of %d points, %d %s"):format(self.point_count, self.cell_count, self.kind)
end

-- -- points and cells -----------------------------------------------------------------------------

function computed:points()
  local host = self.host
  return binary.array(self.session, types.by_name.vec3, { self.point_count },
    function(k) return host.vertices[k] end, 3 * self.point_count)
end

function computed:cells()
  local host = self.host
  return binary.array(self.session, types.by_name["ivec" .. self.corners], { self.cell_count },
    function(k) return host.cells[k] end, self.corners * self.cell_count)
end

-- Returns the current points, three numbers each, and the cells in host memory. Those of a surface
-- or a file are still there until `points` is used for the first time.
local function on_host(self)
  local host = rawget(self, "host")
  local points, cells = rawget(self, "points"), rawget(self, "cells")
  local result = { kind = self.kind, corners = self.corners, point_count = self.point_count,
    cell_count = self.cell_count, vertices = host and host.vertices, cells = host and host.cells }
  if points then
    local axes = points.type.count
    local numbers = binary.numbers(points, "a mesh")
    result.vertices = ffi.new("float[?]", math.max(1, 3 * self.point_count))
    for k = 0, self.point_count - 1 do
      for axis = 0, axes - 1 do result.vertices[3 * k + axis] = numbers[axes * k + axis] end
    end
  end
  if not result.cells then
    local numbers, count = binary.numbers(cells, "a mesh")
    result.cells = ffi.new("int32_t[?]", math.max(1, count))
    for k = 0, count - 1 do result.cells[k] = numbers[k] end
  end
  return result
end
mesh.on_host = on_host

-- The vertices of a surface for Lua, three floats each.
function computed:vertices() return on_host(self).vertices end
function computed:triangles() return on_host(self).cells end
function computed:vertex_count() return self.point_count end
function computed:triangle_count()
  return self.kind == "triangles" and self.cell_count or #self.boundary
end

-- -- relations ------------------------------------------------------------------------------------

local function make_parts(self, what, cells_name)
  local tuples = relations.parts[what][self.kind]
  local parts, cell_parts, part_cells = relations.parts_of(self.session, self.cells, tuples,
    ("%s of %s"):format(what, self.kind), self.point_count)
  rawset(self, what, parts)
  rawset(self, "cell_" .. what, cell_parts)
  rawset(self, cells_name, part_cells)
end

function computed:edges()
  make_parts(self, "edges", "edge_cells")
  return rawget(self, "edges")
end
function computed:cell_edges() return self.edges and rawget(self, "cell_edges") end
function computed:edge_cells() return self.edges and rawget(self, "edge_cells") end

local function check_volume(self, name)
  if self.kind == "tetrahedra" then return end
  return fail.argument(("a mesh of %s has no '%s'"):format(self.kind, name),
    "tetrahedra have faces; triangles have cells and edges")
end

function computed:faces(name)
  check_volume(self, name)
  make_parts(self, "faces", "face_cells")
  return rawget(self, "faces")
end
function computed:cell_faces(name)
  check_volume(self, name)
  return self.faces and rawget(self, "cell_faces")
end
function computed:face_cells(name)
  check_volume(self, name)
  return self.faces and rawget(self, "face_cells")
end

-- Returns what separates two cells: a face of tetrahedra, an edge of triangles.
local function side_of(self, name)
  if self.kind ~= "lines" then return self.kind == "tetrahedra" and "face" or "edge" end
  return fail.argument(("a mesh of lines has no '%s'"):format(name),
    "the cells of lines meet at points")
end

function computed:boundary(name)
  local side = side_of(self, name)
  return relations.boundary(self.session, self[side .. "s"], self[side .. "_cells"])
end

function computed:cell_neighbours(name)
  local side = side_of(self, name)
  return relations.across(self.session, self["cell_" .. side .. "s"],
    self[side .. "_cells"])
end

-- Sets the lists of the items of `what` at each point, such as point_cell_first and
-- point_cell_list.
local function at_points(self, what, width, prefix)
  local first, list = relations.inverse(self.session, self[what], width, self.point_count)
  rawset(self, prefix .. "_first", first)
  rawset(self, prefix .. "_list", list)
end

function computed:point_cell_first(name)
  at_points(self, "cells", self.corners, "point_cell")
  return rawget(self, name)
end
computed.point_cell_list = computed.point_cell_first

function computed:point_edge_first(name)
  at_points(self, "edges", 2, "point_edge")
  return rawget(self, name)
end
computed.point_edge_list = computed.point_edge_first

-- -- measures and normals -------------------------------------------------------------------------

local texts = {}

-- Lengths, areas or volumes; volumes of tetrahedra have a sign.
local measure_lines = {
  lines = "(x[c.y] - x[c.x]):norm()",
  triangles = "0.5 * rg.cross(x[c.y] - x[c.x], x[c.z] - x[c.x]):norm()",
  tetrahedra = "rg.dot(rg.cross(x[c.y] - x[c.x], x[c.z] - x[c.x]), x[c.w] - x[c.x]) / 6",
}
local flat_area = "0.5 * ((x[c.y] - x[c.x]).x * (x[c.z] - x[c.x]).y \z
  - (x[c.y] - x[c.x]).y * (x[c.z] - x[c.x]).x)"

function texts.measures(self)
  local line = measure_lines[self.kind]
  if self.points.type.count == 2 and self.kind == "triangles" then line = flat_area end
  return ([=[function(x, cells, out)
    for e in rg.range(#cells) do
      local c = cells[e]
      out[e] = %s
    end
  end]=]):format(line)
end

function texts.cell_normals()
  return [=[function(x, cells, out)
    for e in rg.range(#cells) do
      local c = cells[e]
      local n = rg.cross(x[c.y] - x[c.x], x[c.z] - x[c.x])
      local length = n:norm()
      if length > 0 then out[e] = n / length else out[e] = n * 0 end
    end
  end]=]
end

-- Each point gathers from the triangles around it, so the sums do not depend on the order of
-- threads.
function texts.normals()
  return [=[function(x, cells, out, first, list)
    for p in rg.range(#x) do
      local n = x[p] * 0
      for k = first[p], first[p + 1] - 1 do
        local c = cells[list[k]]
        n = n + rg.cross(x[c.y] - x[c.x], x[c.z] - x[c.x])
      end
      local length = n:norm()
      if length > 0 then out[p] = n / length else out[p] = n * 0 end
    end
  end]=]
end

local function kernel(session, name, text)
  return subject.kept(session, "mesh:" .. name, text, nil, true)
end

local function run(self, name, out, ...)
  kernel(self.session, name, texts[name](self))(self.points, self.cells, out, ...)
  return out
end

local function check_triangles(self, name)
  if self.kind == "triangles" and self.points.type.count == 3 then return end
  return fail.argument(("mesh:%s takes triangles in three dimensions, but this is a %s"):format(
    name, tostring(self)), self.kind == "tetrahedra" and "mesh:surface() is its boundary" or nil)
end

-- An array of numbers or vectors, of the points' type.
local function new_array(self, width, count)
  local element = self.points.type.element
  return self.session.module.array(width == 1 and element or self.points.type, count)
end

--- The length, area or volume of each cell, an array of numbers. The volume of a tetrahedron, and
--- in two dimensions the area of a triangle, is negative if its corners have the opposite
--- orientation.
function methods:measures() return run(self, "measures", new_array(self, 1, self.cell_count)) end

--- The unit normal of each triangle.
function methods:cell_normals()
  check_triangles(self, "cell_normals")
  return run(self, "cell_normals", new_array(self, 3, self.cell_count))
end

--- The unit normal at each point: the mean over the triangles around it, weighted by their areas.
function methods:normals()
  check_triangles(self, "normals")
  return run(self, "normals", new_array(self, 3, self.point_count), self.point_cell_first,
    self.point_cell_list)
end

--- The sum of all lengths, areas or volumes.
function methods:total() return self:measures():sum() end

local volume_text = [=[function(x, cells)
  local sum = x[0].x * 0
  for e in rg.range(#cells) do
    local c = cells[e]
    sum = sum + rg.dot(x[c.x], rg.cross(x[c.y], x[c.z])) / 6
  end
  return sum
end]=]

--- The volume inside a closed surface of triangles, or of all tetrahedra.
function methods:volume()
  if self.kind == "tetrahedra" then return self:total() end
  check_triangles(self, "volume")
  return kernel(self.session, "volume", volume_text)(self.points, self.cells)
end

-- -- other meshes, groups, files ------------------------------------------------------------------

local function new(session, kind, point_count, cell_count, own)
  own.session, own.kind, own.corners = session, kind, files.corners_of[kind]
  own.point_count, own.cell_count = point_count, cell_count
  return setmetatable(own, Mesh)
end

--- The boundary of tetrahedra as a mesh of triangles. It shares the points, so it moves with them.
function methods:surface()
  check_volume(self, "surface")
  local boundary = self.boundary
  return new(self.session, "triangles", self.point_count, #boundary,
    { points = self.points, cells = boundary })
end

--- Colours the cells (or "edges", or "faces"), so that no two of the same colour share a point.
--- Returns { count, order, first }: colour c has order[first[c]] to order[first[c + 1] - 1].
function methods:colours(what)
  what = what == nil and "cells" or what
  if what ~= "cells" and what ~= "edges" and what ~= "faces" then
    return fail.argument(("mesh:colours takes \"cells\", \"edges\" or \"faces\", not %s"):format(
      fail.describe(what)))
  end
  local items = self[what]
  local count, order, first = relations.colours(self.session, items, items.type.count,
    self.point_count)
  return { count = count, order = order, first = first }
end

--- Writes .ply, .obj or .stl, by the extension; for tetrahedra, their boundary. Returns the mesh.
function methods:write(path)
  local what = self.kind == "tetrahedra" and self:surface() or self
  files.write(path, on_host(what))
  return self
end

fail.guard(methods, mesh.is, "mesh")

-- -- iterators, for kernels and for Lua -----------------------------------------------------------

--- `for c in m:cells_of(p) do`: the cells that have point p.
methods.cells_of = iterator.create(function(self, p, visit)
  for k = self.point_cell_first[p], self.point_cell_first[p + 1] - 1 do
    visit(self.point_cell_list[k])
  end
end)

--- `for e in m:edges_of(p) do`: the edges that end at point p.
methods.edges_of = iterator.create(function(self, p, visit)
  for k = self.point_edge_first[p], self.point_edge_first[p + 1] - 1 do
    visit(self.point_edge_list[k])
  end
end)

--- `for q in m:neighbours_of(p) do`: the points at the other ends of these edges.
methods.neighbours_of = iterator.create(function(self, p, visit)
  for k = self.point_edge_first[p], self.point_edge_first[p + 1] - 1 do
    local ends = self.edges[self.point_edge_list[k]]
    visit(ends.x + ends.y - p)
  end
end)

-- -- creating meshes ------------------------------------------------------------------------------

local kinds = { "lines", "triangles", "tetrahedra" }

-- Returns a field or array of vectors itself, and a table of vectors as an array.
local function vectors(session, what, name, parts_least, parts_most, is_integer)
  local x = whole.plain(what)
  if type(x) == "table" and not getmetatable(x) then
    local first = x[1]
    local is_vector = type(first) == "table" or type(first) == "cdata" and first.rg_n
    local parts = is_vector and #first
    if not parts or parts < parts_least or parts > parts_most then
      return fail.argument(("rg.mesh: '%s' must be a list of lists of %d numbers"):format(name,
        parts_least), ("%s = { {0, 1, 2}, .. }"):format(name))
    end
    return session.module.array(types.by_name[(is_integer and "ivec" or "vec") .. parts], #x)
      :from_table(x)
  end
  local t, extents = binary.shape_of(x, "rg.mesh")
  local parts = binary.parts_of(t, "rg.mesh")
  local is_whole = not (t.element or t).name:find "^f"
  if #extents ~= 1 or extents[1] == 0 and field.is(x) or parts < parts_least or parts > parts_most
    or is_whole ~= (is_integer or false) then
    local or_most = parts_most > parts_least and " or " .. parts_most or ""
    return fail.argument(("rg.mesh: '%s' must have one axis of vectors of %d%s %s, but it is %s"):
      format(name, parts_least, or_most, is_integer and "integers" or "floats", tostring(what)))
  end
  return x
end

local check_text = [=[function(cells, count)
  local low, high = rg.i64(0), rg.i64(-1)
  for e in rg.range(#cells) do
    for k in rg.static(rg.range(WIDTH)) do
      low = math.min(low, rg.i64(cells[e][k]))
      high = math.max(high, rg.i64(cells[e][k]))
    end
  end
  return low, high
end]=]

local function from_arrays(session, t)
  local kind
  for _, name in ipairs(kinds) do
    if t[name] ~= nil then
      if kind then return fail.argument("rg.mesh takes cells of one kind, not two") end
      kind = name
    end
  end
  for name in pairs(t) do
    if name ~= "points" and name ~= kind then
      return fail.argument(("rg.mesh has no option '%s'"):format(tostring(name)), fail.nearest(name,
        { "points", unpack(kinds) }), "option.unknown")
    end
  end
  if t.points == nil or not kind then
    return fail.argument("rg.mesh takes points and lines, triangles or tetrahedra",
      "rg.mesh { points = p, triangles = t }")
  end
  local corners = files.corners_of[kind]
  local points = vectors(session, t.points, "points", kind == "tetrahedra" and 3 or 2, 3)
  local cells = vectors(session, t[kind], kind, corners, corners, true)
  local low, high = kernel(session, "check", (check_text:gsub("WIDTH", corners)))(cells, #points)
  if low < 0 or high >= #points then
    return fail.argument(("rg.mesh: '%s' refers to point %d, but there are only %d"):format(kind,
      tonumber(low < 0 and low or high), #points), "points are counted from 0")
  end
  return new(session, kind, #points, #cells, { points = points, cells = cells })
end

--- Creates a mesh from a file, from points and cells, or from a field's surface.
function mesh.create(session, what, options)
  if type(what) == "string" then
    fail.options(options, {}, "rg.mesh")
    local host = files.read(what)
    return new(session, host.kind, host.point_count, host.cell_count, { host = host })
  end
  if type(what) == "table" and not getmetatable(what) then
    fail.options(options, {}, "rg.mesh")
    return from_arrays(session, what)
  end
  if not subject.is(what) then
    return fail.argument("rg.mesh takes a file's path, points and cells, or a field, not "
      .. fail.describe(what), "rg.mesh \"bunny.obj\", or rg.mesh { points = p, triangles = t }")
  end
  return mesh.of_surface(session, surface.extract(what, options, "rg.mesh"))
end

--- The mesh of a surface that surface.extract returned.
function mesh.of_surface(session, host)
  return new(session, "triangles", host.point_count, host.cell_count, { host = host })
end

return mesh
