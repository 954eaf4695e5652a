-- nbody.lua - gravity between all pairs of bodies. usage: nbody [bodies] [fast | exact]
-- With `fast`, all sides may reassociate sums and use reciprocals: numba and Taichi by their
-- settings, C as it is written.
local rg, bench = require "regolith", require "bench"
local n, way = bench.arguments(8192, "fast")

local dt, softening = 1e-3, 0.05
local x, v = rg.field(rg.vec3, n), rg.field(rg.vec3, n)
local mass = rg.field(rg.f32, n)

local start = rg.kernel(function()
  for i in rg.range(n) do
    x[i] = rg.vec3(bench.noise(3 * i), bench.noise(3 * i + 1), bench.noise(3 * i + 2)) - 0.5
    v[i] = rg.cross(x[i], rg.vec3(0, 0, 1))
    mass[i] = (0.5 + bench.noise(3 * n + i)) / n
  end
end)

local step = rg.kernel(function()
  for i in rg.range(n) do
    local a = rg.vec3(0)
    for j = 0, n - 1 do
      local d = x[j] - x[i]
      local r = math.sqrt(rg.dot(d, d) + softening * softening)
      a = a + mass[j] * d / r ^ 3
    end
    v[i] = v[i] + dt * a
  end
  for i in rg.range(n) do x[i] = x[i] + dt * v[i] end
end, { fast_math = way == "fast" })

local energy = rg.kernel(function()
  local s = rg.f64(0)
  for i in rg.range(n) do s = s + rg.dot(v[i], v[i]) + rg.dot(x[i], x[i]) end
  return s / n
end)

bench.run { start = start, step = step, checksum = energy }
