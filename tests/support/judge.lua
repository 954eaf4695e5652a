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

-- -- making -----------------------------------------------------------------------------------------------------------

--- A case of `count` outputs, each an expression of some type; locals stand between them.
function judge.expressions(count, depth)
  local scope, statements, outputs = { names = {} }, {}, {}
  for k = 1, count do
    local t = pick(value.scalars)
    if random(4) == 1 then
      local name = "v" .. k
      statements[#statements + 1] = { kind = "local", name = name, type = t, value = make.expression(t, depth, scope) }
      scope.names[t] = scope.names[t] or {}
      table.insert(scope.names[t], name)
    end
    local output = "o" .. k
    outputs[#outputs + 1] = { name = output, type = t }
    statements[#statements + 1] = { kind = "store", name = output, type = t, value = make.expression(t, depth, scope) }
  end
  return { statements = statements, outputs = outputs }
end

-- -- printing and evaluating ------------------------------------------------------------------------------------------

local kinds = {}

kinds["local"] = {
  text = function(s) return ("local %s: %s = %s"):format(s.name, s.type, make.text(s.value)) end,
  run = function(s, env) env.locals[s.name] = make.value(s.value, env) end,
}
kinds.store = {
  text = function(s) return ("%s[i] = %s"):format(s.name, make.text(s.value)) end,
  run = function(s, env) env.outputs[s.name][env.index] = make.value(s.value, env) end,
}

--- The kernel as text.
function judge.text(case)
  local lines = { "function()", ("  for i in rg.range(%d) do"):format(rows) }
  for _, s in ipairs(case.statements) do lines[#lines + 1] = "    " .. kinds[s.kind].text(s) end
  lines[#lines + 1] = "  end"
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
  for i = 0, rows - 1 do
    local env = { index = i, read = read, locals = {}, outputs = outputs }
    for _, s in ipairs(case.statements) do kinds[s.kind].run(s, env) end
  end
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

local function without(case, k)
  local statements = {}
  for j, s in ipairs(case.statements) do
    if j ~= k then statements[#statements + 1] = s end
  end
  return { statements = statements, outputs = case.outputs }
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

--- Deletes statements, then parts of expressions, while `try` still finds a difference.
function judge.shrink(case, try)
  local k = #case.statements
  while k >= 1 do
    local smaller = without(case, k)
    if fails(smaller, try) then case = smaller end
    k = k - 1
  end
  for _, s in ipairs(case.statements) do
    if s.value then shrink_node(case, try, s, "value") end
  end
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
