-- lap7.lua - W3: the 7-point Laplacian step on a shell of 8^3 leaves in a sparse cube.
-- usage: lap7 [root nodes per axis]
local rg, bench = require "regolith", require "bench"
local root = bench.arguments(64)

local x, y = rg.field(rg.f32), rg.field(rg.f32)
local block = rg.root:pointer("ijk", root)
block:dense("ijk", 8):place(x, y)

local function bits(value, axis) -- bits axis, axis+3, .. of a Morton number
  local v = 0
  for b = 0, 9 do v = v + bit.lshift(bit.band(bit.rshift(value, 3 * b + axis), 1), b) end
  return v
end
local center = 0.5 * root - 0.5
for q = 0, root ^ 3 - 1 do
  local i, j, k = bits(q, 2), bits(q, 1), bits(q, 0)
  local d = math.sqrt((i - center) ^ 2 + (j - center) ^ 2 + (k - center) ^ 2)
  if math.abs(d - 0.344 * root) < 0.0415 * root then block:activate(i, j, k) end
end

local fill = rg.kernel(function()
  for i, j, k in x:active() do
    local leaf = bit.bor(bit.lshift(bit.rshift(i, 3), 20), bit.bor(bit.lshift(bit.rshift(j, 3), 10),
      bit.rshift(k, 3)))
    local cell = (i % 8 * 8 + j % 8) * 8 + k % 8
    local h = rg.u64(leaf) * 512ULL + rg.u64(cell) + 0x9E3779B97F4A7C15ULL
    h = bit.bxor(h, bit.rshift(h, 30)) * 0xBF58476D1CE4E5B9ULL
    h = bit.bxor(h, bit.rshift(h, 27)) * 0x94D049BB133111EBULL
    h = bit.bxor(h, bit.rshift(h, 31))
    x[i][j][k] = rg.f32(bit.rshift(h, 40)) * (1 / 16777216) - 0.5
  end
end)

local step = rg.kernel(function(a)
  for i, j, k in x:active() do
    local m = x[i][j][k]
    local s = x[i - 1][j][k] + x[i + 1][j][k] + x[i][j - 1][k] + x[i][j + 1][k] + x[i][j][k - 1]
      + x[i][j][k + 1]
    y[i][j][k] = m + a * (s - 6.0 * m)
  end
end)

local total = rg.kernel(function()
  local s = rg.f64(0)
  for i, j, k in y:active() do
    local cell = (i % 8 * 8 + j % 8) * 8 + k % 8
    s = s + rg.f64(y[i][j][k]) * (1.0 + rg.f64(cell) / 512.0)
  end
  return s
end)

fill()
bench.run { step = function() step(0.1) end, checksum = total }
