--- fuzzer_statement.lua - random statements, as fuzzer_make.lua makes expressions: each kind prints
--- itself and runs. The expressions of a statement are in `value`, `at`, `first` and the list
--- `values`, its blocks in `body` and `other`, where the reducer finds them. A block runs until a
--- statement returns "break", "continue" or "return".
---
--- Conflicting accesses of iterations are unspecified. So in one parallel loop a field is either
--- only read, or written at the loop's own index, or updated by one commuting operator on integers.
local value = require "fuzzer_value"
local make = require "fuzzer_make"
local vector = require "fuzzer_vector"

local statement = { kinds = {}, rows = 16 }
local kinds = statement.kinds
local random, pick, info = math.random, make.pick, value.info

-- -- blocks ---------------------------------------------------------------------------------------

function statement.text(list, indent)
  local lines = {}
  for k, s in ipairs(list) do lines[k] = indent .. kinds[s.kind].text(s, indent) .. "\n" end
  return table.concat(lines)
end
local block_text = statement.text

function statement.run(list, env)
  for _, s in ipairs(list) do
    local leaves = kinds[s.kind].run(s, env)
    if leaves then return leaves end
  end
end
local run_block = statement.run

-- -- locals ---------------------------------------------------------------------------------------

kinds["local"] = {
  text = function(s)
    local annotation = s.is_annotated and ": " .. value.type_text(s.type):gsub("rg%.", "") or ""
    return ("local %s%s = %s"):format(s.name, annotation, make.text(s.value))
  end,
  run = function(s, env) env.locals[s.name] = make.value_as(s.value, env, s.type) end,
}
kinds.assign = {
  text = function(s) return ("%s = %s"):format(s.name, make.text(s.value)) end,
  run = kinds["local"].run,
}
kinds.swap = {
  text = function(s)
    return ("%s, %s = %s, %s"):format(s.name, s.second, make.text(s.values[1]),
      make.text(s.values[2]))
  end,
  run = function(s, env)
    local a, b = make.value_as(s.values[1], env, s.type), make.value_as(s.values[2], env, s.type)
    env.locals[s.name], env.locals[s.second] = a, b
  end,
}

-- Returns the old value of `target` with some numbers replaced: positions from 1, or a computed
-- index.
local function with_parts(s, env, old, f)
  local result, row, places = { unpack(old) }, info[s.type], s.places
  if not places then
    local index = tonumber(make.value(s.at, env))
    places = {}
    for c = 1, row.cols do
      places[c] = index >= 0 and index < row.rows and index * row.cols + c or nil
    end
  end
  local given = make.value_as(s.value, env, s.part_type)
  for k, place in ipairs(places) do
    result[place] = f(old[place], type(given) == "table" and given[k] or given)
  end
  return result
end
local part_letters = { "x", "y", "z", "w" }
local function part_text(s, target)
  if not s.places then return ("%s[%s]"):format(target, make.text(s.at)) end
  local name = {}
  for k, place in ipairs(s.places) do name[k] = part_letters[place] end
  return ("%s.%s"):format(target, table.concat(name))
end
local function second(_, b) return b end

kinds.assign_part = { -- v.zx = e, m[r] = e
  text = function(s) return ("%s = %s"):format(part_text(s, s.name), make.text(s.value)) end,
  run = function(s, env) env.locals[s.name] = with_parts(s, env, env.locals[s.name], second) end,
}

-- -- fields, at the loop's own index --------------------------------------------------------------

local function own(s, env) return env.fields[s.name] end
local function held(s, env)
  local v = own(s, env).values[env.index]
  if v == nil then v = value.zero(s.type) end
  return v
end

kinds.store = {
  text = function(s) return ("%s[i] = %s"):format(s.name, make.text(s.value)) end,
  run = function(s, env) own(s, env).values[env.index] = make.value_as(s.value, env, s.type) end,
}
kinds.store_part = {
  text = function(s)
    return ("%s = %s"):format(part_text(s, s.name .. "[i]"), make.text(s.value))
  end,
  run = function(s, env)
    own(s, env).values[env.index] = with_parts(s, env, held(s, env), second)
  end,
}

