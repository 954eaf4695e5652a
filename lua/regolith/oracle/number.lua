--- The definition of operations with arch = "lua": functions by op and type, such as `add_i32`,
--- `to_u8_f32`, `count_i64`. An integer of up to 32 bits is a Lua number, i64 and u64 are LuaJIT's
--- cdata, a float is a Lua number that its type can represent, a bool is a boolean. Integers wrap,
--- division rounds down and gives 0 for a zero divisor, shift counts are masked, floats round once
--- and convert to integers toward zero, saturating. The functions of oracle/swift.lua, which LuaJIT
--- may compile, replace the functions of the same name here.
local ffi, bit = require "ffi", require "bit"
local lib = require "regolith.lib"
local host = require "regolith.host"
local scalars = require "regolith.data.scalars"
local swift = require "regolith.oracle.swift"

-- Exactness matters more than speed: tests compare compiled kernels with these functions.
host.interpret()

local number = {}

local floor, ceil, huge = math.floor, math.ceil, math.huge
local band, bor, bxor, bnot, tobit = bit.band, bit.bor, bit.bxor, bit.bnot, bit.tobit
local lshift, rshift, arshift = bit.lshift, bit.rshift, bit.arshift
local i64, u64 = ffi.typeof "int64_t", ffi.typeof "uint64_t"

number.negative_zero = -1 / huge

-- -- floats ---------------------------------------------------------------------------------------

local single = ffi.new "float[1]"
local function to_f32(x)
  single[0] = x
  return single[0]
end

-- Rounds to the nearest half-precision number, ties to even.
local function to_f16(x)
  if x ~= x or x == 0 or x == huge or x == -huge then return x end
  local _, exponent = math.frexp(x)
  local step = 2 ^ (math.max(exponent, -13) - 11)
  local whole = floor(x / step)
  local rest = x / step - whole
  if rest > 0.5 or (rest == 0.5 and whole % 2 == 1) then whole = whole + 1 end
  local value = whole * step
  if value > 65504 then return huge elseif value < -65504 then return -huge end
  if value == 0 and x < 0 then return number.negative_zero end
  return value
end

local rounds = { f16 = to_f16, f32 = to_f32, f64 = function(x) return x end }

-- Rounds to the nearest integer, halves away from zero.
local function half_away(x)
  local size = math.abs(x)
  if x ~= x or x == 0 or size >= 2 ^ 52 then return x end
  local whole = floor(size)
  if size - whole >= 0.5 then whole = whole + 1 end
  return x < 0 and -whole or whole
end

local unary_floats = { sqrt = math.sqrt, abs = math.abs, floor = floor, ceil = ceil,
  round = half_away, trunc = function(x) return x < 0 and ceil(x) or floor(x) end }
local binary_floats = {
  add = function(a, b) return a + b end, sub = function(a, b) return a - b end,
  mul = function(a, b) return a * b end, div = function(a, b) return a / b end,
  floordiv = function(a, b) return floor(a / b) end,
  mod = function(a, b) return a - floor(a / b) * b end,
}
-- results depend on the implementation, so these call the same functions of the core as kernels do
local unary_maths = { "exp", "log", "log10", "sin", "cos", "tan", "asin", "acos", "atan", "sinh",
  "cosh", "tanh" }
local binary_maths = { "pow", "atan2", "fmod" }

local function lesser(a, b) return b < a and b or a end
local function greater(a, b) return a < b and b or a end
local function second(_, b) return b end

for t, round in pairs(rounds) do
  for name, f in pairs(unary_floats) do
    number[name .. "_" .. t] = function(a) return round(f(a)) end
  end
  for name, f in pairs(binary_floats) do
    number[name .. "_" .. t] = function(a, b) return round(f(a, b)) end
  end
  for _, name in ipairs(unary_maths) do
    local f = lib.C.rg_math(name, t == "f64" and 0 or 1)
    number[name .. "_" .. t] = function(a) return round(f(a, 0)) end
  end
  for _, name in ipairs(binary_maths) do
    local f = lib.C.rg_math(name, t == "f64" and 0 or 1)
    number[name .. "_" .. t] = function(a, b) return round(f(a, b)) end
  end
  number["neg_" .. t] = function(a) return -a end
  number["min_" .. t], number["max_" .. t], number["exchange_" .. t] = lesser, greater, second
