--- Trees in plain Lua tables: the data of a runtime with arch = "lua".
--- A level is an SNode. Its container in one cell of the level above is `cell[level]`, a table from
--- keys to cells. A cell is a table that holds containers by level, and elements by the number of
--- their field, from 1 in the order of place. The keys depend on the kind:
---
---     dense       the cell's number; a cell is created by the first write, and all zeros before
---     pointer, bitmasked    the same, but a cell is active if it is present
---     hash        its coordinates: a number, with several axes a text "3,-1"; also in cell.at.
---                 Since they are doubles, an index past 2^53 is refused
---     dynamic     0 .. container.length - 1, not all need be present; the container is the list
local ffi = require "ffi"
local lib = require "regolith.lib"
local fail = require "regolith.error"
local host = require "regolith.host"
local kinds = require "regolith.data.kinds"

local oracle_tree = {}

-- as in oracle/number.lua: traces must compute the same keys as the interpreter
host.interpret()

local C = lib.C
local floor = math.floor

-- -- levels ---------------------------------------------------------------------------------------

local Level = {}
Level.__index = Level

-- Returns the levels from the root to this one.
local function steps_to(level)
  local steps = {}
  while level.parent do
    table.insert(steps, 1, level)
    level = level.parent
  end
  return steps
end

-- The number of cells of `level` along an axis, below `upper`.
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

local function coordinate(step, target, axis)
  return ("floor(i%d / %d)"):format(position(target, axis), divisor(step, target, axis))
end

