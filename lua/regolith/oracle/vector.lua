--- Operations on vectors and matrices with arch = "lua". A value is an immutable table of its
--- numbers, row by row from 1; a list of positions in a value is a table of the same kind. Linear
--- algebra is written from its definitions with the operations of oracle/number.lua, in the order
--- that compiled kernels use.
local host = require "regolith.host"
local number = require "regolith.oracle.number"
local scalars = require "regolith.data.scalars"
local types = require "regolith.data.type"
local matrix = require "regolith.data.matrix"

local vector = {}

host.interpret() -- as in oracle/number.lua

local function is_vector(v) return type(v) == "table" end

-- -- elementwise ----------------------------------------------------------------------------------

local function nth(v, k)
  if is_vector(v) then return v[k] end
  return v
end

--- Applies f(a, b, ..) to every number; a single number is broadcast.
function vector.each(f, a, b, c)
  local whole = is_vector(a) and a or is_vector(b) and b or is_vector(c) and c
  if not whole then return f(a, b, c) end
  local result = {}
  for k = 1, #whole do
    result[k] = f(nth(a, k), nth(b, k), nth(c, k))
  end
  return result
end
local each = vector.each

--- Applies operations in sequence: chain(x, f, a, g, b) is g(f(x, a), b).
function vector.chain(x, ...)
  local steps = { ... }
  for k = 1, select("#", ...), 2 do x = each(steps[k], x, steps[k + 1]) end
  return x
end

function vector.stretch(count, x)
  local result = {}
  for k = 1, count do result[k] = x end
  return result
end

local function equal(a, b)
  if type(a) == "table" or type(b) == "table" then return rawequal(a, b) end -- arrays
  if type(a) == "cdata" or type(b) == "cdata" then return number.eq(a, b) end
  return a == b
end

function vector.all_eq(a, b)
  for k = 1, #a do
    if not equal(a[k], b[k]) then return false end
  end
  return true
end
function vector.all_ne(a, b) return not vector.all_eq(a, b) end

function vector.negated(x) return not x end
function vector.band_bool(a, b) return a and b end
function vector.bor_bool(a, b) return a or b end
function vector.bxor_bool(a, b) return a ~= b end

--- Compares two numbers of any types by `<`.
local plain = {
  lt = function(a, b) return a < b end, le = function(a, b) return a <= b end,
  gt = function(a, b) return a > b end, ge = function(a, b) return a >= b end,
}
for name, f in pairs(plain) do
  vector["is_" .. name] = function(a, b)
    if type(a) == "cdata" or type(b) == "cdata" then return number[name](a, b) end
    return f(a, b)
  end
end

function vector.select(condition, yes, no)
  if condition then return yes end
  return no
end

-- -- constructors ---------------------------------------------------------------------------------

