--- Files of meshes: reads .obj, .ply, .stl and .msh, and writes .ply, .obj, and .stl.
---
--- A mesh is read as { kind, corners, vertices, cells, point_count, cell_count }: `vertices` has
--- three numbers per point, and `cells` the indices of each cell's points, from 0. Polygons become
--- triangle fans. An STL file repeats the points for each triangle; points of equal coordinates are
--- merged. Every index and count of a file is checked before it is used.
local ffi = require "ffi"
local fail = require "regolith.error"
local binary = require "regolith.file.binary"
local ply = require "regolith.file.ply"

local mesh = {}

local corners_of = { lines = 2, triangles = 3, tetrahedra = 4 }
mesh.corners_of = corners_of

local function refuse(path, why) return binary.fail("mesh", path, "read", why) end

-- LuaJIT's buffers are smaller than 2 GiB.
local most = 2 ^ 27

-- A growing array of numbers.
local function buffer(kind, path)
  local own = { count = 0, capacity = 1024, data = ffi.new(kind .. "[?]", 1024) }
  function own.add(v)
    if own.count == own.capacity then
      if own.capacity >= 2 * most then
        return refuse(path, "it is too large: a mesh has up to 2^28 numbers")
      end
      local larger = ffi.new(kind .. "[?]", own.capacity * 2)
      ffi.copy(larger, own.data, own.count * ffi.sizeof(kind))
      own.capacity, own.data = own.capacity * 2, larger
    end
    own.data[own.count] = v
    own.count = own.count + 1
  end
  return own
end

-- The readers add points and the cells of one kind to a collector.
local function collector(path)
  local own = { points = buffer("double", path), cells = buffer("int32_t", path), path = path }
  function own.point(x, y, z)
    if not (x and y and z) then return refuse(path, "one of its points is not three numbers") end
    own.points.add(x)
    own.points.add(y)
    own.points.add(z)
  end
  -- Adds a polygon, a list of points, as a fan of triangles.
  function own.polygon(list)
    if #list < 3 then return refuse(path, "one of its faces has fewer than three points") end
    for k = 3, #list do
      own.cells.add(list[1])
      own.cells.add(list[k - 1])
      own.cells.add(list[k])
    end
  end
  return own
end

local function finish(own, kind)
  local count, corners = own.points.count / 3, corners_of[kind]
  for k = 0, own.cells.count - 1 do
    local at = own.cells.data[k]
    if at < 0 or at >= count then
      return refuse(own.path, ("a cell refers to point %d, but there are only %d"):format(at,
        count))
    end
  end
  if own.cells.count == 0 then
    return refuse(own.path, "it has no triangles, lines or tetrahedra")
  end
  return { kind = kind, corners = corners, vertices = own.points.data, cells = own.cells.data,
    point_count = count, cell_count = own.cells.count / corners }
end

-- -- OBJ ------------------------------------------------------------------------------------------

local readers = {}

-- The point that a word of an `f` or `l` line refers to: "7", "7/1/3", "-1" (the last so far).
local function obj_index(word, own)
  local n = tonumber(word:match "^-?%d+")
  if not n or n == 0 then return refuse(own.path, ("a face refers to point '%s'"):format(word)) end
  return n > 0 and n - 1 or own.points.count / 3 + n
end

