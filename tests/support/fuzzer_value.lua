--- fuzzer_value.lua - the meaning of numbers, for the fuzzer: an evaluator that shares no code with
--- what it tests. An integer of any type is an int64_t with the bits of its value, sign- or
--- zero-extended (a u64 unchanged); a float is a double that its type can represent; a bool is a
--- boolean; a vector or matrix is a list of its numbers, row by row.
local ffi, bit = require "ffi", require "bit"

-- LuaJIT's own compiler is not the fuzzer's witness: its traces once lost a cast to uint32_t here
jit.off(true, true)

local value = {}

local info = {
  bool = { bits = 1 },
  i8 = { bits = 8, signed = true }, i16 = { bits = 16, signed = true },
    i32 = { bits = 32, signed = true },
  i64 = { bits = 64, signed = true },
  u8 = { bits = 8 }, u16 = { bits = 16 }, u32 = { bits = 32 }, u64 = { bits = 64 },
  f16 = { bits = 16, float = true }, f32 = { bits = 32, float = true },
    f64 = { bits = 64, float = true },
}
value.info = info
value.integers = { "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64" }
value.floats = { "f16", "f32", "f64" }
value.scalars = { "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f16", "f32", "f64" }

-- -- vectors and matrices -------------------------------------------------------------------------

local short = { f32 = "vec", i32 = "ivec", u32 = "uvec", f64 = "dvec" }

--- Returns the name of the type of `rows` by `cols` numbers (1: a vector), as rg.field takes it.
function value.shaped(element, rows, cols)
  local name, text = ("vec(%d,%s)"):format(rows, element), ("rg.vec(%d, rg.%s)"):format(
    rows, element)
  if cols > 1 then
    name, text = ("mat(%d,%d,%s)"):format(rows, cols, element), ("rg.mat(%d, %d, rg.%s)"):format(
      rows, cols, element)
    if rows == cols and rows <= 4 and element == "f32" then text = "rg.mat" .. rows end
  elseif rows <= 4 and short[element] then
    text = "rg." .. short[element] .. rows
  end
  info[name] = info[name] or { element = element, rows = rows, cols = cols, count = rows * cols,
    text = text }
  return name
end

--- The same for a name that was made before, perhaps in another process.
function value.named(name)
  local rows, element = name:match "^vec%((%d+),(%w+)%)$"
  if rows then return value.shaped(element, tonumber(rows), 1) end
  local r, c, e = name:match "^mat%((%d+),(%d+),(%w+)%)$"
  return r and value.shaped(e, tonumber(r), tonumber(c)) or name
end

--- The names of fields by type: ai32, avec_3_f32.
function value.field_name(letter, t)
  return letter .. (t:gsub("[(,]", "_"):gsub("%)", ""))
end

--- Prints a type as kernels write it.
function value.type_text(t) return info[t].text or "rg." .. t end

-- Applies f(a, b) to every number; a single number is broadcast.
local function each(count, f, a, b)
  local result = {}
  for k = 1, count do
    result[k] = f(type(a) == "table" and a[k] or a, type(b) == "table" and b[k] or b)
  end
  return result
end
value.each = each

function value.zero(t)
  local row = info[t]
  if row.count then return each(row.count, function() return value.zero(row.element) end) end
  if t == "bool" then return false end
  return row.float and 0 or 0LL
end

local int64, uint64 = ffi.typeof "int64_t", ffi.typeof "uint64_t"
local ctypes = {
  i8 = ffi.typeof "int8_t", i16 = ffi.typeof "int16_t", i32 = ffi.typeof "int32_t", i64 = int64,
  u8 = ffi.typeof "uint8_t", u16 = ffi.typeof "uint16_t", u32 = ffi.typeof "uint32_t", u64 = int64,
}
local signed_of = { u8 = "i8", u16 = "i16", u32 = "i32", u64 = "i64" }

--- Returns the low bits of an int64_t as a value of the type.
local function wrap(t, x) return ffi.cast(int64, ffi.cast(ctypes[t], x)) end
value.wrap = wrap