end

-- -- integers of up to 32 bits --------------------------------------------------------------------

local bits_of = {}
for _, row in ipairs(scalars) do bits_of[row.name] = row.is_integer and 8 * row.size or nil end
local wraps = {
  i8 = function(x) return (x + 128) % 256 - 128 end, u8 = function(x) return x % 256 end,
  i16 = function(x) return (x + 32768) % 65536 - 32768 end, u16 = function(x) return x % 65536 end,
  i32 = tobit, u32 = function(x) return x % 4294967296 end,
}

-- Multiplies modulo 2^32, without losing bits of products above 2^53.
local function multiply(a, b)
  local low = b % 65536
  return a * low + a * ((b - low) / 65536) % 65536 * 65536
end

-- Returns the `width` lowest bits of a number of any integer type, from the lowest on.
local function bits_in(a, width)
  local bits, wide = {}, type(a) == "cdata" and u64(a) or u64(i64(a))
  for k = 1, width do
    bits[k] = tonumber(band(wide, 1))
    wide = rshift(wide, 1)
  end
  return bits
end
local function counts_of(width)
  local function zeros(a, from, to, step)
    local bits, count = bits_in(a, width), 0
    for k = from, to, step do
      if bits[k] == 1 then return count end
      count = count + 1
    end
    return count
  end
  return {
    popcnt = function(a)
      local count = 0
      for _, one in ipairs(bits_in(a, width)) do count = count + one end
      return count
    end,
    clz = function(a) return zeros(a, width, 1, -1) end,
    ctz = function(a) return zeros(a, 1, width, 1) end,
  }
end

local function add_small(t, wrap)
  local bits, signed = bits_of[t], wraps["i" .. bits_of[t]]
  local function pattern(x) return bits == 32 and x or band(x, 2 ^ bits - 1) end
  local function rotate(a, n)
    if bits == 32 then return bit.rol(a, n) end
    return bor(lshift(pattern(a), n), rshift(pattern(a), bits - n))
  end
  local ops = {
    add = function(a, b) return a + b end, sub = function(a, b) return a - b end, mul = multiply,
    floordiv = function(a, b) return b == 0 and 0 or floor(a / b) end,
    mod = function(a, b) return b == 0 and 0 or a - floor(a / b) * b end,
    ceildiv = function(a, b) return b == 0 and 0 or ceil(a / b) end,
    band = band, bor = bor, bxor = bxor, bnot = bnot,
    shl = function(a, n) return lshift(a, band(n, bits - 1)) end,
    shr = function(a, n) return rshift(pattern(a), band(n, bits - 1)) end,
    sar = function(a, n) return arshift(signed(a), band(n, bits - 1)) end,
    rol = function(a, n) return rotate(a, band(n, bits - 1)) end,
    ror = function(a, n) return rotate(a, band(bits - band(n, bits - 1), bits - 1)) end,
    bswap = function(a)
      if bits == 8 then return a end
      return bits == 32 and bit.bswap(a) or rotate(a, 8)
    end,
    neg = function(a) return 0 - a end,
    abs = function(a) return a < 0 and 0 - a or a end,
  }
  for name, f in pairs(ops) do
    number[name .. "_" .. t] = function(a, b) return wrap(f(a, b)) end
  end
  for name, f in pairs(counts_of(bits)) do number[name .. "_" .. t] = f end
  number["min_" .. t], number["max_" .. t], number["exchange_" .. t] = lesser, greater, second
end
for t, wrap in pairs(wraps) do add_small(t, wrap) end
number.exchange_bool = second
function number.band_bool(a, b) return a and b end
function number.bor_bool(a, b) return a or b end

-- -- 64 bits --------------------------------------------------------------------------------------

local function divide_i64(a, b)
  if b == 0 then return 0LL, 0LL end
  if b == -1 then return -a, 0LL end
  local quotient = a / b
  local rest = a - quotient * b
  if rest ~= 0 and (rest < 0) ~= (b < 0) then return quotient - 1, rest + b end
  return quotient, rest
