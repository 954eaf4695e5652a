local support = require "support"
local rg, failure = support.rg, support.failure
require "regolith.toolbox.neighbours"

-- n places in a box, drawn by a formula; `box` are its extents.
local function places(T, n, box)
  local pos = rg.field(T, n)
  for i = 0, n - 1 do
    local numbers = {}
    for k, step in ipairs { 0.754877, 0.569840, 0.430160 } do
      numbers[k] = k <= T.rows and (i + 1) * step % 1 * box[k] or nil
    end
    pos[i] = T(unpack(numbers))
  end
  return pos
end

local function distance(a, b) return (b - a):norm() end

-- The expected neighbours of every particle, found by trying all pairs.
local function by_all(pos, n, radius)
  local counts, sums = {}, {}
  for i = 0, n - 1 do
    counts[i], sums[i] = 0, 0
    for j = 0, n - 1 do
      local d = distance(pos[i], pos[j])
      if i ~= j and d <= radius then counts[i], sums[i] = counts[i] + 1, sums[i] + d * (j + 1) end
    end
  end
  return counts, sums
end

-- The same by a kernel over `near`.
local function by_kernel(near, n)
  local counts, sums = rg.field(rg.i32, n), rg.field(rg.f64, n)
  rg.kernel(function()
    for i, p in near:each() do
      local count, sum = 0, rg.f64(0)
      for j, d in near:around(p) do
        if j ~= i then
          count = count + 1
          sum = sum + d * (j + 1)
        end
      end
      counts[i], sums[i] = count, sum
    end
  end)()
  return counts, sums
end

local function compare(near, pos, n, radius)
  local counts, sums = by_kernel(near, n)
  local right, totals = by_all(pos, n, radius)
  for i = 0, n - 1 do
    assert.equal(right[i], counts[i])
    assert.near(totals[i], sums[i], 1e-4 * (1 + totals[i]))
  end
end

