-- components.lua - the connected components of an image: labels hook to their least neighbour,
-- then point at their roots.
-- usage: components [pixels per axis]
local rg, bench = require "regolith", require "bench"
local n = bench.arguments(768)
local solid = rg.field(rg.u8, n, n)
local label = rg.field(rg.i32, n * n)

rg.kernel(function()
  for i, j in rg.range(n, n) do solid[i][j] = bench.noise(i * n + j) < 0.58 and 1 or 0 end
end)()

local start = rg.kernel(function()
  for i, j in rg.range(n, n) do label[i * n + j] = solid[i][j] == 1 and i * n + j or -1 end
end)

local hook = rg.kernel(function()
  local changed = 0
  for i, j in rg.range(n, n) do
    if solid[i][j] == 1 then
      local here = label[i * n + j]
      local least = here
      if i > 0 and solid[i - 1][j] == 1 then least = math.min(least, label[(i - 1) * n + j]) end
      if i < n - 1 and solid[i + 1][j] == 1 then least = math.min(least, label[(i + 1) * n + j]) end
      if j > 0 and solid[i][j - 1] == 1 then least = math.min(least, label[i * n + j - 1]) end
      if j < n - 1 and solid[i][j + 1] == 1 then least = math.min(least, label[i * n + j + 1]) end
      if least < here then
        label:min(here, least)
        changed = changed + 1
      end
    end
  end
  for k in rg.range(n * n) do
    local root = label[k]
    if root >= 0 then
      while label[root] ~= root do root = label[root] end
      label[k] = root
    end
  end
  return changed
end)

local total = rg.kernel(function()
  local s = rg.f64(0)
  for k in rg.range(n * n) do s = s + label[k] end
  return s / (n * n)
end)

bench.run {
  start = start,
  step = function() while hook() > 0 do end end,
  checksum = total,
}
