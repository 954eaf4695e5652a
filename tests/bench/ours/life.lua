-- life.lua - W14 a: the game of life on blocks of 16 x 16 cells that exist where something lives.
-- Each generation creates the blocks around living ones, and drops blocks in which nothing lives.
-- usage: life [blocks per axis]
local rg, bench = require "regolith", require "bench"
local root = bench.arguments(512)

local now, after, living = rg.field(rg.i32), rg.field(rg.i32), rg.field(rg.i32)
local block = rg.root:pointer("ij", root)
block:place(living)
block:dense("ij", 16):place(now, after)

local sow = rg.kernel(function() -- soup in one of sixty-four blocks
  for i, j in rg.range(root, root) do
    if i % 8 == 3 and j % 8 == 5 then
      for a = 0, 15 do
        for b = 0, 15 do
          local chance = bench.noise(((i * root + j) * 16 + a) * 16 + b)
          now[16 * i + a][16 * j + b] = chance < 0.35 and 1 or 0
        end
      end
    end
  end
end)

local generation = rg.kernel(function()
  for i, j in block:active() do living[i][j] = 0 end
  for i, j in now:active() do
    if now[i][j] == 1 then living[math.floor(i / 16)][math.floor(j / 16)] = 1 end
  end
  for i, j in block:active() do
    if living[i][j] == 1 then
      for a = -1, 1 do
        for b = -1, 1 do block:activate(i + a, j + b) end
      end
    end
  end
  for i, j in now:active() do
    local n = now[i - 1][j - 1] + now[i - 1][j] + now[i - 1][j + 1] + now[i][j - 1] + now[i][j + 1]
      + now[i + 1][j - 1] + now[i + 1][j] + now[i + 1][j + 1]
    after[i][j] = (n == 3 or n == 2 and now[i][j] == 1) and 1 or 0
  end
end)

local prune = rg.kernel(function()
  for i, j in block:active() do living[i][j] = 0 end
  for i, j in now:active() do
    if now[i][j] == 1 then living[math.floor(i / 16)][math.floor(j / 16)] = 1 end
  end
  for i, j in block:active() do
    if living[i][j] == 0 then block:deactivate(i, j) end
  end
end)

local total = rg.kernel(function()
  local s = rg.f64(0)
  for i, j in now:active() do s = s + now[i][j] * (1 + (i + 3 * j) % 16) end
  return s
end)

local age = 0
bench.run {
  start = function()
    block:clear()
    sow()
    age = 0
  end,
  step = function()
    generation()
    now, after = after, now
    age = age + 1
    if age % 8 == 0 then prune() end
  end,
  checksum = total,
}
