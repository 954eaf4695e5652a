--- The types: `rg.f32` names one, `rg.f32(x)` converts as a kernel does, `rg.vec2(x, y)` makes a
--- vector (matrix.lua). Integers wrap into narrower ones, floats go toward zero and saturate, NaN
--- gives 0.
local ffi = require "ffi"
local fail = require "regolith.error"
local packed = require "regolith.data.packed"
local scalars = require "regolith.data.scalars"

local types = { by_name = {}, names = {} }

local Type = { __regolith = "a type" }
Type.__index = Type
function Type:__tostring() return self.text or self.name end
Type.__concat = fail.concat

local known = setmetatable({}, { __mode = "k" }) -- type -> true

local function refuse_change(t, key)
  return fail.argument(("'%s' cannot be set: the type %s does not change"):format(tostring(key),
    tostring(t)))
end

--- The last step of making a type: what it is, `name` and so on, is read and never changed again.
function types.seal(t)
  local meta = {}
  for name, f in pairs(Type) do meta[name] = f end
  meta.__index, meta.__newindex = {}, refuse_change
  for name, v in pairs(t) do meta.__index[name] = v end
  for name in pairs(meta.__index) do t[name] = nil end
  known[t] = true
  return setmetatable(t, meta)
end

local function is_int64(x) return ffi.istype("int64_t", x) or ffi.istype("uint64_t", x) end

local function number_of(x, name)
  if type(x) == "number" or is_int64(x) then return x end
  if type(x) == "boolean" then return x and 1 or 0 end
  return fail.argument(("rg.%s converts numbers, not %s"):format(name, fail.describe(x)))
end

-- Toward zero and saturating, for integers of up to 32 bits.
local function to_small(x, low, high)
  if x ~= x then return 0 end
  x = x < 0 and math.ceil(x) or math.floor(x)
  return math.max(low, math.min(high, x)) + 0
end

local function small_integer(ctype, low, high)
  local wrap = ffi.typeof(ctype)
  return function(x)
    if type(x) == "number" then return to_small(x, low, high) end
    return tonumber(wrap(x))
  end
end

local function to_i64(x)
  if type(x) ~= "number" then return ffi.cast("int64_t", x) end
  if x ~= x then return 0LL end
  if x >= 2 ^ 63 then return 0x7fffffffffffffffLL end
  if x <= -2 ^ 63 then return -0x7fffffffffffffffLL - 1LL end
  return ffi.cast("int64_t", x)
end
local function to_u64(x)
  if type(x) ~= "number" then return ffi.cast("uint64_t", x) end
  if x ~= x or x <= 0 then return 0ULL end
  if x >= 2 ^ 64 then return 0xffffffffffffffffULL end
  if x >= 2 ^ 63 then
    return ffi.cast("uint64_t", ffi.cast("int64_t", x - 2 ^ 63)) + 0x8000000000000000ULL
  end
  return ffi.cast("uint64_t", ffi.cast("int64_t", x))
end

-- To the nearest half-precision number, ties to even.
local function to_f16(x)
  x = tonumber(x)
  if x ~= x or x == 0 or math.abs(x) == math.huge then return x end
  local _, exponent = math.frexp(x)
  local step = 2 ^ (math.max(exponent, -13) - 11)
  local q = x / step
  local whole = math.floor(q)
  local rest = q - whole
  if rest > 0.5 or (rest == 0.5 and whole % 2 == 1) then whole = whole + 1 end
  local value = whole * step
  if math.abs(value) > 65504 then return value > 0 and math.huge or -math.huge end
  return value
end

local conversions = {
  bool = function(x) return x ~= 0 and x ~= false end,
  i64 = to_i64,
  u64 = to_u64,
  f16 = to_f16,
  f32 = function(x) return tonumber(ffi.cast("float", x)) end,
  f64 = function(x) return tonumber(x) end,
}

local convert_other = fail.border(function(self, x)
  return self.convert(number_of(x, self.name))
end)

function Type:__call(...)
  if self.construct then return self:construct(...) end
  local x = ...
  if type(x) == "number" then return self.convert(x) end
  return convert_other(self, x)
end

