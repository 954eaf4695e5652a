--- Shared by the writers and readers of files: atomic replacement of files, access to the numbers
--- of fields and arrays, and little-endian encoding.
local ffi = require "ffi"
local lib = require "regolith.lib"
local fail = require "regolith.error"
local field = require "regolith.data.field"
local array = require "regolith.data.array"
local scalars = require "regolith.data.scalars"
local types = require "regolith.data.type"
local whole = require "regolith.data.whole"

local binary = {}

local C, check = lib.C, lib.check
local io = io

function binary.fail(what, path, verb, why)
  return fail.argument(("%s '%s' cannot be %s: %s"):format(what, path, verb,
    (tostring(why):gsub("^.*: ", ""))), nil, "io.failed")
end

function binary.check_path(path, caller)
  if type(path) == "string" and path ~= "" then return end
  return fail.argument(("%s takes a path first, not %s"):format(caller, fail.describe(path)))
end

--- Returns the handler for a path's extension among `formats`; raises an error that lists the
--- extensions.
function binary.format_of(path, formats, caller)
  local ending, names = path:match "%.(%w+)$", {}
  if ending and formats[ending:lower()] then return formats[ending:lower()] end
  for name in pairs(formats) do names[#names + 1] = "." .. name end
  table.sort(names)
  return fail.argument(("%s: '%s' does not end with %s"):format(caller, path,
    table.concat(names, " or ")))
end

local temporary_out = ffi.new "char[4200]"

-- Raises the core's error for a call that has no runtime.
local function check_file(status)
  if status == 0 then return end
  local err = C.rg_error(nil)
  local hint = ffi.string(err.hint)
  return fail.argument(ffi.string(err.message), hint ~= "" and hint or nil, ffi.string(err.code))
end

local begin_file = lib.quietly(function(what, path)
  check_file(C.rg_file_begin(what, path, temporary_out, ffi.sizeof(temporary_out)))
  return ffi.string(temporary_out)
end)

local end_file = lib.quietly(function(what, path, temporary, keep)
  check_file(C.rg_file_end(what, path, temporary, keep and 1 or 0))
end)

-- Runs put(write, file). Returns true if all of it was written, otherwise false, the reason, and
-- whether the file caused the failure.
local function fill(file, put)
  local problem
  local ok, err = pcall(put, function(...)
    local done, reason = file:write(...)
    if not done then
      problem = reason
      error(problem, 0)
    end
  end, file)
  local closed, reason = file:close()
  if ok and not closed then return false, reason, true end
  return ok, problem or err, problem ~= nil
end

--- Calls put(write), where write(..) takes strings. A regular file appears under its name at the
--- end, complete; anything else at that path, such as a FIFO or a device, is refused
--- (core/io/replace.h).
function binary.write(what, path, put)
  local temporary = begin_file(what, path)
  local file, why = io.open(temporary, "wb")
  local ok, of_file = file ~= nil, true
  if file then ok, why, of_file = fill(file, put) end
  if ok then return end_file(what, path, temporary, true) end
  end_file(what, path, temporary, false)
  if of_file then return binary.fail(what, path, "written", why) end
  return error(why, 0)
end

--- Raises if something other than a regular file is at the path; returns whether a file is there.
function binary.check_file(what, path, verb)
  local kind = C.rg_file_kind(path)
  if kind ~= nil and ffi.string(kind) ~= "" then
    return binary.fail(what, path, verb, ("it is %s, not a file"):format(ffi.string(kind)))
  end
  return kind ~= nil
end

--- Returns all bytes of a file.
function binary.read(what, path)
  local file, why = io.open(path, "rb")
  if not file then return binary.fail(what, path, "read", why) end
  local ok, bytes, reason = pcall(file.read, file, "*a")
  file:close()
  if not ok then return binary.fail(what, path, "read", "it is larger than a Lua string can be") end
  return bytes or binary.fail(what, path, "read", reason)
end

-- -- numbers --------------------------------------------------------------------------------------

local is = ffi.istype
function binary.is_field(v) return type(v) == "cdata" and is("RgFieldHandle", v) end
function binary.is_array(v) return array.is(v) end

--- Whether all elements exist: true for arrays, and for fields of which all cells are active.
function binary.is_dense(x)
  if binary.is_array(x) then return true end
  local count, shape = 1, x.shape
  for axis = 0, #shape - 1 do count = count * shape[axis] end
  return count > 0 and x:count() == count
end

--- Text with the characters escaped that XML reserves.
function binary.escape_xml(text)
  return (text:gsub("[&<>\"]", { ["&"] = "&amp;", ["<"] = "&lt;", [">"] = "&gt;",
    ['"'] = "&quot;" }))
end

--- Returns the type of a field or array, its extents (a list), and its first indices.
function binary.shape_of(x, caller)
  x = whole.plain(x)
  if binary.is_field(x) then
    field.settle(x)
  elseif not binary.is_array(x) then
    return fail.argument(("%s takes a field or an array, not %s"):format(caller,
      fail.describe(x)))
  end
  local extents, starts, shape = {}, {}, x.shape
  for axis = 0, #shape - 1 do extents[axis + 1] = shape[axis] end
  local offset = binary.is_field(x) and x.offset
  for axis = 0, #extents - 1 do starts[axis + 1] = offset and offset[axis] or 0 end
  return x.type, extents, starts
end

local function element_of(t) return t.element or t end
binary.element_of = element_of

--- Returns how many numbers an element has; raises if it has a struct.
function binary.parts_of(t, caller)
  if t.item then
    return fail.argument(
      ("%s takes numbers, vectors and matrices, but these elements are arrays"):format(caller),
      "pass one of them: a[0]")
  elseif t.members then
    return fail.argument(("%s takes numbers, vectors and matrices, not structs"):format(caller))
  end
  return t.count or 1
end

-- LuaJIT's buffers are smaller than 2 GiB.
local function buffer(count, name, caller)
  local wide = name == "i64" or name == "u64"
  if count * 8 >= 2 ^ 31 then
    return fail.argument(("%s takes up to %d numbers, not %.0f"):format(caller, 2 ^ 28 - 1, count),
      "write parts of it")
  end
  return wide and ffi.new("int64_t[?]", count) or ffi.new("double[?]", count), wide
end

--- Returns all elements, row-major, as an FFI array of doubles, or of int64_t for 64-bit integers,
--- and their count.
function binary.numbers(x, caller)
  x = whole.plain(x)
  local t, extents = binary.shape_of(x, caller)
  local count = binary.parts_of(t, caller)
  for axis = 1, #extents do
    if extents[axis] == 0 then
      return fail.argument(("%s does not take fields with unbounded axes: %s"):format(caller,
        tostring(x)))
    end
    count = count * extents[axis]
  end
  local values, wide = buffer(count, element_of(t).name, caller)
  local own, number = lib.oracle_of(x.rg_runtime), x.rg_runtime
  if own then
    own:read(x, values)
  elseif binary.is_field(x) then
    check((wide and C.rg_field_read_i64 or C.rg_field_read)(x.rg_field, values, count), number)
  else
    check((wide and C.rg_array_read_i64 or C.rg_array_read)(x.rg_array, values, count), number)
  end
  return values, count
end

local c_types = {}
for _, row in ipairs(scalars) do c_types[row.name] = scalars.computed(row.name).ctype end
c_types.bool = "uint8_t"

--- Encodes `count` numbers from `values` as bytes of a type ("f32"); f16 becomes f32, the type it
--- is computed in.
function binary.bytes(values, first, count, name)
  local out = ffi.new(c_types[name] .. "[?]", count)
  for k = 0, count - 1 do out[k] = values[first + k] end
  return ffi.string(out, ffi.sizeof(out))
end

-- Replaces a NaN from a file by Lua's own: LuaJIT encodes the types of values in the bits of NaNs,
-- so a foreign NaN could become any value.
local readers = {}
function readers.f32(at)
  local bits = ffi.cast("const uint32_t *", at)[0] % 0x80000000
  return bits > 0x7f800000 and 0 / 0 or ffi.cast("const float *", at)[0]
end
function readers.f64(at)
  local words = ffi.cast("const uint32_t *", at)
  local high = words[1] % 0x80000000
  if high > 0x7ff00000 or high == 0x7ff00000 and words[0] ~= 0 then return 0 / 0 end
  return ffi.cast("const double *", at)[0]
end
for name, c_type in pairs(c_types) do
  local pointer = ffi.typeof("const " .. c_type .. " *")
  readers[name] = readers[name] or function(at) return ffi.cast(pointer, at)[0] end
end

--- Returns function(pointer), which reads a number of a type from foreign memory.
function binary.reader(name) return readers[name] end

function binary.c_type(name) return c_types[name] end
function binary.size_of(name) return ffi.sizeof(c_types[name]) end

local function ordered(n, size)
  local bytes = {}
  for k = 1, size do
    bytes[k] = string.char(n % 256)
    n = math.floor(n / 256)
  end
  return table.concat(bytes)
end
--- Encodes integers in little-endian order; negative ones in two's complement.
function binary.u16(n) return ordered(n, 2) end
function binary.u32(n) return ordered(n % 2 ^ 32, 4) end
function binary.u64(n) return ordered(n, 8) end
local single, double = ffi.new "float[1]", ffi.new "double[1]"
function binary.f32(v)
  single[0] = v
  return ffi.string(single, 4)
end
function binary.f64(v)
  double[0] = v
  return ffi.string(double, 8)
end
function binary.read_u16(s, at)
  local a, b = s:byte(at, at + 1)
  return a + b * 256
end
function binary.read_u32(s, at)
  local a, b, c, d = s:byte(at, at + 3)
  return a + b * 256 + c * 65536 + d * 2 ^ 24
end

--- Creates an array and sets its elements, row-major, from value(k) for k from 0 to count - 1.
function binary.array(session, t, extents, value, count)
  local own, wide = buffer(count, element_of(t).name, "reading a file")
  local x = array.create(session, t, unpack(extents))
  for k = 0, count - 1 do own[k] = value(k) end
  local oracle = lib.oracle_of(x.rg_runtime)
  if oracle then oracle:write(x, own)
  else
    check((wide and C.rg_array_write_i64 or C.rg_array_write)(x.rg_array, own, count),
      x.rg_runtime)
  end
  return x
end

function binary.vector_type(element, count)
  return count == 1 and types.by_name[element] or types.shaped(types.by_name[element], count, 1)
end

return binary