describe("neighbours", function()
  it("are those within the radius, in two and three dimensions, f32 and f64", function()
    local pos = places(rg.vec2, 150, { 1, 1 })
    compare(rg.neighbours(pos, 0.13), pos, 150, 0.13)
    pos = places(rg.vec(3, rg.f64), 150, { 2, 1, 0.5 })
    compare(rg.neighbours(pos, 0.3), pos, 150, 0.3)
  end)

  it("are found in a box that has far more cells than particles", function()
    local pos = places(rg.vec3, 120, { 3000, 1, 3000 })
    for i = 0, 59 do pos[i + 60] = pos[i] + rg.vec3(0.1, 0, 0) end
    local near = rg.neighbours(pos, 0.2)
    assert.is_true(near.is_wide)
    compare(near, pos, 120, 0.2)
    local found = {}
    for j in near:nearest(pos[3], 2) do found[#found + 1] = j end
    assert.same({ 3, 63 }, found)
  end)

  it("have a distance and a vector to them, also around a point, and in Lua", function()
    local pos = places(rg.vec2, 60, { 1, 1 })
    local near = rg.neighbours(pos, 0.3)
    local at = rg.vec2(0.4, 0.5)
    local k = rg.kernel(function(p)
      local count, error = 0, 0.0
      for j, d, way in near:around(p) do
        count = count + 1
        error = math.max(error, math.abs(way:norm() - d), (p + way - pos[j]):norm())
      end
      return count, error
    end)
    local count, most = k(at)
    local seen, expected = 0, 0
    for j, d in near:around { at.x, at.y } do
      seen = seen + 1
      assert.near(distance(at, pos[j]), d, 1e-6)
    end
    for j = 0, 59 do if distance(at, pos[j]) <= 0.3 then expected = expected + 1 end end
    assert.same({ expected, expected }, { count, seen })
    assert.is_true(expected > 5 and most < 1e-6)
    assert.equal(0, (k(rg.vec2(40, 1e9))))
    assert.equal(1, (k(rg.vec2(pos[7].x, pos[7].y)) > 0 and 1))
  end)

  it("include a particle itself, unless only the others are requested", function()
    local pos = places(rg.vec2, 40, { 1, 1 })
    local near = rg.neighbours(pos, 0.2)
    local k = rg.kernel(function(i)
      local all, others, own = 0, 0, 0
      for j in near:of(i) do
        all = all + 1
        if j == i then own = own + 1 end
      end
      for _ in near:others(i) do others = others + 1 end
      return all, others, own
    end)
    local all, others, own = k(9)
    assert.same({ 1, 1 }, { own, all - others })
  end)

  it("are the k nearest, nearest first, at any distance", function()
    local pos = places(rg.vec3, 90, { 1, 2, 1 })
    local near = rg.neighbours(pos, 0.1)
    local order = rg.field(rg.i32, 6)
    local k = rg.kernel(function(p)
      local n = 0
      for j, d in near:nearest(p, 6) do
        if d < 1e9 then order[n] = j end
        n = n + 1
      end
      return n
    end)
    for _, p in ipairs { rg.vec3(0.5, 0.4, 0.5), rg.vec3(-3, 2, 9), rg.vec3(0, 0, 0) } do
      local list = {}
      for j = 0, 89 do list[j + 1] = j end
      table.sort(list, function(a, b) return distance(p, pos[a]) < distance(p, pos[b]) end)
      assert.equal(6, k(p))
      for m = 1, 6 do assert.equal(list[m], order[m - 1]) end
    end
    assert.equal(2, rg.kernel(function(p)
      local n = 0
      for _ in near:nearest(p, 200) do
        n = n + 1
        if n == 2 then break end
      end
      return n
    end)(rg.vec3(0)))
  end)

  it("follow particles that move, come and go, without compiling again", function()
    local pos = places(rg.vec2, 80, { 1, 1 })
    local near = rg.neighbours(pos, 0.2, { count = 50 })
    local counts = rg.field(rg.i32, 80)
    local k = rg.kernel(function()
      for i in near:each() do
        counts[i] = 0
        for _ in near:of(i) do counts[i] = counts[i] + 1 end
      end
    end)
    k()
    assert.equal(0, counts[60])
    near:update()
    local compiles = rg.stats().compiles
    near:update(80)
    k()
    assert.is_true(counts[60] > 0)
    for i = 0, 79 do pos[i] = 3 * pos[i] end
    near:update(70)
    counts:fill(0)
    k()
    local right = by_all(pos, 70, 0.2)
    for i = 0, 69 do assert.equal(right[i] + 1, counts[i]) end
    assert.equal(0, counts[75])
    near:update(0)
    k()
    assert.equal(compiles, rg.stats().compiles)
  end)

  it("have one order for each number of threads: by cells, then by particle numbers", function()
    local pos = places(rg.vec2, 64, { 1, 1 })
    for i = 32, 63 do pos[i] = pos[i - 32] end
    local near = rg.neighbours(pos, 0.1)
    local list = {}
    for j in near:of(5) do list[#list + 1] = j end
    assert.same({ 5, 37 }, { list[1] < list[2] and list[1], list[2] })
    assert.equal(64, #near.order)
  end)

  it("take a member of structs, and put fields in the order of cells", function()
    local Body = rg.struct { { "mass", rg.f32 }, { "pos", rg.vec2 } }
    local bodies, v = rg.field(Body, 60), rg.field(rg.f32, 60)
    local pos = places(rg.vec2, 60, { 1, 1 })
    for i = 0, 59 do
      bodies[i] = { mass = pos[i].x, pos = pos[i] }
      v[i] = pos[i].x
    end
    local near = rg.neighbours(bodies.pos, 0.2)
    compare(near, pos, 60, 0.2)
    near:reorder(bodies, v)
    for i = 0, 59 do
      assert.equal(i, near.order[i])
      assert.equal(bodies[i].pos.x, v[i])
      assert.equal(bodies[i].mass, v[i])
    end
  end)

  it("are found across the borders of a periodic box, each once", function()
    for _, case in ipairs {
      { rg.vec2, 0.1, { 1, 1 } },
      { rg.vec3, 0.26, { 0.6, 0.8, 3 } }, -- few cells along two axes
      { rg.dvec3, 0.5, { 1, 1, 1 } },
    } do
      local T, radius, period, n = case[1], case[2], case[3], 200
      local P, pos = T(unpack(period)), places(T, n, period)
      for i = 0, n - 1, 3 do pos[i] = pos[i] - 2 * P end -- images of themselves
      local near = rg.neighbours(pos, radius, { period = period })
      local wrong, found = rg.kernel(function()
        local wrong, found = 0, 0
        for i in rg.range(n) do
          local count, sum, least = 0, 0, 9.0
          for j = 0, n - 1 do
            local way = pos[j] - pos[i]
            way = way - rg.floor(way / P + 0.5) * P
            if way:norm() <= radius then count, sum = count + 1, sum + j end
            if j ~= i then least = math.min(least, way:norm()) end
          end
          found = found + count
          for j, d, way in near:of(i) do
            count, sum = count - 1, sum - j
            local turns = (pos[i] + way - pos[j]) / P
            if (turns - rg.floor(turns + 0.5)):norm() > 1e-4 then wrong = wrong + 1 end
            if math.abs(way:norm() - d) > 1e-5 then wrong = wrong + 1 end
          end
          if count ~= 0 or sum ~= 0 then wrong = wrong + 1 end
          local last = 0.0
          for _, d in near:nearest(pos[i], 2) do last = d end
          if math.abs(last - least) > 1e-5 then wrong = wrong + 1 end
        end
        return wrong, found
      end)()
      assert.same({ 0, true }, { wrong, found > 3 * n })
    end
  end)

  it("report mistakes", function()
    local pos = places(rg.vec2, 8, { 1, 1 })
    assert.match("must be a number above 0, not 0", failure(rg.neighbours, pos, 0).message)
    assert.match("must be a number above 0, not nil", failure(rg.neighbours, pos).message)
    assert.match("vec2 or vec3", failure(rg.neighbours, rg.field(rg.f32, 8), 1).message)
    assert.match("vec2 or vec3", failure(rg.neighbours, rg.field(rg.vec2, 4, 4), 1).message)
    assert.match("rg.neighbours takes a field or an array", failure(rg.neighbours, 3, 1).message)
    assert.match("period of axis 1 must be a number of at least two radii, 1, got nil",
      failure(rg.neighbours, pos, 0.5, { period = { 2 } }).message)
    assert.match("at least two radii", failure(rg.neighbours, pos, 2, { period = 3 }).message)
    local near = rg.neighbours(pos, 0.5)
    assert.match("whole number from 0 to 8", failure(near.update, near, 9).message)
    assert.match("has no 'off'", failure(function() return near.off end).message)
    assert.match("'of'", failure(function() return near.off end).hint)
    assert.match("near:update", failure(near.update).message)
    assert.match("field or an array, not nil", failure(rg.neighbours).message)
    assert.match("a vector of 2 numbers, not 5", failure(near.around, near, 5).message)
    assert.match("a vector of 2 numbers, not a table",
      failure(near.around, near, { 1, 2, 3 }).message)
    assert.match("number of a particle, not \"a\"", failure(near.of, near, "a").message)
    assert.match("whole number from 1, not nil", failure(near.nearest, near, pos[0]).message)
    assert.match("whole number from 1, not 0", failure(near.nearest, near, pos[0], 0).message)
    assert.match("all 8 particles", failure(near.reorder, near, rg.field(rg.f32, 3)).message)
    pos[3] = rg.vec2(0, 1 / 0)
    assert.match("position of particle 3 is not finite", failure(near.update, near).message)
    pos[3] = rg.vec2(0, 0)
    near:update()
    local err = failure(rg.kernel("function() for j in near:of(0.5) do print(j) end end",
      { near = near }))
    assert.match("neighbours_spec.lua$", err.file)
    assert.match("must be an integer", err.message)
    assert.match("toolbox/neighbours.lua", err.notes[#err.notes].file)
    assert.match("'near' has no method 'off'",
      failure(rg.kernel("function() for j in near:off(1) do end end", { near = near })).message)
  end)
end)
