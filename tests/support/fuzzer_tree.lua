--- fuzzer_tree.lua - trees as sets: the fuzzer's model of sparse data, which shares no code with
--- what it tests. A declaration is a list of nodes { name, kind, parent, axes = {"i", ..}, sizes },
--- parents first, and of fields { name, type, node }. For every sparse node the model keeps the set
--- of coordinates of its active cells, and for every field its values by coordinates. Coordinates
--- are those of the node's own level, one per axis, in the order of the axes' letters.
local value = require "fuzzer_value"

local tree = {}
local floor = math.floor

-- -- levels ---------------------------------------------------------------------------------------

local function comes_and_goes(node) return node.kind ~= "dense" end

--- Adds to each node: `up`, its parent; `letters`, the axes of its level; `shape`, the number of
--- cells along them (0: unbounded); `own`, its own number of cells by letter.
function tree.complete(nodes)
  local by_name = {}
  for _, node in ipairs(nodes) do
    by_name[node.name] = node
    node.up, node.own, node.letters, node.shape = node.parent and by_name[node.parent], {}, {}, {}
    for k, letter in ipairs(node.axes) do
      node.own[letter] = node.kind == "hash" and 0 or node.sizes[k]
    end
    for code = ("i"):byte(), ("p"):byte() do
      local letter = string.char(code)
      local above
      for k, other in ipairs(node.up and node.up.letters or {}) do
        if other == letter then above = node.up.shape[k] end
      end
      if above or node.own[letter] then
        table.insert(node.letters, letter)
        table.insert(node.shape, (above or 1) * (node.own[letter] or 1))
      end
    end
  end
  return by_name
end

-- Returns the coordinates of the cell of `upper` that contains a cell of `node`.
local function project(node, upper, at)
  local result, by_letter = {}, {}
  for k, letter in ipairs(node.letters) do by_letter[letter] = at[k] end
  local level = node
  while level ~= upper do
    for letter, size in pairs(level.own) do by_letter[letter] = floor(by_letter[letter] / size) end
    level = level.up
  end
  for k, letter in ipairs(upper.letters) do result[k] = by_letter[letter] end
  return result
end

local function key_of(at) return table.concat(at, ",") end

local function is_inside(node, at)
  for k, extent in ipairs(node.shape) do
    if extent > 0 and not (at[k] >= 0 and at[k] < extent) then return false end
  end
  return true
end

local function lineage(node) -- the sparse ones among the node and its ancestors
  local list = {}
  while node do
    if comes_and_goes(node) then table.insert(list, 1, node) end
    node = node.up
  end
  return list
end

local function is_below(node, upper)
  while node do
    if node == upper then return true end
    node = node.up
  end
  return false
end

-- -- the model ------------------------------------------------------------------------------------

local Model = {}
Model.__index = Model

function tree.model(nodes, fields)
  local self = setmetatable({ nodes = tree.complete(nodes), list = nodes, field_list = fields,
    fields = {}, cells = {}, values = {},
    outside = 0 }, Model)
  for _, node in ipairs(nodes) do self.cells[node.name] = {} end
  for _, field in ipairs(fields) do
    self.fields[field.name] = field
    self.values[field.name] = {}
  end
  return self
end

--- Returns a node by its name, or by the name of a field in it.
function Model:node(name) return self.nodes[name] or self.nodes[self.fields[name].node] end

function Model:is_active(name, at)
  local node = self:node(name)
  if not is_inside(node, at) then return false end
  for _, level in ipairs(lineage(node)) do
    if not self.cells[level.name][key_of(project(node, level, at))] then return false end
  end
  return true
end

