-- array_kernel_spec.lua - arrays in kernels: arguments of any extent, elements, bounds, updates,
-- and which code is compiled for them.
local ffi = require "ffi"
local support = require "support"
local rg, failure = support.rg, support.failure

local function compiled()
  local stats = rg.stats()
  return stats.compiles + stats.cache_hits
end

-- Returns the number of versions that `f` compiles.
local function compiles(f)
  local before = compiled()
  f()
  return compiled() - before
end

-- An array of 0, 1, 2, .. in row-major order.
local function sequence(t, ...)
  local a, k = rg.array(t, ...), 0
  for i, j in a:active() do
    if j then a[i][j] = k else a[i] = k end
    k = k + 1
  end
  return a
end

describe("a kernel given an array", function()
  it("takes any extents, without another compile #compiled", function()
    local fill = rg.kernel(function(a, v)
      for i, j in rg.range(a.shape[0], a.shape[1]) do a[i][j] = v + 10 * i + j end
    end)
    assert.equal(1, compiles(function()
      for n = 1, 20 do
        local a = rg.array(rg.f32, n, 2 * n)
        fill(a, 1)
        assert.equal(1 + 10 * (n - 1) + 2 * n - 1, a[n - 1][2 * n - 1])
      end
    end))
    assert.equal(1, compiles(function() fill(rg.array(rg.f64, 3, 3), 1) end))
  end)

  it("takes it as an argument, as a capture, in a table, and in helpers", function()
    local a, data = rg.array(rg.i32, 5), { inner = { b = rg.array(rg.i32, 5) } }
    local function put(x, i, v) x[i] = v end
    local function other() return data.inner.b end
    local b = other()
    rg.kernel(function(c)
      for i in rg.range(5) do
        put(a, i, i)
        put(c, i, 2 * i)
        data.inner.b[i] = a[i] + c[i]
      end
    end)(rg.array(rg.i32, 5))
    assert.same({ 0, 3, 6, 9, 12 }, b:to_table())
  end)

  it("takes another one at the next launch, and one array for two parameters", function()
    local add = rg.kernel(function(a, b) for i in rg.range(#a) do a[i] = a[i] + b[i] end end)
    local a, b = sequence(rg.f32, 4), sequence(rg.f32, 4)
    add(a, b)
    assert.same({ 0, 2, 4, 6 }, a:to_table())
    local swap = rg.kernel(function() for i in rg.range(#a) do a[i] = b[i] + 1 end end)
    swap()
    a, b = b, a
    swap()
    assert.same({ 2, 3, 4, 5 }, a:to_table())
    add(a, a)
    assert.same({ 4, 6, 8, 10 }, a:to_table())
  end)

  it("may have no elements: reads give zero, writes do nothing and are counted", function()
    local s, empty = rg.field(rg.i32, 4), rg.array(rg.i32, 0)
    assert.equal(0, #empty)
    assert.same({}, empty:to_table())
    local rows = rg.array(rg.i32, 3, 0):to_table()
    assert.same({ 3, 0 }, { #rows, #rows[1] })
    local k = rg.kernel([[function(a)
      a[0] = 4
      s[0] = a[0]
      for i in rg.range(2) do
        a[0] = 7
        s[i + 1] = a[0]
      end
      for i in a:active() do s[3] += 1 end
    end]], { rg = rg, s = s })
    local before = rg.stats().out_of_range
    k(empty)
    assert.same({ 0, 0, 0, 0 }, s:to_table())
    assert.equal(3, rg.stats().out_of_range - before)
    k(rg.array(rg.i32, 1))
    assert.same({ 4, 7, 7, 1 }, s:to_table())
    local made = rg.kernel([[function(n: i32)
      local a = rg.zeros(rg.i32, n)
      for i in rg.range(2) do
        a[0] = 7
        s[i + 1] = a[0]
      end
    end]], { rg = rg, s = s })
    made(0)
    assert.same({ 4, 0, 0, 1 }, s:to_table())
  end)

  it("gives an extent by a run-time index, of one axis too; out of bounds it is 0", function()
    local extent = rg.kernel [[function(u, k: i32) return u.shape[k] end]]
    for _, make in ipairs { rg.array, rg.field } do
      local one, two = make(rg.f32, 5), make(rg.f32, 5, 7)
      assert.same({ 5, 0, 7 }, { extent(one, 0), extent(one, 1), extent(two, 1) })
    end
  end)

  it("knows its shape: #a, a.shape[k], a.shape.x, a.shape as a vector", function()
    local a = rg.array(rg.f32, 3, 4, 5)
    local n, x, y, z, whole, turned, axes, chosen = rg.kernel(function(u, k)
      local row = u[1]
      return #u, u.shape[0], u.shape.y, #row[2], u.shape, u.shape.zyx, #u.shape, u.shape[k]
    end)(a, 2)
    assert.same({ 3, 3, 4, 5, 3, 5 }, { n, x, y, z, axes, chosen })
    assert.equal(rg.ivec3(3, 4, 5), whole)
    assert.equal(rg.ivec3(5, 4, 3), turned)
    local one = rg.kernel(function(u) return u.shape, u.shape[0] * 0.5 end)
    local count, half = one(rg.array(rg.f32, 7))
    assert.equal(7, count)
    assert.equal(3.5, half)
  end)

  it("reads and writes every scalar type", function()
    local values = { i8 = -100, i16 = -30000, i32 = -2 ^ 30, u8 = 200, u16 = 60000, u32 = 2 ^ 31,
      f16 = 0.5, f32 = 0.25, f64 = 1 / 3 }
    local copy = rg.kernel(function(a, b) for i in rg.range(#a) do b[i] = a[i] end end)
    for name, v in pairs(values) do
      local a, b = rg.array(name, 3), rg.array(name, 3)
      a:fill(v)
      copy(a, b)
      assert.equal(v, b[2], name)
    end
    local a, b = rg.array(rg.i64, 2), rg.array(rg.i64, 2)
    a[1] = 2LL ^ 60 + 1
    copy(a, b)
    assert.equal(2LL ^ 60 + 1, b[1])
    local p, q = rg.array(rg.bool, 2), rg.array(rg.bool, 2)
    p[1] = true
    copy(p, q)
    assert.is_true(q[1])
    assert.is_false(q[0])
  end)

  it("computes with vectors and matrices as elements, as a whole and by component", function()
    local v, m, r = rg.array(rg.vec3, 4), rg.array(rg.mat2, 4), rg.array(rg.vec2, 4)
    rg.kernel(function()
      for i in rg.range(4) do
        v[i] = rg.vec3(i, 2 * i, 3 * i)
        v[i].y = v[i].y + 1
        m[i] = rg.mat2(1, i, 0, 2)
        r[i] = m[i] * v[i].xy
        m[i][1][0] = 7
      end
    end)()
    assert.equal(rg.vec3(2, 5, 6), v[2])
    assert.equal(rg.vec2(2 + 2 * 5, 10), r[2])
    assert.equal(rg.mat2(1, 2, 7, 2), m[2])
  end)

  it("takes indices as numbers, lists, vectors, and rows as views", function()
    local a = sequence(rg.i32, 4, 5)
    local total = rg.kernel([=[function(a)
      local s = 0
      for I in rg.range(4, 5):vec() do
        local row = a[I.x]
        s = s + a[I] + row[I.y] + a[{I.x, I.y}] + a[I.x, I.y]
      end
      return s
    end]=])(a)
    assert.equal(4 * 190, total)
  end)

  it("runs over all elements of a:active(), in every rank", function()
    for rank, names in ipairs { "i", "i, j", "i, j, k" } do
      local a = rg.array { type = rg.i32, shape = { unpack({ 3, 4, 5 }, 1, rank) } }
      local visit = rg.kernel((([=[function(a)
        local s = 0
        for I in a:active() do
          a[{I}] = a[{I}] + 1
          s = s + a[{I}]
        end
        return s
      end]=]):gsub("I", names)))
      local count = ({ 3, 12, 60 })[rank]
      assert.equal(count, visit(a))
      assert.equal(2 * count, visit(a))
    end
    local s = rg.kernel(function(a)
      local t = 0
      for i in rg.range(2) do
        for j, k in a:active() do t = t + a[j][k] * (i + 1) end
      end
      return t
    end)(sequence(rg.i32, 2, 2))
    assert.equal(18, s)
  end)

  it("loops over rg.range(a.shape), as over that of a field, and so does Lua", function()
    local count = rg.kernel(function(u)
      local s = 0
      for i, j in rg.range(u.shape) do s = s + 1 end
      for I in rg.range(u.shape.yx, 2):vec() do s = s + 1 end
      return s
    end)
    assert.equal(3 * 15, count(rg.array(rg.f32, 3, 5)))
    assert.equal(3 * 8, count(rg.field(rg.f32, 2, 4)))
    local seen = {}
    for i, j in rg.range(rg.array(rg.f32, 2, 2).shape) do seen[#seen + 1] = i .. j end
    assert.equal("00 01 10 11", table.concat(seen, " "))
  end)

  it("scatters a stencil at computed places, also into one smaller than the stencil", function()
    local p = rg.array(rg.vec2, 200)
    for i = 0, 199 do p[i] = { i * 7 % 25 - 2.5, i * 3 % 25 - 2.5 } end
    local scatter = rg.kernel(function(grid)
      for k in rg.range(#p) do
        local x, y = math.floor(p[k].x), math.floor(p[k].y)
        for a = 0, 2 do
          for b = 0, 2 do grid[x + a][y + b] = grid[x + a][y + b] + (a + 1) * (b + 1) end
        end
      end
    end)
    for _, n in ipairs { 20, 3, 2, 1 } do
      local a, x = rg.array(rg.f32, n, n), rg.field(rg.f32, n, n)
      scatter(a)
      scatter(x)
      assert.same(x:to_table(), a:to_table())
    end
  end)

  it("uses indices of 64 bits for more than 2^30 elements #compiled #cpu", function()
    local n = 2 ^ 31 + 2 ^ 20
    local a = rg.new { memory = "4GiB", threads = 1 }
    local big = a.array(a.u8, n)
    local last = a.kernel(function(u)
      u[#u - 1] = 7
      local s = 0
      for i in rg.range({ #u - 5, #u + 5 }) do s = s + u[i] + 2 * u[i - 1] end
      return s, #u
    end)
    local sum, count = last(big)
    assert.equal(21, sum)
    assert.equal(n, tonumber(count))
    assert.equal(7, big[n - 1])
    big:destroy()
  end)

  it("reads zero outside its shape, and a write there does nothing but count", function()
    local a, before = sequence(rg.f32, 4, 3), rg.stats().out_of_range
    local sum = rg.kernel(function(u, n)
      local s = 0
      for i in rg.range(n) do
        s = s + u[-1][0] + u[4][i] + u[0][3] + u[i][-2147483647] + u[i * 2147483647][0]
      end
      return s
    end)(a, 2)
    assert.equal(0, sum)
    rg.kernel(function(u)
      for i, j in rg.range({ -1, 5 }, { -1, 4 }) do u[i][j] = 9 end
    end)(a)
    assert.equal(30 - 12, rg.stats().out_of_range - before)
    for i, j in a:active() do assert.equal(9, a[i][j]) end
    assert.equal(0, rg.kernel(function(u)
      local old = u:add(7, 7, 1)
      u[5][0] = u[5][0] + 1
      return old
    end)(a))
  end)

  it("updates atomically, whichever iterations meet", function()
    local h, top = rg.array(rg.i32, 4), rg.array(rg.f32, 2)
    rg.kernel(function()
      for i in rg.range(10000) do
        h[i % 4] = h[i % 4] + 1
        top[0] = math.max(top[0], i)
        top[1] = top[1] + 1
      end
    end)()
    assert.same({ 2500, 2500, 2500, 2500 }, h:to_table())
    assert.same({ 9999, 10000 }, top:to_table())
  end)

  it("adds up the sums of several workers, also of vectors, and in external memory", function()
    local other = rg.new { threads = 3 }
    local add = other.kernel(function(h, v, n)
      for i in rg.range(n) do
        h[i * 7919 % 256] = h[i * 7919 % 256] + 1
        v[i % 5] = v[i % 5] + rg.vec2(1, -2)
      end
    end)
    for _, size in ipairs { 256, 200, 300 } do
      local h, v = other.array(rg.f32, size), other.array(rg.vec2, 5)
      for _ = 1, 3 do add(h, v, 256 * 400) end
      for i = 0, size - 1 do assert.equal(i < 256 and 1200 or 0, h[i]) end
      for i = 0, 4 do assert.equal(rg.vec2(61440, -122880), v[i]) end
    end
  end)

  it("adds up in wrapped memory, and leaves the memory around it #compiled", function()
    local other, m = rg.new { threads = 3 }, ffi.new "int32_t[30]"
    local count = other.kernel(function(h, n)
      for i in rg.range(n) do h[i % 28] = h[i % 28] + 1 end
    end)
    for _ = 1, 3 do count(other.wrap(m + 1, rg.i32, 28), 28 * 3000) end
    assert.equal(0, m[0])
    assert.equal(0, m[29])
    for k = 1, 28 do assert.equal(9000, m[k]) end
  end)

  it("reads constant places, inside an extent or outside", function()
    local sum = rg.kernel(function(u)
      local s = 0
      for i in rg.range(#u) do s = s + u[3] + 10 * u[i] + 100 * u[-1] end
      return s
    end)
    assert.equal(10, sum(sequence(rg.i32, 2)))
    assert.equal(5 * 3 + 100, sum(sequence(rg.i32, 5)))
  end)

  it("exchanges immediately, and returns the old value", function()
    local a, tickets = rg.array(rg.i32, 3), rg.array(rg.i32, 100)
    rg.kernel(function()
      for _ in rg.range(100) do
        local t = a:add(0, 1)
        tickets[t] = tickets[t] + 1
        a:max(1, t)
        a:compare_exchange(2, 0, 5)
      end
    end)()
    assert.same({ 100, 99, 5 }, a:to_table())
    for i = 0, 99 do assert.equal(1, tickets[i]) end
  end)

  it("adds vectors component by component", function()
    local a = rg.array(rg.vec2, 2)
    rg.kernel([=[function()
      for i in rg.range(100) do a[i % 2] += rg.vec2(1, 2) end
    end]=], { a = a })()
    assert.equal(rg.vec2(50, 100), a[1])
  end)

  it("can be used with fields of trees in one loop", function()
    local x, block = support.sparse(rg.f32, "i", 8, 8)
    local a, weight = rg.array(rg.f32, 64), sequence(rg.f32, 64)
    x[3], x[20] = 1, 2
    rg.kernel(function()
      for i in x:active() do
        a[i] = x[i] * weight[i] + weight[i - 1]
        x[i] = x[i] + weight[63 - i]
      end
    end)()
    assert.equal(1 * 3 + 2, a[3])
    assert.equal(2 * 20 + 19, a[20])
    assert.equal(0, a[32])
    assert.equal(1 + 60, x[3])
    assert.equal(2, block:count())
  end)

  it("computes with f16 elements as fields do", function()
    local a, x = rg.array(rg.f16, 5), rg.field(rg.f16, 5)
    local k = rg.kernel(function(u)
      for i in rg.range(#u) do u[i] = u[i] * 0.1 + i / 3 end
    end)
    for _ = 1, 3 do
      k(a)
      k(x)
    end
    assert.same(x:to_table(), a:to_table())
  end)

  it("is accessible in recursive functions", function()
    local a = sequence(rg.i32, 10)
    local few, all = rg.kernel([=[
      local function sum(i: i32): i32
        if i < 0 then return 0 end
        if i >= #a then return sum(#a - 1) end
        return a[i] + sum(i - 1)
      end
      function(n)
        local s = 0
        for j in rg.range(3) do s = s + sum(j) end
        return s, sum(n)
      end]=], { a = a })(40)
    assert.same({ 4, 45 }, { few, all })
  end)

  it("may be a new array at every launch", function()
    local k = rg.kernel(function(u) for i in rg.range(#u) do u[i] = i end end)
    for n = 1, 300 do
      local a = rg.array(rg.i32, n % 7 + 1)
      k(a)
      assert.equal(n % 7, a[n % 7])
    end
  end)

  it("reduces over it", function()
    local a = sequence(rg.f64, 1000)
    local sum, least, most = rg.kernel(function(u)
      local s, low, high = 0, u[0], u[0]
      for i in rg.range(#u) do
        s = s + u[i]
        low = math.min(low, u[i])
        high = math.max(high, u[i])
      end
      return s, low, high
    end)(a)
    assert.same({ 499500, 0, 999 }, { sum, least, most })
  end)

  it("may take its extents at compile time, by rg.static", function()
    local sum = rg.kernel(function(u)
      local s = 0
      for k in rg.static(rg.range(rg.static(#u))) do s = s + u[k] end
      return s
    end)
    assert.equal(3, sum(sequence(rg.f32, 3)))
    assert.equal(10, sum(sequence(rg.f32, 5)))
  end)

  it("stores #a in integers and divides it as Lua does", function()
    local a, n = rg.array(rg.f32, 5), rg.array(rg.i32, 2)
    local half = rg.kernel(function(u)
      n[0] = #u
      n[1] = math.floor(#u / 2)
      return #u / 2
    end)(a)
    assert.same({ 5, 2 }, n:to_table())
    assert.equal(2.5, half)
  end)

  it("refuses calls that arrays do not have, with their position", function()
    local a = rg.array { type = rg.f32, shape = 4, name = "a" }
    local cases = {
      ["for i in rg.range(4) do a:activate(i) end"] = "'a' is an array and has no 'activate'",
      ["return a:count()"] = "'a' is an array and has no 'count'",
      ["for k, v in a:items(0) do end"] = "'a' is an array and has no 'items'",
      ["return a[0][1]"] = "'a' has 1 axis, more indices given",
      ["return a.shape[1]"] = "'a' has 1 axis",
      ["return a.offset"] = "'a' has no 'offset'",
      ["return a:get(0)"] = "'get' is for Lua, outside kernels",
      ["for i in a do end"] = "'a' itself cannot be looped over",
      ["for i, j in a:active() do end"] = "there is 1 axis to loop over",
      ["a = 1"] = "cannot be assigned",
      ["a.shape = 1"] = "assign",
      ["a[0] = rg.vec2(1, 2)"] = "a vector of 2",
      ["return rg.rescale(a, a, 0)"] = "takes two levels first",
    }
    for body, text in pairs(cases) do
      local problem = failure(rg.kernel("function() " .. body .. " end", { a = a }))
      assert.is_truthy(problem.message:find(text, 1, true), body .. ": " .. problem.message)
      assert.equal(1, problem.line)
    end
  end)

  it("refuses one that was destroyed, or of another runtime", function()
    local read = rg.kernel(function(u) return u[0] end)
    local a, other = rg.array { type = rg.f32, shape = 2, name = "a" }, rg.new {}
    a:destroy()
    assert.equal("handle.destroyed", failure(read, a).code)
    local problem = failure(read, other.array(rg.f32, 2))
    assert.equal("runtime.mixed", problem.code)
    other.reset()
  end)
end)

describe("a wrap in a kernel #compiled", function()
  it("is read and written in place", function()
    local m = ffi.new("float[6]", { 1, 2, 3, 4, 5, 6 })
    local double = rg.kernel(function(u) for i, j in u:active() do u[i][j] = 2 * u[i][j] end end)
    double(rg.wrap(m, rg.f32, { 2, 3 }))
    assert.equal(12, m[5])
    assert.equal(0, compiles(function() double(rg.array(rg.f32, 9, 9)) end))
  end)

  it("follows its strides", function()
    local m = ffi.new("int32_t[12]")
    local set = rg.kernel(function(u) for i, j in u:active() do u[i][j] = 10 * i + j end end)
    set(rg.wrap(m, rg.i32, { 3, 4 }, { strides = { 4, 12 } }))
    for i = 0, 2 do for j = 0, 3 do assert.equal(10 * i + j, m[3 * j + i]) end end
    local points = ffi.new("struct { float x, y; int id; }[5]")
    for k = 0, 4 do points[k].id = k end
    local at = rg.wrap(ffi.cast("float *", points), rg.vec2, 5, { strides = { 12 } })
    local blur = rg.kernel(function(u)
      for i in rg.range(#u) do u[i] = rg.vec2(i, u.shape[0]) end
      for i in rg.range(#u):serial() do u[i].x = u[i].x + u[i - 1].x + u[i + 1].x end
    end)
    blur(at)
    for k = 0, 4 do assert.equal(k, points[k].id) end
    assert.same({ 1, 5 }, { points[0].x, points[0].y })
    local reversed = rg.wrap(m + 11, rg.i32, 12, { strides = { -4 } })
    rg.kernel(function(u) for i in rg.range(#u) do u[i] = i end end)(reversed)
    assert.equal(11, m[0])
  end)

  it("of overlapping memory is sound: nothing is assumed to be independent", function()
    local m = ffi.new "int32_t[1001]"
    local a, b = rg.wrap(m, rg.i32, 1000), rg.wrap(m + 1, rg.i32, 1000)
    rg.kernel(function(u, v)
      for i in rg.range(1000) do
        u[i] = u[i] + 1
        v[i] = v[i] + 1
      end
    end)(a, b)
    assert.equal(1, m[0])
    for k = 1, 999 do assert.equal(2, m[k]) end
    assert.equal(1, m[1000])
    local one = rg.wrap(m, rg.i32, { 10, 10 }, { strides = { 0, 0 } })
    m[0] = 0
    rg.kernel(function(u) for i, j in u:active() do u[i][j] = u[i][j] + 1 end end)(one)
    assert.equal(100, m[0])
    local sums = rg.kernel(function(u, v)
      local s = 0
      for i in rg.range(1000):serial() do
        u[i] = i
        s = s + v[0]
      end
      return s
    end)
    m[1] = 5
    assert.equal(5 + 999 * 1, sums(a, b)) -- v[0] is u[1], which the second iteration writes
  end)

  it("of members of one struct does not overlap #compiled", function()
    local m = ffi.new "float[2000]"
    local function member(first, stride, T)
      return rg.wrap(ffi.cast("float *", m + first), T or rg.f32, 499, { strides = { stride } })
    end
    local k = rg.kernel(function(u, v, w)
      for i in rg.range(499) do
        u[i] = u[i] + 1
        v[i] = v[i] + 10
        w[i] = w[i] + 100
      end
    end)
    local function is_atomic(...)
      k(...)
      return k:explain():find(": atomic", 1, true) ~= nil
    end
    assert.is_false(is_atomic(member(0, 16), member(1, 16), member(2, 16, rg.vec2)))
    assert.same({ 1, 10, 100, 100, 1 }, { m[0], m[1], m[2], m[3], m[4] })
    assert.is_false(is_atomic(member(5, 16), member(4, 16), member(2, 16)))
    assert.is_true(is_atomic(member(0, 16), member(1, 12), member(2, 16)))
    assert.is_true(is_atomic(member(0, 16), member(4, 16), member(2, 16)))
    assert.is_true(is_atomic(member(0, 16), member(2, 16, rg.vec2), member(3, 16)))
  end)

  it("may read a string, and not write it", function()
    local w = rg.wrap("hello", rg.u8, 5)
    local count = rg.kernel(function(s)
      local n = 0
      for i in rg.range(#s) do
        if s[i] == 108 then n = n + 1 end
      end
      return n
    end)
    assert.equal(2, count(w))
    for _, body in ipairs { "w[0] = 1", "w[0] = w[0] + 1", "w:add(0, 1)" } do
      local problem = failure(rg.kernel("function() " .. body .. " end", { w = w }))
      assert.is_truthy(problem.message:find("is read-only", 1, true), problem.message)
    end
  end)

  it("in a field's memory can replace the field, but not be used together with it", function()
    local x = rg.field { type = rg.f32, shape = { 8 }, name = "x" }
    x:fill(1)
    local w = rg.wrap(x:pointer(), rg.f32, { 2, 4 }, { owner = x })
    rg.kernel(function(u) for i, j in u:active() do u[i][j] = u[i][j] + j end end)(w)
    assert.equal(4, x[7])
    local problem = failure(rg.kernel(function() w[0][0] = x[1] end))
    assert.is_truthy(problem.message:find(
      "was given an array of f32 together with tree 'x', which share memory", 1, true))
  end)
end)

describe("kernel:explain() of arrays #compiled", function()
  it("says how each access is compiled", function()
    local a, b = rg.array(rg.f32, 16), rg.array(rg.f32, 16)
    local k = rg.kernel(function()
      for i in rg.range(#a) do
        a[i] = a[i] + b[i + 1]
        b[i % 3] = b[i % 3] + 1
      end
    end)
    k()
    local text = k:explain()
    assert.matches("updates 'a': not atomic, as no other iteration reaches the element; addressed "
      .. "directly\n", text)
    assert.matches("reads 'b': addressed directly, checked against the shape", text)
    assert.matches("updates 'b': atomic; addressed directly", text)
    local m = ffi.new "float[20]"
    local both = rg.kernel(function(u, v)
      for i in rg.range(#u) do u[i] = u[i] + v[i] end
    end)
    both(rg.wrap(m, rg.f32, 10), rg.wrap(m + 5, rg.f32, 10))
    assert.matches("'u' needs atomic updates: its memory can also be reached", both:explain())
    both(rg.wrap(m, rg.f32, 10), rg.wrap(m + 10, rg.f32, 10))
    assert.matches("updates 'u': not atomic", both:explain())
  end)
end)
