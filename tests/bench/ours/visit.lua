-- visit.lua - W7: x += 1 over active cells: of full leaves, of leaves with 16 of 512 cells or one
-- active, and repeatedly of a small tree that does not change.
-- usage: visit full|few|one|small [root nodes per axis]
local rg, bench = require "regolith", require "bench"
local phase, root = bench.arguments("full", 64)

local x = rg.field(rg.f32)
local block = rg.root:pointer("ijk", root)
if phase == "full" then
  block:dense("ijk", 8):place(x)
elseif phase == "small" then
  block:dense("ijk", 4):place(x)
else
  block:bitmasked("ijk", 8):place(x)
end

local cells = { full = 1, few = 16, one = 1, small = 1 }
local each, every = cells[phase], phase == "small" and 256 or 8
local grow = rg.kernel(function()
  for i, j, k in rg.range(root, root, root) do
    if ((i * root + j) * root + k) % every == 0 then
      for c = 0, each - 1 do
        local at = (31 * c + i + j) % 512
        if rg.static(phase == "small" or phase == "full") then block:activate(i, j, k)
        else x[i * 8 + math.floor(at / 64)][j * 8 + math.floor(at / 8) % 8][k * 8 + at % 8] = 1 end
      end
    end
  end
end)

local step = rg.kernel(function()
  for i, j, k in x:active() do x[i][j][k] = x[i][j][k] + 1 end
end)

local total = rg.kernel(function()
  local n = rg.f64(0)
  for i, j, k in x:active() do n = n + (x[i][j][k] > 0 and 1 or 0) end
  return n
end)

grow()
bench.run { step = step, checksum = total }
