-- redistance.lua - redistancing of a level set by fast sweeping in the eight directions of a cube
-- of cells, each given by signs. usage: redistance [cells per axis]
local rg, bench = require "regolith", require "bench"
local n = bench.arguments(96)

local h = 1 / n
local phi, distance = rg.field(rg.f32, n, n, n), rg.field(rg.f32, n, n, n)

rg.kernel(function()
  for i, j, k in rg.range(n, n, n) do
    local x, y, z = (i + 0.5) * h - 0.5, (j + 0.5) * h - 0.5, (k + 0.5) * h - 0.5
    local stretched = math.sqrt(x * x + 2 * y * y + z * z)
    phi[i][j][k] = (stretched - 0.3) * (1 + x + math.abs(y))
  end
end)()

-- Interpolates the distances of cells next to the surface; all others are far.
local start = rg.kernel(function()
  for i, j, k in rg.range(n, n, n) do
    local here, near = phi[i][j][k], 1e3
    for axis = 0, 2 do
      for side = -1, 1, 2 do
        local a = math.max(0, math.min(n - 1, i + (axis == 0 and side or 0)))
        local b = math.max(0, math.min(n - 1, j + (axis == 1 and side or 0)))
        local c = math.max(0, math.min(n - 1, k + (axis == 2 and side or 0)))
        local there = phi[a][b][c]
        if here * there < 0 then near = math.min(near, h * here / (here - there)) end
      end
    end
    distance[i][j][k] = near
  end
end)

local function solve(i, j, k)
  local a, b, c = 1e3, 1e3, 1e3
  if i > 0 then a = distance[i - 1][j][k] end
  if i < n - 1 then a = math.min(a, distance[i + 1][j][k]) end
  if j > 0 then b = distance[i][j - 1][k] end
  if j < n - 1 then b = math.min(b, distance[i][j + 1][k]) end
  if k > 0 then c = distance[i][j][k - 1] end
  if k < n - 1 then c = math.min(c, distance[i][j][k + 1]) end
  local least, most = math.min(a, b, c), math.max(a, b, c)
  local middle = a + b + c - least - most
  local d = least + h
  if d > middle then
    d = 0.5 * (least + middle + math.sqrt(2 * h * h - (least - middle) * (least - middle)))
    if d > most then
      local sum, square = a + b + c, a * a + b * b + c * c
      d = (sum + math.sqrt(math.max(0, sum * sum - 3 * (square - h * h)))) / 3
    end
  end
  distance[i][j][k] = math.min(distance[i][j][k], d)
end

local sweep = rg.kernel(function(si, sj, sk)
  for a = 0, n - 1 do
    local i = si > 0 and a or n - 1 - a
    for b = 0, n - 1 do
      local j = sj > 0 and b or n - 1 - b
      for c = 0, n - 1 do
        local k = sk > 0 and c or n - 1 - c
        solve(i, j, k)
      end
    end
  end
end)

local total = rg.kernel(function()
  local s = rg.f64(0)
  for i, j, k in rg.range(n, n, n) do s = s + distance[i][j][k] end
  return s / (n * n * n)
end)

bench.run {
  start = start,
  step = function()
    for si = -1, 1, 2 do
      for sj = -1, 1, 2 do
        for sk = -1, 1, 2 do sweep(si, sj, sk) end
      end
    end
  end,
  checksum = total,
}
