--- fuzzer_array_statement.lua - random statements and functions that use arrays. Each is a part of
--- a tree: { head = "for ..", body = {..}, middle = "else", other = {..}, foot = "end" }, or { head
--- = "a line" }.
local make = require "fuzzer_array_value"

local random = math.random
local pick, chance, push, inside, declare = make.pick, make.chance, make.push, make.inside,
  make.declare
local new_name, variable, index, int, value = make.new_name, make.variable, make.index, make.int,
  make.value
local stored, condition, fresh, item, call = make.stored, make.condition, make.fresh, make.item,
  make.call
local functions_of, element_of = make.functions_of, make.element_of

make.rows, make.sites = 64, 4 -- of the field that kernels write

function make.line(format, ...)
  return { head = select("#", ...) > 0 and format:format(...) or format }
end
local line = make.line

-- -- statements -----------------------------------------------------------------------------------

make.statements = {}
local statements, block = make.statements, nil

local kinds = { "A", "A", "A", "R", "R", "S", "P", "M", "T" }

function statements.declare(scope)
  local t = pick(kinds)
  local need = scope.is_free and "full" or pick { "any", "full", "own" }
  if need == "own" and t ~= "P" then -- an own array whose elements other variables also refer to
    local text = fresh(scope, t)
    return line("local %s = %s", declare(scope, t, true, t == "A" or t == "M").name, text)
  end
  if need == "own" then need = "any" end
  local text = value(scope, t, need, 2)
  if text == scope.nothing then return end
  return line("local %s = %s", declare(scope, t, need == "full", need == "full").name, text)
end
function statements.assign(scope)
  local v = variable(scope, pick(kinds), "own")
  if not v or v.is_outer then return end
  return line("%s = %s", v.name, value(scope, v.type, v.deep and "full" or "own", 2))
end
function statements.swap(scope)
  local t = pick { "A", "A", "R", "S", "T" }
  local a, b = variable(scope, t, "full"), variable(scope, t, "full")
  if not a or a == b then return end
  return line("%s, %s = %s, %s", a.name, b.name, b.name, a.name)
end
function statements.append(scope)
  local v = variable(scope, pick { "A", "A", "R", "R", "S", "T" }, "own")
  if not v then return end
  if chance(4) then
    local text = item(scope, v)
    local name = new_name(scope, "k")
    push(scope.ints, name)
    return line("local %s = %s:append(%s)", name, v.name, text)
  end
  return line("%s:append(%s)", v.name, item(scope, v))
end
function statements.append_inside(scope)
  local v = variable(scope, pick { "R", "P" }, "full")
  if not v then return end
  local at = v.type == "R" and ("%s[%s]"):format(v.name, index(scope))
    or v.name .. pick { ".items", ".more" }
  return line("%s:append(%s)", at, stored(scope, int(scope, 1)))
end
function statements.pop(scope)
  local v = variable(scope, pick { "A", "R", "S", "T" }, "own")
  if not v then return end
  if chance(4) then return line("%s:pop()", v.name) end
  if v.type == "A" then
    local name = new_name(scope, "k")
    push(scope.ints, name)
    return line("local %s = rg.i32(%s:pop())", name, v.name)
  end
  local got = declare(scope, element_of[v.type], v.deep, v.deep)
  return line("local %s = %s:pop()", got.name, v.name)
end
function statements.clear(scope)
  local v = chance(3) and variable(scope, pick { "A", "R", "S", "T" }, "own")
  return v and line("%s:clear()", v.name)
end
function statements.set(scope)
  local v = variable(scope, pick { "A", "R", "R", "S", "T", "M" }, "own")
  if not v then return end
  if v.type == "M" then
    return line("%s[%d][%d] = %s", v.name, random(0, 3), random(0, 3), item(scope, v))
  end
  if v.type == "A" and chance(3) then
    return line("%s[%s] += %s", v.name, index(scope), stored(scope, int(scope, 1)))
  end
  if v.type == "S" and v.deep and chance(2) then
    local member = pick { "n", "items", "more" }
    return line("%s[%s].%s = %s", v.name, index(scope), member, member == "n" and int(scope, 1)
      or value(scope, "A", "full", 1))
  end
  return line("%s[%s] = %s", v.name, index(scope), item(scope, v))
end
function statements.set_member(scope)
  local v = variable(scope, "P", "full")
  if not v then return end
  local member = pick { "n", "items", "more" }
  return line("%s.%s = %s", v.name, member, member == "n" and int(scope, 1)
    or value(scope, "A", "full", 1))
end
function statements.count(scope)
  local name = new_name(scope, "k")
  local text = int(scope, 2)
  push(scope.ints, name)
  return line("local %s = %s", name, text)
end
function statements.call(scope)
  local list = functions_of(scope, function() return true end)
  if #list == 0 then return end
  local f = pick(list)
  local need = (scope.is_free or f.mutates) and "full" or "any"
  local text, names = call(scope, f, need, 1), {}
  if chance(4) then return line(text) end
  for k, t in ipairs(f.results) do
    if t == "int" then
      names[k] = new_name(scope, "k")
      push(scope.ints, names[k])
    else names[k] = declare(scope, t, need == "full", need == "full").name end
  end
  return line("local %s = %s", table.concat(names, ", "), text)
end
function statements.branch(scope)
  local s = { head = ("if %s then"):format(condition(scope)), foot = "end",
    body = block(inside(scope), random(2)) }
  if chance(2) then s.middle, s.other = "else", block(inside(scope), random(2)) end
  return s
end
function statements.block(scope)
  return { head = "do", body = block(inside(scope), random(3)), foot = "end" }
