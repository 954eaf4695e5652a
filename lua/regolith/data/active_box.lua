--- The part of a field with unbounded axes (a hash) that has active cells: its active box. Pictures
--- and plots show that part, where other fields are shown as a whole.
local ffi = require "ffi"
local fail = require "regolith.error"
local matrix = require "regolith.data.matrix"

local active_box = {}

--- Whether the field has an unbounded axis, whose extent is 0.
function active_box.is_unbounded(x)
  if not ffi.istype("RgFieldHandle", x) then return false end
  for _, extent in pairs(x.shape) do
    if extent == 0 then return true end
  end
  return false
end

--- Its first index and its extent along each axis, as lists; nil if no cell is active.
function active_box.find(x)
  local low, high, rank = {}, {}, #x.shape
  for a, b, c, d, e, f, g, h in x:active() do
    local index = { a, b, c, d, e, f, g, h }
    for axis = 1, rank do
      local i = index[axis]
      if not low[axis] or i < low[axis] then low[axis] = i end
      if not high[axis] or i > high[axis] then high[axis] = i end
    end
  end
  if not low[1] then return nil end
  local extents = {}
  for axis = 1, rank do extents[axis] = high[axis] - low[axis] + 1 end
  return low, extents
end

-- Numbers of an element, from `first` on.
local function put(values, first, v)
  local of = type(v) == "cdata" and matrix.type_of(v)
  if of then
    for k = 0, of.count - 1 do
      local n = v.rg_n[k]
      values[first + k] = type(n) == "boolean" and (n and 1 or 0) or tonumber(n)
    end
  else
    values[first] = type(v) == "boolean" and (v and 1 or 0) or tonumber(v)
  end
end

--- Raises: the box is too large.
function active_box.refuse(x, caller, extents)
  return fail.argument(("%s: the active cells of %s are too far apart, in a box of %s"):format(
    caller, tostring(x), table.concat(extents, " x ")))
end

--- All elements of the box, row-major, as doubles, zero where a cell is inactive; then its first
--- indices and its extents. Raises if no cell is active, or the box is too large for `caller`,
--- which takes up to `largest` cells along an axis (nil: any number).
function active_box.numbers(x, caller, largest)
  local low, extents = active_box.find(x)
  if not low then
    return fail.argument(("%s: %s has no active cells"):format(caller, tostring(x)))
  end
  local parts, rank, count, longest = x.type.count or 1, #extents, 1, 0
  for axis = 1, rank do
    count, longest = count * extents[axis], math.max(longest, extents[axis])
  end
  if count * parts * 8 >= 2 ^ 31 or longest > (largest or math.huge) then
    return active_box.refuse(x, caller, extents)
  end
  local values = ffi.new("double[?]", count * parts)
  for a, b, c, d, e, f, g, h in x:active() do
    local index, at = { a, b, c, d, e, f, g, h }, 0
    for axis = 1, rank do at = at * extents[axis] + index[axis] - low[axis] end
    put(values, at * parts, x:get(unpack(index, 1, rank)))
  end
  return values, low, extents
end

return active_box