end
local function divide_u64(a, b)
  if b == 0 then return 0ULL, 0ULL end
  return a / b, a % b
end

for t, divide in pairs { i64 = divide_i64, u64 = divide_u64 } do
  local ctype = t == "i64" and i64 or u64
  local function count(n) return tonumber(band(n, 63)) end
  local ops = {
    add = function(a, b) return a + b end, sub = function(a, b) return a - b end,
    mul = function(a, b) return a * b end,
    floordiv = function(a, b) return (divide(a, b)) end,
    mod = function(a, b) return (select(2, divide(a, b))) end,
    ceildiv = function(a, b)
      local quotient, rest = divide(a, b)
      return rest ~= 0 and quotient + 1 or quotient
    end,
    band = band, bor = bor, bxor = bxor, bnot = bnot, bswap = bit.bswap,
    shl = function(a, n) return lshift(a, count(n)) end,
    shr = function(a, n) return rshift(a, count(n)) end,
    sar = function(a, n) return arshift(a, count(n)) end,
    rol = function(a, n) return bit.rol(a, count(n)) end,
    ror = function(a, n) return bit.ror(a, count(n)) end,
    neg = function(a) return -a end,
    abs = function(a) return a < 0 and -a or a end,
  }
  for name, f in pairs(ops) do
    number[name .. "_" .. t] = function(a, b) return ctype(f(a, b)) end
  end
  for name, f in pairs(counts_of(64)) do
    number[name .. "_" .. t] = function(a) return ctype(f(a)) end
  end
  number["min_" .. t], number["max_" .. t], number["exchange_" .. t] = lesser, greater, second
end

-- -- conversions ----------------------------------------------------------------------------------

local function wide_from_number(to, x)
  if to == "i64" then return i64(x) end
  return u64(i64(x))
end

local function wide_from_float(to, x)
  if x ~= x then return to == "i64" and 0LL or 0ULL end
  if to == "i64" then
    if x >= 2 ^ 63 then return 0x7fffffffffffffffLL end
    return x <= -2 ^ 63 and i64(0x8000000000000000ULL) or i64(x)
  end
  if x <= 0 then return 0ULL end
  if x >= 2 ^ 64 then return 0xffffffffffffffffULL end
  return x >= 2 ^ 63 and u64(i64(x - 2 ^ 63)) + 0x8000000000000000ULL or u64(i64(x))
end

local function saturate(to, x)
  local bits = bits_of[to]
  local low = to:sub(1, 1) == "i" and -2 ^ (bits - 1) or 0
  local high = low + 2 ^ bits - 1
  if x ~= x then return 0 end
  if x >= high then return high elseif x <= low then return low end
  return (x < 0 and ceil(x) or floor(x)) + 0
end

-- Converts the high and low half, so that only the sum rounds. A value that becomes a float
-- narrower than f64 must be rounded only once: bits that an f32 drops are ORed into the lowest bit
-- that an f64 keeps (sticky bit).
local function float_from_wide(to, from, x)
  local negative = from == "i64" and x < 0
  local size = u64(negative and -x or x)
  if to ~= "f64" and size >= 0x10000000000000ULL then
    local low = band(size, 0xfffULL)
    size = bor(size - low, low ~= 0 and 0x1000ULL or 0ULL)
  end
  local value = tonumber(rshift(size, 32)) * 4294967296 + tonumber(band(size, 0xffffffffULL))
  return rounds[to](negative and -value or value)
end

local function convert(to, from)
  local small_to, small_from, float_to, float_from = wraps[to], wraps[from], rounds[to],
    rounds[from]
  if from == "bool" then
    local one, zero = to:find "64$" and bits_of[to] and wide_from_number(to, 1) or 1,
      to:find "64$" and bits_of[to]
      and wide_from_number(to, 0) or 0
    return function(x) return x and one or zero end
  end
  if to == "bool" then return function(x) return x ~= 0 end end
  if float_from then
    if float_to then return float_to end
    if small_to then return function(x) return saturate(to, x) end end
    return function(x) return wide_from_float(to, x) end
  end
  if small_from then
    return small_to or float_to or function(x) return wide_from_number(to, x) end
  end
  if small_to then
    return function(x) return small_to(tobit(tonumber(ffi.cast("int32_t", x)))) end
  end
  if float_to then return function(x) return float_from_wide(to, from, x) end end
  local ctype = to == "i64" and i64 or u64
  return function(x) return ctype(x) end
