-- bytes.lua - M3: resident bytes per active cell: of full leaves, of leaves with 16 of 512 cells
-- active, of a thousand leaves below a huge root; and of an empty tree.
-- usage: bytes full|few|wide|empty [root nodes per axis]
local rg, bench = require "regolith", require "bench"
local phase, root = bench.arguments("full", 64)

local function resident()
  local file = assert(io.open "/proc/self/statm")
  local pages = file:read "*a":match "^%d+ (%d+)"
  file:close()
  return pages * 4096
end

local function sparse(kind)
  local x = rg.field(rg.f32)
  local block = rg.root:pointer("ijk", root)
  block[kind](block, "ijk", 8):place(x)
  return x, block
end

-- Compiled before memory is measured, since memory of kernels is not that of trees.
local every, each = phase == "wide" and 134217 or 8, phase == "few" and 16 or 1
local grow = rg.kernel(function(x, block)
  for q in rg.range(math.floor(root * root * root / every)) do
    local leaf = rg.i64(q) * every
    local i, j, k = math.floor(leaf / (root * root)), math.floor(leaf / root) % root, leaf % root
    block:activate(i, j, k)
    for c = 0, each - 1 do
      local at = 31 * c % 512
      x[i * 8 + math.floor(at / 64)][j * 8 + math.floor(at / 8) % 8][k * 8 + at % 8] = 1
    end
  end
end)

local kept = {}
local measures = {}
function measures.tree(kind, cells)
  grow:compile(sparse(kind))
  local before = resident()
  local x, block = sparse(kind)
  kept[#kept + 1] = x
  grow(x, block)
  return (resident() - before) / (block:count() * cells)
end
function measures.full() return measures.tree("dense", 512) end
function measures.few() return measures.tree("bitmasked", 16) end
function measures.wide() return measures.tree("bitmasked", 512) end
function measures.empty()
  local before = resident()
  for _ = 1, 50 do
    kept[#kept + 1] = sparse "dense"
    assert(kept[#kept][3][3][3] == 0) -- laid out, nothing written
  end
  return (resident() - before) / 50
end

local figure
bench.run {
  measure = function()
    figure = figure or measures[phase]()
    return figure
  end,
  checksum = function() return 1 end,
}
