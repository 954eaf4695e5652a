--- Pictures: `rg.image.write(path, field or array or table, { low = 0, high = 1 })`.
--- The first axis goes to the right, the second upward.
local lib = require "regolith.lib"
local fail = require "regolith.error"
local types = require "regolith.type"
local ffi = require "ffi"
local field = require "regolith.field"

local image = {}

local C = lib.C
local image_options = { "low", "high", "palette" }

local function number_option(options, name)
  local v = options[name]
  if v ~= nil and type(v) ~= "number" then
    return fail.argument(("option '%s' of rg.image.write is %s, not a number"):format(
      name, fail.describe(v)), nil,
      "option.invalid")
  end
  return v or 0
end

-- A table of columns, `t[x][y]`, as a field.
local function field_of(session, t)
  if type(t[1]) ~= "table" then
    return fail.argument(
      "rg.image.write takes a field, an array or a table of columns t[x][y] of numbers")
  end
  return field.create(session, types.by_name.f64, #t, #t[1]):from_table(t)
end

function image.write(session, path, what, options)
  if type(path) ~= "string" then
    return fail.argument("rg.image.write takes a path first, not " .. fail.describe(path))
  end
  options = options == nil and {} or options
  if type(options) ~= "table" then
    return fail.argument("options are a table, not " .. fail.describe(options))
  end
  fail.check_options(options, image_options, "rg.image.write")
  local low, high = number_option(options, "low"), number_option(options, "high")
  local palette = options.palette == nil and "grey" or options.palette
  if type(palette) ~= "string" then
    return fail.argument(("option 'palette' of rg.image.write is %s, not a name"):format(
      fail.describe(palette)), nil,
      "option.invalid")
  end
  if type(what) == "table" then what = field_of(session, what) end
  local is_array = ffi.istype("RgArrayHandle", what)
  if not is_array and not ffi.istype("RgFieldHandle", what) then
    return fail.argument("rg.image.write takes a field, an array or a table, not "
      .. fail.describe(what))
  end
  if not is_array then field.settle(what) end
  local number = what.rg_runtime
  if lib.oracle_of(number) then lib.oracle_of(number):show(what) end
  local c = lib.runtimes[number].c
  if is_array then
    lib.check(C.rg_image_write_array(c, path, what.rg_array, low, high, palette), number)
  else
    lib.check(C.rg_image_write_field(c, path, what.rg_field, low, high, palette), number)
  end
end

return image
