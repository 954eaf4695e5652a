--- Sparse trees in plain Lua tables: where a runtime of arch = "lua" keeps its data.
--- A level is an SNode. Its container in one cell of the level above is `cell[level]`, a table from cell number to cell;
--- a cell is a table of containers by level, and of elements by their Elements object. A dense container comes to be
--- with the first write and is all zeros before; a cell of a pointer level is active if it is there.
local ffi = require "ffi"
local lib = require "regolith.lib"
local fail = require "regolith.error"
local vector = require "regolith.oracle_vector"

local oracle_tree = {}

local C = lib.C
local floor = math.floor

-- -- levels -----------------------------------------------------------------------------------------------

local Level = {}
Level.__index = Level

-- What is walked from the root to this level.
local function steps_to(level)
  local steps = {}
  while level.parent do
    table.insert(steps, 1, level)
    level = level.parent
  end
  return steps
end

-- Cells of `level` along an axis, below `upper`.
local function divisor(upper, level, axis)
  local product = 1
  while level ~= upper do
    for k, own in ipairs(level.axes) do
      if own == axis then product = product * level.sizes[k] end
    end
    level = level.parent
  end
  return product
end

local function position(level, axis)
  for k, own in ipairs(level.level_axes) do
    if own == axis then return k end
  end
end

-- The number of a cell in its container, as text over the indices i1, i2, .. of the level that is looked for.
local function cell_number(step, target)
  local text = "0"
  for k, axis in ipairs(step.axes) do
    text = ("(%s) * %d + floor(i%d / %d) %% %d"):format(text, step.sizes[k], position(target, axis),
      divisor(step, target, axis), step.sizes[k])
  end
  return text
end

local function index_names(rank)
  local names = {}
  for k = 1, rank do names[k] = "i" .. k end
  return names
end

-- find(i, j) -> the cell or nil, is it active?, is it inside the shape?; ensure(i, j) -> the cell or nil when outside.
local access_template = [[
  local root, steps, floor, tonumber = ...
  local function find(%s)
    %s
    local cell = root
    %s
    return cell, true, true
  end
  local function ensure(%s)
    %s
    local cell, container, key = root
    %s
    return cell
  end
  return find, ensure
]]

