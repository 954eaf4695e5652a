--- fuzzer_make.lua - random kernels as trees that can be printed, evaluated and reduced. A node is
--- { form = .., type = .., kids = {..} }; `forms[form]` prints it from the texts of its children,
--- and evaluates it in an environment { index = .., read = function(name, index), locals = {..} }.
--- Every expression has one fixed type.
local value = require "fuzzer_value"

local make = { forms = {} }
local forms = make.forms
local convert, apply, join, info = value.convert, value.apply, value.join, value.info

local random = math.random
local function pick(list) return #list > 0 and list[random(#list)] or nil end

function make.text(node)
  local texts = {}
  for k, kid in ipairs(node.kids) do texts[k] = make.text(kid) end
  return forms[node.form].text(node, unpack(texts))
end
function make.value(node, env) return forms[node.form].value(node, env) end
local value_of = make.value

-- Converts the value of an expression to the wanted type.
local function value_as(node, env, type)
  if info[type].element and not info[node.type].element then type = info[type].element end
  return convert(node.type, type, value_of(node, env))
end
make.value_as = value_as

-- The value of a child in the type of its parent.
local function operand(node, env, k) return value_as(node.kids[k], env, node.type) end

-- -- forms ----------------------------------------------------------------------------------------

-- A half is computed as an f32, so a node whose type is f16 rounds its child again.
local function read_text(node, text)
  if (info[node.type].element or node.type) ~= "f16" then return text end
  return ("%s(%s)"):format(value.type_text(node.type), text)
end

forms.element = { -- a<type>[i + offset]
  text = function(node)
    if node.offset == 0 then return read_text(node, ("%s[i]"):format(node.name)) end
    return read_text(node, ("%s[i %s %d]"):format(node.name, node.offset < 0 and "-" or "+",
      math.abs(node.offset)))
  end,
  value = function(node, env) return env.read(node.name, env.index + node.offset) end,
}
forms.far_element = { -- a<type>[any integer % n]
  text = function(node, index)
    return read_text(node, ("%s[(%s) %% 16]"):format(node.name, index))
  end,
  value = function(node, env)
    return env.read(node.name, tonumber(value_of(node.kids[1], env) % 16LL + 16LL) % 16)
  end,
}

--- Constant tables that every kernel may capture: numbers that each type can hold, except the
--- fractions of the second one.
make.tables = { tw = {}, tf = {} }
for k = 1, 40 do
  make.tables.tw[k] = k * 29 % 43
  make.tables.tf[k] = k * 37 % 101 + 0.25 * (k % 4)
end

