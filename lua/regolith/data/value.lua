--- Converts numbers and booleans to C and back: an RgValue for one, nested 1-based tables for many.
local ffi = require "ffi"
local lib = require "regolith.lib"
local fail = require "regolith.error"
local matrix = require "regolith.data.matrix"

local value = {}

local C = lib.C
local NUMBER, I64, U64, BOOL = C.RG_VALUE_NUMBER, C.RG_VALUE_I64, C.RG_VALUE_U64, C.RG_VALUE_BOOL
local is = ffi.istype
local VECTOR = C.RG_VALUE_VECTOR

local vector_buffer = ffi.new "RgVector"

--- Whether value.put allocates nothing for `v`: a finalizer cannot come between.
function value.is_plain(v)
  local kind = type(v)
  return kind == "number" or kind == "boolean" or is("int64_t", v) or is("uint64_t", v)
end

local Vector = ffi.typeof "RgVector"

--- Writes a number, a 64-bit integer, a boolean or a vector into `slot`; false for anything else.
---@param buffer ffi.cdata*?   where a vector's numbers go; else they are valid until the next call,
---  and the caller is in lib.quiet
function value.put(slot, v, buffer)
  local kind = type(v)
  if kind == "number" then
    slot.kind, slot.number = NUMBER, v
  elseif kind == "boolean" then
    slot.kind, slot.i64 = BOOL, v and 1 or 0
  elseif is("int64_t", v) then
    slot.kind, slot.i64 = I64, v
  elseif is("uint64_t", v) then
    slot.kind, slot.u64 = U64, v
  elseif is(Vector, v) then
    slot.kind, slot.vector = VECTOR, v
  elseif matrix.type_of(v) then
    buffer = buffer or vector_buffer
    matrix.fill(buffer, v)
    slot.kind, slot.vector = VECTOR, buffer
  else
    return false
  end
  return true
end

--- An array, where elements are such; false for anything else.
function value.put_array(slot, v, t)
  local counted = t.item and require "regolith.data.counted"
  if not counted or not require("regolith.data.array").is(v) or counted.type(v) ~= t then
    return false
  end
  local vector = counted.vector(v)
  slot.kind, slot.vector = VECTOR, vector
  return true
end

--- The same for an element of `handle`, whose type is type_of(handle): {3, 4} stands for
--- rg.vec2(3, 4), {mass = 2} for a struct. Returns the value; raises for what no element can be.
function value.put_element(slot, v, type_of, handle)
  if type(v) == "table" then
    local t = type_of(handle)
    if t.count then v = t(v) end
  end
  if value.put(slot, v) then return v end
  if not value.put_array(slot, v, type_of(handle)) then
    return fail.store(v, type_of(handle).name)
  end
  return v
end

--- The value in `slot`; nothing for NIL. Nothing is allocated before a vector is copied. `runtime`:
--- of what a launch returned, which may be an array.
function value.take(slot, runtime)
  local kind = slot.kind
  if kind == NUMBER then return slot.number end
  if kind == BOOL then return slot.i64 ~= 0 end
  if kind == I64 then return slot.i64 end
  if kind == U64 then return slot.u64 end
  if kind ~= VECTOR then return end
  if not runtime then return lib.quiet(matrix.take, slot) end
  return lib.relieve(runtime, lib.quiet(matrix.take, slot, runtime))
end

-- LuaJIT's function that makes a table of a known size; requiring it adds to the global `table`.
local before = { rawget(table, "new"), package.loaded["table.new"] }
local has_new, new_table = pcall(require, "table.new")
if not has_new then new_table = function() return {} end end
rawset(table, "new", before[1])
package.loaded["table.new"] = before[2]

-- Rows of what `take` returns, and of the numbers of an array; each in a function of its own, so
-- that LuaJIT compiles each for what it holds.
local function row_of(take, first, count)
  local t = new_table(count, 0)
  for i = 1, count do t[i] = take(first + i - 1) end
  return t
end

local function row_of_numbers(array, first, count)
  local t = new_table(count, 0)
  for i = 1, count do t[i] = array[first + i - 1] end
  return t
end

--- A flat array of a shape, row-major, as nested tables.
---@param from ffi.cdata* | fun(number: integer): any   an array of doubles, or what returns the
---  element with this number
function value.nest(shape, count, from)
  local number, make_row = 0, type(from) == "cdata" and row_of_numbers or row_of
  if count == 0 then return make_row(from, 0, 1)[1] end
  local function level(axis)
    if axis == count - 1 then
      number = number + shape[axis]
      return make_row(from, number - shape[axis], shape[axis])
    end
    local t = new_table(shape[axis], 0)
    for i = 1, shape[axis] do t[i] = level(axis + 1) end
    return t
  end
  return level(0)
end

-- Copies the numbers of a row to an array; returns how many precede the first that is not a number.
local function put_numbers(row, array, first, count)
  for i = 1, count do
    local v = row[i]
    if type(v) ~= "number" then return i - 1 end
    array[first + i - 1] = v
  end
  return count
end

--- The reverse; raises for a table of another shape, naming the row.
---@param give fun(number: integer, element: any): boolean   false: not acceptable as an element
---@param what string   the caller, for messages
---@param noun string   what has the shape: "field"
---@param array ffi.cdata*?   of doubles: where numbers go without `give`
---@param element string?   what `give` takes: "a vec3"; "a number" by default
function value.flatten(t, shape, count, give, what, noun, array, element)
  local number, at = 0, {}
  local function path(axis)
    local parts = { "t" }
    for k = 0, axis - 1 do parts[k + 2] = ("[%d]"):format(at[k]) end
    return table.concat(parts)
  end
  local function level(row, axis)
    if type(row) ~= "table" then
      return fail.argument(("%s: %s is %s, not a table of %d elements"):format(what, path(axis),
        fail.describe(row), shape[axis]))
    end
    if #row ~= shape[axis] then
      return fail.argument(
        ("%s: %s has %d element%s where the %s has %d"):format(what, path(axis), #row,
        #row == 1 and "" or "s", noun, shape[axis]))
    end
    local known = array and axis == count - 1 and put_numbers(row, array, number, shape[axis]) or 0
    number = number + known
    for i = known + 1, shape[axis] do
      at[axis] = i
      if axis < count - 1 then
        level(row[i], axis + 1)
      else
        if not give(number, row[i]) then
          return fail.argument(("%s: %s is %s, not %s"):format(what, path(count),
            fail.describe(row[i]), element or "a number"))
        end
        number = number + 1
      end
    end
  end
  level(t, 0)
end

return value
