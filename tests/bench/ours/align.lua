-- align.lua - global alignment of two sequences (Needleman-Wunsch), one antidiagonal at a time.
-- usage: align [letters]
local rg, bench = require "regolith", require "bench"
local n = bench.arguments(2048)

local gap, match, mismatch = -2, 3, -1
local first, second = rg.field(rg.u8, n), rg.field(rg.u8, n)
local score = rg.field(rg.i32, n + 1, n + 1)

local start = rg.kernel(function()
  for i in rg.range(n) do
    first[i] = math.floor(4 * bench.noise(2 * i))
    second[i] = math.floor(4 * bench.noise(2 * i + 1))
  end
end)

local fill = rg.kernel(function()
  for i in rg.range(n + 1) do
    score[i][0] = gap * i
    score[0][i] = gap * i
  end
  for d = 2, 2 * n do
    for i in rg.range({ math.max(1, d - n), math.min(n, d - 1) + 1 }) do
      local j = d - i
      local same = first[i - 1] == second[j - 1] and match or mismatch
      local best = score[i - 1][j - 1] + same
      best = math.max(best, score[i - 1][j] + gap)
      score[i][j] = math.max(best, score[i][j - 1] + gap)
    end
  end
end)

bench.run { start = start, step = fill, checksum = function() return score[n][n] end }
