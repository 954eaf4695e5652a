-- mesh_queries.lua - queries of a bumpy torus of triangles: first hits of rays from random
-- origins, closest points to random points, or refitting the BVH to vertices that moved.
-- usage: mesh_queries rays|closest|refit [points around] [queries]
local rg, bench = require "regolith", require "bench"
local what, n, queries = bench.arguments("rays", 256, 100000)

local x, cells = rg.array(rg.vec3, n * n), rg.array(rg.ivec3, 2 * n * n)
rg.kernel(function()
  local turn = 2 * math.pi / n
  for i, j in rg.range(n, n) do
    local thick = 0.35 + 0.05 * math.sin(5 * i * turn) * math.sin(7 * j * turn)
    local wide = 1 + thick * math.cos(j * turn)
    x[i * n + j] = rg.vec3(wide * math.cos(i * turn), wide * math.sin(i * turn),
      thick * math.sin(j * turn))
    local a, b = i * n + j, i * n + (j + 1) % n
    local c, d = (i + 1) % n * n + j, (i + 1) % n * n + (j + 1) % n
    cells[2 * a], cells[2 * a + 1] = rg.ivec3(a, c, b), rg.ivec3(b, c, d)
  end
end)()
local tree = rg.bvh(rg.mesh { points = x, triangles = cells })

local from, to = rg.array(rg.vec3, queries), rg.array(rg.vec3, queries)
local found = rg.array(rg.f32, queries)
rg.kernel(function()
  for q in rg.range(queries) do
    local p = rg.vec3(bench.noise(6 * q), bench.noise(6 * q + 1), bench.noise(6 * q + 2))
    local r = rg.vec3(bench.noise(6 * q + 3), bench.noise(6 * q + 4), bench.noise(6 * q + 5))
    from[q] = (p - 0.5) * 3
    to[q] = (r - 0.5) * 2
  end
end)()

local cast = rg.kernel(function()
  for q in rg.range(queries) do
    local hit = tree:ray(from[q], to[q] - from[q])
    found[q] = hit and hit.t or 2
  end
end)

local approach = rg.kernel(function()
  for q in rg.range(queries) do
    local at = tree:closest(from[q])
    found[q] = at and at.distance or 2
  end
end)

local step = what == "rays" and cast or approach
bench.run {
  step = what == "refit" and function() tree:refit() end or step,
  checksum = function()
    step()
    return found:mean()
  end,
}
