--- C arrays for the elements of arrays, and of dense levels that have no sparse level above them,
--- with arch = "lua". There is one C array per component of an element, in row-major order, created
--- by the first write. The functions that kernels call per element are generated as text for each
--- level, so that LuaJIT can compile loops over them.
local ffi = require "ffi"
local fail = require "regolith.error"
local facts = require "regolith.data.scalars"
local vector = require "regolith.oracle.vector"

local oracle_flat = {}

-- f16 are stored as f32, which can represent each of them; they are rounded before the store.
local ctypes = {}
for _, row in ipairs(facts) do ctypes[row.name] = facts.computed(row.name).ctype end

-- Elements; larger levels stay in tables, which take no memory before the first write.
local MOST = 2 ^ 31
-- Bytes; from this size on memory comes from the system, which zeroes pages at first access.
local LARGE = 2 ^ 20

pcall(ffi.cdef, "void *calloc(size_t count, size_t size); void free(void *p);")

local unseen = 0 -- bytes that LuaJIT's collector does not know about

local function new_array(ctype, count)
  local bytes = count * ffi.sizeof(ctype)
  if bytes < LARGE then return ffi.new(ctype .. "[?]", count) end
  unseen = unseen + bytes
  if unseen > 2 ^ 28 then
    unseen = 0
    collectgarbage()
  end
  local p = ffi.C.calloc(count, ffi.sizeof(ctype))
  if p ~= nil then return ffi.gc(ffi.cast(ctype .. " *", p), ffi.C.free) end
  return fail.raise { code = "memory.budget",
    message = ("the host has no memory left for %.0f elements of arch = \"lua\""):format(count),
    hint = "arch = \"cpu\" needs memory only for pages that are touched" }
end

-- -- levels ---------------------------------------------------------------------------------------

local function count_of(level)
  local count = 1
  for axis = 1, level.rank do count = count * level.shape[axis] end
  return count
end

--- Whether elements with these component types are stored in C arrays.
function oracle_flat.fits(level, scalars)
  for _, scalar in ipairs(scalars) do
    if not ctypes[scalar] then return false end
  end
  local at = level.base or level
  while at do
    if not at.holds_all then return false end
    at = at.parent
  end
  return count_of(level) < MOST
end

-- Returns the C arrays of field `number`, which all views of this level share, whatever their
-- offset.
local function columns_of(level, number)
  level = level.base or level
  level.columns = level.columns or {}
  level.columns[number] = level.columns[number] or {}
  return level.columns[number]
end

--- Sets all elements of the level to zero.
function oracle_flat.clear(level)
  for _, columns in pairs(level.columns or {}) do
    for k in pairs(columns) do columns[k] = nil end
  end
end

-- -- access ---------------------------------------------------------------------------------------

-- key: the number of an element, or nil outside. A 64-bit index is compared as an i64, even if it
-- is a u64.
local template = [[
local columns, make, zero, count, outside, each, from_wide, type = ...
local function key(%s)
  %s
  return %s
end
local function get(_, %s)
  local k, column = key(%s), columns[1]
  if k and column then return column[k] end
  return zero
end
local function set(self, value, %s)
  local k = key(%s)
  if not k then return (outside(self, %s)) end
  local column = columns[1] or make()
  column[k] = value
end
local function update(self, op, value, %s)
  local k = key(%s)
  if not k then return (outside(self, %s)) end
  local column = columns[1] or make()
  column[k] = op(column[k], value)
end
local function get_many(_, %s)
  local k = key(%s)
  if not (k and columns[1]) then return zero end
  local v = {}
  for part = 1, count do v[part] = columns[part][k] end
  return v
end
local function set_many(self, value, %s)
  local k = key(%s)
  if not k then return (outside(self, %s)) end
  if not columns[1] then make() end
  for part = 1, count do columns[part][k] = value[part] end
end
local function update_many(self, op, value, %s)
  local k = key(%s)
  if not k then return (outside(self, %s)) end
  set_many(self, each(op, get_many(self, %s), value), %s)
end
if count == 0 then return key, get, set, update end
return key, get_many, set_many, update_many
]]

local function key_text(level)
  local checks, key = {}, "0"
  for axis = 1, level.rank do
    local i, first = "i" .. axis, level.first and level.first[axis] or 0
    checks[axis] = ([[if type(%s) == "cdata" then %s = from_wide(%s, %.0f) else %s = %s - %.0f end
  if not (%s >= 0 and %s < %.0f) then return end]]):format(i, i, i, first, i, i, first, i, i,
      level.shape[axis])
    key = axis == 1 and i or ("(%s) * %.0f + %s"):format(key, level.shape[axis], i)
  end
  return table.concat(checks, "\n  "), key