local function make_access(level, root)
  local steps, names = steps_to(level), index_names(level.rank)
  local parameters = table.concat(names, ", ")
  local check, walk, make, is_sparse_below = {}, {}, {}, false
  for k, name in ipairs(names) do
    check[#check + 1] = ("%s = tonumber(%s) if not (%s >= 0 and %s < %d) then return nil, false, false end")
      :format(name, name, name, name, level.shape[k])
  end
  for k = #steps, 1, -1 do
    local step = steps[k]
    is_sparse_below = is_sparse_below or step.is_pointer
    table.insert(walk, 1, ("local c%d = cell[steps[%d]] cell = c%d and c%d[%s] if not cell then return nil, %s, true end")
      :format(k, k, k, k, cell_number(step, level), tostring(not is_sparse_below)))
    table.insert(make, 1, ([=[container, key = cell[steps[%d]], %s
      if not container then container = {} cell[steps[%d]] = container end
      cell = container[key]
      if not cell then cell = {} container[key] = cell end]=]):format(k, cell_number(step, level), k))
  end
  local text = access_template:format(parameters, table.concat(check, "\n"), table.concat(walk, "\n"), parameters,
    table.concat(check, "\n"), table.concat(make, "\n"))
  return assert(loadstring(text, fail.own_chunk))(root, steps, floor, tonumber)
end

local c_level = ffi.new "RgLevel"
local extents = ffi.new "int64_t[8]"

-- The level of a node of the C tree, which has its declaration.
local function new_level(tree, pointer)
  lib.check(C.rg_snode_level(pointer, c_level), tree.runtime)
  local level = setmetatable({ axes = {}, sizes = {}, level_axes = {}, shape = {}, rank = c_level.rank, tree = tree,
    is_pointer = ffi.string(c_level.kind) == "pointer", bytes = tonumber(c_level.bytes) }, Level)
  for k = 0, c_level.axis_count - 1 do
    level.axes[k + 1], level.sizes[k + 1] = c_level.axes[k], tonumber(c_level.sizes[k])
  end
  for k = 0, c_level.rank - 1 do level.level_axes[k + 1] = c_level.level_axes[k] end
  local parent = c_level.parent
  lib.check(C.rg_snode_shape(pointer, extents), tree.runtime)
  for k = 0, level.rank - 1 do level.shape[k + 1] = tonumber(extents[k]) end
  if parent ~= nil then level.parent = oracle_tree.level(tree, parent) end
  level.level = level -- so that kernels find it behind fields and nodes alike
  level.find, level.ensure = make_access(level, tree.root)
  return level
end

--- A tree that is empty; `runtime` is its runtime's number.
function oracle_tree.create(runtime) return { root = {}, levels = {}, runtime = runtime } end

function oracle_tree.level(tree, pointer)
  local key = tostring(ffi.cast("void *", pointer))
  tree.levels[key] = tree.levels[key] or new_level(tree, pointer)
  return tree.levels[key]
end

-- -- cells ----------------------------------------------------------------------------------------------------

function Level:is_active(...)
  local _, is_active = self.find(...)
  return is_active
end

function Level:activate(...) self.ensure(...) end

--- Children go with it. Cells of a dense level come and go with the pointer level above.
function Level:deactivate(...)
  if not self.is_pointer or not self:is_active(...) then return end
  local indices, key = { ... }, 0
  for k, axis in ipairs(self.axes) do
    key = key * self.sizes[k] + tonumber(indices[position(self, axis)]) % self.sizes[k]
  end
  local above = {}
  for k, axis in ipairs(self.parent.level_axes) do
    above[k] = floor(tonumber(indices[position(self, axis)]) / divisor(self.parent, self, axis))
  end
  self.parent.find(unpack(above))[self][key] = nil
end

-- The nearest pointer level at or above.
local function listed(level)
  while level and not level.is_pointer do level = level.parent end
  return level
end

-- Calls visit(cell or nil, index) for every active cell; index holds coordinates by axis, in cells of `self`.
local function walk(self, visit)
  local steps, index = steps_to(self), {}
  for _, axis in ipairs(self.level_axes) do index[axis] = 0 end
  local last_pointer = 0
  for k, step in ipairs(steps) do
    if step.is_pointer then last_pointer = k end
  end
  local descend
  local function go_on(k, cell, key)
    local step, rest, before = steps[k], key, {}
    for at = #step.axes, 1, -1 do
      local axis = step.axes[at]
      before[at] = index[axis]
      index[axis] = index[axis] + rest % step.sizes[at] * divisor(step, self, axis)
      rest = floor(rest / step.sizes[at])
    end
    descend(k + 1, cell)
    for at = 1, #step.axes do index[step.axes[at]] = before[at] end
  end
  function descend(k, cell)
    local step = steps[k]
    if not step then return visit(cell, index) end
    local container = cell and cell[step]
    if step.is_pointer or (not container and k < last_pointer) then
      for key, inner in pairs(container or {}) do go_on(k, inner, key) end
      return
    end
    local cells = 1
    for _, size in ipairs(step.sizes) do cells = cells * size end
    for key = 0, cells - 1 do
      local inner = container and container[key]
      if inner or k > last_pointer then go_on(k, inner, key) end
    end
  end
  descend(1, self.tree.root)
end

--- Is it, or a level above, a pointer's?
function Level:is_sparse() return listed(self) ~= nil end

--- Active cells in index order: a list of lists of indices.
function Level:list()
  local all, axes = {}, self.level_axes
  walk(self, function(_, index)
    local one = {}
    for k, axis in ipairs(axes) do one[k] = index[axis] end
    if #axes == 0 then one[1] = 0 end
    all[#all + 1] = one
  end)
  table.sort(all, function(a, b)
    for k = 1, #a do
      if a[k] ~= b[k] then return a[k] < b[k] end
    end
    return false
  end)
  return all
end

-- Dense cells below the last pointer level need not be visited to be counted.
function Level:count()
  local pointer, cells, at = listed(self), 1, self
  while at ~= pointer and at.parent do
    for _, size in ipairs(at.sizes) do cells = cells * size end
    at = at.parent
  end
  if not pointer then return cells + 0LL end
  local count = 0
  walk(pointer, function() count = count + 1 end)
  return count * cells + 0LL
end

--- Active cells, and the bytes that the core would need for them.
function Level:usage()
  local cells, per_container = tonumber(self:count()), 1
  if not self.is_pointer then
    for _, size in ipairs(self.sizes) do per_container = per_container * size end
  end
  return cells, cells / per_container * self.bytes
end

--- Of a dense level the cells of the pointer level above go; without one they are always there.
function Level:clear()
  local pointer = listed(self)
  if not pointer then return end
  local above = pointer.parent
  if above.parent then
    walk(above, function(cell) if cell then cell[pointer] = nil end end)
  else
    self.tree.root[pointer] = nil
  end
end

-- -- elements -------------------------------------------------------------------------------------------------------

local Elements = {}
Elements.__index = Elements

function Elements:get(...)
  local cell = self.level.find(...)
  local value = cell and cell[self]
  if value == nil then return self.zero end
  return value
end

-- A cell, and what it holds.
local function held(self, cell)
  local value = cell[self]
  if value == nil then value = self.zero end
  return cell, value
end

-- The same, made if need be; nothing outside the shape, where a write is counted.
local function open(self, ...)
  local cell = self.level.ensure(...)
  if cell then return held(self, cell) end
  self.count_outside()
end

function Elements:set(value, ...)
  local cell = open(self, ...)
  if cell then cell[self] = value end
end

function Elements:update(op, value, ...)
  local cell, old = open(self, ...)
  if cell then cell[self] = vector.each(op, old, value) end
end

-- Of a vector only the numbers at `places`; where there are none, a computed index missed, nothing is written.
function Elements:set_parts(value, places, ...)
  if #places == 0 then return end
  local cell, old = open(self, ...)
  if cell then cell[self] = vector.with(old, value, places) end
end

function Elements:update_parts(op, value, places, ...)
  if #places == 0 then return end
  local cell, old = open(self, ...)
  if cell then cell[self] = vector.update_parts(old, op, value, places) end
end

--- Gives the old value; `at` is {0, i, j}. Outside it does nothing, and gives zero.
function Elements:rmw(op, at, value)
  local cell = self.level.ensure(unpack(at, 2))
  if not cell then return self.zero end
  local _, old = held(self, cell)
  cell[self] = vector.each(op, old, value)
  return old
end

-- compare_exchange compares bits, number by number.
local function swapped(old, expected, desired)
  local is_same = old == expected and (old ~= 0 or type(old) ~= "number" or 1 / old == 1 / expected)
  if is_same or (old ~= old and expected ~= expected) then return desired end
  return old
end
function Elements:swap(at, expected, desired)
  local cell = self.level.ensure(unpack(at, 2))
  if not cell then return self.zero end
  local _, old = held(self, cell)
  cell[self] = vector.each(swapped, old, expected, desired)
  return old
end

--- What a field holds: numbers, booleans, or vectors as oracle_vector.lua has them.
function oracle_tree.elements(level, type_name, count_outside)
  local count, scalar = vector.shape(type_name)
  local zero = vector.zero(scalar)
  if count > 1 then zero = vector.stretch(count, zero) end
  return setmetatable({ level = level, zero = zero, type = type_name, scalar = scalar, count = count,
    count_outside = count_outside }, Elements)
end

return oracle_tree
