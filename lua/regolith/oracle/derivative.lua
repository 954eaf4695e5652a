--- The operations in the texts of derivatives with arch = "lua" (core/emit_lua/emit_derivative.c).
--- The texts are generated from IR, so they access single numbers of elements, and log in memory.
local counted = require "regolith.oracle.counted"
local ffi = require "ffi"
local field = require "regolith.data.field"
local host = require "regolith.host"
local lib = require "regolith.lib"
local oracle_element = require "regolith.oracle.element"
local oracle_list = require "regolith.oracle.list"
local random = require "regolith.random"
local vector = require "regolith.oracle.vector"

local derivative = {}

host.interpret() -- as in oracle/number.lua

local u64, i64 = ffi.typeof "uint64_t", ffi.typeof "int64_t"

-- -- one number of each element -------------------------------------------------------------------

-- Indices of the IR start at 0, indices of the elements at the field's offset.
local function shift(first, k, index, ...)
  if index == nil then return end
  return index + first[k], shift(first, k + 1, ...)
end

local function is_inside(elements, ...)
  if elements.key then return elements.key(...) ~= nil end
  return (select(3, elements.level.find(...)))
end

-- Access to number `part`, from 1, of the elements; part 0: the elements are numbers. `elements`
-- counts writes outside the shape, with the line of its caller, the kernel's text; the functions
-- `.._inside` ignore them.
local function access_of(elements, part)
  local own, places = {}, { part }
  if part == 0 then
    function own.get(...) return elements:get(...) end
    function own.set(value, ...) return elements:set(value, ...) end
    function own.update(op, value, ...) return elements:update(op, value, ...) end
  else
    function own.get(...) return elements:get(...)[part] end
    function own.set(value, ...) return elements:set_parts(value, places, ...) end
    function own.update(op, value, ...) return elements:update_parts(op, value, places, ...) end
  end
  function own.set_inside(value, ...)
    if is_inside(elements, ...) then own.set(value, ...) end
  end
  function own.update_inside(op, value, ...)
    if is_inside(elements, ...) then own.update(op, value, ...) end
  end
  --- Returns the old value; outside the shape it changes nothing and returns zero.
  function own.rmw(op, value, ...)
    local old = own.get(...)
    own.update_inside(op, value, ...)
    return old
  end
  function own.swap(expected, desired, ...)
    local old = own.get(...)
    own.set_inside(oracle_element.swapped(old, expected, desired), ...)
    return old
  end
  return own
end

local function moved(own, first)
  local all = {}
  for name, f in pairs(own) do
    local leading = name == "get" and 0 or (name:find "^set" and 1 or 2)
    all[name] = leading == 0 and function(...) return f(shift(first, 1, ...)) end
      or leading == 1 and function(a, ...) return f(a, shift(first, 1, ...)) end
      or function(a, b, ...) return f(a, b, shift(first, 1, ...)) end
  end
  return all
end

--- The access to number `part`, from 0, of each element, by the indices of the IR.
function derivative.numbers(elements, part)
  elements.accesses = elements.accesses or {}
  local known = elements.accesses[part]
  if known then return known end
  local first = elements.level.first
  local own = access_of(elements, elements.is_table and part + 1 or 0)
  elements.accesses[part] = first and moved(own, first) or own
  return elements.accesses[part]
end

--- The field of derivatives at the end of a path, such as "grad.dual", from a field. An array has
--- none, and its path is empty.
function derivative.field_along(x, path)
  for name in path:gmatch "%a+" do
    x = name == "grad" and field.gradient(x) or field.own_dual(x)
  end
  return x
end

-- -- values ---------------------------------------------------------------------------------------

local operations = {}
derivative.operations = operations

--- Item `index`, from 0, of a list; zero outside.
function operations.item_of(list, index, zero)
  local value = list[tonumber(index)]
  if value == nil then return zero end
  return value
end

function operations.local_array(count, zero)
  local array = { count = count }
  for k = 0, count - 1 do array[k] = zero end
  return array
end

function operations.local_set(array, index, value)
  index = tonumber(index)
  if index >= 0 and index < array.count then array[index] = value end
end

-- -- random numbers -------------------------------------------------------------------------------

