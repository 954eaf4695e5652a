--- rg.rescale from Lua: indices of one level of a tree as those of another. In kernels:
--- core/sema/rescale.c.
local ffi = require "ffi"
local lib = require "regolith.lib"
local fail = require "regolith.error"
local index = require "regolith.data.index"

local C, check, buffer = lib.C, lib.check, index.buffer
local out, starts = ffi.new "int64_t[8]", ffi.new "int64_t[8]"

-- The node of a level; writes where its indices start to `starts`.
local function node_of(level)
  ffi.fill(starts, ffi.sizeof(starts))
  if ffi.istype("RgNodeHandle", level) then return level.rg_node end
  if not ffi.istype("RgFieldHandle", level) then
    return fail.argument("rg.rescale takes two levels first, each a field or an SNode, not "
      .. fail.describe(level),
      "rg.rescale(x, block, i, j)")
  end
  local node = C.rg_field_node(level.rg_field)
  if node == nil then
    return fail.argument("a field without a place has no level",
      "place it: node:place(x), or give it a shape", "field.unplaced")
  end
  check(C.rg_field_offset(level.rg_field, starts), level.rg_runtime)
  return node
end

---@return integer ...   as many as `to` has axes
return fail.border(lib.quietly(function(from, to, ...)
  local low = node_of(from)
  local count = index.fill(...)
  for k = 0, count - 1 do buffer[k] = buffer[k] - starts[k] end
  local high = node_of(to)
  check(C.rg_snode_rescale(low, high, buffer, count, out), from.rg_runtime)
  local rank = C.rg_snode_rank(high)
  for k = 0, rank - 1 do out[k] = out[k] + starts[k] end
  return index.unpacker(rank)(out)
end))
