--- Arrays that kernels create, with arch = "lua": each is a Lua table of elements from 1, with
--- their count. A value of array type is {array}, or {0} for no array, and Lua's collector frees
--- arrays. With several axes, elements are in row-major order, and `extents` has the extents.
--- Statistics count each array as created and freed, since compiled kernels free them when the
--- launch ends. To count bytes, each array has the `capacity` in bytes that a compiled one would
--- have, for elements of `size` bytes.
local vector = require "regolith.oracle.vector"
local fail = require "regolith.error"
local host = require "regolith.host"

local counted = {}

--- The oracle of the running kernel. It counts the `blocks` and `headers` that were created, and
--- `outside`, the writes outside arrays; `stray` is the first of these in this launch.
counted.oracle = nil

local function count_made(blocks, headers)
  local self = counted.oracle
  self.blocks, self.headers = self.blocks + blocks, self.headers + headers
end

host.interpret() -- as in oracle/number.lua

local function array_of(value)
  local array = value[1]
  return type(array) == "table" and array or nil
end

-- Returns the table and index that hold an element, or nil without an array or outside it.
local function place_of(value, i, ...)
  local array = array_of(value)
  if not array then return end
  local at = tonumber(i)
  if array.extents then
    local indices = { i, ... }
    at = 0
    for k, extent in ipairs(array.extents) do
      local index = tonumber(indices[k])
      if index < 0 or index >= extent then return end
      at = at * extent + index
    end
  end
  if at < 0 or at >= array.count then return end
  if array.of then return array.of, array.first + at + 1 end
  return array, at + 1
end

local MOST = 2 ^ 31 - 1
local LARGE = 65536 -- bytes; as in llvm_bc/array_slow.c

function counted.array_new(size, zero, n, ...)
  local array = { count = math.max(0, tonumber(n or 0)) }
  local has_axes = select("#", ...) > 0
  if has_axes then
    array.extents = { array.count }
    for _, extent in ipairs { ... } do
      extent = math.max(0, tonumber(extent))
      array.extents[#array.extents + 1] = extent
      array.count = array.count * extent
    end
  end
  if array.count > MOST then array.count, array.extents = 0, nil end
  for k = 1, array.count do array[k] = zero end
  array.size, array.capacity = size, array.count * size
  local axes = array.extents and #array.extents or 0
  local is_one_block = has_axes and math.ceil(array.capacity / 8) * 8 + 8 * axes < LARGE
  count_made(is_one_block and 1 or 2, 1)
  return { array }
end

--- The indices of element number k in row-major order.
function counted.indices_of(k, shape)
  local at = {}
  for axis = #shape, 1, -1 do
    at[axis] = k % shape[axis]
    k = (k - at[axis]) / shape[axis]
  end
  return unpack(at, 1, #shape)
end

--- Wraps an array of the script: its elements are those of its level, and its length is fixed.
function counted.of_elements(elements, handle)
  local shape, count = elements.level.shape, 1
  for _, extent in ipairs(shape) do count = count * extent end
  return setmetatable({ count = count, extents = #shape > 1 and shape or false, is_pinned = true,
    size = 1, capacity = 0, handle = handle }, {
    __index = function(_, k)
      if type(k) == "number" then return elements:get(counted.indices_of(k - 1, shape)) end
    end,
    __newindex = function(_, k, v) elements:set(v, counted.indices_of(k - 1, shape)) end,
  })
end

function counted.array_length(value)
  local array = array_of(value)
  return array and array.count or 0
end

function counted.array_extent(value, axis)
  local array = array_of(value)
  if not array then return 0 end
  return array.extents and array.extents[tonumber(axis) + 1] or array.count
end

function counted.array_get(value, zero, ...)
  local array, place = place_of(value, ...)
  if array then return array[place] end
  return zero
end

--- Counts a write outside an array; the kernel is `level` calls above.
function counted.count_outside(level)
  local self = counted.oracle
  self.outside = self.outside + 1
  self.stray = self.stray or { line = debug.getinfo(level, "l").currentline }
end

local function set(value, change, ...)
  local array, place = place_of(value, ...)
  if not array then
    counted.count_outside(4)
    return
  end
  array[place] = change(array[place])
end

function counted.array_set(value, v, ...)
  set(value, function() return v end, ...)
end
function counted.array_set_parts(value, v, parts, ...)
  set(value, function(old) return vector.with(old, v, parts) end, ...)
end
function counted.array_update(value, f, v, ...)
  set(value, function(old) return vector.each(f, old, v) end, ...)
end
function counted.array_update_parts(value, f, v, parts, ...)
  set(value, function(old) return vector.update_parts(old, f, v, parts) end, ...)
end

--- Raises if the length of an array cannot change.
function counted.check_growth(array)
  if not array.is_pinned then return end
  return fail.raise { code = "list.full",
    message = "this array cannot grow or shrink: it is an rg.array, a slice or an array of which \z
      a slice was taken, or has several axes",
    hint = "copy it: rg.zeros(T, n):copy_from(a) can grow" }
end

-- Returns the array to change the length of, or nil if there is none. An array with at least
-- `count` elements must not be pinned.
local function own_of(value, count)
  local array = array_of(value)
  if array and array.count >= count then counted.check_growth(array) end
  return array
end

local LEAST_GROWTH = 64 -- this and the growth factor below are those of llvm_bc/array_slow.c

local function grow(array)
  local bytes, capacity = array.count * array.size, array.capacity
  if bytes <= capacity then return end
  array.capacity = math.max(bytes, LEAST_GROWTH, capacity + math.floor(capacity / 2))
  count_made(1, 0)
end

--- Appends an element; returns its slot, or -1 if the value refers to no array.
function counted.array_append(value, v)
  local array = own_of(value, 0)
  if not array then return -1 end
  array.count = array.count + 1
  array[array.count] = v
  grow(array)
  return array.count - 1
end

function counted.array_pop(value, zero)
  local array = own_of(value, 1)
  if not array or array.count == 0 then return zero end
  local v = array[array.count]
  array[array.count] = nil
  array.count = array.count - 1
  return v
end

function counted.array_clear(value)
  local array = own_of(value, 1)
  if not array or array.count == 0 then return end
  for k = 1, array.count do array[k] = nil end
  array.count = 0
end

function counted.array_slice(value, first, count)
  local array = array_of(value)
  local length = array and array.count or 0
  first = math.max(0, math.min(length, tonumber(first)))
  count = math.min(tonumber(count), length - first)
  if count <= 0 then
    count_made(2, 1)
    return { { count = 0, is_pinned = true } }
  end
  count_made(1, 1)
  array.is_pinned = true
  if array.of then array, first = array.of, array.first + first end
  return { { count = count, of = array, first = first, is_pinned = true } }
end

return counted
