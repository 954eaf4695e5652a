-- activate.lua - W4 and W5: writes to random cells of a sparse cube of 8^3 leaves, with a bit per
-- cell, without bits, or found by a hash: the leaves do not exist (touch), all exist (revisit), or
-- all are deactivated, collected and written again (cycle; drop: without the writes).
-- usage: activate touch|revisit|cycle|drop bitmasked|dense|hash [root nodes per axis] [touches]
local rg, bench = require "regolith", require "bench"
local phase, kind, root, count = bench.arguments("touch", "bitmasked", 64, 4194304)

local x = rg.field(rg.f32)
local block = kind == "hash" and rg.root:hash "ijk" or rg.root:pointer("ijk", root)
block[kind == "bitmasked" and kind or "dense"](block, "ijk", 8):place(x)

local function hash(i)
  local h = rg.u64(i) + 0x9E3779B97F4A7C15ULL
  h = bit.bxor(h, bit.rshift(h, 30)) * 0xBF58476D1CE4E5B9ULL
  h = bit.bxor(h, bit.rshift(h, 27)) * 0x94D049BB133111EBULL
  return bit.bxor(h, bit.rshift(h, 31))
end

local touch = rg.kernel(function()
  for t in rg.range(count) do
    local h = hash(t)
    local leaf, cell = rg.i32(bit.rshift(h, 9) % rg.u64(root * root * root)), rg.i32(h % 512ULL)
    local i, j, k = math.floor(leaf / (root * root)), math.floor(leaf / root) % root, leaf % root
    x[i * 8 + math.floor(cell / 64)][j * 8 + math.floor(cell / 8) % 8][k * 8 + cell % 8] = cell
  end
end)

local drop = rg.kernel(function()
  for i, j, k in block:active() do block:deactivate(i, j, k) end
end)

local total = rg.kernel(function()
  local s = rg.f64(0)
  for i, j, k in x:active() do s = s + x[i][j][k] end
  return s
end)

local steps = {
  touch = touch,
  revisit = touch,
  cycle = function()
    drop()
    touch()
  end,
  drop = drop,
}
touch()
bench.run {
  start = function()
    if phase == "touch" then drop() end
    if phase == "drop" then touch() end
  end,
  step = steps[phase],
  checksum = total,
}
