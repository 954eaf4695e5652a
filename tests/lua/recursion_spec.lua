-- luacheck: globals nobody
local support = require "support"
local rg, failure = support.rg, support.failure

local function kernel(text, captures) return rg.kernel(text, captures or {}) end

local function fib(n --[[: i32]]) --[[: i32]]
  if n < 2 then return n end
  return fib(n - 1) + fib(n - 2)
end

local even, odd
function even(n --[[: i32]]) --[[: bool]]
  if n == 0 then return true end
  return odd(n - 1)
end
function odd(n --[[: i32]]) --[[: bool]]
  if n == 0 then return false end
  return even(n - 1)
end

describe("a recursive function", function()
  it("takes rows of fields and arrays, also from one call to the next", function()
    local f, a = rg.field(rg.i32, 3, 100), rg.array(rg.i64, 2, 3, 100)
    local big = rg.field{ type = rg.vec2, shape = { 2, 4 }, offset = { -1, -2 } }
    for i = 0, 99 do f[1][i], a[1][2][i] = i, 2 * i end
    for i = -2, 1 do big[0][i] = { i, 10 } end
    local k = kernel([=[
      local function sum(row, l: i64, r: i64): i64
        if l == r then return row[l] end
        const m = (l + r) // 2
        return sum(row, l, m) + sum(row, m + 1, r)
      end
      local function last(row, v: vec2, n: i32): vec2
        row[n] += v
        if n > -2 then return last(row, v, n - 1) end
        return row[n] + row[1]
      end
      function(p, q)
        local s = 0
        for i in rg.range(3) do s += sum(f[i], 0, 99) end
        const plane = a[p]
        return s, sum(plane[q], 0, 99), sum(f[p], 5, 6), last(big[p - 1], {1, 1}, 1)
      end]=], { f = f, a = a, big = big, rg = rg, vec2 = rg.vec2 })
    local s, t, u, v = k(1, 2)
    assert.same({ 4950, 9900, 11 }, { tonumber(s), tonumber(t), tonumber(u) })
    assert.equal(rg.vec2(1, 22), v)
  end)

  it("draws numbers of its iteration, and no number twice", function()
    rg.seed(7)
    local x = rg.field(rg.u64, 50, 16)
    local k = kernel([=[
      local function pick(row, at: i32, n: i32): i32
        row[at] = rg.random(rg.u64)
        local used = 1
        if n > 0 then used += pick(row, at + used, n - 1) end
        row[at + used] = rg.random(rg.u64)
        used += 1
        if n == 2 then used += pick(row, at + used, 0) end
        return used
      end
      local function roll(n: i32): f32
        if n == 0 then return rg.random(rg.f32) end
        return roll(n - 1) + rg.random(rg.f32)
      end
      function()
        local before = rg.random(rg.f32)
        local host, again = roll(3), roll(3)
        for i in rg.range(50) do
          x[i][0] = rg.random(rg.u64)
          const used = pick(x[i], 1, 3)
          for k = used + 1, 15 do x[i][k] = rg.random(rg.u64) end
        end
        return before, host, again, rg.random(rg.f32)
      end]=], { x = x, rg = rg })
    local before, host, again, after = k()
    assert.truthy(host ~= again and before ~= after)
    local seen, count = {}, 0
    for _, _, v in pairs(x) do
      count = count + (seen[tostring(v)] and 0 or 1)
      seen[tostring(v)] = true
    end
    assert.equal(50 * 16, count)
    assert.same({ "1.51714945", "3192041298155464482ULL", "4753101968839424181ULL" },
      { ("%.9g"):format(host), tostring(x[3][7]), tostring(x[49][15]) })
  end)

  it("names the iteration in messages, if all its callers are in loops of equal rank", function()
    local err = failure(kernel([=[
      local function f(n: i32): i32
        assert(n > 0, "down at", n)
        return f(n - 1)
      end
      function() local s = 0 for i, j in rg.range({3, 4}, {4, 5}) do s += f(i) end return s end]=],
      { rg = rg }))
    assert.equal("down at 0", err.message)
    assert.same({ 3, 4 }, err.index)
    err = failure(kernel([=[
      local function f(n: i32): i32
        assert(n > 0, "down")
        return f(n - 1)
      end
      function() local s = 0 for i in rg.range(3) do s += f(i) end return s + f(3) end]=],
      { rg = rg }))
    assert.equal("down", err.message)
    assert.is_nil(err.index)
  end)

  it("gives the results of Lua in the host region and in parallel loops", function()
    local x = rg.field(rg.i32, 20)
    local k = rg.kernel(function()
      for i in rg.range(20) do x[i] = fib(i) end
      return fib(20)
    end)
    assert.equal(6765, k())
    for i = 0, 19 do assert.equal(fib(i), x[i]) end
  end)

  it("may be a helper of a text kernel", function()
    local k = kernel [=[
      local function gcd(a: i64, b: i64): i64
        if b == 0 then return a end
        return gcd(b, a % b)
      end
      function(a: i64, b: i64) return gcd(a, b) end]=]
    assert.equal(12, tonumber(k(84, 36)))
  end)

  it("may call itself through others", function()
    local k = rg.kernel(function(n) return even(n), odd(n) end)
    assert.same({ true, false }, { k(10) })
    assert.same({ false, true }, { k(7) })
    local a, b, c, d
    function a(n --[[: i32]]) --[[: i32]]
      if n < 1 then return 1 end
      return 2 * b(n - 1)
    end
    function b(n --[[: i32]]) --[[: i32]]
      if n < 1 then return 2 end
      return 3 * c(n - 1)
    end
    function c(n --[[: i32]]) --[[: i32]]
      if n < 1 then return 3 end
      return 5 * d(n - 1) + a(n - 2)
    end
    function d(n --[[: i32]]) --[[: i32]]
      if n < 1 then return 4 end
      return 7 * a(n - 1)
    end
    local four = rg.kernel(function(n --[[: i32]]) return a(n), b(n), c(n), d(n) end)
    for n = 0, 9 do assert.same({ a(n), b(n), c(n), d(n) }, { four(n) }) end
  end)

  it("may be one of several helpers of a text kernel, declared before them", function()
    local k = kernel [=[
      local even, odd
      function even(n: i32): bool if n == 0 then return true end return odd(n - 1) end
      function odd(n: i32): bool if n == 0 then return false end return even(n - 1) end
      function(n: i32) return even(n) end]=]
    assert.is_true(k(12))
    assert.is_false(k(13))
    local err = failure(kernel "local f, g function f(n: i32) g(n) end function() f(3) end")
    assert.equal("name.nil", err.code)
  end)

  it("may be a method, which finds its table's fields", function()
    local tree = { left = rg.field(rg.i32, 15), right = rg.field(rg.i32, 15),
      weight = rg.field(rg.f32, 15) }
    function tree:sum(i --[[: i32]]) --[[: f32]]
      if i < 0 then return 0 end
      return self.weight[i] + self:sum(self.left[i]) + self:sum(self.right[i])
    end
    for i = 0, 14 do
      tree.left[i], tree.right[i] = i < 7 and 2 * i + 1 or -1, i < 7 and 2 * i + 2 or -1
      tree.weight[i] = i
    end
    tree.run = rg.kernel(function(self, i --[[: i32]]) return self:sum(i) end)
    assert.equal(105, tree:run(0))
    assert.equal(1 + 3 + 4 + 7 + 8 + 9 + 10, tree:run(1))
  end)

  it("is compiled for each of the fields that it is passed", function()
    local a, b = rg.field(rg.f32, 8), rg.field(rg.f32, 8)
    local function relax(to, from, n --[[: i32]])
      if n == 0 then return end
      for i in rg.range(8) do to[i] = from[i] + i end
      relax(from, to, n - 1)
    end
    rg.kernel(function() relax(a, b, 5) end)()
    assert.same({ 0, 5, 10 }, { a[0], a[1], a[2] })
    assert.same({ 0, 4, 8 }, { b[0], b[1], b[2] })
  end)

  it("is compiled for each array that it is passed, and each field of one layout", function()
    local leaf = rg.root:dense("i", 8)
    local p, q = rg.field(rg.f32), rg.field(rg.f32)
    leaf:place(p, q)
    local function relax(to, from, n --[[: i32]])
      if n == 0 then return end
      for i in rg.range(#to) do to[i] = from[i] + i end
      relax(from, to, n - 1)
    end
    local a, b = rg.array(rg.f32, 8), rg.array(rg.f32, 8)
    local k = rg.kernel(function() relax(a, b, 5) relax(p, q, 4) end)
    k()
    assert.same({ 5, 4, 3, 4 }, { a[1], b[1], p[1], q[1] })
    a, b = b, a
    k()
    assert.same({ 9, 10 }, { b[1], a[1] })
  end)

  it("takes and returns vectors, booleans, and several values", function()
    local function turn(v --[[: vec2]], n --[[: i32]]) --[[: vec2]]
      if n == 0 then return v end
      return turn(rg.vec2(-v.y, v.x), n - 1)
    end
    local v = rg.kernel(function(n --[[: i32]]) return turn(rg.vec2(1, 2), n) end)(3)
    assert.equal(rg.vec2(2, -1), v)
    local k = kernel [=[
      local function split(n: i32, up: bool): i32, vec2, bool
        if n == 0 then return 1, rg.vec2(0.5, 0), up end
        local a, b, c = split(n - 1, not up)
        return a * 2, b + rg.vec2(1, n), not c
      end
      function(n: i32)
        local a, b, c = split(n, true)
        return a, b, c, (split(1, false))
      end]=]
    assert.same({ 32, rg.vec2(5.5, 15), true, 2 }, { k(5) })
  end)

  it("takes and returns structs", function()
    local particle = rg.struct { { "pos", rg.vec2 }, { "mass", rg.f64 }, { "n", rg.i32 } }
    local x = rg.field(particle, 4)
    local k = kernel([=[
      local function fall(p: particle, n: i32): particle
        if n == 0 then return p end
        p.pos.y = p.pos.y - p.mass
        p.n = p.n + n
        return fall(p, n - 1)
      end
      function(n: i32) for i in rg.range(4) do x[i] = fall(x[i], n) end end]=],
      { x = x, particle = particle })
    x[2] = { pos = { 1, 2 }, mass = 0.5, n = 7 }
    k(3)
    assert.equal(rg.vec2(1, 0.5), x[2].pos)
    assert.equal(13, x[2].n)
  end)

  it("reads what it captures at every launch", function()
    local rate, x = 2, rg.field(rg.f32, 4)
    local function power(n --[[: i32]]) --[[: f32]]
      if n == 0 then return x[1] end
      return rate * power(n - 1)
    end
    local k = rg.kernel(function(n) return power(n) end)
    x[1] = 1
    assert.equal(32, k(5))
    local compiles = rg.stats().compiles
    rate, x[1] = 3, 2
    assert.equal(162, k(4))
    assert.equal(compiles, rg.stats().compiles)
  end)

  it("may return out of loops, and keeps its locals apart from those of its calls", function()
    local k = kernel [=[
      local function find(n: i32, depth: i32): i32
        local own = n * 10 + depth
        for i = 1, 9 do
          for j in rg.range(9) do
            if i * 9 + j == n then return own end
          end
          if depth < 3 then
            local inner = find(n - 9 * i, depth + 1)
            if inner > 0 then return inner * 100 + own end
          end
        end
      end
      function(n: i32) return find(n, 0) end]=]
    local function find(n, depth)
      local own = n * 10 + depth
      for i = 1, 9 do
        for j = 0, 8 do if i * 9 + j == n then return own end end
        if depth < 3 then
          local inner = find(n - 9 * i, depth + 1)
          if inner > 0 then return inner * 100 + own end
        end
      end
      return 0
    end
    for n = 0, 100, 7 do assert.equal(find(n, 0), k(n)) end
  end)

  it("updates elements that other iterations reach, without losing updates", function()
    local count = rg.field(rg.i32, 1)
    local function split(n --[[: i32]])
      count[0] = count[0] + 1
      if n > 0 then split(n - 1) split(n - 1) end
    end
    rg.kernel(function() for i in rg.range(64) do split(i % 4 + 2) end end)()
    assert.equal(16 * (7 + 15 + 31 + 63), count[0])
  end)

  it("activates, appends and deactivates", function()
    local x, y = rg.field(rg.i32), rg.field(rg.i32)
    local block = rg.root:pointer("ij", 8)
    block:dense("ij", 4):place(x)
    local found = rg.root:dense("i", 4):dynamic("j", 2000)
    found:place(y)
    local fill = kernel([=[
      local function fill(i: i32, j: i32): i32
        if i < 0 or j < 0 or i > 20 or j > 20 or x[i][j] ~= 0 then return 0 end
        if (i - 10) * (i - 10) + (j - 10) * (j - 10) > 40 then return 0 end
        x[i][j] = 1
        found:append(1, i * 100 + j)
        return 1 + fill(i + 1, j) + fill(i - 1, j) + fill(i, j + 1) + fill(i, j - 1)
      end
      function() return fill(10, 10) end]=], { x = x, found = found })
    local expected = 0
    for i = -6, 6 do
      for j = -6, 6 do expected = expected + (i * i + j * j <= 40 and 1 or 0) end
    end
    assert.equal(expected, fill())
    assert.equal(expected, found:length(1))
    local sum, blocks = 0, block:count()
    for _, _, v in pairs(x) do sum = sum + v end
    assert.equal(expected, sum)
    local clear = kernel([=[
      local function clear(i: i32)
        if i > 7 then return end
        for j in rg.range(8) do if (i + j) % 2 == 0 then block:deactivate(i, j) end end
        clear(i + 1)
      end
      function() clear(0) end]=], { block = block })
    clear()
    assert.is_true(block:count() < blocks)
    assert.equal(0, x[8][8])
  end)

  it("runs its loops one iteration after the other, over active cells too", function()
    local x, order = rg.field(rg.i32), rg.field(rg.i32, 64)
    rg.root:pointer("i", 8):dense("i", 4):place(x)
    x[5], x[6], x[20] = 1, 2, 3
    local k = kernel([=[
      local function walk(n: i32): i32
        local at = 0
        for i in x:active() do order[at] = i at = at + 1 end
        if n > 0 then at = at + walk(n - 1) end
        return at
      end
      function() return walk(2) end]=], { x = x, order = order })
    assert.equal(24, k())
    assert.same({ 4, 5, 6, 7, 20, 21, 22, 23 },
      { order[0], order[1], order[2], order[3], order[4], order[5], order[6], order[7] })
  end)

  it("may be called in a loop over cells, which finds what the function wrote", function()
    local x, y = rg.field(rg.i32), rg.field(rg.i32)
    rg.root:pointer("i", 8):dense("i", 8):place(x, y)
    for i = 8, 40 do x[i] = i end
    local function raise(i --[[: i32]], n --[[: i32]])
      if n == 0 then return end
      y[i] = y[i] + n
      raise(i, n - 1)
    end
    rg.kernel(function()
      for i in x:active() do
        y[i] = 1
        raise(i, 4)
        x[i] = y[i]
      end
    end)()
    assert.equal(11, x[8])
    assert.equal(11, x[47])
  end)

  it("may print, assert and fail", function()
    local k = kernel [=[
      local function count(n: i32): i32
        assert(n < 6, "too far: " .. n)
        if n == 3 then print("passed", n) end
        if n == 5 then return n end
        return count(n + 1)
      end
      function(n: i32) for i in rg.range(1) do count(n) end return count(n) end]=]
    local said = {}
    local old = print
    _G.print = function(...) said[#said + 1] = table.concat({ ... }, " ") end
    local ok, err = pcall(k, 1)
    _G.print = old
    assert.is_true(ok, tostring(err))
    assert.same({ "passed 3", "passed 3" }, said)
    err = failure(k, 7)
    assert.equal("kernel.assert", err.code)
    assert.truthy(err.message:find("too far: 7", 1, true))
  end)

  it("is still expanded where rg.static ends it", function()
    local function power(v, n)
      if rg.static(n == 0) then return 1.0 end
      return v * power(v, rg.static(n - 1))
    end
    local k = rg.kernel(function(v) return power(v, 5) end)
    assert.equal(32, k(2))
  end)

  it("is explained #compiled", function()
    local k = rg.kernel(function(n) return fib(n) end)
    k(3)
    local said = "'fib' calls itself: compiled once, and called"
    assert.truthy(tostring(k:explain()):find(said, 1, true))
  end)

  it("is one function for all calls #compiled", function()
    local k = rg.kernel(function(n) return fib(n) + fib(n + 1) + fib(n + 2) end)
    k(3)
    local _, functions = k:ir():gsub("\nfunction %d+", "")
    assert.equal(1, functions)
  end)
end)

describe("calls that never end #cpu", function()
  local deep = [=[
    local function down(n: i32): i32
      return down(n + 1) + 1
    end
    function(n: i32)
      for i in rg.range(100) do x[i] = 1 end
      for i in rg.range(100) do x[i] = down(n) end
      for i in rg.range(100) do x[i] = 2 end
    end]=]

  it("are an error that shows the cycle and its depth", function()
    local x = rg.field(rg.i32, 100)
    local k = kernel(deep, { x = x })
    local err = failure(k, 0)
    assert.equal("call.depth", err.code)
    assert.truthy(err.message:find("'down' calls itself (line ", 1, true))
    assert.truthy(err.message:find("to a depth of %d+$"))
    assert.truthy(err.line)
    assert.is_true(x[99] ~= 2)
    assert.equal("call.depth", failure(k, 0).code)
    assert.equal(55, rg.kernel(function() return fib(10) end)())
  end)

  it("name each function of the cycle", function()
    local err = failure(rg.kernel(function() return even(-1) end))
    assert.equal("call.depth", err.code)
    assert.truthy(err.message:find("'even' calls 'odd' (line ", 1, true))
    assert.truthy(err.message:find("'odd' calls 'even' (line ", 1, true))
  end)

  it("end before the stack overflows, whatever a call needs of it", function()
    local lines = { "local function wide(n: i32, m: mat4): mat4", "local s = m" }
    for k = 1, 30 do lines[#lines + 1] = ("local m%d = m * s + n * %d"):format(k, k) end
    lines[#lines + 1] = "local r = wide(n + 1, m)"
    for k = 1, 30 do lines[#lines + 1] = ("r = r + m%d * r"):format(k) end
    lines[#lines + 1] = "return r end function(n: i32) return wide(n, rg.mat4(1))[0][0] end"
    assert.equal("call.depth", failure(kernel(table.concat(lines, "\n")), 0).code)
  end)

  it("end in a coroutine, too", function()
    local k = rg.kernel(function(n) return odd(n) end)
    local ok, err = coroutine.resume(coroutine.create(function() return k(-1) end))
    assert.is_false(ok)
    assert.equal("call.depth", err.code)
    assert.is_true(k(9))
  end)

  it("are no error if they end in time", function()
    local function count(n --[[: i32]]) --[[: i32]]
      if n == 0 then return 0 end
      return count(n - 1) + 1
    end
    assert.equal(3000, rg.kernel(function(n) return count(n) end)(3000))
  end)
end)

describe("text kernels that call each other by name", function()
  local function pair()
    local env = {}
    env.even = kernel([=[function(n: i32): bool
      if n == 0 then return true end
      return odd(n - 1)
    end]=], env)
    env.odd = kernel([=[
    local function less(n: i32): i32 return n - 1 end
    function(n: i32): bool
      if n == 0 then return false end
      return even(less(n))
    end]=], env)
    return env
  end

  it("find each other, whichever is launched", function()
    local env = pair()
    assert.is_true(env.even(10))
    assert.is_false(env.even(7))
    assert.is_true(env.odd(7))
  end)

  it("find themselves, and are called by kernels of functions, too", function()
    local env = {}
    env.power = kernel([=[function(n: i32): i64
      if n < 1 then return 1 end
      return 2 * power(n - 1)
    end]=], env)
    assert.equal(1024, tonumber(env.power(10)))
    local power = env.power
    assert.equal(1040, tonumber(rg.kernel(function(n) return power(n) + power(4) end)(10)))
  end)

  it("call each other four deep, and give the results of Lua", function()
    local env, plain = {}, {}
    local names = { "a", "b", "c", "d" }
    for i, name in ipairs(names) do
      local next_name, factor = names[i % 4 + 1], 2 * i + 1
      env[name] = kernel(([=[function(n: i32): i64
        if n < 1 then return %d end
        return %d * %s(n - 1) + a(n - 2)
      end]=]):format(i, factor, next_name), env)
      plain[name] = function(n)
        if n < 1 then return i end
        return factor * plain[next_name](n - 1) + plain.a(n - 2)
      end
    end
    for n = 0, 9 do
      for _, name in ipairs(names) do assert.equal(plain[name](n), tonumber(env[name](n))) end
    end
  end)

  it("read their own captures at every launch", function()
    local x, own = rg.field(rg.i32, 4), { step = 3, rg = rg }
    own.x = x
    local bump = kernel([=[function(i: i32) x[i] += step end]=], own)
    local k = kernel([=[function() for i in rg.range(4) do bump(i) end end]=], { bump = bump })
    k()
    own.step = 5
    k()
    assert.equal(8, x[2])
  end)

  it("are looked up at each launch: another kernel of that name is called", function()
    local env = pair()
    assert.is_true(env.even(10))
    env.odd = kernel [=[function(n: i32): bool return n > 100 end]=]
    assert.is_false(env.even(10))
    assert.is_true(env.even(102))
  end)

  it("fail, naming the missing kernel, and run once it exists", function()
    local env = {}
    env.f = kernel([=[function(n: i32): i32
      if n < 1 then return 0 end
      return later(n - 1) + 1
    end]=], env)
    local err = failure(env.f, 3)
    assert.equal("name.unknown", err.code)
    assert.equal("'later' is not defined", err.message)
    env.later = kernel([=[function(n: i32): i32 return f(n) + 10 end]=], env)
    assert.equal(33, env.f(3))
  end)

  it("show the chain of their calls if they never end", function()
    local env = {}
    env.f = kernel([=[function(n: i32): i32
      return g(n + 1) + 1
    end]=], env)
    env.g = kernel([=[function(n: i32): i32
      return f(n + 1) + 1
    end]=], env)
    for _ = 1, 3 do
      local err = failure(env.f, 0)
      assert.equal("call.depth", err.code)
      assert.truthy(err.message:find("'g' calls 'f' (line ", 1, true))
      assert.truthy(err.message:find("'f' calls 'g' (line ", 1, true))
    end
    assert.is_true(pair().odd(9))
  end)

  it("show a mistake at its position", function()
    local err = failure(kernel([=[function(n: i32) return bad(n) end]=], { bad = kernel [=[
function(n: i32): i32
  return n + nobody
end]=] }), 3)
    assert.equal("name.unknown", err.code)
    assert.equal("return n + nobody", err.source:match "^%s*(.-)%s*$")
  end)

  it("take and return arrays", function()
    local env = {}
    env.split = kernel([=[function(n: i32, into: array(i32)): array(i32)
      if n > 0 then into:append(n); return join(n - 1, into) end
      return into
    end]=], env)
    env.join = kernel([=[function(n: i32, into: array(i32)): array(i32)
      into:append(-n)
      return split(n - 1, into)
    end]=], env)
    env.rg = rg
    local k = kernel([=[function(n: i32)
      local l = split(n, rg.list(rg.i32))
      return #l, l[0], l[1], l[2]
    end]=], env)
    assert.same({ 6, 5, -4, 3 }, { k(5) })
  end)
end)

describe("a mistake in a recursive function", function()
  local function fails(text, captures, ...) return failure(kernel(text, captures), ...) end

  it("is a type that is not stated", function()
    local err = fails [=[local function f(n) if n < 1 then return 0 end return f(n - 1) end
      function() return f(3) end]=]
    assert.equal("call.invalid", err.code)
    assert.truthy(err.hint:find("function f(n: i32): i32", 1, true))
    assert.equal("call.invalid", fails([=[
      local function f(n: i32) if n < 1 then return 0 end return f(n - 1) end
      function() return f(3) end]=]).code)
  end)

  it("is shown at its position, with the call that leads to it", function()
    local err = fails([=[
local f, g
function f(n: i32): i32
  if n > 0 then return g(n) end
  return nobody
end
function g(n: i32): i32 return f(n - 1) end
function() return f(3) end]=])
    assert.equal("name.unknown", err.code)
    assert.equal("return nobody", err.source:match "^%s*(.-)%s*$")
    err = fails([=[
local function f(n: i32): i32
  if n > 0 then return f(n - 1) end
  return 0.5
end
function() return f(3) end]=])
    assert.equal("type.float_to_int", err.code)
  end)

  it("is an argument of another type", function()
    local err = fails([=[
      local function f(n: i32): i32 if n > 0 then return f(true) end return 1 end
      function() return f(3) end]=])
    assert.equal("type.mismatch", err.code)
    err = fails([=[
      local function f(v: vec2, n: i32): f32
        if n > 0 then return f(rg.vec3(1), n - 1) end
        return v.x
      end
      function() return f(rg.vec2(1), 3) end]=])
    assert.equal("type.mismatch", err.code)
  end)

  it("is a call on a whole tree, or a walk of an unbounded one", function()
    local x, y = rg.field(rg.f32), rg.field(rg.f32)
    rg.root:pointer("i", 4):place(x)
    rg.root:hash("i"):place(y)
    assert.equal("call.invalid", fails([=[
      local function f(n: i32) x:clear() if n > 0 then f(n - 1) end end
      function() f(3) end]=], { x = x }).code)
    assert.equal("loop.invalid", fails([=[
      local function f(n: i32) for i in y:active() do y[i] = n end if n > 0 then f(n - 1) end end
      function() f(3) end]=], { y = y }).code)
  end)
end)
