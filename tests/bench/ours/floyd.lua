-- floyd.lua - shortest paths between all pairs of vertices (Floyd-Warshall).
-- usage: floyd [vertices]
local rg, bench = require "regolith", require "bench"
local n = bench.arguments(384)

local distance = rg.field(rg.f32, n, n)

local start = rg.kernel(function()
  for i, j in rg.range(n, n) do
    local chance = bench.noise(2 * (i * n + j))
    distance[i][j] = 1e9
    if chance < 0.05 then distance[i][j] = 1 + 9 * bench.noise(2 * (i * n + j) + 1) end
    if i == j then distance[i][j] = 0 end
  end
end)

local solve = rg.kernel(function()
  for k = 0, n - 1 do
    for i, j in rg.range(n, n) do
      distance[i][j] = math.min(distance[i][j], distance[i][k] + distance[k][j])
    end
  end
end)

local mean = rg.kernel(function()
  local s = rg.f64(0)
  for i, j in rg.range(n, n) do s = s + distance[i][j] end
  return s / (n * n)
end)

bench.run { start = start, step = solve, checksum = mean }
