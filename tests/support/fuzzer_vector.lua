--- fuzzer_vector.lua - random expressions of vectors and matrices; fuzzer_make.lua makes those of
--- numbers. Their meaning is implemented here by definition; a form prints and evaluates a node as
--- there.
local value = require "fuzzer_value"
local make = require "fuzzer_make"

local forms, node, pick, info = make.forms, make.node, make.pick, value.info
local apply, convert = value.apply, value.convert
local random = math.random

local vector = {}

-- The types of fields and locals; expressions may have others. The last three are those of local
-- arrays, where a computed index assigns them.
vector.types = {}
for _, t in ipairs { { "f32", 2, 1 }, { "f32", 3, 1 }, { "i32", 3, 1 }, { "u8", 4, 1 },
  { "i64", 2, 1 }, { "f64", 3, 1 }, { "f16", 2, 1 }, { "f32", 2, 2 }, { "f64", 3, 3 },
  { "i32", 2, 3 }, { "f32", 3, 2 }, { "u32", 5, 1 }, { "i16", 7, 1 }, { "f32", 6, 3 } } do
  table.insert(vector.types, value.shaped(t[1], t[2], t[3]))
end
local is_input = {}
for _, t in ipairs(vector.types) do is_input[t] = true end

local letters = { "x", "y", "z", "w" }

-- -- evaluation -----------------------------------------------------------------------------------

local function kid(n, env, k) return make.value(n.kids[k], env) end

-- The value of a child, converted to numbers of type `element`.
local function kid_in(n, env, k, element)
  local own = n.kids[k].type
  if not info[own].count then return make.value_as(n.kids[k], env, element) end
  return convert(own, value.shaped(element, info[own].rows, info[own].cols), kid(n, env, k))
end

local function dot(element, a, b, count, first_a, step_a, first_b, step_b)
  local sum
  for k = 0, count - 1 do
    local product = apply("*", element, a[first_a + k * step_a], b[first_b + k * step_b])
    sum = sum and apply("+", element, sum, product) or product
  end
  return sum
end

