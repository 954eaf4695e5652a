--- fuzzer.lua - the differential fuzzer: makes random kernels, runs and evaluates them, and reduces
--- and prints those whose results differ. A case is a list of statements of the host region over
--- input fields a<type>, b<type> and output fields o<k>, with functions, parameters, captures and
--- results. `fuzzer.run` runs it in a runtime, `fuzzer.expect` evaluates it here; both return a
--- list of values per output, and the results under "results".
local value = require "fuzzer_value"
local make = require "fuzzer_make"
local vector = require "fuzzer_vector"
local statement = require "fuzzer_statement"
local sparse = require "fuzzer_sparse"
local tree = require "fuzzer_tree"
local ffi = require "ffi"

local fuzzer = { rows = statement.rows }
local rows, kinds, info = fuzzer.rows, statement.kinds, value.info
local random, pick = math.random, make.pick

-- -- inputs ---------------------------------------------------------------------------------------

local special_floats = { 0, -0.0, 1, -1, 0.5, -1.5, 2.5, 1e30, -1e30, 3.75e9, -3.75e9, 1 / 0,
  -1 / 0, 0 / 0, 127.5, 65504,
  1e-40, 9.3e18, 1.9e19, 6e-8, 255.5, -128.9, 2 ^ 31, 2 ^ 63, 1e300 }

local function random_number(t)
  local row = info[t]
  if row.count then
    return value.each(row.count, function() return random_number(row.element) end)
  end
  if row.float then
    if random(2) == 1 then return value.round(t, pick(special_floats)) end
    return value.round(t, (random() - 0.5) * 2 ^ random(-8, 40))
  end
  local way = random(4)
  if way == 1 then return value.wrap(t, 0LL + random(-9, 9)) end
  if way == 2 then return value.wrap(t, bit.lshift(1LL, row.bits - 1) - random(0, 2)) end
  if way == 3 then
    return value.wrap(t, bit.lshift(1LL, random(0, row.bits - 1)) + random(-1, 1))
  end
  return value.wrap(t, ffi.cast("int64_t", random(0, 2 ^ 31)) * 0x9E3779B97F4A7C15LL)
end

local input_types = {}
for _, t in ipairs(value.scalars) do table.insert(input_types, t) end
for _, t in ipairs(vector.types) do table.insert(input_types, t) end

--- Random numbers for every input field: name -> { type, values 0..rows-1 }.
function fuzzer.inputs()
  local inputs = {}
  for _, t in ipairs(input_types) do
    for _, letter in ipairs { "a", "b" } do
      local list = {}
      for i = 0, rows - 1 do list[i] = random_number(t) end
      inputs[value.field_name(letter, t)] = { type = t, values = list }
    end
  end
  return inputs
end

-- -- statements of the host region ----------------------------------------------------------------

local heads = { -- a loop over rows: its head as text, its first statement, and its rows
  { "for i in rg.range(16) do" },
  { "for i in rg.range(16) do" },
  { "for i in rg.range(16) do" },
  { "for i in rg.range({3, 14}) do", first = 3, last = 13 },
  { "for i in rg.range(16):serial() do", is_serial = true },
  { "for i in rg.range(16):block(4) do" },
  { "for p, q in rg.range(4, 4) do", "local i = p * 4 + q" },
  { "for I in rg.range(2, 8):vec() do", "local i = I.x * 8 + I[1]" },
  { "for i = 0, 15 do", is_serial = true },
}

kinds.loop = {
  text = function(s, indent)
    local text, inner = "", indent .. "  "
    for _, r in ipairs(s.reduced) do
      text = text .. ("local %s: %s = %s\n%s"):format(r.variable, value.type_text(r.type):gsub(
        "rg%.", ""), make.text(r.first), indent)
    end
    local head = heads[s.head]
    text = text .. head[1] .. "\n" .. (head[2] and inner .. head[2] .. "\n" or "")
    return text .. statement.text(s.body, inner) .. indent .. "end"
  end,
  run = function(s, env)
    for _, r in ipairs(s.reduced) do
      env.locals[r.variable] = make.value_as(r.first, env, r.type)
    end
    for i = heads[s.head].first or 0, heads[s.head].last or rows - 1 do
      local own = setmetatable({ index = i, locals = setmetatable({}, { __index = env.locals }),
        totals = env.locals }, { __index = env })
      statement.run(s.body, own)
    end
  end,
}
kinds.store_first = { -- o[0] = e, outside loops
  text = function(s) return ("%s[0] = %s"):format(s.name, make.text(s.value)) end,
  run = function(s, env) env.fields[s.name].values[0] = make.value_as(s.value, env, s.type) end,
}

