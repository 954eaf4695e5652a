--- Gradients are cleared before adjoints add to them. Each launch uses only a few slices (first
--- indices) of a large field with an axis for time. Its gradient is cleared slice by slice, each
--- just before the first adjoint that uses it, which then finds it in the cache. Clearing all of it
--- at the beginning would write it to memory once more.
local shadow = require "regolith.data.shadow"
local subject = require "regolith.data.subject"

local slices = {}

local LEAST_BYTES = 2 ^ 18 -- of a slice: clearing a small one takes less time than launching that

--- Notes that entry `number` uses the gradient of a field. `used` has, by field, the last entry
--- that uses each first index, or false if some entry uses all of them.
function slices.note(used, use, number)
  local of_field = used[use.key]
  if of_field == false then return end
  if use.first == nil then
    used[use.key] = false
  elseif of_field then
    of_field[use.first] = number
  else
    used[use.key] = { [use.first] = number }
  end
end

local function has_large_slices(s)
  if s.rank < 2 or s.starts[1] ~= 0 then return false end
  local count = subject.count(s)
  return count and count / s.extents[1] * s.type.size >= LEAST_BYTES and s.extents[1] > 1
end

-- A kernel that clears the slice of a first index.
local function clearing(s)
  local names, extents = {}, {}
  for axis = 2, s.rank do
    names[axis - 1], extents[axis - 1] = "i" .. axis, ("%d"):format(s.extents[axis])
  end
  return subject.kernel(s, "rg.grad", ("function(x, i1, zero)\nfor %s in rg.range(%s) do\n\z
    %s = zero end end"):format(table.concat(names, ", "), table.concat(extents, ", "),
    subject.element(s, "x")))
end

--- Clears the slices of a gradient that no entry uses, and leaves the others to functions in `due`,
--- lists by the number of the last entry, whose adjoint is the first one. `last`: by first index.
--- False: the gradient has to be cleared as a whole.
function slices.clear(gradient, last, due)
  local s = last and subject.of(gradient, "rg.grad")
  if not s or not has_large_slices(s) or not shadow.is_dense(gradient) then return false end
  local kernel, zero = clearing(s), s.type.members and s.type() or s.type(0)
  for first = 0, s.extents[1] - 1 do
    local function clear() kernel(gradient, first, zero) end
    local number = last[first]
    if number then due[number] = due[number] or {} end
    if number then table.insert(due[number], clear) else clear() end
  end
  return true
end

return slices
