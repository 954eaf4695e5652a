--- fuzzer_array_value.lua - the variables in scope at a place of fuzzer_array.lua's programs, and
--- random expressions over them: numbers, arrays, structs. A variable is `own` if nothing else may
--- change its array meanwhile (in the host region, or if the iteration made it), and `deep` if that
--- also holds for the arrays inside it.
---
---     A array(E)    R array(array(E))    T array(array(array(E)))    S array(P)    M array(E, 2)
---     P struct { n: i32, items: A, more: A }
local make = { element_of = { R = "A", T = "R", S = "P" } }

local random = math.random
function make.pick(list) return list[random(#list)] end
function make.chance(n) return random(n) == 1 end
function make.push(list, ...) for _, v in ipairs { ... } do list[#list + 1] = v end end
local pick, chance, push, element_of = make.pick, make.chance, make.push, make.element_of

local annotation = { A = "array(%s)", R = "array(array(%s))", T = "array(array(array(%s)))",
  S = "array(P)", M = "array(%s, 2)", P = "P" }
function make.type_text(case, t)
  return t == "int" and "i32" or annotation[t]:format(case.element)
end

--- An element type, as kernels write it.
function make.element_text(case, t)
  return ({ A = "rg." .. case.element, R = "Row", T = "Rows", S = "P" })[t]
end

-- -- scopes ---------------------------------------------------------------------------------------

function make.inside(scope, more)
  local inner = setmetatable(more or {}, { __index = scope })
  inner.vars, inner.ints = { unpack(scope.vars) }, { unpack(scope.ints) }
  return inner
end

function make.new_name(scope, letter)
  scope.case.count = scope.case.count + 1
  return letter .. scope.case.count
end

function make.declare(scope, t, own, deep)
  local v = { name = make.new_name(scope, t:lower()), type = t, own = own, deep = deep }
  push(scope.vars, v)
  return v
end

-- Returns a variable of the type that meets the need: "any"; "own"; "full": own and deep.
function make.variable(scope, t, need)
  local list = {}
  for _, v in ipairs(scope.vars) do
    local fits = need == "any" or (v.own and (v.deep or need == "own"))
    if v.type == t and fits then push(list, v) end
  end
  return #list > 0 and pick(list) or nil
end

-- -- expressions ----------------------------------------------------------------------------------

local variable = make.variable
local int, value

local function index(scope)
  local way = random(6)
  if way <= 2 then return tostring(random(0, 3)) end
  if way == 3 and #scope.ints > 0 then return pick(scope.ints) .. " % 5" end
  return ("(%s) %% %d"):format(int(scope, 1), random(2, 5))
end

function make.stored(scope, text) -- an i32 converted to an element
  local e = scope.case.element
  if e == "i32" then return text end
  if e:sub(1, 1) == "f" then return ("rg.%s((%s) %% 1000)"):format(e, text) end
  return ("rg.%s(%s)"):format(e, text)
end

function make.functions_of(scope, wants)
  local list = {}
  for _, f in ipairs(scope.case.functions) do
    if f ~= scope.recursive_call and wants(f) then push(list, f) end
  end
  return list
end

function make.call(scope, f, need, depth)
  local args = {}
  for k, t in ipairs(f.parameters) do
    if t == "int" then args[k] = f.is_recursive and tostring(random(0, 3)) or int(scope, 1)
    else args[k] = value(scope, t, f.mutates and "full" or need, depth) end
  end
  return ("%s(%s)"):format(f.name, table.concat(args, ", "))
end

local functions_of, call = make.functions_of, make.call
local ints = {}
ints[1] = function() return tostring(random(0, 12)) end
ints[2] = function(scope) return #scope.ints > 0 and pick(scope.ints) or nil end
ints[3] = function(scope)
  local v = variable(scope, pick { "A", "A", "R", "S", "T", "M" }, "any")
  return v and "#" .. v.name
end
ints[4] = function(scope)
  local v = variable(scope, "A", "any")
  return v and ("rg.i32(%s[%s])"):format(v.name, index(scope))
end
ints[5] = function(scope)
  local v = variable(scope, "R", "any")
  if not v then return end
  if chance(2) then return ("#%s[%s]"):format(v.name, index(scope)) end
  return ("rg.i32(%s[%s][%s])"):format(v.name, index(scope), index(scope))
end
ints[6] = function(scope)
  local v = variable(scope, "S", "any")
  return v and ("%s[%s].%s"):format(v.name, index(scope), "n")
end
ints[7] = function(scope)
  local v = variable(scope, "P", "any")
  return v and pick { "%s.n", "#%s.items", "#%s.more" }:format(v.name)
end
ints[8] = function(scope)
  local v = variable(scope, "M", "any")
  return v and pick { "rg.i32(%s[%s][%s])", "rg.i32(%s[%s, %s])", "%s:extent(1)" }:format(v.name,
    random(0, 4), random(0, 4))
end
ints[9] = function(scope, depth)
  if depth <= 0 then return end
  return ("(%s %s %s)"):format(int(scope, depth - 1), pick { "+", "-", "*", "&" },
    int(scope, depth - 1))
end
ints[10] = function(scope, depth)
  local list = functions_of(scope, function(f) return #f.results == 1 and f.results[1] == "int"
    and not f.mutates end)
  if depth <= 0 or scope.is_function or #list == 0 then return end
  return call(scope, pick(list), "any", depth - 1)
end
ints[11] = function(scope)
  local v = variable(scope, "T", "any")
  return v and ("#%s[%s][%s]"):format(v.name, index(scope), index(scope))
end

function int(scope, depth)
  for _ = 1, 4 do
    local text = ints[random(#ints)](scope, depth)
    if text then return text end
  end
  return tostring(random(0, 9))
end

function make.condition(scope)
  local way = random(5)
  if way == 1 then
    local t = pick { "A", "R" }
    local a, b = variable(scope, t, "any"), variable(scope, t, "any")
    if a then return ("%s %s %s"):format(a.name, pick { "==", "~=" }, b.name) end
  end
  if way <= 3 then return ("(%s) %% %d == 0"):format(int(scope, 1), random(2, 4)) end
  return ("%s %s %s"):format(int(scope, 1), pick { "<", ">", "<=", "~=" }, int(scope, 1))
end

function make.fresh(scope, t)
  local case = scope.case
  if t == "M" then return ("rg.zeros(rg.%s, %d, %d)"):format(case.element, random(4), random(4)) end
  local e = make.element_text(case, t)
  if chance(2) then return ("rg.list(%s)"):format(e) end
  return ("rg.zeros(%s, %s)"):format(e, chance(4) and index(scope) or tostring(random(0, 5)))
end

local condition, fresh = make.condition, make.fresh
local values = {}
function values.fresh(scope, t) return t ~= "P" and fresh(scope, t) end
function values.variable(scope, t, need)
  local v = variable(scope, t, need)
  return v and v.name
end
function values.item(scope, t, need)
  local of = ({ A = "R", R = "T", P = "S" })[t]
  local v = of and variable(scope, of, need)
  return v and ("%s[%s]"):format(v.name, index(scope))
end
function values.member(scope, t, need)
  if t ~= "A" then return end
  local v = variable(scope, pick { "P", "S" }, need)
  if not v then return end
  return v.type == "P" and v.name .. pick { ".items", ".more" }
    or ("%s[%s].%s"):format(v.name, index(scope), pick { "items", "more" })
end
function values.call(scope, t, need, depth)
  if depth <= 0 then return end
  local list = functions_of(scope, function(f) return #f.results == 1 and f.results[1] == t end)
  return #list > 0 and call(scope, pick(list), need, depth - 1)
end
function values.choice(scope, t, need, depth)
  if t == "P" or depth <= 0 then return end
  local form = chance(2) and "(%s and %s or %s)" or "(%s ? %s : %s)"
  return form:format(condition(scope), value(scope, t, need, depth - 1),
    value(scope, t, need, depth - 1))
end
function values.slice(scope, t, need)
  if t ~= "A" and t ~= "R" and t ~= "S" or not chance(3) then return end
  local v = variable(scope, t, need)
  return v and ("(%s:slice(%d, %d))"):format(v.name, random(-1, 2), random(0, 4))
end
function values.copy(scope, t)
  local v = t == "A" and variable(scope, t, "any")
  return v and ("copy(%s)"):format(v.name)
end
local ways = { "fresh", "fresh", "variable", "variable", "variable", "item", "item", "member",
  "call", "call", "choice", "slice", "copy" }

local function struct(scope, need, depth)
  local parts = { ("n = %s"):format(int(scope, 1)) }
  for _, name in ipairs { "items", "more" } do
    if chance(2) then push(parts, ("%s = %s"):format(name, value(scope, "A", need, depth))) end
  end
  return ("P{%s}"):format(table.concat(parts, ", "))
end

--- Returns an array, or a struct with arrays, that meets the need.
function value(scope, t, need, depth)
  for _ = 1, 5 do
    local text = values[pick(ways)](scope, t, need, depth)
    if text then return text end
  end
  return t == "P" and struct(scope, need, depth - 1) or fresh(scope, t)
end

--- Returns a value that may be stored in elements of a variable.
function make.item(scope, v)
  if v.type == "A" or v.type == "M" then return make.stored(scope, int(scope, 2)) end
  return value(scope, element_of[v.type], v.deep and "full" or "any", 1)
end

make.index, make.int, make.value = index, int, value

return make