forms.entry = { -- tw[any integer]; outside: zero
  text = function(node, at) return ("rg.%s(%s[%s])"):format(node.type, node.name, at) end,
  value = function(node, env)
    local t, at = make.tables[node.name], value_of(node.kids[1], env)
    return convert("f64", node.type, at >= 1 and at <= #t and t[tonumber(at)] or 0)
  end,
}

forms.name = {
  text = function(node) return node.name end,
  value = function(node, env) return env.locals[node.name] end,
}
forms.index = { text = function() return "i" end,
  value = function(_, env) return 0LL + env.index end }

forms.literal = {
  text = function(node) return node.text end,
  value = function(node) return node.value end,
}

forms.binary = {
  text = function(node, a, b) return ("(%s %s %s)"):format(a, node.op, b) end,
  value = function(node, env)
    local a = operand(node, env, 1)
    return apply(node.op, node.type, a, operand(node, env, 2))
  end,
}
forms.shift = { -- only the low bits of the count matter
  text = forms.binary.text,
  value = function(node, env)
    local a = operand(node, env, 1)
    return apply(node.op, node.type, a, value_of(node.kids[2], env))
  end,
}
forms.shift_call = {
  text = function(node, a, b) return ("%s(%s, %s)"):format(node.callee, a, b) end,
  value = forms.shift.value,
}

forms.call = { -- math.min, bit.band, ..: applied from the left
  text = function(node, ...) return ("%s(%s)"):format(node.callee, table.concat({ ... }, ", ")) end,
  value = function(node, env)
    local result = operand(node, env, 1)
    if #node.kids == 1 then return apply(node.op, node.type, result) end
    for k = 2, #node.kids do result = apply(node.op, node.type, result, operand(node, env, k)) end
    return result
  end,
}

forms.unary = {
  text = function(node, a) return ("(%s%s)"):format(node.sign, a) end,
  value = function(node, env) return apply(node.op, node.type, operand(node, env, 1)) end,
}

-- Multiplies by repeated squaring, in the compiler's order.
forms.power = {
  text = function(node, a) return ("(%s ^ %d)"):format(a, node.exponent) end,
  value = function(node, env)
    local t, factor, left = node.type, operand(node, env, 1), math.abs(node.exponent)
    local product
    while left >= 1 do
      if left % 2 == 1 then product = product and apply("*", t, product, factor) or factor end
      if left > 1 then factor = apply("*", t, factor, factor) end
      left = math.floor(left / 2)
    end
    return node.exponent < 0 and apply("/", t, 1, product) or product
  end,
}

forms.conversion = {
  text = function(node, a) return ("rg.%s(%s)"):format(node.type, a) end,
  value = function(node, env) return operand(node, env, 1) end,
}

forms.bitcast = {
  text = function(node, a) return ("rg.bitcast(rg.%s, %s)"):format(node.type, a) end,
  value = function(node, env)
    return value.bitcast(node.kids[1].type, node.type, value_of(node.kids[1], env))
  end,
}

-- Only a runtime knows its value, so such a kernel is compared with arch = "lua" alone.
forms.draw = {
  text = function(node, low, high)
    local name = value.type_text(node.type)
    if not low then return ("rg.random(%s)"):format(name) end
    return ("rg.random(%s, %s, %s)"):format(name, low, high)
  end,
  value = function() error "the fuzzer draws no numbers" end,
}

forms.quotient = { -- math.floor(a / b) of integers
  text = function(node, a, b) return ("math.%s(%s / %s)"):format(node.round, a, b) end,
  value = function(node, env)
    local a = operand(node, env, 1)
    return apply(node.round == "floor" and "//" or "ceil", node.type, a, operand(node, env, 2))
  end,
}

forms.rounded = { -- math.floor of a float stays a float unless an integer is needed, as rg.i32 does
  text = function(node, a) return ("rg.i32(math.%s(%s))"):format(node.round, a) end,
  value = function(node, env)
    local from = node.kids[1].type
    return convert(from, "i32", apply(node.round, from, value_of(node.kids[1], env)))
  end,
}

forms.compare = {
  text = function(node, a, b) return ("(%s %s %s)"):format(a, node.op, b) end,
  value = function(node, env)
    local a, b = node.kids[1], node.kids[2]
    return value.compare(node.op, a.type, value_of(a, env), b.type, value_of(b, env))
  end,
}

forms.logic = {
  text = function(node, a, b) return ("(%s %s %s)"):format(a, node.op, b) end,
  value = function(node, env)
    local a = value_of(node.kids[1], env)
    if node.op == "and" then return a and value_of(node.kids[2], env) end
    return a or value_of(node.kids[2], env)
  end,
}
forms["not"] = {
  text = function(_, a) return ("(not %s)"):format(a) end,
  value = function(node, env) return not value_of(node.kids[1], env) end,
}

forms.choice = {
  text = function(node, c, a, b)
    return ((node.is_ternary and "(%s ? %s : %s)") or "(%s and %s or %s)"):format(c, a, b)
  end,
  value = function(node, env) return operand(node, env, value_of(node.kids[1], env) and 2 or 3) end,
}

-- -- expressions ----------------------------------------------------------------------------------

local function node(form, type, kids, more)
  local n = more or {}
  n.form, n.type, n.kids = form, type, kids or {}
  return n
end
make.node = node

local expression

-- Returns a literal that the type can hold, as an operand of a value of that type.
local function literal(t)
  if info[t].float then
    local v = value.round(t, pick { 0.5, 1.5, 2.0, 0.25, 3.0, 100.0, 0.125, 7.0 })
    return node("literal", t, nil, { text = ("%.17g"):format(v) .. (v % 1 == 0 and ".0" or ""),
      value = v })
  end
  local v = pick { 0, 1, 2, 3, 5, 7, 8, 15, 64, 100, 127 }
  return node("literal", t, nil, { text = tostring(v), value = 0LL + v })
end

--- Returns a random number, or a vector of them, if the case uses any; `bound` makes a bound.
function make.draw(t, scope, bound)
  if not scope.case or not scope.case.draws or scope.is_helper then return end
  if not bound or random(2) == 1 then return node("draw", t) end
  return node("draw", t, { node("conversion", t, { bound() }), node("conversion", t, { bound() }) })
end

--- Returns an element of an input field, of an output that an earlier loop wrote, or of this loop's
--- output at its own index.
function make.input(t, scope)
  local o = scope.loop and random(3) == 1 and pick(scope.loop.own)
  if o and o.type == t then return node("element", t, nil, { name = o.name, offset = 0 }) end
  o = scope.readable and random(3) == 1 and pick(scope.readable)
  local name = o and o.type == t and o.name or value.field_name(pick { "a", "b" }, t)
  local offset = random(4) == 1 and random(-3, 3) or 0
  if t == "f32" and offset > 0 then name = "af16" end -- a half is computed as an f32
  return node("element", t, nil, { name = name, offset = offset })
end

-- Outside the loop over rows there is no index.
local function leaf_without_index(t, scope)
  local other = pick(value.scalars)
  local names = scope.names[other]
  if names and #names > 0 then
    return node("conversion", t, { node("name", other, nil, { name = pick(names) }) })
  end
  local at = node("literal", "i32", nil, { text = tostring(random(0, 15)) })
  at.value = 0LL + tonumber(at.text)
  return node("far_element", t, { at }, { name = "a" .. t })
end

local function leaf(t, scope)
  local names = scope.names[t]
  if names and #names > 0 and random(2) == 1 then
    return node("name", t, nil, { name = pick(names) })
  end
  local element = make.sparse_leaf and random(3) == 1 and make.sparse_leaf(t, scope)
  if element then return element end
  if not scope.loop then return leaf_without_index(t, scope) end
  if t == "i32" and random(6) == 1 then return node("index", "i32") end
  return make.input(t, scope)
end

-- Returns two operands, the wider of which has type t; one may be a literal.
local function pair(t, depth, scope)
  local other = t
  if random(3) == 1 then
    local u = pick(value.scalars)
    if join(t, u) == t then other = u end
  end
  local a, b = expression(t, depth - 1, scope), expression(other, depth - 1, scope)
  if random(5) == 1 then b = literal(t) end
  if random(2) == 1 then return b, a end
  return a, b
end

local function integer(depth, scope) return expression(pick(value.integers), depth - 1, scope) end

local makers = {}
function makers.binary(t, depth, scope)
  local op = pick(info[t].float and { "+", "-", "*", "/", "//", "%" } or { "+", "-", "*", "//",
    "%" })
  local a, b = pair(t, depth, scope)
  if op == "/" and not info[a.type].float and not info[b.type].float then op = "+" end
  return node("binary", t, { a, b }, { op = op })
end
function makers.extreme(t, depth, scope)
  local op = pick { "min", "max" }
  local a, b = pair(t, depth, scope)
  if a.form == "literal" then a, b = b, a end
  local kids = { a, b }
  if random(3) == 1 then kids[3] = expression(t, depth - 1, scope) end
  return node("call", t, kids, { op = op, callee = "math." .. op })
end
function makers.sign(t, depth, scope)
  return node("unary", t, { expression(t, depth - 1, scope) }, { op = "neg", sign = "-" })
end
function makers.abs(t, depth, scope)
  return node("call", t, { expression(t, depth - 1, scope) }, { op = "abs", callee = "math.abs" })
end
function makers.conversion(t, depth, scope)
  return node("conversion", t, { expression(pick(value.scalars), depth - 1, scope) })
end
function makers.bitcast(t, depth, scope)
  local same = {}
  for _, u in ipairs(value.scalars) do
    if info[u].bits == info[t].bits and u ~= t then same[#same + 1] = u end
  end
  local from = pick(same)
  if not from then return end
  local kid = node("conversion", from, { expression(from, depth - 1, scope) }) -- fixes the type
  return node("bitcast", t, { kid })
end
function makers.draw(t, depth, scope)
  return make.draw(t, scope, function() return expression(t, depth - 1, scope) end)
end
function makers.condition(t, depth, scope)
  return node("conversion", t, { expression("bool", depth - 1, scope) })
end
function makers.choice(t, depth, scope)
  local a, b = pair(t, depth, scope)
  return node("choice", t, { expression("bool", depth - 1, scope), a, b },
    { is_ternary = random(3) == 1 })
end
function makers.far(t, depth, scope)
  return node("far_element", t, { expression(pick { "i32", "i64", "u8" }, depth - 1, scope) },
    { name = "a" .. t })
end

function makers.entry(t, depth, scope)
  local at = expression(pick { "i32", "i64", "u8", "u32" }, depth - 1, scope)
  if random(3) > 1 then -- mostly inside the bounds
    local size = node("literal", at.type, nil, { text = "41", value = 41LL })
    at = node("binary", at.type, { at, size }, { op = "%" })
  end
  if random(4) == 1 then at = node("entry", "i32", { at }, { name = "tw" }) end
  return node("entry", t, { at }, { name = pick { "tw", "tf" } })
end

local integer_makers, float_makers = {}, {}
function integer_makers.bits(t, depth, scope)
  local a, b = pair(t, depth, scope)
  return node("binary", t, { a, b }, { op = pick { "&", "|", "~" } })
end
function integer_makers.bit_call(t, depth, scope)
  local name, op = unpack(pick { { "band", "&" }, { "bor", "|" }, { "bxor", "~" } })
  local a, b = pair(t, depth, scope)
  return node("call", t, { a, b }, { op = op, callee = "bit." .. name })
end
function integer_makers.shift(t, depth, scope)
  local a, b = expression(t, depth - 1, scope), random(2) == 1 and literal(t)
    or integer(depth, scope)
  return node("shift", t, { a, b }, { op = pick { "<<", ">>", "~>>" } })
end
function integer_makers.shift_call(t, depth, scope)
  local name, op = unpack(pick { { "lshift", "<<" }, { "rshift", ">>" }, { "arshift", "~>>" },
    { "rol", "rol" }, { "ror", "ror" } })
  return node("shift_call", t, { expression(t, depth - 1, scope), integer(depth, scope) },
    { op = op, callee = "bit." .. name })
end
function integer_makers.bnot(t, depth, scope)
  if random(2) == 1 then
    return node("call", t, { expression(t, depth - 1, scope) },
      { op = "bnot", callee = "bit.bnot" })
  end
  return node("unary", t, { expression(t, depth - 1, scope) }, { op = "bnot", sign = "~" })
end
function integer_makers.bswap(t, depth, scope)
  return node("call", t, { expression(t, depth - 1, scope) },
    { op = "bswap", callee = "bit.bswap" })
end
function integer_makers.quotient(t, depth, scope)
  local a, b = expression(t, depth - 1, scope), expression(t, depth - 1, scope)
  return node("quotient", t, { a, b }, { round = pick { "floor", "ceil" } })
end
function integer_makers.rounded(t, depth, scope)
  local inner = node("rounded", "i32", { expression(pick(value.floats), depth - 1, scope) },
    { round = pick { "floor", "ceil" } })
  if t == "i32" then return inner end
  return node("conversion", t, { node("binary", "i32", { inner, literal "i32" }, { op = "+" }) })
end

function float_makers.sqrt(t, depth, scope)
  return node("call", t, { expression(t, depth - 1, scope) }, { op = "sqrt", callee = "math.sqrt" })
end
function float_makers.mixed(t, depth, scope) -- int op float
  local a, b = expression(t, depth - 1, scope), integer(depth, scope)
  if random(2) == 1 then a, b = b, a end
  return node("binary", t, { a, b }, { op = pick { "+", "-", "*", "/" } })
end

local bool_makers = {}
-- With an operand that only the launch knows: powers of literals are folded during parsing.
local function is_known(n)
  if n.form == "literal" then return true end
  for _, kid in ipairs(n.kids) do if not is_known(kid) then return false end end
  return #n.kids > 0
end
function float_makers.power(t, depth, scope)
  local of = expression(t, depth - 1, scope)
  if is_known(of) then return end
  return node("power", t, { of }, { exponent = pick { 2, 3, 4, 5, -1, -2 } })
end

function bool_makers.compare(_, depth, scope)
  local a, b = expression(pick(value.scalars), depth - 1, scope), expression(pick(value.scalars),
    depth - 1, scope)
  if random(3) == 1 then
    b = literal(a.type)
    if info[a.type].float then b.type = a.type end
  end
  return node("compare", "bool", { a, b }, { op = pick { "==", "~=", "<", "<=", ">", ">=" } })
end
function bool_makers.logic(_, depth, scope)
  return node("logic", "bool", { expression("bool", depth - 1, scope), expression("bool", depth - 1,
    scope) },
    { op = pick { "and", "or" } })
end
bool_makers["not"] = function(_, depth, scope)
  return node("not", "bool", { expression("bool", depth - 1, scope) })
end

local function list_of(...)
  local names, list = {}, {}
  for _, t in ipairs { ... } do
    for name in pairs(t) do names[#names + 1] = name end
  end
  table.sort(names) -- so that a seed makes the same kernels in every process
  for k, name in ipairs(names) do
    for _, t in ipairs { ... } do list[k] = list[k] or t[name] end
  end
  return list
end
local for_integers, for_floats, for_bools

--- Registers further forms: fuzzer_vector.lua adds those of vectors.
function make.add_makers(for_numbers, more_bools)
  for_integers, for_floats = list_of(makers, integer_makers, for_numbers),
    list_of(makers, float_makers, for_numbers)
  for_bools = list_of(bool_makers, more_bools)
end
make.add_makers({}, {})

--- Returns an expression of type t with at most `depth` levels of operators.
function expression(t, depth, scope)
  local call = random(12) == 1 and make.user_call and make.user_call(t, scope)
  if call then return call end
  if t == "bool" then
    local asked = random(6) == 1 and make.sparse_leaf and make.sparse_leaf(t, scope)
    if asked then return asked end
    if depth <= 0 then
      local u = pick(value.scalars)
      return node("compare", "bool", { leaf(u, scope), leaf(u, scope) },
        { op = pick { "<", ">=", "==" } })
    end
    return pick(for_bools)(t, depth, scope)
  end
  if info[t].count then return make.vector(t, depth, scope) end
  if depth <= 0 or random(8) == 1 then return leaf(t, scope) end
  return pick(info[t].float and for_floats or for_integers)(t, depth, scope) or leaf(t, scope)
end
make.expression, make.literal, make.pick = expression, literal, pick

return make