--- Concatenates numbers and vectors.
function vector.join(...)
  local result, given = {}, { ... }
  for k = 1, select("#", ...) do
    for _, x in ipairs(is_vector(given[k]) and given[k] or { given[k] }) do
      result[#result + 1] = x
    end
  end
  return result
end

function vector.flat(...) return unpack(vector.join(...)) end

function vector.diagonal(rows, cols, zero, x)
  local result = {}
  for r = 1, rows do
    for c = 1, cols do result[#result + 1] = r == c and x or zero end
  end
  return result
end

-- -- parts ----------------------------------------------------------------------------------------

--- The numbers at `places`.
function vector.pick(v, places)
  local result = {}
  for k, place in ipairs(places) do result[k] = v[place] end
  return result
end

--- Row `index`, from 0, of a matrix with `cols` columns; empty outside the matrix.
function vector.row(v, index, cols)
  local result, first = {}, tonumber(index) * cols
  if index < 0 or first >= #v then return result end
  for c = 1, cols do result[c] = v[first + c] end
  return result
end

function vector.row_or(v, index, cols, zero)
  local row = vector.row(v, index, cols)
  return #row > 0 and row or vector.stretch(cols, zero)
end

function vector.item(v, index, zero) return vector.row_or(v, index, 1, zero)[1] end

--- The number at the only place.
function vector.only(v, places, zero)
  local x = v[places[1]]
  if x == nil then return zero end
  return x
end

--- `v` with the numbers at `places` replaced.
function vector.with(v, value, places)
  local result = { unpack(v) }
  for k, place in ipairs(places) do result[place] = nth(value, k) end
  return result
end

function vector.update_parts(v, op, value, places)
  local result = { unpack(v) }
  for k, place in ipairs(places) do
    result[place] = op(result[place], nth(value, k))
  end
  return result
end

--- Yields the indices of a loop as one vector each.
function vector.as_vectors(step)
  return function()
    local indices = { step() }
    if indices[1] ~= nil then return indices end
  end
end

-- -- linear algebra, and functions of shaders -----------------------------------------------------

local function add_algebra(t)
  local function op(name) return number[name .. "_" .. t] end
  local add, sub, mul, div, neg, sqrt = op "add", op "sub", op "mul", op "div", op "neg", op "sqrt"
  local convert = number[("to_%s_f64"):format(t)]
  local one, two, three = convert(1), convert(2), convert(3)
  local own = {}

  local function dot(a, first_a, step_a, b, first_b, step_b, count)
    local sum = mul(a[first_a], b[first_b])
    for k = 1, count - 1 do
      sum = add(sum, mul(a[first_a + k * step_a], b[first_b + k * step_b]))
    end
    return sum
  end
  function own.dot(a, b) return dot(a, 1, 1, b, 1, 1, #a) end

  local function fold(f)
    return function(v)
      local all = v[1]
      for k = 2, #v do all = f(all, v[k]) end
      return all
    end
  end
  own.sum_of, own.min_of, own.max_of = fold(add), fold(op "min"), fold(op "max")
  own.hadamard = mul

  --- Multiplies matrices: rows of `inner` numbers by columns of a matrix with `cols` columns.
  function own.product(inner, cols, a, b)
    local result = {}
    for r = 0, #a / inner - 1 do
      for c = 1, cols do result[#result + 1] = dot(a, r * inner + 1, 1, b, c, cols, inner) end
    end
    return result
  end

  function own.cross(a, b)
    local function part(i, j) return sub(mul(a[i], b[j]), mul(a[j], b[i])) end
    if #a == 2 then return part(1, 2) end
    return { part(2, 3), part(3, 1), part(1, 2) }
  end
  function own.outer(a, b)
    local result = {}
    for _, x in ipairs(a) do
      for _, y in ipairs(b) do result[#result + 1] = mul(x, y) end
    end
    return result
  end
  function own.transpose(cols, m)
    local result = {}
    for c = 1, cols do
      for r = 0, #m / cols - 1 do result[#result + 1] = m[r * cols + c] end
    end
    return result
  end
  function own.trace(size, m)
    local sum = m[1]
    for k = 1, size - 1 do sum = add(sum, m[k * size + k + 1]) end
    return sum
  end

  -- Expands the determinant along the first of `rows`, over the columns `cols`.
  local function determinant(size, m, rows, cols)
    local sum
    for k, c in ipairs(cols) do
      local term = m[(rows[1] - 1) * size + c]
      if #rows > 1 then
        local rest = {}
        for _, other in ipairs(cols) do
          if other ~= c then rest[#rest + 1] = other end
        end
        term = mul(term, determinant(size, m, { unpack(rows, 2) }, rest))
      end
      sum = k == 1 and term or k % 2 == 0 and sub(sum, term) or add(sum, term)
    end
    return sum
  end
  local function without(size, skipped)
    local list = {}
    for k = 1, size do
      if k ~= skipped then list[#list + 1] = k end
    end
    return list
  end
  function own.determinant(size, m) return determinant(size, m, without(size), without(size)) end

  if div then
    function own.norm(v) return sqrt(own.dot(v, v)) end
    function own.normalize(v)
      local length = own.norm(v)
      return each(function(x) return div(x, length) end, v)
    end
    --- The adjugate (transposed cofactors) divided by the determinant; a singular matrix gives
    --- infinities and NaN.
    function own.inverse(size, m)
      local scale, result = div(one, own.determinant(size, m)), {}
      for r = 1, size do
        for c = 1, size do
          result[(c - 1) * size + r] = mul(determinant(size, m, without(size, r), without(size, c)),
            (r + c) % 2 == 0 and scale or neg(scale))
        end
      end
      return result
    end
    function own.step(edge, x) return x < edge and 0 or one end
    function own.smoothstep(low, high, x)
      local at = own.clamp(div(sub(x, low), sub(high, low)), 0, one)
      return mul(mul(at, at), sub(three, mul(two, at)))
    end
    function own.logarithm(x, base) return div(op "log"(x), op "log"(base)) end
  end
  --- exactly b at t = 1
  function own.mix(a, b, at) return add(mul(a, sub(one, at)), mul(b, at)) end
  function own.clamp(x, low, high) return op "min"(op "max"(x, low), high) end

  for name, f in pairs(own) do vector[name .. "_" .. t] = f end
end

for _, row in ipairs(scalars) do
  if row.class ~= "bool" then add_algebra(row.name) end
end

function vector.any_of_bool(v)
  for k = 1, #v do if v[k] then return true end end
  return false
end
function vector.all_of_bool(v)
  for k = 1, #v do if not v[k] then return false end end
  return true
end

-- -- conversions from and to values of Lua --------------------------------------------------------

--- The component types of the type with this name, and whether its values are tables.
function vector.scalars(name)
  local t, list = types.named(name), {}
  for k = 1, t.count or 1 do
    list[k] = t.members and t.numbers[k - 1].name or (t.element or t).name
  end
  return list, t.count ~= nil
end

--- Converts a user's value to a table of numbers; scalars are unchanged.
function vector.from_lua(v)
  local t = matrix.type_of(v)
  if not t then return v end
  local result = {}
  for k = 0, t.count - 1 do
    if t.members then result[k + 1] = t:number_of(v, k) else result[k + 1] = v.rg_n[k] end
  end
  return result
end

--- Converts a table of numbers to a Lua value of the type with this name.
function vector.to_lua(name, v)
  if not is_vector(v) then return v end
  return matrix.from_array(types.named(name), v, 1)
end

return setmetatable(vector, { __index = number })
