--- judge.lua - random kernels, run and evaluated; what differs is cut down and shown.
--- A case is a list of statements over input fields a<type>, b<type> and output fields o<k>; `judge.run` builds it for a
--- runtime, `judge.expect` evaluates it here. Both give a list of values per output.
local value = require "judge_value"
local make = require "judge_make"
local ffi = require "ffi"

local judge = { rows = 16 }
local rows = judge.rows
local random, pick = math.random, make.pick

-- -- inputs -------------------------------------------------------------------------------------------------------

local special_floats = { 0, -0.0, 1, -1, 0.5, -1.5, 2.5, 1e30, -1e30, 3.75e9, -3.75e9, 1 / 0, -1 / 0, 0 / 0, 127.5, 65504,
  1e-40, 9.3e18, 1.9e19, 6e-8, 255.5, -128.9, 2 ^ 31, 2 ^ 63, 1e300 }

local function random_number(t)
  local row = value.info[t]
  if row.float then
    if random(2) == 1 then return value.round(t, pick(special_floats)) end
    return value.round(t, (random() - 0.5) * 2 ^ random(-8, 40))
  end
  local way = random(4)
  if way == 1 then return value.wrap(t, 0LL + random(-9, 9)) end
  if way == 2 then return value.wrap(t, bit.lshift(1LL, row.bits - 1) - random(0, 2)) end
  if way == 3 then return value.wrap(t, bit.lshift(1LL, random(0, row.bits - 1)) + random(-1, 1)) end
  return value.wrap(t, ffi.cast("int64_t", random(0, 2 ^ 31)) * 0x9E3779B97F4A7C15LL)
end

--- Numbers for every input field: name -> 0..rows-1 -> value.
function judge.inputs()
  local inputs = {}
  for _, t in ipairs(value.scalars) do
    for _, letter in ipairs { "a", "b" } do
      local list = {}
      for i = 0, rows - 1 do list[i] = random_number(t) end
      inputs[letter .. t] = list
    end
  end
  return inputs
end

local zeros = {}
for _, t in ipairs(value.scalars) do zeros[t] = value.info[t].float and 0 or 0LL end
judge.zeros = zeros

-- -- statements ---------------------------------------------------------------------------------------------------

local kinds = {} -- kind -> text(s, indent) and run(s, env); of some also before(s) and after(s) the loop

local function block_text(list, indent)
  local lines = {}
  for k, s in ipairs(list) do lines[k] = indent .. kinds[s.kind].text(s, indent) .. "\n" end
  return table.concat(lines)
end
local function run_block(list, env)
  for _, s in ipairs(list) do kinds[s.kind].run(s, env) end
end

