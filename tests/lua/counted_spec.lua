-- counted_spec.lua - counted arrays in kernels: rg.zeros, rg.list, and their lifetime. Each kernel
-- must free all that it allocates.
local support = require "support"
local rg = support.rg

local is_lua = os.getenv "RG_ARCH" == "lua"
local counts = pcall(function() return rg.allocations() end)

-- Returns the kernel's results, and checks that it frees what it makes, also after an error.
local function run(text, env, ...)
  collectgarbage() -- what others left is freed before; a call may begin the collector again
  collectgarbage()
  collectgarbage "stop"
  local before = counts and rg.allocations()
  local results = { pcall(rg.kernel(text, env or {}), ...) }
  local after = before and rg.allocations()
  collectgarbage "restart"
  if before then
    assert.equal(after.alloc - before.alloc, after.free - before.free, "blocks are not freed")
    assert.equal(after.header_alloc - before.header_alloc, after.header_free - before.header_free,
      "headers are not freed")
  end
  if not results[1] then error(results[2], 0) end
  return unpack(results, 2)
end

local function made(f)
  local before = rg.allocations().header_alloc
  f()
  return rg.allocations().header_alloc - before
end

describe("an array made in a kernel", function()
  it("is zero, and has as many elements as were asked for", function()
    assert.same({ 0, 10, 0, 0 }, { run([=[function(n: i32)
      local a = rg.zeros(rg.f32, n)
      local s = 0.0
      for i = 0, #a - 1 do s = s + a[i] end
      return s, #a, a[-1], a[n]
    end]=], nil, 10) })
  end)

  it("holds numbers, vectors and structs", function()
    local P = rg.struct { { "n", rg.i8 }, { "x", rg.vec2 }, { "on", rg.bool } }
    local n, x, y, on, h = run([=[function()
      local p, v, h = rg.zeros(P, 4), rg.zeros(rg.dvec3, 2), rg.zeros(rg.f16, 3)
      p[1] = P{n = -3, x = rg.vec2(1, 2), on = true}
      p[1].x.y = p[1].x.y + 5
      p[2].x = {7, 8}
      v[1].z = 0.1
      h[2] = 0.5
      return p[1].n + p[2].x.y, p[1].x, v[1].z, p[1].on and not p[0].on, h[2]
    end]=], { P = P })
    assert.same({ 5, 1, 7, 0.1, true, 0.5 }, { n, x.x, x.y, y, on, h })
  end)

  it("may have several axes", function()
    assert.same({ 12, 12, 3, 4 }, { run [=[function()
      local m = rg.zeros(rg.f32, 3, 4)
      m[1][2] = 5
      m[2, 3] = 6
      m[{0, 0}] = 1
      m[3, 0] = 100
      m[0][4] = 100
      return m[1, 2] + m[2][3] + m[rg.ivec2(0, 0)] + m[3][0], #m, m:extent(0), m:extent(1)
    end]=] })
  end)

  it("has the extent along an axis that is known when the kernel is compiled", function()
    assert.same({ 3, 12, 7 }, { run [=[function()
      local m = rg.zeros(rg.f32, 3, 4)
      const first = 0
      local all = 1
      for k in rg.static(rg.range(2)) do all = all * m:extent(k) end
      return m:extent(first), all, rg.zeros(rg.i32, 7):extent(0)
    end]=] })
    assert.matches("^static", support.failure(run, [=[function()
      local m, all = rg.zeros(rg.f32, 3, 4), 0
      for k = 0, 1 do all = all + m:extent(k) end
      return all
    end]=]).code)
  end)

  it("ends where its variable does", function()
    assert.equal(55, run([=[function(n: i32)
      local s = 0
      for i = 1, n do
        local a = rg.zeros(rg.i32, 4)
        a[1] = i
        s = s + a[1]
      end
      return s
    end]=], nil, 10))
  end)

  it("is a new one in each iteration", function()
    local k = rg.kernel [=[function(n: i32)
      for i = 1, n do local a = rg.zeros(rg.i32, 4); a[1] = i end
    end]=]
    if counts then assert.equal(100, made(function() k(100) end)) end
  end)

  it("is shared by assignment, and lives as long as something refers to it", function()
    assert.same({ 5, 7, 2, 2, 1 }, { run [=[function()
      local a = rg.zeros(rg.i32, 4)
      local b = a
      a[1] = 5
      a = rg.zeros(rg.i32, 2)
      a[0] = 7
      local c, d = rg.zeros(rg.i32, 1), rg.zeros(rg.i32, 2)
      c, d = d, c
      return b[1], a[0], #a, #c, #d
    end]=] })
  end)

  it("ends with break, continue and return", function()
    assert.same({ 12, 7 }, { run [=[function()
      local s = 0
      for i = 1, 10 do
        local a = rg.zeros(rg.i32, i)
        if i == 3 then continue end
        if i == 6 then break end
        s = s + #a
      end
      while true do
        local a = rg.zeros(rg.i32, 3)
        for k = 1, 5 do
          local b = rg.zeros(rg.i32, 7)
          if k == 3 then return s, #b end
        end
      end
      return 0, 0
    end]=] })
  end)

  it("is chosen by conditions", function()
    assert.same({ 2, 6, 3 }, { run([=[function(c: i32)
      local a, b = rg.zeros(rg.i32, 1), rg.zeros(rg.i32, 2)
      local d = c > 0 and a or b
      local e = c > 0 and rg.zeros(rg.i32, 5) or rg.zeros(rg.i32, 6)
      local f = a
      if c == 0 then f = rg.zeros(rg.i32, 3) end
      return #d, #e, #f
    end]=], nil, 0) })
  end)

  it("stays alive in conditions of loops", function()
    assert.same({ 15, 4 }, { run [=[function()
      local l = rg.list(rg.i32)
      for i = 1, 5 do l:append(i) end
      local s = 0
      while #l > 0 do s = s + l:pop() end
      repeat
        local t = rg.zeros(rg.i32, #l + 1)
        l:append(#t)
      until #t > 3
      return s, #l
    end]=] })
  end)

  it("goes to functions and comes back", function()
    assert.same({ 3, 4, 4, 2 }, { run [=[
      local function make(n) local a = rg.zeros(rg.i32, n); a[0] = n; return a end
      local function sum(a) local s = 0; for i = 0, #a - 1 do s = s + a[i] end; return s end
      local function pick(a, b, c) if c then return a end return b end
      local function two(n) return make(n), make(n + 1) end
      function()
        local a = make(4)
        local b = pick(make(2), a, false)
        local c, d = two(1)
        return sum(make(3)), sum(a), #b, #d
      end]=] })
  end)

  it("is written by parallel loops, which make their own", function()
    assert.same({ 501500, 250, 250 }, { run([=[function(n: i32)
      local a, h = rg.zeros(rg.i32, n), rg.zeros(rg.i32, 4)
      for i in rg.range(n) do a[i] = i end
      for i in rg.range(n) do h[i % 4] += 1 end
      local s = 0
      for i in rg.range(n) do
        local t = rg.list(rg.i32)
        t:append(a[i])
        t:append(1)
        s += t[0] + #t
      end
      return s, h[0], h[3]
    end]=], nil, 1000) })
  end)

  it("counts writes out of bounds", function()
    local before = rg.stats().out_of_range
    run [=[function() local a = rg.zeros(rg.i32, 2); a[2] = 1; a[-1] = 2; a[0] = 3 end]=]
    assert.equal(2, rg.stats().out_of_range - before)
  end)
end)

describe("a list", function()
  it("grows and shrinks", function()
    assert.same({ 99, 49.5, 1.5, 0, 0 }, { run([=[function(n: i32)
      local l = rg.list(rg.f32)
      for i = 0, n - 1 do
        local slot = l:append(i * 0.5)
        assert(slot == i)
      end
      local last, length = l:pop(), #l
      local x = l[3]
      l:clear()
      return length, last, x, #l, l:pop()
    end]=], nil, 100) })
  end)

  it("is appended to by the iterations of a parallel loop", function()
    assert.same({ 10000, 49995000 }, { run([=[function(n: i32)
      local l = rg.list(rg.i32)
      for i in rg.range(n):block(64) do l:append(i) end
      local s = 0
      for i in rg.range(#l) do s += l[i] end
      return #l, s
    end]=], nil, 10000) })
  end)

  it("keeps what is written by index while others append", function()
    local long, n = is_lua and 100 or 200000, is_lua and 2000 or 10000
    for _ = 1, is_lua and 1 or 2 do
      assert.same({ n / 20, n }, { run([=[
      local function mark(l, i) l[i % 64] += 1 end
      function(n: i32, long: i32)
        local l = rg.zeros(rg.i32, long)
        for i in rg.range(n):block(8) do
          if i % 1000 >= 500 and i % 1000 < 550 then l:append(1) else mark(l, i) end
          local own = rg.list(rg.i32)
          own:append(i)
        end
        local s = 0
        for i in rg.range(#l) do s += l[i] end
        return #l - long, s
      end]=], nil, n, long) })
    end
  end)

  it("holds lists, which it keeps alive", function()
    assert.same({ 15, 5, 10 }, { run [=[function()
      local l = rg.list(rg.array_type(rg.i32))
      for i = 1, 5 do
        local a = rg.list(rg.i32)
        for k = 1, i do a:append(k) end
        l:append(a)
      end
      local s = 0
      for i = 0, #l - 1 do s = s + #l[i] end
      l[0] = l[4]
      local x = l:pop()
      return s, #l[0], l[0][4] + #x
    end]=] })
  end)

  it("holds structs that hold lists", function()
    local Node = rg.struct { { "mass", rg.f32 }, { "near", rg.array_type(rg.i32) } }
    assert.same({ 6, 3, 1, 0 }, { run([=[function()
      local nodes = rg.list(Node)
      for i = 1, 3 do
        local near = rg.list(rg.i32)
        for k = 1, i do near:append(k) end
        nodes:append(Node{mass = i, near = near})
      end
      local s = 0
      for i = 0, 2 do s = s + #nodes[i].near end
      local n = nodes[2]
      nodes[2] = Node{mass = 1}
      nodes[1].near = nodes[0].near
      return s, #n.near, #nodes[1].near, #nodes[2].near
    end]=], { Node = Node }) })
  end)

  it("may be missing in a struct, before members that are given", function()
    local P = rg.struct { { "a", rg.array_type(rg.i32) }, { "b", rg.array_type(rg.i32) },
      { "v", rg.vec2 }, { "n", rg.i32 } }
    assert.same({ 0, 3, 0, 5 }, { run([=[function()
      local p = P{b = rg.zeros(rg.i32, 3), n = 5}
      return #p.a, #p.b, p.v.y, p.n
    end]=], { P = P }) })
  end)

  it("can be compared by identity", function()
    assert.same({ true, false, false }, { run([=[
    local function large(a: array(i32)): array(i32)
      if #a > 3 then return a end
    end
    function()
      local a, b = rg.list(rg.i32), rg.list(rg.i32)
      local c = a
      return a == c, a == b, a == large(a)
    end]=]) })
  end)

  it("gives slices, which share its elements and outlive it", function()
    assert.same({ 4, 6, 100, 7 }, { run [=[
      local function part()
        local a = rg.zeros(rg.i32, 10)
        for i = 0, 9 do a[i] = i end
        return a:slice(6, 2)
      end
      function()
        local a = rg.zeros(rg.i32, 10)
        for i = 0, 9 do a[i] = i end
        local b = a:slice(3, 4)
        b[0] = 100
        return #b, b[3], a[3], part()[1]
      end]=] })
  end)
end)

-- Loops whose accesses the pass `array_descriptors` turns into places, except on a GPU.
describe("an array that no iteration makes grow", function()
  it("gives the same if one loop has it under two names #compiled", function()
    local k = rg.kernel [=[function(a: array(i32), b: array(i32), n: i32)
      for i in rg.range(n) do a[2 * i] = b[2 * i + 1] + 1 end
      local s = 0
      for i in rg.range(#b) do s = s + b[i] * i end
      return s
    end]=]
    local fresh = rg.kernel [=[function(n: i32)
      local a = rg.zeros(rg.i32, n)
      for i in rg.range(n) do a[i] = i end
      return a
    end]=]
    local one, other = fresh(8), fresh(8)
    assert.equal(140, k(one, other, 4)) -- b stays: the sum of i * i
    assert.same({ 2, 1, 4, 3, 6, 5, 8, 7 }, { one[0], one[1], one[2], one[3], one[4], one[5],
      one[6], one[7] })
    assert.equal(1 + 2 * 4 + 3 * 3 + 4 * 6 + 5 * 5 + 6 * 8 + 7 * 7, k(other, other, 4))
    assert.same({ 2, 4, 6, 8 }, { other[0], other[2], other[4], other[6] })
  end)

  it("gives the same where a slice of it is written, too", function()
    assert.same({ 90, 55, 10, 0 }, { run [=[function()
      local a = rg.zeros(rg.i32, 20)
      for i in rg.range(#a) do a[i] = i end
      local b = a:slice(10, 10)
      for i in rg.range(10) do b[i] = a[i] * 2 end
      local s, t = 0, 0
      for i in rg.range(10) do s = s + a[i + 10] end
      for i in rg.range(10) do a[i + 10] = a[i] + 1 end
      for i in rg.range(#b) do t = t + b[i] end
      return s, t, #b, b[10]
    end]=] })
  end)

  it("is swapped with another one between loops", function()
    local step = [=[function(n: i32, times: i32)
      local a, b = rg.zeros(rg.f64, n), rg.zeros(rg.f64, n)
      a[0] = 1
      for t = 1, times do
        for i in rg.range(n) do b[i] = 0.5 * (a[i - 1] + a[i + 1]) end
        a, b = b, a
      end
      local s = 0.0
      for i in rg.range(n) do s = s + a[i] * (i + 1) end
      return s
    end]=]
    local a = {}
    for i = -1, 16 do a[i] = i == 0 and 1 or 0 end
    for _ = 1, 5 do
      local b = { [-1] = 0, [16] = 0 }
      for i = 0, 15 do b[i] = 0.5 * (a[i - 1] + a[i + 1]) end
      a = b
    end
    local s = 0
    for i = 0, 15 do s = s + a[i] * (i + 1) end
    assert.equal(s, run(step, nil, 16, 5))
  end)

  it("grows before the next loop", function()
    assert.same({ 3, 45, 10 }, { run [=[function()
      local list = rg.list(rg.i32)
      for i = 0, 2 do list:append(i) end
      local s, t = 0, 0
      for i in rg.range(#list) do s = s + list[i] end
      for i in rg.range(7) do list:append(i + 3) end
      for i in rg.range(#list + 5) do t = t + list[i - 1] end
      return s, t, #list
    end]=] })
  end)

  it("ends a loop at the length that it had when the loop read it", function()
    assert.same({ 3, 9, 0 }, { run [=[function()
      local list, s, t, u = rg.list(rg.i32), 0, 0, 0
      for i = 0, 2 do list:append(1) end
      local n = #list
      list:append(100)
      for i in rg.range(n) do s = s + list[i] end
      for k = 1, 3 do
        for i in rg.range(n) do t = t + list[i] end
        list:append(100)
      end
      local a = rg.zeros(rg.i32, 200)
      for i in rg.range(rg.i8(#a)) do u = u + a[i] + 1 end
      return s, t, u
    end]=] })
  end)

  it("has several axes and numbers, and counts a write outside once", function()
    local P = rg.struct { { "x", rg.vec2 }, { "n", rg.i16 } }
    local before = rg.stats().out_of_range
    assert.same({ 42, 30, 12, 4 }, { run([=[function()
      local m = rg.zeros(P, 3, 4)
      for i, j in rg.range(4, 5) do
        m[i][j] = P{x = rg.vec2(i, j), n = 1}
        m[i, j].n = m[i, j].n + i
      end
      local s, t, u = 0, 0, 0
      for i, j in rg.range({-1, 3}, {-1, 4}) do
        s = s + m[i][j].n * m[i][j + 1].n
        t = t + rg.i32(m[i][j].x.x + m[i][j].x.y)
      end
      for i in rg.range(#m) do u = u + (i < m:extent(1) and 1 or 0) end
      return s, t, #m, u
    end]=], { P = P }) })
    assert.equal(16, rg.stats().out_of_range - before) -- 8 elements, each written twice
  end)

  it("is reported outside under debug, with its length #compiled", function()
    local sane = support.rg.new { debug = true, threads = 1 }
    local k = sane.kernel [=[function()
      local a = rg.zeros(rg.f32, 5)
      for i in rg.range(6) do a[i] = 1 end
    end]=]
    local e = support.failure(function()
      k()
      sane.sync() -- it may be queued
    end)
    assert.matches("element 5 is not in an array of length 5", tostring(e), 1, true)
    sane.reset()
  end)

  it("is shown by explain() #compiled #cpu", function()
    local k = rg.kernel [=[function(a: array(f32))
      for i in rg.range(#a) do a[i] = 1 end
    end]=]
    local a = rg.zeros(rg.f32, 4)
    k(a)
    a:release()
    local text = k:explain()
    assert.matches("elements of counted arrays are accessed like those of fields", text, 1, true)
    assert.matches("writes 'a': addressed directly", text, 1, true)
  end)

  it("is updated by all iterations, on any number of threads", function()
    local n, bins = 20000, 7
    for threads = 1, 3 do
      local own = support.rg.new { threads = threads }
      local count = own.kernel [=[function(n: i32, bins: i32)
        local many, sums = rg.zeros(rg.i32, bins), rg.zeros(rg.vec(2, rg.i64), bins)
        for i in rg.range(n) do
          local b = i * 5 % bins
          many[b] = many[b] + 1
          sums[b].y = sums[b].y + i
          sums[(b + 1) % bins].x = sums[(b + 1) % bins].x - 2
        end
        local differs = 0
        for b = 0, bins - 1 do
          local m, s = 0, rg.i64(0)
          for i = 0, n - 1 do if i * 5 % bins == b then m = m + 1; s = s + i end end
          if many[b] ~= m or sums[b].y ~= s or sums[(b + 1) % bins].x ~= -2 * m then
            differs = differs + 1
          end
        end
        return differs
      end]=]
      assert.equal(0, count(n, bins))
      own.reset()
    end
  end)

  it("is updated without atomics if one worker runs all tasks #compiled #cpu", function()
    local own = support.rg.new { threads = 2 }
    local k = own.kernel [=[function(a: array(i32), n: i32)
      for i in rg.range(n) do local b = i * 7 % 16; a[b] = a[b] + 1 end
    end]=]
    local a = own.zeros(own.i32, 16)
    k(a, 32000)
    for b = 0, 15 do assert.equal(2000, a[b]) end
    assert.matches("updates 'a': not atomic if one worker runs all, otherwise atomic; ",
      k:explain(), 1, true)
    assert.matches("lock", k:asm())
    a:release()
    own.reset()
  end)
end)

describe("a recursive function", function()
  it("takes lists and returns them", function()
    assert.same({ 5, 5, 1 }, { run [=[
      local function build(n: i32, into: array(i32)): array(i32)
        if n == 0 then return into end
        into:append(n)
        return build(n - 1, into)
      end
      function() local l = build(5, rg.list(rg.i32)); return #l, l[0], l[4] end]=] })
  end)

  it("makes lists of the lists that it is passed", function()
    assert.same({ 63, 5 }, { run [=[
      local function tree(n: i32): array(i32)
        local l = rg.list(rg.i32)
        if n > 0 then
          local a, b = tree(n - 1), tree(n - 1)
          for i = 0, #a - 1 do l:append(a[i]) end
          for i = 0, #b - 1 do l:append(b[i]) end
        end
        l:append(n)
        return l
      end
      function() local l = tree(5); return #l, l[62] end]=] })
  end)
end)

describe("an iteration", function()
  local x = rg.field(rg.i32, 64)
  x[0] = 0 -- its memory is counted, too
  local function check(text, expected)
    run(text, { x = x })
    for i = 0, 63 do assert.equal(expected(i), x[i]) end
  end

  it("makes arrays and lists of its own, on every arch", function()
    check([=[function()
      for i in rg.range(64) do
        local list, table = rg.list(rg.i32), rg.zeros(rg.f32, 3, i + 1)
        for k = 0, i % 20 do list:append(i * k) end
        table[2][i] = list:pop()
        local half = list:slice(0, #list // 2)
        x[i] = rg.i32(table[2][i]) + #table * 1000 + #half
      end
    end]=], function(i) return i * (i % 20) + 3000 * (i + 1) + math.floor(i % 20 / 2) end)
  end)

  it("makes lists of lists, through functions that make and return them", function()
    check([=[
      local function count_up(n: i32): array(i32)
        local a = rg.zeros(rg.i32, n)
        for k = 0, n - 1 do a[k] = k end
        return a
      end
      function()
        for i in rg.range(64) do
          local all, sum = rg.list(rg.array_type(rg.i32)), 0
          for n = 1, i % 7 do all:append(count_up(n)) end
          for k = 0, #all - 1 do sum = sum + all[k][k] + #all[k] end
          x[i] = sum
        end
      end]=], function(i) return (i % 7) ^ 2 end)
  end)
end)

describe("an error", function()
  local deep = [=[
    local function deep(n: i32, a: array(i32)): i32
      local b = rg.zeros(rg.i32, n + 1)
      local c = rg.list(rg.array_type(rg.i32))
      c:append(b)
      c:append(a)
      if n == 0 then error("at the end") end
      return deep(n - 1, b) + #c
    end
    function() local a = rg.zeros(rg.i32, 4); return deep(5, a) end]=]

  it("five calls deep leaves no array behind", function()
    for _ = 1, is_lua and 3 or 10 do
      assert.matches("at the end", support.failure(run, deep).message)
    end
  end)

  it("leaves no array behind ten thousand times in a row #compiled", function()
    local own = rg.new { allocations = true }
    local k = own.kernel(deep)
    for _ = 1, 10000 do pcall(k) end
    local all = own.allocations()
    assert.equal(all.alloc, all.free)
    assert.is_true(all.alloc > 10000 * 13)
    own.reset()
  end)

  it("in a parallel loop leaves no array behind", function()
    assert.matches("77", support.failure(run, [=[function(n: i32)
      local a = rg.zeros(rg.i32, 4)
      for i in rg.range(n):block(16) do
        local t = rg.zeros(rg.i32, 3)
        t[0] = i
        assert(t[0] ~= 77 and #a > 0, "77")
      end
      return #a
    end]=], nil, 1000).message)
  end)

  it("of unbounded recursion leaves no array behind", function()
    assert.equal("call.depth", support.failure(run, [=[
      local function f(n: i32, a: array(i32)): i32
        local b = rg.zeros(rg.i32, 2)
        return f(n + 1, b) + #a
      end
      function() return f(0, rg.list(rg.i32)) end]=]).code)
  end)
end)

describe("a mistake with arrays", function()
  local function message(text, env)
    return support.failure(function() rg.kernel(text, env or {})() end).message
  end

  it("is reported at its position", function()
    assert.equal("'rg.zeros' takes the type of its elements first",
      message [=[function() local a = rg.zeros(3, 4) end]=])
    assert.equal("'rg.zeros' takes 2 to 9 arguments, 1 given",
      message [=[function() local a = rg.zeros(rg.f32) end]=])
    assert.equal("'m' has 2 axes: an element needs 2 indices, 1 given",
      message [=[function() local m = rg.zeros(rg.f32, 2, 2); local x = m[1] end]=])
    assert.equal("'a' has 1 axis, 2 indices given",
      message [=[function() local a = rg.list(rg.f32); a[1, 2] = 3 end]=])
    assert.equal("'a' is an array(f32), and this value is an array(i32)",
      message [=[function() local a = rg.list(rg.f32); a = rg.list(rg.i32) end]=])
    assert.equal("'a' is an array(f32), which has no method 'push'",
      message [=[function() local a = rg.list(rg.f32); a:push(1) end]=])
    assert.equal("an array of 2 axes has no 'append': its extents are fixed",
      message [=[function() local a = rg.zeros(rg.f32, 2, 2); a:append(1) end]=])
    assert.equal("'+' takes numbers and vectors, but this is an array(f32)",
      message [=[function() local a = rg.list(rg.f32); local b = a + 1 end]=])
    assert.equal("'m' has 2 axes, and no axis 2",
      message [=[function() local m = rg.zeros(rg.f32, 2, 2); local n = m:extent(2) end]=])
    assert.equal("'a' has 1 axis, and no axis -1",
      message [=[function() local a = rg.list(rg.f32); local n = a:extent(-1) end]=])
    assert.matches("belongs to the whole kernel", message [=[function()
      local a = rg.list(rg.f32)
      for i in rg.range(3) do a = rg.list(rg.f32) end
    end]=])
  end)

  it("is to store them in fields", function()
    assert.matches("cannot hold arrays", support.failure(function()
      return rg.field(rg.struct { { "a", rg.array_type(rg.i32) } }, 3)
    end).message)
  end)

  it("is to change the length of an array that has a slice", function()
    for _, change in ipairs { "a:append(1)", "a:pop()", "a:clear()", "b:append(1)", "b:pop()",
      "b:clear()" } do
      assert.matches("cannot grow or shrink", support.failure(run, ([=[function()
        local a = rg.zeros(rg.i32, 4)
        local b = a:slice(0, 2)
        %s
      end]=]):format(change)).message)
    end
    assert.matches("cannot grow", support.failure(run, [=[function()
      local b = rg.zeros(rg.i32, 4):slice(2, 0)
      b:append(1)
    end]=]).message)
  end)

  it("is an index out of bounds where indices are checked #compiled", function()
    local own = rg.new { debug = true }
    local f = support.failure(own.kernel [=[function(n: i32)
      local a = rg.zeros(rg.i32, n)
      a[4] = 1
    end]=], 3)
    assert.equal("index.range", f.code)
    assert.equal("element 4 is not in an array of length 3", f.message)
    own.reset()
  end)

  it("is to loop over an array, or to use it as a condition", function()
    local function told(text)
      local err = support.failure(function()
        rg.kernel(("function() local a = rg.list(rg.i32) %s end"):format(text), {})()
      end)
      return err.message .. "; " .. err.hint
    end
    assert.equal("an array cannot be looped over; write rg.range(#a)", told "for i in a do end")
    assert.equal("'ipairs' takes a list or a vector in a kernel, but this is an array(i32); \z
      elements count from 0: for i = 0, #a - 1 do", told "for k, v in ipairs(a) do end")
    assert.equal("a number is needed here, but this is an array(i32); \z
      take an element, a[i], or how many: #a", told "if a then return end")
  end)

  it("is to pass another type at a launch", function()
    local k = rg.kernel [=[function(a: array(f32)) return #a end]=]
    for what, given in pairs { ["a table"] = { 1, 2 },
      ["a field"] = rg.field(rg.f32, 3), ["nil"] = false } do
      local err = support.failure(k, given or nil)
      assert.equal("'a' is declared array(f32), but the launch argument is " .. what, err.message)
      assert.matches("rg.zeros, rg.list and kernels make such arrays; a field", err.hint)
    end
  end)

  it("is a field or an rg.array of arrays", function()
    for _, make in ipairs { rg.field, rg.array } do
      assert.matches("cannot hold arrays, as 'array%(i32%)' is",
        support.failure(make, rg.array_type(rg.i32), 3).message)
    end
  end)
end)

describe("an array that a kernel returns #compiled", function()
  local make = rg.kernel [=[function(n: i32)
    local a = rg.list(rg.i32)
    for i = 0, n - 1 do a:append(i * i) end
    return a
  end]=]

  it("belongs to Lua from then on, without a copy", function()
    collectgarbage() -- what others left is freed before
    collectgarbage()
    collectgarbage "stop"
    local before = support.allocations(rg)
    local a = make(10)
    assert.equal(10, #a)
    assert.equal(81, a[9])
    assert.equal(1, a:count())
    a:release()
    local after = rg.allocations()
    collectgarbage "restart"
    assert.equal(after.header_alloc - before.header_alloc, after.header_free - before.header_free)
  end)

  it("goes into kernels, which may keep growing it", function()
    local a = make(3)
    local add = rg.kernel [=[function(a: array(i32), v: i32) a:append(v); return #a end]=]
    assert.equal(4, add(a, 100))
    assert.equal(4, #a)
    assert.equal(100, a[3])
    local same = rg.kernel [=[function(a: array(i32)) return a end]=]
    local b = same(a)
    assert.equal(a, b)
    assert.equal(2, a:count())
    a:release()
    assert.equal(100, b[3])
    b:release()
  end)

  it("is captured, and one of several results", function()
    local a = make(4)
    local k = rg.kernel([=[function()
      local s = 0
      for i in rg.range(#a) do s += a[i] end
      return s, a, rg.zeros(rg.f32, 2)
    end]=], { a = a })
    local s, same, zeros = k()
    assert.same({ 14, true, 2 }, { s, same == a, #zeros })
    for _, v in ipairs { same, zeros, a } do v:release() end
  end)

  it("can be made by Lua, too, with rg.list and rg.zeros", function()
    local l, z = rg.list(rg.f32), rg.zeros(rg.i32, 3, 4)
    l:append(1.5)
    local k = rg.kernel [=[function(l: array(f32), z: array(i32, 2))
      l:append(2.5)
      z[2][3] = 7
      return z:extent(0), z:extent(1)
    end]=]
    assert.same({ 3, 4 }, { k(l, z) })
    assert.same({ 2, 2.5, 7 }, { #l, l[1], z:get(2, 3) })
    l:release()
    z:release()
  end)

  it("is freed if the launch fails, or the result is unused", function()
    local own = rg.new { allocations = true } -- where no other test has left anything
    local k = own.kernel [=[function(n: i32)
      local a = rg.zeros(rg.i32, 4)
      for i in rg.range(n) do assert(i < 5, "too many") end
      return a
    end]=]
    assert.is_false(pcall(k, 10))
    for _ = 1, 100 do k(3) end
    collectgarbage()
    collectgarbage()
    own.sync()
    local all = own.allocations()
    assert.same({ 101, 101 }, { all.header_alloc, all.header_free })
    own.reset()
  end)
end)

describe("statistics", function()
  it("are the same on every arch when a launch has ended", function()
    local own = rg.new { arch = is_lua and "lua" or "cpu", allocations = true }
    local k = own.kernel([=[function(n: i32)
      local a, m = rg.list(rg.f64), rg.zeros(rg.i32, 3, 4)
      for i = 1, n do a:append(i) end                   -- 8 grows to 12, 18, 27, 40 .. 136
      local b, c = a:slice(3, 4), a:slice(0, 0)
      for i in rg.range(n) do local own = rg.zeros(rg.vec3, i) end
      assert(n < 101, "too many")
    end]=])
    k(100)
    local all = own.allocations()
    assert.same({ 104, 104, 0 }, { all.header_alloc, all.header_free, all.bytes })
    assert.same({ 214, 214 }, { all.alloc, all.free })
    assert.is_false(pcall(k, 101))
    all = own.allocations()
    assert.same({ 209, 209 }, { all.header_alloc, all.header_free })
    assert.equal(all.alloc, all.free)
    own.allocations(true)
    assert.equal(0, own.allocations().header_alloc)
    own.reset()
  end)

  it("of references do not include those to outgrown memory #compiled", function()
    local own = rg.new { allocations = "check", threads = 2 }
    own.kernel [=[function()
      local a = rg.list(rg.i32)
      for i in rg.range(1000):block(8) do a:append(i) end
    end]=]()
    local all = own.allocations()
    assert.equal(all.acquires + all.header_alloc, all.releases)
    own.reset()
  end)
end)

describe("kernel:compile #compiled", function()
  it("takes the types of arrays, and of structs that hold some", function()
    local Node = rg.struct { { "near", rg.array_type(rg.i32) }, { "at", rg.vec2 } }
    local k = rg.kernel([=[function(a: array(i32), p: Node) return #a + #p.near end]=],
      { Node = Node })
    k:compile(rg.array_type(rg.i32), Node)
    local compiles, l = rg.stats().compiles, rg.list(rg.i32)
    l:append(1)
    assert.equal(2, k(l, Node { near = l }))
    assert.equal(compiles, rg.stats().compiles)
  end)
end)

describe("an array of arrays that a kernel would return", function()
  it("cannot be returned with arch lua, which says so", function()
    if not is_lua then return end
    local k = rg.kernel [=[function() return rg.list(rg.array_type(rg.i32)) end]=]
    local err, trace = support.failure(k), nil
    assert.equal("kernel.not_yet", err.code)
    assert.matches("this one returns an array%(array%(i32%)%)", err.message)
    xpcall(k, function() trace = debug.traceback() end)
    assert.is_nil(trace:find("oracle.lua", 1, true), trace)
  end)
end)

describe("counting #compiled", function()
  it("is omitted where something else holds the array, as explain() reports", function()
    local k = rg.kernel [=[
    local function sum(a: array(i32), n: i32): i32
      if n == 0 then return 0 end
      local own = a
      return own[n - 1] + sum(own, n - 1)
    end
    function(n: i32)
      local rows = rg.list(rg.array_type(rg.i32))
      for i = 1, n do
        local row = rg.zeros(rg.i32, i)
        for k = 0, i - 1 do row[k] = k end
        rows:append(row)
      end
      local s = 0
      for i = 0, #rows - 1 do
        local row = rows[i]
        for k = 0, #row - 1 do s = s + rows[i][k] end
        s = s - sum(row, #row)
      end
      return s
    end]=]
    assert.equal(0, k(20))
    local removed, all = k:explain():match "(%d+) of (%d+) references need no counting"
    assert.is_true(tonumber(all) >= 4)
    assert.equal(all, removed) -- that of `rows` to each row is the variable's
  end)

  it("has a form on GPUs", function()
    local x = rg.field(rg.i32, 64)
    local k = rg.kernel([=[function()
      for i in rg.range(64) do
        local t = rg.list(rg.i32)
        t:append(i)
        x[i] = t[0] + #t
      end
    end]=], { x = x })
    k()
    assert.equal(64, x[63])
    assert.is_nil(k:ptx("sm_75"):find(".extern .func", 1, true))
  end)
end)
