--- Faster versions of the most frequent operations of oracle/number.lua. Each is a separate
--- function that LuaJIT may compile, so that loops of kernels over arrays (oracle/flat.lua) are
--- compiled as a whole. They are limited to operations that LuaJIT's traces compute exactly as its
--- interpreter does: sums, products and quotients of floats, sums of integers, bit operations,
--- comparisons, and loops over numbers.
local ffi, bit = require "ffi", require "bit"
local fail = require "regolith.error"
local scalars = require "regolith.data.scalars"

local swift = {}

-- -- arithmetic -----------------------------------------------------------------------------------

local header = "local single, tobit, bit = ... "

local function make(text)
  return assert(loadstring(header .. text, fail.own_chunk))(ffi.new "float[1]", bit.tobit, bit)
end

local rounds = { f32 = "single[0] = %s return single[0]", f64 = "return %s",
  i32 = "return tobit(%s)" }

local function add(name, t, parameters, expression)
  swift[name] = make(("return function(%s) %s end"):format(parameters,
    rounds[t]:format(expression)))
end

for _, t in ipairs { "f32", "f64" } do
  for name, sign in pairs { add = "+", sub = "-", mul = "*", div = "/" } do
    add(("%s_%s"):format(name, t), t, "a, b", ("a %s b"):format(sign))
  end
  swift["neg_" .. t] = make "return function(a) return -a end"
  swift["min_" .. t] = make "return function(a, b) if b < a then return b end return a end"
  swift["max_" .. t] = make "return function(a, b) if a < b then return b end return a end"
  for _, from in ipairs(scalars) do
    if from.is_integer and from.size < 8 then
      add(("to_%s_%s"):format(t, from.name), t, "a", "a")
    end
  end
end
add("add_i32", "i32", "a, b", "a + b")
add("sub_i32", "i32", "a, b", "a - b")
-- bit.tobit is exact for numbers of up to 51 bits
swift.mul_i32 = make [[return function(a, b)
  local product = a * b
  if product > -2 ^ 50 and product < 2 ^ 50 then return tobit(product) end
  local low = b % 65536
  return tobit(a * low + a * ((b - low) / 65536) % 65536 * 65536)
end]]
swift.floordiv_i32 = make [[local floor = math.floor return function(a, b)
  if b == 0 then return 0 end
  return tobit(floor(a / b))
end]]
swift.mod_i32 = make [[local floor = math.floor return function(a, b)
  if b == 0 then return 0 end
  return tobit(a - floor(a / b) * b)
end]]
for _, name in ipairs { "band", "bor", "bxor" } do
  add(name .. "_i32", "i32", "a, b", ("bit.%s(a, b)"):format(name))
end

-- -- loops ----------------------------------------------------------------------------------------

local function nothing() end

local function range_1(first, past)
  local i = first - 1
  return function()
    i = i + 1
    if i < past then return i end
  end
end

local function range_2(first_1, past_1, first_2, past_2)
  local i, j = first_1, first_2 - 1
  if first_2 >= past_2 then return nothing end
  return function()
    j = j + 1
    if j >= past_2 then i, j = i + 1, first_2 end
    if i < past_1 then return i, j end
  end
end

local function range_3(first_1, past_1, first_2, past_2, first_3, past_3)
  local i, j, k = first_1, first_2, first_3 - 1
  if first_2 >= past_2 or first_3 >= past_3 then return nothing end
  return function()
    k = k + 1
    if k >= past_3 then j, k = j + 1, first_3 end
    if j >= past_2 then i, j = i + 1, first_2 end
    if i < past_1 then return i, j, k end
  end
end

local ranges = { [2] = range_1, [4] = range_2, [6] = range_3 }

--- Takes the begin and end of each axis; returns nil if oracle/number.lua must run the loop.
function swift.range(...)
  local range = ranges[select("#", ...)]
  return range and range(...)
end

--- Lua's numeric for: it never wraps, and a step of 0 runs nothing.
function swift.count_i32(first, last, step)
  if step == 0 or (step > 0 and first > last) or (step < 0 and first < last) then return nothing end
  local index = first - step
  if step > 0 then
    return function()
      index = index + step
      if index <= last then return index end
    end
  end
  return function()
    index = index + step
    if index >= last then return index end
  end
end

return swift