end

for _, row in ipairs(scalars) do
  for _, other in ipairs(scalars) do
    local to, from = row.name, other.name
    number[("to_%s_%s"):format(to, from)] = to == from and function(x) return x end
      or convert(to, from)
  end
end

for name, f in pairs(swift) do number[name] = f end

-- `^` of integers multiplies that many factors.
for t in pairs(bits_of) do
  local multiplied, one = number["mul_" .. t], number[("to_%s_f64"):format(t)](1)
  number["pow_" .. t] = function(a, count)
    local product = one
    for _ = 1, tonumber(count) do product = multiplied(product, a) end
    return product
  end
end

-- `^` of a float with a small integer exponent in the source is a product too, in the order that
-- compiled kernels use.
for _, t in ipairs { "f16", "f32", "f64" } do
  local multiplied, divided = number["mul_" .. t], number["div_" .. t]
  number["integer_power_" .. t] = function(a, exponent)
    local product, left = nil, math.abs(exponent)
    while left >= 1 do
      if left % 2 == 1 then product = product and multiplied(product, a) or a end
      if left > 1 then a = multiplied(a, a) end
      left = floor(left / 2)
    end
    product = product or 1
    return exponent < 0 and divided(1, product) or product
  end
end

--- Decodes the 16 bits of a half-precision float.
function number.from_half(bits)
  local sign, exponent, rest = bits >= 32768 and -1 or 1, floor(bits / 1024) % 32, bits % 1024
  if exponent == 31 then return rest == 0 and sign * huge or 0 / 0 end
  if exponent == 0 then return sign * rest * 2 ^ -24 end
  return sign * (1024 + rest) * 2 ^ (exponent - 25)
end

--- Encodes a number as the 16 bits of a half-precision float.
function number.to_half(x)
  local sign = (x < 0 or 1 / x < 0) and 32768 or 0
  local fraction, exponent = math.frexp(math.abs(x))
  if math.abs(x) == huge then return sign + 31744 end
  if x == 0 or exponent < -13 then return sign + math.abs(x) * 2 ^ 24 end
  return sign + (exponent + 14) * 1024 + fraction * 2048 - 1024
end

local shared = ffi.new [[union {
  int8_t i8; uint8_t u8; int16_t i16; uint16_t u16; int32_t i32; uint32_t u32; int64_t i64;
  uint64_t u64; float f32; double f64;
}]]
local nan_bits = { f16 = 0x7e00, f32 = 0x7fc00000, f64 = 0x7ff8000000000000ULL }

-- All NaNs become one NaN. LuaJIT stores the types of values in the bits of NaNs, so bits from
-- memory are checked before they become a Lua number.
local function is_nan_bits(t)
  if t == "f16" then return band(shared.u16, 0x7fff) > 0x7c00 end
  if t == "f32" then return band(shared.u32, 0x7fffffff) > 0x7f800000 end
  return band(shared.u64, 0x7fffffffffffffffULL) > 0x7ff0000000000000ULL
end

local function bits_of_float(to, from)
  return function(x)
    if x ~= x then shared.u64 = nan_bits[from]
    elseif from == "f16" then shared.u16 = number.to_half(x)
    else shared[from] = x end
    return shared[to]
  end
end

local function float_of_bits(to, from)
  return function(x)
    shared[from] = x
    if is_nan_bits(to) then return 0 / 0 end
    if to == "f16" then return number.from_half(shared.u16) end
    return shared[to]
  end
end

