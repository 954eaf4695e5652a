-- marching.lua - marching tetrahedra: each cube of the grid is six tetrahedra, and a table says
-- which of a tetrahedron's edges the surface cuts. usage: marching [points per axis]
local rg, bench = require "regolith", require "bench"
local n = bench.arguments(96)

local most = 64 * n * n
local f = rg.field(rg.f32, n, n, n)
local vertex, count = rg.field(rg.vec3, 3 * most), rg.field(rg.i32, 1)
local time = 0.0

-- Corner c of a cube lies at the bits of c; tetrahedra share the diagonal from 0 to 7.
local tets = { { 0, 1, 3, 7 }, { 0, 3, 2, 7 }, { 0, 2, 6, 7 }, { 0, 6, 4, 7 }, { 0, 4, 5, 7 },
  { 0, 5, 1, 7 } }
local edges = { { 0, 1 }, { 0, 2 }, { 0, 3 }, { 1, 2 }, { 1, 3 }, { 2, 3 } }
-- The cut edges, three for each triangle, indexed by the bits of the corners that are inside.
local cuts = {
  {}, { 0, 1, 2 }, { 0, 3, 4 }, { 1, 2, 4, 1, 4, 3 }, { 1, 3, 5 }, { 0, 2, 5, 0, 5, 3 },
  { 0, 1, 5, 0, 5, 4 }, { 2, 4, 5 }, { 2, 4, 5 }, { 0, 1, 5, 0, 5, 4 }, { 0, 2, 5, 0, 5, 3 },
  { 1, 3, 5 }, { 1, 2, 4, 1, 4, 3 }, { 0, 3, 4 }, { 0, 1, 2 }, {},
}
local triangles = {}
for k, list in ipairs(cuts) do
  triangles[k] = #list / 3
  for e = 1, 6 do list[e] = list[e] or 0 end
end

local fill = rg.kernel(function()
  for i, j, k in rg.range(n, n, n) do
    local x, y, z = 9.5 * i / n, 9.5 * j / n, 9.5 * k / n
    f[i][j][k] = math.sin(x + time) * math.cos(y) + math.sin(y) * math.cos(z)
      + math.sin(z) * math.cos(x)
  end
end)

local march = rg.kernel(function()
  count[0] = 0
  for i, j, k in rg.range(n - 1, n - 1, n - 1) do
    local w, at = rg.vec(8, rg.f32)(0), rg.mat(8, 3, rg.f32)(0)
    for c = 0, 7 do
      local a, b, d = i + math.floor(c / 4), j + math.floor(c / 2) % 2, k + c % 2
      w[c] = f[a][b][d]
      at[c][0], at[c][1], at[c][2] = a, b, d
    end
    for _, tet in ipairs(tets) do
      local case = 0
      for c = 0, 3 do
        if w[tet[c + 1]] < 0 then case = case + bit.lshift(1, c) end
      end
      for t = 0, triangles[case + 1] - 1 do
        local first = count:add(0, 3)
        for e = 0, 2 do
          local edge = cuts[case + 1][3 * t + e + 1] + 1
          local p, q = tet[edges[edge][1] + 1], tet[edges[edge][2] + 1]
          local s = w[p] / (w[p] - w[q])
          vertex[first + e] = rg.mix(at[p], at[q], s)
        end
      end
    end
  end
end)

local area = rg.kernel(function()
  local s = rg.f64(0)
  for t in rg.range(math.floor(count[0] / 3)) do
    local a, b, c = vertex[3 * t], vertex[3 * t + 1], vertex[3 * t + 2]
    s = s + 0.5 * rg.cross(b - a, c - a):norm()
  end
  return s + count[0]
end)

bench.run {
  start = function()
    time = 0.3
    fill()
  end,
  step = march,
  checksum = area,
}
