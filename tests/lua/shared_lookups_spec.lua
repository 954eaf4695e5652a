-- shared_lookups_spec.lua - accesses around a computed place in a sparse tree share look-ups of
-- nodes, and read, write and activate what separate accesses would.
local support = require "support"
local rg = support.rg

local extent = { i = 24, j = 40 }
local particles = 60

-- Places near every border of leaves and of the shape, some outside.
local function place(p) return (p * 7) % (extent.i + 6) - 3, (p * 11) % (extent.j + 6) - 3 end

local trees = {
  ["leaves of 4 x 8"] = function(x, y)
    local block = rg.root:pointer("ij", extent.i / 4, extent.j / 8)
    block:dense("ij", 4, 8):place(x, y)
    return block, 4, 8
  end,
  ["two levels of nodes, aos"] = function(x, y)
    local block = rg.root:pointer("ij", 3, 5):pointer("ij", 4, 4)
    block:dense("ij", 2, 2, { layout = "aos" }):place(x, y)
    return block, 2, 2
  end,
  ["leaves that a tile spreads over"] = function(x, y)
    local block = rg.root:pointer("ij", extent.i, extent.j)
    block:place(x, y)
    return block, 1, 1
  end,
  ["leaves of no power of two"] = function(x, y)
    local block = rg.root:pointer("ij", 4, 8)
    block:dense("ij", 6, 5):place(x, y)
    return block, 6, 5
  end,
  ["leaves split along one axis"] = function(x, y)
    local block = rg.root:dense("i", extent.i):pointer("j", extent.j / 8)
    block:dense("j", 8):place(x, y)
    return block, 1, 8
  end,
  ["masked leaves"] = function(x, y)
    local block = rg.root:pointer("ij", extent.i / 4, extent.j / 8)
    block:bitmasked("ij", 4, 8):place(x, y)
    return block, 4, 8
  end,
}

local function model()
  local cells, sums = {}, {}
  for p = 0, particles - 1 do
    local i, j = place(p)
    for a = 0, 2 do
      for b = 0, 2 do
        local at, to = i + a, j + b
        if at >= 0 and at < extent.i and to >= 0 and to < extent.j then
          local key = at * extent.j + to
          cells[key] = (cells[key] or 0) + (p + 1) * (a + 3 * b + 1)
        end
      end
    end
  end
  for p = 0, particles - 1 do
    local i, j = place(p)
    sums[p] = 0
    for a = -1, 2 do
      for b = 0, 2 do
        local at, to = i + a + 5, j + b
        local is_inside = at >= 0 and at < extent.i and to >= 0 and to < extent.j
        sums[p] = sums[p] + (is_inside and cells[at * extent.j + to] or 0) * (a + 2)
      end
    end
  end
  return cells, sums
end

