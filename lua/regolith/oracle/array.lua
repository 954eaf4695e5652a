--- Arrays with arch = "lua": each array has a level of its own, whose cells are in one table by
--- number. Such a level offers the methods that oracle/element.lua and the loops of oracle.lua call
--- on the levels of trees.
local oracle_array = {}

-- as in oracle/number.lua: traces must compute the same keys as the interpreter
require("regolith.host").interpret()

local Level = {}
Level.__index = Level

function Level:is_active(...)
  local _, is_active = self.find(...)
  return is_active
end

function Level.is_sparse() return false end

--- Returns the indices of all elements in order: a list of lists.
function Level:list()
  local all, at = {}, {}
  local function go(axis)
    if axis > self.rank then
      all[#all + 1] = { unpack(at) }
      return
    end
    for i = 0, self.shape[axis] - 1 do
      at[axis] = i
      go(axis + 1)
    end
  end
  go(1)
  return all
end

--- Creates the level of an array: `shape` is a list of its extents, `type_name` the type of an
--- element.
function oracle_array.level(shape, type_name)
  local rank, cells = #shape, {}
  local self = setmetatable({ kind = "dense", rank = rank, shape = shape, holds_all = true,
    fields = { { type = type_name } } }, Level)
  self.level = self
  local function key_of(...)
    local key = 0
    for axis = 1, rank do
      local i = tonumber((select(axis, ...)))
      if not (i >= 0 and i < shape[axis]) then return end
      key = key * shape[axis] + i
    end
    return key
  end
  function self.find(...)
    local key = key_of(...)
    if not key then return nil, false, false end
    return cells[key], true, true
  end
  function self.ensure(...)
    local key = key_of(...)
    if not key then return end
    local cell = cells[key]
    if not cell then
      cell = {}
      cells[key] = cell
    end
    return cell
  end
  return self
end

return oracle_array