function operations.random_stream(run, is_global)
  return i64(lib.C.rg_random_key(lib.runtimes[run.runtime].c,
    is_global and lib.C.RG_RANDOM_GLOBAL or lib.C.RG_RANDOM_NEXT))
end

function operations.random_bits(key, index, at) return random.bits(u64(key), index, at) end
operations.mulhi_u64 = random.high_product

-- -- memory ---------------------------------------------------------------------------------------
-- An array has words by their offset in bytes from its element 0; a word is a value, or an array.
-- Words that were never written are zero. An address is a pair of the words and an offset.

local nowhere = {} -- the address of a missing element

function operations.memory_new(length, size)
  return { length = tonumber(length), size = size, words = {}, first = 0 }
end

function operations.memory_set_extent(array, axis, extent)
  array.extents = array.extents or {}
  array.extents[axis + 1] = tonumber(extent)
end

local function length_of(array) return type(array) == "table" and array.length or 0 end

function operations.memory_length(array) return i64(length_of(array)) end

function operations.memory_extent(array, axis)
  return i64(type(array) == "table" and array.extents[axis + 1] or 0)
end

function operations.memory_index(array, axes, ...)
  local at = 0
  for axis = 1, axes do
    local extent, i = length_of(array) > 0 and array.extents[axis] or 0,
      tonumber((select(axis, ...)))
    if i < 0 or i >= extent then return -1LL end
    at = at * extent + i
  end
  return i64(at)
end

function operations.memory_has(array, index)
  index = tonumber(index)
  return index >= 0 and index < length_of(array)
end

local function address_of(array, index, size) return { array.words, array.first + index * size } end

function operations.memory_at(array, index, size)
  if not operations.memory_has(array, index) then return nowhere end
  return address_of(array, tonumber(index), size)
end

function operations.memory_offset(address, index, stride, offset)
  if address == nowhere then return nowhere end
  return { address[1], address[2] + tonumber(index) * stride + offset }
end

function operations.memory_load(address, zero)
  local value = address ~= nowhere and address[1][address[2]]
  if value == nil or address == nowhere then return zero end
  return value
end

function operations.memory_store(address, value) address[1][address[2]] = value end

--- Returns the old value.
function operations.memory_update(address, value, zero, op)
  local before = operations.memory_load(address, zero)
  operations.memory_store(address, op(before, value))
  return before
end

function operations.memory_exchange(address, value)
  local before = operations.memory_load(address, 0LL)
  operations.memory_store(address, value)
  return before
end

function operations.memory_outside() counted.count_outside(4) end

function operations.memory_append(array)
  if type(array) ~= "table" then return -1LL end
  counted.check_growth(array)
  array.length = array.length + 1
  return array.length - 1 + 0LL
end

-- Moves the words of the elements from `index` on to another table, and returns their address.
local function take(array, index)
  local words, from = {}, array.first + index * array.size
  for offset = from, from + (array.length - index) * array.size - 1 do
    words[offset], array.words[offset] = array.words[offset], nil
  end
  array.length = index
  return { words, from }
end

function operations.memory_pop(array)
  if length_of(array) == 0 then return nowhere end
  counted.check_growth(array)
  return take(array, array.length - 1)
end

function operations.memory_clear(array)
  if length_of(array) == 0 then return end
  counted.check_growth(array)
  take(array, 0)
end

function operations.memory_slice(array, first, count, size)
  local length = length_of(array)
  first = math.max(0, math.min(length, tonumber(first)))
  count = math.max(0, math.min(tonumber(count), length - first))
  local made = operations.memory_new(count, size)
  made.is_pinned = true
  if count > 0 then
    array.is_pinned, made.words, made.first = true, array.words, array.first + first * size
  end
  return made
end

-- -- lists ----------------------------------------------------------------------------------------

--- Removes the last element; returns its numbers, field by field.
function operations.pop_numbers(level, at)
  local others, values = {}, {}
  for k = 2, #level.fields do
    others[#others + 1], others[#others + 2] = k, k
  end
  values[1] = oracle_list.pop(level, at, values, 1, unpack(others))
  return vector.flat(unpack(values))
end

return derivative
