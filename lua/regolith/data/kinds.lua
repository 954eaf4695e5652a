--- Facts about kinds of SNodes, in order: the rows of core/snode/kind.def, which says what
--- they mean. Made by `luajit tests/support/columns.lua --write`.
local kinds = {
  { name = "root", cells = true },
  { name = "dense", cells = true },
  { name = "pointer", nodes = true, slots = true },
  { name = "bitmasked", cells = true, bits = true },
  { name = "dynamic", nodes = true, slots = true, lists = true, own_axes = true },
  { name = "hash", nodes = true, keyed = true, unbounded = true, own_axes = true },
}

for _, row in ipairs(kinds) do kinds[row.name] = row end

return kinds