local least = ffi.cast(int64, bit.lshift(1ULL, 63))

-- -- conversions ----------------------------------------------------------------------------------

local single = ffi.new "float[1]"

-- Rounds to the nearest half, ties to even: adding and subtracting 1.5 * 2^52 leaves integral
-- steps.
local function to_half(x)
  if x ~= x or x == 0 or math.abs(x) == math.huge then return x end
  local _, exponent = math.frexp(x)
  local step = 2 ^ (math.max(exponent, -13) - 11)
  local result = ((x / step + 6755399441055744) - 6755399441055744) * step
  if math.abs(result) > 65504 then return x > 0 and math.huge or -math.huge end
  return result == 0 and x < 0 and -0.0 or result
end

--- Rounds a double to the float type.
function value.round(t, x)
  if t == "f64" then return x end
  if t == "f16" then return to_half(x) end
  single[0] = x
  return single[0]
end

-- Converts an integer to a float type with one rounding. For a double only the last sum rounds; for
-- a narrower type the low bits of a large integer are ORed into one that decides ties.
local function integer_to_float(from, to, x)
  local negative = info[from].signed and x < 0LL
  local size = ffi.cast(uint64, negative and -x or x)
  local scale = 1
  if to ~= "f64" and size >= 0x20000000000000ULL then
    local low = bit.band(size, 0x7ffULL)
    size = bit.bor(bit.rshift(size, 11), low ~= 0ULL and 1ULL or 0ULL)
    scale = 2048
  end
  local high, small = tonumber(bit.rshift(size, 32)), tonumber(bit.band(size, 0xffffffffULL))
  return value.round(to, (high * 4294967296 + small) * scale * (negative and -1 or 1))
end

local function float_to_integer(to, x)
  local row = info[to]
  if x ~= x then return 0LL end
  x = x < 0 and math.ceil(x) or math.floor(x)
  local beyond = 2 ^ (row.signed and row.bits - 1 or row.bits)
  if x >= beyond then
    if row.bits == 64 then return row.signed and -(least + 1LL) or -1LL end
    return ffi.cast(int64, beyond - 1)
  end
  if x <= (row.signed and -beyond or 0) then
    return row.signed and wrap(to, bit.lshift(-1LL, row.bits - 1)) or 0LL
  end
  if x >= 2 ^ 63 then return ffi.cast(int64, x - 2 ^ 63) + least end
  return ffi.cast(int64, x)
end

--- Converts a vector number by number; a scalar stays one.
function value.convert(from, to, x)
  if from == to then return x end
  local a, b = info[from], info[to]
  if a.count then
    return each(a.count, function(one) return value.convert(a.element, b.element or to, one) end, x)
  end
  if b.count then return value.convert(from, b.element, x) end
  if from == "bool" then
    x = x and 1LL or 0LL
    return b.float and (x == 1LL and 1 or 0) or x
  end
  if to == "bool" then
    if a.float then return x ~= 0 end
    return x ~= 0LL
  end
  if a.float then return b.float and value.round(to, x) or float_to_integer(to, x) end
  return b.float and integer_to_float(from, to, x) or wrap(to, x)
end

local as_bits = { f32 = ffi.typeof "union { float number; uint32_t bits; }",
  f64 = ffi.typeof "union { double number; uint64_t bits; }" }
local least_nan = { f16 = 0x7e00LL, f32 = 0x7fc00000LL, f64 = 0x7ff8000000000000LL }

-- The bits of a float, zero-extended; all NaNs of a type have the same bits.
local function bits_of(t, x)
  if x ~= x then return least_nan[t] end
  if t ~= "f16" then
    local both = as_bits[t]()
    both.number = x
    return ffi.cast(int64, both.bits)
  end
  local sign = (x < 0 or 1 / x < 0) and 0x8000LL or 0LL
  x = math.abs(x)
  if x == math.huge then return sign + 0x7c00LL end
  local fraction, exponent = math.frexp(x)
  if x < 2 ^ -14 then return sign + ffi.cast(int64, x * 2 ^ 24) end
  return sign + ffi.cast(int64, (exponent + 14) * 1024 + (fraction * 2 - 1) * 1024)
