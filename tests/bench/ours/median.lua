-- median.lua - the median of each pixel's 3 x 3 neighbours, by half a selection sort.
-- usage: median [pixels per axis]
local rg, bench = require "regolith", require "bench"
local n = bench.arguments(512)
local image, result = rg.field(rg.f32, n, n), rg.field(rg.f32, n, n)

rg.kernel(function() for i, j in rg.range(n, n) do image[i][j] = bench.noise(i * n + j) end end)()

local filter = rg.kernel(function()
  for i, j in rg.range(n, n) do
    local w, k = rg.vec(9, rg.f32)(0), 0
    for a = -1, 1 do
      for b = -1, 1 do
        w[k] = image[rg.clamp(i + a, 0, n - 1)][rg.clamp(j + b, 0, n - 1)]
        k = k + 1
      end
    end
    for p = 0, 4 do
      local least = p
      for q = p + 1, 8 do
        if w[q] < w[least] then least = q end
      end
      local t = w[p]
      w[p] = w[least]
      w[least] = t
    end
    result[i][j] = w[4]
  end
end)

local total = rg.kernel(function()
  local s = rg.f64(0)
  for i, j in rg.range(n, n) do s = s + result[i][j] end
  return s / n
end)

bench.run {
  step = filter,
  checksum = total,
}
