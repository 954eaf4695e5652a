--- Lists of dynamic nodes, from Lua: append, length, pop, items.
--- A list is named by the indices of its level without its own axis. A field's methods give that
--- field's value, an SNode's those of all its fields, in the order of place.
local ffi = require "ffi"
local lib = require "regolith.lib"
local fail = require "regolith.error"
local index = require "regolith.data.index"
local node_kinds = require "regolith.data.kinds"
local types = require "regolith.data.type"
local value = require "regolith.data.value"

-- All calls are quiet (lib.quiet): they share buffers, and the core lends them texts.
local list = {}

local C, check = lib.C, lib.check
local buffer = index.buffer
local level, result, type_out = ffi.new "RgLevel", ffi.new "int64_t[1]", ffi.new "const char *[1]"
local slot = ffi.new "RgValue"

--- How many indices name a list of the node, and the position of its own axis among an element's.
--- Lays the tree out.
local function describe(node, runtime)
  check(C.rg_snode_level(node, level), runtime)
  local own = 0
  for k = 0, level.rank - 1 do
    if level.level_axes[k] == level.axes[0] then own = k end
  end
  return level.rank - 1, own
end


-- The indices of a list and of one of its elements: a new int64_t[8], which the caller may keep.
local function element_index(count, own)
  local indices = ffi.new "int64_t[8]"
  for k = 0, count - 1 do indices[k < own and k or k + 1] = buffer[k] end
  return indices
end

local function call(node, runtime, action, count)
  check(C.rg_snode_call(node, action, buffer, count, result), runtime)
  return tonumber(result[0])
end

-- Of the list that the first `count` indices in the buffer name.
local function length_at(node, runtime, count)
  local own = lib.oracle_of(runtime)
  if own then return own:length(node, count) end
  return call(node, runtime, "length", count)
end

--- The length of the list that the first `count` indices in the buffer name; nil if they name none.
function list.length_here(node, runtime, count)
  local rank, own = describe(node, runtime)
  if not node_kinds[ffi.string(level.kind)].lists or count ~= rank or own ~= rank then return end
  return length_at(node, runtime, count)
end

-- The type of field number `k` of the node; nil past the last.
local function field_type(node, runtime, k)
  check(C.rg_snode_field_type(node, k, type_out), runtime)
  if type_out[0] ~= nil then return types.named(ffi.string(type_out[0])) end
end

local function put(node, runtime, k, v, into, vector)
  local t = field_type(node, runtime, k)
  if t and t.count and type(v) == "table" then v = t(v) end -- {3, 4} stands for rg.vec2(3, 4)
  if not value.put(into, v, vector) then
    return fail.argument(("cannot store %s as value %d of an element"):format(fail.describe(v),
      k + 1))
  end
end

--- Returns the slot. Indices one by one or as one list, then a value for each field.
function list.append(node, runtime, ...)
  local count = describe(node, runtime)
  local given, taken = { ... }, count
  if count > 0 and index.is_list(given[1]) then
    index.fill(given[1])
    count, taken = #given[1], 1
  else
    for k = 1, count do buffer[k - 1] = index.check(given[k]) end
  end
  local values = select("#", ...) - taken
  if values < 0 then
    return fail.argument(
      ("append takes %d indices, then the values"):format(count), nil, "index.count")
  end
  local elements, vectors = ffi.new("RgValue[?]", values + 1), ffi.new("RgVector[?]", values + 1)
  for k = 0, values - 1 do put(node, runtime, k, given[taken + k + 1], elements[k], vectors[k]) end
  local own = lib.oracle_of(runtime)
  if own then return own:append(node, count, elements, values) end
  check(C.rg_snode_append(node, buffer, count, elements, values, result), runtime)
  return tonumber(result[0])
end

function list.length(node, runtime, ...)
  return length_at(node, runtime, index.fill(...))
end

-- Returns a function that reads the element at `indices`: of `field` alone, or of all fields.
local function reader(node, runtime, field, rank, indices)
  if field then
    return function()
      check(C.rg_field_get(field, indices, rank, slot), runtime)
      return value.take(slot)
    end
  end
  local kinds = 0
  while field_type(node, runtime, kinds) do kinds = kinds + 1 end
  return function()
    local values = {}
    for k = 0, kinds - 1 do
      check(C.rg_snode_value(node, k, indices, rank, slot), runtime)
      values[k + 1] = value.take(slot)
    end
    return unpack(values, 1, kinds)
  end
end

--- Removes and returns the last element; zero when empty.
function list.pop(node, runtime, field, ...)
  if lib.oracle_of(runtime) then return lib.oracle_of(runtime):pop(node, field, index.fill(...)) end
  local count, own = describe(node, runtime)
  local given = index.fill(...)
  local length = call(node, runtime, "length", given)
  local indices = element_index(given, own)
  indices[own] = length > 0 and length - 1 or 0
  local values = { reader(node, runtime, field, count + 1, indices)() }
  for k = 0, given - 1 do buffer[k] = indices[k < own and k or k + 1] end
  call(node, runtime, "pop", given)
  return unpack(values)
end

--- Iterates over the present slots, each with its values.
function list.items(node, runtime, field, ...)
  if lib.oracle_of(runtime) then
    return lib.oracle_of(runtime):items(node, field, index.fill(...))
  end
  local count, own = describe(node, runtime)
  local given = index.fill(...)
  local length = call(node, runtime, "length", given)
  local indices = element_index(given, own)
  local read, k = reader(node, runtime, field, count + 1, indices), -1
  return lib.quietly(function()
    k = k + 1
    if k >= length then return end
    indices[own] = k
    return k, read()
  end)
end

for _, name in ipairs { "append", "length", "length_here", "pop", "items" } do
  list[name] = lib.quietly(list[name])
end

return list
