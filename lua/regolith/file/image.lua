--- Pictures: `rg.image.write(path, what, { low = 0, high = 1 })`, `rg.image.read(path)`. The first
--- axis goes to the right, the second upward. A table of columns or an FFI buffer of pixels is
--- first copied to an array of doubles.
local lib = require "regolith.lib"
local fail = require "regolith.error"
local ffi = require "ffi"
local field = require "regolith.data.field"
local array = require "regolith.data.array"
local matrix = require "regolith.data.matrix"
local active_box = require "regolith.data.active_box"
local whole = require "regolith.data.whole"
local binary = require "regolith.file.binary"

local image = {}

local C, check = lib.C, lib.check
local image_options = { "low", "high", "palette", "gamma", "width", "height", "channels" }
local largest_side = 65535

-- -- sources of pixels ----------------------------------------------------------------------------

-- The numbers of an element of a table: one, or those of a list or vector.
local function numbers_of(v)
  if type(v) == "table" then return v, #v end
  local list = matrix.numbers(v) or { v }
  return list, #list
end

-- Converts a table of columns, `t[x][y]`, of numbers or colours.
local function from_table(t, what)
  local function refuse()
    return fail.argument(("%s takes a field, an array, an FFI buffer, or a table of columns \z
      t[x][y] of numbers or colours {r, g, b}"):format(what))
  end
  if type(t[1]) ~= "table" or t[1][1] == nil then return refuse() end
  local width, height = #t, #t[1]
  local _, parts = numbers_of(t[1][1])
  local values, at = ffi.new("double[?]", width * height * parts), 0
  for x = 1, width do
    if type(t[x]) ~= "table" or #t[x] ~= height then
      return fail.argument(("%s: column %d must have %d elements, as the first has"):format(what, x,
        height))
    end
    for y = 1, height do
      local numbers, count = numbers_of(t[x][y])
      if count ~= parts then return refuse() end
      for k = 1, parts do
        if type(numbers[k]) ~= "number" then return refuse() end
        values[at], at = numbers[k], at + 1
      end
    end
  end
  return { values = values, width = width, height = height, parts = parts }
end

local function size_option(options, name, what, default)
  local v = options[name] or default
  if type(v) ~= "number" or v % 1 ~= 0 or v < 1 or v > largest_side then
    return fail.argument(("%s of an FFI buffer needs the option '%s', a whole number \z
      from 1 to %d"):format(what, name, largest_side),
      "{ width = w, height = h, channels = 3 }", "option.invalid")
  end
  return v
end

local names_of_c = { u8 = "u8", float = "f32", double = "f64" }

-- Converts pixels row by row, top row first; bytes range from 0 to 255, other numbers are
-- unchanged.
local function from_buffer(buffer, options, what)
  local width, height = size_option(options, "width", what), size_option(options, "height", what)
  local parts = size_option(options, "channels", what, 1)
  local kind, count = tostring(ffi.typeof(buffer)), width * height * parts
  local name = kind:find "unsigned char" and "u8" or kind:match "float" or kind:match "double"
  if not name then
    return fail.argument(("%s takes FFI buffers of uint8_t, float or double, not %s"):format(what,
      kind))
  end
  local is_bytes, size = name == "u8", ({ u8 = 1, float = 4, double = 8 })[name]
  if not kind:find "%*" and ffi.sizeof(buffer) < count * size then
    return fail.argument(("%s: the buffer has %d bytes, but %d x %d pixels need %d"):format(what,
      ffi.sizeof(buffer), width, height, count * size))
  end
  local values, scale = ffi.new("double[?]", count), is_bytes and 1 / 255 or 1
  local read = binary.reader(names_of_c[name])
  local bytes = ffi.cast("const char *", buffer)
  for y = 0, height - 1 do
    for x = 0, width - 1 do
      for k = 0, parts - 1 do
        values[(x * height + height - 1 - y) * parts + k] =
          read(bytes + ((y * width + x) * parts + k) * size) * scale
      end
    end
  end
  return { values = values, width = width, height = height, parts = parts, is_bytes = is_bytes }
end

local function is_buffer(what)
  if type(what) ~= "cdata" then return false end
  local kind = tostring(ffi.typeof(what))
  return (kind:find "%[" or kind:find "%*") and not kind:find "struct" and not kind:find "Rg"
end

-- For a field with unbounded axes, the box of its active cells; nil if there is none, which the
-- core reports.
local function from_active_box(x, caller)
  local parts = x.type.members and 0 or x.type.count or 1
  if #x.shape ~= 2 or parts ~= 1 and parts ~= 3 and parts ~= 4 then return nil end
  local values, _, extents = active_box.numbers(x, caller, largest_side)
  return { values = values, width = extents[1], height = extents[2], parts = parts }
end

-- Prepares the source of a picture once; the caller then fills an RgPicture from it.
local function subject_of(what, options, caller)
  what = whole.plain(what)
  if ffi.istype("RgArrayHandle", what) then return { array = what, handle = what } end
  if ffi.istype("RgFieldHandle", what) then
    field.settle(what)
    return active_box.is_unbounded(what) and from_active_box(what, caller)
      or { field = what, handle = what }
  end
  if type(what) == "table" and not getmetatable(what) then return from_table(what, caller) end
  if is_buffer(what) then return from_buffer(what, options, caller) end
  return fail.argument(("%s takes a field, an array, an FFI buffer or a table, not %s"):format(
    caller, fail.describe(what)))
end

local function check_options(options, caller)
  fail.options(options, image_options, caller)
  if options.palette ~= nil and type(options.palette) ~= "string" then
    return fail.option(options, "palette", caller, "a name")
  end
end

-- Calls run(c, RgPicture, number) for a source. The picture points into memory that is held here.
local function with_picture(session, subject, options, caller, run)
  local number = subject.handle and subject.handle.rg_runtime or session:get()
  local own = subject.handle and lib.oracle_of(number)
  if own then own:copy_to_core(subject.handle) end
  local picture = ffi.new "RgPicture"
  picture.struct_size = ffi.sizeof "RgPicture"
  picture.low, picture.high = fail.typed_option(options, "low", "number", caller) or 0,
    fail.typed_option(options, "high", "number", caller) or 0
  picture.gamma = fail.typed_option(options, "gamma", "number", caller) or 0
  picture.palette = options.palette
  if subject.is_bytes and subject.parts == 1 and picture.low == picture.high then
    picture.low, picture.high = 0, 1
  end
  if subject.field then picture.field = subject.field.rg_field
  elseif subject.array then picture.array = subject.array.rg_array
  else
    picture.values, picture.parts = subject.values, subject.parts
    picture.shape[0], picture.shape[1] = subject.width, subject.height
  end
  local runtime = lib.runtimes[number]
  check(run(runtime and runtime.c, picture), number)
  return picture
end

--- `rg.image.write(path, what, { low = 0, high = 1, palette = "viridis", gamma = 2.2 })`
function image.write(session, path, what, options)
  local caller = "rg.image.write"
  binary.check_path(path, caller)
  options = options == nil and {} or options
  check_options(options, caller)
  with_picture(session, subject_of(what, options, caller), options, caller,
    function(c, picture) return C.rg_picture_write(c, path, picture) end)
end

--- Returns the pixels that would be written, as bytes red green blue opacity, top row first, and
--- the width and height.
function image.paint(session, what, options, caller)
  options = options == nil and {} or options
  check_options(options, caller)
  local subject = subject_of(what, options, caller)
  local width, height = subject.width, subject.height
  if subject.handle then
    local extents = subject.handle.shape
    if #extents ~= 2 then width, height = 1, 1 else width, height = extents[0], extents[1] end
  end
  local size = 4 * width * height
  local rgba = ffi.new("uint8_t[?]", size)
  with_picture(session, subject, options, caller,
    function(c, picture) return C.rg_picture_paint(c, picture, rgba, size) end)
  return rgba, width, height
end

--- `rg.image.read(path, { gamma = 2.2 })`: returns an array of f32, vec3 or vec4.
function image.read(session, path, options)
  binary.check_path(path, "rg.image.read")
  options = fail.options(options, { "gamma" }, "rg.image.read")
  local gamma = fail.typed_option(options, "gamma", "number", "rg.image.read") or 0
  local handle = array.read_image(session, path, gamma)
  local own = lib.oracle_of(handle.rg_runtime)
  if own then
    local copy = require("regolith.oracle.snapshot").create(own, handle.rg_runtime)
    copy:copy_from_core { { path, handle } }
  end
  return handle
end

return image