kinds["local"] = {
  text = function(s) return ("local %s: %s = %s"):format(s.name, s.type, make.text(s.value)) end,
  run = function(s, env) env.locals[s.name] = make.value_as(s.value, env, s.type) end,
}
kinds.assign = {
  text = function(s) return ("%s = %s"):format(s.name, make.text(s.value)) end,
  run = kinds["local"].run,
}
kinds.store = {
  text = function(s) return ("%s[i] = %s"):format(s.name, make.text(s.value)) end,
  run = function(s, env) env.outputs[s.name][env.index] = make.value_as(s.value, env, s.type) end,
}
kinds["if"] = {
  text = function(s, indent)
    local text = ("if %s then\n%s%s"):format(make.text(s.value), block_text(s.body, indent .. "  "), indent)
    if #s.other > 0 then text = text .. ("else\n%s%s"):format(block_text(s.other, indent .. "  "), indent) end
    return text .. "end"
  end,
  run = function(s, env) run_block(make.value(s.value, env) and s.body or s.other, env) end,
}
kinds["for"] = {
  text = function(s, indent)
    return ("for %s = %d, %d, %d do\n%s%send"):format(s.name, s.first, s.last, s.step, block_text(s.body, indent .. "  "),
      indent)
  end,
  run = function(s, env)
    for k = s.first, s.last, s.step do
      env.locals[s.name] = 0LL + k
      run_block(s.body, env)
    end
  end,
}
-- Of the element of another row: iterations meet, so only integers and operators that commute.
kinds.update = {
  text = function(s)
    local target = ("%s[(%s) %% 16]"):format(s.name, make.text(s.at))
    if s.op == "min" or s.op == "max" then return ("%s = math.%s(%s, %s)"):format(target, s.op, target, make.text(s.value)) end
    return ("%s = %s %s %s"):format(target, target, s.op, make.text(s.value))
  end,
  run = function(s, env)
    local row, list = tonumber(make.value(s.at, env) % 16LL + 16LL) % 16, env.outputs[s.name]
    list[row] = value.apply(s.op, s.type, list[row] or 0LL, make.value_as(s.value, env, s.type))
  end,
}
-- A local of the kernel, stored when the loop is over.
kinds.reduce = {
  before = function(s) return ("local %s: %s = %s"):format(s.variable, s.type, make.text(s.first)) end,
  begin = function(s, env) env.totals[s.variable] = make.value(s.first, env) end,
  text = function(s)
    if s.op == "min" or s.op == "max" then
      return ("%s = math.%s(%s, %s)"):format(s.variable, s.op, s.variable, make.text(s.value))
    end
    return ("%s = %s %s %s"):format(s.variable, s.variable, s.op, make.text(s.value))
  end,
  run = function(s, env)
    env.totals[s.variable] = value.apply(s.op, s.type, env.totals[s.variable], make.value_as(s.value, env, s.type))
  end,
  after = function(s) return ("%s[0] = %s"):format(s.name, s.variable) end,
  finish = function(s, env) env.outputs[s.name][0] = env.totals[s.variable] end,
}

-- -- making -----------------------------------------------------------------------------------------------------------

local function inside(scope) -- names that are declared in a block end with it
  local names = {}
  for t, list in pairs(scope.names) do names[t] = { unpack(list) } end
  return { names = names, writable = scope.writable, case = scope.case, depth = scope.depth, level = scope.level + 1 }
end

local function new_name(scope, letter)
  scope.case.count = scope.case.count + 1
  return letter .. scope.case.count
end

local function output(scope, t)
  local name = new_name(scope, "o")
  table.insert(scope.case.outputs, { name = name, type = t })
  return name
end

local statement

local function block(scope, count)
  local list, own = {}, inside(scope)
  for k = 1, count do list[k] = statement(own) end
  return list
end

local function declare(scope, name, t)
  scope.names[t] = scope.names[t] or {}
  table.insert(scope.names[t], name)
end

local statements = {}
function statements.store(scope, t)
  return { kind = "store", name = output(scope, t), type = t, value = make.expression(t, scope.depth, scope) }
