--- `rg.math`: Lua's `math`, whose functions also take vectors and matrices, element by element,
--- with the types that kernels give the results. In a kernel they are those of `math`.
local fail = require "regolith.error"
local matrix = require "regolith.data.matrix"

local elementwise = {}

-- Numbers and 64-bit integers, which Lua's own functions refuse.
local function least(a, ...)
  for k = 1, select("#", ...) do
    local b = select(k, ...)
    if b < a then a = b end
  end
  return a
end
local function largest(a, ...)
  for k = 1, select("#", ...) do
    local b = select(k, ...)
    if b > a then a = b end
  end
  return a
end
local function of_floats(f)
  return function(a) return type(a) == "number" and f(a) or a end
end

-- name -> the function of numbers, the element type of the result by that of the arguments
local kept, floats, whole = nil, matrix.as_float, matrix.whole
local functions = {
  abs = { function(a) return a < 0 and -a or a - 0 end, kept },
  min = { least, kept }, max = { largest, kept },
  floor = { of_floats(math.floor), whole }, ceil = { of_floats(math.ceil), whole },
}
local function of_doubles(f)
  return function(a, b)
    if b == nil then return f(tonumber(a)) end
    return f(tonumber(a), tonumber(b))
  end
end
for _, name in ipairs { "sqrt", "exp", "log", "log10", "sin", "cos", "tan", "asin", "acos", "atan",
  "sinh", "cosh", "tanh", "atan2", "fmod", "pow", "deg", "rad" } do
  functions[name] = { of_doubles(math[name]), floats }
end

local counts = { atan2 = 2, fmod = 2, pow = 2 }
local each = fail.border(matrix.each)

for name, v in pairs(math) do elementwise[name] = v end
for name, row in pairs(functions) do
  local own, of_number, result, least_count = math[name], row[1], row[2], counts[name] or 1
  elementwise[name] = function(...)
    local count = select("#", ...)
    for k = 1, count do
      if matrix.type_of((select(k, ...))) then
        return each("math." .. name, of_number, { n = math.max(count, least_count), ... }, result)
      end
    end
    return own(...)
  end
end

return elementwise
