--- Points as PLY: `rg.points.write(path, { pos = x, mass = m })`, `rg.points.read(path)`. `pos`
--- becomes x, y, z; `normal` nx, ny, nz; `color` (or `colour`) red, green, blue and optionally
--- alpha as bytes. Any other vector v becomes the properties v_x, v_y .., since every reader of PLY
--- supports scalars.
local ffi = require "ffi"
local fail = require "regolith.error"
local binary = require "regolith.file.binary"
local ply = require "regolith.file.ply"
local scalars = require "regolith.data.scalars"

local points = {}

local ply_types = { bool = "uchar", i8 = "char", u8 = "uchar", i16 = "short", u16 = "ushort",
  i32 = "int", u32 = "uint", i64 = "double", u64 = "double", f32 = "float", f64 = "double" }
for _, row in ipairs(scalars) do ply_types[row.name] = ply_types[row.computed] end

local letters = { "x", "y", "z", "w" }

-- The property names of an attribute's numbers.
local function names_of(name, count)
  local names = {}
  if name == "pos" then return { "x", "y", "z" } end
  if name == "normal" and count == 3 then return { "nx", "ny", "nz" } end
  if (name == "color" or name == "colour") and (count == 3 or count == 4) then
    return { "red", "green", "blue", "alpha" }, true
  end
  if count == 1 then return { name } end
  for k = 1, count do names[k] = ("%s_%s"):format(name, letters[k] or k) end
  return names
end

-- -- writing --------------------------------------------------------------------------------------

local caller = "rg.points.write"

