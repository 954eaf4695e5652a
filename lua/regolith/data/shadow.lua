--- Shadows: fields of the same type and cells as another, in trees of their own, for copies of its
--- elements. A shadow of a sparse field has only the cells that are active when it is copied.
local ffi = require "ffi"
local lib = require "regolith.lib"
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

--- A field like x, whose elements are zero, and whether all its cells always exist.
function shadow.of(session, x)
  field.settle(x)
  local made = field.create(session, x.type, { name = x.name .. " (copy)" })
  local at, is_dense = snode.tree(session), true
  for _, level in ipairs(levels_of(x)) do
    is_dense = is_dense and level.kind == "dense"
    at = at[level.kind](at, level.axes, unpack(level.sizes))
  end
  at:place(made)
  local offset, moved = x.offset, {}
  for axis, start in pairs(offset) do
    moved[axis + 1] = start
    moved.is_moved = moved.is_moved or start ~= 0
  end
  if moved.is_moved then
    lib.check(C.rg_field_set_offset(made.rg_field, ffi.new("int64_t[8]", moved), #moved),
      made.rg_runtime)
  end
  return made, is_dense
end

return shadow