--- Reinterprets the bits of a number as another type: `bits_u32_f32`.
for _, row in ipairs(scalars) do
  for _, other in ipairs(scalars) do
    local to, from = row.name, other.name
    if to ~= "bool" and from ~= "bool" then
      number[("bits_%s_%s"):format(to, from)] = rounds[to] and rounds[from]
        and function(x) return x end
        or rounds[to] and float_of_bits(to, from) or bits_of_float(to, from)
    end
  end
end

--- The zero element of a type.
function number.zero(t)
  if t == "bool" then return false end
  return t == "i64" and 0LL or t == "u64" and 0ULL or 0
end

-- -- comparisons of a 64-bit integer with another type: exact -------------------------------------

local function is_wide(x) return type(x) == "cdata" end

-- Returns -1, 0 or 1, or nil if one of them is NaN.
local function order_wide_number(a, b)
  if b ~= b then return end
  local is_signed = ffi.istype(i64, a)
  if b >= (is_signed and 2 ^ 63 or 2 ^ 64) then return -1 end
  if b < (is_signed and -2 ^ 63 or 0) then return 1 end
  local whole = wide_from_float(is_signed and "i64" or "u64", floor(b))
  if a ~= whole then return a < whole and -1 or 1 end
  return floor(b) == b and 0 or -1
end

local function order(a, b)
  if is_wide(a) and is_wide(b) then
    if ffi.istype(i64, a) and ffi.istype(u64, b) then
      if a < 0 then return -1 end
      a = u64(a)
    elseif ffi.istype(u64, a) and ffi.istype(i64, b) then
      if b < 0 then return 1 end
      b = u64(b)
    end
    return a < b and -1 or a == b and 0 or 1
  end
  if is_wide(a) then return order_wide_number(a, b) end
  local reversed = order_wide_number(b, a)
  return reversed and -reversed
end

function number.eq(a, b) return order(a, b) == 0 end
function number.ne(a, b) return order(a, b) ~= 0 end
function number.lt(a, b) return order(a, b) == -1 end
function number.gt(a, b) return order(a, b) == 1 end
function number.le(a, b)
  local o = order(a, b)
  return o == -1 or o == 0
end
function number.ge(a, b)
  local o = order(a, b)
  return o == 1 or o == 0
end

-- -- loops ----------------------------------------------------------------------------------------

local function nothing() end

function number.count_i64(first, last, step)
  if step == 0 or (step > 0 and first > last) or (step < 0 and first < last) then return nothing end
  local left = step > 0 and u64(last - first) / u64(step) or u64(first - last) / u64(-step)
  local index
  return function()
    if not index then
      index = first
    else
      if left == 0 then return end
      left, index = left - 1, index + step
    end
    return index
  end
end

-- A loop whose step is an i64.
number.count_u64 = number.count_i64

for t, round in pairs(rounds) do
  number["count_" .. t] = function(first, last, step)
    local index
    return function()
      index = index and round(index + step) or first
      if (step > 0 and index <= last) or (step < 0 and index >= last) then return index end
    end
  end
end

-- A loop over integers whose bound is a float.
for _, t in ipairs { "i32", "i64" } do
  local count, integer = number["count_" .. t], number["to_" .. t .. "_f64"]
  number["count_to_float_" .. t] = function(first, last, step)
    if last ~= last then return nothing end
    return count(first, integer(step > 0 and floor(last) or ceil(last)), step)
  end
end

-- Loops over a begin and an end per axis; the indices have the type of `one`.
local function range(one, ...)
  local bounds, count = { ... }, select("#", ...) / 2
  local at = {}
  for axis = 1, count do
    if bounds[2 * axis - 1] >= bounds[2 * axis] then return nothing end
    at[axis] = bounds[2 * axis - 1]
  end
  local has_begun = false
  return function()
    if not has_begun then
      has_begun = true
      return unpack(at, 1, count)
    end
    for axis = count, 1, -1 do
      at[axis] = at[axis] + one
      if at[axis] < bounds[2 * axis] then return unpack(at, 1, count) end
      at[axis] = bounds[2 * axis - 1]
    end
  end
end
function number.range(...) return swift.range(...) or range(1, ...) end
function number.range_i64(...) return range(1LL, ...) end

return number
