-- quant_life.lua - the game of life on arrays of bits, like Taichi's quantised arrays.
-- usage: quant_life [cells per axis]
local rg, bench = require "regolith", require "bench"
local n = bench.arguments(2048)

local cells, others = rg.field(rg.uint(1), n, n), rg.field(rg.uint(1), n, n)

local sow = rg.kernel(function(now)
  for i, j in now:active() do now[i][j] = bench.noise(i * n + j) < 0.35 and 1 or 0 end
end)

local generation = rg.kernel(function(now, after)
  for i, j in now:active() do
    local c = 0
    for a = -1, 1 do
      for b = -1, 1 do
        if a ~= 0 or b ~= 0 then c = c + now[i + a][j + b] end
      end
    end
    after[i][j] = (c == 3 or c == 2 and now[i][j] == 1) and 1 or 0
  end
end)

bench.run {
  start = function() sow(cells) end,
  step = function()
    generation(cells, others)
    cells, others = others, cells
  end,
  checksum = function() return cells:sum() end,
}
