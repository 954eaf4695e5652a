-- seams.lua - seam carving: the cheapest path from top to bottom is removed from a picture,
-- repeatedly. usage: seams [pixels per axis] [seams]
local rg, bench = require "regolith", require "bench"
local n, seams = bench.arguments(512, 32)

local picture = rg.field(rg.vec3, n, n)
local energy, cost = rg.field(rg.f32, n, n), rg.field(rg.f32, n, n)
local seam = rg.field(rg.i32, n)

local start = rg.kernel(function()
  for i, j in rg.range(n, n) do
    local k = 3 * (i * n + j)
    picture[i][j] = rg.vec3(bench.noise(k), bench.noise(k + 1), bench.noise(k + 2))
  end
end)

local carve = rg.kernel(function(width)
  for i, j in rg.range(n, width) do
    local up, down = picture[math.max(i - 1, 0)][j], picture[math.min(i + 1, n - 1)][j]
    local left, right = picture[i][math.max(j - 1, 0)], picture[i][math.min(j + 1, width - 1)]
    energy[i][j] = (down - up):norm() + (right - left):norm()
  end
  for j in rg.range(width) do cost[0][j] = energy[0][j] end
  for i = 1, n - 1 do
    for j in rg.range(width) do
      local best = cost[i - 1][j]
      if j > 0 then best = math.min(best, cost[i - 1][j - 1]) end
      if j < width - 1 then best = math.min(best, cost[i - 1][j + 1]) end
      cost[i][j] = energy[i][j] + best
    end
  end
  local at, least = 0, cost[n - 1][0]
  for j = 1, width - 1 do
    if cost[n - 1][j] < least then at, least = j, cost[n - 1][j] end
  end
  seam[n - 1] = at
  for i = n - 2, 0, -1 do
    local from, best = at, cost[i][at]
    if at > 0 and cost[i][at - 1] < best then from, best = at - 1, cost[i][at - 1] end
    if at < width - 1 and cost[i][at + 1] < best then from = at + 1 end
    at = from
    seam[i] = at
  end
  for i in rg.range(n) do
    for j = seam[i], width - 2 do picture[i][j] = picture[i][j + 1] end
  end
end)

local total = rg.kernel(function()
  local s = rg.f64(0)
  for i, j in rg.range(n, n - seams) do s = s + picture[i][j].x end
  return s / n
end)

bench.run {
  start = start,
  step = function()
    for k = 0, seams - 1 do carve(n - k) end
  end,
  checksum = total,
}
