--- Writes OpenVDB files, version 224, without OpenVDB's library, which is C++ and 55 MB. A grid has
--- the library's standard tree, 5-4-3:
---
---     root: children by their origin -> 32^3 nodes -> 16^3 nodes -> leaves of 8^3 voxels
---
--- All masks come first (which children, which voxels), then all values, leaf by leaf in the same
--- order. Children are ordered by x, y, z, as in the reader's own map. Only values of active voxels
--- are stored (compression "active mask"); inactive ones are the background, zero. The active
--- voxels are the active cells of a sparse field, or the elements of a dense one that are not zero.
local bit = require "bit"
local ffi = require "ffi"
local fail = require "regolith.error"
local binary = require "regolith.file.binary"

local vdb = {}

local caller = "rg.volume.write"
local u32, f32, f64 = binary.u32, binary.f32, binary.f64
local active_mask = 2 -- a compression flag

local function text(s) return u32(#s) .. s end
local function meta(name, kind, value) return text(name) .. text(kind) .. u32(#value) .. value end

-- -- voxels to leaves -----------------------------------------------------------------------------

-- Returns the leaf that contains the voxel, { at = {x, y, z}, mask, values }, from the leaves by "x
-- y z".
local function leaf_of(leaves, x, y, z)
  local lx, ly, lz = bit.band(x, -8), bit.band(y, -8), bit.band(z, -8)
  local key = ("%d %d %d"):format(lx, ly, lz)
  local leaf = leaves[key]
  if not leaf then
    leaf = { at = { lx, ly, lz }, values = {} }
    leaves[key] = leaf
    leaves[#leaves + 1] = leaf
  end
  return leaf, (x - lx) * 64 + (y - ly) * 8 + (z - lz)
end

-- Encodes a value: one float, or three.
local function bytes_of(v, parts)
  if parts == 1 then return f32(type(v) == "boolean" and (v and 1 or 0) or tonumber(v)) end
  return f32(tonumber(v.rg_n[0])) .. f32(tonumber(v.rg_n[1]))
    .. f32(parts == 3 and tonumber(v.rg_n[2]) or 0)
end

local function add_sparse(grid, leaves)
  local x, rank = grid.field, #grid.field.shape
  for a, b, c in x:active() do
    local i, j, k = a, rank > 1 and b or 0, rank > 2 and c or 0
    if math.abs(i) >= 2 ^ 31 - 8 or math.abs(j) >= 2 ^ 31 - 8 or math.abs(k) >= 2 ^ 31 - 8 then
      return fail.argument("an index in a .vdb file must fit 32 bits")
    end
    local leaf, n = leaf_of(leaves, i, j, k)
    local v
    if rank == 1 then v = x:get(a) elseif rank == 2 then v = x:get(a, b) else v = x:get(a, b, c) end
    leaf.values[n] = bytes_of(v, grid.parts)
  end
end

local function add_dense(grid, leaves)
  local values, n, at, parts = binary.numbers(grid.field, caller), grid.extents, 0, grid.parts
  for i = 0, n[1] - 1 do
    for j = 0, n[2] - 1 do
      for k = 0, n[3] - 1 do
        local a = tonumber(values[at])
        local b = parts > 1 and tonumber(values[at + 1]) or 0
        local c = parts > 2 and tonumber(values[at + 2]) or 0
        at = at + parts
        if a ~= 0 or b ~= 0 or c ~= 0 then
          local leaf, number = leaf_of(leaves, i + grid.starts[1], j + grid.starts[2],
            k + grid.starts[3])
          leaf.values[number] = parts == 1 and f32(a) or f32(a) .. f32(b) .. f32(c)
        end
      end
    end
  end
end


-- -- the tree -------------------------------------------------------------------------------------

-- Groups children of 2^child_bits voxels per side under nodes with 2^node_bits children per axis.
local function under(children, child_bits, node_bits)
  local nodes, size = {}, 2 ^ (child_bits + node_bits)
  for _, child in ipairs(children) do
    local at, number = {}, 0
    for axis = 1, 3 do
      at[axis] = math.floor(child.at[axis] / size) * size
      number = number * 2 ^ node_bits + (child.at[axis] - at[axis]) / 2 ^ child_bits
    end
    local key = ("%d %d %d"):format(at[1], at[2], at[3])
    if not nodes[key] then
      nodes[key] = { at = at, children = {}, numbers = {} }
      nodes[#nodes + 1] = nodes[key]
    end
    table.insert(nodes[key].children, child)
    child.number = number
  end
  for _, node in ipairs(nodes) do
    table.sort(node.children, function(a, b) return a.number < b.number end)
  end
  return nodes
end

-- Packs bits into 64-bit words.
local function mask(numbers, bits)
  local bytes = ffi.new("uint8_t[?]", bits / 8)
  for _, n in ipairs(numbers) do
    local at = math.floor(n / 8)
    bytes[at] = bit.bor(bytes[at], bit.lshift(1, n % 8))
  end
  return ffi.string(bytes, bits / 8)
end

local function seal_leaf(leaf)
  local numbers, values = {}, {}
  for n = 0, 511 do
    if leaf.values[n] then
      numbers[#numbers + 1], values[#values + 1] = n, leaf.values[n]
    end
  end
  leaf.mask, leaf.bytes = mask(numbers, 512), table.concat(values)
end

-- Writes an inner node, which has no active values of its own.
local function put_inner(node, bits, write)
  local numbers = {}
  for k, child in ipairs(node.children) do numbers[k] = child.number end
  write(mask(numbers, bits), mask({}, bits), "\0")
end

local function put_topology(roots, parts, write)
  write(u32(1), parts == 1 and f32(0) or f32(0):rep(3), u32(0), u32(#roots))
  for _, root in ipairs(roots) do
    write(u32(root.at[1]), u32(root.at[2]), u32(root.at[3]))
    put_inner(root, 32768, write)
    for _, inner in ipairs(root.children) do
      put_inner(inner, 4096, write)
      for _, leaf in ipairs(inner.children) do write(leaf.mask) end
    end
  end
end

local function put_values(roots, write)
  for _, root in ipairs(roots) do
    for _, inner in ipairs(root.children) do
      for _, leaf in ipairs(inner.children) do write(leaf.mask, "\0", leaf.bytes) end
    end
  end
end

-- -- the file -------------------------------------------------------------------------------------

local function put_transform(options, write)
  local s = options.spacing
  local function three(f) return f64(f(s[1])) .. f64(f(s[2])) .. f64(f(s[3])) end
  local o, is_moved = options.origin, false
  for axis = 1, 3 do is_moved = is_moved or o[axis] ~= 0 end
  local is_uniform = s[1] == s[2] and s[2] == s[3]
  write(text((is_uniform and "Uniform" or "") .. "Scale" .. (is_moved and "Translate" or "")
    .. "Map"))
  if is_moved then write(f64(o[1]), f64(o[2]), f64(o[3])) end
  write(three(function(v) return v end), three(math.abs), three(function(v) return 1 / v end),
    three(function(v) return 1 / (v * v) end), three(function(v) return 0.5 / v end))
end

local function put_grid(grid, options, write, place)
  local leaves = {}
  if binary.is_dense(grid.field) then add_dense(grid, leaves) else add_sparse(grid, leaves) end
  for _, leaf in ipairs(leaves) do seal_leaf(leaf) end
  local roots = under(under(leaves, 3, 4), 7, 5)
  table.sort(roots, function(a, b)
    for axis = 1, 3 do
      if a.at[axis] ~= b.at[axis] then return a.at[axis] < b.at[axis] end
    end
    return false
  end)
  local begin = place()
  write(u32(active_mask), u32(3), meta("class", "string", grid.parts == 1 and "fog volume"
    or "unknown"), meta("is_saved_as_half_float", "bool", "\0"), meta("name", "string", grid.name))
  put_transform(options, write)
  put_topology(roots, grid.parts, write)
  local block = place()
  put_values(roots, write)
  return begin, block, place()
end

--- Writes the grids; `file` is the file that `write` writes to.
function vdb.put(grids, options, write, file)
  local function place() return file:seek() end
  write(binary.u64(0x56444220), u32(224), u32(10), u32(0), "\1",
    "00000000-0000-4000-8000-000000000000", u32(0), u32(#grids))
  for _, grid in ipairs(grids) do
    if grid.parts > 3 then
      return fail.argument(("'%s': a grid of a .vdb file has numbers, or vectors of up to \z
        three"):format(grid.name))
    end
    write(text(grid.name), text(grid.parts == 1 and "Tree_float_5_4_3" or "Tree_vec3s_5_4_3"),
      text "")
    local at = place()
    write(("\0"):rep(24))
    local begin, block, past = put_grid(grid, options, write, place)
    file:seek("set", at)
    write(binary.u64(begin), binary.u64(block), binary.u64(past))
    file:seek("set", past)
  end
end

return vdb
