--- The values that packed numbers have after they were stored, with arch = "lua": the same as those
--- of the codecs of compiled kernels and of the host, computed from the definition
--- (core/type/packed.h).
local ffi = require "ffi"

local oracle_packed = {}

local floor, huge = math.floor, math.huge
local i64 = ffi.typeof "int64_t"
local to_f32 = require("regolith.oracle.number").to_f32_f64

local function clamp(x, least, most)
  if x < least then return least end
  return x > most and most or x
end

-- Integers of more than 32 bits are 64-bit ones.
local function integer(bits, is_signed)
  local digits = is_signed and bits - 1 or bits
  if digits == 64 or digits == 32 then return function(x) return x end end
  if digits < 32 then
    local most = 2 ^ digits - 1
    local least = is_signed and -most - 1 or 0
    return function(x) return clamp(x, least, most) end
  end
  local most = i64(bit.lshift(1ULL, digits) - 1ULL)
  local least = is_signed and -most - 1LL or 0LL
  return function(x) return clamp(i64(x), least, most) end
end

-- The nearest whole number, halves upward, in the precision of `round`.
local function nearest(x, round)
  if x ~= x then return 0 end
  return floor(round(x + 0.5))
end

local function same(x) return x end

-- The ends in steps from 0, and the step.
local function ends_of(bits, low, high)
  local all = 2 ^ bits - 1
  if low == -high then return -floor(all / 2), floor(all / 2), high / floor(all / 2) end
  if high == 0 then return -all, 0, -low / all end
  if low == 0 then return 0, all, high / all end
  local step = (high - low) / (all - 1)
  local least = -math.ceil(-low / step - 1e-9)
  return least, all + least, step
end

-- The next float in a direction, 1 or -1.
local function adjacent(x, direction, is_single)
  local bits = is_single and ffi.new("union { float x; int32_t n; }")
    or ffi.new("union { double x; int64_t n; }")
  bits.x = x
  bits.n = bits.n + direction -- x is positive
  return bits.x
end

local function choose_step(least, most, step, low, high, round)
  local count, ending = most, high
  if most <= -least then count, ending = least, low end
  local first, is_single = round(step), round ~= same
  ending = round(ending)
  local below, above = adjacent(first, -1, is_single), adjacent(first, 1, is_single)
  for _, tried in ipairs { first, below, above, adjacent(below, -1, is_single),
    adjacent(above, 1, is_single) } do
    if round(count * tried) == ending then return tried end
  end
  return first
end

local function fixed(bits, low, high)
  local least, most, step = ends_of(bits, low, high)
  local inner = math.max(most, -least) < 2 ^ 21 and to_f32 or same
  local outer = bits > 24 and same or to_f32
  step = choose_step(least, most, step, low, high, inner)
  local inverse = inner(1 / step)
  return function(x)
    local steps = clamp(nearest(inner(inner(x) * inverse), inner), least, most)
    return outer(inner(steps * step)) + 0 -- no -0
  end
end

-- A magnitude rounded to a number of `fraction` digits after the first, halves away from zero.
local function float(exponent, fraction)
  local bias = 2 ^ (exponent - 1) - 1
  local smallest = 2 ^ -bias -- stored as 0 itself
  local largest = (2 - 2 ^ -fraction) * 2 ^ (math.min(2 ^ exponent - 1 - bias, 127))
  return function(x)
    if x ~= x then return 0 end
    local size = math.abs(x)
    if size == huge then size = largest end
    local _, e = math.frexp(size)
    local unit = 2 ^ (math.max(e - 1, -126) - fraction)
    size = floor(size / unit + 0.5) * unit
    if exponent < 8 and size <= smallest then size = 0 end
    size = math.min(size, largest)
    return (x < 0 or 1 / x < 0) and -size or size
  end
end

local function shared(exponent, fraction)
  local bias = 2 ^ (exponent - 1) - 1
  local scale = 127 - bias - (fraction - 1)
  local least = math.max(1, 1 - scale)
  local most = math.min(2 ^ exponent - 1, 253 - scale)
  return function(v)
    local largest = 0
    for _, x in ipairs(v) do
      if x == x then largest = math.max(largest, math.abs(x)) end
    end
    local _, e = math.frexp(largest)
    local field = largest == huge and 255 or largest == 0 and 0 or math.max(e + 126, 0)
    local stored = clamp(field - 127 + bias, least, most)
    local step = 2 ^ (stored + scale - 127)
    local rounded = {}
    for k, x in ipairs(v) do
      local steps = nearest(to_f32(x / step), to_f32)
      rounded[k] = clamp(steps, -2 ^ fraction, 2 ^ fraction - 1) * step + 0
    end
    return rounded
  end
end

-- The conversion of a value whose type has this name.
local function conversion(name)
  local kind, numbers = name:match "(%a+)(%([^()]*%))" -- of a vector, of its numbers
  local n = {}
  for x in numbers:gmatch "[^(),]+" do n[#n + 1] = tonumber(x) end
  if kind == "int" or kind == "uint" then return integer(n[1], kind == "int") end
  if kind == "fixed" then return fixed(n[1], n[2], n[3]) end
  if kind == "shared" then return shared(n[1], n[2]), true end
  return float(n[1], n[2])
end

-- The ends of a type; nil if it can represent every number of the type in which it is computed.
local function ends(name)
  local kind, numbers = name:match "(%a+)(%([^()]*%))"
  local first = tonumber(numbers:match "%d+")
  if kind == "int" and first >= 32 or kind == "uint" and first >= 32 then return nil end
  local round, takes_all = conversion(name)
  if takes_all then return -round({ huge })[1], round({ huge })[1] end
  return round(-huge), round(huge)
end

--- Returns a function that calls `count` for each number of a value that a type cannot represent.
function oracle_packed.counter(name, count)
  local least, most = ends(name)
  if not least then return nil end
  return function(v)
    for _, x in ipairs(type(v) == "table" and v or { v }) do
      if not (x >= least and x <= most) then count() end
    end
  end
end

--- Returns a function that rounds an element, a number or a table of them, as storing it does.
---@param name string   of the packed type, as in C
function oracle_packed.rounding(name)
  local round, takes_all = conversion(name)
  return function(v)
    if type(v) ~= "table" or takes_all then return round(v) end
    local rounded = {}
    for k, x in ipairs(v) do rounded[k] = round(x) end
    return rounded
  end
end

return oracle_packed
