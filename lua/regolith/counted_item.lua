--- Elements of counted arrays that hold arrays, by calls of the core, which counts the references:
--- what is read comes with handles of its own, and what is written is held by the array, too.
--- `at` is an array as those calls know it: { runtime = number, c = its RgRuntime,
--- held = RgCounted, type = of an element, name = "array(array(f32))", extents = { .. } }.
local ffi = require "ffi"
local lib = require "regolith.lib"
local fail = require "regolith.error"
local matrix = require "regolith.matrix"
local value = require "regolith.value"

local C, check = lib.C, lib.check

local item = {}

--- Does an element of this type hold an array?
function item.holds_arrays(t) return t.item ~= nil or (t.arrays ~= nil and #t.arrays > 0) end

-- -- which element --------------------------------------------------------------------------------

-- Its number, row-major.
local function number_of(at, ...)
  local rank, number = #at.extents, 0
  if select("#", ...) ~= rank then
    return fail.raise { code = "index.count",
      message = ("%s has %d %s, %d indices given"):format(at.name, rank,
        rank == 1 and "axis" or "axes", select("#", ...)) }
  end
  for k, extent in ipairs(at.extents) do
    local i = select(k, ...)
    if type(i) ~= "number" or i % 1 ~= 0 then
      return fail.argument(("an index is a whole number, not %s"):format(fail.describe(i)),
        "indices start at 0")
    end
    if i < 0 or i >= extent then
      return fail.raise { code = "index.range",
        message = ("index %s is outside an %s of %s elements"):format(tostring(i), at.name,
          table.concat(at.extents, " x ")) }
    end
    number = number * extent + i
  end
  return number
end

-- -- one element ----------------------------------------------------------------------------------

local slot, vector = ffi.new "RgValue", ffi.new "RgVector"

local load_quietly = lib.quietly(function(at, number)
  check(C.rg_counted_get(at.c, at.held, at.type.name, number, slot), at.runtime)
  return matrix.take(slot, at.runtime)
end)

local store_quietly = lib.quietly(function(at, number, given, v)
  if given then slot.vector = given
  else
    matrix.fill(vector, v)
    slot.vector = vector
  end
  slot.kind = C.RG_VALUE_VECTOR
  check(C.rg_counted_set(at.c, at.held, at.type.name, number, slot), at.runtime)
end)

local function store(at, number, v)
  if not at.type.item then return store_quietly(at, number, nil, at.type(v)) end
  local counted = require "regolith.counted"
  if not counted.is(v) or counted.type(v) ~= at.type then
    return fail.argument(("an element of an %s cannot be %s"):format(at.name, fail.describe(v)))
  end
  return store_quietly(at, number, counted.vector(v), v)
end

--- An array, or a struct; nil: there is no array in it.
function item.get(at, ...) return load_quietly(at, number_of(at, ...)) end

--- Indices, then the element.
function item.set(at, ...)
  local count, given = select("#", ...), { ... }
  return store(at, number_of(at, unpack(given, 1, math.max(0, count - 1))), given[count])
end

-- -- all of them ----------------------------------------------------------------------------------

local function count_of(at)
  local count = 1
  for _, extent in ipairs(at.extents) do count = count * extent end
  return count
end

local function shape_of(at)
  local shape = {}
  for k, extent in ipairs(at.extents) do shape[k - 1] = extent end
  return shape
end

function item.fill(at, v)
  for k = 0, count_of(at) - 1 do store(at, k, v) end
end

function item.to_table(at)
  return value.nest(shape_of(at), #at.extents, function(k) return load_quietly(at, k) or false end)
end

function item.from_table(at, t)
  value.flatten(t, shape_of(at), #at.extents, function(k, v)
    store(at, k, v)
    return true
  end, "a:from_table", "array")
end

function item.copy_from(at)
  return fail.argument(("a:copy_from: elements of an %s hold arrays, which would be shared"):format(
    at.name), "a:from_table(b:to_table()) shares them")
end

-- -- its length -----------------------------------------------------------------------------------

local resize_quietly = lib.quietly(function(at, count)
  return check(C.rg_counted_resize(at.c, at.held, at.type.name, count), at.runtime)
end)

--- So many elements from now on.
function item.resize(at, count) return resize_quietly(at, count) end

return item
