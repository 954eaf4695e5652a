--- The surface on which a field of three axes has a value, as triangles, by marching cubes. For a
--- field without bounds, it is computed in the box of the active cells. Points below the level are
--- inside; triangles are counter-clockwise seen from outside.
local ffi = require "ffi"
local fail = require "regolith.error"
local active_box = require "regolith.data.active_box"
local binary = require "regolith.file.binary"
local cubes = require "regolith.toolbox.mesh.cubes"

local surface = {}

-- A growing array of triples of numbers.
local function buffer(kind)
  local own = { count = 0, capacity = 1024, data = ffi.new(kind .. "[?]", 1024) }
  function own.add(a, b, c)
    if own.count + 3 > own.capacity then
      local larger = ffi.new(kind .. "[?]", own.capacity * 2)
      ffi.copy(larger, own.data, own.count * ffi.sizeof(kind))
      own.capacity, own.data = own.capacity * 2, larger
    end
    local at = own.count
    own.data[at], own.data[at + 1], own.data[at + 2] = a, b, c
    own.count = at + 3
    return at / 3
  end
  return own
end

local function vector_option(options, name, default)
  local v = options[name]
  if v == nil then return { default, default, default } end
  if type(v) == "number" then v = { v, v, v } end
  local is_list = type(v) == "table" and not getmetatable(v) and #v == 3
  for k = 1, is_list and 3 or 0 do
    is_list = is_list and type(v[k]) == "number" and v[k] == v[k]
  end
  if not is_list then
    return fail.argument(("option '%s' must be a number or three numbers, got %s"):format(name,
      fail.describe(v)), nil, "option.invalid")
  end
  return v
end
surface.vector_option = vector_option

-- Returns a function that returns the vertex on an edge of the cube at (i, j, k). The first cube of
-- an edge creates its vertex.
local function vertex_maker(grid, vertices)
  local values, n = grid.values, grid.extents
  local made = ffi.new("int32_t[?]", 3 * n[1] * n[2] * n[3])
  ffi.fill(made, ffi.sizeof(made), 0xff)
  return function(edge, i, j, k)
    local a, b, axis = edge[1], edge[2], edge[3]
    local ai, aj, ak = i + a % 2, j + math.floor(a / 2) % 2, k + math.floor(a / 4)
    local at = (ai * n[2] + aj) * n[3] + ak
    local key = at * 3 + axis
    if made[key] >= 0 then return made[key] end
    local bi, bj, bk = i + b % 2, j + math.floor(b / 2) % 2, k + math.floor(b / 4)
    local va, vb = values[at], values[(bi * n[2] + bj) * n[3] + bk]
    local s = (grid.level - va) / (vb - va)
    local step, origin = grid.spacing, grid.origin
    made[key] = vertices.add(origin[1] + (ai + s * (bi - ai)) * step[1],
      origin[2] + (aj + s * (bj - aj)) * step[2], origin[3] + (ak + s * (bk - ak)) * step[3])
    return made[key]
  end
end

local function march(grid)
  local values, n, level = grid.values, grid.extents, grid.level
  local vertices, triangles = buffer "float", buffer "int32_t"
  local vertex, stride, row = vertex_maker(grid, vertices), n[2] * n[3], n[3]
  for i = 0, n[1] - 2 do
    for j = 0, n[2] - 2 do
      local at = i * stride + j * row
      for k = 0, n[3] - 2 do
        local case = (values[at] < level and 1 or 0) + (values[at + stride] < level and 2 or 0)
          + (values[at + row] < level and 4 or 0)
          + (values[at + stride + row] < level and 8 or 0)
          + (values[at + 1] < level and 16 or 0) + (values[at + stride + 1] < level and 32 or 0)
          + (values[at + row + 1] < level and 64 or 0)
          + (values[at + stride + row + 1] < level and 128 or 0)
        at = at + 1
        local list = cubes.triangles[case]
        for t = 1, #list, 3 do
          triangles.add(vertex(cubes.edges[list[t] + 1], i, j, k),
            vertex(cubes.edges[list[t + 1] + 1], i, j, k),
            vertex(cubes.edges[list[t + 2] + 1], i, j, k))
        end
      end
    end
  end
  return vertices, triangles
end

--- Returns { vertices = float *, cells = int32_t *, point_count, cell_count }: three numbers for
--- each vertex, three vertices for each triangle. The options are those of `rg.mesh(field, ..)`;
--- `caller` is for messages.
function surface.extract(x, options, caller)
  options = fail.options(options, { "level", "spacing", "origin" }, caller)
  local t, extents, starts = binary.shape_of(x, caller)
  if binary.parts_of(t, caller) ~= 1 or #extents ~= 3 then
    return fail.argument(("%s takes numbers on three axes, not %s"):format(caller, tostring(x)))
  end
  local level = options.level == nil and 0 or options.level
  if type(level) ~= "number" or level ~= level then
    return fail.option(options, "level", caller, "a number")
  end
  local spacing, first = vector_option(options, "spacing", 1), vector_option(options, "origin", 0)
  local values
  if active_box.is_unbounded(x) then values, starts, extents = active_box.numbers(x, caller)
  else values = binary.numbers(x, caller) end
  if ffi.istype("int64_t[?]", values) then
    return fail.argument(caller .. " takes floats, or integers of less than 64 bits")
  end
  local origin = {}
  for axis = 1, 3 do origin[axis] = first[axis] + starts[axis] * spacing[axis] end
  local vertices, triangles = march { values = values, extents = extents, level = level,
    spacing = spacing, origin = origin }
  return { vertices = vertices.data, cells = triangles.data, point_count = vertices.count / 3,
    cell_count = triangles.count / 3 }
end

return surface