local function product(element, a, a_row, b, b_row) -- products of rows with shapes
  local rows, inner, cols, result = a_row.rows, a_row.cols, b_row.cols, {}
  if a_row.cols == 1 then rows, inner = 1, a_row.rows end
  for r = 0, rows - 1 do
    for c = 1, cols do
      result[#result + 1] = dot(element, a, b, inner, r * inner + 1, 1, c, cols)
    end
  end
  return result
end

local function minor(m, size, row, col)
  local rest = {}
  for r = 1, size do
    for c = 1, size do
      if r ~= row and c ~= col then rest[#rest + 1] = m[(r - 1) * size + c] end
    end
  end
  return rest
end
local function determinant(element, m, size)
  if size == 1 then return m[1] end
  local sum
  for c = 1, size do
    local term = apply("*", element, m[c], determinant(element, minor(m, size, 1, c), size - 1))
    if not sum then sum = term else sum = apply(c % 2 == 1 and "+" or "-", element, sum, term) end
  end
  return sum
end

-- arguments: row of the result's type or element, element, the children's values, first child's row
local functions = {}
function functions.dot(element, v) return dot(element, v[1], v[2], #v[1], 1, 1, 1, 1) end
function functions.norm(element, v)
  return apply("sqrt", element, functions.dot(element, { v[1], v[1] }))
end
function functions.normalize(element, v)
  local length = functions.norm(element, v)
  return value.each(#v[1], function(x) return apply("/", element, x, length) end, v[1])
end
function functions.cross(element, v)
  local a, b = v[1], v[2]
  local function one(i, j)
    return apply("-", element, apply("*", element, a[i], b[j]), apply("*", element, a[j], b[i]))
  end
  return #a == 2 and one(1, 2) or { one(2, 3), one(3, 1), one(1, 2) }
end
function functions.outer(element, v)
  local result = {}
  for _, x in ipairs(v[1]) do
    for _, y in ipairs(v[2]) do result[#result + 1] = apply("*", element, x, y) end
  end
  return result
end
function functions.transpose(_, v, row)
  local result = {}
  for c = 1, row.cols do
    for r = 1, row.rows do result[(c - 1) * row.rows + r] = v[1][(r - 1) * row.cols + c] end
  end
  return result
end
function functions.trace(element, v, row)
  local sum = v[1][1]
  for k = 2, row.rows do sum = apply("+", element, sum, v[1][(k - 1) * row.cols + k]) end
  return sum
end
function functions.determinant(element, v, row) return determinant(element, v[1], row.rows) end
function functions.inverse(element, v, row)
  local size, result = row.rows, {}
  local scale = apply("/", element, 1, determinant(element, v[1], size))
  for r = 1, size do
    for c = 1, size do
      local sign = (r + c) % 2 == 0 and scale or apply("neg", element, scale)
      result[(c - 1) * size + r] = apply("*", element, determinant(element, minor(v[1], size, r, c),
        size - 1), sign)
    end
  end
  return result
end

local each_functions = {} -- functions of single numbers
function each_functions.clamp(e, x, low, high)
  return apply("min", e, apply("max", e, x, low), high)
end
function each_functions.mix(e, a, b, t)
  local one = convert("i32", e, 1LL)
  return apply("+", e, apply("*", e, a, apply("-", e, one, t)), apply("*", e, b, t))
end
function each_functions.step(_, edge, x) return x < edge and 0 or 1 end
function each_functions.smoothstep(e, low, high, x)
  local t = apply("/", e, apply("-", e, x, low), apply("-", e, high, low))
  t = each_functions.clamp(e, t, 0, 1)
  return apply("*", e, apply("*", e, t, t), apply("-", e, 3, apply("*", e, 2, t)))
end

-- -- forms ----------------------------------------------------------------------------------------

local function element_of(n) return info[n.type].element or n.type end

forms.vector_make = { -- rg.vec3(v.xy, 1), rg.mat2{{a, b}, {c, d}}, of one number
  text = function(n, ...)
    local row = info[n.type]
    if n.is_table and row.cols > 1 and select("#", ...) == row.count then
      local lines, given = {}, { ... }
      for r = 1, row.rows do
        lines[r] = "{" .. table.concat(given, ", ", (r - 1) * row.cols + 1, r * row.cols) .. "}"
      end
      return ("%s{%s}"):format(value.type_text(n.type), table.concat(lines, ", "))
    end
    return ("%s(%s)"):format(value.type_text(n.type), table.concat({ ... }, ", "))
  end,
  value = function(n, env)
    local row, list = info[n.type], {}
    for k in ipairs(n.kids) do
      local v = kid_in(n, env, k, row.element)
      for _, x in ipairs(type(v) == "table" and v or { v }) do list[#list + 1] = x end
    end
    if #list == row.count then return list end
    local result = {}
    for k = 0, row.count - 1 do
      local is_one = row.cols == 1 or math.floor(k / row.cols) == k % row.cols
      result[k + 1] = is_one and list[1] or value.zero(row.element)
    end
    return result
  end,
}
forms.vector_part = { -- v.zx, v[1], m[r]
  text = function(n, v, index)
    if n.places then
      local name = {}
      for k, place in ipairs(n.places) do name[k] = letters[place] end
      return ("(%s).%s"):format(v, table.concat(name))
    end
    return ("(%s)[%s]"):format(v, index or n.index)
  end,
  value = function(n, env)
    local v, row, result = kid(n, env, 1), info[n.kids[1].type], {}
    if n.places then
      for k, place in ipairs(n.places) do result[k] = v[place] end
    else
      local index = n.index or tonumber(kid(n, env, 2))
      local is_inside = index >= 0 and index < row.rows
      for c = 1, row.cols do
        result[c] = is_inside and v[index * row.cols + c] or value.zero(row.element)
      end
    end
    return info[n.type].count and result or result[1]
  end,
}
forms.vector_slice = { -- v:slice(1, 2)
  text = function(n, v) return ("((%s):slice(%d, %d))"):format(v, n.first, n.count) end,
  value = function(n, env)
    local v, result = kid(n, env, 1), {}
    for k = 1, n.count do result[k] = v[n.first + k] end
    return info[n.type].count and result or result[1]
  end,
}
forms.vector_product = {
  text = function(_, a, b) return ("(%s * %s)"):format(a, b) end,
  value = function(n, env)
    local e = element_of(n)
    return product(e, kid_in(n, env, 1, e), info[n.kids[1].type], kid_in(n, env, 2, e),
      info[n.kids[2].type])
  end,
}
forms.vector_function = {
  text = function(n, first, ...)
    if n.is_method then
      return ("((%s):%s(%s))"):format(first, n.name, table.concat({ ... }, ", "))
    end
    return ("rg.%s(%s)"):format(n.name, table.concat({ first, ... }, ", "))
  end,
  value = function(n, env)
    local e, v = element_of(n), {}
    for k in ipairs(n.kids) do v[k] = kid_in(n, env, k, e) end
    if functions[n.name] then return functions[n.name](e, v, info[n.kids[1].type]) end
    local f, count = each_functions[n.name], info[n.type].count
    if not count then return f(e, unpack(v)) end
    local result = {}
    for k = 1, count do
      local one = {}
      for i, x in ipairs(v) do one[i] = type(x) == "table" and x[k] or x end
      result[k] = f(e, unpack(one))
    end
    return result
  end,
}
forms.vector_select = {
  text = function(_, c, a, b) return ("rg.select(%s, %s, %s)"):format(c, a, b) end,
  value = function(n, env)
    local v = { kid(n, env, 1), kid_in(n, env, 2, element_of(n)), kid_in(n, env, 3, element_of(n)) }
    local chosen, count = v[1] and v[2] or v[3], info[n.type].count
    return count and value.each(count, function(x) return x end, chosen) or chosen
  end,
}
forms.vector_compare = {
  text = function(n, a, b) return ("(%s %s %s)"):format(a, n.op, b) end,
  value = function(n, env)
    local a, b, ta, tb = kid(n, env, 1), kid(n, env, 2), n.kids[1].type, n.kids[2].type
    local is_equal = true
    for k = 1, info[ta].count do
      is_equal = is_equal and value.compare("==", info[ta].element, a[k], info[tb].element, b[k])
    end
    return is_equal == (n.op == "==")
  end,
}

-- Vectors of booleans: comparisons, combined by `& | ~ not`. They are used in rg.any, rg.all and
-- rg.select only.
forms.mask_compare = {
  text = function(n, a, b) return ("(%s %s %s)"):format(a, n.op, b) end,
  value = function(n, env)
    local a, b, result = kid(n, env, 1), kid(n, env, 2), {}
    local ta, tb = info[n.kids[1].type].element, info[n.kids[2].type].element
    for k = 1, info[n.type].count do result[k] = value.compare(n.op, ta, a[k], tb, b[k]) end
    return result
  end,
}
forms.mask_join = {
  text = function(n, a, b)
    return b and ("(%s %s %s)"):format(a, n.op, b) or ("(not %s)"):format(a)
  end,
  value = function(n, env)
    local a, b, result = kid(n, env, 1), n.kids[2] and kid(n, env, 2), {}
    for k = 1, info[n.type].count do
      if n.op == "not" then result[k] = not a[k]
      elseif n.op == "&" then result[k] = a[k] and b[k]
      elseif n.op == "|" then result[k] = a[k] or b[k]
      else result[k] = a[k] ~= b[k] end
    end
    return result
  end,
}
forms.mask_whole = { -- rg.any(m), m:all()
  text = function(n, a)
    return n.is_method and ("(%s):%s()"):format(a, n.name) or ("rg.%s(%s)"):format(n.name, a)
  end,
  value = function(n, env)
    local mask, result = kid(n, env, 1), n.name == "all"
    for _, x in ipairs(mask) do
      if n.name == "all" then result = result and x else result = result or x end
    end
    return result
  end,
}
forms.mask_select = {
  text = function(_, c, a, b) return ("rg.select(%s, %s, %s)"):format(c, a, b) end,
  value = function(n, env)
    local e = element_of(n)
    local c, a, b, result = kid(n, env, 1), kid_in(n, env, 2, e), kid_in(n, env, 3, e), {}
    for k = 1, info[n.type].count do
      local from = c[k] and a or b
      result[k] = type(from) == "table" and from[k] or from
    end
    return result
  end,
}

-- -- making ---------------------------------------------------------------------------------------

local function with_element(t, element) return value.shaped(element, info[t].rows, info[t].cols) end

-- Returns two operands, the wider of which has type t; one may be a single number.
local function pair(t, depth, scope)
  local row, other = info[t], t
  if random(3) == 1 then
    local u = pick(value.scalars)
    if value.join(row.element, u) == row.element then other = with_element(t, u) end
  end
  local a, b = make.expression(t, depth - 1, scope), make.expression(other, depth - 1, scope)
  if random(3) == 1 then
    b = random(2) == 1 and make.literal(row.element) or make.expression(info[other].element,
      depth - 1, scope)
  end
  if random(2) == 1 then return b, a end
  return a, b
end

local function call(name, t, kids, allows_method)
  return node("vector_function", t, kids, { name = name, is_method = allows_method ~= false
    and random(2) == 1 })
end

local function mask(rows, cols, depth, scope)
  local t = value.shaped("bool", rows, cols)
  if depth > 1 and random(3) == 1 then
    local op = pick { "&", "|", "~", "not" }
    return node("mask_join", t, { mask(rows, cols, depth - 1, scope),
      op ~= "not" and mask(rows, cols, depth - 1, scope) or nil }, { op = op })
  end
  local function e()
    return make.expression(value.shaped(pick(value.scalars), rows, cols), depth - 1, scope)
  end
  return node("mask_compare", t, { e(), e() }, { op = pick { "<", "<=", ">", ">=" } })
end

local makers = {}
function makers.select_each(t, depth, scope)
  local a, b = pair(t, depth, scope)
  return node("mask_select", t, { mask(info[t].rows, info[t].cols, depth - 1, scope), a, b })
end
function makers.make(t, depth, scope)
  local row, kids, left = info[t], {}, info[t].count
  if random(5) == 1 then
    return node("vector_make", t, { make.expression(pick(value.scalars), depth - 1, scope) })
  end
  while left > 0 do
    local size = row.cols == 1 and left > 1 and random(3) == 1 and random(2, math.min(4, left)) or 1
    local element = random(2) == 1 and row.element or pick(value.scalars)
    table.insert(kids, make.expression(size > 1 and value.shaped(element, size, 1) or element,
      depth - 2, scope))
    left = left - size
  end
  return node("vector_make", t, kids, { is_table = random(2) == 1 })
end
function makers.convert(t, depth, scope)
  return node("vector_make", t, { make.expression(with_element(t, pick(value.scalars)), depth - 1,
    scope) })
end
function makers.binary(t, depth, scope)
  local row = info[t]
  local a, b = pair(t, depth, scope)
  local op = pick(info[row.element].float and { "+", "-", "*", "/", "//", "%" }
    or { "+", "-", "*", "//", "%", "&", "|", "~" })
  local is_product = op == "*" and row.cols > 1 and info[a.type].count and info[b.type].count
  return node("binary", t, { a, b }, { op = is_product and "+" or op })
end
function makers.sign(t, depth, scope)
  return node("unary", t, { make.expression(t, depth - 1, scope) }, { op = "neg", sign = "-" })
end
function makers.abs(t, depth, scope)
  return node("call", t, { make.expression(t, depth - 1, scope) },
    { op = "abs", callee = "math.abs" })
end
function makers.extreme(t, depth, scope)
  local op = pick { "min", "max" }
  local a, b = pair(t, depth, scope)
  return node("call", t, { a, b }, { op = op, callee = "math." .. op })
end
function makers.choice(t, depth, scope)
  local kids = { make.expression("bool", depth - 1, scope), make.expression(t, depth - 1, scope),
    make.expression(t, depth - 1, scope) }
  if random(3) == 1 then return node("vector_select", t, kids) end
  return node("choice", t, kids, { is_ternary = random(3) == 1 })
end
function makers.product(t, depth, scope)
  local row, inner = info[t], random(2, 3)
  local a, b
  if row.cols > 1 then
    a, b = value.shaped(row.element, row.rows, inner), value.shaped(row.element, inner, row.cols)
  elseif row.rows > 4 then
    return
  elseif random(2) == 1 then
    a, b = value.shaped(row.element, row.rows, inner), value.shaped(row.element, inner, 1)
  else
    a, b = value.shaped(row.element, inner, 1), value.shaped(row.element, inner, row.rows)
  end
  return node("vector_product", t, { make.expression(a, depth - 1, scope),
    make.expression(b, depth - 1, scope) })
end
function makers.swizzle(t, depth, scope)
  local row, from, places = info[t], random(2, 4), {}
  if row.cols > 1 or row.rows > 4 then return end
  for k = 1, row.rows do places[k] = random(from) end
  return node("vector_part", t, { make.expression(value.shaped(row.element, from, 1), depth - 1,
    scope) }, { places = places })
end
local function slice(t, element, count, depth, scope)
  local size = count + random(0, 3)
  return node("vector_slice", t, { make.expression(value.shaped(element, math.max(size, 2), 1),
    depth - 1, scope) }, { first = random(0, size - count), count = count })
end
function makers.slice(t, depth, scope)
  local row = info[t]
  if row.cols == 1 then return slice(t, row.element, row.rows, depth, scope) end
end
function makers.draw(t, _, scope) return make.draw(t, scope) end
function makers.row(t, depth, scope)
  local row, rows = info[t], random(2, 3)
  if row.cols > 1 or row.rows > 3 then return end
  local kids = { make.expression(value.shaped(row.element, rows, row.rows), depth - 1, scope) }
  if random(2) == 1 then
    kids[2] = make.expression(pick { "i32", "u8", "i64" }, depth - 1, scope)
  end
  return node("vector_part", t, kids, { index = not kids[2] and random(0, rows - 1) or nil })
end
function makers.of_vectors(t, depth, scope)
  local row = info[t]
  local function e(shape) return make.expression(shape or t, depth - 1, scope) end
  local names = { "clamp", "mix" }
  local is_float, is_vector = info[row.element].float, row.cols == 1
  if is_float then names[#names + 1], names[#names + 2] = "step", "smoothstep" end
  if is_float and is_vector then names[#names + 1] = "normalize" end
  if is_vector and row.rows == 3 then names[#names + 1] = "cross" end
  if not is_vector then names[#names + 1], names[#names + 2] = "outer", "transpose" end
  if not is_vector and row.rows == row.cols and is_float then names[#names + 1] = "inverse" end
  local name = pick(names)
  if name == "normalize" or name == "inverse" then return call(name, t, { e() }) end
  if name == "transpose" then
    return call(name, t, { e(value.shaped(row.element, row.cols, row.rows)) })
  end
  if name == "cross" or name == "step" then return call(name, t, { e(), e() }) end
  if name == "outer" then
    return call(name, t, { e(value.shaped(row.element, row.rows, 1)),
      e(value.shaped(row.element, row.cols, 1)) })
  end
  return call(name, t, { e(), e(), e() })
end

-- Numbers computed from vectors.
local scalar_makers, bool_makers = {}, {}
function scalar_makers.part(t, depth, scope)
  if t == "bool" then return end
  local size = random(2, 4)
  local v = make.expression(value.shaped(t, size, 1), depth - 1, scope)
  local way = random(3)
  if way == 1 then return node("vector_part", t, { v }, { places = { random(size) } }) end
  if way == 2 then return node("vector_part", t, { v }, { index = random(0, size - 1) }) end
  return node("vector_part", t, { v, make.expression(pick { "i32", "u8", "i64" }, depth - 1,
    scope) })
end
function scalar_makers.of_vectors(t, depth, scope)
  local is_float = info[t].float
  local name = pick(is_float and { "dot", "norm", "cross", "trace", "determinant" }
    or { "dot", "cross", "trace", "determinant" })
  local rows = name == "cross" and 2 or random(2, 3)
  local square = name == "trace" or name == "determinant"
  local shape = value.shaped(t, rows, square and rows or 1)
  local kids = { make.expression(shape, depth - 1, scope) }
  if name == "dot" or name == "cross" then kids[2] = make.expression(shape, depth - 1, scope) end
  return call(name, t, kids)
end
function scalar_makers.slice(t, depth, scope)
  if t ~= "bool" then return slice(t, t, 1, depth, scope) end
end
function bool_makers.compare_vectors(_, depth, scope)
  local rows = random(2, 3)
  local function e()
    return make.expression(value.shaped(pick(value.scalars), rows, 1), depth - 1, scope)
  end
  return node("vector_compare", "bool", { e(), e() }, { op = pick { "==", "~=" } })
end

function bool_makers.mask(_, depth, scope)
  return node("mask_whole", "bool", { mask(random(2, 4), pick { 1, 1, 2 }, depth - 1, scope) },
    { name = pick { "any", "all" }, is_method = random(2) == 1 })
end

local function leaf(t, scope)
  local names = scope.names[t]
  if names and #names > 0 and random(2) == 1 then
    return node("name", t, nil, { name = pick(names) })
  end
  local element = make.sparse_leaf and random(3) == 1 and make.sparse_leaf(t, scope)
  if element then return element end
  if is_input[t] and scope.loop then return make.input(t, scope) end
  local row, kids = info[t], {}
  if random(3) == 1 then
    return node("vector_make", t, { make.expression(row.element, 0, scope) })
  end
  for k = 1, row.count do kids[k] = make.expression(row.element, 0, scope) end
  return node("vector_make", t, kids)
end

local list = {}
for name in pairs(makers) do list[#list + 1] = name end
table.sort(list)

function make.vector(t, depth, scope)
  if depth <= 0 or random(5) == 1 then return leaf(t, scope) end
  return makers[pick(list)](t, depth, scope) or leaf(t, scope)
end
make.add_makers(scalar_makers, bool_makers)

return vector