end

-- Lua must never see a NaN with other bits, since some encode values of other types.
local infinity = { f32 = 0x7f800000LL, f64 = 0x7ff0000000000000LL }
local function float_of(t, bits)
  if t ~= "f16" then
    local both = as_bits[t]()
    local size = bit.band(bits, bit.lshift(1LL, info[t].bits - 1) - 1LL)
    if size > infinity[t] then return 0 / 0 end
    both.bits = ffi.cast(uint64, bits)
    return both.number
  end
  local n = tonumber(bits)
  local sign, exponent, fraction = n >= 32768 and -1 or 1, math.floor(n / 1024) % 32, n % 1024
  if exponent == 0 then return sign * fraction * 2 ^ -24 end
  if exponent == 31 then return fraction == 0 and sign * math.huge or 0 / 0 end
  return sign * (1024 + fraction) * 2 ^ (exponent - 25)
end

--- Reinterprets the bits of a number as a type of the same size.
function value.bitcast(from, to, x)
  local bits = info[from].float and bits_of(from, x) or x
  if not info[to].float then return wrap(to, bits) end
  local size = info[to].bits
  return float_of(to, size == 64 and bits or bit.band(bits, bit.lshift(1LL, size) - 1LL))
end

-- -- comparisons ----------------------------------------------------------------------------------

local function less_integers(ta, a, tb, b)
  local a_huge, b_huge = ta == "u64" and a < 0LL, tb == "u64" and b < 0LL
  if a_huge ~= b_huge then return b_huge end
  return a < b
end

-- Returns -1, 0 or 1 if the integer is less than, equal to or greater than the float; nothing for
-- NaN.
local function compare_float(t, i, f)
  if f ~= f then return end
  if f >= (t == "u64" and 2 ^ 64 or 2 ^ 63) then return -1 end
  if f < -2 ^ 63 then return 1 end
  if f < 0 and t == "u64" then return 1 end
  local whole = math.floor(f)
  local other = whole >= 2 ^ 63 and ffi.cast(int64, whole - 2 ^ 63) + least
    or ffi.cast(int64, whole)
  if less_integers(t, i, t, other) then return -1 end
  if i == other then return whole == f and 0 or -1 end
  return 1
end

-- Returns -1, 0, 1 or nothing.
local function order(ta, a, tb, b)
  local fa, fb = info[ta].float, info[tb].float
  if fa and fb then
    if a < b then return -1 elseif a == b then return 0 elseif a > b then return 1 end
    return
  end
  if fb then return compare_float(ta, a, b) end
  if fa then
    local o = compare_float(tb, b, a)
    return o and -o
  end
  if less_integers(ta, a, tb, b) then return -1 end
  return less_integers(tb, b, ta, a) and 1 or 0
end

local tests = {
  ["=="] = function(o) return o == 0 end, ["~="] = function(o) return o ~= 0 end,
  ["<"] = function(o) return o == -1 end, ["<="] = function(o) return o == -1 or o == 0 end,
  [">"] = function(o) return o == 1 end, [">="] = function(o) return o == 1 or o == 0 end,
}
function value.compare(op, ta, a, tb, b) return tests[op](order(ta, a, tb, b)) end

-- -- arithmetic -----------------------------------------------------------------------------------

local function divide(t, a, b)
  if b == 0LL then return 0LL, 0LL end
  if not info[t].signed then
    local x, y = ffi.cast(uint64, a), ffi.cast(uint64, b)
    return ffi.cast(int64, x / y), ffi.cast(int64, x % y)
  end
  if b == -1LL then return wrap(t, -a), 0LL end
  local quotient = a / b
  local rest = a - quotient * b
  if rest ~= 0LL and (rest < 0LL) ~= (b < 0LL) then quotient, rest = quotient - 1LL, rest + b end
  return quotient, rest
end

local function pattern(t, a) -- the bits of the type, zero-extended
  return info[t].bits == 64 and a or bit.band(a, bit.lshift(1LL, info[t].bits) - 1LL)
