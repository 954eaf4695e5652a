-- hough.lua - Hough transform: each bright pixel votes for all lines through it.
-- usage: hough [pixels per axis] [angles]
local rg, bench = require "regolith", require "bench"
local n, angles = bench.arguments(512, 180)

local distances = 2 * n
local bright = rg.field(rg.u8, n, n)
local votes = rg.field(rg.i32, angles, distances)

local start = rg.kernel(function()
  for i, j in rg.range(n, n) do
    local on = 0
    if bench.noise(i * n + j) < 0.04 or (i + 2 * j) % 97 == 0 then on = 1 end
    bright[i][j] = on
  end
end)

local vote = rg.kernel(function()
  for a, d in rg.range(angles, distances) do votes[a][d] = 0 end
  for i, j in rg.range(n, n) do
    if bright[i][j] > 0 then
      for a = 0, angles - 1 do
        local theta = a * math.pi / angles
        local distance = i * math.cos(theta) + j * math.sin(theta)
        local d = math.floor(distance * 0.5 + 0.5) + math.floor(n / 2)
        votes[a][d] = votes[a][d] + 1
      end
    end
  end
end)

local best = rg.kernel(function()
  local most, s = 0, 0
  for a, d in rg.range(angles, distances) do
    most = math.max(most, votes[a][d])
    s = s + votes[a][d]
  end
  return most + s * 1e-6
end)

bench.run { start = start, step = vote, checksum = best }
