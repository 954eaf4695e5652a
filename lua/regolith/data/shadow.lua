--- Shadows: fields of the same type and cells as another, in trees of their own, for copies of its
--- elements; and arrays like others. A shadow of a sparse field has only the cells that are active
--- when it is copied.
local ffi = require "ffi"
local lib = require "regolith.lib"
local array = require "regolith.data.array"
local field = require "regolith.data.field"
local snode = require "regolith.data.snode"

local shadow = {}

local C = lib.C

-- The levels from below the root to the field's node: { kind, axes, sizes }.
local function levels_of(x)
  local list, node, level = {}, C.rg_field_node(x.rg_field), ffi.new "RgLevel"
  while true do
    lib.check(C.rg_snode_level(node, level), x.rg_runtime)
    if level.parent == nil then return list end
    local axes, sizes = "", {}
    for k = 0, level.axis_count - 1 do
      axes = axes .. ("ijklmnop"):sub(level.axes[k] + 1, level.axes[k] + 1)
      if level.sizes[k] > 0 then sizes[k + 1] = tonumber(level.sizes[k]) end
    end
    table.insert(list, 1, { kind = ffi.string(level.kind), axes = axes, sizes = sizes })
    node = level.parent
  end
end

local function set_offset(made, x)
  local moved = {}
  for axis, start in pairs(x.offset) do
    moved[axis + 1] = start
    moved.is_moved = moved.is_moved or start ~= 0
  end
  if moved.is_moved then
    lib.check(C.rg_field_set_offset(made.rg_field, ffi.new("int64_t[8]", moved), #moved),
      made.rg_runtime)
  end
end

local function are_dense(levels)
  for _, level in ipairs(levels) do
    if level.kind ~= "dense" then return false end
  end
  return true
end

--- Do all cells of x always exist?
function shadow.is_dense(x) return are_dense(levels_of(x)) end

-- `count` fields like x, in one tree, and whether all their cells always exist.
local function make_fields(session, x, t, count)
  field.settle(x)
  local list = {}
  for k = 1, count do
    list[k] = field.create(session, t or x.type, { name = x.name .. " (copy)" })
  end
  local at, levels = snode.tree(session), levels_of(x)
  for _, level in ipairs(levels) do
    at = at[level.kind](at, level.axes, unpack(level.sizes))
  end
  at:place(unpack(list))
  for _, made in ipairs(list) do set_offset(made, x) end
  return list, are_dense(levels)
end

--- A field or array like x (or of the type t), whose elements are zero, and whether all of them
--- always exist.
function shadow.of(session, x, t)
  if array.is(x) then return array.create_empty(session, t or x.type, array.extents(x)), true end
  local list, is_dense = make_fields(session, x, t, 1)
  return list[1], is_dense
end

--- Several fields like x, all of whose cells must always exist: a tree for each takes longer to
--- make than to copy a small field, and its description is rarely in the cache.
function shadow.several(session, x, count) return (make_fields(session, x, nil, count)) end

--- Copies all active cells between a field and its shadow, as often before: nothing is checked, or
--- recorded by a tape.
function shadow.copy(to, from)
  if to.rg_oracle ~= 0 then to:copy_from(from)
  elseif array.is(to) then lib.check(C.rg_array_copy(to.rg_array, from.rg_array), to.rg_runtime)
  else lib.check(C.rg_field_copy(to.rg_field, from.rg_field), to.rg_runtime) end
end

return shadow