end
local function rotate(t, a, n)
  local u, bits = pattern(t, a), info[t].bits
  if n == 0 then return a end
  return wrap(t, bit.bor(bit.lshift(u, n), bit.rshift(u, bits - n)))
end
local function count_of(t, b) return tonumber(bit.band(b, info[t].bits - 1)) end

local integer = {
  ["+"] = function(t, a, b) return wrap(t, a + b) end,
  ["-"] = function(t, a, b) return wrap(t, a - b) end,
  ["*"] = function(t, a, b) return wrap(t, a * b) end,
  ["//"] = function(t, a, b) return (divide(t, a, b)) end,
  ["%"] = function(t, a, b) return (select(2, divide(t, a, b))) end,
  ceil = function(t, a, b)
    local quotient, rest = divide(t, a, b)
    return wrap(t, quotient + (rest ~= 0LL and 1LL or 0LL))
  end,
  ["&"] = function(_, a, b) return bit.band(a, b) end,
  ["|"] = function(_, a, b) return bit.bor(a, b) end,
  ["~"] = function(_, a, b) return bit.bxor(a, b) end,
  ["<<"] = function(t, a, b) return wrap(t, bit.lshift(a, count_of(t, b))) end,
  [">>"] = function(t, a, b) return wrap(t, bit.rshift(pattern(t, a), count_of(t, b))) end,
  ["~>>"] = function(t, a, b)
    return wrap(t, bit.arshift(signed_of[t] and wrap(signed_of[t], a) or a, count_of(t, b)))
  end,
  rol = function(t, a, b) return rotate(t, a, count_of(t, b)) end,
  ror = function(t, a, b) return rotate(t, a, (info[t].bits - count_of(t, b)) % info[t].bits) end,
  min = function(t, a, b) return less_integers(t, b, t, a) and b or a end,
  max = function(t, a, b) return less_integers(t, a, t, b) and b or a end,
  neg = function(t, a) return wrap(t, -a) end,
  bnot = function(t, a) return wrap(t, bit.bnot(a)) end,
  abs = function(t, a) return info[t].signed and a < 0LL and wrap(t, -a) or a end,
  bswap = function(t, a)
    return wrap(t, bit.rshift(bit.bswap(ffi.cast(uint64, a)), 64 - info[t].bits))
  end,
}

local real = {
  ["+"] = function(a, b) return a + b end,
  ["-"] = function(a, b) return a - b end,
  ["*"] = function(a, b) return a * b end,
  ["/"] = function(a, b) return a / b end,
  ["//"] = function(a, b) return math.floor(a / b) end,
  ["%"] = function(a, b) return a - math.floor(a / b) * b end,
  min = function(a, b) return b < a and b or a end,
  max = function(a, b) return a < b and b or a end,
  neg = function(a) return -a end,
  abs = function(a) return math.abs(a) end,
  sqrt = function(a) return math.sqrt(a) end,
  floor = function(a) return math.floor(a) end,
  ceil = function(a) return math.ceil(a) end,
}

--- Computes `op` of values of type t, in t.
function value.apply(op, t, a, b)
  local row = info[t]
  if row.count then
    return each(row.count, function(x, y) return value.apply(op, row.element, x, y) end, a, b)
  end
  if info[t].float then return value.round(t, real[op](a, b)) end
  return integer[op](t, a, b)
end

--- int op float is a float, int op int has the wider type (for one width the unsigned one), float
--- op float has the wider type.
function value.join(a, b)
  local x, y = info[a], info[b]
  if (x.float or false) ~= (y.float or false) then return x.float and a or b end
  if x.bits ~= y.bits then return x.bits > y.bits and a or b end
  return x.signed and b or a
end

-- -- packed numbers -------------------------------------------------------------------------------

local function clamp(x, low, high) return x < low and low or x > high and high or x end

-- Integers from low to high, and numbers that many steps from 0, of which a power of two is 1.
local function whole_numbers(low, high)
  return function(x) return 0LL + tonumber(clamp(x, 0LL + low, 0LL + high)) end