end
statements["local"] = function(scope, t)
  local s = { kind = "local", name = new_name(scope, "v"), type = t, value = make.expression(t, scope.depth, scope) }
  declare(scope, s.name, t)
  if scope.level == 0 then scope.writable[#scope.writable + 1] = s end
  return s
end
function statements.assign(scope)
  local target = pick(scope.writable)
  if not target then return end
  return { kind = "assign", name = target.name, type = target.type,
    value = make.expression(target.type, scope.depth, scope) }
end
statements["if"] = function(scope)
  if scope.level > 1 then return end
  return { kind = "if", value = make.expression("bool", 2, scope), body = block(scope, random(2)),
    other = block(scope, random(0, 1)) }
end
statements["for"] = function(scope)
  if scope.level > 1 then return end
  local s = { kind = "for", name = new_name(scope, "k"), first = random(-3, 3), last = random(-3, 5), step = pick { 1, 2, -1 } }
  local own = inside(scope)
  declare(own, s.name, "i32")
  s.body = block(own, random(2))
  return s
end
function statements.update(scope)
  local t = pick(value.integers)
  return { kind = "update", name = output(scope, t), type = t, op = pick { "+", "-", "*", "&", "|", "~", "min", "max" },
    at = make.expression("i32", 1, scope), value = make.expression(t, scope.depth, scope) }
end
function statements.reduce(scope)
  local t = pick { "i32", "i64", "u32", "u64", "i16", "u8" }
  return { kind = "reduce", name = output(scope, t), variable = new_name(scope, "r"), type = t,
    op = pick { "+", "-", "*", "&", "|", "~", "min", "max" }, first = make.literal(t),
    value = make.expression(t, scope.depth, scope) }
end

local common = { "store", "store", "store", "local", "local", "assign", "if", "for", "update", "reduce" }
function statement(scope)
  return statements[pick(common)](scope, pick(value.scalars)) or statements.store(scope, pick(value.scalars))
end

--- A case of `count` statements; expressions are at most `depth` operators tall.
function judge.program(count, depth)
  local case = { statements = {}, outputs = {}, count = 0 }
  local scope = { names = {}, writable = {}, case = case, depth = depth, level = 0 }
  for k = 1, count do case.statements[k] = statement(scope) end
  return case
end

--- A case of `count` outputs, each an expression of some type; locals stand between them.
function judge.expressions(count, depth)
  local case = { statements = {}, outputs = {}, count = 0 }
  local scope = { names = {}, writable = {}, case = case, depth = depth, level = 0 }
  for _ = 1, count do
    local t = pick(value.scalars)
    if random(4) == 1 then table.insert(case.statements, statements["local"](scope, t)) end
    table.insert(case.statements, statements.store(scope, t))
  end
  return case
end

-- -- printing and evaluating ------------------------------------------------------------------------------------------

local function each(list, what, visit) -- statements that do something before or after the loop
  for _, s in ipairs(list) do
    if kinds[s.kind][what] then visit(kinds[s.kind][what], s) end
    each(s.body or {}, what, visit)
    each(s.other or {}, what, visit)
  end
end

--- The kernel as text.
function judge.text(case)
  local lines = { "function()" }
  local function add(text_of, s) lines[#lines + 1] = "  " .. text_of(s) end
  each(case.statements, "before", add)
  lines[#lines + 1] = ("  for i in rg.range(%d) do"):format(rows)
  lines[#lines + 1] = block_text(case.statements, "    ") .. "  end"
  each(case.statements, "after", add)
  lines[#lines + 1] = "end"
  return table.concat(lines, "\n")
end

--- name of output -> 0..rows-1 -> what Lua reads there.
function judge.expect(case, inputs)
  local outputs, types = {}, {}
  for _, o in ipairs(case.outputs) do outputs[o.name], types[o.name] = {}, o.type end
  local function read(name, index)
    local list = inputs[name]
    return list[index] or zeros[name:sub(2)]
  end
  local totals = {}
  local outside = { index = 0, read = read, locals = {}, outputs = outputs, totals = totals }
  each(case.statements, "begin", function(begin, s) begin(s, outside) end)
  for i = 0, rows - 1 do
    run_block(case.statements, { index = i, read = read, locals = {}, outputs = outputs, totals = totals })
  end
  each(case.statements, "finish", function(finish, s) finish(s, outside) end)
  for name, list in pairs(outputs) do
    for i = 0, rows - 1 do list[i] = value.to_lua(types[name], list[i] == nil and zeros[types[name]] or list[i]) end
  end
  return outputs
end

-- -- running ------------------------------------------------------------------------------------------------------------

--- The input fields in a runtime, filled.
function judge.fields(rg, inputs)
  local fields = {}
  for name, list in pairs(inputs) do
    local t = name:sub(2)
    fields[name] = rg.field(t, rows)
    for i = 0, rows - 1 do fields[name][i] = value.to_lua(t, list[i]) end
  end
  return fields
end

local pools = setmetatable({}, { __mode = "k" })
-- Output fields are used again by later cases.
local function output_field(rg, o, used)
  pools[rg] = pools[rg] or {}
  local pool = pools[rg]
  used[o.type] = (used[o.type] or 0) + 1
  local key = o.type .. used[o.type]
  pool[key] = pool[key] or rg.field(o.type, rows)
  pool[key]:fill(0)
  return pool[key]
end

--- The same as judge.expect, by a kernel of the runtime.
function judge.run(rg, case, fields)
  local captures, used = setmetatable({}, { __index = fields }), {}
  for _, o in ipairs(case.outputs) do captures[o.name] = output_field(rg, o, used) end
  rg.kernel(judge.text(case), captures)()
  local outputs = {}
  for _, o in ipairs(case.outputs) do
    local list = {}
    for i = 0, rows - 1 do list[i] = captures[o.name][i] end
    outputs[o.name] = list
  end
  return outputs
end

--- The first output and row in which two results differ, or nothing.
function judge.difference(case, a, b)
  for _, o in ipairs(case.outputs) do
    for i = 0, rows - 1 do
      if not value.same(o.type, a[o.name][i], b[o.name][i]) then
        return { output = o, row = i, a = a[o.name][i], b = b[o.name][i] }
      end
    end
  end
end

-- -- cutting down -----------------------------------------------------------------------------------------------------------

-- Does the case still fail in the same output? A case that no longer compiles does not.
local function fails(case, try)
  local ok, difference = pcall(try, case)
  return ok and difference or nil
end

-- Puts a kid, or a leaf, in the place of a node as long as it still fails.
local function shrink_node(case, try, holder, key)
  local node = holder[key]
  for _, kid in ipairs(node.kids) do
    if kid.type == node.type then
      holder[key] = kid
      if fails(case, try) then return shrink_node(case, try, holder, key) end
    end
  end
  if #node.kids > 0 and node.type ~= "bool" then
    holder[key] = make.node("element", node.type, nil, { name = "a" .. node.type, offset = 0 })
    if fails(case, try) then return end
  end
  holder[key] = node
  for k = 1, #node.kids do shrink_node(case, try, node.kids, k) end
end

-- Takes statements away, innermost last, as long as it still fails; then parts of their expressions.
local function shrink_block(case, try, list)
  for k = #list, 1, -1 do
    local s = table.remove(list, k)
    if not fails(case, try) then
      table.insert(list, k, s)
      if s.body then shrink_block(case, try, s.body) end
      if s.other then shrink_block(case, try, s.other) end
    end
  end
end
local function shrink_values(case, try, list)
  for _, s in ipairs(list) do
    if s.value then shrink_node(case, try, s, "value") end
    if s.at then shrink_node(case, try, s, "at") end
    shrink_values(case, try, s.body or {})
    shrink_values(case, try, s.other or {})
  end
end

--- Deletes statements, then parts of expressions, while `try` still finds a difference.
function judge.shrink(case, try)
  shrink_block(case, try, case.statements)
  shrink_values(case, try, case.statements)
  return case, fails(case, try)
end

--- What a failure shows.
function judge.report(case, difference, inputs, seed)
  local lines = { ("seed %s: output %s (%s), row %d: %s expected, %s found"):format(tostring(seed), difference.output.name,
    difference.output.type, difference.row, tostring(difference.a), tostring(difference.b)), judge.text(case) }
  local text = judge.text(case)
  for name, list in pairs(inputs) do
    if text:find(name .. "[", 1, true) then
      local parts = {}
      for i = 0, rows - 1 do parts[i + 1] = tostring(list[i]) end
      lines[#lines + 1] = ("%s = %s   (row: %s)"):format(name, table.concat(parts, " "), tostring(list[difference.row]))
    end
  end
  return table.concat(lines, "\n")
end

return judge