local function update_text(s, target)
  local text = make.text(s.value)
  if s.op == "min" or s.op == "max" then
    return ("%s = math.%s(%s, %s)"):format(target, s.op, target, text)
  end
  if s.is_compound then return ("%s %s= %s"):format(target, s.op, text) end
  return ("%s = %s %s %s"):format(target, target, s.op, text)
end

kinds.own_update = {
  text = function(s) return update_text(s, s.name .. "[i]") end,
  run = function(s, env)
    own(s, env).values[env.index] = value.apply(s.op, s.type, held(s, env),
      make.value_as(s.value, env, s.type))
  end,
}
kinds.update_part = { -- o[i].x = o[i].x + e
  text = function(s) return update_text(s, part_text(s, s.name .. "[i]")) end,
  run = function(s, env)
    own(s, env).values[env.index] = with_parts(s, env, held(s, env), function(a, b)
      return value.apply(s.op, info[s.type].element, a, b)
    end)
  end,
}
local methods = { ["+"] = "add", ["-"] = "sub", ["*"] = "mul", ["&"] = "band", ["|"] = "bor",
  ["~"] = "bxor", min = "min",
  max = "max", exchange = "exchange" }
kinds.take_old = { -- local v = o:add(i, e)
  text = function(s)
    return ("local %s = %s:%s(i, %s)"):format(s.local_name, s.name, methods[s.op],
      make.text(s.value))
  end,
  run = function(s, env)
    local old, given = held(s, env), make.value_as(s.value, env, s.type)
    own(s, env).values[env.index] = s.op == "exchange" and given or value.apply(s.op, s.type, old,
      given)
    env.locals[s.local_name] = old
  end,
}

-- -- updates that meet ----------------------------------------------------------------------------

kinds.update = { -- updates another row's element: integers and commuting operators only
  text = function(s)
    local at = ("(%s) %% %d"):format(make.text(s.at), statement.rows)
    local target, calls = ("%s[%s]"):format(s.name, at), at:find "[%w_]%("
    -- If the index calls a function, x[f(i)] = x[f(i)] + e is not an update, and iterations would
    -- overwrite each other's values.
    if s.is_method or (calls and (s.op == "min" or s.op == "max")) then
      return ("%s:%s(%s, %s)"):format(s.name, methods[s.op], at, make.text(s.value))
    end
    return calls and ("%s %s= %s"):format(target, s.op, make.text(s.value))
      or update_text(s, target)
  end,
  run = function(s, env)
    local row, values = tonumber(make.value(s.at, env) % 16LL + 16LL) % statement.rows,
      own(s, env).values
    values[row] = value.apply(s.op, s.type, values[row] or value.zero(s.type),
      make.value_as(s.value, env, s.type))
  end,
}
-- Takes numbers from a counter: who gets which is unspecified, the set of them is not.
kinds.claim = {
  text = function(s, indent)
    return ("if %s then\n%s  local %s = %s:add(%d, 1)\n%s  %s[%s %% %d] = %d\n%send"):format(
      make.text(s.value), indent, s.taken, s.counter, s.row, indent, s.name, s.taken,
      statement.rows, s.mark, indent)
  end,
  run = function(s, env)
    if not make.value(s.value, env) then return end
    local values = env.fields[s.counter].values
    local taken = values[s.row] or 0LL
    values[s.row] = value.apply("+", s.type, taken, 1LL)
    own(s, env).values[tonumber(taken % 16LL)] = 0LL + s.mark
  end,
}
kinds.reduce = { -- a local of the host region
  text = function(s) return update_text(s, s.variable) end,
  run = function(s, env)
    env.totals[s.variable] = value.apply(s.op, s.type, env.totals[s.variable],
      make.value_as(s.value, env, s.type))
  end,
}

