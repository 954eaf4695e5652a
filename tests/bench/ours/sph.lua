-- sph.lua - SPH: each particle is appended to the list of its cell (build), then its density is a
-- sum over the lists of the nine cells around it.
-- usage: sph build|density [particles, a multiple of 4 * cells] [cells per axis]
local rg, bench = require "regolith", require "bench"
local phase, count, n = bench.arguments("build", 131072, 128)

local x, density = rg.field(rg.vec2, count), rg.field(rg.f32, count)
local member = rg.field(rg.i32)
local cell = rg.root:dense("ij", n):dynamic("k", 64, { chunk = 16 })
cell:place(member)
local wide = 4 * n
local high = count / wide
local reach2 = (1 / n) ^ 2
local scale = 4 / (math.pi * reach2 * count) -- of the kernel, times a particle's mass

-- A block of fluid, row by row: one particle anywhere in each square of a finer grid.
rg.kernel(function()
  for p in rg.range(count) do
    local jitter = rg.vec2(bench.noise(2 * p), bench.noise(2 * p + 1))
    x[p] = (rg.vec2(math.floor(p / wide), p % wide) + jitter) / rg.vec2(high, wide)
  end
end)()

local build = rg.kernel(function()
  cell:clear()
  for p in rg.range(count) do cell:append(rg.floor(x[p] * n), p) end
end)

local estimate = rg.kernel(function()
  for p in rg.range(count) do
    local home, sum = rg.floor(x[p] * n), 0.0
    for di = -1, 1 do
      for dj = -1, 1 do
        for _, other in member:items(home + rg.ivec2(di, dj)) do
          local d = x[other] - x[p]
          local q = 1 - rg.dot(d, d) / reach2
          if q > 0 then sum = sum + q * q * q end
        end
      end
    end
    density[p] = scale * sum
  end
end)

local total = rg.kernel(function()
  local s = rg.f64(0)
  for p in rg.range(count) do s = s + density[p] end
  return s / count
end)

build()
bench.run {
  step = phase == "build" and build or estimate,
  checksum = function()
    estimate()
    return total()
  end,
}