-- Returns the indices of the active cells, in index order, or nil if all are active. Then an
-- attribute is read as a whole.
local function indices_of(x)
  if binary.is_dense(x) then return nil end
  local list = {}
  local rank = #x.shape
  for a, b, c, d, e, f, g, h in x:active() do
    list[#list + 1] = { unpack({ a, b, c, d, e, f, g, h }, 1, rank) }
  end
  return list
end

-- Reads a sparse attribute element by element.
local function gather(x, indices, parts)
  local values = ffi.new("double[?]", #indices * parts)
  for n, at in ipairs(indices) do
    local v = x:get(unpack(at))
    if parts == 1 then
      values[n - 1] = type(v) == "boolean" and (v and 1 or 0) or tonumber(v)
    else
      for k = 0, parts - 1 do values[(n - 1) * parts + k] = tonumber(v.rg_n[k]) end
    end
  end
  return values, #indices * parts
end

local function attribute(name, x, indices)
  local t = binary.shape_of(x, caller)
  local parts = binary.parts_of(t, caller)
  local values, count
  if indices then values, count = gather(x, indices, parts)
  else values, count = binary.numbers(x, caller) end
  local names, is_colour = names_of(name, parts)
  return { name = name, values = values, parts = parts, count = count / parts, names = names,
    type = is_colour and "u8" or binary.element_of(t).name,
    scale = is_colour and binary.element_of(t).name:find "^f" and 255 or nil }
end

local function attributes_of(t)
  if type(t) ~= "table" or getmetatable(t) or t.pos == nil then
    return fail.argument("rg.points.write takes a table of fields or arrays with a `pos`: \z
      { pos = x, mass = m }")
  end
  local _, extents = binary.shape_of(t.pos, caller)
  local parts = binary.parts_of(t.pos.type, caller)
  if parts ~= 2 and parts ~= 3 then
    return fail.argument(("`pos` of points must be of vec2 or vec3, not %s"):format(
      t.pos.type.name))
  end
  local indices, list, others = indices_of(t.pos), {}, {}
  for name in pairs(t) do
    if type(name) ~= "string" or not name:find "^[%a_][%w_]*$" then
      return fail.argument("the attributes of points must have names, not " .. fail.describe(name))
    end
    if name ~= "pos" then others[#others + 1] = name end
  end
  table.sort(others)
  for _, name in ipairs { "pos", unpack(others) } do
    local _, own = binary.shape_of(t[name], caller)
    for axis = 1, math.max(#own, #extents) do
      if own[axis] ~= extents[axis] then
        return fail.argument(("'%s' and 'pos' have different shapes"):format(name))
      end
    end
    list[#list + 1] = attribute(name, t[name], indices)
  end
  return list, list[1].count
end

local function header(list, count)
  local lines = { "ply", "format binary_little_endian 1.0", "comment Regolith",
    ("element vertex %d"):format(count) }
  for _, a in ipairs(list) do
    for k = 1, a.name == "pos" and 3 or a.parts do
      lines[#lines + 1] = ("property %s %s"):format(ply_types[a.type], a.names[k])
    end
  end
  return table.concat(lines, "\n") .. "\nend_header\n"
end

-- Writes one record per point, as an FFI struct.
local function records(list, count)
  local members = {}
  for _, a in ipairs(list) do
    for k = 1, a.name == "pos" and 3 or a.parts do
      a[k] = "m" .. #members
      members[#members + 1] = ("%s %s;"):format(binary.c_type(ply.types[ply_types[a.type]]), a[k])
    end
  end
  local record = ffi.typeof("struct __attribute__((packed)) {" .. table.concat(members) .. "}")
  local out = ffi.new(ffi.typeof("$[?]", record), count)
  for _, a in ipairs(list) do
    for k = 1, a.parts do
      local member, values, parts, scale = a[k], a.values, a.parts, a.scale
      for n = 0, count - 1 do
        local v = tonumber(values[n * parts + k - 1])
        if scale then v = math.floor(math.max(0, math.min(1, v)) * scale + 0.5) end
        out[n][member] = v
      end
    end
  end
  return ffi.string(out, count * ffi.sizeof(record))
end

--- `rg.points.write(path, { pos = x, velocity = v, color = c })`
function points.write(_, path, t)
  binary.check_path(path, caller)
  binary.format_of(path, { ply = true }, caller)
  local list, count = attributes_of(t)
  local head, body = header(list, count), count > 0 and records(list, count) or ""
  binary.write("points", path, function(write) write(head, body) end)
end

-- -- reading --------------------------------------------------------------------------------------

local function refuse(path, why) return binary.fail("points", path, "read", why) end

-- LuaJIT's buffers are smaller than 2 GiB, and a vector has up to four numbers.
local most_points = 2 ^ 26

-- Returns the format, the count and properties of the element `vertex`, and the header's length.
-- Other elements are ignored.
local function read_header(bytes, path)
  local elements, format, past = ply.header(bytes, path, refuse)
  for k, element in ipairs(elements) do
    if (k == 1) ~= (element.name == "vertex") then
      return refuse(path, "'vertex' must be its first element, and occur once")
    end
  end
  local points_of = elements[1]
  if not points_of or #points_of.properties == 0 then return refuse(path, "it has no points") end
  if points_of.count > most_points then
    return refuse(path, ("it has more than %d points"):format(most_points))
  end
  local known = {}
  for _, p in ipairs(points_of.properties) do
    if p.size_type then return refuse(path, ("property '%s' is a list"):format(p.name)) end
    if known[p.name] then return refuse(path, ("it has two properties '%s'"):format(p.name)) end
    known[p.name] = true
  end
  return format, points_of.count, points_of.properties, past
end

local function read_binary(bytes, at, count, properties, path)
  local size = 0
  for _, p in ipairs(properties) do
    p.at = size
    size = size + binary.size_of(p.type)
  end
  if #bytes - at < count * size then return refuse(path, "it is truncated") end
  for _, p in ipairs(properties) do
    p.values = ffi.new("double[?]", count)
    local first = ffi.cast("const char *", bytes) + at + p.at
    local read = binary.reader(p.type)
    for n = 0, count - 1 do p.values[n] = read(first + n * size) end
  end
end

local function read_text(bytes, at, count, properties, path)
  -- each number takes at least a digit and a separator, so a false count cannot make us allocate
  -- memory
  if #bytes - at < count * #properties * 2 - 1 then return refuse(path, "it is truncated") end
  local next_word = bytes:sub(at + 1):gmatch "%S+"
  for _, p in ipairs(properties) do
    p.values = ffi.new("double[?]", count)
    p.slot = not p.type:find "^f" and ffi.new(binary.c_type(p.type) .. "[1]") or nil
  end
  for n = 0, count - 1 do
    for _, p in ipairs(properties) do
      local v = tonumber(next_word() or "")
      if not v then return refuse(path, "it is truncated, or has words instead of numbers") end
      if p.slot then
        p.slot[0] = v
        if p.slot[0] ~= v then
          return refuse(path, ("property '%s' cannot be %g"):format(p.name, v))
        end
      end
      p.values[n] = v
    end
  end
end

-- Groups properties into attributes: { name, { properties } }.
local function group(properties)
  local by_name, groups, taken = {}, {}, {}
  for _, p in ipairs(properties) do by_name[p.name] = p end
  local function take(name, ...)
    local list = {}
    for _, one in ipairs { ... } do
      if not by_name[one] then break end
      list[#list + 1] = by_name[one]
    end
    if #list < 2 then return end
    for _, p in ipairs(list) do taken[p] = true end
    groups[#groups + 1] = { name, list }
  end
  take("pos", "x", "y", "z")
  take("normal", "nx", "ny", "nz")
  take("color", "red", "green", "blue", "alpha")
  for _, p in ipairs(properties) do
    local base = p.name:match "^(.+)_x$"
    if base then take(base, base .. "_x", base .. "_y", base .. "_z", base .. "_w") end
  end
  for _, p in ipairs(properties) do
    if not taken[p] then groups[#groups + 1] = { p.name, { p } } end
  end
  return groups
end

local function array_of(session, row, count)
  local list, parts = row[2], #row[2]
  local scale = row[1] == "color" and list[1].type == "u8" and 1 / 255 or 1
  local kind = scale ~= 1 and "f32" or list[1].type
  local values = ffi.new("double[?]", count * parts)
  for k, p in ipairs(list) do
    for n = 0, count - 1 do values[n * parts + k - 1] = p.values[n] * scale end
  end
  return binary.array(session, binary.vector_type(kind, parts), { count },
    function(k) return values[k] end, count * parts)
end

--- Returns a table of arrays by name, and the number of points.
function points.read(session, path)
  binary.check_path(path, "rg.points.read")
  local bytes = binary.read("points", path)
  local format, count, properties, at = read_header(bytes, path)
  if format == "binary_little_endian" then read_binary(bytes, at, count, properties, path)
  elseif format == "ascii" then read_text(bytes, at, count, properties, path)
  else return refuse(path, ("its format '%s' is not supported"):format(tostring(format))) end
  local result = {}
  if count == 0 then return result, 0 end
  for _, row in ipairs(group(properties)) do result[row[1]] = array_of(session, row, count) end
  return result, count
end

return points