-- Returns what f prints, and its results.
local function hear(f, ...)
  local said, print = {}, _G.print
  _G.print = function(...)
    local parts = { ... }
    for k = 1, select("#", ...) do parts[k] = tostring(parts[k]) end
    said[#said + 1] = table.concat(parts, "\t")
  end
  local results = { pcall(f, ...) }
  _G.print = print
  if not results[1] then error(results[2], 0) end
  return said, unpack(results, 2)
end

-- -- making ---------------------------------------------------------------------------------------

local function make_loop(scope, count)
  local s = { kind = "loop", body = {}, reduced = {}, head = random(#heads) }
  local own = statement.inside(scope)
  own.loop = { written = {}, own = {}, reduced = s.reduced }
  own.writable, own.level, own.readable = {}, 0, { unpack(scope.readable) }
  own.no_walk = heads[s.head].is_serial -- a loop inside a serial one would be parallel
  for k = 1, count do s.body[k] = statement.make(own) end
  for _, r in ipairs(s.reduced) do
    r.first = info[r.type].count and make.node("vector_make", r.type,
      { make.literal(info[r.type].element) }) or make.literal(r.type)
    statement.declare(scope, r.variable, r.type)
  end
  for _, o in ipairs(own.loop.written) do table.insert(scope.readable, o) end
  return s
end

local function firm_local(scope, t)
  local s = { kind = "local", name = statement.new_name(scope, "g"), type = t, is_annotated = true,
    value = make.expression(t, 2, scope) }
  statement.declare(scope, s.name, t)
  return s
end

local host = {}
function host.loop(scope) return make_loop(scope, random(2, 6)) end
host["local"] = function(scope) return firm_local(scope, pick(input_types)) end
function host.store(scope)
  local o = { name = statement.new_name(scope, "o"), type = pick(input_types) }
  table.insert(scope.case.outputs, o)
  return { kind = "store_first", name = o.name, type = o.type, value = make.expression(o.type, 2,
    scope) }
end
function host.say(scope) return statement.say(scope) end
function host.sparse_loop(scope) return scope.case.trees and sparse.loop(scope, random(2, 6)) end
function host.sparse_host(scope) return scope.case.trees and sparse.host(scope) end

local function make_one(scope, choices) return host[pick(choices)](scope) or host.loop(scope) end

local common = { "loop", "loop", "local", "store", "say", "sparse_loop", "sparse_loop",
  "sparse_loop", "sparse_host" }
local outermost = { "if", "for", unpack(common) }

local function make_list(scope, count)
  local inner, list = statement.inside(scope), {}
  inner.readable = { unpack(scope.readable) }
  for k = 1, count do list[k] = make_one(inner, common) end
  return list
end
host["if"] = function(scope)
  return { kind = "if", value = make.expression("bool", 2, scope), body = make_list(
    scope, random(2)),
    other = make_list(scope, random(0, 1)) }
end
host["for"] = function(scope)
  local s = { kind = "for", name = statement.new_name(scope, "k"), first_number = 0,
    last = random(0, 2), step = 1 }
  local inner = statement.inside(scope)
  inner.readable = { unpack(scope.readable) }
  statement.declare(inner, s.name, "i32")
  s.body = make_list(inner, random(2))
  return s
end

local function new_case()
  return { statements = {}, outputs = {}, helpers = {}, parameters = {}, captures = {}, values = {},
    types = {}, count = 0 }
end
local function new_scope(case, depth)
  return { names = {}, writable = {}, readable = {}, case = case, depth = depth, level = 0 }
end

-- A case with random numbers is not evaluated, so an overflowing list would go unnoticed.
local function has_lists(case)
  for _, declared in ipairs(case.trees or {}) do
    for _, n in ipairs(declared.nodes) do
      if n.kind == "dynamic" then return true end
    end
  end
  return false
end

--- Makes a case of `count` statements around loops, over some sparse trees or none; expressions
--- have at most `depth` levels of operators. It is launched once or twice. `is_of_lists`: with many
--- lists.
function fuzzer.program(count, depth, trees, is_of_lists)
  local case = new_case()
  case.is_of_lists = is_of_lists
  local scope = new_scope(case, depth)
  case.launches = random(2)
  for k = 1, trees or 0 do
    case.trees = case.trees or {}
    case.trees[k] = sparse.declaration(case)
  end
  case.draws = random(5) == 1 and not has_lists(case)
  for _ = 1, random(0, 2) do table.insert(case.helpers, statement.helper(case, depth)) end
  for _ = 1, random(0, 3) do -- numbers and vectors as parameters and captures
    local t = pick(input_types)
    local p = { name = statement.new_name(scope, "q"), type = t, value = random_number(t) }
    local is_capture = info[t].count or t == "i64" or t == "u64"
    table.insert(is_capture and random(2) == 1 and case.captures or case.parameters, p)
    statement.declare(scope, p.name, t)
  end
  if case.trees then case.statements[1] = sparse.loop(scope, 3, true) end
  for _ = 1, count do table.insert(case.statements, make_one(scope, outermost)) end
  for k = 1, random(0, 2) do
    local t = pick(input_types)
    case.types[k], case.values[k] = t, make.node("conversion", t, { make.expression(t, 1, scope) })
    if info[t].count then case.values[k].form = "vector_make" end
  end
  return case
end

--- Makes a case of one loop with `count` outputs, each an expression of some type.
function fuzzer.expressions(count, depth)
  local case = new_case()
  case.draws = random(5) == 1
  local scope = new_scope(case, depth)
  local s = { kind = "loop", body = {}, reduced = {}, head = 1 }
  local own = statement.inside(scope)
  own.loop, own.level = { written = {}, own = {}, reduced = s.reduced }, 0
  for _ = 1, count do
    local t = pick(input_types)
    if random(4) == 1 then table.insert(s.body, statement.makers["local"](own, t)) end
    table.insert(s.body, statement.makers.store(own, t))
  end
  case.statements[1] = s
  return case
end

-- -- printing and evaluating ----------------------------------------------------------------------

--- Prints the kernel as text.
function fuzzer.text(case)
  local parts, names = {}, {}
  for _, helper in ipairs(case.helpers) do parts[#parts + 1] = statement.helper_text(helper) end
  for k, p in ipairs(case.parameters) do
    names[k] = ("%s: %s"):format(p.name, value.type_text(p.type):gsub("rg%.", ""))
  end
  parts[#parts + 1] = ("function(%s)\n"):format(table.concat(names, ", "))
  parts[#parts + 1] = statement.text(case.statements, "  ")
  if #case.values > 0 then parts[#parts + 1] = "  " .. statement.return_text(case) .. "\n" end
  parts[#parts + 1] = "end"
  return table.concat(parts)
end

--- name of output -> 0..rows-1 -> the value that Lua reads
function fuzzer.expect(case, inputs)
  local fields = setmetatable({}, { __index = inputs })
  for _, o in ipairs(case.outputs) do fields[o.name] = { type = o.type, values = {} } end
  local function read(name, index)
    local field = fields[name]
    local v = field.values[index]
    if v == nil then v = value.zero(field.type) end
    return v
  end
  local env = { read = read, fields = fields, trees = {}, said = {} }
  for k, declared in ipairs(case.trees or {}) do
    env.trees[k] = tree.model(declared.nodes, declared.fields)
  end
  for _ = 1, case.launches or 1 do
    env.locals = {}
    env.totals = env.locals
    for _, list in ipairs { case.parameters, case.captures } do
      for _, p in ipairs(list) do env.locals[p.name] = p.value end
    end
    statement.run(case.statements, env)
  end
  local outputs = { results = {}, cells = {}, said = table.concat(env.said, "\n") }
  for k, declared in ipairs(case.trees or {}) do
    outputs.is_full = outputs.is_full or env.trees[k].full
    for _, field in ipairs(declared.fields) do
      outputs.cells[field.name] = env.trees[k]:listing(field.name)
    end
  end
  for _, o in ipairs(case.outputs) do
    outputs[o.name] = {}
    for i = 0, rows - 1 do outputs[o.name][i] = value.to_lua(o.type, read(o.name, i)) end
  end
  for k, t in ipairs(case.types) do
    outputs.results[k - 1] = value.to_lua(t, make.value_as(case.values[k], env, t))
  end
  return outputs
end

-- -- running --------------------------------------------------------------------------------------

-- Returns the type with this name from rg.
local function type_of(rg, t)
  local row = info[t] or info[value.named(t)]
  if not row.count then return rg[t] end
  return row.cols > 1 and rg.mat(row.rows, row.cols, row.element) or rg.vec(row.rows, row.element)
end

local function given(rg, p) -- an argument or a capture
  local v = value.to_lua(p.type, p.value)
  return info[p.type].count and type_of(rg, p.type)(v) or v
end

-- The containers of numbers by row: inputs b.. and every second output are arrays, the others
-- fields.
local function new_holder(rg, name, t)
  local number = tonumber(name:match "^o(%d+)$")
  local is_array = name:match "^b" or (number and number % 2 == 0)
  return (is_array and rg.array or rg.field)(type_of(rg, t), rows)
end

--- Creates the input fields in a runtime, and fills them.
function fuzzer.fields(rg, inputs)
  local fields = setmetatable({}, { __index = make.tables })
  for name, input in pairs(inputs) do
    fields[name] = new_holder(rg, name, input.type)
    for i = 0, rows - 1 do fields[name][i] = value.to_lua(input.type, input.values[i]) end
  end
  return fields
end

local pools = setmetatable({}, { __mode = "k" })
-- Later cases reuse output fields.
local function output_field(rg, o, used)
  pools[rg] = pools[rg] or {}
  local pool = pools[rg]
  used[o.type] = (used[o.type] or 0) + 1
  local is_array = tonumber(o.name:match "%d+") % 2 == 0
  local key = o.type .. used[o.type] .. (is_array and " in an array" or "")
  pool[key] = pool[key] or new_holder(rg, o.name, o.type)
  local zero = value.to_lua(o.type, value.zero(o.type))
  pool[key]:fill(info[o.type].count and type_of(rg, o.type)(zero) or zero)
  return pool[key]
end

--- Computes the results of fuzzer.expect by a kernel of the runtime.
function fuzzer.run(rg, case, fields)
  local captures, used, arguments = setmetatable({}, { __index = fields }), {}, {}
  for _, o in ipairs(case.outputs) do captures[o.name] = output_field(rg, o, used) end
  for _, p in ipairs(case.captures) do captures[p.name] = given(rg, p) end
  for k, p in ipairs(case.parameters) do arguments[k] = given(rg, p) end
  local roots = {}
  for number, declared in ipairs(case.trees or {}) do
    local built, root = tree.build(rg, declared.nodes, declared.fields, type_of)
    for name, item in pairs(built) do captures[name] = item end
    roots[number] = root
  end
  local kernel, results = rg.kernel(fuzzer.text(case), captures), nil
  local said = hear(function()
    for _ = 1, case.launches or 1 do results = { kernel(unpack(arguments)) } end
  end)
  local outputs = { results = {}, cells = {}, said = table.concat(said, "\n") }
  for number, declared in ipairs(case.trees or {}) do
    for _, field in ipairs(declared.fields) do
      outputs.cells[field.name] = tree.listing(captures[field.name], field.type)
    end
    roots[number]:destroy()
  end
  for k in ipairs(case.types) do outputs.results[k - 1] = results[k] end
  for _, o in ipairs(case.outputs) do
    local list = {}
    for i = 0, rows - 1 do list[i] = captures[o.name][i] end
    outputs[o.name] = list
  end
  return outputs
end

local function cells_differ(field, a, b)
  for k = 1, math.max(#a, #b) do
    if a[k] ~= b[k] then
      return { output = { name = field.name, type = "cells" }, row = k, a = a[k] or "nothing",
        b = b[k] or "nothing" }
    end
  end
end

-- The comparable part of a field's cells. A shared list, whose slots have no fixed order, is
-- compared by its elements, with all fields of an element together.
local function comparable(declared, field, cells)
  if not field.is_shared then return cells[field.name] end
  local lines = {}
  for _, other in ipairs(declared.fields) do
    if other.node == field.node then
      for k, line in ipairs(cells[other.name]) do
        local at, v = line:match "^(%S*) (.*)$"
        lines[k] = lines[k] and lines[k] .. "; " .. v or at:gsub(",?%d+$", "") .. " " .. v
      end
    end
  end
  table.sort(lines)
  return lines
end

--- Returns the first output and row in which two results differ, or nothing.
function fuzzer.difference(case, a, b)
  for _, declared in ipairs(case.trees or {}) do
    for _, field in ipairs(declared.fields) do
      local difference = cells_differ(field, comparable(declared, field, a.cells),
        comparable(declared, field, b.cells))
      if difference then return difference end
    end
  end
  if a.said ~= b.said then
    return { output = { name = "print", type = "text" }, row = 0, a = a.said, b = b.said }
  end
  for k, t in ipairs(case.types) do
    if b.results[k - 1] == nil or not value.same(t, a.results[k - 1], b.results[k - 1]) then
      return { output = { name = "results", type = t }, row = k - 1, a = a.results[k - 1],
        b = b.results[k - 1] }
    end
  end
  for _, o in ipairs(case.outputs) do
    for i = 0, rows - 1 do
      if not value.same(o.type, a[o.name][i], b[o.name][i]) then
        return { output = o, row = i, a = a[o.name][i], b = b[o.name][i] }
      end
    end
  end
end

local function run_in(r, case)
  r.rg.seed(1)
  local ok, found = pcall(fuzzer.run, r.rg, case, r.fields)
  if ok then return found end
  return nil, { code = type(found) == "table" and found.code or "lua", failure = found,
    runtime = r.name }
end

--- The reference result: the evaluation, or for a case with random numbers the result of the last
--- runtime, which is arch = "lua".
function fuzzer.expected(case, inputs, runtimes)
  if case.draws then return run_in(runtimes[#runtimes], case) end
  return fuzzer.expect(case, inputs)
end

--- Compares runtimes with it. Returns a difference, or the error of a kernel that should have run.
function fuzzer.try(case, inputs, runtimes)
  local expected, problem = fuzzer.expected(case, inputs, runtimes)
  if problem then return problem end
  if expected.is_full then return end -- a list overflowed: which element did not fit is unspecified
  for _, r in ipairs(runtimes) do
    local found, failed = run_in(r, case)
    if failed then return failed end
    local difference = fuzzer.difference(case, expected, found)
    if difference then
      difference.runtime = r.name
      return difference
    end
  end
end

-- -- cutting down ---------------------------------------------------------------------------------

-- Returns the difference if the case still fails in the same way; nil also if the reduced case is
-- not valid any more.
local function fails(case, try, first)
  local ok, difference = pcall(try, case)
  return ok and difference and difference.code == first.code and difference or nil
end

-- Replaces a node by one of its children, or by a leaf, as long as the case still fails.
local function shrink_node(still, holder, key)
  local node = holder[key]
  for _, kid in ipairs(node.kids) do
    if kid.type == node.type and not node.is_whole then
      holder[key] = kid
      if still() then return shrink_node(still, holder, key) end
    end
  end
  if #node.kids > 0 and not node.is_whole and node.type ~= "bool" then
    holder[key] = make.node("element", node.type, nil, { name = value.field_name("a", node.type),
      offset = 0 })
    if still() then return end
    if not info[node.type].count then
      holder[key] = make.literal(node.type)
      if still() then return end
    end
  end
  holder[key] = node
  for k = 1, #node.kids do shrink_node(still, node.kids, k) end
end

-- Replaces a statement by those of its block, or deletes it, from the innermost last one on.
local function shrink_block(still, list)
  for k = #list, 1, -1 do
    local s = table.remove(list, k)
    if not still() then
      local inner = s.body
      if inner and s.kind ~= "loop" then
        for i = #inner, 1, -1 do table.insert(list, k, inner[i]) end
        if still() then return shrink_block(still, list) end
        for _ = 1, #inner do table.remove(list, k) end
      end
      table.insert(list, k, s)
      shrink_block(still, s.body or {})
      shrink_block(still, s.other or {})
    end
  end
end

local function shrink_values(still, list)
  for _, s in ipairs(list) do
    for _, key in ipairs { "value", "at", "first" } do
      if s[key] then shrink_node(still, s, key) end
    end
    for k = 1, #(s.values or {}) do shrink_node(still, s.values, k) end
    shrink_values(still, s.body or {})
    shrink_values(still, s.other or {})
  end
end

-- Deletes items that are no longer used.
local function shrink_list(still, ...)
  for k = #(...), 1, -1 do
    local kept = {}
    for n, list in ipairs { ... } do kept[n] = table.remove(list, k) end
    if not still() then
      for n, list in ipairs { ... } do table.insert(list, k, kept[n]) end
    end
  end
end

--- Deletes statements, then parts of expressions, while `try` still finds a difference.
function fuzzer.shrink(case, try)
  local first = try(case)
  if not first then return case end
  local function still() return fails(case, try, first) end
  shrink_list(still, case.values, case.types)
  shrink_block(still, case.statements)
  for _, helper in ipairs(case.helpers) do
    shrink_block(still, helper.body)
    shrink_values(still, helper.body)
  end
  shrink_values(still, case.statements)
  shrink_block(still, case.statements)
  shrink_list(still, case.helpers)
  shrink_list(still, case.captures)
  shrink_list(still, case.outputs)
  return case, still()
end

--- Formats a failure.
function fuzzer.report(case, difference, inputs, seed)
  local text = fuzzer.text(case)
  local lines = { difference.failure and ("seed %s, %s: %s"):format(tostring(seed),
    difference.runtime, tostring(difference.failure))
    or ("seed %s, %s: output %s (%s), row %d: %s expected, %s found"):format(tostring(seed),
      difference.runtime or "",
      difference.output.name, difference.output.type, difference.row, tostring(difference.a),
        tostring(difference.b)), text }
  for name, input in pairs(inputs) do
    if text:find(name .. "%f[^%w_]") then
      local parts = {}
      for i = 0, rows - 1 do
        parts[i + 1] = value.show(input.type, value.to_lua(input.type, input.values[i]))
      end
      lines[#lines + 1] = ("%s = { %s }"):format(name, table.concat(parts, ", "))
    end
  end
  for _, p in ipairs(case.parameters) do
    lines[#lines + 1] = p.name .. " = " .. value.show(p.type, value.to_lua(p.type, p.value))
  end
  for _, p in ipairs(case.captures) do
    lines[#lines + 1] = p.name .. " = " .. value.show(p.type, value.to_lua(p.type, p.value))
  end
  return table.concat(lines, "\n")
end

-- -- kept failures --------------------------------------------------------------------------------

local function list_text(t, values)
  local parts = {}
  for i = 0, rows - 1 do parts[i + 1] = value.show(t, values[i]) end
  return "{ " .. table.concat(parts, ", ") .. " }"
end

local function quoted(list)
  local parts = {}
  for k, text in ipairs(list) do
    parts[k] = type(text) == "number" and tostring(text) or ("%q"):format(text)
  end
  return "{ " .. table.concat(parts, ", ") .. " }"
end

-- Writes a declaration and the final contents of its fields, as tree.listing returns them.
local function keep_tree(add, declared, cells)
  add "    { nodes = {"
  for _, n in ipairs(declared.nodes) do
    add("      { name = %q, kind = %q, parent = %s, axes = %s, sizes = %s, layout = %s, chunk = \z
      %s },", n.name, n.kind,
      n.parent and ("%q"):format(n.parent) or "nil", quoted(n.axes), quoted(n.sizes), n.layout
        and ("%q"):format(n.layout) or "nil",
      tostring(n.chunk))
  end
  add "    }, fields = {"
  for _, f in ipairs(declared.fields) do
    add("      { name = %q, type = %q, node = %q, is_shared = %s, packing = %s, is_grouped = %s,",
      f.name, f.type, f.node, tostring(f.is_shared or false),
      f.packing and ("%q"):format(f.packing) or "nil", tostring(f.is_grouped or false))
    add("        cells = %s },", quoted(cells[f.name]))
  end
  add "    } },"
end

--- Writes a file for tests/lua/fuzzed: a kernel, its inputs, and the expected state afterwards.
function fuzzer.keep(case, inputs, path, runtimes)
  local text, expected = fuzzer.text(case), fuzzer.expected(case, inputs, runtimes)
  local lines = { "-- luacheck: ignore 631",
    "-- Found by the fuzzer: the initial fields and launch arguments, and the expected result.",
      "return {",
    "  kernel = [==[" .. text .. "]==],", "  fields = {" }
  local function add(format, ...) lines[#lines + 1] = format:format(...) end
  for name, input in pairs(inputs) do
    if text:find("%f[%w_]" .. name .. "%f[^%w_]") then
      local list = {}
      for i = 0, rows - 1 do list[i] = value.to_lua(input.type, input.values[i]) end
      add("    %s = { type = %q, first = %s },", name, input.type, list_text(input.type, list))
    end
  end
  for _, o in ipairs(case.outputs) do
    add("    %s = { type = %q, last = %s },", o.name, o.type, list_text(o.type, expected[o.name]))
  end
  add "  },"
  for _, what in ipairs { "parameters", "captures" } do
    add("  %s = {", what)
    for _, p in ipairs(case[what]) do
      add("    { name = %q, type = %q, value = %s },", p.name, p.type,
        value.show(p.type, value.to_lua(p.type, p.value)))
    end
    add "  },"
  end
  add("  launches = %d, trees = {", case.launches or 1)
  for _, declared in ipairs(case.trees or {}) do keep_tree(add, declared, expected.cells) end
  add "  },"
  if expected.said ~= "" then add("  said = %q,", expected.said) end
  add "  results = {"
  for k, t in ipairs(case.types) do
    add("    { type = %q, value = %s },", t, value.show(t, expected.results[k - 1]))
  end
  add "  },"
  add "}"
  local file = assert(io.open(path, "w"))
  file:write(table.concat(lines, "\n"), "\n")
  file:close()
end

--- Runs such a file; returns the first difference as text, or nothing.
function fuzzer.replay(rg, kept)
  local captures, arguments = setmetatable({}, { __index = make.tables }), {}
  for name, field in pairs(kept.fields) do
    captures[name] = new_holder(rg, name, field.type)
    for i = 1, field.first and rows or 0 do captures[name][i - 1] = field.first[i] end
  end
  for _, declared in ipairs(kept.trees) do
    for _, field in ipairs(declared.fields) do value.named(field.type) end
    for name, item in pairs(tree.build(rg, declared.nodes, declared.fields, type_of)) do
      captures[name] = item
    end
  end
  local function of(p)
    value.named(p.type)
    return info[p.type].count and type_of(rg, p.type)(p.value) or p.value
  end
  for _, p in ipairs(kept.captures) do captures[p.name] = of(p) end
  for k, p in ipairs(kept.parameters) do arguments[k] = of(p) end
  local kernel, results = rg.kernel(kept.kernel, captures), nil
  rg.seed(1)
  local said = table.concat(hear(function()
    for _ = 1, kept.launches do results = { kernel(unpack(arguments)) } end
  end), "\n")
  if said ~= (kept.said or "") then return ("it says '%s', not '%s'"):format(said, kept.said) end
  for _, declared in ipairs(kept.trees) do
    local kept_cells, found = {}, {}
    for _, field in ipairs(declared.fields) do
      kept_cells[field.name] = field.cells
      found[field.name] = tree.listing(captures[field.name], field.type)
    end
    for _, field in ipairs(declared.fields) do
      local difference = cells_differ(field, comparable(declared, field, kept_cells),
        comparable(declared, field, found))
      if difference then
        return ("%s holds '%s', not '%s'"):format(field.name, difference.b, difference.a)
      end
    end
  end
  for k, r in ipairs(kept.results) do
    value.named(r.type)
    if not value.same(r.type, r.value, results[k]) then
      return ("result %d is %s, not %s"):format(k, tostring(results[k]),
        value.show(r.type, r.value))
    end
  end
  for name, field in pairs(kept.fields) do
    for i = 1, field.last and rows or 0 do
      local found = captures[name][i - 1]
      if not value.same(field.type, field.last[i], found) then
        return ("%s[%d] is %s, not %s"):format(name, i - 1, tostring(found),
          value.show(field.type, field.last[i]))
      end
    end
  end
end

return fuzzer
