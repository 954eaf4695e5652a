--- Indices on their way to C: whole numbers, 0-based, one by one or together in a table or a shape.
local ffi = require "ffi"
local fail = require "regolith.error"
local matrix = require "regolith.data.matrix"

local index = {}

--- The buffer of indices. Every call overwrites it, and a finalizer may make one at any allocation,
--- so nothing is allocated between filling the buffer and using it.
index.buffer = ffi.new "int64_t[8]"
local buffer = index.buffer

local function refuse(i)
  return fail.argument(("an index must be a whole number, got %s"):format(fail.describe(i)),
    "indices start at 0")
end

--- Whether a key holds several indices: a table, a shape or a vector.
function index.is_list(key)
  return type(key) == "table" or ffi.istype("RgShape", key) or matrix.type_of(key) ~= nil
end

local function is_int64(i) return ffi.istype("int64_t", i) or ffi.istype("uint64_t", i) end

--- Raises for whole numbers that a Lua number might have rounded.
function index.check_magnitude(what, n)
  if math.abs(n) < 2 ^ 53 then return end
  return fail.argument(("%s must be %s, got %s"):format(what, n > 0 and "less than 2^53"
    or "greater than -2^53", (math.abs(n) < 2 ^ 63 and "%.0f" or "%g"):format(n)))
end

--- Returns n; raises unless it is a whole number of at least `least`, which is 0 or 1.
---@param what string   "an extent of a field"
function index.check_extent(what, n, least)
  if type(n) ~= "number" or n % 1 ~= 0 or n < least then
    return fail.argument(("%s must be a %s, got %s"):format(what, least == 1
      and "positive whole number" or "whole number of at least 0", fail.describe(n)))
  end
  index.check_magnitude(what, n)
  return n
end

--- The extents among the arguments of `rg.field(T, n, m, { options })`, and the options.
function index.split_extents(what, least, ...)
  local extents, count = { ... }, select("#", ...)
  for k = 1, count do
    if extents[k] == nil then return index.check_extent(what, nil, least) end
  end
  return extents, type(extents[count]) == "table" and table.remove(extents) or {}
end

--- A whole number as a Lua number. Raises for a 64-bit integer that would be rounded.
function index.check(i)
  if type(i) == "number" and i % 1 == 0 and i < 2 ^ 63 and i >= -2 ^ 63 then return i end
  if is_int64(i) and math.abs(tonumber(i)) < 2 ^ 53 then return tonumber(i) end
  if is_int64(i) or type(i) == "number" and i % 1 == 0 then
    return fail.argument(("an index from Lua must be less than 2^53, got %s"):format(
      (tostring(i):gsub("U?LL$", ""))), "kernels take every 64-bit index", "index.range")
  end
  refuse(i)
end
local check = index.check

--- A list's items in a table without metamethods, which may run anything, and its length.
function index.read_list(list)
  if type(list) == "table" and not getmetatable(list) then return list, #list end
  local items, first, count = {}, type(list) == "cdata" and 0 or 1, #list
  for k = 1, count do items[k] = list[first + k - 1] end
  return items, count
end

local function fill_from_list(given)
  local list, count = index.read_list(given)
  if count > 8 then
    return fail.argument(("%d indices; there are at most 8 axes"):format(count), nil, "index.count")
  end
  for k = 0, count - 1 do buffer[k] = check(list[k + 1]) end
  return count
end

--- Fills the buffer; returns how many. One table or shape may hold all of them.
function index.fill(a, b, c, d, e, f, g, h)
  if a == nil then return 0 end
  if type(a) ~= "number" and index.is_list(a) then return fill_from_list(a) end
  buffer[0] = check(a)
  if b == nil then return 1 end
  buffer[1] = check(b)
  if c == nil then return 2 end
  buffer[2] = check(c)
  if d == nil then return 3 end
  buffer[3] = check(d)
  if e == nil then return 4 end
  buffer[4] = check(e)
  if f == nil then return 5 end
  buffer[5] = check(f)
  if g == nil then return 6 end
  buffer[6] = check(g)
  if h == nil then return 7 end
  buffer[7] = check(h)
  return 8
end

-- A whole number that the buffer holds as it is.
local function is_plain_index(i)
  return type(i) == "number" and i % 1 == 0 and i < 2 ^ 63 and i >= -2 ^ 63
end

--- Fills the buffer with the first `count` of the arguments, and returns true, if those are plain
--- whole numbers, at most four; otherwise returns false.
function index.fill_first(count, a, b, c, d)
  local is_plain = count <= 4
  if count > 0 and is_plain then
    is_plain = is_plain_index(a)
    if is_plain then buffer[0] = a end
  end
  if count > 1 and is_plain then
    is_plain = is_plain_index(b)
    if is_plain then buffer[1] = b end
  end
  if count > 2 and is_plain then
    is_plain = is_plain_index(c)
    if is_plain then buffer[2] = c end
  end
  if count > 3 and is_plain then
    is_plain = is_plain_index(d)
    if is_plain then buffer[3] = d end
  end
  return is_plain
end

--- An int64_t as a Lua number if that is exact; otherwise unchanged, since a rounded number would
--- be another index.
function index.as_number(i)
  local n = tonumber(i)
  if n < 2 ^ 53 and n > -2 ^ 53 then return n end
  return n < 2 ^ 63 and ffi.cast("int64_t", n) == i and n or i
end

--- A function that returns `count` indices from an int64_t[8], as numbers, then its other
--- arguments. An index that a number would round, as one of a hash may be, stays an int64_t.
---@return fun(indices: ffi.cdata*, ...: any): ...
function index.unpacker(count)
  local parts = {}
  for k = 1, count do parts[k] = ("as_number(indices[%d])"):format(k - 1) end
  if count == 0 then parts[1] = "0" end -- the one element of a field without axes is x[0]
  local text = ("local as_number = ... return function(indices, ...) return %s, ... end")
    :format(table.concat(parts, ", "))
  return loadstring(text, fail.own_chunk)(index.as_number)
end

--- Raises: x:set was called with `count` arguments, but there are `rank` axes.
function index.refuse_set(rank, count)
  return fail.argument(("x:set takes %s and a value, got %d argument%s"):format(
    rank == 1 and "an index" or rank .. " indices", count, count == 1 and "" or "s"), nil,
    "index.count")
end

return index