end

local function from_wide(index, first)
  return tonumber(ffi.cast("int64_t", index) - first)
end

-- Counts a write outside. The kernel is two calls above this function, and its line is noted.
local function outside(self, ...) self.count_outside(self, ...) return nil end

local function make_access(self, level)
  local names = {}
  for axis = 1, level.rank do names[axis] = "i" .. axis end
  local given = table.concat(names, ", ")
  local checks, key = key_text(level)
  local text = template:gsub("%%s", function() return "\0" end)
  local slot = 0
  text = text:gsub("%z", function()
    slot = slot + 1
    return slot == 2 and checks or slot == 3 and key or given
  end)
  text = text:gsub(", %)", ")")
  return assert(loadstring(text, fail.own_chunk))(self.columns, function() return self:make() end,
    self.zero, self.is_table and self.count or 0, outside, vector.each, from_wide, type)
end

-- -- elements -------------------------------------------------------------------------------------

local Flat = {}
Flat.__index = Flat

--- Creates the arrays, all zero; returns the first.
function Flat:make()
  for k, scalar in ipairs(self.scalars) do
    self.columns[k] = new_array(ctypes[scalar], self.size)
  end
  return self.columns[1]
end

-- Assigns only the components at `places`, or nothing if there are none (a computed index was
-- outside).
function Flat:set_parts(value, places, ...)
  if #places == 0 then return end
  if not self.key(...) then return (outside(self, ...)) end
  self:set(vector.with(self:get(...), value, places), ...)
end

function Flat:update_parts(op, value, places, ...)
  if #places == 0 then return end
  if not self.key(...) then return (outside(self, ...)) end
  self:set(vector.update_parts(self:get(...), op, value, places), ...)
end

--- Updates an element and returns its old value; `at` is {0, i, j}. Outside the shape it changes
--- nothing and returns zero.
function Flat:rmw(op, at, value)
  if not self.key(unpack(at, 2)) then return self.zero end
  local old = self:get(unpack(at, 2))
  self:set(vector.each(op, old, value), unpack(at, 2))
  return old
end

function Flat:swap(at, expected, desired)
  if not self.key(unpack(at, 2)) then return self.zero end
  local old = self:get(unpack(at, 2))
  self:set(vector.each(self.swapped, old, expected, desired), unpack(at, 2))
  return old
end

-- -- whole fields ---------------------------------------------------------------------------------

function Flat:fill(v)
  if not self.columns[1] then self:make() end
  for part = 1, self.count do
    local column, x = self.columns[part], v
    if self.is_table then x = v[part] end
    for k = 0, self.size - 1 do column[k] = x end
  end
end

--- Copies all elements of `from`, which has the same component types and shape.
function Flat:copy(from)
  if not from.columns[1] then return self:clear() end
  if not self.columns[1] then self:make() end
  for part, scalar in ipairs(self.scalars) do
    ffi.copy(self.columns[part], from.columns[part], self.size * ffi.sizeof(ctypes[scalar]))
  end
end

function Flat:clear()
  for k in pairs(self.columns) do self.columns[k] = nil end
end

--- Copies all numbers into an array of doubles or int64_t; the components of a vector are adjacent.
function Flat:read(values)
  for part = 1, self.count do
    local column, count, is_bool = self.columns[part], self.count, self.scalars[part] == "bool"
    for k = 0, self.size - 1 do
      local x = column and column[k] or 0
      if is_bool then x = x == true and 1 or 0 end
      values[k * count + part - 1] = x
    end
  end
end

local holds_doubles = { f32 = true, f64 = true } -- for these the C conversion rounds as kernels do

--- Copies numbers into the elements; convert(part, x) converts a number to the type of that
--- component.
function Flat:write(values, convert)
  if not self.columns[1] then self:make() end
  local is_double = ffi.istype("double *", values) or ffi.istype("double[?]", values)
  for part = 1, self.count do
    local column, count = self.columns[part], self.count
    if is_double and holds_doubles[self.scalars[part]] then
      for k = 0, self.size - 1 do column[k] = values[k * count + part - 1] end
    else
      for k = 0, self.size - 1 do column[k] = convert(part, values[k * count + part - 1]) end
    end
  end
end

--- Makes an object of oracle/element.lua use C arrays if its level allows it.
function oracle_flat.create(self)
  self.columns, self.size = columns_of(self.level, self.number), count_of(self.level)
  setmetatable(self, Flat)
  self.key, self.get, self.set, self.update = make_access(self, self.level)
  return self
end

return oracle_flat
