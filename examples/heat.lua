-- heat.lua - heat spreads over a sparse grid: blocks appear where it arrives.
-- Run it with:  examples/run heat
local rg = require "regolith"

local n, leaf = 256, 8
local t, next_t = rg.field(rg.f32), rg.field(rg.f32)
local block = rg.root:pointer("ijk", n / leaf)
block:dense("ijk", leaf):place(t, next_t)

local step = rg.kernel(function(rate)
  for i, j, k in t:active() do
    local c = t[i][j][k]
    next_t[i][j][k] = c + rate * (t[i - 1][j][k] + t[i + 1][j][k] + t[i][j - 1][k]
      + t[i][j + 1][k] + t[i][j][k - 1] + t[i][j][k + 1] - 6 * c)
  end
end)
