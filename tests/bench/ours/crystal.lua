-- crystal.lua - crystal growth in sparse voxels, a cellular automaton: a cell freezes by its number
-- of solid neighbours; cells exist inside and at the surface.
-- usage: crystal [blocks per axis] [steps]
local rg, bench = require "regolith", require "bench"
local blocks, steps = bench.arguments(16, 16)
local n = 8 * blocks
local age = rg.field(rg.u8)
local block = rg.root:pointer("ijk", blocks)
block:bitmasked("ijk", 8):place(age)

local seed = rg.kernel(function()
  for s in rg.range(24) do
    local i = math.floor(n * (0.2 + 0.6 * bench.noise(3 * s)))
    local j = math.floor(n * (0.2 + 0.6 * bench.noise(3 * s + 1)))
    local k = math.floor(n * (0.2 + 0.6 * bench.noise(3 * s + 2)))
    age[i][j][k] = 1
  end
end)

local surround = rg.kernel(function()
  for i, j, k in age:active() do
    if age[i][j][k] > 0 then
      for a = -1, 1 do
        for b = -1, 1 do
          for c = -1, 1 do age:activate(i + a, j + b, k + c) end
        end
      end
    end
  end
end)

local freeze = rg.kernel(function(t)
  for i, j, k in age:active() do
    if age[i][j][k] == 0 then
      local near = 0
      for a = -1, 1 do
        for b = -1, 1 do
          for c = -1, 1 do
            local g = age[i + a][j + b][k + c]
            if g > 0 and g <= t then near = near + 1 end
          end
        end
      end
      if near == 1 or near == 4 or near > 8 then age[i][j][k] = t + 1 end
    end
  end
end)

local total = rg.kernel(function()
  local s = rg.f64(0)
  for i, j, k in age:active() do s = s + age[i][j][k] + (age[i][j][k] > 0 and 100 or 0) end
  return s
end)
bench.run {
  start = function()
    block:clear()
    seed()
  end,
  step = function()
    for t = 1, steps do
      surround()
      freeze(t)
    end
  end,
  checksum = total,
}