function Model:activate(name, at)
  local node = self:node(name)
  if not is_inside(node, at) then return false end
  for _, level in ipairs(lineage(node)) do
    local above = project(node, level, at)
    self.cells[level.name][key_of(above)] = above
    for slot = 0, level.kind == "dynamic" and above[#above] - 1 or -1 do -- a list has no holes
      local before = { unpack(above) }
      before[#above] = slot
      self.cells[level.name][key_of(before)] = before
    end
  end
  return true
end

-- Removes a cell and everything in it.
local function remove(self, node, at)
  local key = key_of(at)
  for _, level in ipairs(self.list) do
    if is_below(level, node) then
      for other_key, other in pairs(self.cells[level.name]) do
        if key_of(project(level, node, other)) == key then
          self.cells[level.name][other_key] = nil
        end
      end
    end
  end
  for name, field in pairs(self.fields) do
    local level = self.nodes[field.node]
    if is_below(level, node) then
      for other_key, entry in pairs(self.values[name]) do
        if key_of(project(level, node, entry.at)) == key then self.values[name][other_key] = nil end
      end
    end
  end
end

function Model:deactivate(name, at)
  local node = self:node(name)
  if self:is_active(name, at) then remove(self, node, at) end
end

local function cells_along(level, letter)
  local cells = 1
  while level do
    if (level.own[letter] or 0) > 0 then cells = cells * level.own[letter] end
    level = level.up
  end
  return cells
end

--- Converts indices of one level to those of another: the cell that contains it, or its first cell;
--- 0 on axes that the level does not have.
function Model:rescale(from_name, to_name, at)
  local from, to, result = self:node(from_name), self:node(to_name), {}
  for k, letter in ipairs(to.letters) do
    result[k] = 0
    for position, other in ipairs(from.letters) do
      local fine, coarse = cells_along(from, letter), cells_along(to, letter)
      if other == letter then
        result[k] = fine >= coarse and floor(at[position] / (fine / coarse)) or at[position] * (
          coarse / fine)
      end
    end
  end
  return result
end

-- -- lists: `at` is the cell above ----------------------------------------------------------------

local function element(at, slot)
  local full = { unpack(at) }
  full[#at + 1] = slot
  return full
end

function Model:length(name, at)
  local node, length = self:node(name), 0
  while self.cells[node.name][key_of(element(at, length))] do length = length + 1 end
  return length
end

--- `values` are those of the node's fields, in the order of place.
function Model:append(name, at, values)
  local node = self:node(name)
  if not is_inside(node.up, at) then return 0LL end
  local slot, k = self:length(name, at), 0
  if slot >= node.sizes[1] then
    self.full = true
    return -1LL
  end
  for _, field in ipairs(self.field_list) do
    if field.node == node.name then
      k = k + 1
      self:write(field.name, element(at, slot), values[k])
    end
  end
  return 0LL + slot
end

function Model:pop(name, at)
  local slot = self:length(name, at) - 1
  if slot < 0 then return value.zero(self.fields[name].type) end
  local v = self:read(name, element(at, slot))
  remove(self, self:node(name), element(at, slot))
  return v
end

function Model:empty(name, at)
  for slot = self:length(name, at) - 1, 0, -1 do
    remove(self, self:node(name), element(at, slot))
  end
end

-- The nearest sparse node at or above this one.
local function nearest(node)
  while node and not comes_and_goes(node) do node = node.up end
  return node
end

function Model:clear(name)
  local node = nearest(self:node(name))
  for _, at in pairs(node and self.cells[node.name] or {}) do remove(self, node, at) end
end

--- Returns the active cells in index order.
function Model:active(name)
  local node, list = self:node(name), {}
  local upper = nearest(node)
  local function spread(level_path, at_by_letter, depth)
    local level = level_path[depth]
    if not level then
      local at = {}
      for k, letter in ipairs(node.letters) do at[k] = at_by_letter[letter] end
      list[#list + 1] = at
      return
    end
    local function axis(k, inner)
      local letter = level.axes[k]
      if not letter then return spread(level_path, inner, depth + 1) end
      for i = 0, level.sizes[k] - 1 do
        local own = setmetatable({}, { __index = inner })
        own[letter] = (inner[letter] or 0) * level.sizes[k] + i
        axis(k + 1, own)
      end
    end
    axis(1, at_by_letter)
  end
  local path, level = {}, node
  while level ~= upper do
    table.insert(path, 1, level)
    level = level.up
  end
  for _, at in pairs(upper and self.cells[upper.name] or { {} }) do
    local by_letter = {}
    for k, letter in ipairs(upper and upper.letters or {}) do by_letter[letter] = at[k] end
    spread(path, by_letter, 1)
  end
  table.sort(list, function(a, b)
    for k = 1, #a do
      if a[k] ~= b[k] then return a[k] < b[k] end
    end
    return false
  end)
  return list
end

function Model:count(name) return #self:active(name) end

function Model:read(name, at)
  local entry = self.values[name][key_of(at)]
  if entry then return entry.value end
  return value.zero(self.fields[name].type)
end

--- Writes nothing outside the shape.
function Model:write(name, at, v)
  if not self:activate(name, at) then
    self.outside = self.outside + 1
    return
  end
  self.values[name][key_of(at)] = { at = at, value = value.stored(self.fields[name], v) }
end

--- Returns what pairs(field) yields, as lines of text.
function Model:listing(name)
  local t, lines = self.fields[name].type, {}
  for _, at in ipairs(self:active(name)) do
    lines[#lines + 1] = key_of(at) .. " " .. value.show(t, value.to_lua(t, self:read(name, at)))
  end
  return lines
end

-- -- the same in a runtime ------------------------------------------------------------------------

--- Builds the declaration: name -> node or field.
function tree.build(rg, nodes, fields, type_of)
  local built, root = {}, rg.tree()
  for _, node in ipairs(nodes) do
    local parent = built[node.parent] or root
    local axes, sizes = table.concat(node.axes), { unpack(node.sizes or {}) }
    sizes[#sizes + 1] = { layout = node.layout, name = node.name, chunk = node.chunk }
    built[node.name] = parent[node.kind](parent, axes, unpack(sizes))
  end
  local groups = {} -- by node: packed fields in common words
  for _, field in ipairs(fields) do
    if field.is_grouped then
      groups[field.node] = groups[field.node] or {}
      groups[field.node][field.name] = value.packed_type(rg, field)
    else
      built[field.name] = rg.field(field.packing and value.packed_type(rg, field)
        or type_of(rg, field.type))
      built[field.node]:place(built[field.name])
    end
  end
  for name, members in pairs(groups) do
    local group = rg.packed(members)
    built[name]:place(group)
    for member in pairs(members) do built[member] = group[member] end
  end
  return built, root
end

function tree.listing(field, t)
  local lines, rank = {}, #field.shape
  for a, b, c, d in pairs(field) do
    local at = { a, b, c, d }
    local v = table.remove(at, rank + 1)
    for k = 1, rank do at[k] = tostring(tonumber(at[k])) end
    lines[#lines + 1] = table.concat(at, ",", 1, rank) .. " " .. value.show(t, v)
  end
  return lines
end

return tree
