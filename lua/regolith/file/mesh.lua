--- `rg.mesh(field, { level = 0 })`: the surface on which a field of three axes has that value, as
--- triangles, by marching cubes; of a field without bounds, in the box of its active cells.
--- `mesh:write(path)` writes PLY or OBJ. Points below the level are inside; triangles are
--- counter-clockwise seen from outside.
local ffi = require "ffi"
local fail = require "regolith.error"
local active_box = require "regolith.data.active_box"
local binary = require "regolith.file.binary"
local cubes = require "regolith.file.cubes"

local mesh = {}

-- Growable buffers.
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
    return fail.argument(("option '%s' must be a number or three, got %s"):format(name,
      fail.describe(v)), nil, "option.invalid")
  end
  return v
end
mesh.vector_option = vector_option

-- Returns the vertex on an edge of the cube at (i, j, k), which the first cube that needs it
-- creates.
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

-- -- writing --------------------------------------------------------------------------------------

local Mesh = { __regolith = "a mesh" }
Mesh.__index = Mesh

local writers = {}

function writers.ply(self, write)
  write(("ply\nformat binary_little_endian 1.0\ncomment Regolith\nelement vertex %d\n\z
    property float x\nproperty float y\nproperty float z\nelement face %d\n\z
    property list uchar int vertex_indices\nend_header\n"):format(self.vertex_count,
    self.triangle_count))
  write(ffi.string(self.vertices, self.vertex_count * 12))
  local record = ffi.typeof "struct __attribute__((packed)) { uint8_t count; int32_t at[3]; }"
  local out = ffi.new(ffi.typeof("$[?]", record), math.max(1, self.triangle_count))
  for t = 0, self.triangle_count - 1 do
    out[t].count = 3
    for k = 0, 2 do out[t].at[k] = self.triangles[3 * t + k] end
  end
  write(ffi.string(out, self.triangle_count * ffi.sizeof(record)))
end

function writers.obj(self, write)
  write "# Regolith\n"
  for v = 0, self.vertex_count - 1 do
    write(("v %.9g %.9g %.9g\n"):format(self.vertices[3 * v], self.vertices[3 * v + 1],
      self.vertices[3 * v + 2]))
  end
  for t = 0, self.triangle_count - 1 do
    write(("f %d %d %d\n"):format(self.triangles[3 * t] + 1, self.triangles[3 * t + 1] + 1,
      self.triangles[3 * t + 2] + 1))
  end
end

--- `mesh:write(path)`: writes .ply or .obj, by the path's extension; returns the mesh.
function Mesh:write(path)
  binary.check_path(path, "mesh:write")
  local put = binary.format_of(path, writers, "mesh:write")
  binary.write("mesh", path, function(write) put(self, write) end)
  return self
end

function Mesh:__tostring()
  return ("mesh of %d vertices, %d triangles"):format(self.vertex_count, self.triangle_count)
end

--- Whether it is what mesh.create returns.
function mesh.is(what) return getmetatable(what) == Mesh end

--- `rg.mesh(field, { level = 0, spacing = 1, origin = {0, 0, 0} })`; `caller` is for messages.
function mesh.create(_, x, options, caller)
  caller = caller or "rg.mesh"
  options = binary.check_options(options, { "level", "spacing", "origin" }, caller)
  local t, extents, starts = binary.look(x, caller)
  if binary.parts_of(t, caller) ~= 1 or #extents ~= 3 then
    return fail.argument(("%s takes numbers on three axes, not %s"):format(caller, tostring(x)))
  end
  local level = options.level == nil and 0 or options.level
  if type(level) ~= "number" or level ~= level then
    return fail.argument(("option 'level' of %s must be a number, got %s"):format(caller,
      fail.describe(level)), nil, "option.invalid")
  end
  local spacing, first = vector_option(options, "spacing", 1), vector_option(options, "origin", 0)
  local values
  if active_box.is_unbounded(x) then values, starts, extents = active_box.numbers(x, caller)
  else values = binary.numbers(x, caller) end
  if ffi.istype("int64_t[?]", values) then
    return fail.argument(caller .. " takes numbers of less than 64 bits, or floats")
  end
  local origin = {}
  for axis = 1, 3 do origin[axis] = first[axis] + starts[axis] * spacing[axis] end
  local vertices, triangles = march { values = values, extents = extents, level = level,
    spacing = spacing, origin = origin }
  return setmetatable({ vertices = vertices.data, triangles = triangles.data,
    vertex_count = vertices.count / 3, triangle_count = triangles.count / 3 }, Mesh)
end

return mesh
