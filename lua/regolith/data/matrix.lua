--- Vectors and matrices outside kernels: immutable values with the operators and functions of
--- kernels. A value is a cdata of its type's own struct: numbers row by row in `rg_n`. Indices
--- start at 0.
local ffi = require "ffi"
local fail = require "regolith.error"
local scalars = require "regolith.data.scalars"
local straight = require "regolith.data.straight"
local types = require "regolith.data.type"

local matrix = { functions = {} }

local is = ffi.istype
local by_ctype = {} -- ctype id -> type
local make -- type, function(number) -> value

local function type_of(v) return type(v) == "cdata" and by_ctype[tonumber(ffi.typeof(v))] or nil end
matrix.type_of = type_of

local function is_number(x) return type(x) == "number" or is("int64_t", x) or is("uint64_t", x) end
local function is_matrix(t) return t.cols > 1 end

local function describe(v)
  local t = type_of(v)
  return t and (t.text or t.name) or fail.describe(v)
end

-- -- types of results -----------------------------------------------------------------------------

local function is_float(element) return element.name:sub(1, 1) == "f" end

-- The element type of `a op b`, as in kernels: floats over integers, wider over narrower, then
-- unsigned.
local function join(a, b)
  if a == b then return a end
  local float_a, float_b = is_float(a), is_float(b)
  if float_a ~= float_b then return float_a and a or b end
  if a.size ~= b.size then return a.size > b.size and a or b end
  return a.name:sub(1, 1) == "u" and a or b
end

local f32 = types.by_name.f32

-- A Lua number takes the element type of the other operand, if that can represent it.
local function element_with(t, x)
  local other = type_of(x)
  if other then return join(t.element, other.element) end
  if not is_float(t.element) and type(x) == "number" and x % 1 ~= 0 then return f32 end
  return t.element
end

local function as_float(element) return is_float(element) and element or f32 end

-- -- construction ---------------------------------------------------------------------------------

-- Raises if a plain number does not fit the element's type. Components of vectors are converted
-- instead.
local function check_fits(t, x)
  local bits, low = t.element.size * 8, 0
  if is_float(t.element) then return end
  if t.element.name:sub(1, 1) == "i" then low, bits = -2 ^ (bits - 1), bits - 1 end
  local is_inside = type(x) == "number" and x > low - 1 and x < 2 ^ bits
  if type(x) ~= "number" then -- 64-bit integers are compared as such
    local y = t.element.convert(x)
    is_inside = y == x and (y < 0) == (x < 0)
  end
  if is_inside then return end
  return fail.argument(("rg.%s is made of %s, and %s does not fit"):format(t.name, t.element.name,
    type(x) == "number" and ("%.14g"):format(x) or tostring(x)), nil, "value.fit")
end

