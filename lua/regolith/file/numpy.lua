--- `.npy` and `.npz` files: `rg.numpy.write(path, x)`, `rg.numpy.write(path, { x = x })`,
--- `rg.numpy.read(path)`. Numbers are little-endian and row-major; the numbers of a vector or
--- matrix form the last axes. An .npz is a ZIP of .npy files, written without compression. A string
--- in it is one element of bytes (|S3).
local ffi = require "ffi"
local fail = require "regolith.error"
local binary = require "regolith.file.binary"
local scalars = require "regolith.data.scalars"
local types = require "regolith.data.type"
local zip = require "regolith.file.zip"
local zlib = require "regolith.file.zlib"

local numpy = {}

local codes, names = {}, {}
for _, row in ipairs(scalars) do
  codes[row.name] = scalars.computed(row.name).numpy
  names[codes[row.name]] = row.computed
end
names["|u1"], names["<i1"], names["<u1"] = "u8", "i8", "u8"

-- -- .npy -----------------------------------------------------------------------------------------

local function head(descr, shape)
  local text = ("{'descr': '%s', 'fortran_order': False, 'shape': (%s), }"):format(descr, shape)
  text = text .. (" "):rep(-(#text + 11) % 64) .. "\n"
  return "\147NUMPY\1\0" .. binary.u16(#text) .. text
end

local function npy(x, caller)
  if type(x) == "string" then return head(("|S%d"):format(#x), "") .. x end
  local t, extents = binary.shape_of(x, caller)
  local values, count = binary.numbers(x, caller)
  local name, shape = binary.element_of(t).name, { unpack(extents) }
  if t.rows and t.cols and t.cols > 1 then
    shape[#shape + 1], shape[#shape + 2] = t.rows, t.cols
  elseif t.count then
    shape[#shape + 1] = t.count
  end
  for k, extent in ipairs(shape) do shape[k] = ("%d"):format(extent) end
  return head(codes[name], table.concat(shape, ", ") .. (#shape == 1 and "," or ""))
    .. binary.bytes(values, 0, count, name)
end

local function refuse(path, why) return binary.fail("array", path, "read", why) end

local function parse(session, bytes, path)
  if bytes:sub(1, 6) ~= "\147NUMPY" or #bytes < 12 then
    return refuse(path, "it is not a .npy file")
  end
  local is_short = bytes:byte(7) == 1
  local length = is_short and binary.read_u16(bytes, 9) or binary.read_u32(bytes, 9)
  local first = is_short and 11 or 13
  local text = bytes:sub(first, first + length - 1)
  local code = text:match "'descr':%s*'([^']+)'"
  local order = text:match "'fortran_order':%s*(%a+)"
  local shape = text:match "'shape':%s*%(([^)]*)%)"
  if not code or not order or not shape then return refuse(path, "its header is invalid") end
  if code:find "^|S%d+$" and not shape:find "%d" then
    return (bytes:sub(first + length):gsub("%z+$", ""))
  end
  local name = names[code]
  if not name then
    return refuse(path, ("its numbers are of type '%s', which is not supported"):format(code))
  end
  if order ~= "False" then
    return refuse(path, "it is in Fortran order: save np.ascontiguousarray(a)")
  end
  local extents, count = {}, 1
  for extent in shape:gmatch "%d+" do
    extents[#extents + 1] = tonumber(extent)
    count = count * tonumber(extent)
  end
  if #bytes - (first + length - 1) ~= count * binary.size_of(name) then
    return refuse(path, "it is truncated, or longer than its header says")
  end
  if #extents == 0 then extents[1] = 1 end
  if count == 0 or #extents > 8 then
    return refuse(path, "its shape has no elements, or more than 8 axes")
  end
  local at, size = ffi.cast("const char *", bytes) + (first + length - 1), binary.size_of(name)
  local read = binary.reader(name)
  return binary.array(session, types.by_name[name], extents,
    function(k) return read(at + k * size) end, count)
end

-- -- .npz -----------------------------------------------------------------------------------------

local deflated, most_ratio = 8, 1100 -- deflated bytes stand for at most 1032 times as many

local function read_zip(session, bytes, path)
  local tail = bytes:find("PK\5\6", math.max(1, #bytes - 65600), true)
  if not tail or tail + 21 > #bytes then
    return refuse(path, "it is not a ZIP file, or is truncated")
  end
  local count, at = binary.read_u16(bytes, tail + 10), binary.read_u32(bytes, tail + 16) + 1
  local result = {}
  for _ = 1, count do
    if bytes:sub(at, at + 3) ~= "PK\1\2" or at + 45 > #bytes then
      return refuse(path, "its directory is invalid")
    end
    local method, crc = binary.read_u16(bytes, at + 10), binary.read_u32(bytes, at + 16)
    local packed, size = binary.read_u32(bytes, at + 20), binary.read_u32(bytes, at + 24)
    local length = binary.read_u16(bytes, at + 28)
    local place, name = binary.read_u32(bytes, at + 42) + 1, bytes:sub(at + 46, at + 45 + length)
    if method ~= 0 and method ~= deflated then
      return refuse(path, "its compression is not supported: write it by np.savez")
    end
    if place + 29 > #bytes then return refuse(path, "it is truncated") end
    local first = place + 30 + binary.read_u16(bytes, place + 26)
      + binary.read_u16(bytes, place + 28)
    local data = bytes:sub(first, first + packed - 1)
    if method == deflated and size <= most_ratio * (packed + 1) then
      data = zlib.inflate(data, size) or ""
    end
    if #data ~= size or zip.crc32(data) ~= crc then
      return refuse(path, "it is damaged: its checksum differs")
    end
    result[(name:gsub("%.npy$", ""))] = parse(session, data, path)
    at = at + 46 + length + binary.read_u16(bytes, at + 30) + binary.read_u16(bytes, at + 32)
  end
  return result
end

-- -- both -----------------------------------------------------------------------------------------

local caller = "rg.numpy.write"
local writers = {}
function writers.npy(path, x)
  local text = npy(x, caller)
  binary.write("array", path, function(write) write(text) end)
end
function writers.npz(path, t)
  if type(t) ~= "table" or getmetatable(t) then
    return fail.argument("rg.numpy.write takes a table for an .npz, { x = x }, not "
      .. fail.describe(t))
  end
  local entries = {}
  for name, x in pairs(t) do
    if type(name) ~= "string" or name:find "[/\\%z]" then
      return fail.argument("the arrays of an .npz must have names, not " .. fail.describe(name))
    end
    entries[#entries + 1] = { name .. ".npy", npy(x, caller) }
  end
  table.sort(entries, function(a, b) return a[1] < b[1] end)
  binary.write("arrays", path, function(write) zip.put(write, entries, false, "an .npz") end)
end

function numpy.write(_, path, what)
  binary.check_path(path, caller)
  binary.format_of(path, writers, caller)(path, what)
end

--- Returns an array, or for an .npz a table of arrays.
function numpy.read(session, path)
  binary.check_path(path, "rg.numpy.read")
  local bytes = binary.read("array", path)
  if bytes:sub(1, 2) == "PK" then return read_zip(session, bytes, path) end
  return parse(session, bytes, path)
end

return numpy