for _, row in ipairs(scalars) do
  if row.is_integer and row.size < 8 then
    conversions[row.name] = small_integer(row.ctype, row.least, row.beyond - 1)
  end
  local t = setmetatable({ name = row.name, ctype = row.ctype, size = row.size,
    convert = conversions[row.name] }, Type)
  types.by_name[t.name] = types.seal(t)
  types.names[#types.names + 1] = t.name
end

-- -- vectors and matrices -------------------------------------------------------------------------

local made_late = { ctype_value = true, construct = true, member = true }
local short = { f32 = "vec", i32 = "ivec", u32 = "uvec", f64 = "dvec", bool = "bvec" }
local most_numbers = 64

local function name_shape(element, rows, cols)
  if cols == 1 then
    if rows <= 4 and short[element.name] then return short[element.name] .. rows end
    return ("vec(%d,%s)"):format(rows, element.name)
  end
  if rows == cols and rows <= 4 and element.name == "f32" then return "mat" .. rows end
  return ("mat(%d,%d,%s)"):format(rows, cols, element.name)
end

local function check_extent(n)
  if type(n) ~= "number" or n % 1 ~= 0 or n < 1 or n > most_numbers then
    return fail.argument(("a vector or matrix has 2 to %d numbers"):format(most_numbers))
  end
end

--- The type of a vector (one column) or matrix of a scalar type; one object per type.
function types.shaped(element, rows, cols)
  check_extent(rows)
  check_extent(cols)
  if rows * cols < 2 or rows * cols > most_numbers then
    return fail.argument(("a vector or matrix has 2 to %d numbers"):format(most_numbers))
  end
  if packed.is(element) then return packed.shaped(element, rows, cols) end
  if element.count then
    return fail.argument(("a vector or matrix is made of numbers, not of %s"):format(element.name))
  end
  local name = name_shape(element, rows, cols)
  local t = types.by_name[name]
  if t then return t end
  t = setmetatable({
    name = name, element = element, rows = rows, cols = cols, count = rows * cols,
      ctype = element.ctype,
    size = element.size * rows * cols,
  }, Type)
  types.seal(t)
  -- what values are made of, once there is one
  setmetatable(getmetatable(t).__index, { __index = function(own, key)
    if not made_late[key] then return nil end
    types.bring_shaped(own, t)
    return rawget(own, key)
  end })
  types.by_name[name] = types.by_name[name] or t -- a finalizer may have been faster
  return types.by_name[name]
end

-- Names nest: array(struct{a:vec2}).
local deepest, depth = 32, 0

local function read_name(name)
  local other = require("regolith.data.array_type").named(name)
    or require("regolith.data.struct").named(name)
  if other then return other end
  local rows, cols, element = name:match "^mat%((%d+),(%d+),(%w+)%)$"
  if not rows then
    rows, element = name:match "^vec%((%d+),(%w+)%)$"
    cols = 1
  end
  local scalar = types.by_name[element]
  return scalar and types.shaped(scalar, tonumber(rows), tonumber(cols))
end

--- The type that C, or a file, calls `name`; an unknown one raises type.unknown.
function types.named(name)
  if types.by_name[name] then return types.by_name[name] end
  if depth >= deepest then
    return fail.argument(("types are nested at most %d deep"):format(deepest), nil, "type.unknown")
  end
  depth = depth + 1
  local ok, t = pcall(read_name, name)
  depth = depth - 1
  if not ok then return error(t, 0) end
  return t or fail.argument(("there is no type '%.80s'"):format(name), nil, "type.unknown")
end

--- vec2, ivec3, mat4 and so on, which every `rg` has.
function types.add_named()
  for n = 2, 4 do
    for element in pairs(short) do
      types.names[#types.names + 1] = types.shaped(types.by_name[element], n, 1).name
    end
    types.names[#types.names + 1] = types.shaped(types.by_name.f32, n, n).name
  end
end

--- The ctype of pointers to elements of the type, as C has them.
function types.pointer(t)
  return ffi.typeof("$ *", t.members and t.ctype or ffi.typeof(t.ctype))
end

--- A type of its own, for struct.lua.
function types.new(t) return setmetatable(t, Type) end

--- Are its values arrays, or structs that hold some?
function types.holds_arrays(t) return t.item ~= nil or (t.arrays ~= nil and #t.arrays > 0) end

function types.is(value) return known[value] == true end

-- The functions that make packed types have the names of C's types, which may have been meant.
local meant = { ["rg.float"] = "rg.f32 has 32 bits; rg.float(5, 10) is packed",
  ["rg.int"] = "rg.i32 has 32 bits; rg.int(5) is packed",
  ["rg.uint"] = "rg.u32 has 32 bits; rg.uint(5) is packed" }

--- A type, given as such or by its name.
---@param what string   the caller, for the message
---@param takes_packed boolean?
function types.get(value, what, takes_packed)
  if types.is(value) then return value end
  if packed.is(value) then
    if takes_packed then return value end
    return fail.argument(("%s takes no packed type such as %s"):format(what, tostring(value)),
      "packed numbers exist in fields: rg.field, rg.packed")
  end
  if type(value) == "string" then
    if types.by_name[value] then return types.by_name[value] end
    return fail.argument(("there is no type '%s'"):format(value), fail.nearest(value, types.names),
      "type.unknown")
  end
  local name = type(value) == "function" and require("regolith.kernel.builtin").names[value]
  return fail.argument(("%s takes a type such as rg.f32, not %s"):format(what,
    meant[name] and name or fail.describe(value)), meant[name])
end

return types