local function gather(t, list, items)
  for _, item in ipairs(list) do
    local other = type_of(item)
    if other and other.element then
      for k = 0, other.count - 1 do items[#items + 1] = item.rg_n[k] end
    elseif type(item) == "table" and not getmetatable(item) then
      gather(t, item, items)
    elseif is_number(item) or (type(item) == "boolean" and t.element.name == "bool") then
      if type(item) ~= "boolean" then check_fits(t, item) end
      items[#items + 1] = item
    else
      return fail.argument(("rg.%s is made of numbers, not %s"):format(t.name, describe(item)))
    end
  end
  return items
end

function make(t, number)
  local v = t.ctype_value()
  for k = 0, t.count - 1 do v.rg_n[k] = number(k) end
  return v
end

--- `rg.vec2(a, b)`, `rg.mat2{{a, b}, {c, d}}`, from numbers, vectors and tables of them; one number
--- stands for all of a vector and for the diagonal of a matrix.
local function construct(t, ...)
  local items, convert = gather(t, { ... }, {}), t.element.convert
  if #items == 1 and is_matrix(t) then
    return make(t, function(k) return math.floor(k / t.cols) == k % t.cols and convert(items[1])
      or 0 end)
  elseif #items == 1 then
    return make(t, function() return convert(items[1]) end)
  elseif #items ~= t.count then
    return fail.argument(
      ("rg.%s is made of %d numbers, or of one, not of %d"):format(t.name, t.count,
      #items))
  end
  return make(t, function(k) return convert(items[k + 1]) end)
end

-- -- members of a value ---------------------------------------------------------------------------

local letters = { x = 0, y = 1, z = 2, w = 3, r = 0, g = 1, b = 2, a = 3 }

--- The indices of the components that a name such as "xy" or "rgb" means in a vector of type t; nil
--- for other names.
function matrix.components(t, name)
  if is_matrix(t) or #name > 4 or not (name:match "^[xyzw]+$" or name:match "^[rgba]+$") then
    return
  end
  local parts = {}
  for k = 1, #name do
    parts[k] = letters[name:sub(k, k)]
    if parts[k] >= t.rows then return end
  end
  return parts
end

local function swizzle(v, t, name)
  local parts = matrix.components(t, name)
  if not parts then return end
  if #parts == 1 then return v.rg_n[parts[1]] end
  return make(types.shaped(t.element, #parts, 1), function(k) return v.rg_n[parts[k + 1]] end)
end

local function at(v, t, index)
  if index % 1 ~= 0 or index < 0 or index >= t.rows then
    return fail.argument(("index %s of a %s, which has 0 to %d"):format(tostring(index), t.name,
      t.rows - 1), nil, "index.range")
  end
  if not is_matrix(t) then return v.rg_n[index] end
  return make(types.shaped(t.element, t.cols, 1), function(k) return v.rg_n[index * t.cols + k] end)
end

local methods = {}

--- An ordinary 1-based table; of a matrix a table of rows.
function methods.to_table(v)
  local t, list = type_of(v), {}
  for r = 1, t.rows do
    local row = at(v, t, r - 1)
    list[r] = is_matrix(t) and methods.to_table(row) or row
  end
  return list
end

--- Returns the numbers of a vector or matrix as a list, and its type; nil for other values.
function matrix.numbers(v)
  local t = type_of(v)
  if not t or not t.element then return nil end
  local list = {}
  for k = 1, t.count do list[k] = v.rg_n[k - 1] end
  return list, t
end

--- Returns `count` components from `first` on as a vector, or the component itself if `count` is 1.
function methods.slice(v, first, count)
  local t = type_of(v)
  if is_matrix(t) then
    return fail.argument("'slice' takes vectors, but this is a " .. t.name,
      "slice a row of it: m[r]:slice(..)", "type.mismatch")
  end
  local is_inside = type(first) == "number" and type(count) == "number" and first % 1 == 0
    and count % 1 == 0 and first >= 0 and count >= 1 and first + count <= t.rows
  if not is_inside then
    return fail.argument(("a %s has no such slice"):format(t.name),
      "v:slice(first, count); indices start at 0", "index.range")
  end
  if count == 1 then return v.rg_n[first] end
  return make(types.shaped(t.element, count, 1), function(k) return v.rg_n[first + k] end)
end

fail.guard(methods, function(self) return type_of(self) ~= nil end, "v")

local function index(v, key)
  local t = type_of(v)
  if type(key) == "number" then return at(v, t, key) end
  if type(key) == "string" then
    local found = methods[key]
    if found == nil then found = swizzle(v, t, key) end
    if found ~= nil then return found end
  end
  local names = { "x", "y", "z", "w" }
  for name in pairs(methods) do names[#names + 1] = name end
  return fail.argument(("a %s has no '%s'"):format(t.name, tostring(key)), fail.nearest(key, names))
end

local function newindex(v, key)
  return fail.argument(
    ("'%s' cannot be set: a vector outside a kernel is a copy that does not change")
    :format(tostring(key)),
    ("write the whole element: x[i] = rg.%s(..)"):format(type_of(v).name))
end

local function number_text(x) return (tostring(x):gsub("U?LL$", "")) end

local function to_string(v)
  local t, parts = type_of(v), {}
  local format = is_float(t.element) and "%.7g" or "%.0f"
  for k = 0, t.count - 1 do
    parts[k + 1] = number_text(type(v.rg_n[k]) == "number" and format:format(v.rg_n[k])
      or v.rg_n[k])
  end
  return ("%s(%s)"):format(t.name, table.concat(parts, ", "))
end

-- -- elementwise ----------------------------------------------------------------------------------

local function refuse(who, a, b)
  return fail.argument(("%s takes values of one shape, not %s and %s"):format(who, describe(a),
    describe(b)))
end

local function part(x, k)
  if type_of(x) then return x.rg_n[k] end
  return x
end

-- The shape that all `n` arguments share, as a type; nil when all are numbers.
local function common(who, arguments)
  local shape, element
  for k = 1, arguments.n do
    local x = arguments[k]
    local t = type_of(x)
    if t and t.members then
      return fail.argument(("%s takes numbers and vectors, not a %s"):format(who, t.text),
        "take a member: p.mass")
    elseif t then
      if shape and (shape.rows ~= t.rows or shape.cols ~= t.cols) then
        refuse(who, arguments[1], x)
      end
      shape, element = shape or t, element and join(element, t.element) or t.element
    elseif not is_number(x) and not (who == "rg.select" and type(x) == "boolean") then
      return fail.argument(("%s takes numbers and vectors, not %s"):format(who, fail.describe(x)))
    end
  end
  if not shape then return end
  for k = 1, arguments.n do element = element_with({ element = element }, arguments[k]) end
  return shape, element
end

--- Applies f component by component to the arguments, a list with `n` items.
local function each(who, f, arguments, result_element)
  local shape, element = common(who, arguments)
  local list, count = {}, arguments.n
  if not shape then return f(unpack(arguments, 1, count)) end
  if element.name == "bool" and who ~= "rg.select" then
    return fail.argument(("%s takes numbers, and a %s is made of booleans"):format(who, shape.name),
      "choose numbers by them: rg.select(v, 1, 0)")
  end
  element = result_element and result_element(element) or element
  return make(types.shaped(element, shape.rows, shape.cols), function(k)
    for i = 1, count do list[i] = part(arguments[i], k) end
    return element.convert(f(unpack(list, 1, count)))
  end)
end

local function product(a, b)
  local s, t = type_of(a), type_of(b)
  local rows, inner = is_matrix(s) and s.rows or 1, is_matrix(s) and s.cols or s.rows
  if inner ~= t.rows then
    return fail.argument(("a %s cannot be multiplied by a %s"):format(s.name, t.name))
  end
  local element = join(s.element, t.element)
  local result = is_matrix(s) and types.shaped(element, rows, t.cols)
    or types.shaped(element, t.cols, 1)
  return make(result, function(k)
    local r, c, sum = math.floor(k / t.cols), k % t.cols, nil
    for i = 0, inner - 1 do
      local term = a.rg_n[r * inner + i] * b.rg_n[i * t.cols + c]
      sum = sum and sum + term or term
    end
    return element.convert(sum)
  end)
end

local operators = {
  __add = function(a, b) return a + b end,
  __sub = function(a, b) return a - b end,
  __mod = function(a, b) return a % b end,
  __mul = function(a, b) return a * b end,
}
local meta = { __index = index, __newindex = newindex, __tostring = to_string }
for name, f in pairs(operators) do
  meta[name] = function(a, b) return each("an operator", f, { n = 2, a, b }) end
end
local multiply = meta.__mul
function meta.__mul(a, b)
  local s, t = type_of(a), type_of(b)
  local is_product = s and t and s.element and t.element and (is_matrix(s) or is_matrix(t))
  if is_product then return product(a, b) end
  return multiply(a, b)
end
function meta.__div(a, b)
  return each("'/'", function(x, y) return tonumber(x) / tonumber(y) end, { n = 2, a, b },
    as_float)
end
function meta.__pow(a, b)
  return each("'^'", function(x, y) return tonumber(x) ^ tonumber(y) end, { n = 2, a, b },
    as_float)
end
function meta.__unm(a) return each("'-'", function(x) return -x end, { n = 1, a }) end
function meta.__len(v) return type_of(v).rows end
meta.__concat = fail.concat
function meta.__eq(a, b)
  local s, t = type_of(a), type_of(b)
  if not s or not t or s.rows ~= t.rows or s.cols ~= t.cols then return false end
  for k = 0, s.count - 1 do
    if a.rg_n[k] ~= b.rg_n[k] then return false end
  end
  return true
end

function meta.__lt(a, b)
  return fail.argument(("%s and %s have no order"):format(describe(a), describe(b)),
    "compare numbers: a:norm() < b:norm(), a.x < b.x")
end
meta.__le = meta.__lt
--- `for k, number in pairs(v)`, with k from 0 on; of a matrix, the values are its rows.
function meta.__pairs(v)
  local t = type_of(v)
  return function(_, k)
    if k + 1 < t.rows then return k + 1, at(v, t, k + 1) end
  end, v, -1
end
function meta.__ipairs()
  return fail.argument("ipairs counts from 1, and vectors from 0",
    "for k, number in pairs(v) do, or for k = 0, #v - 1 do")
end

-- -- functions ------------------------------------------------------------------------------------

local functions = matrix.functions

local function vector(who, v)
  local t = type_of(v)
  if not t or t.members or is_matrix(t) then
    return fail.argument(("rg.%s takes vectors, not %s"):format(who, describe(v)))
  end
  return t
end
local function square(who, m)
  local t = type_of(m)
  if not t or t.members or t.rows ~= t.cols then
    return fail.argument(("rg.%s takes a square matrix, not %s"):format(who, describe(m)))
  end
  return t
end

function functions.dot(a, b)
  local s, t = vector("dot", a), vector("dot", b)
  if s.rows ~= t.rows then refuse("rg.dot", a, b) end
  local sum = a.rg_n[0] * b.rg_n[0]
  for k = 1, s.count - 1 do sum = sum + a.rg_n[k] * b.rg_n[k] end
  return sum
end

function functions.norm(v)
  vector("norm", v)
  return math.sqrt(tonumber(functions.dot(v, v)))
end

function functions.normalize(v) return v / functions.norm(v) end

--- For two vec2, returns only the third component, a number.
function functions.cross(a, b)
  local s, t = vector("cross", a), vector("cross", b)
  if s.rows ~= t.rows or s.rows > 3 then refuse("rg.cross", a, b) end
  local x, y = a.rg_n, b.rg_n
  if s.rows == 2 then return x[0] * y[1] - x[1] * y[0] end
  return make(types.shaped(join(s.element, t.element), 3, 1), function(k)
    local i, j = (k + 1) % 3, (k + 2) % 3
    return x[i] * y[j] - x[j] * y[i]
  end)
end

function functions.outer(a, b)
  local s, t = vector("outer", a), vector("outer", b)
  return make(types.shaped(join(s.element, t.element), s.rows, t.rows), function(k)
    return a.rg_n[math.floor(k / t.rows)] * b.rg_n[k % t.rows]
  end)
end

function functions.transpose(m)
  local t = type_of(m)
  if not t or t.members or not is_matrix(t) then
    return fail.argument("rg.transpose takes a matrix, not " .. describe(m))
  end
  return make(types.shaped(t.element, t.cols, t.rows),
    function(k) return m.rg_n[k % t.rows * t.cols + math.floor(k / t.rows)] end)
end

function functions.trace(m)
  local t, sum = square("trace", m), m.rg_n[0]
  for k = 1, t.rows - 1 do sum = sum + m.rg_n[k * t.cols + k] end
  return sum
end

-- Returns the determinant of the rows from `row` on except `skipped`, and the columns in `columns`.
local function minor(m, size, row, skipped, columns)
  if row == skipped then row = row + 1 end
  local following, sum = row + 1 == skipped and row + 2 or row + 1, nil
  for place, c in ipairs(columns) do
    local term = m.rg_n[row * size + c]
    if following < size then
      local rest = {}
      for _, other in ipairs(columns) do rest[#rest + 1] = other ~= c and other or nil end
      term = term * minor(m, size, following, skipped, rest)
    end
    sum = not sum and term or place % 2 == 0 and sum - term or sum + term
  end
  return sum
end

local function columns_without(size, skipped)
  local columns = {}
  for c = 0, size - 1 do columns[#columns + 1] = c ~= skipped and c or nil end
  return columns
end

-- Determinants and inverses of larger matrices use elimination, by the same code as in kernels.
local function large(name, m) return require "regolith.kernel.library".get(name)(m) end

function functions.determinant(m)
  local size = square("determinant", m).rows
  if size > 4 then return large("determinant", m) end
  return minor(m, size, 0, -1, columns_without(size, -1))
end

function functions.inverse(m)
  local t = square("inverse", m)
  if t.rows > 4 then return large("inverse", m) end
  local size, scale = t.rows, 1 / tonumber(functions.determinant(m))
  return make(types.shaped(as_float(t.element), size, size), function(k)
    local r, c = k % size, math.floor(k / size)
    return tonumber(minor(m, size, 0, r, columns_without(size, c))) * ((r + c) % 2 == 0 and scale
      or -scale)
  end)
end

-- Wraps an integer result as arithmetic in a kernel does.
local function wrapped(element, x)
  if is_float(element) or element.size == 8 then return element.convert(x) end
  return tonumber(ffi.cast(element.ctype, ffi.cast("int64_t", x)))
end

-- Defines a function that folds all components, from the first to the last, by `step`.
local function fold(name, step)
  functions[name] = function(v)
    local t = type_of(v)
    if not t or t.members or t.element.name == "bool" then
      return fail.argument(("rg.%s takes a vector or a matrix of numbers, not %s"):format(name,
        describe(v)), name ~= "sum" and is_number(v)
        and ("of two numbers: math.%s(a, b)"):format(name) or nil)
    end
    local all = v.rg_n[0]
    for k = 1, t.count - 1 do all = wrapped(t.element, step(all, v.rg_n[k])) end
    return all
  end
end
fold("sum", function(a, b) return a + b end)
fold("min", function(a, b) return b < a and b or a end)
fold("max", function(a, b) return a < b and b or a end)

local function booleans(name, v)
  local t = type_of(v)
  if t and t.element and t.element.name == "bool" then return t.count end
  return fail.argument(("rg.%s takes a vector of booleans, not %s"):format(name, describe(v)))
end
function functions.any(v)
  for k = 0, booleans("any", v) - 1 do if v.rg_n[k] then return true end end
  return false
end
function functions.all(v)
  for k = 0, booleans("all", v) - 1 do if not v.rg_n[k] then return false end end
  return true
end

--- Returns the componentwise product, also of matrices.
function functions.hadamard(a, b)
  return each("rg.hadamard", function(x, y) return x * y end, { n = 2, a, b })
end
-- math.max and math.min do not accept 64-bit integers.
local function largest(a, b)
  if type(a) == "number" and type(b) == "number" then return math.max(a, b) end
  return a < b and b or a
end
local function least(a, b)
  if type(a) == "number" and type(b) == "number" then return math.min(a, b) end
  return b < a and b or a
end
function functions.clamp(x, low, high)
  return each("rg.clamp", function(a, b, c) return least(largest(a, b), c) end,
    { n = 3, x, low, high })
end
function functions.mix(a, b, t)
  return each("rg.mix", function(x, y, z)
    if type(z) == "number" and z % 1 ~= 0 then x, y = tonumber(x), tonumber(y) end
    return x * (1 - z) + y * z
  end, { n = 3, a, b, t })
end
function functions.step(edge, x)
  return each("rg.step", function(a, b) return b < a and 0 or 1 end, { n = 2, edge, x }, as_float)
end
function functions.smoothstep(low, high, x)
  return each("rg.smoothstep", function(a, b, c)
    a, b, c = tonumber(a), tonumber(b), tonumber(c)
    local t = math.min(math.max((c - a) / (b - a), 0), 1)
    return t * t * (3 - 2 * t)
  end, { n = 3, low, high, x }, as_float)
end
-- Returns the element type of a vector made of plain numbers.
local function element_of_numbers(...)
  for _, x in ipairs { ... } do
    if type(x) == "boolean" then return types.by_name.bool end
    if type(x) == "number" and x % 1 ~= 0 then return f32 end
  end
  return types.by_name.i32
end

--- Returns `a` or `b`; with a vector of booleans as condition, it chooses component by component.
function functions.select(condition, a, b)
  local t = type_of(condition)
  if t and t.element and t.element.name == "bool" then
    local shape, element = common("rg.select", { n = 2, a, b })
    shape = shape or types.shaped(element_of_numbers(a, b), t.rows, t.cols)
    if shape.rows ~= t.rows or shape.cols ~= t.cols then refuse("rg.select", condition, a) end
    return make(types.shaped(element or shape.element, t.rows, t.cols), function(k)
      if condition.rg_n[k] then return part(a, k) end
      return part(b, k)
    end)
  elseif type(condition) ~= "boolean" then
    return fail.argument("rg.select takes a boolean or a vector of them first, not "
      .. describe(condition))
  end
  local of = type_of(a)
  if of and of.members and type_of(b) == of then return condition and a or b end
  return each("rg.select", function(x, y) if condition then return x end return y end,
    { n = 2, a, b })
end

local function whole(element)
  return is_float(element) and types.by_name.i32 or element
end
matrix.each, matrix.as_float, matrix.whole = each, as_float, whole
function functions.floor(x)
  return each("rg.floor", function(a) return type(a) == "number" and math.floor(a) or a end,
    { n = 1, x }, whole)
end
local function round(a)
  if type(a) ~= "number" then return a end
  return a < 0 and math.ceil(a - 0.5) or math.floor(a + 0.5)
end
function functions.round(x) return each("rg.round", round, { n = 1, x }, whole) end

local counts = { -- of arguments; a method's object is the first
  norm = 1, normalize = 1, transpose = 1, inverse = 1, determinant = 1, trace = 1, floor = 1,
  round = 1, sum = 1, any = 1, all = 1, dot = 2, cross = 2, outer = 2, hadamard = 2, step = 2,
  clamp = 3, mix = 3, smoothstep = 3, select = 3,
}

local function count_text(count)
  return ("%d argument%s"):format(count, count == 1 and "" or "s")
end

-- Wraps a function so that it must be called with exactly `count` arguments, as in kernels.
local function counted(name, f, count, is_method)
  local self, shown = is_method and 1 or 0, is_method and ":" .. name or "rg." .. name
  return fail.border(function(...)
    local given = select("#", ...)
    if given == (count or given) then return f(...) end
    return fail.argument(("'%s' takes %s, %d given"):format(shown, count_text(count - self),
      math.max(0, given - self)), nil, "call.count")
  end)
end

for name, f in pairs(functions) do
  methods[name] = counted(name, f, counts[name], true)
  functions[name] = counted(name, f, counts[name])
end

--- Makes a function of the library a method as well: `q:quat_rotate(v)`.
function matrix.add_method(name, f) methods[name] = f end

-- -- types ----------------------------------------------------------------------------------------

--- `rg.vec(3, rg.f64)`
function matrix.vec(n, t) return types.shaped(types.get(t, "rg.vec", true), n, 1) end
--- `rg.mat(2, 3, rg.f32)`
function matrix.mat(n, m, t)
  return types.shaped(types.get(t, "rg.mat", true), n, m)
end

local type_count = 0

for name, f in pairs(meta) do
  if name ~= "__index" then meta[name] = fail.border(f) end
end

--- Registers a struct type, whose values struct.lua makes.
function matrix.register(t) by_ctype[tonumber(t.ctype_value)] = t end
matrix.make, matrix.describe, matrix.is_number = make, describe, is_number

--- Completes the type of a vector or matrix, whose fields are the table `t`, at its first use:
--- makes its C struct, with its operators. To the ffi, structs of equal text may be one type; the
--- constant distinguishes a vec4 from a mat2. The ctype is set last, because code that finds it
--- relies on everything else, and any allocation in between may fail.
function types.bring_shaped(t, of)
  type_count = type_count + 1
  local number = scalars.computed(t.element.name).ctype
  local text = ("struct { static const int rg_type = %d; %s rg_n[%d]; }"):format(type_count, number,
    t.count)
  local ctype, own, make_one = ffi.typeof(text), meta, fail.border(construct)
  if straight.has(t) then own, make_one = straight.code(t.count, ctype, meta, make_one) end
  ffi.metatype(ctype, own)
  by_ctype[tonumber(ctype)] = of
  t.construct = make_one
  -- of an RgVector's numbers
  t.member = is_float(t.element) and "f64" or t.element.name:sub(1, 1) == "u" and "u64" or "i64"
  t.ctype_value = ctype
end

-- -- to and from C --------------------------------------------------------------------------------

--- Writes a vector into an RgVector.
function matrix.fill(buffer, v)
  local t = type_of(v)
  local member = t.member
  buffer.type, buffer.count = t.name, t.count
  if t.members then return ffi.copy(buffer.numbers, v.rg_n, t.count * 8) end
  for k = 0, t.count - 1 do buffer.numbers[k][member] = v.rg_n[k] end
end

--- Returns a new value with the vector that `slot`, a result of a launch of this runtime, points
--- to.
function matrix.take(slot, runtime)
  local from = slot.vector
  local t = types.named(ffi.string(from.type))
  local member = t.member
  if t.members then return t:from_numbers(from.numbers, runtime) end
  return make(t, function(k) return from.numbers[k][member] end)
end

local copy_text = [[
  local istype, new, is_float = ...
  local type, getmetatable = type, getmetatable
  return function(array, first)
    local v = new()
    local n = v.rg_n
    %s
    return v
  end, function(array, first, v)
    if istype(new, v) then
      local n = v.rg_n
      %s
      return true
    end
    if not is_float or type(v) ~= "table" or #v ~= %d or getmetatable(v) then return false end
    local %s = %s
    if not (%s) then return false end
    %s
    return true
  end
]]

local function per_number(count, separator, format)
  local parts = {}
  for k = 1, count do parts[k] = format:gsub("K", tostring(k)):gsub("J", tostring(k - 1)) end
  return table.concat(parts, separator)
end

local copiers = setmetatable({}, { __mode = "k" }) -- type -> { loader, storer }

-- Types of up to 64 components are copied by unrolled code, one statement per component.
local function copier(t)
  if not copiers[t] then
    local function numbers(...) return per_number(t.count, ...) end
    copiers[t] = { loadstring(copy_text:format(numbers("; ", "n[J] = array[first + J]"),
      numbers("; ", "array[first + J] = n[J]"), t.count, numbers(", ", "xK"),
      numbers(", ", "v[K]"), numbers(" and ", "type(xK) == 'number'"),
      numbers("; ", "array[first + J] = xK")), fail.own_chunk)(is, t.ctype_value,
      is_float(t.element)) }
  end
  return unpack(copiers[t])
end

--- load(array, first): the vector of type `t` whose numbers are in an array from `first` on.
function matrix.loader(t) return (copier(t)) end

--- Returns store(array, first, v), which writes the components of a vector of type `t`, or of an
--- equivalent table, into an array of doubles, and returns false for any other value.
function matrix.storer(t) return (select(2, copier(t))) end

--- The vector of type `t` whose numbers are in an array from `first` on.
function matrix.from_array(t, array, first)
  if t.members then return t:from_array(array, first) end
  return copier(t)(array, first)
end

return matrix
