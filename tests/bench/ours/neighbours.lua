-- neighbours.lua - fixed-radius neighbour search in a cube: sorting particles into cells (build),
-- then a sum over the particles within the radius of each.
-- usage: neighbours build|density [particles] [radius]
local rg, bench = require "regolith", require "bench"
local phase, count, radius = bench.arguments("build", 200000, 0.033)

local x, density = rg.field(rg.vec3, count), rg.field(rg.f32, count)
rg.kernel(function()
  for p in rg.range(count) do
    x[p] = rg.vec3(bench.noise(3 * p), bench.noise(3 * p + 1), bench.noise(3 * p + 2))
  end
end)()
local near = rg.neighbours(x, radius)

local estimate = rg.kernel(function()
  for p, here in near:each() do
    local sum = 0.0
    for _, d in near:around(here) do sum = sum + (1 - d / radius) end
    density[p] = sum
  end
end)

bench.run {
  step = phase == "build" and function() near:update() end or estimate,
  checksum = function()
    estimate()
    return density:mean()
  end,
}
