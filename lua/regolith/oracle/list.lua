--- The lists of dynamic levels with arch = "lua"; oracle/tree.lua describes how a list is stored.
--- `at` addresses a list: {0, i, j}, the indices of the level without its own axis.
local vector = require "regolith.oracle.vector"
local oracle_element = require "regolith.oracle.element"

local oracle_list = {} -- oracle_list.full: the level of a list that overflowed

local function find(level, at)
  local cell = level.parent.find(unpack(at, 2))
  return cell and cell[level]
end

function oracle_list.length(level, at)
  local list = find(level, at)
  return list and list.length or 0
end

--- Appends an element, given by the values of the level's fields, component by component. Returns
--- its slot, 0 outside the shape, or -1 if the list is full, which the launch reports.
function oracle_list.append(level, at, ...)
  local cell = level.parent.ensure(unpack(at, 2))
  if not cell then return 0 end
  local list = cell[level] or { length = 0 }
  cell[level] = list
  local slot = list.length
  if slot >= level.sizes[1] then
    oracle_list.full = level
    return -1
  end
  level.tree.owner:grow(level)
  local numbers, element, next_number = vector.join(...), {}, 1
  for k, field in ipairs(level.fields) do
    local scalars, is_table = vector.scalars(field.type)
    local count = #scalars
    element[k] = is_table and { unpack(numbers, next_number, next_number + count - 1) }
      or numbers[next_number]
    next_number = next_number + count
  end
  list[slot], list.length = element, slot + 1
  return slot
end

-- Field `number` of an element; zero if it was never written.
local function value_of(level, element, number)
  local value = element and element[number]
  if value == nil then return oracle_element.zero(level.fields[number].type) end
  return value
end

--- Removes the last element, and returns its field `number`. Further arguments are pairs of a
--- field's number and a key, under which that field is stored in `results`.
function oracle_list.pop(level, at, results, number, ...)
  local list, element = find(level, at), nil
  if list and list.length > 0 then
    list.length = list.length - 1
    element = list[list.length]
    list[list.length] = nil
  end
  local others = { ... }
  for k = 1, #others, 2 do results[others[k + 1]] = value_of(level, element, others[k]) end
  return value_of(level, element, number)
end

--- Iterates over the slots that exist: returns the slot and the requested fields.
function oracle_list.items(level, at, ...)
  local length, slot, wanted = oracle_list.length(level, at), -1, { ... }
  return function()
    slot = slot + 1
    if slot >= length then return end
    local list, values = find(level, at), {}
    for k, number in ipairs(wanted) do values[k] = value_of(level, list and list[slot], number) end
    return slot, unpack(values, 1, #wanted)
  end
end

return oracle_list
