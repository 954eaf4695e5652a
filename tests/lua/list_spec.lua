-- list_spec.lua - dynamic SNodes: lists that grow, shrink and are walked, in kernels and from Lua.
local support = require "support"
local rg, failure = support.rg, support.failure

-- A field of `t` in `count` lists of at most `n` elements.
local function lists(t, count, n, options)
  local x = rg.field(t)
  local node = rg.root:dense("i", count):dynamic("j", n, options or {})
  node:place(x)
  return x, node
end

local function contents(x, ...)
  local t = {}
  for k, v in x:items(...) do t[k + 1] = v end
  return t
end

local function sorted(t)
  table.sort(t)
  return t
end

describe("append", function()
  it("gives the slots one by one, from Lua and in kernels", function()
    local x = lists(rg.f32, 3, 100, { chunk = 4 })
    assert.equal(0, x:append(1, 0.5))
    assert.equal(1, x:append(1, 1.5))
    local slots = rg.kernel([=[function() return x:append(1, 2.5), x:append(2, 9) end]=], { x = x })
    assert.same({ 2, 0 }, { slots() })
    assert.same({ 0.5, 1.5, 2.5 }, contents(x, 1))
    assert.equal(3, x:length(1))
    assert.equal(0, x:length(0))
    assert.equal(2.5, x[1][2])
    assert.equal(0, x[1][3])
  end)

  it("loses nothing where all iterations append to one list", function()
    local x, node = lists(rg.i32, 1, 20000, { chunk = 16 })
    local y = rg.field(rg.i32, 20000)
    rg.kernel([=[function()
      for i in rg.range(20000) do
        local k = x:append(0, i)
        y[k] += 1
      end
    end]=], { x = x, y = y })()
    assert.equal(20000, x:length(0))
    assert.equal(20000, node:count())
    local all = sorted(contents(x, 0))
    for k = 1, 20000 do
      assert.equal(k - 1, all[k])
      assert.equal(1, y[k - 1])
    end
  end)

  it("stores what iterations collect without gaps, once, and in the order of each", function()
    for _, chunk in ipairs { 1, 3, 64 } do
      for _, layout in ipairs { "soa", "aos" } do
        local a, b, c, d = rg.field(rg.u8), rg.field(rg.vec3), rg.field(rg.f64), rg.field(rg.i16)
        local list = rg.root:dense("i", 3):dynamic("j", 4000, { chunk = chunk, layout = layout })
        list:place(a, b, c, d)
        rg.kernel([=[function()
          for i in rg.range(500) do
            if i % 2 == 0 then list:append(1, i, rg.vec3(i, 2, -i), i + 0.5, -i) end
          end
          for i in rg.range(3) do
            for k = 0, 299 + i do list:append(i, k, rg.vec3(k, i, 1), k / 4, i) end
          end
        end]=], { list = list, rg = rg })()
        assert.same({ 300, 551, 302 }, { list:length(0), list:length(1), list:length(2) })
        local sum, last = 0, -1
        for k = 0, 550 do
          local v = b[1][k]
          if v.y == 2 then
            local i = v.x
            sum = sum + i
            assert.same({ i % 256, -i, i + 0.5, -i }, { a[1][k], v.z, c[1][k], d[1][k] })
          else
            assert.same({ last + 1, 1, 1 }, { v.x, v.y, v.z })
            last = v.x
            assert.same({ last % 256, last / 4, 1 }, { a[1][k], c[1][k], d[1][k] })
          end
        end
        assert.same({ 300, 249 * 250 }, { last, sum })
      end
    end
  end)

  it("shows an iteration what it appended itself", function()
    local x = lists(rg.i32, 1, 2000, { chunk = 8 })
    local y = rg.field(rg.i32, 1)
    rg.kernel([=[function()
      for i in rg.range(1000) do
        x:append(0, i)
        if x:length(0) == 0 then y[0] += 1 end
      end
    end]=], { x = x, y = y })()
    assert.same({ 0, 1000 }, { y[0], x:length(0) })
  end)

  it("takes vectors, and a value for each of several fields", function()
    local position, id, alive = rg.field(rg.vec2), rg.field(rg.i32), rg.field(rg.bool)
    local bin = rg.root:pointer("i", 16):dynamic("k", 50, { name = "bin" })
    bin:place(position, id, alive)
    rg.kernel([=[function()
      for n in rg.range(40) do
        position:append(n % 4, rg.vec2(n, n + 0.5), n, n % 2 == 0)
      end
    end]=], { position = position })()
    bin:append(3, { 7, 8 }, 99, true)
    assert.equal(41, bin:count())
    assert.equal(11, id:length(3))
    local seen = {}
    for _, p, n, even in bin:items(3) do
      seen[#seen + 1] = n
      if n ~= 99 then
        assert.equal(n + 0.5, p.y)
        assert.equal(n % 2 == 0, even)
      end
    end
    assert.same({ 3, 7, 11, 15, 19, 23, 27, 31, 35, 39, 99 }, sorted(seen))
    local sum, count = rg.kernel([=[function()
      local sum, count = rg.vec2(0, 0), 0
      for i in rg.range(16) do
        for k, p, n, even in bin:items(i) do
          sum = sum + p
          if even then count = count + n end
        end
      end
      return sum, count
    end]=], { bin = bin })()
    assert.equal(780 + 7, sum.x)
    assert.equal(780 + 20 + 8, sum.y)
    assert.equal(380 + 99, count)
  end)

  it("is read along every list, past its end, past the last element that fits, and outside",
    function()
    for _, chunk in ipairs { 3, 4, 8, 32 } do
      local x = lists(rg.i32, 40, 30, { chunk = chunk })
      local sum, first, past, product = rg.field(rg.i32, 42), rg.field(rg.i32, 42),
        rg.field(rg.i32, 42), rg.field(rg.i32, 42)
      rg.kernel([=[function()
        for i in rg.range(40) do
          for k = 1, i * 7 % 31 do x:append(i, i * 100 + k) end
        end
      end]=], { x = x })()
      rg.kernel([=[function()
        for i in rg.range(42) do
          local s, f, p, q = 0, 0, 0, 0
          for k, v in x:items(i - 1) do -- lists -1 and 40 are outside
            if k % 5 == 3 then continue end
            s = s + v + x[i - 1][k] + x[i][k]
            if v % 100 > 23 then break end
            for m in x:items(k) do q = q + x[k][m] - x[i - 1][k] end
          end
          for k = 0, 40 do p = p + x[i - 1][k] end
          for k, v in x:items(i - 1) do
            if v % 3 == 1 then f = v; break end
          end
          sum[i], first[i], past[i], product[i] = s, f, p, q
        end
      end]=], { x = x, sum = sum, first = first, past = past, product = product })()
      local function at(i, k)
        local length = i >= 0 and i < 40 and i * 7 % 31 or 0
        return k < length and i * 100 + k + 1 or 0, length
      end
      for i = 0, 41 do
        local s, f, p, q = 0, 0, 0, 0
        local _, length = at(i - 1, 0)
        for k = 0, length - 1 do
          local v = at(i - 1, k)
          if f == 0 and v % 3 == 1 then f = v end
          p = p + v
        end
        for k = 0, length - 1 do
          local v = at(i - 1, k)
          if k % 5 ~= 3 then
            s = s + 2 * v + at(i, k)
            if v % 100 > 23 then break end
            local _, others = at(k, 0)
            for m = 0, others - 1 do q = q + at(k, m) - v end
          end
        end
        assert.same({ s, f, p, q }, { sum[i], first[i], past[i], product[i] })
      end
    end
  end)

  it("past the end is an error after the launch that names the node, and what fits is there",
    function()
    local x = lists(rg.i32, 2, 10, { name = "short", chunk = 3 })
    local fill = rg.kernel([=[function(n) for i in rg.range(n) do x:append(1, i + 1) end end]=],
      { x = x })
    local err = failure(fill, 500)
    assert.equal("list.full", err.code)
    assert.truthy(err.message:find("'short'", 1, true))
    assert.truthy(err.message:find("10 elements", 1, true))
    assert.equal(10, x:length(1))
    local seen = {}
    for _, v in x:items(1) do
      assert.is_true(v >= 1 and v <= 500 and not seen[v])
      seen[v] = true
    end
    assert.equal("list.full", failure(x.append, x, 1, 5).code)
    x:deactivate(1)
    fill(10)
    assert.equal(10, x:length(1))
  end)

  it("outside the shape does nothing and gives 0", function()
    local x, node = lists(rg.i32, 4, 8)
    local k = rg.kernel([=[function(i) return x:append(i, 5), x:length(i), x:pop(i) end]=],
      { x = x })
    assert.same({ 0, 0, 0 }, { k(4) })
    assert.same({ 0, 0, 0 }, { k(-1) })
    assert.equal(0, node:count())
    assert.equal("index.range", failure(x.append, x, 4, 1).code)
  end)
end)

describe("a list", function()
  it("has its length by '#', as a row of any field has its extent", function()
    local x, alone, y = lists(rg.i32, 3, 100), rg.field(rg.i32), rg.field(rg.i32, 3, 5)
    rg.root:dynamic("i", 50):place(alone)
    for k = 1, 3 do x:append(1, k) end
    alone:append(7)
    local k = rg.kernel(function()
      local sum, row = 0, x[1]
      for j = 0, #row - 1 do sum = sum + row[j] end
      return sum, #x[1], #x[2], #x, #alone, #y, #y[2], #x[9]
    end)
    assert.same({ 6, 3, 0, 3, 1, 3, 5, 0 }, { k() })
    assert.same({ 3, 0, 3, 1, 3, 5, 100 }, { #x[1], #x[2], #x, #alone, #y, #y[2], x.shape[1] })
  end)
  it("pops its last element, which then reads zero", function()
    local x = lists(rg.f64, 1, 40, { chunk = 4 })
    for k = 0, 9 do x:append(0, k + 1) end
    assert.equal(10, x:pop(0))
    local pop = rg.kernel([=[function() return x:pop(0) end]=], { x = x })
    assert.equal(9, pop())
    assert.equal(8, x:length(0))
    assert.equal(0, x[0][8])
    assert.equal(0, x[0][9])
    for _ = 1, 8 do pop() end
    assert.equal(0, pop())
    assert.equal(0, x:pop(0))
    assert.equal(0, x:length(0))
    assert.equal(0, x:append(0, 3))
  end)

  it("gives each element once to iterations that pop", function()
    local x = lists(rg.i32, 1, 5000)
    local y = rg.field(rg.i32, 5001)
    for k = 1, 5000 do x:append(0, k) end
    rg.kernel([=[function()
      for i in rg.range(6000) do y[x:pop(0)] += 1 end
    end]=], { x = x, y = y })()
    assert.equal(1000, y[0])
    for k = 1, 5000 do assert.equal(1, y[k]) end
  end)

  it("gives its last elements to iterations that pop, in any order, and keeps its first", function()
    local x = lists(rg.i32, 300, 40, { chunk = 4 })
    local y = rg.field(rg.i32, 300, 40)
    local fill = rg.kernel([=[function()
      for i in rg.range(300) do for k = 0, 39 do x:append(i, i * 40 + k + 1) end end
    end]=], { x = x })
    local function taken(pop, per_list)
      for i = 0, 299 do x:deactivate(i) end
      fill()
      y:fill(0)
      pop()
      for i = 0, 299 do
        local left = math.max(0, 40 - per_list(i))
        assert.equal(left, x:length(i))
        for k = 0, 39 do
          assert.equal(k < left and i * 40 + k + 1 or 0, x[i][k])
          assert.equal(k < left and 0 or 1, y[i][k])
        end
      end
    end
    local env = { x = x, y = y }
    taken(rg.kernel([=[function() -- neighbours share a list
      for n in rg.range(300 * 44) do
        local v = x:pop(math.floor(n / 44))
        if v ~= 0 then y[math.floor((v - 1) / 40)][(v - 1) % 40] += 1 end
      end
    end]=], env), function() return 44 end)
    taken(rg.kernel([=[function() -- not all of them pop, some of lists further on
      for n in rg.range(300 * 12) do
        if n % 3 ~= 1 then
          local v = x:pop((math.floor(n / 12) + (n % 4) * 75) % 300)
          y[math.floor((v - 1) / 40)][(v - 1) % 40] += 1
        end
      end
    end]=], env), function() return 8 end)
    taken(rg.kernel([=[function() -- each from a list of its own
      for i in rg.range(300) do
        for k = 0, i % 7 do
          local v = x:pop(i)
          y[i][(v - 1) % 40] += 1
        end
      end
    end]=], env), function(i) return i % 7 + 1 end)
  end)

  it("may be changed in every way by the only iteration that accesses it", function()
    local x, node = lists(rg.i32, 100, 30, { chunk = 4 })
    local y = rg.field(rg.i32, 100, 3)
    local churn = rg.kernel([=[function()
      for i in rg.range(100) do
        for k = 1, 5 do x:append(i, i + k) end
        y[i][0] = x:pop(i)
        if i % 3 == 0 then x:deactivate(i) end
        y[i][1] = x:append(i, 7)
        x[i][9] = i
        y[i][2] = x:length(i)
        if i % 2 == 0 then x:pop(i) end
      end
    end]=], { x = x, y = y })
    for round = 1, 2 do
      node:clear()
      churn()
      for i = 0, 99 do
        local at = i % 3 == 0 and 0 or 4
        local length = i % 2 == 0 and 9 or 10
        assert.same({ i + 5, at, 10, length, 7 },
          { y[i][0], y[i][1], y[i][2], x:length(i), x[i][at] })
        assert.equal(length == 10 and i or 0, x[i][9])
        assert.equal(at == 4 and i + 1 or 7, x[i][0])
      end
    end
  end)

  it("starts again at 0 if an iteration empties it and appends to it", function()
    local x, node = lists(rg.ivec2, 50, 60, { chunk = 8, layout = "aos", name = "anew" })
    local anew = rg.kernel([=[function(n)
      for i in rg.range(50) do
        x:deactivate(i)
        for k = 1, (i + n) % 20 - 3 do x:append(i, rg.ivec2(i, k)) end
      end
    end]=], { x = x, rg = rg })
    for n = 0, 3 do
      anew(7 * n)
      local all = 0
      for i = 0, 49 do
        local length = math.max(0, (i + 7 * n) % 20 - 3)
        all = all + length
        assert.equal(length, x:length(i))
        for k = 0, 59 do
          assert.same(k < length and { i, k + 1 } or { 0, 0 }, { x[i][k].x, x[i][k].y })
        end
      end
      assert.equal(all, node:count())
    end
    rg.kernel([=[function() for i in rg.range(50) do x:deactivate(i) end end]=], { x = x })()
    local rows = 0
    for _, tree in ipairs(rg.memory().trees) do
      for _, row in ipairs(tree.nodes) do
        if row.name == "anew" then
          rows = rows + 1
          assert.equal(0, row.live)
        end
      end
    end
    assert.is_true(rows > 0)
  end)

  it("is empty for every iteration that empties it", function()
    local x, node = lists(rg.i32, 8, 100, { chunk = 4 })
    local bad = rg.field(rg.i32, 1)
    local empty = rg.kernel([=[function(apart)
      for n in rg.range(1000) do
        x:deactivate(n // apart % 8)
        if x:length(n // apart % 8) ~= 0 or x[n // apart % 8][n % 100] ~= 0 then bad[0] += 1 end
      end
    end]=], { x = x, bad = bad })
    for _, apart in ipairs { 1, 125, 1000 } do
      for i = 0, 7 do for k = 0, 99 do x:append(i, k + 1) end end
      empty(apart)
      assert.equal(0, bad[0])
      assert.equal(apart == 1000 and 700 or 0, node:count())
    end
  end)

  it("keeps its elements intact while iterations append and pop", function()
    local x, node = lists(rg.ivec2, 3, 4000, { chunk = 8 })
    local bad = rg.field(rg.i32, 1)
    local churn = rg.kernel([=[function(n)
      for i in rg.range(n) do
        x:append(i % 3, rg.ivec2(i + 1, -i - 1))
        if i % 2 == 0 then
          local p = x:pop((i + 1) % 3)
          if p.x + p.y ~= 0 then bad[0] += 1 end
        end
      end
    end]=], { x = x, bad = bad })
    for _ = 1, 4 do churn(2000) end
    assert.equal(0, bad[0])
    local total = 0
    for i = 0, 2 do
      for _, p in x:items(i) do
        assert.equal(0, p.x + p.y)
        assert.is_true(p.x > 0)
      end
      local length = x:length(i)
      total = total + length
      assert.equal(0, x[i][length].x)
      assert.equal(0, x[i][length + 5].y)
    end
    assert.equal(total, node:count())
  end)

  it("can be emptied while others append to it", function()
    local x, node = lists(rg.i32, 2, 9000, { chunk = 4 })
    local churn = rg.kernel([=[function()
      for i in rg.range(3000) do
        x:append(i % 2, i + 1)
        if i % 101 == 0 then x:deactivate(i % 2) end
        x[i % 2][0] = 7
      end
    end]=], { x = x })
    for _ = 1, 5 do
      churn()
      local seen = 0
      for i = 0, 1 do
        for _, v in x:items(i) do seen = seen + (v ~= 0 and 1 or 0) end
        assert.equal(0, x[i][x:length(i)])
      end
      assert.equal(node:count(), seen)
    end
    node:clear()
    assert.equal(0, node:count())
    assert.equal(0, x:length(0))
    assert.equal(0, x:append(0, 1))
  end)

  it("grows to the largest index that is written, with zeros in between", function()
    local x, node = lists(rg.i32, 4, 1000, { chunk = 8 })
    rg.kernel([=[function() for i in rg.range(4) do x[i][i * 20] = i + 1 end end]=], { x = x })()
    assert.equal(1, x:length(0))
    assert.equal(61, x:length(3))
    assert.equal(1 + 21 + 41 + 61, node:count())
    assert.equal(4, x[3][60])
    assert.equal(0, x[3][59])
    assert.is_true(x:is_active(3, 60))
    assert.is_false(x:is_active(3, 61))
    assert.is_false(rg.kernel([=[function() return x:is_active(3, 61) end]=], { x = x })())
    rg.kernel([=[function() x:activate(3, 99) end]=], { x = x })()
    assert.equal(100, x:length(3))
    x[2][49] = 5
    assert.equal(50, x:length(2))
    assert.equal(0, x[2][48])
    local add = rg.kernel([=[function() for i in rg.range(100) do x[1][i] += i end end]=],
      { x = x })
    add()
    assert.equal(99, x[1][99])
    assert.equal(100, x:length(1))
  end)

  it("reads zero past its end and where it was never touched, and reading changes nothing",
    function()
    local x = rg.field(rg.f32)
    local block = rg.root:pointer("i", 8)
    local node = block:dynamic("k", 64)
    node:place(x)
    local sum = rg.kernel([=[function()
      local sum = 0.0
      for i, k in rg.range(8, 64) do sum = sum + x[i][k] + x:length(i) end
      return sum
    end]=], { x = x })
    assert.equal(0, sum())
    assert.equal(0, block:count())
    assert.equal(0, x:length(3))
    assert.equal(0, x:pop(3))
    assert.equal(0, rg.kernel([=[function() return x:pop(3) end]=], { x = x })())
    assert.equal(0, block:count())
    x:append(3, 2)
    assert.equal(1, block:count())
    assert.equal(64 + 2, sum())
    block:deactivate(3)
    assert.equal(0, node:count())
    assert.equal(0, x[3][0])
    assert.equal(0, x:append(3, 1))
  end)

  it("reuses freed chunks, zeroed", function()
    local x, node = lists(rg.i32, 1, 64, { chunk = 8 })
    for _ = 1, 5 do
      for k = 1, 64 do x:append(0, k) end
      x:deactivate(0)
      assert.equal(0, node:count())
      x[0][20] = 1
      assert.equal(0, x[0][19])
      assert.equal(0, x[0][21])
      x:deactivate(0)
    end
    local nodes = rg.memory().trees
    local mine
    for _, tree in ipairs(nodes) do
      for _, row in ipairs(tree.nodes) do
        if row.kind == "dynamic" and row.cells == 0 then mine = row end
      end
    end
    assert.equal(0, mine.live)
  end)

  it("may lie under the root, with its axis first, or interleaved", function()
    local x = rg.field(rg.i32)
    local all = rg.root:dynamic("i", 10)
    all:place(x)
    assert.equal(0, x:append(4))
    assert.equal(1, rg.kernel([=[function() return x:append(5) end]=], { x = x })())
    assert.same({ 4, 5 }, contents(x))
    assert.equal(5, x[1])
    assert.equal(2, x:length())
    x:deactivate()
    assert.equal(0, x:length())

    local y, z = rg.field(rg.f32), rg.field(rg.i8)
    local list = rg.root:dense("j", 4):dynamic("i", 20, { layout = "aos", chunk = 5 })
    list:place(y, z)
    for k = 0, 11 do list:append(2, k / 2, k) end
    assert.equal(5.5, y[11][2])
    assert.equal(11, z[11][2])
    assert.same({ 5.5, 11 }, { list:pop(2) })
    local a, b = rg.kernel([=[function() local a, b = list:pop(2) return a, b end]=],
      { list = list })()
    assert.same({ 5, 10 }, { a, b })
    assert.equal(10, y:length(2))
  end)

  it("may lie under a hash, at any coordinates", function()
    local x = rg.field(rg.i32)
    local cell = rg.root:hash("ij")
    local node = cell:dynamic("k", 20, { chunk = 4 })
    node:place(x)
    local fill = rg.kernel([=[function()
      for i in rg.range(600) do x:append(i % 30 - 15, -(i % 2), i) end
    end]=], { x = x })
    fill()
    assert.equal(600, node:count())
    assert.equal(20, x:length(-15, 0))
    assert.equal(0, x:length(-15, -1))
    assert.equal("list.full", failure(x.append, x, -15, 0, 1).code)
    local sum = 0
    for i, j, k, v in pairs(x) do sum = sum + v end
    assert.equal(599 * 300, sum)
    x:pop(-15, 0)
    x:deactivate(-14, -1)
    cell:deactivate(3, 0)
    local count = 0
    for _ in pairs(x) do count = count + 1 end
    assert.equal(node:count(), count)
    assert.equal(0, x:length(-14, -1))
    assert.equal(0, x:append(-14, -1, 7))
  end)

  it("is visited cell by cell in index order from Lua", function()
    local x, node = lists(rg.i32, 3, 50, { chunk = 4 })
    for k = 1, 6 do x:append(2, k) end
    x:append(0, 9)
    local seen = {}
    for i, k, v in pairs(x) do seen[#seen + 1] = i * 1000 + k * 100 + v end
    assert.same({ 9, 2001, 2102, 2203, 2304, 2405, 2506 }, seen)
    x:pop(2)
    x:pop(2)
    x:pop(2)
    local count = 0
    for _ in node:active() do count = count + 1 end
    assert.equal(4, count)
    x:fill(5)
    assert.equal(5, x[2][2])
    assert.equal(0, x[2][3])
    assert.equal(5, x:to_table()[3][3])
  end)

  it("is read and written like an array, also with vectors", function()
    local x = rg.field(rg.i32)
    rg.root:dynamic("i", 128, { chunk = 32 }):place(x)
    rg.kernel(function() for _ = 1, 1 do for i = 0, 127 do x[i] = i end end end)()
    for i = 0, 127 do assert.equal(i, x[i]) end
    local v = rg.field(rg.vec2)
    rg.root:dynamic("i", 8192, { chunk = 128 }):place(v)
    for i = 0, 400, 4 do v[i] = rg.vec2(i, -i) end
    assert.same({ 8, -8, 0, 0 }, { v[8].x, v[8].y, v[9].x, v[11].y })
  end)

  it("grows by one with each append, for every reader at once", function()
    local x = rg.field(rg.i32)
    rg.root:dense("i", 128):dynamic("j", 128, { chunk = 8 }):place(x)
    rg.kernel(function() for i, j in rg.range(64, 128) do x:append(i, j) end end)()
    for i = 0, 127 do assert.equal(i < 64 and 128 or 0, x:length(i)) end
    local seen = {}
    for _, v in x:items(5) do seen[v] = true end
    for j = 0, 127 do assert.is_true(seen[j]) end
  end)

  it("grows, is emptied and grows again to the requested lengths", function()
    local x = rg.field(rg.i32)
    local list = rg.root:dense("i", 10):dynamic("j", 500, { chunk = 4 })
    list:place(x)
    local grow = rg.kernel(function(times)
      for i in rg.range(10) do
        for k = 1, times * i * i do x:append(i, k) end
      end
    end)
    grow(1)
    grow(2)
    for i = 0, 9 do assert.equal(3 * i * i, x:length(i)) end
    list:clear()
    assert.equal(0, x:count())
    list:clear() -- while empty: no effect
    grow(4)
    for i = 0, 9 do assert.equal(4 * i * i, x:length(i)) end
  end)

  it("holds integers of every width exactly", function()
    local a, b = rg.field(rg.u8), rg.field(rg.u64)
    rg.root:dynamic("i", 64):place(a, b)
    rg.kernel(function()
      for i = 0, 49 do
        a[i] = rg.u8(i * i * i)
        b[i] = rg.u64(i * i * i) * 10000000000ULL
      end
    end)()
    for i = 0, 49 do
      assert.equal(i * i * i % 256, a[i])
      assert.is_true(b[i] == i * i * i * 10000000000ULL)
    end
  end)
end)

describe("a list below a cell that is deactivated", function()
  local above = {
    pointer = function() return rg.root:pointer("i", 64) end,
    bitmasked = function() return rg.root:bitmasked("i", 64) end,
    hash = function() return rg.root:hash("i") end,
  }
  for kind, make in pairs(above) do
    it("is removed with it, and starts empty again, under " .. kind, function()
      local x, top = rg.field(rg.i32), make()
      local list = top:dynamic("j", 16, { chunk = 4 })
      list:place(x)
      rg.kernel([=[function()
        for i in rg.range(64) do
          x:append(i, 1)
          x[i][9] = 4
          top:deactivate(i)
          x:append(i, 3)
          x[i][1] = i + 5
        end
      end]=], { x = x, top = top })()
      for i = 0, 63 do assert.same({ 2, 3, i + 5 }, { x:length(i), x[i][0], x[i][1] }) end
      assert.equal(128, list:count())
      rg.kernel([=[function()
        for i, j in x:active() do
          if j == 0 then
            list:deactivate(i)
            x:append(i, i)
          end
        end
      end]=], { x = x, list = list })()
      for i = 0, 63 do assert.same({ 1, i }, { x:length(i), x[i][0] }) end
      rg.kernel([=[function() for i, j in x:active() do top:deactivate(i) end end]=],
        { x = x, top = top })()
      assert.same({ 0, 0, 0 }, { list:count(), top:count(), x:length(7) })
    end)
  end
end)

describe("a loop over the elements of lists", function()
  -- Lists of 0, 7, 14, .. elements, x = 1000 i + k.
  local function filled(t, chunk, count, options)
    local x, y = rg.field(t), rg.field(t)
    local block = rg.root:pointer("i", 4)
    local node = block:dense("i", count / 4):dynamic("j", 200, { chunk = chunk, layout = options
      and options.layout })
    node:place(x, y)
    rg.kernel([=[function(count)
      for i in rg.range(count) do
        for k = 0, 7 * i - 1 do x:append(i, 1000 * i + k, 0) end
      end
    end]=], { x = x })(count)
    return x, y, node
  end

  for _, chunk in ipairs { 1, 4, 20, 32, 200 } do
    for _, layout in ipairs { "soa", "aos" } do
      it(("visits each once, chunks of %d, %s"):format(chunk, layout), function()
        local x, y, node = filled(rg.i32, chunk, 16, { layout = layout })
        local visit = rg.kernel([=[function()
          local sum, count = 0, 0
          for i, j in x:active() do
            y[i][j] = y[i][j] + x[i][j] + 1
            sum = sum + x[i][j] - 1000 * i - j
            count = count + 1
          end
          return sum, count
        end]=], { x = x, y = y })
        for round = 1, 2 do
          local sum, count = visit()
          assert.equal(0, sum)
          assert.equal(7 * 120, count)
          assert.equal(count, node:count())
          for i, j, v in pairs(y) do assert.equal(round * (1000 * i + j + 1), v) end
          assert.equal(7 * 15, x:length(15))
          assert.equal(0, y[15][7 * 15])
        end
      end)
    end
  end

  it("runs in lanes if the body is straight-line code, and the rest as scalar code #compiled \z
    #cpu", function()
    local x, y = filled(rg.f32, 32, 16)
    local double = rg.kernel([=[function()
      for i, j in x:active() do y[i][j] = x[i][j] * 2 + (x[i][j] > 3000 and 1 or 0) end
    end]=], { x = x, y = y })
    double()
    for i, j, v in pairs(y) do
      local from = 1000 * i + j
      assert.equal(from * 2 + (from > 3000 and 1 or 0), v)
    end
    assert.matches("lanes", double:explain())
  end)

  it("sees the elements that were there when it began", function()
    local x, _, node = filled(rg.i32, 8, 16)
    local before = node:count()
    local grow = rg.kernel([=[function()
      local visited = 0
      for i, j in x:active() do
        visited = visited + 1
        if j < 50 then x:append(i, -1, -1) end
      end
      return visited
    end]=], { x = x })
    assert.equal(before, grow())
    local added = 0
    for i = 1, 15 do added = added + math.min(50, 7 * i) end
    assert.equal(before + added, node:count())
    local write = rg.kernel([=[function()
      local visited = 0
      for i, j in x:active() do
        visited = visited + 1
        x[0][i + 150] = 5
      end
      return visited
    end]=], { x = x })
    assert.equal(before + added, write())
    assert.equal(before + added + 166, node:count())
    local shrink = rg.kernel([=[function()
      local visited = 0
      for i, j in x:active() do
        visited = visited + 1
        x:pop(i)
      end
      return visited
    end]=], { x = x })
    local all = node:count()
    assert.equal(all, shrink())
    assert.equal(0, node:count())
    assert.equal(0, shrink())
  end)

  it("empties the lists it visits", function()
    local x, _, node = filled(rg.i32, 8, 16)
    rg.kernel([=[function()
      for i, j in x:active() do if i % 2 == 0 then x:deactivate(i) end end
    end]=], { x = x })()
    assert.equal(7 * 64, node:count())
    assert.equal(0, x[14][3])
  end)

  it("runs in index order inside another loop", function()
    local x = filled(rg.i32, 4, 8)
    local order = rg.kernel([=[function()
      local last, wrong, count = 0, 0, 0
      for i, j in x:active():serial() do
        if x[i][j] < last then wrong = wrong + 1 end
        last = x[i][j]
        count = count + 1
      end
      return wrong, count
    end]=], { x = x })
    assert.same({ 0, 7 * 28 }, { order() })
    local y = rg.field(rg.i32)
    local node = rg.root:dense("j", 3):dynamic("i", 9)
    node:place(y)
    for k = 0, 4 do y:append(1, k) end
    y:append(2, 7)
    assert.equal(17, rg.kernel([=[function()
      local sum = 0
      for i, j in node:active():serial() do sum = sum + y[i][j] end
      for i, j in y:active() do sum = sum + j * 0 end
      return sum
    end]=], { y = y, node = node })())
  end)
end)

describe("a value that is not a list", function()
  it("is refused with a sentence", function()
    local x = rg.field(rg.i32, 8)
    local err = failure(rg.kernel([=[function() return x:length(1) end]=], { x = x }))
    assert.truthy(err.message:find("'x' is under a dense node", 1, true))
    assert.truthy(failure(x.length, x, 1).message:find("has no lists", 1, true))
    local y, node = lists(rg.vec2, 4, 8)
    err = failure(rg.kernel([=[function() y:append(1, 2) end]=], { y = y }))
    assert.equal("call.count", err.code)
    assert.truthy(err.message:find("2 numbers", 1, true))
    assert.equal("index.count", failure(rg.kernel([=[function() y:append() end]=], { y = y })).code)
    assert.equal("index.count", failure(rg.kernel([=[function() return y:length(1, 2) end]=],
      { y = y })).code)
    assert.equal("index.count", failure(y.length, y).code)
    assert.equal("argument.invalid", failure(node.append, node, 1).code)
    assert.equal("type.float_to_int", failure(rg.kernel([=[function() z:append(1, 2.5) end]=],
      { z = (lists(rg.i32, 4, 8)) })).code)
    assert.equal("loop.invalid", failure(
      rg.kernel([=[function() for k, a, b in y:items(1) do end end]=], { y = y })).code)
    assert.equal("tree.declaration",
      failure(function() rg.root:dynamic("i", 4):dense("j", 4) end).code)
    assert.equal("tree.declaration",
      failure(function() rg.root:dense("i", 4):dynamic("i", 4) end).code)
    assert.equal("argument.invalid",
      failure(function() rg.root:dynamic("i", 4, { chunk = 0 }) end).code)
  end)
end)

local function one_list(t, n, chunk)
  local x = rg.field(t)
  local node = rg.root:dynamic("i", n, { chunk = chunk })
  node:place(x)
  return x, node
end

local function reserved() return rg.memory().reserved end

describe("lists", function()
  it("are visited up to their last written slot, including gaps", function()
    local x = one_list(rg.i32, 128, 32)
    for v = 1, 5 do x:append(v) end
    x[20] = 7
    assert.equal(21, x:length())
    x[10] = 7
    assert.equal(21, x:length())
    local visits = rg.kernel([=[function()
      local n = 0
      for i in x:active() do n = n + 1 end
      return n
    end]=], { x = x })
    assert.equal(21, visits())
    x[42] = 1
    assert.equal(43, visits())
    assert.equal(0, x[30])
  end)

  it("take a million appends, to one and to 65536 #compiled", function()
    local one = one_list(rg.i32, 2 ^ 20, 1024)
    local many = lists(rg.i32, 65536, 64, { chunk = 16 })
    local all = rg.kernel([=[function()
      for i in rg.range(1048576) do
        one:append(i)
        many:append(i % 65536, i)
      end
    end]=], { one = one, many = many })
    all()
    local check = rg.kernel([=[function()
      local sum, low, high = 0LL, 1000, 0
      for i in one:active() do sum = sum + one[i] end
      for i in rg.range(65536) do
        low = math.min(low, many:length(i))
        high = math.max(high, many:length(i))
      end
      return sum, low, high
    end]=], { one = one, many = many })
    local sum, low, high = check()
    assert.equal(1048576, one:length())
    assert.equal(1048575 * 524288, tonumber(sum))
    assert.same({ 16, 16 }, { low, high })
  end)
end)

describe("appends of one iteration", function()
  it("keep their order, whichever of them could be collected", function()
    local x = lists(rg.i32, 16, 64, { chunk = 4 })
    rg.kernel([=[function()
      for i in rg.range(16) do
        for k = 1, 3 do x:append(i, k) end
        x:append(i, 4)
        local at = x:append(i, 5)
        for k = 6, 8 do x:append(i, k) end
      end
    end]=], { x = x })()
    for i = 0, 15 do
      assert.equal(8, x:length(i))
      for k = 0, 7 do assert.equal(k + 1, x[i][k]) end
    end
  end)
end)

describe("appends of workers that compete for lists", function()
  local own
  local many = os.getenv "RG_ARCH" and 8000 or 40000 -- Lua, or a GPU that is executed, is slow
  before_each(function() own = rg.new { threads = 3, memory = "256MiB" } end)

  local function under(make, count)
    local a, b, c = own.field(own.u8), own.field(own.vec2), own.field(own.f64)
    local list = make(own.root):dynamic("j", 1000, { chunk = 12, layout = "aos" })
    list:place(a, b, c)
    own.kernel([=[function()
      for i in rg.range(many) do
        local at = i * 7 % count
        if at % 2 == 0 then list:append(at, i, rg.vec2(i, 1), i + 0.5) end
        list:append(at, -i, rg.vec2(i, 2), i - 0.5)
      end
    end]=], { list = list, rg = own, count = count, many = many })()
    local expected, seen = many, 0
    for i = 0, many - 1 do if i * 7 % count % 2 == 0 then expected = expected + 1 end end
    for i = 0, count - 1 do
      local k, length = 0, list:length(i)
      while k < length do
        local v = b[i][k]
        assert.equal(i, v.x * 7 % count)
        local sign = v.y == 1 and 1 or -1
        assert.same({ sign * v.x % 256, v.x + sign / 2 }, { a[i][k], c[i][k] })
        seen, k = seen + 1, k + 1
      end
      assert.equal(0, b[i][length].y)
    end
    assert.same({ expected, expected }, { seen, list:count() })
  end

  it("are all stored once, whatever their kind, and what follows is zero", function()
    under(function(root) return root:dense("i", 100) end, 100)
    under(function(root) return root:pointer("i", 64):dense("i", 4) end, 99)
    under(function(root) return root:hash("i") end, 101)
  end)

  it("keep the order of each iteration", function()
    local x = own.field(own.i32)
    own.root:dense("i", 32):dynamic("j", 4096, { chunk = 8 }):place(x)
    own.kernel([=[function()
      for i in rg.range(20000) do
        x:append(i % 32, 2 * i)
        if i % 3 > 0 then x:append(i * 5 % 32, 2 * i + 1) end
      end
    end]=], { x = x, rg = own })()
    local total = 0
    for i = 0, 31 do
      local seen = {}
      total = total + x:length(i)
      for _, v in x:items(i) do
        local first = i * 5 % 32 == i
        if v % 2 == 0 then seen[v / 2] = true
        elseif first then assert.is_true(seen[(v - 1) / 2]) end
      end
    end
    assert.equal(33333, total)
  end)

  it("fail when a list is full, with an error; those to others continue", function()
    local x = own.field(own.i32)
    local list = own.root:dense("i", 8):dynamic("j", 100, { chunk = 8, name = "bin" })
    list:place(x)
    local fill = own.kernel([=[function()
      for i in rg.range(1000) do
        if i % 8 ~= 5 or i < 80 then x:append(i % 8, i) end
      end
    end]=], { x = x, rg = own })
    local e = failure(fill)
    assert.equal("list.full", e.code)
    assert.matches("bin", e.message)
    for i = 0, 7 do assert.equal(i == 5 and 10 or 100, x:length(i)) end
    list:clear()
    assert.equal(0, x[3][0])
  end)
end)

describe("memory of lists #compiled", function()
  it("is reused after they were emptied", function()
    local x, node = lists(rg.i32, 16, 512, { chunk = 16 })
    node:clear() -- nothing yet: nothing happens
    local fill = rg.kernel("function() for i, k in rg.range(16, 300) do x:append(i, k) end end",
      { x = x })
    fill()
    node:clear()
    local after_one = reserved()
    for _ = 1, 50 do
      fill()
      assert.equal(300, x:length(7))
      node:clear()
    end
    -- logs of workers that came too late for the first time may be new, and leaks would be 1.7 MB
    assert.is_true(reserved() <= after_one + 2 ^ 18)
  end)

  it("is that of existing chunks, however long a list may get", function()
    local before = reserved()
    local x, node = one_list(rg.f32, 2 ^ 20, 1024)
    local write = rg.kernel("function() x[1024] = 1 end", { x = x })
    for _ = 1, 100 do
      write()
      assert.equal(1025, x:length())
      node:clear()
    end
    assert.is_true(reserved() - before < 2 ^ 18)
  end)
end)

describe("a loop that sorts the lists of its iterations #compiled", function()
  local function sort_lists()
    local n, x, y = 37, rg.field(rg.f32), rg.field(rg.i32)
    local row = rg.root:dense("i", n)
    row:dynamic("j", 64, { chunk = 4 }):place(x, y)
    local kernel = rg.kernel([=[function()
      for i in row:active() do
        for k = 0, i % 11 do x:append(i, (k * 7 + i) % 13, k) end
        local count = x:length(i)
        for last = count - 2, 0, -1 do
          for k = 0, last do
            if x[i][k] > x[i][k + 1] then
              x[i][k], x[i][k + 1] = x[i][k + 1], x[i][k]
              y[i][k], y[i][k + 1] = y[i][k + 1], y[i][k]
            end
          end
        end
        x[i][count + i % 3] = -1
      end
    end]=], { x = x, y = y, row = row })
    kernel()
    return kernel:explain(), x, y, n
  end

  it("writes the elements in lanes, too, also past a list's end #cpu", function()
    local notes, x, y, n = support.with_stress("force_lanes", sort_lists)
    assert.matches("at a time, in vector lanes", notes)
    for i = 0, n - 1 do
      local count = i % 11 + 1
      assert.equal(count + i % 3 + 1, x:length(i))
      for k = 0, count - 2 do assert.is_true(x[i][k] <= x[i][k + 1]) end
      for k = 0, count - 1 do assert.equal((y[i][k] * 7 + i) % 13, x[i][k]) end
      assert.equal(-1, x[i][count + i % 3])
    end
  end)
end)
