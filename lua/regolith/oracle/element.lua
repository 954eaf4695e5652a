--- Elements of fields with arch = "lua". An element is in a cell of its level, under its field's
--- number, or in the C arrays of oracle/flat.lua where all elements always exist.
local vector = require "regolith.oracle.vector"
local oracle_flat = require "regolith.oracle.flat"
local oracle_packed = require "regolith.oracle.packed"

local oracle_element = {}

local Elements = {}
Elements.__index = Elements

function Elements:get(...)
  local cell = self.level.find(...)
  local value = cell and cell[self.number]
  if value == nil then return self.zero end
  return value
end

-- Returns the cell with these indices and its value.
local function held(self, cell)
  local value = cell[self.number]
  if value == nil then value = self.zero end
  return cell, value
end

-- Like that, but creates the cell if it is missing. Outside the shape it returns nil and counts the
-- write.
local function open(self, ...)
  local cell = self.level.ensure(...)
  if cell then return held(self, cell) end
  self.count_outside(self, ...)
end

-- Packed numbers are rounded when they are stored.
local function put(self, cell, value)
  if self.count_range then self.count_range(value) end
  cell[self.number] = self.round and self.round(value) or value
end

function Elements:set(value, ...)
  local cell = open(self, ...)
  if cell then put(self, cell, value) end
end

function Elements:update(op, value, ...)
  local cell, old = open(self, ...)
  if cell then put(self, cell, vector.each(op, old, value)) end
end

-- Assigns only the components at `places`, or nothing if there are none (a computed index was
-- outside).
function Elements:set_parts(value, places, ...)
  if #places == 0 then return end
  local cell, old = open(self, ...)
  if cell then put(self, cell, vector.with(old, value, places)) end
end

function Elements:update_parts(op, value, places, ...)
  if #places == 0 then return end
  local cell, old = open(self, ...)
  if cell then put(self, cell, vector.update_parts(old, op, value, places)) end
end

--- Updates an element and returns its old value; `at` is {0, i, j}. Outside the shape it changes
--- nothing and returns zero.
function Elements:rmw(op, at, value)
  local cell = self.level.ensure(unpack(at, 2))
  if not cell then return self.zero end
  local _, old = held(self, cell)
  put(self, cell, vector.each(op, old, value))
  return old
end

--- compare_exchange compares the bits of an element, component by component.
function oracle_element.swapped(old, expected, desired)
  local is_same = old == expected and (old ~= 0 or type(old) ~= "number" or 1 / old == 1 / expected)
  if is_same or (old ~= old and expected ~= expected) then return desired end
  return old
end
function Elements:swap(at, expected, desired)
  local cell = self.level.ensure(unpack(at, 2))
  if not cell then return self.zero end
  local _, old = held(self, cell)
  put(self, cell, vector.each(oracle_element.swapped, old, expected, desired))
  return old
end

--- The zero element of a type.
function oracle_element.zero(type_name)
  local scalars, is_table = vector.scalars(type_name)
  local zeros = {}
  for k, scalar in ipairs(scalars) do zeros[k] = vector.zero(scalar) end
  if is_table then return zeros end
  return zeros[1]
end

--- Creates the elements of field `number` of a level: numbers, booleans, or vectors as in
--- oracle/vector.lua.
---@param count_number function?   called for each number that a packed type cannot hold
function oracle_element.create(level, number, count_outside, count_number)
  local type_name = level.fields[number].type
  local scalars, is_table = vector.scalars(type_name)
  local self = { level = level, number = number, zero = oracle_element.zero(type_name),
    type = type_name, scalars = scalars, is_table = is_table, count = #scalars,
    count_outside = count_outside, swapped = oracle_element.swapped }
  local packing = level.fields[number].packing
  self.round = packing and oracle_packed.rounding(packing)
  self.count_range = packing and count_number and oracle_packed.counter(packing, count_number)
  if not packing and oracle_flat.fits(level, scalars) then return oracle_flat.create(self) end
  return setmetatable(self, Elements)
end

return oracle_element