-- The key of a cell in its container, as text over the indices i1, i2, .. of the target level.
local function key_text(step, target)
  local parts, number = {}, "0"
  for k, axis in ipairs(step.axes) do
    parts[k] = coordinate(step, target, axis)
    number = ("(%s) * %d + %s %% %d"):format(number, step.sizes[k], parts[k], step.sizes[k])
  end
  if not step.keyed then return number end
  if #parts == 1 then return parts[1] end
  return ("('%s'):format(%s)"):format(("%d,"):rep(#parts), table.concat(parts, ", "))
end

local function index_names(rank)
  local names = {}
  for k = 1, rank do names[k] = "i" .. k end
  return names
end

-- Generates find(i, j), which returns the cell or nil, whether it is active, and whether it is
-- inside the shape; and ensure(i, j), which returns the cell, or nil outside.
local access_template = [[
  local root, steps, floor, tonumber, too_far, grow = ...
  local function find(%s)
    %s
    local cell, container, key, is_active = root, nil, nil, true
    %s
    return cell, is_active, true
  end
  local function ensure(%s)
    %s
    local cell, container, key = root
    %s
    return cell
  end
  return find, ensure
]]

-- An absent dense cell is active if the cell above it is; an absent cell of another kind has
-- nothing below it.
local find_texts = {
  dense = "container, key = cell and cell[steps[%d]], %s cell = container and container[key]",
  sparse = [=[container, key = cell and cell[steps[%d]], %s cell = container and container[key]
    if not cell then return nil, false, true end]=],
  dynamic = [=[container, key = cell and cell[steps[%d]], %s
    if not container or key >= container.length then return nil, false, true end
    cell = container[key]]=],
}
local ensure_texts = {
  dense = [=[container, key = cell[steps[%d]], %s
    if not container then container = {} cell[steps[%d]] = container end
    cell = container[key]
    if not cell then cell = {%s} container[key] = cell end]=],
  sparse = [=[container, key = cell[steps[%d]], %s
    if not container then container = {} cell[steps[%d]] = container end
    cell = container[key]
    if not cell then grow(steps[%d]) cell = {%s} container[key] = cell end]=],
  dynamic = [=[container, key = cell[steps[%d]], %s
    if not container then container = { length = 0 } cell[steps[%d]] = container end
    if key >= container.length then container.length = key + 1 end
    cell = container[key]
    if not cell then cell = {%s} container[key] = cell end]=],
}

-- The initial members of a cell: a cell of a hash has its coordinates.
local function birth(step, target)
  if not step.keyed then return "" end
  local parts = {}
  for k, axis in ipairs(step.axes) do parts[k] = coordinate(step, target, axis) end
  return (" at = { %s } "):format(table.concat(parts, ", "))
end

local function too_far(index)
  return fail.argument(
    ('with arch = "lua", indices of unbounded axes must be less than 2^53, got %.0f'):format(index),
    'arch = "cpu" takes every 64-bit index', "index.range")
end

local function make_access(level, root)
  local steps, names = steps_to(level), index_names(level.rank)
  local parameters = table.concat(names, ", ")
  local check, walk, make = {}, {}, {}
  for k, name in ipairs(names) do
    local bound = level.shape[k] > 0
      and ("if not (%s >= 0 and %s < %d) then return nil, false, false end")
      :format(name, name, level.shape[k])
      or ("if %s <= -%.0f or %s >= %.0f then too_far(%s) end")
      :format(name, 2 ^ 53, name, 2 ^ 53, name)
    check[#check + 1] = ("%s = tonumber(%s) %s"):format(name, name, bound)
  end
  for k, step in ipairs(steps) do
    local key = key_text(step, level)
    local find_text = find_texts[step.kind] or find_texts.sparse
    walk[k] = find_text:format(k, key)
    local ensure = ensure_texts[step.kind] or (step.holds_all and ensure_texts.dense)
    make[k] = ensure and ensure:format(k, key, k, birth(step, level))
      or ensure_texts.sparse:format(k, key, k, k, birth(step, level))
  end
  local text = access_template:format(parameters, table.concat(check, "\n"),
    table.concat(walk, "\n"), parameters,
    table.concat(check, "\n"), table.concat(make, "\n"))
  local make_both = assert(loadstring(text, fail.own_chunk))
  host.interpret(make_both)
  return make_both(root, steps, floor, tonumber, too_far, function(step)
    return level.tree.owner:grow(step)
  end)
end

local c_level = ffi.new "RgLevel"
local extents = ffi.new "int64_t[8]"

-- Returns the level of a node of the C tree, which holds its declaration.
local function new_level(tree, pointer)
  lib.check(C.rg_snode_level(pointer, c_level), tree.runtime)
  local kind = ffi.string(c_level.kind)
  local level = setmetatable({ axes = {}, sizes = {}, level_axes = {}, shape = {},
    rank = c_level.rank, tree = tree,
    node = pointer, fields = oracle_tree.fields(tree, pointer),
    kind = kind, holds_all = kinds[kind].cells and not kinds[kind].bits,
    keyed = kinds[kind].keyed, lists = kinds[kind].lists, bytes = tonumber(c_level.bytes) },
      Level)
  for k = 0, c_level.axis_count - 1 do
    level.axes[k + 1], level.sizes[k + 1] = c_level.axes[k], tonumber(c_level.sizes[k])
  end
  for k = 0, c_level.rank - 1 do level.level_axes[k + 1] = c_level.level_axes[k] end
  local parent = c_level.parent
  lib.check(C.rg_snode_shape(pointer, extents), tree.runtime)
  for k = 0, level.rank - 1 do level.shape[k + 1] = tonumber(extents[k]) end
  if parent ~= nil then level.parent = oracle_tree.level(tree, parent) end
  level.level = level -- kernels find the level in the same way through fields and through nodes
  level.find, level.ensure = make_access(level, tree.root)
  return level
end

--- Creates an empty tree of the oracle `owner`, which checks the budget when cells are created;
--- `runtime` is the number of its runtime.
function oracle_tree.create(runtime, owner)
  return { root = {}, levels = {}, placed = {}, runtime = runtime, owner = owner }
end

--- The key of an object of the core in tables: its address.
function oracle_tree.key_of(pointer) return tostring(ffi.cast("void *", pointer)) end
local key_of = oracle_tree.key_of

function oracle_tree.level(tree, pointer)
  local key = key_of(pointer)
  -- finalizers may use the same buffers
  tree.levels[key] = tree.levels[key] or lib.quiet(new_level, tree, pointer)
  return tree.levels[key]
end

--- The fields of a node, in the order of place: a list of { type = name }, to which oracle.lua
--- adds.
function oracle_tree.fields(tree, pointer)
  local key = key_of(pointer)
  tree.placed[key] = tree.placed[key] or {}
  return tree.placed[key]
end

-- -- cells ----------------------------------------------------------------------------------------

function Level:is_active(...)
  local _, is_active = self.find(...)
  return is_active
end

function Level:activate(...) self.ensure(...) end

-- Returns the container of the cell with these indices and its key there, or nil if there is none.
local function place_of(self, ...)
  local indices, above, key, parts = { ... }, {}, 0, {}
  for k, axis in ipairs(self.parent.level_axes) do
    above[k] = floor(tonumber(indices[position(self, axis)]) / divisor(self.parent, self, axis))
  end
  for k, axis in ipairs(self.axes) do
    parts[k] = tonumber(indices[position(self, axis)])
    key = key * self.sizes[k] + parts[k] % self.sizes[k]
  end
  if self.keyed then
    key = #parts == 1 and parts[1] or ("%d,"):rep(#parts):format(unpack(parts))
  end
  local parent = self.parent.find(unpack(above))
  return parent and parent[self], key
end

--- Deactivates a cell and removes everything below it. A dense cell is removed with the level
--- above; a list is emptied as a whole.
function Level:deactivate(...)
  if self.lists then
    local cell = self.parent.find(...)
    if cell then cell[self] = nil end
    return
  end
  if self.holds_all or not self:is_active(...) then return end
  local container, key = place_of(self, ...)
  container[key] = nil
end

-- The nearest sparse level at or above this one.
local function listed(level)
  while level and level.holds_all do level = level.parent end
  return level
end

-- Calls visit(cell or nil, index) for every active cell; index holds coordinates by axis, in cells
-- of `self`.
local function walk(self, visit)
  local steps, index = steps_to(self), {}
  for _, axis in ipairs(self.level_axes) do index[axis] = 0 end
  local last_listed = 0
  for k, step in ipairs(steps) do
    if not step.holds_all then last_listed = k end
  end
  local descend
  local function go_on(k, cell, coordinates)
    local step, before = steps[k], {}
    for at, axis in ipairs(step.axes) do
      before[at] = index[axis]
      index[axis] = index[axis] + coordinates[at] * divisor(step, self, axis)
    end
    descend(k + 1, cell)
    for at, axis in ipairs(step.axes) do index[axis] = before[at] end
  end
  local function coordinates_of(step, key, cell)
    if step.keyed then return cell.at end
    local coordinates = {}
    for at = #step.axes, 1, -1 do
      coordinates[at] = key % step.sizes[at]
      key = floor(key / step.sizes[at])
    end
    return coordinates
  end
  function descend(k, cell)
    local step = steps[k]
    if not step then return visit(cell, index) end
    local container = cell and cell[step]
    if step.lists then
      for key = 0, (container and container.length or 0) - 1 do
        go_on(k, container[key], { key })
      end
    elseif not step.holds_all or (not container and k < last_listed) then
      for key, inner in pairs(container or {}) do
        go_on(k, inner, coordinates_of(step, key, inner))
      end
    else
      local cells = 1
      for _, size in ipairs(step.sizes) do cells = cells * size end
      for key = 0, cells - 1 do
        local inner = container and container[key]
        if inner or k > last_listed then go_on(k, inner, coordinates_of(step, key)) end
      end
    end
  end
  descend(1, self.tree.root)
end

--- Whether this level, or one above it, is sparse.
function Level:is_sparse() return listed(self) ~= nil end

--- Returns the indices of the active cells in index order: a list of lists.
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

--- Returns the same level with indices that start at `first`.
function oracle_tree.moved(level, first)
  local function down(k, index, ...)
    if index == nil then return end
    -- compared as an i64, even if it is a u64
    if type(index) == "cdata" then index = ffi.cast("int64_t", index) end
    return index - first[k], down(k + 1, ...)
  end
  local self = setmetatable({ first = first, base = level }, { __index = level })
  self.level = self
  function self.find(...) return level.find(down(1, ...)) end
  function self.ensure(...) return level.ensure(down(1, ...)) end
  function self.deactivate(_, ...) return level:deactivate(down(1, ...)) end
  function self.list()
    local all = level:list()
    for _, one in ipairs(all) do
      for k = 1, #first do one[k] = one[k] + first[k] end
    end
    return all
  end
  return self
end

-- Counts cells without visiting dense cells below the last node level.
function Level:count()
  local level, cells, at = listed(self), 1, self
  while at ~= level and at.parent do
    for _, size in ipairs(at.sizes) do cells = cells * size end
    at = at.parent
  end
  if not level then return cells + 0LL end
  local count = 0
  walk(level, function() count = count + 1 end)
  return count * cells + 0LL
end

--- Returns the number of active cells, and the bytes that they would take in the core.
function Level:usage()
  local cells, per_container = tonumber(self:count()), 1
  if self.holds_all then
    for _, size in ipairs(self.sizes) do per_container = per_container * size end
  end
  return cells, cells / per_container * self.bytes
end

--- Removes all cells. For a dense level it removes those of the nearest node level above; without
--- one, cells always exist.
function Level:clear()
  local level = listed(self)
  if not level then return end
  local above = level.parent
  if above.parent then
    walk(above, function(cell) if cell then cell[level] = nil end end)
  else
    self.tree.root[level] = nil
  end
end

return oracle_tree
