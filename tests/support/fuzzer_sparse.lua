--- fuzzer_sparse.lua - random trees, and statements of kernels over them. Rules that make results
--- deterministic: in one parallel loop a tree either grows (writes to the loop's own cell,
--- commuting updates, activations) or shrinks (deactivations, under conditions that do not read
--- it), or is only read, like all other trees. Any iteration may append to lists that are `shared`,
--- so nothing reads them by slot, and they are compared without order; if all elements are `alike`,
--- any iteration may pop them, too.
local value = require "fuzzer_value"
local make = require "fuzzer_make"
local statement = require "fuzzer_statement"
local tree = require "fuzzer_tree"

local sparse = { kinds = { "dense", "dense", "pointer", "pointer", "hash", "bitmasked",
  "bitmasked" } }
local kinds, forms, node, pick = statement.kinds, make.forms, make.node, make.pick
local random, info = math.random, value.info

local field_types = { "i32", "f32", "u8", "i64", "i16", "f64", "bool", value.shaped("f32", 3, 1),
  value.shaped("i32", 2, 1) }

-- -- declarations ---------------------------------------------------------------------------------

local function add_node(case, declared, parent, axes_left)
  local kind, name = pick(sparse.kinds), ("n%d"):format(case.count + 1)
  local axes = random(3) == 1 and { pick(axes_left) } or { unpack(axes_left) }
  local new = { name = name, kind = kind, parent = parent, axes = axes, sizes = {},
    layout = random(4) == 1 and "aos" or nil }
  local above = {}
  while parent do
    for _, axis in ipairs(declared.by_name[parent].axes) do above[axis] = true end
    parent = declared.by_name[parent].parent
  end
  if kind == "hash" then -- on axes of its own
    new.axes = {}
    for _, axis in ipairs(axes) do
      if not above[axis] then table.insert(new.axes, axis) end
    end
    if #new.axes == 0 then new.kind, new.axes = "pointer", axes end
  end
  for k = 1, new.kind == "hash" and 0 or #axes do
    new.sizes[k] = random(#axes_left == 1 and 6 or 4)
  end
  case.count = case.count + 1
  table.insert(declared.nodes, new)
  declared.by_name = tree.complete(declared.nodes)
  return new
end

local packings = {} -- names by type
for name, packing in pairs(value.packings) do
  packings[packing.type] = packings[packing.type] or {}
  table.insert(packings[packing.type], name)
end
for _, names in pairs(packings) do table.sort(names) end

local function add_field(case, declared, at)
  case.count = case.count + 1
  local field = { name = ("s%d"):format(case.count), type = pick(field_types), node = at.name,
    is_list = at.kind == "dynamic", is_shared = at.is_shared }
  local names = packings[info[field.type].element or field.type]
  if names and not field.is_list and random(2) == 1 then
    field.packing, field.is_grouped = pick(names), random(2) == 1
  end
  table.insert(declared.fields, field)
end

-- Adds lists to the cells of a node, along an axis of their own.
local function add_list(case, declared, above)
  case.count = case.count + 1
  local new = { name = ("n%d"):format(case.count), kind = "dynamic", parent = above.name,
    axes = { "k" }, sizes = { 60 },
    chunk = random(2) == 1 and random(8) or nil, layout = random(4) == 1 and "aos" or nil }
  if random(2) == 1 then
    new.is_shared, new.is_alike, new.sizes[1] = true, random(2) == 1, 900
  end
  table.insert(declared.nodes, new)
  for _ = 1, random(2) do add_field(case, declared, new) end
end

--- Makes a tree of one or two axes, one to four levels deep, with branches, and fields at several
--- levels.
function sparse.declaration(case)
  local declared = { nodes = {}, fields = {} }
  local axes = pick { { "i" }, { "i", "j" }, { "i", "j" } }
  local function grow(parent, depth)
    local new = add_node(case, declared, parent, axes)
    local is_leaf = depth <= 1
    if not is_leaf then
      grow(new.name, depth - 1)
      if random(3) == 1 then grow(new.name, random(depth - 1)) end
    end
    if is_leaf or random(3) == 1 then add_field(case, declared, new) end
    if is_leaf and random(2) == 1 then add_field(case, declared, new) end
  end
  grow(nil, random(4))
  if random(4) == 1 then grow(nil, random(2)) end
  for k = 1, #declared.nodes do
    if random(case.is_of_lists and 2 or 6) == 1 then
      add_list(case, declared, declared.nodes[k])
    end
  end
  tree.complete(declared.nodes)
  return declared
end

-- -- indices --------------------------------------------------------------------------------------

-- Prints indices as kernels write them: x[a][b], x[a, b], x[{a, b}], or arguments.
local function access_text(name, style, ...)
  if style == 1 then return name .. "[" .. table.concat({ ... }, "][") .. "]" end
  if style == 2 then return ("%s[%s]"):format(name, table.concat({ ... }, ", ")) end
  return ("%s[{%s}]"):format(name, table.concat({ ... }, ", "))
end
local function texts_of(nodes)
  local texts = {}
  for k, n in ipairs(nodes) do texts[k] = make.text(n) end
  return texts
end
local function at_of(nodes, env)
  local at = {}
  for k, n in ipairs(nodes) do at[k] = tonumber(make.value(n, env)) end
  return at
end

forms.loop_index = {
  text = function(n) return n.name end,
  value = function(n, env) return env.locals[n.name] end,
}
forms.sparse_element = {
  text = function(n, ...) return access_text(n.name, n.style, ...) end,
  value = function(n, env) return env.trees[n.tree]:read(n.name, at_of(n.kids, env)) end,
}
forms.sparse_is_active = {
  text = function(n, ...)
    return ("(%s:is_active(%s))"):format(n.name, table.concat({ ... }, ", "))
  end,
  value = function(n, env) return env.trees[n.tree]:is_active(n.name, at_of(n.kids, env)) end,
}
forms.sparse_count = {
  text = function(n) return ("rg.i32(%s:count())"):format(n.name) end,
  value = function(n, env) return 0LL + env.trees[n.tree]:count(n.name) end,
}

local function literal_index(i)
  return node("literal", "i32", nil, { text = i < 0 and ("(%d)"):format(i) or tostring(i),
    value = 0LL + i })
end
local function binary(op, a, b) return node("binary", a.type, { a, b }, { op = op }) end

-- Returns an index along an axis of `extent` cells (0: unbounded), mostly inside.
local function index(scope, extent)
  local span = extent > 0 and extent or 20
  local way = random(10)
  local variables = scope.indices or {}
  if #variables > 0 and way <= 6 then
    local i = node("loop_index", scope.index_type, nil, { name = pick(variables) })
    if way == 1 then return binary(pick { "+", "-" }, i, literal_index(random(3))) end
    if way == 2 then return binary("//", i, literal_index(random(2, 4))) end
    if way == 3 then return binary("*", i, literal_index(random(2, 4))) end
    return i
  end
  if way <= 8 then
    local inner = setmetatable({ in_index = true }, { __index = scope })
    return binary("%", make.expression("i32", 1, inner), literal_index(span))
  end
  return literal_index(random(-1, span))
end
local function indices(scope, level)
  local list = {}
  for k, extent in ipairs(level.shape) do list[k] = index(scope, extent) end
  return list
end

-- Returns a tree that this loop may read, and a field or node of it.
local function choose(scope, wants, of)
  local list = {}
  for number, declared in ipairs(scope.case.trees) do
    if not scope.changed or scope.changed[number] == nil then
      for _, item in ipairs(declared[of]) do
        if not wants or wants(item) then list[#list + 1] = { number, item } end
      end
    end
  end
  local found = pick(list)
  if found then return found[1], found[2], scope.case.trees[found[1]] end
end
local level_of
local function is_list(declared, item) return level_of(declared, item).kind == "dynamic" end
function level_of(declared, item)
  for _, n in ipairs(declared.nodes) do
    if n.name == (item.node or item.name) then return n end
  end
end

--- Returns an element of a tree as a value, if there are trees.
function make.sparse_leaf(t, scope)
  if not scope.case or not scope.case.trees or scope.is_helper or scope.in_index then return end
  if t == "bool" then
    local number, item, declared = choose(scope, nil, random(2) == 1 and "nodes" or "fields")
    if not item then return end
    return node("sparse_is_active", "bool", indices(scope, level_of(declared, item)),
      { name = item.name, tree = number })
  end
  local number, item, declared = choose(scope, function(f)
    return f.type == t and not f.is_shared
  end, "fields")
  if t == "i32" and random(4) == 1 then
    local where, list, of = choose(scope, function(f) return f.is_list end, "fields")
    if list then
      return node("list_length", "i32", indices(scope, level_of(of, list).up),
        { name = list.name, tree = where })
    end
  end
  if not item then
    if t ~= "i32" or scope.loop then return end
    number, item = choose(scope, nil, "nodes")
    return item and node("sparse_count", "i32", nil, { name = item.name, tree = number })
  end
  return node("sparse_element", t, indices(scope, level_of(declared, item)),
    { name = item.name, tree = number, style = random(3) })
end

-- -- statements -----------------------------------------------------------------------------------

-- x[p, q] = e, for the loop's own cell; outside loops for any cell.
kinds.sparse_store = {
  text = function(s)
    return ("%s = %s"):format(access_text(s.name, s.style, unpack(texts_of(s.values))),
      make.text(s.value))
  end,
  run = function(s, env)
    local v = make.value_as(s.value, env, s.type)
    env.trees[s.tree]:write(s.name, at_of(s.values, env), v)
  end,
}
kinds.sparse_update = {
  text = function(s)
    local texts, text = texts_of(s.values), make.text(s.value)
    local at, is_extreme = table.concat(texts, ", "), s.op == "min" or s.op == "max"
    -- If the index calls a function, x[f(i)] = x[f(i)] + e is not an update, and iterations would
    -- overwrite each other's values.
    if s.is_method or (is_extreme and at:find "[%w_]%(") then
      return ("%s:%s(%s, %s)"):format(s.name, s.method or s.op, at, text)
    end
    local target = access_text(s.name, s.style, unpack(texts))
    if is_extreme then
      return ("%s = math.%s(%s, %s)"):format(target, s.op, target, text)
    end
    return ("%s %s= %s"):format(target, s.op, text)
  end,
  run = function(s, env)
    local model, v = env.trees[s.tree], make.value_as(s.value, env, s.type)
    local at = at_of(s.values, env)
    model:write(s.name, at, value.apply(s.op, s.type, model:read(s.name, at), v))
  end,
}
kinds.sparse_call = { -- activate, deactivate
  text = function(s)
    return ("%s:%s(%s)"):format(s.name, s.call, table.concat(texts_of(s.values), ", "))
  end,
  run = function(s, env)
    local model = env.trees[s.tree]
    model[s.call](model, s.name, at_of(s.values, env))
  end,
}
kinds.sparse_clear = {
  text = function(s) return ("%s:clear()"):format(s.name) end,
  run = function(s, env) env.trees[s.tree]:clear(s.name) end,
}

-- Returns a node or field of a tree, but no list.
local function pick_cells(declared, of)
  local list = {}
  for _, item in ipairs(declared[of]) do
    if not is_list(declared, item) then list[#list + 1] = item end
  end
  return pick(list)
end

-- Returns the indices of the loop's own cell, if the field is placed on its level.
local function own_indices(scope, declared, item)
  local level = level_of(declared, item)
  if scope.indices and scope.own_level == level.name then
    local list = {}
    for k, name in ipairs(scope.indices) do
      list[k] = node("loop_index", scope.index_type, nil, { name = name })
    end
    return list
  end
end

local function change_tree(scope, how) -- a tree that this loop changes in this way, or may start to
  local list = {}
  for number in ipairs(scope.case.trees) do
    if scope.changed[number] == how then list[#list + 1] = number end
  end
  local number = pick(list)
  return number, scope.case.trees[number]
end

local makers = {}
function makers.store(scope)
  local number, declared = change_tree(scope, "grows")
  if not number then return end
  local item = pick_cells(declared, "fields")
  local own = item and own_indices(scope, declared, item)
  if not own or scope.updated[item.name] then return end
  scope.stored[item.name] = true
  return { kind = "sparse_store", name = item.name, type = item.type, tree = number,
    style = random(3), values = own,
    value = make.expression(item.type, 1, scope) }
end
local methods = { ["+"] = "add", ["-"] = "sub", ["&"] = "band", ["|"] = "bor", ["~"] = "bxor",
  min = "min", max = "max" }
function makers.update(scope)
  local number, declared = change_tree(scope, "grows")
  if not number then return end
  local item = pick_cells(declared, "fields")
  if not item then return end
  local element = info[item.type].element or item.type
  if scope.stored[item.name] or element == "bool" or info[element].float then return end
  -- saturating sums depend on their order
  local op = scope.updated[item.name] or pick(item.packing and { "min", "max" }
    or { "+", "-", "*", "&", "|", "~", "min", "max" })
  scope.updated[item.name] = op
  return { kind = "sparse_update", name = item.name, type = item.type, tree = number,
    style = random(3), op = op,
    values = indices(scope, level_of(declared, item)), value = make.expression(item.type, 1, scope),
    is_method = random(4) == 1 and methods[op] ~= nil, method = methods[op] }
end
function makers.activate(scope)
  local number, declared = change_tree(scope, "grows")
  if not number then return end
  local item = pick_cells(declared, random(2) == 1 and "nodes" or "fields")
  if not item then return end
  return { kind = "sparse_call", call = "activate", name = item.name, tree = number,
    values = indices(scope, level_of(declared, item)) }
end
local function goes(n) return n.kind ~= "dense" and n.kind ~= "dynamic" end
function makers.deactivate(scope)
  local number, declared = change_tree(scope, "shrinks")
  if not number then return end
  local list = {}
  for _, n in ipairs(declared.nodes) do
    if goes(n) then list[#list + 1] = n end
  end
  local item = pick(list)
  if scope.totalled[number] then return end
  scope.dropped[number] = true
  return item and { kind = "sparse_call", call = "deactivate", name = item.name, tree = number,
    values = own_indices(scope, declared, item) or indices(scope, item) }
end


-- Returns lists of the loop's own cells: the loop runs over the level directly above them.
local function own_list(scope, how)
  local number, declared = change_tree(scope, how)
  local list = {}
  for _, item in ipairs(number and declared.fields or {}) do
    local level = level_of(declared, item)
    if level.kind == "dynamic" and level.parent == scope.own_level and not item.is_shared then
      list[#list + 1] = item
    end
  end
  local item = pick(list)
  if not item then return end
  local indices_of_own = {}
  for k, name in ipairs(scope.indices) do
    indices_of_own[k] = node("loop_index", scope.index_type, nil, { name = name })
  end
  return number, declared, item, indices_of_own
end

-- local w = x:append(c, v1, v2); values: the indices, then one value per field
kinds.list_append = {
  text = function(s)
    return ("local %s = %s:append(%s)"):format(s.slot, s.name, table.concat(texts_of(s.values),
      ", "))
  end,
  run = function(s, env)
    local at, given = {}, {}
    for k, n in ipairs(s.values) do
      if k <= s.rank then
        at[k] = tonumber(make.value(n, env))
      else given[k - s.rank] = make.value_as(n, env, s.types[k - s.rank]) end
    end
    env.locals[s.slot] = env.trees[s.tree]:append(s.name, at, given)
  end,
}
kinds.list_pop = {
  text = function(s)
    return ("local %s = %s:pop(%s)"):format(s.local_name, s.name, table.concat(texts_of(s.values),
      ", "))
  end,
  run = function(s, env)
    env.locals[s.local_name] = env.trees[s.tree]:pop(s.name, at_of(s.values, env))
  end,
}
kinds.list_empty = {
  text = function(s)
    return ("%s:deactivate(%s)"):format(s.name, table.concat(texts_of(s.values), ", "))
  end,
  run = function(s, env) env.trees[s.tree]:empty(s.name, at_of(s.values, env)) end,
}
forms.list_length = {
  text = function(n, ...)
    return ("(%s:length(%s))"):format(n.name, table.concat({ ... }, ", "))
  end,
  value = function(n, env) return 0LL + env.trees[n.tree]:length(n.name, at_of(n.kids, env)) end,
}

function makers.append(scope)
  local number, declared, item, values = own_list(scope, "grows")
  if not number then return end
  local s = { kind = "list_append", name = item.name, tree = number, rank = #values,
    values = values, types = {} }
  for _, field in ipairs(declared.fields) do
    if field.node == item.node then
      table.insert(s.types, field.type)
      table.insert(s.values, make.expression(field.type, 1, scope))
    end
  end
  s.slot = statement.new_name(scope, "w")
  statement.declare(scope, s.slot, "i32")
  return s
end
function makers.pop(scope)
  local number, _, item, values = own_list(scope, pick { "grows", "shrinks" })
  if not number then return end
  local s = { kind = "list_pop", name = item.name, tree = number, values = values,
    local_name = statement.new_name(scope, "w") }
  if item.type ~= "bool" then statement.declare(scope, s.local_name, item.type) end
  return s
end
function makers.empty(scope)
  local number, _, item, values = own_list(scope, "shrinks")
  if not number or scope.totalled[number] then return end
  scope.dropped[number] = true
  return { kind = "list_empty", name = item.name, tree = number, values = values }
end
function makers.list_store(scope)
  local number, _, item, values = own_list(scope, "grows")
  if not number then return end
  table.insert(values, literal_index(random(0, 9)))
  return { kind = "sparse_store", name = item.name, type = item.type, tree = number,
    style = random(3), values = values,
    value = make.expression(item.type, 1, scope) }
end

-- -- lists that iterations share ------------------------------------------------------------------

local function shared_list(scope, how, is_alike)
  local number, declared = change_tree(scope, how)
  local list = {}
  for _, item in ipairs(number and declared.fields or {}) do
    if item.is_shared and (not is_alike or level_of(declared, item).is_alike) then
      list[#list + 1] = item
    end
  end
  local item = pick(list)
  if item then return number, declared, item, level_of(declared, item) end
end

-- Returns a local around the loop that iterations add to.
local function new_total(scope, t)
  local variable = statement.new_name(scope, "r")
  table.insert(scope.loop.reduced, { variable = variable, type = t })
  return variable
end

-- x:append(c, v1, v2), for any cell; or with the sum of the slots, which is deterministic.
kinds.shared_append = {
  text = function(s)
    local call = ("%s:append(%s)"):format(s.name, table.concat(texts_of(s.values), ", "))
    return s.total and ("%s = %s + %s"):format(s.total, s.total, call) or call
  end,
  run = function(s, env)
    kinds.list_append.run(s, env)
    if s.total then
      env.totals[s.total] = value.apply("+", "i32", env.totals[s.total], env.locals[s.slot])
    end
  end,
}
-- x:pop(c), or with the sum of the popped values, which are all alike.
kinds.shared_pop = {
  text = function(s)
    local call = ("%s:pop(%s)"):format(s.name, table.concat(texts_of(s.values), ", "))
    return s.total and ("%s = %s + %s"):format(s.total, s.total, call) or call
  end,
  run = function(s, env)
    local v = env.trees[s.tree]:pop(s.name, at_of(s.values, env))
    if s.total then
      env.totals[s.total] = value.apply("+", s.type, env.totals[s.total], v)
    end
  end,
}
-- local w: T = 0; then w op v for all elements, in any order
kinds.list_total = {
  text = function(s, indent)
    return ("local %s: %s = 0\n%sfor %s, %s in %s:items(%s) do %s = %s %s %s end"):format(s.total,
      (value.type_text(s.type):gsub("rg%.", "")), indent, s.slot, s.item, s.name,
      table.concat(texts_of(s.values), ", "), s.total, s.total, s.op, s.item)
  end,
  run = function(s, env)
    local model, at, total = env.trees[s.tree], at_of(s.values, env), value.zero(s.type)
    for slot = 0, model:length(s.name, at) - 1 do
      at[#s.values + 1] = slot
      total = value.apply(s.op, s.type, total, model:read(s.name, at))
    end
    env.locals[s.total] = total
  end,
}

local function is_whole_number(t) return not info[t].count and not info[t].float and t ~= "bool" end

local function constant(t)
  if t == "bool" then return node("literal", t, nil, { text = "true", value = true }) end
  if not info[t].count then return make.literal(t) end
  return node("vector_make", t, { make.literal(info[t].element) })
end

local function shared_append(scope, number, declared, item, level)
  local s = { kind = "shared_append", name = item.name, tree = number, types = {},
    slot = statement.new_name(scope, "w"), values = indices(scope, level.up) }
  s.rank = #s.values
  for _, field in ipairs(declared.fields) do
    if field.node == item.node then
      table.insert(s.types, field.type)
      if level.is_alike then field.always = field.always or constant(field.type) end
      table.insert(s.values, field.always or make.expression(field.type, 1, scope))
    end
  end
  return s
end
function makers.shared_append(scope)
  local number, declared, item, level = shared_list(scope, "grows")
  if not number then return end
  local s = shared_append(scope, number, declared, item, level)
  if scope.slots[level.name] == nil then
    scope.slots[level.name] = random(3) == 1 and new_total(scope, "i32")
  end
  s.total = scope.slots[level.name] or nil
  return s
end
function makers.shared_pop(scope)
  local number, _, item, level = shared_list(scope, "shrinks", true)
  if not number then return end
  local s = { kind = "shared_pop", name = item.name, type = item.type, tree = number,
    values = indices(scope, level.up) }
  if is_whole_number(item.type) and not scope.dropped[number] and random(2) == 1 then
    scope.totalled[number], s.total = true, new_total(scope, item.type)
  end
  return s
end
function makers.shared_empty(scope)
  local number, _, item, level = shared_list(scope, "shrinks")
  if not number or scope.totalled[number] then return end
  scope.dropped[number] = true
  return { kind = "list_empty", name = item.name, tree = number,
    values = indices(scope, level.up) }
end

local shared = { "shared_append", "shared_append", "shared_append", "shared_pop", "shared_pop",
  "shared_empty", "deactivate" }
local common = { "store", "store", "update", "update", "activate", "deactivate", "deactivate",
  "shared_append", "shared_append", "shared_append", "shared_pop", "shared_pop", "shared_empty",
  "append", "append", "append", "pop",
  "empty", "list_store" }

--- Returns a statement of a loop that may change trees, or nothing if it has none.
function statement.change(scope)
  if not scope.changed or scope.is_helper then return end
  if not scope.case.is_of_lists or random(3) == 1 then return makers[pick(common)](scope) end
  local number, item, declared = choose(scope, function(f) return f.is_shared end, "fields")
  if item then return makers.items(scope, number, item, level_of(declared, item)) end
  return makers[pick(shared)](scope)
end

kinds.sparse_rescale = { -- local w1, w2 = rg.rescale(x, block, i, j)
  text = function(s)
    return ("local %s = rg.rescale(%s, %s, %s)"):format(table.concat(s.names, ", "), s.name, s.to,
      table.concat(texts_of(s.values), ", "))
  end,
  run = function(s, env)
    local at = env.trees[s.tree]:rescale(s.name, s.to, at_of(s.values, env))
    for k, name in ipairs(s.names) do env.locals[name] = value.wrap("i32", 0LL + at[k]) end
  end,
}

--- Converts indices between two levels, one above the other.
function statement.makers.rescale(scope)
  if not scope.case.trees or scope.is_helper then return end
  local number = random(#scope.case.trees)
  local declared = scope.case.trees[number]
  local from, to = pick(declared.nodes), pick(declared.nodes)
  local function is_above(upper, level)
    while level and level ~= upper do level = level.up end
    return level ~= nil
  end
  if not is_above(from, to) and not is_above(to, from) then return end
  local s = { kind = "sparse_rescale", tree = number, name = from.name, to = to.name, values = {},
    names = {} }
  for k in ipairs(from.letters) do
    s.values[k] = node("conversion", "i32", { make.expression("i32", 1, scope) })
  end
  for k in ipairs(to.letters) do
    s.names[k] = statement.new_name(scope, "w")
    statement.declare(scope, s.names[k], "i32")
  end
  return s
end

-- -- loops ----------------------------------------------------------------------------------------

local function loop_row(names) -- the row of the dense inputs that an iteration reads
  if #names == 1 then return ("local i = rg.i32(%s %% 16)"):format(names[1]) end
  return ("local i = rg.i32((%s * 5 + %s) %% 16)"):format(names[1], names[2])
end

-- Indices are 64 bits wide on unbounded axes.
local function index_type(level, is_range)
  for _, extent in ipairs(level.shape) do
    if extent == 0 and not is_range then return "i64" end
  end
  return "i32"
end

kinds.sparse_loop = {
  text = function(s, indent)
    local text, inner = "", indent .. "  "
    for _, r in ipairs(s.reduced) do
      text = text .. ("local %s: %s = %s\n%s"):format(r.variable,
        (value.type_text(r.type):gsub("rg%.", "")),
        make.text(r.first), indent)
    end
    local extents = {}
    for k, extent in ipairs(s.extents or {}) do extents[k] = tostring(extent) end
    local head = s.extents and ("rg.range(%s)"):format(table.concat(extents, ", ")) or s.name
      .. ":active()"
    return ("%sfor %s in %s%s do\n%s%s\n%s%send"):format(text, table.concat(s.indices, ", "), head,
      s.is_serial and ":serial()" or "",
      inner, loop_row(s.indices), statement.text(s.body, inner), indent)
  end,
  run = function(s, env)
    for _, r in ipairs(s.reduced) do
      env.locals[r.variable] = make.value_as(r.first, env, r.type)
    end
    local cells = s.extents and {} or env.trees[s.tree]:active(s.name)
    if s.extents then
      for a = 0, s.extents[1] - 1 do
        for b = 0, (s.extents[2] or 1) - 1 do cells[#cells + 1] = { a, b } end
      end
    end
    for _, at in ipairs(cells) do
      local own = setmetatable({ locals = setmetatable({}, { __index = env.locals }),
        totals = env.locals }, { __index = env })
      for k, name in ipairs(s.indices) do own.locals[name] = 0LL + at[k] end
      own.index = (#s.indices == 1 and at[1] or at[1] * 5 + at[2]) % 16
      statement.run(s.body, own)
    end
  end,
}
--- Makes a nested loop: serial, in index order, over a tree that the outer loop does not change.
kinds.sparse_walk = {
  text = function(s, indent)
    local inner = indent .. "  "
    return ("for %s in %s:active() do\n%s%send"):format(table.concat(s.indices, ", "), s.name,
      statement.text(s.body, inner), indent)
  end,
  run = function(s, env)
    for _, at in ipairs(env.trees[s.tree]:active(s.name)) do
      for k, name in ipairs(s.indices) do env.locals[name] = 0LL + at[k] end
      local leaves = statement.run(s.body, env)
      if leaves == "break" then break end
      if leaves == "return" then return leaves end
    end
  end,
}

local function index_names(scope, rank)
  local names = {}
  for k = 1, rank do names[k] = statement.new_name(scope, "c") end
  return names
end

--- Makes a loop over active cells or over a range that grows or shrinks some trees; the first loop
--- fills an empty tree.
function sparse.loop(scope, count, is_first)
  local number = random(#scope.case.trees)
  local declared = scope.case.trees[number]
  local item = pick_cells(declared, random(3) == 1 and "nodes" or "fields")
    or pick_cells(declared, "nodes")
  local elements = pick(declared.fields)
  if not is_first and random(3) == 1 and is_list(declared, elements) then item = elements end
  -- if there are lists, often over the cells that contain them
  for _, n in ipairs(declared.nodes) do
    if n.kind == "dynamic" and random(2) == 1 then item = n.up end
  end
  local level = level_of(declared, item)
  local s = { kind = "sparse_loop", tree = number, name = item.name, reduced = {}, body = {},
    is_serial = level.kind ~= "dynamic" and random(6) == 1 }
  s.indices = index_names(scope, #level.shape)
  local of_elements = level.kind == "dynamic" -- over all lists: then the tree is only read
  local is_range = not of_elements and (is_first or random(3) == 1)
  if is_range then
    s.extents = {}
    for k, extent in ipairs(level.shape) do
      s.extents[k] = extent > 0 and extent + random(-1, 1) or random(12)
    end
  end
  local own = statement.inside(scope)
  own.loop, own.writable, own.level = { written = {}, own = {}, reduced = s.reduced }, {}, 0
  own.readable, own.is_sparse = { unpack(scope.readable) }, true
  own.indices, own.own_level, own.changed, own.stored, own.updated = s.indices, level.name, {}, {},
    {}
  own.slots, own.totalled, own.dropped = {}, {}, {}
  for k in ipairs(scope.case.trees) do
    own.changed[k] = pick(scope.case.is_of_lists and { "grows", "grows", "shrinks", "shrinks",
      false } or { "grows", "grows", "shrinks", false }) or nil
  end
  if is_first then own.changed[number] = "grows" end
  if of_elements then own.changed[number] = nil end
  if s.is_serial then own.no_walk = true end -- a loop inside a serial one would be parallel
  -- whether the loop visits new cells is unspecified
  if s.is_serial and not is_range then own.changed[number] = nil end
  own.index_type = index_type(level, is_range)
  for _, name in ipairs(s.indices) do statement.declare(own, name, own.index_type) end
  for k = 1, count do s.body[k] = statement.make(own) end
  for _, r in ipairs(s.reduced) do
    r.first = info[r.type].count and node("vector_make", r.type,
      { make.literal(info[r.type].element) }) or make.literal(r.type)
    statement.declare(scope, r.variable, r.type)
  end
  return s
end

--- Makes statements of the host region: stores, calls and clears.
function sparse.host(scope)
  local number = random(#scope.case.trees)
  local declared = scope.case.trees[number]
  local way = random(5)
  if way == 1 then
    local item = pick(random(2) == 1 and declared.nodes or declared.fields)
    if level_of(declared, item).kind == "dense" then return end
    return { kind = "sparse_clear", name = item.name, tree = number }
  elseif way <= 3 then
    local item = pick_cells(declared, "nodes")
    local call = goes(item) and random(2) == 1 and "deactivate" or "activate"
    return { kind = "sparse_call", call = call, name = item.name, tree = number, values = indices(
      scope, item) }
  end
  local item = pick(declared.fields)
  local level = level_of(declared, item)
  if item.is_shared then return shared_append(scope, number, declared, item, level) end
  return { kind = "sparse_store", name = item.name, type = item.type, tree = number,
    style = random(3),
    values = indices(scope, level), value = make.expression(item.type, 1, scope) }
end

--- Makes a loop over a list: for k, v in x:items(c).
kinds.list_walk = {
  text = function(s, indent)
    local inner = indent .. "  "
    return ("for %s, %s in %s:items(%s) do\n%s%send"):format(s.slot, s.item, s.name,
      table.concat(texts_of(s.values), ", "),
      statement.text(s.body, inner), indent)
  end,
  run = function(s, env)
    local model, at = env.trees[s.tree], at_of(s.values, env)
    for slot = 0, model:length(s.name, at) - 1 do
      at[#s.values + 1] = slot
      env.locals[s.slot], env.locals[s.item] = 0LL + slot, model:read(s.name, at)
      local leaves = statement.run(s.body, env)
      if leaves == "break" then break end
      if leaves == "return" then return leaves end
    end
  end,
}
function makers.items(scope, number, item, level)
  if not item.type then return end -- a node
  if item.is_shared then
    if not is_whole_number(item.type) then return end
    local s = { kind = "list_total", tree = number, name = item.name, type = item.type,
      op = pick { "+", "~", "|" }, values = indices(scope, level.up),
      slot = statement.new_name(scope, "c"), item = statement.new_name(scope, "c"),
      total = statement.new_name(scope, "w") }
    statement.declare(scope, s.total, s.type)
    return s
  end
  local s = { kind = "list_walk", tree = number, name = item.name, values = indices(
    scope, level.up), slot = statement.new_name(scope, "c"),
    item = statement.new_name(scope, "c") }
  local own = statement.inside(scope)
  own.in_loop = true
  statement.declare(own, s.slot, "i32")
  if item.type ~= "bool" then statement.declare(own, s.item, item.type) end
  s.body = { statement.makers.reduce(own) or statement.make(own), statement.makers.assign(own) }
  return s
end

--- Makes a nested loop over cells, or nothing.
function statement.makers.walk(scope)
  if not scope.case.trees or scope.is_helper or scope.no_walk or scope.level > 1 then return end
  local number, item, declared = choose(scope, nil, random(2) == 1 and "nodes" or "fields")
  if not item then return end
  local level = level_of(declared, item)
  if level.kind == "dynamic" then return makers.items(scope, number, item, level) end
  local s = { kind = "sparse_walk", tree = number, name = item.name }
  s.indices = index_names(scope, #level_of(declared, item).shape)
  local own = statement.inside(scope)
  own.in_loop, own.indices, own.index_type = true, s.indices, index_type(level)
  for _, name in ipairs(s.indices) do statement.declare(own, name, own.index_type) end
  s.body = { statement.makers.reduce(own) or statement.make(own), statement.makers.assign(own) }
  return s
end

return sparse