function readers.obj(bytes, path)
  local own = collector(path)
  local segments = buffer("int32_t", path)
  for line in bytes:gmatch "[^\r\n]+" do
    local word, rest = line:match "^%s*(%a+)%s+(.*)"
    if word == "v" then
      local x, y, z = rest:match "^(%S+)%s+(%S+)%s+(%S+)"
      own.point(tonumber(x), tonumber(y), tonumber(z))
    elseif word == "f" or word == "l" then
      local list = {}
      for one in rest:gmatch "%S+" do list[#list + 1] = obj_index(one, own) end
      if word == "f" then own.polygon(list) end
      for k = 2, word == "l" and #list or 0 do
        segments.add(list[k - 1])
        segments.add(list[k])
      end
    end
  end
  if own.cells.count > 0 then return finish(own, "triangles") end
  own.cells = segments
  return finish(own, "lines")
end

-- -- PLY ------------------------------------------------------------------------------------------

-- Returns a function(type) that returns the next number of a binary body.
local function binary_numbers(bytes, at, path)
  local base, limit = ffi.cast("const char *", bytes), #bytes
  return function(kind)
    local size = binary.size_of(kind)
    if at + size > limit then return refuse(path, "it is truncated") end
    at = at + size
    return binary.reader(kind)(base + at - size)
  end
end

-- Returns a function that returns the next number of a text.
local function text_numbers(text, path, why)
  local words = text:gmatch "%S+"
  return function() return tonumber(words() or "") or refuse(path, why) end
end

local function ply_row(properties, number, path)
  local row = {}
  for _, p in ipairs(properties) do
    if not p.size_type then
      row[p.name] = number(p.type)
    else
      local list, count = {}, number(p.size_type)
      if count < 0 or count > most then
        return refuse(path, ("one of its lists has %g elements"):format(count))
      end
      for k = 1, count do list[k] = number(p.type) end
      row[p.name] = list
    end
  end
  return row
end

function readers.ply(bytes, path)
  local elements, format, at = ply.header(bytes, path, refuse)
  local is_binary = format == "binary_little_endian"
  if not is_binary and format ~= "ascii" then
    return refuse(path, ("its format '%s' is not supported"):format(tostring(format)))
  end
  local number = is_binary and binary_numbers(bytes, at, path)
    or text_numbers(bytes:sub(at + 1), path, "it is truncated, or has words instead of numbers")
  local own = collector(path)
  for _, element in ipairs(elements) do
    for _ = 1, element.count do
      local row = ply_row(element.properties, number, path)
      if element.name == "vertex" then own.point(row.x, row.y, row.z) end
      if element.name == "face" then
        own.polygon(row.vertex_indices or row.vertex_index or {})
      end
    end
  end
  return finish(own, "triangles")
end

-- -- STL ------------------------------------------------------------------------------------------

-- Returns a function that adds the corner of a triangle; corners of equal coordinates share a
-- point.
local function welder(own)
  local known, count = {}, 0
  return function(x, y, z)
    if not (x and y and z) then
      return refuse(own.path, "one of its points is not three numbers")
    end
    local key = ("%.9g %.9g %.9g"):format(x, y, z)
    if not known[key] then
      own.point(x, y, z)
      known[key] = count
      count = count + 1
    end
    own.cells.add(known[key])
  end
end

function readers.stl(bytes, path)
  local own = collector(path)
  local corner = welder(own)
  local count = #bytes >= 84 and binary.read_u32(bytes, 81)
  if count and #bytes == 84 + 50 * count then
    local read = binary.reader "f32"
    local base = ffi.cast("const char *", bytes) + 84
    for t = 0, count - 1 do
      for k = 1, 3 do
        local p = base + 50 * t + 12 * k
        corner(read(p), read(p + 4), read(p + 8))
      end
    end
    return finish(own, "triangles")
  end
  if not bytes:find "^%s*solid" then
    return refuse(path, "it is neither a binary STL file nor one of text")
  end
  for x, y, z in bytes:gmatch "vertex%s+(%S+)%s+(%S+)%s+(%S+)" do
    corner(tonumber(x), tonumber(y), tonumber(z))
  end
  if own.cells.count % 3 ~= 0 or not bytes:find "endsolid" then
    return refuse(path, "it is truncated")
  end
  return finish(own, "triangles")
end

-- -- MSH (Gmsh, versions 2 and 4; binary, 2.2 and 4.1) --------------------------------------------

-- Gmsh's number of a kind of element -> our name of the cells, and how many points they have. The
-- points of all kinds must be known to skip the others.
local msh_kinds = { [1] = { "lines", 2 }, [2] = { "triangles", 3 }, [4] = { "tetrahedra", 4 } }
local msh_points = { 2, 3, 4, 4, 8, 6, 5, 3, 6, 9, 10, 27, 18, 14, 1, 8, 20, 15, 13 }

-- Returns where the contents of a section begin and end.
local function msh_section(bytes, name, path)
  local _, first = bytes:find("%$" .. name .. "%s-\n")
  local last = first and bytes:find("$End" .. name, first, true)
  if not last then return refuse(path, ("it has no section $%s"):format(name)) end
  return first + 1, last - 1
end

-- Both return a function(type) that returns the next number of a section. In a binary file the type
-- matters, and in version 2 the count of the items, which comes first, is text.
local function msh_words(bytes, name, path)
  return text_numbers(bytes:sub(msh_section(bytes, name, path)), path,
    ("its section $%s is truncated"):format(name))
end

local function msh_numbers(bytes, name, path)
  local first = msh_section(bytes, name, path)
  local number = binary_numbers(bytes, first - 1, path)
  return function(kind)
    if kind == "text" then
      local _, line, count = bytes:find("^(%d+)\r?\n", first)
      number = binary_numbers(bytes, line or first, path)
      return tonumber(count) or refuse(path, ("its section $%s is truncated"):format(name))
    elseif kind == "long" then
      local low, high = number "u32", number "u32"
      return high * 2 ^ 32 + low
    end
    return number(kind)
  end
end

local msh = {}

-- Version 2: one line for each point and element. In binary files, a head precedes the elements of
-- a kind.
msh[2] = {
  points = function(number, put)
    for _ = 1, number "text" do
      put(number "i32", number "f64", number "f64", number "f64")
    end
  end,
  cells = function(number, put, is_binary)
    local left = number "text"
    while left > 0 do
      local count, kind, tags = 1, nil, nil
      if is_binary then kind, count, tags = number "i32", number "i32", number "i32" end
      if count < 1 or count > left then return false end
      for _ = 1, count do
        number "i32"
        if not is_binary then kind, tags = number(), number() end
        for _ = 1, tags do number "i32" end
        if not msh_points[kind] then return false end
        put(kind, msh_points[kind], number, "i32")
      end
      left = left - count
    end
    return true
  end,
}

-- Version 4: one block per entity. The tags of a block's points precede their coordinates.
msh[4] = {
  points = function(number, put)
    local blocks = number "long"
    for _ = 1, 3 do number "long" end
    for _ = 1, blocks do
      local dimension, _, has_parameters = number "i32", number "i32", number "i32"
      local tags = {}
      for k = 1, number "long" do tags[k] = number "long" end
      for k = 1, #tags do
        put(tags[k], number "f64", number "f64", number "f64")
        for _ = 1, has_parameters ~= 0 and dimension or 0 do number "f64" end
      end
    end
  end,
  cells = function(number, put)
    local blocks = number "long"
    for _ = 1, 3 do number "long" end
    for _ = 1, blocks do
      local _, _, kind = number "i32", number "i32", number "i32"
      if not msh_points[kind] then return false end
      for _ = 1, number "long" do
        number "long"
        put(kind, msh_points[kind], number, "long")
      end
    end
    return true
  end,
}

function readers.msh(bytes, path)
  local version, part, of_binary = bytes:match "^%s*%$MeshFormat%s+(%d)%.?(%d*)%s+(%d)"
  local format, is_binary = msh[tonumber(version or 0)], of_binary == "1"
  if not format then return refuse(path, "it is not an MSH file of version 2 or 4") end
  if is_binary and version == "4" and part ~= "1" then
    return refuse(path, ("it is a binary MSH file of version 4.%s; only 4.1 is supported"):format(
      part))
  elseif is_binary and not bytes:find("^%s*%$MeshFormat%s+%S+ 1 8%s-\n\1%z%z%z") then
    return refuse(path, "it is a binary MSH file in another byte order")
  end
  local section = is_binary and msh_numbers or msh_words
  local own, at, lists = collector(path), {}, {}
  format.points(section(bytes, "Nodes", path), function(tag, x, y, z)
    at[tag] = own.points.count / 3
    own.point(x, y, z)
  end)
  local function put(kind, count, number, type)
    local row = msh_kinds[kind]
    lists[kind] = lists[kind] or buffer("int32_t", path)
    for _ = 1, count do
      local tag = number(type)
      if row then lists[kind].add(at[tag] or -1) end
    end
  end
  if not format.cells(section(bytes, "Elements", path), put, is_binary) then
    return refuse(path, "it has elements of an unknown kind")
  end
  for _, kind in ipairs { 4, 2, 1 } do -- of several kinds, the one with the most points is the mesh
    if lists[kind] then
      own.cells = lists[kind]
      return finish(own, msh_kinds[kind][1])
    end
  end
  return finish(own, "triangles")
end

--- Reads a mesh by the extension of its path.
function mesh.read(path)
  binary.check_path(path, "rg.mesh")
  local read = binary.format_of(path, readers, "rg.mesh")
  return read(binary.read("mesh", path), path)
end

-- -- writing --------------------------------------------------------------------------------------

local writers = {}

-- Writes a chunk of lines at a time, since a string of all would be as large as the file.
local function write_lines(write, count, line)
  local list = {}
  for k = 0, count - 1 do
    list[#list + 1] = line(k)
    if #list == 4096 or k == count - 1 then
      write(table.concat(list))
      list = {}
    end
  end
end

function writers.ply(host, write)
  local is_wide = ffi.istype("double[?]", host.vertices)
  write(("ply\nformat binary_little_endian 1.0\ncomment Regolith\nelement vertex %d\n\z
    property %s x\nproperty %s y\nproperty %s z\nelement face %d\n\z
    property list uchar int vertex_indices\nend_header\n"):format(host.point_count,
    is_wide and "double" or "float", is_wide and "double" or "float",
    is_wide and "double" or "float", host.cell_count))
  write(ffi.string(host.vertices, host.point_count * (is_wide and 24 or 12)))
  local record = ffi.typeof("struct __attribute__((packed)) { uint8_t count; int32_t at[$]; }",
    host.corners)
  local out = ffi.new(ffi.typeof("$[?]", record), math.max(1, host.cell_count))
  for t = 0, host.cell_count - 1 do
    out[t].count = host.corners
    for k = 0, host.corners - 1 do out[t].at[k] = host.cells[host.corners * t + k] end
  end
  write(ffi.string(out, host.cell_count * ffi.sizeof(record)))
end

function writers.obj(host, write)
  local v, c = host.vertices, host.cells
  write "# Regolith\n"
  write_lines(write, host.point_count, function(k)
    return ("v %.9g %.9g %.9g\n"):format(v[3 * k], v[3 * k + 1], v[3 * k + 2])
  end)
  local letter = host.corners == 2 and "l" or "f"
  write_lines(write, host.cell_count, function(t)
    local words = { letter }
    for k = 0, host.corners - 1 do words[k + 2] = c[host.corners * t + k] + 1 end
    return table.concat(words, " ") .. "\n"
  end)
end

function writers.stl(host, write)
  local v, c = host.vertices, host.cells
  write("Regolith" .. (" "):rep(72), binary.u32(host.cell_count))
  write_lines(write, host.cell_count, function(t)
    local numbers = { 0, 0, 0 } -- readers compute the normal
    for k = 0, 2 do
      for axis = 0, 2 do numbers[#numbers + 1] = v[3 * c[3 * t + k] + axis] end
    end
    for k = 1, 12 do numbers[k] = binary.f32(numbers[k]) end
    return table.concat(numbers) .. "\0\0"
  end)
end

-- The kinds of cells that a format can contain.
local supported = { ply = { triangles = true }, obj = { triangles = true, lines = true },
  stl = { triangles = true } }

--- Writes a mesh as mesh.read returns it. For tetrahedra, the caller passes their boundary.
function mesh.write(path, host)
  binary.check_path(path, "mesh:write")
  local put = binary.format_of(path, writers, "mesh:write")
  local ending = path:match "%.(%w+)$":lower()
  if not supported[ending][host.kind] then
    return fail.argument(("mesh:write: a .%s file cannot contain %s"):format(ending, host.kind),
      "write an .obj file")
  end
  binary.write("mesh", path, function(write) put(host, write) end)
end

return mesh