end
local function steps(low, high, step)
  return function(x)
    if x ~= x then return 0 end
    return clamp(math.floor(value.round("f32", value.round("f32", x / step) + 0.5)), low, high)
      * step + 0
  end
end

-- A float of 5 bits of exponent and 10 of fraction; halves are rounded away from zero.
local function half_float(x)
  if x ~= x then return 0 end
  local size = math.min(math.abs(x), 2 ^ 17)
  local _, exponent = math.frexp(size)
  local unit = 2 ^ (exponent - 11)
  size = math.min(math.floor(size / unit + 0.5) * unit, (2 - 2 ^ -10) * 2 ^ 16)
  if size <= 2 ^ -15 then size = 0 end
  return (x < 0 or 1 / x < 0) and -size or size
end

--- Packed types: how a runtime makes one, the type of which its numbers are, and what it holds of
--- one of these.
value.packings = {
  ["int(5)"] = { type = "i32", store = whole_numbers(-16, 15),
    make = function(rg) return rg.int(5) end },
  ["int(18)"] = { type = "i32", store = whole_numbers(-2 ^ 17, 2 ^ 17 - 1),
    make = function(rg) return rg.int(18) end },
  ["uint(1)"] = { type = "i32", store = whole_numbers(0, 1),
    make = function(rg) return rg.uint(1) end },
  ["uint(7)"] = { type = "i32", store = whole_numbers(0, 127),
    make = function(rg) return rg.uint(7) end },
  ["fixed(10)"] = { type = "f32", store = steps(-511, 511, 1 / 64),
    make = function(rg) return rg.fixed(10, { -511 / 64, 511 / 64 }) end },
  ["fixed(16)"] = { type = "f32", store = steps(0, 65535, 2),
    make = function(rg) return rg.fixed(16, { 0, 131070 }) end },
  ["float(5,10)"] = { type = "f32", store = half_float,
    make = function(rg) return rg.float(5, 10) end },
}

--- What a field holds of a value that is written: its packed type may hold less.
function value.stored(field, x)
  local packing = value.packings[field.packing]
  if not packing then return x end
  if not info[field.type].count then return packing.store(x) end
  return each(info[field.type].count, packing.store, x)
end

--- The type of a packed field, made in a runtime.
function value.packed_type(rg, field)
  local row, T = info[field.type], value.packings[field.packing].make(rg)
  return row.count and rg.vec(row.count, T) or T
end

-- -- to and from what Lua sees --------------------------------------------------------------------

--- Converts a value to what fields accept; a vector becomes a list.
function value.to_lua(t, x)
  local row = info[t]
  if row.count then
    return each(row.count, function(one) return value.to_lua(row.element, one) end, x)
  end
  if info[t].float or t == "bool" then return x end
  if t == "u64" then return ffi.cast(uint64, x) end
  return t == "i64" and x or tonumber(x)
end

-- Returns the numbers of a value that a field returned, or of a list of them.
local function numbers(x)
  local list = {}
  for _, row in ipairs(type(x) == "cdata" and x:to_table() or x) do
    for _, one in ipairs(type(row) == "table" and row or { row }) do list[#list + 1] = one end
  end
  return list
end

function value.same(t, a, b) -- of values that fields return
  local row = info[t]
  if row.count then
    a, b = numbers(a), numbers(b)
    for k = 1, row.count do
      if not value.same(row.element, a[k], b[k]) then return false end
    end
    return true
  end
  if row.float then return a == b and (a ~= 0 or 1 / a == 1 / b) or (a ~= a and b ~= b) end
  return a == b
end

--- Prints a value for reports, and for files that Lua reads.
function value.show(t, x)
  local row = info[t]
  if row.count then
    local parts = {}
    for k, one in ipairs(numbers(x)) do parts[k] = value.show(row.element, one) end
    return "{" .. table.concat(parts, ", ") .. "}"
  end
  if not row.float then return tostring(x) end
  if x ~= x then return "0/0" end
  if math.abs(x) == math.huge then return x > 0 and "1/0" or "-1/0" end
  return ("%.17g"):format(x)
end

return value