describe("accesses around a computed place", function()
  for name, make in pairs(trees) do
    it("find the same as separate look-ups, in " .. name, function()
      local x, y = rg.field(rg.i32), rg.field(rg.vec2)
      local block, rows, columns = make(x, y)
      local at, sum = rg.field(rg.ivec2, particles), rg.field(rg.i32, particles)
      for p = 0, particles - 1 do at[p] = rg.ivec2(place(p)) end
      local scatter = rg.kernel([=[function()
        for p in rg.range(particles) do
          local base = at[p]
          for a = 0, 2 do
            for b = 0, 2 do
              local node = base + rg.ivec2(a, b)
              x[node] = x[node] + (p + 1) * (a + 3 * b + 1)
              y[node] = y[node] + rg.vec2(p + 1, 1) * (a + 3 * b + 1)
            end
          end
        end
      end]=], { rg = rg, particles = particles, at = at, x = x, y = y })
      local gather = rg.kernel([=[function()
        for p in rg.range(particles) do
          local s, base = 0, at[p]
          for a = -1, 2 do
            for b = 0, 2 do s = s + x[base + rg.ivec2(a + 5, b)] * (a + 2) end
          end
          sum[p] = s
        end
      end]=], { rg = rg, particles = particles, at = at, x = x, sum = sum })
      scatter()
      gather()
      local cells, sums = model()
      local active, count = {}, 0
      for i = 0, extent.i - 1 do
        for j = 0, extent.j - 1 do
          local value = cells[i * extent.j + j]
          assert.equal(value or 0, x[i][j])
          assert.equal(value or 0, y[i][j].x)
          local key = math.floor(i / rows) .. " " .. math.floor(j / columns)
          if value and not active[key] then active[key], count = true, count + 1 end
        end
      end
      assert.equal(count, block:count())
      for p = 0, particles - 1 do assert.equal(sums[p], sum[p]) end
    end)
  end

  it("are reported by explain() #compiled", function()
    local x, at = rg.field(rg.i32), rg.field(rg.ivec2, 8)
    rg.root:pointer("ij", 64):dense("ij", 4):place(x)
    local notes = rg.kernel([=[function()
      for p in rg.range(8) do
        local base = at[p]
        for a = 0, 2 do
          for b = 0, 2 do
            x[base + rg.ivec2(a, b)] = x[base + rg.ivec2(a, b)] + 1
          end
        end
      end
    end]=], { rg = rg, x = x, at = at })
    notes()
    assert.truthy(notes:explain():find("share the look-ups of 4 nodes", 1, true))
  end)

  it("see what their own iteration activates and deactivates", function()
    local x, y = rg.field(rg.i32), rg.field(rg.i32, 64)
    local block = rg.root:pointer("ij", 64)
    block:dense("ij", 4):place(x)
    rg.kernel([=[function()
      for p in rg.range(64) do
        local i, j = (p * 5 % 8) * 32 + 2, p * 4
        local before, after = 0, 0
        for a = 0, 2 do
          for b = 0, 2 do before = before + x[i + a][j + b] end
        end
        x[i + 2][j + 1] = 7
        for a = 0, 2 do
          for b = 0, 2 do after = after + x[i + a][j + b] end
        end
        block:deactivate((i + 2) // 4, j // 4)
        for a = 0, 2 do
          for b = 0, 2 do after = after + 100 * x[i + a][j + b] end
        end
        y[p] = before * 10 + after
      end
    end]=], { rg = rg, x = x, y = y, block = block })()
    for p = 0, 63 do assert.equal(7, y[p]) end
    assert.equal(0, block:count())
  end)

  it("activate nothing after an exit", function()
    local x, n = rg.field(rg.i32), 8
    local block = rg.root:pointer("ij", 64)
    block:dense("ij", 4):place(x)
    rg.kernel([=[function(n)
      for p in rg.range(16) do
        local i, j = p * 16 + 2, p * 8 + 2
        for a = 0, 2 do
          for b = 0, 1 do x[i + a][j + b] = 1 end
          if p < n then continue end
          x[i + a][j + 2] = 2
        end
      end
    end]=], { rg = rg, x = x })(n)
    assert.equal(n * 2 + (16 - n) * 4, block:count())
  end)
end)

-- Adjacent elements are one vector for each particle, or two if a leaf ends between them; with
-- masks if the processor has them.
local levels = { "x86-64-v3" }
local has = support.processor_has
if has "avx512f" and has "avx512vl" and has "avx512bw" then levels[2] = "x86-64-v4" end

local wide = {
  ["dense cells of three numbers"] = function(own, x, v)
    own.root:dense("ij", 32, 32, { layout = "aos" }):place(x, v)
  end,
  ["leaves of 4 x 8"] = function(own, x, v)
    own.root:pointer("ij", 8, 4):dense("ij", 4, 8):place(x, v)
  end,
  ["leaves of two cells a row"] = function(own, x, v)
    own.root:pointer("ij", 8, 16):dense("ij", 4, 2):place(x, v)
  end,
}

local function around(own, lay, number)
  local count, x, v = 205, own.field(number), own.field(own.vec(2, number))
  local at, read = own.field(own.ivec2, count), own.field(number, count)
  lay(own, x, v)
  for p = 0, count - 1 do at[p] = own.ivec2(p * 7 % 29, p * p % 29) end
  own.kernel(function()
    for p in own.range(count) do
      if p % 5 ~= 1 then
        local base = at[p]
        for i = 0, 2 do
          for j = 0, 2 do
            local node, by = base + own.ivec2(i, j), number(p % 16 + 3 * i + j)
            v[node] = v[node] + by * own.vec(2, number)(1, 2)
            x[node] = x[node] + by
          end
        end
      end
    end
    for p in own.range(count) do
      local base, sum = at[p], number(0)
      for i = 0, 2 do
        for j = 0, 2 do
          local node = base + own.ivec2(i, j)
          sum = sum + (i + 2 * j) * x[node] + v[node].x - 3 * v[node].y
        end
      end
      read[p] = sum
    end
  end)()
  return count, at, x, v, read
end

describe("adjacent elements around places that differ by lane", function()
  for name, lay in pairs(wide) do
    for _, level in ipairs(levels) do
      it("give the same as separate accesses: " .. name .. ", " .. level .. " #cpu", function()
        for _, number in ipairs { "f32", "f64" } do
          local own = rg.new { threads = 1, cpu = level }
          local count, at, x, v, read = support.with_stress("guard_pages,force_lanes", function()
            return around(own, lay, own[number])
          end)
          local cells = {}
          for p = 0, count - 1 do
            for k = 0, p % 5 == 1 and -1 or 8 do
              local key = (at[p].x + math.floor(k / 3)) * 32 + at[p].y + k % 3
              cells[key] = (cells[key] or 0) + p % 16 + k
            end
          end
          for i = 0, 31 do
            for j = 0, 31 do
              local sum = cells[i * 32 + j] or 0
              assert.equal(sum, x[i][j])
              assert.equal(2 * sum, v[i][j].y)
            end
          end
          for p = 0, count - 1 do
            local sum = 0
            for k = 0, 8 do
              local key = (at[p].x + math.floor(k / 3)) * 32 + at[p].y + k % 3
              sum = sum + (math.floor(k / 3) + 2 * (k % 3) - 5) * (cells[key] or 0)
            end
            assert.equal(sum, read[p])
          end
        end
      end)
    end
  end
end)
