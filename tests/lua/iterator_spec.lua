local support = require "support"
local rg, failure = support.rg, support.failure

-- Objects of Lua with methods, as users write them.
local Ring = {}
Ring.__index = Ring
Ring.around = rg.iterator(function(self, i, visit)
  for k = 0, self.count - 1 do
    local j = (i + k) % 16
    if self.x[j] >= 0 then visit(j, self.x[j] * self.scale) end
  end
end)
function Ring:double(j) return 2 * self.x[j] end

local function ring(more)
  local object = { x = rg.field(rg.f32, 16), count = 5, scale = 2 }
  for i = 0, 15 do object.x[i] = i - 2 end
  for name, v in pairs(more or {}) do object[name] = v end
  return setmetatable(object, Ring)
end

describe("an object of Lua in a kernel", function()
  it("has its methods and members, wherever it comes from", function()
    local a, b = ring(), ring { scale = 3 }
    local function both(o, i) return o:double(i) * o.scale end
    local table_of = { inner = { a = a }, list = { a, b } }
    local k = rg.kernel(function(argument)
      local s = 0
      for i in rg.range(16) do
        s = s + both(argument, i) + both(table_of.inner.a, i)
        for _, o in ipairs(table_of.list) do s = s + o:double(i) end
      end
      return s
    end)
    -- the sum of x is 88: 2 * 3 * 88, 2 * 2 * 88, and twice 2 * 88
    assert.equal(14 * 88, k(b))
    local compiles = rg.stats().compiles
    a.scale, b.x[0] = 5, 8
    assert.equal(14 * 88 + 2 * 3 * 88 + 8 * 10, k(b))
    local c = ring { scale = 3 }
    table_of.list[2] = c
    assert.equal(14 * 88 + 2 * 3 * 88, k(c))
    assert.equal(compiles, rg.stats().compiles)
  end)
end)

describe("a loop over an iterator", function()
  it("visits in a kernel what it visits in Lua, with break, continue and return", function()
    local near, out = ring(), rg.field(rg.f32, 16)
    local function sum(i)
      local s = 0
      for j, d in near:around(i) do
        if j == 3 then goto continue end
        if j == 12 then break end
        s = s + d * j
        ::continue::
      end
      return s
    end
    local function first(o, i, limit)
      for j, d in o:around(i) do if d > limit then return j end end
      return -1
    end
    rg.kernel(function() for i in rg.range(16) do out[i] = sum(i) end end)()
    for i = 0, 15 do assert.equal(sum(i), out[i]) end
    rg.kernel(function() for i in rg.range(16) do out[i] = first(near, i, 7) end end)()
    for i = 0, 15 do assert.equal(first(near, i, 7), out[i]) end
  end)

  it("ends the kernel by return, from a loop in a loop, and gives its results", function()
    local near = ring()
    local function find(o, i)
      for j in o:around(i) do
        for k, d in o:around(j) do
          if k == 9 then return j, d end
        end
      end
      return -1, 0
    end
    local k = rg.kernel(function(o, i)
      for j in o:around(i) do
        for m, d in o:around(j) do
          if m == 9 then return j, d end
        end
      end
      return -1, 0.0
    end)
    for i = 0, 15 do assert.same({ find(near, i) }, { k(near, i) }) end
  end)

  it("assigns locals around it, numbers and tables, and reduces in a parallel loop", function()
    local near = ring()
    local k = rg.kernel(function(i)
      local best
      for j, d in near:around(i) do
        if not best or d > best.d then best = { j = j, d = d } end
      end
      local count = 0
      for m in rg.range(16) do
        for _, d in near:around(m) do if d > 4 then count = count + 1 end end
      end
      return best.j, best.d, count
    end)
    assert.same({ 6, 8, 55 }, { k(2) })
  end)

  it("may be written with other iterators, by loops and by functions", function()
    local Other = setmetatable({}, Ring)
    Other.__index = Other
    Other.looped = rg.iterator(function(self, i, visit)
      for j, d in self:around(i) do if j ~= i then visit(j, d) end end
    end)
    Other.called = rg.iterator(function(self, i, visit)
      self:around(i, function(j, d) if j ~= i then visit(j, d) end end)
    end)
    local near = setmetatable(ring(), Other)
    local k = rg.kernel(function(i, most)
      local n, m = 0, 0
      for j in near:looped(i) do
        n = n + j
        if n > most then break end
      end
      for j in near:called(i) do
        if j > most then return n, -1 end
        m = m + j
      end
      return n, m
    end)
    assert.same({ 3 + 4 + 5 + 6, 3 + 4 + 5 + 6 }, { k(2, 99) })
    assert.same({ 3 + 4, -1 }, { k(2, 5) })
    local n, m = 0, 0
    for j in near:looped(2) do n = n + j end
    for j in near:called(2) do m = m + j end
    assert.same({ 18, 18 }, { n, m })
  end)

  it("is parallel where the iterator's loop is", function()
    local near = ring()
    local each = rg.iterator(function(x, visit)
      for i in rg.range(x.shape[0]) do visit(i, x[i]) end
    end)
    local k = rg.kernel(function()
      local s = 0.0
      for i, v in each(near.x) do s = s + v * i end
      return s
    end)
    assert.equal(1000, k())
    local err = failure(rg.kernel("function() for i in each(x) do if i > 2 then break end end end",
      { each = each, x = near.x }))
    assert.match("parallel loop cannot be left by 'break'", err.message)
  end)

  it("assigns locals from deeply nested loops", function()
    local twice = rg.iterator(function(n, visit)
      for k = 1, 2 do visit(n + k) end
    end)
    local through = rg.iterator(function(n, visit)
      for k in twice(n) do visit(k) end
    end)
    local k = rg.kernel(function()
      local s, n = 0, 0
      for a in through(0) do
        for b in through(a) do
          for c in through(b) do
            for d in through(c) do
              s = s + d
              n = n + 1
            end
          end
        end
      end
      return s, n
    end)
    assert.same({ 16 * 6, 16 }, { k() })
  end)

  it("is a method of a struct, or a value of a table", function()
    local Span = rg.struct({ { "from", rg.i32 }, { "to", rg.i32 } }, { methods = {
      each = rg.iterator(function(self, visit)
        for k = self.from, self.to do visit(k) end
      end),
    } })
    local spans = rg.array(Span, 3)
    spans[1] = { from = 3, to = 5 }
    local k = rg.kernel(function()
      local s, span = 0, spans[1]
      for k in span:each() do s = s + k end
      for k in spans[1]:each() do
        if k == 5 then break end
        s = s + 100 * k
      end
      return s
    end)
    assert.equal(712, k())
  end)

  it("draws random numbers, and nests in an unrolled loop", function()
    local near = ring()
    local k = rg.kernel(function()
      local n = 0
      for _, w in ipairs({ 1, 10 }) do
        for j in near:around(2) do
          if j == 5 then break end
          if rg.random() < 2 then n = n + w * j end
        end
      end
      return n
    end)
    assert.equal(11 * (2 + 3 + 4), k())
  end)
end)