end
function statements.loop(scope)
  local name = new_name(scope, "k")
  local inner = inside(scope, { in_loop = true, depth = scope.depth + 1 })
  local way = random(4)
  if way == 1 then
    local s = { head = ("local %s = 0 while %s < %d do %s = %s + 1"):format(name, name, random(3),
      name, name), foot = "end" }
    push(inner.ints, name)
    s.body = block(inner, random(3))
    return s
  end
  if way == 2 then
    local s = { head = ("local %s = 0 repeat %s = %s + 1"):format(name, name, name),
      foot = ("until %s >= %d"):format(name, random(3)) }
    push(inner.ints, name)
    inner.no_continue = true -- a continue would skip locals that `until` may read
    s.body = block(inner, random(3))
    return s
  end
  local v = chance(2) and variable(scope, pick { "A", "R" }, "any")
  local last = v and ("math.min(#%s, 3) - 1"):format(v.name) or tostring(random(0, 2))
  local s = { head = ("for %s = 0, %s do"):format(name, last), foot = "end" }
  push(inner.ints, name)
  s.body = block(inner, random(3))
  return s
end
function statements.leave(scope)
  if not scope.in_loop then return end
  local word = scope.no_continue and "break" or pick { "break", "continue" }
  return line("if %s then %s end", condition(scope), word)
end
function statements.fail(scope)
  if not chance(8) then return end
  return line("if %s then error(\"e%d\") end", condition(scope), random(99))
end
function statements.finish(scope)
  local text = scope.returns and scope.returns(scope)
  return text and line("if %s then return %s end", condition(scope), text)
end
-- Writes the visible variables to the field: those of this iteration, or of the host region.
function statements.observe(scope)
  if not scope.row then return end
  local v = variable(scope, pick { "A", "A", "R", "S", "M", "T", "P" }, "any")
  if not v then return end
  local at = ("o[%d][%s]"):format(random(make.sites) - 1, scope.row)
  return line("%s = %s * 31 + of_%s(%s)", at, at, v.type, v.name)
end

local usual = { "declare", "declare", "declare", "assign", "assign", "swap", "append", "append",
  "append", "append_inside", "append_inside", "pop", "pop", "clear", "set", "set", "set_member",
  "count", "call", "call", "branch", "branch", "block", "loop", "loop", "leave", "fail", "finish",
  "observe", "observe", "parallel" }
local has_body = { branch = true, block = true, loop = true, parallel = true }
local flat = {}
for _, name in ipairs(usual) do
  if not has_body[name] then push(flat, name) end
end

function make.statement(scope)
  for _ = 1, 6 do
    local name = pick(scope.depth < 3 and usual or flat)
    local s = statements[name](scope)
    if s then return s end
  end
  return statements.count(scope)
end

function block(scope, count)
  local list = {}
  scope.depth = scope.depth + 1
  for _ = 1, count do push(list, make.statement(scope)) end
  return list
end
make.block = block

-- -- functions ------------------------------------------------------------------------------------

local function result_of(scope, t)
  if t == "int" then return int(scope, 1) end
  return value(scope, t, "any", 1)
end

function make.add_function(case)
  local f = { name = new_name({ case = case }, "f"), parameters = {}, results = {},
    mutates = chance(2), is_recursive = chance(3) }
  local scope = { case = case, vars = {}, ints = {}, depth = 1, is_function = true }
  local names = {}
  for k = 1, random(3) do
    local t = f.is_recursive and k == 1 and "int" or pick { "A", "A", "R", "S", "int", "T", "P" }
    f.parameters[k] = t
    local name
    if t == "int" then
      name = new_name(scope, "n")
      push(scope.ints, name)
    else name = declare(scope, t, f.mutates, f.mutates).name end
    local is_declared = f.is_recursive or chance(2)
    names[k] = is_declared and ("%s: %s"):format(name, make.type_text(case, t)) or name
  end
  for k = 1, f.is_recursive and 1 or random(2) do
    f.results[k] = pick { "A", "A", "A", "R", "S", "int" }
  end
  function scope.returns(inner)
    local texts = {}
    for k, t in ipairs(f.results) do texts[k] = result_of(inner, t) end
    return table.concat(texts, ", ")
  end
  scope.is_free = f.mutates -- all its arguments belong to the caller alone
  f.head = ("local function %s(%s)%s"):format(f.name, table.concat(names, ", "),
    f.is_recursive and ": " .. make.type_text(case, f.results[1]) or "")
  f.body, f.foot = {}, "end"
  local n = names[1]:match "^%w+"
  if f.is_recursive then push(f.body, line("if %s <= 0 then return %s end", n,
    scope.returns(scope))) end
  for _, s in ipairs(block(scope, random(3))) do push(f.body, s) end
  if f.is_recursive then
    local own = inside(scope)
    for _ = 1, random(2) do
      local args = { n .. " - 1" }
      for k = 2, #f.parameters do
        local t = f.parameters[k]
        args[k] = t == "int" and int(own, 1) or value(own, t, f.mutates and "full" or "any", 1)
      end
      local name = new_name(scope, "k")
      local t = f.results[1]
      if t == "int" then push(own.ints, name)
      else name = declare(own, t, f.mutates, f.mutates).name end
      push(f.body, line("local %s = %s(%s)", name, f.name, table.concat(args, ", ")))
    end
    scope = own
  end
  scope = inside(scope)
  for _, s in ipairs(block(scope, random(2))) do push(f.body, s) end
  push(f.body, line("return %s", scope.returns(scope)))
  push(case.functions, f)
end

return make