kinds.say = { -- print(e, ..): integers and booleans; in a parallel loop, in the order of the rows
  text = function(s)
    local texts = {}
    for k, v in ipairs(s.values) do texts[k] = make.text(v) end
    return ("print(%s)"):format(table.concat(texts, ", "))
  end,
  run = function(s, env)
    local texts = {}
    for k, v in ipairs(s.values) do
      local number = value.to_lua(s.types[k], make.value_as(v, env, s.types[k]))
      texts[k] = tostring(number):gsub("U?LL$", "")
    end
    table.insert(env.said, table.concat(texts, "\t"))
  end,
}

-- -- control --------------------------------------------------------------------------------------

kinds["if"] = {
  text = function(s, indent)
    local text = ("if %s then\n%s%s"):format(make.text(s.value), block_text(s.body, indent .. "  "),
      indent)
    if #s.other > 0 then
      text = text .. ("else\n%s%s"):format(block_text(s.other, indent .. "  "), indent)
    end
    return text .. "end"
  end,
  run = function(s, env) return run_block(make.value(s.value, env) and s.body or s.other, env) end,
}
kinds["for"] = {
  text = function(s, indent)
    return ("for %s = %d, %d, %d do\n%s%send"):format(s.name, s.first_number, s.last, s.step,
      block_text(s.body, indent .. "  "), indent)
  end,
  run = function(s, env)
    for k = s.first_number, s.last, s.step do
      env.locals[s.name] = 0LL + k
      local leaves = run_block(s.body, env)
      if leaves == "break" then break end
      if leaves == "return" then return leaves end
    end
  end,
}
kinds["while"] = { -- `while` or `repeat`, with at most `most` iterations
  text = function(s, indent)
    local inner = indent .. "  "
    local count = ("%slocal %s = 0\n"):format("", s.name)
    if s.is_repeat then
      return ("%s%srepeat\n%s%s = %s + 1\n%s%suntil %s >= %d or %s"):format(count, indent, inner,
        s.name, s.name,
        block_text(s.body, inner), indent, s.name, s.most, make.text(s.value))
    end
    return ("%s%swhile %s < %d and %s do\n%s%s = %s + 1\n%s%send"):format(count, indent, s.name,
      s.most,
      make.text(s.value), inner, s.name, s.name, block_text(s.body, inner), indent)
  end,
  run = function(s, env)
    local rounds = 0
    env.locals[s.name] = 0LL
    while s.is_repeat or (rounds < s.most and make.value(s.value, env)) do
      rounds = rounds + 1
      env.locals[s.name] = 0LL + rounds
      local leaves = run_block(s.body, env)
      if leaves == "break" then break end
      if leaves == "return" then return leaves end
      if s.is_repeat and (rounds >= s.most or make.value(s.value, env)) then break end
    end
  end,
}
kinds.leave = { -- if c then break end, continue, return
  text = function(s)
    return ("if %s then %s end"):format(make.text(s.value), s.what == "return"
      and statement.return_text(s) or s.what)
  end,
  run = function(s, env)
    if not make.value(s.value, env) then return end
    if s.what == "return" then statement.give_results(s, env) end
    return s.what
  end,
}

-- -- functions of the kernel's text ---------------------------------------------------------------

function statement.return_text(s)
  local texts = {}
  for k, v in ipairs(s.values) do texts[k] = make.text(v) end
  return "return " .. table.concat(texts, ", ")
end
function statement.give_results(s, env)
  env.results = {}
  for k, v in ipairs(s.values) do env.results[k] = make.value_as(v, env, s.types[k]) end
end

kinds["return"] = {
  text = statement.return_text,
  run = function(s, env)
    statement.give_results(s, env)
    return "return"
  end,
}

local function call(helper, given, env)
  local inner = { locals = {}, fields = env.fields, index = env.index, read = env.read,
    constants = env.constants }
  for k, p in ipairs(helper.parameters) do inner.locals[p.name] = given[k] end
  run_block(helper.body, inner)
  return inner.results
end