describe("a mistake with an iterator", function()
  local function refused(text, captures)
    return failure(rg.kernel(text, captures or { near = ring() }))
  end

  it("is reported with the loop's line: too many names, too many arguments", function()
    local err = refused "function() for j, d, w in near:around(2) do print(j, d, w) end end"
    assert.match("no value for 'w': 'near:around%(2%)' gives its loop 2 values", err.message)
    assert.match("takes 2 arguments, 3 given",
      refused("function() for j in near:around(2, 3) do print(j) end end").message)
    assert.match("pass 'i'", refused("function() for j in near:around() do end end").message)
  end)

  it("is a function that is not an iterator, or to call one", function()
    local err = refused "function() for j in near:double(2) do print(j) end end"
    assert.match("'near.double' is a function, not an iterator", err.message)
    assert.match("rg.iterator", err.hint)
    assert.match("is an iterator, which a loop runs over",
      refused("function() local x = near:around(2) end").message)
    assert.match("is an iterator", refused("function() near:around(2) end").message)
  end)

  it("is a loop that cannot be left from within an expression", function()
    local odd = rg.iterator(function(i, visit)
      local function go(k)
        visit(k)
        return k
      end
      local s = go(i) + go(i + 1)
      if s < 0 then visit(s) end
    end)
    local k = rg.kernel(function() local s = 0 for j in odd(3) do s = s + j end return s end)
    assert.equal(7, k())
    assert.match("calls 'go' in an expression, so this loop cannot be left",
      refused("function() for j in odd(3) do if j > 3 then break end end end",
        { odd = odd }).message)
  end)

  it("is reported in Lua, too", function()
    assert.match("rg.iterator takes a function, not 3", failure(rg.iterator, 3).message)
    assert.match("last parameter", failure(rg.iterator, function() end).message)
    local near = ring()
    assert.match("takes 2 arguments, 3 given",
      failure(near.around, near, 1, 2).message)
  end)
end)
