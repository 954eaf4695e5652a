-- edit.lua - Levenshtein distances of many pairs of words by dynamic programming, row by row.
-- usage: edit [pairs] [letters of a word]
local rg, bench = require "regolith", require "bench"
local count, length = bench.arguments(4096, 96)

local first, second = rg.field(rg.i8, count, length), rg.field(rg.i8, count, length)
local row = rg.field(rg.i32, count, length + 1)
local distance = rg.field(rg.i32, count)

rg.kernel(function()
  for p, k in rg.range(count, length) do
    local at = 2 * (p * length + k)
    first[p][k] = rg.i8(bench.noise(at) * 4)
    second[p][k] = rg.i8(bench.noise(at + 1) * 4)
  end
end)()

local compare = rg.kernel(function()
  for p in rg.range(count) do
    for j = 0, length do row[p][j] = j end
    for i = 0, length - 1 do
      local corner = row[p][0]
      row[p][0] = i + 1
      for j = 0, length - 1 do
        local replaced = corner + (first[p][i] == second[p][j] and 0 or 1)
        corner = row[p][j + 1]
        row[p][j + 1] = math.min(replaced, corner + 1, row[p][j] + 1)
      end
    end
    distance[p] = row[p][length]
  end
end)

local total = rg.kernel(function()
  local s = rg.f64(0)
  for p in rg.range(count) do s = s + distance[p] end
  return s / count
end)

bench.run { step = compare, checksum = total }
