-- lookup.lua - random reads of elements of a tree of 262,144 leaves of 16.
-- usage: lookup pointer|hash [leaves] [reads]
local rg, bench = require "regolith", require "bench"
local kind, leaves, reads = bench.arguments("pointer", 262144, 4194304)

local x = rg.field(rg.f32)
local block = kind == "hash" and rg.root:hash "i" or rg.root:pointer("i", leaves)
block:dense("i", 16):place(x)

local fill = rg.kernel(function()
  for i in rg.range(leaves) do x[i * 16 + 3] = bench.noise(i) end
end)

local look = rg.kernel(function()
  local sum = rg.f64(0)
  for i in rg.range(reads) do
    local leaf = rg.i32(bench.noise(i) * leaves)
    sum = sum + x[leaf * 16 + 3]
  end
  return sum / reads
end)

local mean
fill()
bench.run { step = function() mean = look() end, checksum = function() return mean end }
