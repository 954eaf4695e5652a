-- Trees of boxes over meshes: rays, closest points, inside, overlap, tetrahedra at points.
local support = require "support"
local rg, failure = support.rg, support.failure

local function near(expected, value, tolerance)
  assert.is_true(math.abs(expected - value) < (tolerance or 1e-4), value)
end

-- Random triangles in a unit cube.
local function soup(count)
  local state = 7
  local function random()
    state = (state * 16807) % 2147483647
    return state / 2147483647
  end
  local points, cells = {}, {}
  for t = 0, count - 1 do
    local x, y, z = random(), random(), random()
    for k = 1, 3 do
      points[#points + 1] = { x + 0.4 * random(), y + 0.4 * random(), z + 0.4 * random() }
    end
    cells[t + 1] = { 3 * t, 3 * t + 1, 3 * t + 2 }
  end
  return rg.mesh { points = points, triangles = cells }
end

describe("a bvh", function()
  it("finds the same first hits and closest points as trying every triangle", function()
    local m = soup(300)
    local tree = rg.bvh(m)
    local wrong, hits = rg.array(rg.i32, 2), rg.array(rg.i32, 1)
    rg.kernel(function()
      for i in rg.range(400) do
        local from = rg.vec3(rg.random(), rg.random(), rg.random()) * 2 - 0.5
        local along = rg.vec3(rg.randn(), rg.randn(), rg.randn()):normalize()
        local t, distance = 9.0, 9.0
        for c = 0, m.cell_count - 1 do
          local a = m.points[m.cells[c].x]
          local e1, e2 = m.points[m.cells[c].y] - a, m.points[m.cells[c].z] - a
          local x = rg.solve(rg.transpose(rg.mat3(e1.x, e1.y, e1.z, e2.x, e2.y, e2.z, -along.x,
            -along.y, -along.z)), from - a)
          if x.x >= 0 and x.y >= 0 and x.x + x.y <= 1 and x.z >= 0 then t = math.min(t, x.z) end
          for u = 0, 8 do
            for v = 0, 8 - u do
              distance = math.min(distance, (a + e1 * (u / 8) + e2 * (v / 8) - from):norm())
            end
          end
        end
        local hit, spot = tree:ray(from, along), tree:closest(from)
        local found, length = 9.0, 9.0
        if hit then found = hit.t end
        if spot then length = spot.distance end
        if found < 9 then hits[0] = hits[0] + 1 end
        if math.abs(found - t) > 1e-4 then wrong[0] = wrong[0] + 1 end
        if length > distance + 1e-5 or length < distance - 0.05 then wrong[1] = wrong[1] + 1 end
      end
    end)()
    assert.is_true(hits[0] > 50)
    assert.is_true(wrong[0] <= 2) -- an edge, by rounding
    assert.equal(0, wrong[1])
  end)

  it("gives weights of the corners, and none beyond the limit", function()
    local m = rg.mesh { points = { { 0, 0, 0 }, { 4, 0, 0 }, { 0, 2, 0 } },
      triangles = { { 0, 1, 2 } } }
    local tree = rg.bvh(m)
    local hit = tree:ray(rg.vec3(1, 1, 5), rg.vec3(0, 0, -2))
    assert.same({ 0, 2.5, 0.25, 0.5 }, { hit.cell, hit.t, hit.u, hit.v })
    assert.is_nil(tree:ray(rg.vec3(1, 1, 5), rg.vec3(0, 0, -2), 2.4))
    assert.is_nil(tree:ray(rg.vec3(1, 1, 5), rg.vec3(0, 0, 1)))
    assert.is_nil(tree:ray(rg.vec3(3, 1.5, 5), rg.vec3(0, 0, -1)))
    local spot = tree:closest(rg.vec3(-1, 5, 0))
    assert.same({ 0, 0, 1 }, { spot.cell, spot.u, spot.v })
    near(math.sqrt(10), spot.distance)
    near(0, rg.norm(spot.point - rg.vec3(0, 2, 0)))
    assert.is_nil(tree:closest(rg.vec3(-1, 5, 0), 3))
    assert.same(spot, tree:closest { -1, 5, 0 })
  end)

  it("knows inside from outside, also on lines through edges and corners", function()
    local m = rg.mesh.block { cells = { 4, 4, 4 }, size = 4 }:surface()
    local tree, wrong = rg.bvh(m), rg.array(rg.i32, 1)
    rg.kernel(function()
      for i, j, k in rg.range(25, 25, 25) do
        local p = rg.vec3(i, j, k) * 0.25 - 1 + rg.vec3(0.125, 0, 0)
        local inside = p.x > 0 and p.x < 4 and p.y >= 0 and p.y < 4 and p.z >= 0 and p.z < 4
        local is_border = p.y == 0 or p.y == 4 or p.z == 0 or p.z == 4
        if not is_border and tree:inside(p) ~= inside then wrong[0] = wrong[0] + 1 end
      end
    end)()
    assert.equal(0, wrong[0])
  end)

  it("lists the cells that overlap a box", function()
    local m = rg.mesh.block { cells = { 8, 8, 8 }, size = 8 }
    local tree, list = rg.bvh(m), {}
    for c in tree:overlapping(rg.vec3(2.1, 3.1, 4.1), rg.vec3(2.9, 3.9, 4.9)) do list[c] = true end
    local count = 0
    for c in pairs(list) do
      count = count + 1
      assert.equal((2 * 8 + 3) * 8 + 4, math.floor(c / 6))
    end
    assert.equal(6, count)
    local total = rg.kernel(function()
      local sum = 0
      for i in rg.range(64) do
        for c in tree:overlapping(rg.vec3(0.5), rg.vec3(7.5)) do
          if c < 0 then break end
          sum = sum + 1
        end
      end
      return sum
    end)
    assert.equal(64 * m.cell_count, total())
  end)

  it("lists the cells that meet a box or a triangle, not those whose boxes do", function()
    local flat = rg.bvh(rg.mesh { points = { { 0, 0, 0 }, { 1, 0, 0 }, { 0, 1, 0 } },
      triangles = { { 0, 1, 2 } } })
    local tets = rg.bvh(rg.mesh { tetrahedra = { { 0, 1, 2, 3 } },
      points = { { 0, 0, 0 }, { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } } })
    local function count(list)
      local n = 0
      for _ in list do n = n + 1 end
      return n
    end
    local function boxes(tree, low, high) return count(tree:overlapping(low, high)) end
    local one, v = rg.vec3(1), rg.vec3
    assert.equal(1, boxes(flat, v(0.45, 0.45, -1), one))
    assert.equal(0, boxes(flat, v(0.55, 0.55, -1), one)) -- beyond the long side
    assert.equal(0, boxes(flat, v(0.1, 0.1, 0.1), one))
    assert.equal(1, boxes(tets, v(0.3), one))
    assert.equal(0, boxes(tets, v(0.4), one)) -- beyond the slanted face
    local function meets(tree, a, b, c) return count(tree:touching(a, b, c)) end
    assert.equal(1, meets(flat, v(0.2, 0.2, -1), v(0.2, 0.2, 1), v(0.3, 0.2, 1)))
    assert.equal(0, meets(flat, v(0.8, 0.8, -1), v(0.8, 0.8, 1), v(0.9, 0.8, 1)))
    assert.equal(0, meets(flat, v(0.6, 0.6, 0), v(1, 1, 0), v(1, 0.7, 0))) -- in one plane
    assert.equal(1, meets(flat, v(0.4, 0.4, 0), v(1, 1, 0), v(1, 0.7, 0)))
    assert.equal(0, meets(tets, v(0.4), v(1, 0.4, 0.4), one))
    assert.equal(1, meets(tets, v(0.1), v(1, 0.4, 0.4), one))
    local in_kernel = rg.kernel(function()
      local sum = 0
      for _ in flat:overlapping(rg.vec3(0.55, 0.55, -1), rg.vec3(1)) do sum = sum + 1 end
      for _ in tets:touching(rg.vec3(0.1), rg.vec3(1, 0.4, 0.4), rg.vec3(1)) do sum = sum + 10 end
      return sum
    end)
    assert.equal(10, in_kernel())
  end)

  it("finds the tetrahedron at a point, with weights that interpolate", function()
    local m = rg.mesh.block { cells = { 3, 3, 3 }, size = 3 }
    local tree = rg.bvh(m)
    local worst = rg.kernel(function()
      local most = 0.0
      for i in rg.range(500) do
        local p = rg.vec3(rg.random(), rg.random(), rg.random()) * 3
        local at = tree:cell_at(p)
        local away = 9.0
        if at then
          local c, w = m.cells[at.cell], at.weights
          away = (p - w.x * m.points[c.x] - w.y * m.points[c.y] - w.z * m.points[c.z]
            - w.w * m.points[c.w]):norm()
        end
        most = math.max(most, away)
      end
      return most
    end)
    near(0, worst())
    assert.is_nil(tree:cell_at(rg.vec3(4, 1, 1)))
  end)

  it("follows points that move", function()
    local m = rg.mesh.sphere { detail = 3 }
    local tree, x = rg.bvh(m), m.points
    rg.kernel(function() for p in rg.range(#x) do x[p] = x[p] + rg.vec3(10, 0, 0) end end)()
    tree:refit()
    near(9, tree:ray(rg.vec3(0, 0, 0), rg.vec3(1, 0, 0)).t, 0.02)
    assert.is_true(tree:inside(rg.vec3(10.2, 0.1, 0.1)))
    tree:rebuild()
    near(9, tree:ray(rg.vec3(0, 0, 0), rg.vec3(1, 0, 0)).t, 0.02)
  end)

  it("holds cells at one place, and few cells", function()
    for _, count in ipairs { 1, 2, 4, 5, 9 } do
      local points, cells = {}, {}
      for t = 0, count - 1 do
        points[3 * t + 1], points[3 * t + 2] = { 0, 0, 1 }, { 1, 0, 1 }
        points[3 * t + 3] = { 0, 1, 1 }
        cells[t + 1] = { 3 * t, 3 * t + 1, 3 * t + 2 }
      end
      local tree = rg.bvh(rg.mesh { points = points, triangles = cells })
      assert.equal(1, tree:ray(rg.vec3(0.2, 0.2, 0), rg.vec3(0, 0, 1)).t)
      local seen = 0
      for _ in tree:overlapping(rg.vec3(0, 0, 0), rg.vec3(2, 2, 2)) do seen = seen + 1 end
      assert.equal(count, seen)
    end
  end)

  it("reports what it cannot do", function()
    assert.matches("takes a mesh, not 3", failure(rg.bvh, 3).message)
    assert.matches("in three dimensions", failure(rg.bvh, rg.mesh.block { cells = { 2 } }).message)
    local tree = rg.bvh(rg.mesh.block())
    local err = failure(function() return tree:ray(rg.vec3(0, 0, 0), rg.vec3(1, 0, 0)) end)
    assert.matches("a bvh of tetrahedra has no 'ray'", err.message)
    assert.matches("m:surface%(%)", err.hint)
    assert.matches("takes 2 vectors of three numbers, not nil",
      failure(tree.overlapping, tree, rg.vec3(0)).message)
    assert.matches("three numbers, not a table",
      failure(tree.overlapping, tree, { 0, 0 }, { 1, 1, 1 }).message)
    assert.matches("tree:touching%(..%)", failure(tree.touching, rg.vec3(0)).message)
    local broken = rg.mesh.sphere { detail = 0 }
    broken.points[0] = { 0 / 0, 0, 0 }
    assert.matches("not finite", failure(rg.bvh, broken).message)
  end)
end)