local function arguments(n, env)
  local given = {}
  for k, p in ipairs(n.helper.parameters) do given[k] = make.value_as(n.kids[k], env, p.type) end
  return given
end
make.forms.user_call = {
  text = function(n, ...)
    local text = ("%s(%s)"):format(n.helper.name, table.concat({ ... }, ", "))
    -- only the first value
    return (#n.helper.types == 1 or n.is_whole) and text or "(" .. text .. ")"
  end,
  value = function(n, env) return call(n.helper, arguments(n, env), env)[1] end,
}
kinds.locals_of_call = { -- local a, b = h(x)
  text = function(s)
    return ("local %s = %s"):format(table.concat(s.names, ", "), make.text(s.value))
  end,
  run = function(s, env)
    local results = call(s.value.helper, arguments(s.value, env), env)
    for k, name in ipairs(s.names) do env.locals[name] = results[k] end
  end,
}

-- Calls the enclosing function recursively, `d` times in all.
make.forms.one_less = {
  text = function(n) return n.name .. " - 1" end,
  value = function(n, env) return env.locals[n.name] - 1 end,
}
kinds.recurse = {
  text = function(s)
    return ("if %s < 1 then %s end local %s = %s"):format(s.depth, statement.return_text(s),
      table.concat(s.names, ", "), make.text(s.value))
  end,
  run = function(s, env)
    if env.locals[s.depth] < 1 then
      statement.give_results(s, env)
      return "return"
    end
    kinds.locals_of_call.run(s, env)
  end,
}

--- `local function h1(p1: i32, p2): f32`
function statement.helper_text(helper)
  local parameters, results = {}, {}
  for k, p in ipairs(helper.parameters) do
    parameters[k] = p.name .. (p.is_annotated and ": " .. value.type_text(p.type):gsub("rg%.", "")
      or "")
  end
  for k, t in ipairs(helper.types) do results[k] = value.type_text(t):gsub("rg%.", "") end
  return ("local function %s(%s)%s\n%send\n"):format(helper.name, table.concat(parameters, ", "),
    helper.is_annotated and ": " .. table.concat(results, ", ") or "",
      block_text(helper.body, "  "))
end

-- -- making ---------------------------------------------------------------------------------------

-- Names that a block declares end with it.
function statement.inside(scope)
  local names = {}
  for t, list in pairs(scope.names) do names[t] = { unpack(list) } end
  return setmetatable({ names = names, writable = { unpack(scope.writable) }, level = scope.level
    + 1 }, { __index = scope })
end
local inside = statement.inside

function statement.new_name(scope, letter)
  scope.case.count = scope.case.count + 1
  return letter .. scope.case.count
end
local new_name = statement.new_name

function statement.declare(scope, name, t)
  scope.names[t] = scope.names[t] or {}
  table.insert(scope.names[t], name)
end
local declare = statement.declare

-- Makes a new output; `meets`: other iterations write it too, so this loop may not read it.
local function output(scope, t, meets)
  local o = { name = new_name(scope, "o"), type = t }
  table.insert(scope.case.outputs, o)
  table.insert(scope.loop.written, o)
  if not meets then table.insert(scope.loop.own, o) end
  return o.name
end

local function expression(t, scope)
  return make.expression(t, info[t].count and math.min(scope.depth, 2) or scope.depth, scope)
end

-- A literal has no type of its own.
local function is_firm(n)
  if n.form == "choice" then return is_firm(n.kids[2]) and is_firm(n.kids[3]) end
  return n.form ~= "literal"
end
local function firm(t, scope)
  local v = expression(t, scope)
  if is_firm(v) then return v end
  return make.node(info[t].count and "vector_make" or "conversion", t, { v })
end

local function block(scope, count)
  local list, own_scope = {}, inside(scope)
  for k = 1, count do list[k] = statement.make(own_scope) end
  return list
end

-- The compiler may split a chain of + and - in an update, and swap the operands of min and max.
-- With floats the result would show that, so here the chain ends in a conversion.
local function whole(v)
  local element = info[v.type].element or v.type
  if not info[element].float or (v.form ~= "binary" and v.form ~= "call"
    and v.form ~= "vector_product") then
    return v
  end
  return make.node(info[v.type].count and "vector_make" or "conversion", v.type, { v })
end

local makers = {}

function makers.store(scope, t)
  if scope.is_helper or scope.is_sparse then return end
  return { kind = "store", name = output(scope, t), type = t, value = whole(expression(t, scope)) }
end
makers["local"] = function(scope, t)
  local is_annotated = random(2) == 1
  local s = { kind = "local", type = t, is_annotated = is_annotated, value = is_annotated
    and expression(t, scope) or firm(t, scope) }
  s.name = new_name(scope, "v")
  declare(scope, s.name, t)
  table.insert(scope.writable, { name = s.name, type = t })
  return s
end
function makers.assign(scope)
  local target = pick(scope.writable)
  if not target then return end
  return { kind = "assign", name = target.name, type = target.type, value = firm(target.type,
    scope) }
end
function makers.swap(scope)
  local a, b = pick(scope.writable), pick(scope.writable)
  if not a or a.type ~= b.type or a.name == b.name then return end
  return { kind = "swap", name = a.name, second = b.name, type = a.type,
    values = { firm(a.type, scope), make.node("name", a.type, nil, { name = a.name }) } }
end

-- Returns some positions of a vector or matrix, and the type of the numbers there.
local function choose_part(s, scope)
  local row = info[s.type]
  if row.cols == 1 and row.rows <= 4 and random(2) == 1 then
    local left, places = { 1, 2, 3, 4 }, {}
    while #left > row.rows do table.remove(left) end
    for k = 1, random(1, math.min(2, row.rows)) do places[k] = table.remove(left, random(#left)) end
    s.places = places
    s.part_type = #places > 1 and value.shaped(row.element, #places, 1) or row.element
  else
    s.at = random(2) == 1 and make.node("literal", "i32", nil, { text = tostring(row.rows - 1),
      value = 0LL + row.rows - 1 })
      or make.expression(pick { "i32", "u8" }, 1, scope)
    s.part_type = row.cols > 1 and value.shaped(row.element, row.cols, 1) or row.element
  end
  return s
end

function makers.assign_part(scope)
  local target = pick(scope.writable)
  if not target or not info[target.type].count then return end
  local s = choose_part({ kind = "assign_part", name = target.name, type = target.type }, scope)
  s.value = expression(s.part_type, scope)
  return s
end
function makers.store_part(scope)
  if scope.is_helper or scope.is_sparse then return end
  local t = pick(vector.types)
  local s = choose_part({ kind = "store_part", name = output(scope, t), type = t }, scope)
  s.value = whole(expression(s.part_type, scope))
  return s
end

local operators = { "+", "-", "*", "&", "|", "~", "min", "max" }
local function any_type() return random(3) == 1 and pick(vector.types) or pick(value.scalars) end

function makers.own_update(scope)
  if scope.is_helper or scope.is_sparse then return end
  local t = any_type()
  local is_float = info[info[t].element or t].float
  local is_matrix = (info[t].cols or 1) > 1
  local op = pick(is_float and { "+", "-", is_matrix and "+" or "*", "min", "max" } or operators)
  if is_matrix and op == "*" then op = "+" end
  return { kind = "own_update", name = output(scope, t), type = t, op = op,
    value = whole(expression(t, scope)),
    is_compound = random(2) == 1 }
end
function makers.update_part(scope)
  if scope.is_helper or scope.is_sparse then return end
  local t = pick(vector.types)
  local s = choose_part({ kind = "update_part", name = output(scope, t), type = t }, scope)
  s.op = pick(info[info[t].element].float and { "+", "-", "*" } or { "+", "-", "*", "&", "|", "~" })
  s.value, s.is_compound = whole(expression(s.part_type, scope)), random(2) == 1
  return s
end
function makers.take_old(scope)
  if scope.is_helper or scope.is_sparse then return end
  local t = any_type()
  local is_float = info[info[t].element or t].float
  local s = { kind = "take_old", name = output(scope, t), type = t, value = expression(t, scope),
    op = pick(is_float and { "+", "-", "min", "max", "exchange" } or { "+", "-", "&", "|", "~",
      "min", "max", "exchange" }) }
  s.local_name = new_name(scope, "w")
  declare(scope, s.local_name, t)
  return s
end
function makers.update(scope)
  if scope.is_helper then return end
  local t = pick(value.integers)
  if random(4) == 1 then t = value.shaped("i32", 3, 1) end
  local op = pick(operators)
  return { kind = "update", name = output(scope, t, true), type = t, op = op, is_method = op ~= "*"
    and random(4) == 1,
    is_compound = random(2) == 1, at = make.expression("i32", 1, scope), value = expression(
      t, scope) }
end
function makers.claim(scope)
  if scope.is_helper then return end
  local t = pick { "i32", "u32", "i64" }
  return { kind = "claim", type = t, row = random(0, 2), mark = random(9),
    value = make.expression("bool", scope.depth, scope), counter = output(scope, t, true),
    name = output(scope, pick { "i32", "i16" }, true), taken = new_name(scope, "w") }
end
function makers.reduce(scope)
  if not scope.loop or scope.is_helper then return end
  local t = pick { "i32", "i64", "u32", "u64", "i16", "u8", value.shaped("i32", 3, 1),
    value.shaped("i64", 2, 1) }
  local s = { kind = "reduce", variable = new_name(scope, "r"), type = t, op = pick(operators),
    value = expression(t, scope),
    is_compound = random(2) == 1 }
  -- multiplication with matrices does not commute
  if info[t].count and s.op == "*" then s.value = make.node("vector_make", t, { s.value }) end
  table.insert(scope.loop.reduced, s)
  return s
end

--- A print statement, outside functions.
function statement.say(scope)
  local s = { kind = "say", values = {}, types = {} }
  for k = 1, random(3) do
    local t = pick(value.integers)
    s.types[k], s.values[k] = t, make.node("conversion", t, { make.expression(t, 2, scope) })
    if random(4) == 1 then s.types[k], s.values[k] = "bool", make.expression("bool", 2, scope) end
  end
  return s
end
function makers.say(scope) -- loops that print are not vectorised, so only a few loops do
  if scope.loop and not scope.is_helper and random(3) == 1 then return statement.say(scope) end
end

makers["if"] = function(scope)
  if scope.level > 2 then return end
  return { kind = "if", value = make.expression("bool", 2, scope), body = block(scope, random(2)),
    other = block(scope, random(0, 1)) }
end
local function loop_scope(scope)
  local own_scope = inside(scope)
  own_scope.in_loop = true
  return own_scope
end
makers["for"] = function(scope)
  if scope.level > 2 then return end
  local s = { kind = "for", name = new_name(scope, "k"), first_number = random(-3, 3),
    last = random(-3, 5), step = pick { 1, 2, -1 } }
  local own_scope = loop_scope(scope)
  declare(own_scope, s.name, "i32")
  s.body = block(own_scope, random(2))
  return s
end
makers["while"] = function(scope)
  if scope.level > 2 then return end
  local s = { kind = "while", name = new_name(scope, "n"), most = random(4), is_repeat = random(
    2) == 1,
    value = make.expression("bool", 2, scope) }
  local own_scope = loop_scope(scope)
  declare(own_scope, s.name, "i32")
  s.body = block(own_scope, random(2))
  return s
end
function makers.leave(scope)
  if scope.is_helper and random(2) == 1 then return statement.leave_by_return(scope) end
  if scope.is_helper and not scope.in_loop then return end
  return { kind = "leave", what = scope.in_loop and pick { "break", "continue" } or "continue",
    value = make.expression("bool", 2, scope) }
end

local function result_values(scope, types)
  local values = {}
  for k, t in ipairs(types) do values[k] = firm(t, scope) end
  return values
end
function statement.leave_by_return(scope)
  return { kind = "leave", what = "return", types = scope.types, value = make.expression("bool", 2,
    scope),
    values = result_values(scope, scope.types) }
end

-- Returns a call of a helper whose first result has type t.
local function call_of(helper, scope)
  local kids = {}
  for k, p in ipairs(helper.parameters) do
    kids[k] = p.is_depth and make.node("literal", "i32", nil, { text = "3", value = 3LL })
      or p.is_annotated and make.expression(p.type, 1, scope)
      or firm(p.type, setmetatable({ depth = 1 }, { __index = scope }))
  end
  return make.node("user_call", helper.types[1], kids, { helper = helper })
end
--- Registers the call as an expression, too.
function make.user_call(t, scope)
  local helper = scope.case and pick(scope.case.helpers)
  if helper and helper.types[1] == t then return call_of(helper, scope) end
end

function makers.walk() end -- fuzzer_sparse.lua defines these
function makers.rescale() end

function makers.call(scope)
  local helper = pick(scope.case.helpers)
  if not helper then return end
  local s = { kind = "locals_of_call", value = call_of(helper, scope), names = {} }
  s.value.is_whole = true
  for k = 1, random(#helper.types) do s.names[k] = new_name(scope, "w") end
  for k, name in ipairs(s.names) do declare(scope, name, helper.types[k]) end
  return s
end

local function recurse(helper, scope, depth)
  local s = { kind = "recurse", depth = depth.name, types = helper.types, names = {},
    values = result_values(scope, helper.types), value = call_of(helper, scope) }
  s.value.is_whole = true
  s.value.kids[1] = make.node("one_less", "i32", nil, { name = depth.name })
  for k, t in ipairs(helper.types) do
    s.names[k] = new_name(scope, "w")
    declare(scope, s.names[k], t)
  end
  return s
end

--- Makes a function with 0 to 3 parameters and 1 or 2 results. A recursive one has an additional
--- first parameter, the remaining depth.
function statement.helper(case, depth)
  local is_recursive = random(3) == 1
  local helper = { parameters = {}, types = {}, is_annotated = is_recursive or random(2) == 1,
    name = statement.new_name({ case = case }, "h") }
  local scope = { names = {}, writable = {}, case = case, depth = depth, level = 1,
    is_helper = true, types = helper.types }
  for k = 1, random(0, 3) do
    local p = { type = any_type(), is_annotated = is_recursive or random(2) == 1 }
    p.name = new_name(scope, "p")
    helper.parameters[k] = p
    declare(scope, p.name, p.type)
    table.insert(scope.writable, p)
  end
  for k = 1, random(2) do helper.types[k] = any_type() end
  local first
  if is_recursive then
    local count = { name = new_name(scope, "d"), type = "i32", is_annotated = true,
      is_depth = true }
    table.insert(helper.parameters, 1, count)
    declare(scope, count.name, "i32")
    first = recurse(helper, scope, count)
  end
  helper.body = block(scope, random(0, 3))
  if first then table.insert(helper.body, 1, first) end
  for _, s in ipairs(helper.body) do
    if s.kind == "local" then declare(scope, s.name, s.type) end
  end
  table.insert(helper.body, { kind = "return", types = helper.types, values = result_values(
    scope, helper.types) })
  return helper
end

local common = { "store", "store", "store", "local", "local", "local", "assign", "assign", "if",
  "for", "while", "update", "claim", "reduce",
  "own_update", "store_part", "assign_part", "update_part", "take_old", "swap", "leave", "call",
    "call", "walk", "walk", "rescale", "say" }
function statement.make(scope)
  local change = statement.change and random(2) == 1 and statement.change(scope)
  if change then return change end
  local s = makers[pick(common)](scope, any_type())
  return s or makers.store(scope, any_type()) or makers["local"](scope, any_type())
end
statement.makers = makers

return statement
