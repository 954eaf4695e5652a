-- luacheck: globals nobody, ignore 512
local support = require "support"
local rg, failure = support.rg, support.failure

local function numbers(count)
  local x = rg.field(rg.f32, count)
  for i = 0, count - 1 do x[i] = i end
  return x
end

local function square(v) return v * v end

local function ordered(a, b)
  if a < b then return a, b end
  return b, a
end

local function sum_of(f)
  local s = 0
  for i in rg.range(#f) do s = s + f[i] end
  return s
end

describe("a function called in a kernel", function()
  it("is compiled with it", function()
    local x = numbers(8)
    local fill = rg.kernel(function() for i in rg.range(8) do x[i] = square(x[i]) + square(
      i) end end)
    fill()
    assert.equal(2 * 49, x[7])
  end)

  it("is compiled for the types of each call's arguments", function()
    local k = rg.kernel(function(a --[[: i32]], b --[[: f32]])
      return square(a) % 2 == 1 and square(b) or 0 end)
    assert.equal(6.25, k(3, 2.5))
  end)

  it("reads its captures at every launch", function()
    local rate = 2
    local function grow(v) return v * rate end
    local k = rg.kernel(function(v) return grow(v) end)
    assert.equal(6, k(3))
    local compiles = rg.stats().compiles
    rate = 5
    assert.equal(15, k(3))
    assert.equal(compiles, rg.stats().compiles)
  end)

  it("shares what it captures with the kernel, as one launch argument #compiled", function()
    local n, x = 8, numbers(8)
    local t = { 5, step = 3 }
    local function around(i) return x[(i + n + t.step) % n] + t[1] end
    local function far(i) return around(i + n) + n end
    local k = rg.kernel(function(i) return around(i) + far(i) * n + t.step * t[1] end)
    local _, arguments = (k(1) and k:ir()):gsub("\narg %d+", "")
    assert.equal(4, arguments) -- i, n, t.step, t[1]
    n, t.step = 4, 1
    assert.equal(x[2] + 5 + (x[2] + 5 + 4) * 4 + 5, k(1))
  end)

  it("distinguishes a name from the kernel's variable of that name", function()
    local function make(n) return function(i) return i + n end end
    local n, add = 8, make(8)
    local k = rg.kernel(function(i) return add(i) * n end)
    assert.equal(72, k(1))
    n = 2
    assert.equal(18, k(1))
    n, add = 8, make(1)
    assert.equal(16, k(1))
    local function own(i) return i + n end -- this one has the kernel's
    add = own
    assert.equal(72, k(1))
    n = 3
    assert.equal(12, k(1))
  end)

  it("has its own captures next to those of a text kernel", function()
    local n = 8
    local function f(i) return i * n end
    local k = rg.kernel("function(i) return f(i) + n end", { f = f, n = 1 })
    assert.equal(17, k(2))
  end)

  it("shares a global with a kernel of the same environment", function()
    local text = "local rg = ...\nfunction get(i) return i * step end\n"
      .. "return rg.kernel(function(i) return get(i) + step end)"
    local environment = { step = 3 }
    local k = setfenv(loadstring(text), environment)(rg)
    assert.equal(9, k(2))
    environment.step = 0.5
    assert.equal(1.5, k(2))
  end)

  it("reads the globals of its own environment", function()
    local f = setfenv(loadstring "local v = ...\nreturn function(a)\n return a + offset\nend"(),
      { offset = 10 })
    local k = rg.kernel(function(v) return f(v) end)
    assert.equal(13, k(3))
  end)

  it("gives a captured number that it uses as an integer that type", function()
    local x, at = numbers(8), 3
    local function get(i) return x[i] end
    local k = rg.kernel(function() return get(at) end)
    assert.equal(3, k())
    at = 2.5
    local err = failure(k)
    assert.equal("value.fit", err.code)
    assert.truthy(err.source:find("local function get", 1, true) or err.source:find("get(at)", 1,
      true))
  end)

  it("gives several results", function()
    local k = rg.kernel(function(a, b)
      local low, high = ordered(a, b)
      return high * 10 + low
    end)
    assert.equal(53, k(3, 5))
    assert.equal(53, k(5, 3))
  end)

  it("gives its first result inside an expression or parentheses", function()
    local k = rg.kernel(function(a, b)
      local low = (ordered(a, b))
      return ordered(a, b) * 10 + low
    end)
    assert.equal(33, k(5, 3))
  end)

  it("spreads its results at the end of a call, of an assignment and of a return", function()
    local function both(a, b) return ordered(a, b) end
    local function weigh(a, b) return 100 * a + b end
    local k = rg.kernel(function(a, b)
      local low, high
      low, high = both(a, b)
      return weigh(both(a, b)) + weigh(low, high)
    end)
    assert.equal(2 * 305, k(5, 3))
  end)

  it("may return early, out of loops too", function()
    local x = numbers(64)
    local function find(from, value)
      for i = from, 63 do
        for j = 0, 1 do
          if x[i] + j == value then return 10 * i + j end
          if j > 5 then return -2 end
        end
      end
      return -1
    end
    local k = rg.kernel(function(from, value) return find(from, value) end)
    assert.equal(80, k(8, 8))
    assert.equal(81, k(8, 9))
    assert.equal(-1, k(8, 100))
    local y = rg.field(rg.i32, 16)
    rg.kernel(function() for i in rg.range(16) do y[i] = find(i, 12) end end)()
    assert.equal(111, y[0])
    assert.equal(120, y[12])
    assert.equal(-1, y[13])
  end)

  it("may return early from while and repeat", function()
    local function collatz(n --[[: i32]])
      local steps = 0
      while true do
        if n == 1 then return steps end
        repeat
          n = n % 2 == 0 and math.floor(n / 2) or 3 * n + 1
          steps = steps + 1
          if steps > 1000 then return -1 end
          if n % 2 == 1 then break end
        until n % 4 == 2
      end
    end
    local expected = 0
    local n = 27
    while n ~= 1 do
      n = n % 2 == 0 and n / 2 or 3 * n + 1
      expected = expected + 1
    end
    assert.equal(expected, rg.kernel(function() return collatz(27) end)())
  end)

  it("returns zero where it ends without a return", function()
    local function positive(v) if v > 0 then return v end end
    local k = rg.kernel(function(v) return positive(v) + 1 end)
    assert.equal(4, k(3))
    assert.equal(1, k(-3))
  end)

  it("may return nothing, and write", function()
    local x = numbers(8)
    local function clear(f, i)
      if i < 3 then return end
      f[i] = 0
    end
    rg.kernel(function() for i in rg.range(8) do clear(x, i) end end)()
    assert.equal(2, x[2])
    assert.equal(0, x[3])
  end)

  it("updates elements that iterations share", function()
    local total = rg.field { type = rg.i32, shape = {} }
    local function note(f, v) f[0] = f[0] + v end
    rg.kernel(function() for i in rg.range(1000) do note(total, i) end end)()
    assert.equal(499500, total[0])
  end)

  it("may hold parallel loops, which run serially inside another", function()
    local x = numbers(100)
    local y = rg.field(rg.f32, 4)
    assert.equal(4950, rg.kernel(function() return sum_of(x) end)())
    rg.kernel(function() for i in rg.range(4) do y[i] = sum_of(x) + i end end)()
    assert.equal(4953, y[3])
  end)

  it("may return early around its parallel loops", function()
    local x = numbers(100)
    local function total(skip)
      if skip > 0 then return -1 end
      local s = sum_of(x)
      if s < 0 then return -2 end
      for i in rg.range(100) do x[i] = 0 end
      return s
    end
    local k = rg.kernel(function(skip) return total(skip) end)
    assert.equal(-1, k(1))
    assert.equal(4950, k(0))
    assert.equal(0, k(0))
  end)

  it("decides a while loop of the host region", function()
    local x = numbers(4)
    local function halve() for i in rg.range(4) do x[i] = x[i] / 2 end end
    local k = rg.kernel(function()
      local steps = 0
      while sum_of(x) > 1 do
        halve()
        steps = steps + 1
      end
      return steps
    end)
    assert.equal(3, k())
  end)

  it("takes rows, shapes, builtins and types", function()
    local m = rg.field(rg.f32, 4, 6)
    m[2][3] = 7
    local function get(row, j) return row[j] end
    local function extent(f) return f.shape[1] end
    local function apply(g, v) return g(v) end
    local k = rg.kernel(function() return get(m[2], 3) + 10 * extent(m) + 100 * apply(math.abs, -2)
      + apply(rg.i32, 0.5) end)
    assert.equal(267, k())
  end)

  it("may be a method, also through a metatable", function()
    local class = {}
    class.__index = class
    function class:step(v) return self:scale(v) + self.grid.offset end
    function class:scale(v) return v * self.dt end
    local a = setmetatable({ dt = 2, grid = { offset = 1 } }, class)
    class.run = rg.kernel(function(self, v) return self:step(v) end)
    assert.equal(7, a:run(3))
    a.grid.offset = 5
    assert.equal(11, a:run(3))
    local b = setmetatable({ dt = 3, grid = { offset = 0 } }, class)
    assert.equal(9, b:run(3))
    assert.equal(11, rg.kernel(function() return a:step(3) end)())
    assert.equal(11, rg.kernel(function() return class.step(a, 3) end)())
  end)

  it("may be an argument, and then counts as the pattern", function()
    local x = numbers(4)
    local k = rg.kernel(function(f)
      local s = 0
      for i in rg.range(4) do s = s + f(x[i]) end
      return s
    end)
    assert.equal(14, k(square))
    assert.equal(10, k(function(v) return v + 1 end))
    assert.equal(14, k(square))
    assert.equal(6, k(math.abs))
    local compiles
    for factor = 1, 3 do
      assert.equal(6 * factor, k(function(v) return v * factor end))
      compiles = compiles or rg.stats().compiles
    end
    assert.equal(compiles, rg.stats().compiles)
  end)

  it("may change from one launch to the next", function()
    local shape = { f = square }
    local k = rg.kernel(function(v) return shape.f(v) end)
    assert.equal(9, k(3))
    shape.f = function(v) return (ordered(v, 1)) end
    assert.equal(1, k(3))
    shape.f = square
    assert.equal(16, k(4))
    shape.f = nil
    assert.equal("name.nil", failure(k, 4).code)
    shape.f = square
    assert.equal(25, k(5))
  end)

  it("does not make the kernel compile for the others again #compiled", function()
    local t, u = rg.field(rg.f32), rg.field(rg.f32)
    rg.root:pointer("i", 2):dense("i", 4):place(t, u)
    local rows, last, v = rg.array(rg.f32, 8), rg.array(rg.f32, 8), rg.vec2(2, 5)
    local function ones(i) return t[i] + 1 end
    local function larger(i) return u[i] + v.y end
    local function of_rows(i) return rows[i] + #last end
    local k = rg.kernel(function(f, to, n, w)
      for i in rg.range(n) do to[i] = f(i) * w.x end
      return n
    end)
    local launches = {
      function() assert.equal(7, k(ones, rows, 7, rg.vec2(2))) return rows[6] end,
      function() assert.equal(8, k(larger, last, 8, v)) return last[6] end,
      function() assert.equal(4, k(of_rows, t, 4, v)) return t[3] end,
      function() assert.equal(5, k(of_rows, u, 5, v)) return u[3] end,
    }
    local results = { {}, {} }
    local before = rg.stats().compiles
    for number, launch in ipairs(launches) do results[1][number] = launch() end
    assert.equal(before + 3, rg.stats().compiles) -- t and u are twins
    for number = #launches, 1, -1 do
      t:fill(0)
      u:fill(0)
      launches[1]()
      results[2][number] = launches[number]()
    end
    assert.same(results[1], results[2])
    assert.equal(before + 3, rg.stats().compiles)
    launches[2]()
    assert.is_true(#k:asm() > 0 and #k:ir() > 0) -- of a variant older than some of its captures
    launches[1]()
    assert.matches("parallel", k:explain())
  end)

  it("is a helper before a text kernel", function()
    local k = rg.kernel([=[
      local function half(v: f64): f64 return v / 2 end
      local function quarter(v) return half(half(v)) * scale end
      function(v) return quarter(v) end
    ]=], { scale = 3 })
    assert.equal(6, k(8))
  end)

  it("calls others, many times over, without growing out of hand", function()
    local function f1(v) return v + 1 end
    local function f2(v) local a = f1(v) return f1(a) end
    local function f3(v) local a = f2(v) return f2(a) end
    local function f4(v) local a = f3(v) return f3(a) end
    local function f5(v) local a = f4(v) return f4(a) end
    local k = rg.kernel(function(v) return f5(v) end)
    assert.equal(17, k(1))
  end)
end)

describe("a mistake in a function that is called", function()
  local function fails(f, ...) return failure(rg.kernel(f), ...) end

  it("is shown at its position", function()
    local function wrong(v) return v + nobody end
    local err = fails(function(v) return wrong(v) end, 1)
    assert.equal("name.unknown", err.code)
    assert.truthy(err.source:find("local function wrong", 1, true))
  end)

  it("may be its call", function()
    assert.equal("name.nil", fails(function() return square() end).code)
    assert.equal("call.count", fails(function() return square(1, 2) end).code)
    assert.equal("kernel.unsupported", fails(function() return math.max(1, ordered(1, 2)) end).code)
    local function nothing() end
    assert.equal("call.invalid", fails(function() return nothing() + 1 end).code)
    local function many(...) return 1 end -- luacheck: ignore
    assert.equal("kernel.unsupported", fails(function() return many(1) end).code)
  end)

  it("may be a return", function()
    local function uneven(v)
      if v > 0 then return 1 end
      return 1, 2
    end
    assert.equal("return.invalid", fails(function(v) return uneven(v) end, 1).code)
    local function inside() for i in rg.range(3) do return i end end
    assert.equal("return.invalid", fails(function() return inside() end).code)
  end)

  it("leaves the kernel usable", function()
    local f = function(v) return v + nobody end
    local k = rg.kernel(function(v) return f(v) end)
    assert.equal("name.unknown", failure(k, 1).code)
    f = square
    assert.equal(9, k(3))
    f = string.rep
    assert.equal("kernel.unsupported", failure(k, 1).code)
    f = 3
    assert.equal("call.invalid", failure(k, 1).code)
  end)
end)

local function factorial(n)
  if rg.static(n < 2) then return 1 end
  return n * factorial(rg.static(n - 1))
end

local function fibonacci(n)
  if rg.static(n < 2) then
    return n
  else return fibonacci(rg.static(n - 1)) + fibonacci(rg.static(n - 2)) end
end

local function power(x, n)
  if rg.static(n == 0) then return 1.0 end
  local half = power(x, rg.static((n - n % 2) / 2))
  if rg.static(n % 2 == 1) then return half * half * x end
  return half * half
end

local function endless(n)
  if n < 2 then return 1 end
  return endless(n - 1) + endless(n - 2)
end

describe("a recursive function", function()
  it("is expanded as deep as values known at compile time determine", function()
    local k = rg.kernel(function(x) return factorial(5), fibonacci(9), power(x, 13) end)
    assert.same({ 120, 34, 8192 }, { k(2) })
  end)

  it("must end by values known at compile time", function()
    local err = failure(rg.kernel(function(n) return endless(n) end), 3)
    assert.equal("call.invalid", err.code)
    assert.truthy(err.message:find("endless", 1, true) and err.hint:find("rg.static", 1, true))
    assert.equal("call.invalid", failure(rg.kernel(function() return factorial(40) end)).code)
  end)
end)

describe("a kernel called in a kernel", function()
  it("is the function that it is made of", function()
    local x, rate = rg.field(rg.f32, 8), 2
    local grow = rg.kernel(function(by)
      for i in rg.range(8) do x[i] = x[i] + by * rate end
      return by + 1
    end)
    local both = rg.kernel(function(n)
      local s = grow(n) + grow(n)
      for i in rg.range(8) do x[i] = x[i] * 2 end
      return s
    end)
    assert.equal(8, both(3))
    assert.equal(24, x[7])
    rate = 3
    assert.equal(4, both(1))
    assert.equal(60, x[0])
    assert.equal(2, grow(1))
    assert.equal(63, x[0])
  end)

  it("runs one iteration after the other inside a parallel loop", function()
    local x = rg.field(rg.i32, 4, 4)
    local line = rg.kernel(function(i) for j in rg.range(4) do x[i][j] = x[i][j] + i + j end end)
    rg.kernel(function() for i in rg.range(4) do line(i) end end)()
    assert.equal(6, x[3][3])
  end)

  it("may be in a table, and passed as an argument", function()
    local x = rg.field(rg.f32, 4)
    local solver = { step = rg.kernel(function(v) x[1] = x[1] + v end) }
    local twice = rg.kernel(function(self, f) self.step(1) f(2) end)
    twice(solver, solver.step)
    assert.equal(3, x[1])
  end)

  it("may be made from a text, with its helpers and captures", function()
    local x, own = rg.field(rg.f32, 4), { by = 2 }
    own.x = x
    local inner = rg.kernel([=[
      local function more(v) return v + by end
      function(v) for i in rg.range(4) do x[i] += more(v) end return more(v) end]=], own)
    local k = rg.kernel(function(v) return inner(v) + inner(1) end)
    assert.equal(8, k(3))
    assert.equal(8, x[2])
    own.by = 5
    assert.equal(14, k(3))
    assert.equal(8, inner(3))
  end)
end)

describe("a function made inside a kernel", function()
  it("reads the locals around it", function()
    local scale, f = 3, rg.field(rg.f32, 8)
    local function sum_over(g)
      local s = 0.0
      for k = 0, 3 do s = s + g(k) end
      return s
    end
    local k = rg.kernel(function(a, dt)
      local n = a + 1
      local function plus(x) return x + n end
      local times = function(x) return x * x * scale end
      local function outer(x)
        local y = x * 2
        local function inner(z)
          if z > 5 then return y end
          return z + y + a
        end
        return inner(x) + inner(10)
      end
      for i in rg.range(8) do
        local w = i * 2
        local function at(index) return f[index] + w * dt end
        f[i] = at(i)
        for j = 0, 1 do
          local function more(x) return x + j + w end
          f[i] = more(f[i])
        end
      end
      return plus(a), times(a), outer(1) + outer(2), sum_over(function(x) return x * a end)
    end)
    assert.same({ 5, 12, 1 + 2 + 2 + 2 + 2 + 4 + 2 + 4, 12 }, { k(2, 0.5) })
    assert.equal(3 + 6 + 1 + 6, f[3])
  end)

  it("sets elements of fields and arrays around it, arguments and rows of them included", function()
    local text = [[function(a, rows)
      for i in rg.range(4) do
        local row = rows[i]
        local function put(k) a[k], row[k] = k, row[k] + 2 * k end
        put(i)
      end
    end]]
    local rows = rg.field(rg.f32, 4, 4)
    for _, a in ipairs { rg.field(rg.f32, 4), rg.array(rg.f32, 4) } do
      rg.kernel(text, { rg = rg })(a, rows)
      assert.equal(3, a[3])
    end
    assert.equal(12, rows[3][3])
  end)

  it("sets elements of arrays that the kernel makes", function()
    assert.equal(3, rg.kernel(function()
      local made = rg.zeros(rg.vec2, 4)
      for i in rg.range(4) do
        local function put(k) made[k].x = k end
        put(i)
      end
      return made[3].x
    end)())
  end)

  it("may call itself, and sees tables that the kernel gets", function()
    local o = { dt = 0.5, x = rg.field(rg.f32, 8) }
    local k = rg.kernel(function(self, n)
      local function fib(i --[[: i32]]) --[[: i32]]
        if i < 2 then return i end
        return fib(i - 1) + fib(i - 2)
      end
      local function scaled(i) return i * self.dt + #self.x end
      return fib(10), scaled(n)
    end)
    assert.same({ 55, 10 }, { k(o, 4) })
  end)

  it("assigns the locals around it, wherever it is called", function()
    local x = rg.field(rg.i32, 16)
    local k = rg.kernel(function(a)
      local n, v, i, s = 0, rg.vec2(0), 0, 0
      local function put(value) x[n], n = value, n + 1 end
      for j = 1, 5 do put(j * a) end
      local function turn(t) v.x, v.y = v.y, v.x + t end
      turn(1) turn(2)
      local function more() i = i + 1 return i <= 4 end
      while more() do s = s + i end
      for j in rg.range(16) do
        local m = 0
        local function add(t) m = m + t end
        for t = 1, j do add(t) end
        x[j] = x[j] + m
      end
      local function double() a = a * 2 return a end
      return n, v, i, s, double() + double()
    end)
    assert.same({ 5, rg.vec2(1, 2), 5, 10, 2 * 3 + 4 * 3 }, { k(3) })
    assert.same({ 3, 7, 120 }, { x[0], x[1], x[15] })
  end)

  it("reduces into locals beyond the loop that calls it, or that it has", function()
    local k = rg.kernel(function(n)
      local sum, most, area = 0, 0, 0
      local function add(i) sum = sum + i most = math.max(most, i) end
      local function areas(count) for i in rg.range(count) do area = area + i * i end end
      for i in rg.range(n) do add(i) end
      areas(3) areas(4)
      return sum, most, area
    end)
    assert.same({ 45, 9, 5 + 14 }, { k(10) })
    local x = rg.field(rg.i32, 8)
    local mixed = rg.kernel(function()
      local s = 0
      local function add(i) s = s + i end
      for i in rg.range(8) do
        x[i] = s
        add(i)
      end
    end)
    assert.matches("this parallel loop reads 's', so a function that it calls cannot reduce",
      failure(mixed).message)
  end)

  it("is not a value, and assigns no outer local if it is recursive", function()
    local captures = { rg = rg, x = rg.field(rg.f32, 4, 4) }
    for text, message in pairs {
      ["local s = 0 local function g(n: i32) s = s + n if n > 0 then g(n - 1) end end g(1)"] =
        "'s' is declared around a function that calls itself, which cannot assign it",
      ["local b = a local function g(n: i32): i32 if n < 2 then return b end return g(n - 1) end "
        .. "return g(3)"] = "'b' is declared around a function that calls itself",
      ["local b = x[a] local function g(n: i32): f32 if n < 2 then return b[1] end "
        .. "return g(n - 1) end return g(3)"] =
        "'b' is declared around a function that calls itself",
      ["local function g(n) return 1 end g = 3 return g(3)"] = "it cannot be assigned again",
      ["return function() return 1 end"] = "cannot be used as a value in a kernel",
      ["function g(x) return x end return g(1)"] = "a kernel cannot assign functions",
    } do
      local ok, err = pcall(rg.kernel("function(a: i32) " .. text .. " end", captures), 2)
      assert.is_false(ok)
      assert.truthy(err.message:find(message, 1, true), err.message)
    end
  end)
end)
