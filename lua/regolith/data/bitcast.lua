--- `rg.bitcast(T, x)` from Lua. A number here has no type of its own: for an integer type T it is
--- the float of that size, for a float the integer.
local ffi = require "ffi"
local fail = require "regolith.error"
local scalars = require "regolith.data.scalars"
local types = require "regolith.data.type"
local matrix = require "regolith.data.matrix"

-- Names of types by their size in bytes, if there is a float of that size.
local of_size = { integer = {}, float = {} }
for _, row in ipairs(scalars) do
  if row.class == "float" then of_size.float[row.size] = of_size.float[row.size] or row.name end
end
for _, row in ipairs(scalars) do
  local has_float = of_size.float[row.size]
  if row.class == "unsigned" and has_float then of_size.integer[row.size] = row.name end
end

local function is_float(t) return (scalars[t.name] or {}).class == "float" end

local function refuse_size(t, what, source)
  return fail.argument(("'rg.bitcast' to %s takes %d bits, but this is %s"):format(t.name,
    t.size * 8, what), "convert it first: rg." .. (source or t.name) .. "(..)", "type.mismatch")
end

local function refuse_value(x)
  return fail.argument("'rg.bitcast' takes numbers, but this is " .. fail.describe(x), nil,
    "type.mismatch")
end

-- The type whose bits are meant by a number.
local function source_of(t, x)
  local source = (is_float(t) and of_size.integer or of_size.float)[t.size]
  local is_signed = ffi.istype("int64_t", x)
  if is_signed or ffi.istype("uint64_t", x) then
    if t.size ~= 8 then return refuse_size(t, "a 64-bit integer", source) end
    return is_signed and "i64" or "u64"
  end
  if type(x) ~= "number" then return refuse_value(x) end
  if not source then return refuse_size(t, "a float", source) end
  local limit = 2 ^ (t.size * 8)
  if is_float(t) and not (x % 1 == 0 and x >= -limit / 2 and x < limit) then
    return fail.argument(("%.14g does not fit a %s, whose bits 'rg.bitcast' takes"):format(x,
      source), nil, "value.fit")
  end
  if is_float(t) and x < 0 then return "i" .. t.size * 8 end
  return source
end

-- The cast itself; its module is loaded at the first use, since few scripts need it.
local function cast_from(t, source)
  return require("regolith.oracle.number")[("bits_%s_%s"):format(t.name, source)]
end

local function cast_number(t, x)
  local source = source_of(t, x)
  return cast_from(t, source)(types.by_name[source].convert(x))
end

local function cast_vector(t, shape, x)
  local element = shape.element
  if not element or element.name == "bool" then return refuse_value(x) end
  if element.size ~= t.size then return refuse_size(t, "made of " .. element.name) end
  local cast, list = cast_from(t, element.name), {}
  for k = 0, shape.count - 1 do list[k + 1] = cast(x.rg_n[k]) end
  return types.shaped(t, shape.rows, shape.cols)(unpack(list))
end

return fail.border(function(t, x)
  if not types.is(t) or t.count or t.members or t.name == "bool" then
    return fail.argument("'rg.bitcast' takes a number type first, then the value whose bits \z
      are reinterpreted",
      "rg.bitcast(rg.u32, x)", "call.invalid")
  end
  local shape = matrix.type_of(x)
  if shape then return cast_vector(t, shape, x) end
  return cast_number(t, x)
end)
