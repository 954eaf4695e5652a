--- Snapshots: `rg.save(path, { x = x, frame = 10 })` and `rg.load(path)`. Names and values go to C
--- as a flat list: `solver.v`, `grids[2]`.
local ffi = require "ffi"
local lib = require "regolith.lib"
local fail = require "regolith.error"
local matrix = require "regolith.data.matrix"
local field = require "regolith.data.field"
local binary = require "regolith.file.binary"
local directory = require "regolith.file.snapshot_directory"
local value = require "regolith.data.value"

local snapshot = {}

local C, check = lib.C, lib.check
local own_stream = "=random" -- a name that no key of a table can produce

-- -- names ----------------------------------------------------------------------------------------

local function joined(path, key)
  if type(key) == "number" and key % 1 == 0 and math.abs(key) < 2 ^ 53 then
    return ("%s[%d]"):format(path, key)
  end
  if type(key) == "string" and key:find "^[%a_][%w_.]*$" then
    return path == "" and key or path .. "." .. key
  end
  return fail.argument(("a key of a saved table must be a name or a whole number, got %s"):format(
    type(key) == "string" and ("%q"):format(key) or fail.describe(key)))
end

-- "solver.grids[2]" -> { "solver", "grids", 2 }
local function split(name)
  local keys, at = {}, 1
  while at <= #name do
    local number, after = name:match("^%[(%-?%d+)%]()", at)
    if number then
      keys[#keys + 1], at = tonumber(number), after
    else
      local word, past = name:match("^%.?([%a_][%w_]*)()", at)
      if not word then return { name } end -- a program in C may save other names
      keys[#keys + 1], at = word, past
    end
  end
  return keys
end

local function enter(t, name, v)
  local keys = split(name)
  for k = 1, #keys - 1 do
    local inner = t[keys[k]]
    if type(inner) ~= "table" then
      inner = {}
      t[keys[k]] = inner
    end
    t = inner
  end
  t[keys[#keys]] = v
end

-- -- values ---------------------------------------------------------------------------------------

-- Stores a handle in a slot; returns nil for other values.
local function put_handle(slot, v)
  if ffi.istype("RgFieldHandle", v) then
    field.settle(v)
    slot.kind, slot.field = C.RG_VALUE_FIELD, v.rg_field
  elseif ffi.istype("RgArrayHandle", v) then
    slot.kind, slot.array = C.RG_VALUE_ARRAY, v.rg_array
  elseif ffi.istype("RgNodeHandle", v) then
    slot.kind, slot.node = C.RG_VALUE_NODE, v.rg_node
  elseif ffi.istype("RgTreeHandle", v) then
    slot.kind, slot.node = C.RG_VALUE_NODE, C.rg_tree_root(v.rg_tree)
  else
    return nil
  end
  return true
end

local function is_handle(v)
  return ffi.istype("RgFieldHandle", v) or ffi.istype("RgArrayHandle", v)
    or ffi.istype("RgNodeHandle", v) or ffi.istype("RgTreeHandle", v)
end

local function is_plain(v)
  local kind = type(v)
  return kind == "number" or kind == "boolean" or kind == "string" or ffi.istype("int64_t", v)
    or ffi.istype("uint64_t", v)
end

-- Flattens `t` to a list of { name, value }. A vector becomes a string.
local function flatten(t, path, list, inside)
  if inside[t] then
    return fail.argument(("'%s' contains itself, so it cannot be saved"):format(path))
  end
  inside[t] = true
  local keys = {}
  for key in pairs(t) do keys[#keys + 1] = { joined(path, key), t[key] } end
  table.sort(keys, function(a, b) return a[1] < b[1] end)
  for _, row in ipairs(keys) do
    local name, v = row[1], row[2]
    if type(v) == "table" and not getmetatable(v) then
      flatten(v, name, list, inside)
    elseif is_handle(v) or is_plain(v) then
      if type(v) == "string" and v:find "%z" then
        return fail.argument(("'%s' is a string with a zero byte, which cannot be saved"):format(
          name))
      end
      list[#list + 1] = row
    elseif matrix.type_of(v) then
      local numbers, of = matrix.numbers(v)
      list[#list + 1] = { name, numbers, of.name }
    else
      return fail.argument(("'%s' is %s, which cannot be saved"):format(name, fail.describe(v)),
        "save fields, arrays, nodes, trees, numbers, booleans, strings, and tables of them")
    end
  end
  inside[t] = nil
  return list
end

-- Converts the list to the C structs. `keep` holds the memory that they point to.
local function items_of(list, keep)
  local items = ffi.new("RgSaved[?]", math.max(1, #list))
  for k, row in ipairs(list) do
    local item = items[k - 1]
    keep[#keep + 1] = row[1]
    item.name = row[1]
    local v = row[2]
    if v ~= nil and not put_handle(item.value, v) then
      if type(v) == "string" then
        keep[#keep + 1] = v
        item.value.kind, item.value.text = C.RG_VALUE_STRING, v
      else
        value.put(item.value, v)
      end
    end
  end
  return items
end


local function check_table(t, what)
  if type(t) ~= "table" or getmetatable(t) then
    return fail.argument(("%s takes a table of fields and values by name, { x = x }, \z
      not %s"):format(what, fail.describe(t)))
  end
end

-- The handles must belong to the session's runtime, or the C call refuses them. With arch = "lua"
-- their data is in Lua.
local function oracle_of(session)
  local number = session:get()
  local own = lib.oracle_of(number)
  return own and require("regolith.oracle.snapshot").create(own, number)
end

local function check_runtime(session, list)
  local number = session:get()
  local slot = ffi.new "RgValue"
  for _, row in ipairs(list) do
    local v = row[2]
    if is_handle(v) then
      local runtime = lib.runtimes[v.rg_runtime]
      if not runtime or not runtime.c then return lib.raise_ended(v.rg_runtime) end
      put_handle(slot, v)
      lib.check_pointer(slot.field, v.rg_runtime)
      if v.rg_runtime ~= number then
        return fail.argument(("'%s' belongs to another runtime"):format(row[1]), nil,
          "runtime.mixed")
      end
    end
  end
end

-- -- saving ---------------------------------------------------------------------------------------

-- A vector is saved as one item per number, named "v=vec2=1".
local function with_vectors(list)
  local flat = {}
  for _, row in ipairs(list) do
    if row[3] then
      for k, x in ipairs(row[2]) do
        flat[#flat + 1] = { ("%s=%s=%d"):format(row[1], row[3], k), x }
      end
    else
      flat[#flat + 1] = row
    end
  end
  return flat
end

--- `rg.save(path, { x = x })`
function snapshot.save(session, path, t)
  binary.check_path(path, "rg.save")
  check_table(t, "rg.save")
  local list = flatten(t, "", {}, {})
  local number, c = session:get()
  check_runtime(session, list)
  local draws = session.runtime.draws
  if draws then
    list[#list + 1] = { own_stream .. "=key", draws.key }
    list[#list + 1] = { own_stream .. "=words", draws.words }
  end
  list = with_vectors(list)
  local oracle = oracle_of(session)
  if oracle then oracle:copy_to_core(list) end
  lib.quiet(function()
    local keep = {}
    local items = items_of(list, keep)
    check(C.rg_save(c, path, items, #list), number)
  end)
  if oracle then oracle:clear() end
end

-- -- loading --------------------------------------------------------------------------------------

local function take(slot)
  if slot.kind == C.RG_VALUE_STRING then return ffi.string(slot.text) end
  return value.take(slot)
end

-- Combines the items of each vector into its value.
local function gather(list)
  local plain, vectors, order = {}, {}, {}
  for _, row in ipairs(list) do
    local item = row.item
    if item and item.vector then
      if not vectors[item.vector] then
        vectors[item.vector] = { type = item.type }
        order[#order + 1] = item.vector
      end
      vectors[item.vector][item.number] = row[2]
    else
      plain[#plain + 1] = row
    end
  end
  for _, name in ipairs(order) do
    plain[#plain + 1] = { name, vectors[name].type(unpack(vectors[name])) }
  end
  return plain
end

local read_text = lib.quietly(function(c, path, number)
  local text_out = ffi.new "const char *[1]"
  check(C.rg_snapshot_text(c, path, text_out), number)
  return ffi.string(text_out[0])
end)

-- Returns the caller's handles by name.
local function given(into)
  local by_name = {}
  for _, row in ipairs(flatten(into, "", {}, {})) do
    if is_handle(row[2]) then by_name[row[1]] = row[2] end
  end
  return by_name
end

local function run(session, path, list, with_random)
  local number, c = session:get()
  check_runtime(session, list)
  local oracle = oracle_of(session)
  for _, row in ipairs(list) do
    if ffi.istype("RgFieldHandle", row[2]) then field.settle(row[2]) end
  end
  lib.quiet(function()
    local keep = {}
    local items = items_of(list, keep)
    check(C.rg_load(c, path, items, #list, with_random and 1 or 0), number)
    for k, row in ipairs(list) do
      if row[2] == nil then row[2] = take(items[k - 1].value) end
    end
  end)
  if oracle then
    oracle:copy_from_core(list)
    oracle:clear()
  end
end

-- Removes the state of the script's own random numbers from the list and restores it.
local function restore_random(session, list, with_random)
  local rest, draws = {}, {}
  for _, row in ipairs(list) do
    local name = row[1]:match "^=random=(%a+)$"
    if name then draws[name] = row[2] else rest[#rest + 1] = row end
  end
  if with_random then
    local key = draws.key
    -- The state was saved by rank 0, and other ranks keep theirs.
    if key and session.ranks and session.ranks.rank > 0 then
      key = C.rg_random_key(session.runtime.c, C.RG_RANDOM_OWN)
    end
    session.runtime.draws = key and draws.words
      and { key = key, words = draws.words, index = 0LL, trip = 0 } or nil
  end
  return rest
end

local options_of_load = { "random" }

--- `rg.load(path)` makes new objects; `rg.load(path, { x = x })` loads into existing ones. Without
--- a file it returns nil and a message.
function snapshot.load(session, path, into, options)
  binary.check_path(path, "rg.load")
  if into ~= nil then check_table(into, "rg.load") end
  options = fail.options(options, options_of_load, "rg.load")
  if C.rg_file_kind(path) == nil then return nil, ("there is no snapshot '%s'"):format(path) end
  local number, c = session:get()
  local list_of = directory.parse(read_text(c, path, number), path)
  local handles, made, list = given(into or {}), { trees = {}, arrays = {} }, {}
  local known = {}
  for _, item in ipairs(list_of.items) do
    known[item.name] = true
    local v, is_handle_kind = handles[item.name], directory.is_handle(item.kind)
    if v == nil and not into and is_handle_kind then
      v = directory.make(session, list_of, made, item, path)
    end
    if v ~= nil or not is_handle_kind then
      list[#list + 1] = { item.name, v, item = item }
    end
  end
  for name in pairs(handles) do -- the file has no such name: the core reports it
    if not known[name] then list[#list + 1] = { name, handles[name] } end
  end
  local with_random = options.random ~= false
  run(session, path, list, with_random)
  local result = {}
  for _, row in ipairs(gather(restore_random(session, list, with_random))) do
    enter(result, row[1], row[2])
  end
  return result
end

return snapshot
