--- The types of counted arrays, `rg.array_type(T [, axes])`: of members of structs, and of
--- elements. A value is the address of the array's header, a number that only kernels use.
local ffi = require "ffi"
local fail = require "regolith.error"
local types = require "regolith.data.type"

local array_type = {}

local function refuse()
  return fail.argument("an array type cannot be called",
    "rg.zeros(T, n) or rg.list(T) makes an array")
end

-- The array that a launch returned, with its reference; nil if it returned none.
local function from_numbers(t, numbers, runtime)
  if not runtime then
    return fail.argument("only kernels can read an array that another array or a struct holds")
  end
  return require("regolith.data.counted").take(runtime, t, numbers[0].u64)
end

local function name_of(element, axes)
  return axes == 1 and ("array(%s)"):format(element.name)
    or ("array(%s,%d)"):format(element.name, axes)
end

--- One object per type.
function array_type.create(element, axes)
  element = types.get(element, "rg.array_type")
  axes = axes == nil and 1 or axes
  if type(axes) ~= "number" or axes % 1 ~= 0 or axes < 1 or axes > 8 then
    return fail.argument("an array has 1 to 8 axes")
  end
  local name = name_of(element, axes)
  if types.by_name[name] then return types.by_name[name] end
  types.by_name[name] = types.seal(types.new { name = name, count = 1, members = {}, by_name = {},
    numbers = { [0] = types.by_name.i64 }, ctype = ffi.typeof "int64_t", size = 8,
    item = element, axes = axes, construct = refuse,
    from_numbers = from_numbers })
  return types.by_name[name]
end

--- The type of a name such as "array(f32,2)"; nil for other names.
function array_type.named(name)
  local inner, axes = name:match "^array%((.*),(%d)%)$"
  inner = inner or name:match "^array%((.*)%)$"
  return inner and array_type.create(types.named(inner), tonumber(axes or 1))
end

return array_type
