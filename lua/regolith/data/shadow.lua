--- Shadows: fields of the same type and cells as another, in trees of their own, for copies of its
--- elements; and arrays like others. A shadow of a sparse field has only the cells that are active
--- when it is copied.
local lib = require "regolith.lib"
local array = require "regolith.data.array"
local field = require "regolith.data.field"
local snode = require "regolith.data.snode"

local shadow = {}

local C = lib.C

local function set_offset(made, x)
  local offset, is_moved = {}, false
  for axis, start in pairs(x.offset) do
    offset[axis + 1], is_moved = start, is_moved or start ~= 0
  end
  if is_moved then field.set_offset(made, offset) end
end

local function are_dense(levels)
  for _, level in ipairs(levels) do
    if level.kind ~= "dense" then return false end
  end
  return true
end

--- Whether all cells of x always exist.
function shadow.is_dense(x) return are_dense(snode.levels(x)) end

-- `count` fields like x, in one tree, and whether all their cells always exist.
local function make_fields(session, x, t, count)
  field.settle(x)
  local list = {}
  for k = 1, count do
    list[k] = field.create(session, t or x.type, { name = x.name .. " (copy)" })
  end
  local levels = snode.levels(x)
  snode.add_levels(snode.tree(session), levels):place(unpack(list))
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
