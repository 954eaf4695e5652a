--- Snapshots with arch = "lua". The core saves and loads its own trees, which are empty with this
--- arch. So before a save the contents of the tables are copied into the core's trees, and after a
--- load they are copied back.
local ffi = require "ffi"
local lib = require "regolith.lib"
local fail = require "regolith.error"
local value = require "regolith.data.value"
local vector = require "regolith.oracle.vector"
local oracle_element = require "regolith.oracle.element"
local oracle_flat = require "regolith.oracle.flat"
local oracle_tree = require "regolith.oracle.tree"

local oracle_snapshot = {}
oracle_snapshot.__index = oracle_snapshot

local C, check = lib.C, lib.check
local sparse = { pointer = true, bitmasked = true, hash = true, dynamic = true }

--- `oracle` holds the data of the runtime with this number.
function oracle_snapshot.create(oracle, runtime)
  return setmetatable({ oracle = oracle, runtime = runtime, nodes = {} }, oracle_snapshot)
end

local key_of = oracle_tree.key_of

-- Lays out and returns the tree of a handle; nil for an array.
local function tree_of(self, handle)
  local node
  if ffi.istype("RgFieldHandle", handle) then
    check(C.rg_field_settle(handle.rg_field, "its first use"), self.runtime)
    node = C.rg_field_node(handle.rg_field)
  elseif ffi.istype("RgNodeHandle", handle) then
    node = handle.rg_node
  elseif ffi.istype("RgTreeHandle", handle) then
    node = C.rg_tree_root(handle.rg_tree)
  else
    return nil
  end
  check(C.rg_snode_settle(node, "its first use"), self.runtime)
  return C.rg_snode_tree(node)
end

-- All nodes of a tree, in the order of their declaration.
local function nodes_of(self, tree)
  local row, number, nodes = ffi.new "RgNodeMemory", 0, {}
  while C.rg_memory_node(lib.runtimes[self.runtime].c, number, row) == 0 do
    if C.rg_snode_tree(row.node) == tree then nodes[#nodes + 1] = row.node end
    number = number + 1
  end
  return nodes
end

-- Calls visit(node, level) once for every level of the trees in the list, and arrays(handle) for
-- arrays.
local function each(self, list, visit, arrays)
  local seen = {}
  for _, row in ipairs(list) do
    local v = row[2]
    if type(v) == "cdata" and ffi.istype("RgArrayHandle", v) then
      arrays(v)
    elseif type(v) == "cdata" then
      local tree = tree_of(self, v)
      if tree and not seen[key_of(tree)] then
        seen[key_of(tree)] = true
        for _, node in ipairs(nodes_of(self, tree)) do
          self.nodes[#self.nodes + 1] = node
          visit(node, self.oracle:level(node))
        end
      end
    end
  end
end

local result = ffi.new "int64_t[1]"

local function index_of(one, rank)
  local index = ffi.new "int64_t[8]"
  for k = 1, rank do index[k - 1] = one[k] end
  return index
end

-- Sets each element of field `number` of a level in the core.
local function copy_field_to_core(self, level, number)
  local handle, starts = level.fields[number].held[1], ffi.new "int64_t[8]"
  if not handle then
    return fail.argument("arch = \"lua\" cannot save a tree of which a field has been collected",
      "keep all fields of the tree, or use arch = \"cpu\"")
  end
  check(C.rg_field_offset(handle.rg_field, starts), self.runtime)
  local slot, elements = ffi.new "RgValue", self.oracle:elements(handle)
  for _, one in ipairs(level:list()) do
    for k = 1, level.rank do one[k] = one[k] + tonumber(starts[k - 1]) end
    local index, v = index_of(one, level.rank), elements:get(unpack(one, 1, level.rank))
    value.put(slot, vector.to_lua(level.fields[number].type, v))
    check(C.rg_field_set(handle.rg_field, index, level.rank, slot), self.runtime)
  end
end

local function copy_level_to_core(self, node, level)
  if sparse[level.kind] then
    check(C.rg_snode_call(node, "clear", nil, 0, result), self.runtime)
  end
  for _, one in ipairs(sparse[level.kind] and not level.lists and level:list() or {}) do
    check(C.rg_snode_call(node, "activate", index_of(one, level.rank), level.rank, result),
      self.runtime)
  end
  for number = 1, #level.fields do copy_field_to_core(self, level, number) end
end

-- Calls visit(index, i, j ..) for all elements of an array.
local function each_element(elements, visit)
  local rank = elements.level.rank
  for _, one in ipairs(elements.level:list()) do
    visit(index_of(one, rank), unpack(one, 1, rank))
  end
end

local function copy_array_to_core(self, handle)
  local slot, elements = ffi.new "RgValue", self.oracle:elements(handle)
  each_element(elements, function(index, ...)
    value.put(slot, vector.to_lua(elements.type, elements:get(...)))
    check(C.rg_array_set(handle.rg_array, index, elements.level.rank, slot), self.runtime)
  end)
end

--- Copies the contents of the tables into the core's trees and arrays.
oracle_snapshot.copy_to_core = lib.quietly(function(self, list)
  each(self, list, function(node, level) copy_level_to_core(self, node, level) end,
    function(handle) copy_array_to_core(self, handle) end)
end)

-- -- from the core --------------------------------------------------------------------------------

local function copy_level_from_core(self, node, level)
  local state, index, slot = ffi.new "int64_t[1]", ffi.new "int64_t[8]", ffi.new "RgValue"
  local is_kept, fields = sparse[level.kind] or #level.fields > 0, {}
  for number = 1, #level.fields do fields[number] = oracle_element.create(level, number) end
  while is_kept do
    check(C.rg_snode_next(node, state, index), self.runtime)
    if state[0] < 0 then return end
    local at = {}
    for k = 1, level.rank do at[k] = tonumber(index[k - 1]) end
    if sparse[level.kind] then level.ensure(unpack(at, 1, level.rank)) end
    for number, elements in ipairs(fields) do
      check(C.rg_snode_value(node, number - 1, index, level.rank, slot), self.runtime)
      elements:set(vector.from_lua(value.take(slot)), unpack(at, 1, level.rank))
    end
  end
end

local function copy_array_from_core(self, handle)
  local slot, elements = ffi.new "RgValue", self.oracle:elements(handle)
  each_element(elements, function(index, ...)
    check(C.rg_array_get(handle.rg_array, index, elements.level.rank, slot), self.runtime)
    elements:set(vector.from_lua(value.take(slot)), ...)
  end)
end

--- Copies the contents of the core's trees and arrays into the tables.
oracle_snapshot.copy_from_core = lib.quietly(function(self, list)
  each(self, list, function(node, level)
    if not level.parent then
      for key in pairs(level.tree.root) do level.tree.root[key] = nil end
      for _, any in pairs(level.tree.levels) do oracle_flat.clear(any) end
    end
    copy_level_from_core(self, node, level)
  end, function(handle) copy_array_from_core(self, handle) end)
end)

--- Empties the core's trees again.
function oracle_snapshot:clear()
  for _, node in ipairs(self.nodes) do
    local level = self.oracle:level(node)
    if sparse[level.kind] then
      check(C.rg_snode_call(node, "clear", nil, 0, result), self.runtime)
    end
  end
  self.nodes = {}
end

return oracle_snapshot
