local support = require "support"
local rg, failure = support.rg, support.failure
local oracle_packed = require "regolith.oracle.packed"


-- Numbers of all sizes, the limits of types, and their neighbours.
local function numbers(count)
  local list = { 0, 1, -1, 0.5, -0.5, 0.25, 1 / 3, 10.3, -3.3, 1124.4, 1e-6, -1e-6, 1e-30, 1e30,
    65504, 65536, 2 ^ -14, 2 ^ -15, 2 ^ -16, 2 ^ 15, -2 ^ 15, 1e38, math.huge, -math.huge, 0 / 0 }
  local state = 1
  while #list < count do
    state = state * 48271 % 2147483647
    local size = 2 ^ (state % 41 - 20)
    list[#list + 1] = (state / 2147483647 - 0.5) * size
  end
  return list
end

local function same(a, b) return a == b or (a ~= a and b ~= b) end

local integers = { rg.int(1), rg.int(2), rg.int(5), rg.int(16), rg.int(31), rg.int(32), rg.uint(1),
  rg.uint(3), rg.uint(8), rg.uint(31), rg.uint(32) }
local floats = { rg.fixed(2, { -1, 1 }), rg.fixed(8, { 0, 1 }), rg.fixed(10, { -1, 1 }),
  rg.fixed(16, { -2, 30 }), rg.fixed(12, { -5, 0 }), rg.fixed(21, { -100, 100 }),
  rg.fixed(24, { 0, 1000 }), rg.fixed(32, { -1, 1 }), rg.fixed(40, { -3, 8 }), rg.float(5, 10),
  rg.float(8, 7), rg.float(2, 1), rg.float(4, 3), rg.float(8, 23), rg.float(6, 13) }

describe("a packed number", function()
  after_each(function() rg.reset() end)

  it("is stored by kernels as by arch lua and by Lua itself", function()
    local list = numbers(300)
    for _, t in ipairs(floats) do
      local name = t.name
      local round = oracle_packed.rounding(name)
      local a, b = rg.field(t, #list), rg.field(t, #list)
      local from = rg.field(rg.f32, #list)
      from:from_table(list)
      rg.kernel(function() for i in a:active() do a[i] = from[i] end end)()
      for i, v in ipairs(list) do
        b[i - 1] = from[i - 1]
        assert(same(b[i - 1], a[i - 1]), ("%s of %.17g: %.17g in a kernel, %.17g from Lua"):format(
          name, v, a[i - 1], b[i - 1]))
        local want = round(from[i - 1])
        assert(same(want, a[i - 1]), ("%s of %.17g: %.17g, not %.17g"):format(name, v, a[i - 1],
          want))
        b[i - 1] = a[i - 1] -- what it holds stays
        assert(same(b[i - 1], a[i - 1]), ("%s does not keep %.17g"):format(name, a[i - 1]))
      end
    end
  end)

  it("that is an integer saturates in kernels, and is refused from Lua", function()
    for _, t in ipairs(integers) do
      local x, bits = rg.field(t, 8), tonumber(t.name:match "%d+")
      local signed = t.name:sub(1, 1) == "i"
      local most = 2 ^ (signed and bits - 1 or bits) - 1
      local least = signed and -most - 1 or 0
      x[0], x[1] = least, most
      assert.equal(least, x[0])
      assert.equal(most, x[1])
      if bits < 32 then
        assert.matches("cannot hold", failure(function() x[0] = most + 1 end))
        assert.equal("value.fit", failure(function() x[0] = least - 1 end).code)
        rg.kernel(function(n)
          for i in x:active() do x[i] = i < 4 and n or -n end
        end)(2 ^ 31 - 1)
        assert.same({ most, least }, { x[3], x[5] })
      end
    end
  end)
end)

describe("packed fields in one word", function()
  after_each(function() rg.reset() end)

  local function place(node, members, options)
    local g = rg.packed(members, options)
    node:place(g)
    return g
  end

  it("take as many bits as the smallest word that holds them", function()
    for bits, word in pairs { [3] = 8, [8] = 8, [12] = 16, [16] = 16, [20] = 32 } do
      local tree = rg.tree()
      place(tree, { a = rg.uint(bits - 1), b = rg.uint(1) })
      assert.matches("u" .. word .. " ", tostring(tree))
    end
    local tree = rg.tree()
    place(tree:dense("i", 16), { a = rg.int(30), b = rg.int(30) })
    assert.matches("u64 ", tostring(tree))
    local wide = rg.tree()
    place(wide:dense("i", 16), { a = rg.vec(3, rg.fixed(20, { -1, 1 })), b = rg.int(30) })
    local _, words = tostring(wide):gsub("u32 ", "")
    assert.equal(4, words)
  end)

  it("hold numbers that do not affect each other", function()
    for _, word in ipairs { 32, 64 } do
      local node = rg.root:dense("i", 64)
      local g = place(node, { a = rg.int(13), b = rg.uint(7), c = rg.fixed(10, { 0, 1 }) },
        { word = word })
      local a, b, c = g.a, g.b, g.c
      local set = rg.kernel(function()
        for i in a:active() do
          a[i] = i * 100 - 3000
          if i % 3 == 0 then b[i] = i end
          c[i] = i / 63
        end
      end)
      set()
      local read = rg.kernel(function(scale)
        local sum = 0
        for i in a:active() do sum = sum + a[i] + b[i] * scale end
        return sum
      end)
      local sum = 0
      for i = 0, 63 do
        assert.equal(i * 100 - 3000, a[i])
        assert.equal(i % 3 == 0 and i or 0, b[i])
        assert.is_true(math.abs(c[i] - i / 63) < 1 / 1000)
        sum = sum + a[i] + b[i] * 10000
      end
      assert.equal(sum, read(10000))
      b:fill(5)
      assert.same({ -3000 + 700, 5 }, { a[7], b[7] })
      a[7] = 9
      assert.same({ 9, 5 }, { a[7], b[7] })
    end
  end)

  it("are updated by many iterations at once", function()
    for _, bits in ipairs { 8, 13, 28 } do
      local tree = rg.tree()
      local g = place(tree, { a = rg.uint(bits), b = rg.int(20), c = rg.fixed(16, { 0, 100 }) })
      local a, b, c = g.a, g.b, g.c
      local add = rg.kernel(function()
        for i in rg.range(1000) do
          if i % 10 == 0 then a:add(0, 1) end
          b[0] = b[0] - 3
          if i % 2 == 0 then c[0] = c[0] + 100 / 65535 end
        end
      end)
      add()
      assert.same({ 100, -3000 }, { a[0], b[0] })
      assert.is_true(math.abs(c[0] - 500 * 100 / 65535) < 1e-3)
    end
  end)

  it("return old numbers, and compare and exchange", function()
    local tree = rg.tree()
    local g = place(tree, { a = rg.uint(10), b = rg.uint(6) })
    local a, b = g.a, g.b
    local old = rg.field(rg.i32, 500)
    rg.kernel(function()
      for i in rg.range(500) do
        old[i] = a:add(0, 1)
        b:max(0, i % 60)
      end
    end)()
    local seen = {}
    for i = 0, 499 do seen[old[i]] = true end
    for i = 0, 499 do assert.is_true(seen[i]) end
    assert.same({ 500, 59 }, { a[0], b[0] })
    local swap = rg.kernel(function(expected, new)
      return a:compare_exchange(0, expected, new)
    end)
    assert.equal(500, swap(7, 8))
    assert.equal(500, swap(500, 8))
    assert.same({ 8, 59 }, { a[0], b[0] })
  end)

  it("are on every kind of node", function()
    local kinds = {
      dense = function() return rg.root:dense("ij", 16, 16) end,
      pointer = function() return rg.root:pointer("ij", 4, 4):dense("ij", 4, 4) end,
      ["pointer itself"] = function() return rg.root:pointer("ij", 16, 16) end,
      bitmasked = function() return rg.root:bitmasked("ij", 16, 16) end,
      hash = function() return rg.root:hash("ij"):dense("ij", 4, 4) end,
      ["below dense"] = function() return rg.root:dense("ij", 4, 4):dense("ij", 4, 4) end,
    }
    for name, make in pairs(kinds) do
      local g = place(make(), { x = rg.int(7), y = rg.fixed(9, { -1, 1 }) })
      local x, y = g.x, g.y
      x[3][5], y[9][2] = -30, 0.5
      assert.same({ -30, 0 }, { x[3][5], x[9][2] })
      local step = rg.kernel(function()
        for i, j in x:active() do
          x[i][j] = x[i][j] + 1
          y[i][j] = y[i][j] + (i == 9 and 0.25 or 0)
        end
      end)
      step()
      assert.equal(-29, x[3][5], name)
      assert.is_true(math.abs(y[9][2] - 0.75) < 0.01, name)
      local sum = 0
      for _, _, v in pairs(x) do sum = sum + v end
      assert.equal(x:count() - 30, sum, name)
    end
  end)

  it("are refused where they are not supported, with an alternative #compiled", function()
    local x = rg.field(rg.int(10), 8)
    local set = rg.kernel(function() for i in x:active() do x[i] = i end end)
    local function refuses(message, hint, f)
      local err = failure(f)
      assert.matches(message, err.message)
      assert.matches(hint, err.hint)
    end
    refuses("elements of a list cannot", "whole words", function()
      rg.root:dynamic("i", 16):place(rg.packed { x = rg.int(5) })
    end)
    refuses("no gradient: its numbers are packed", "use f32 for fields with derivatives", function()
      rg.field(rg.fixed(10, { -1, 1 }), 4, { grad = true })
    end)
    refuses("has no address", "y:copy_from", function() x:pointer() end)
    refuses("rg.array takes no packed type", "in fields", function() rg.array(rg.int(5), 4) end)
    refuses("not a group of packed fields", "dense%(\"i\", n%):place", function()
      rg.field(rg.packed { a = rg.int(5) }, 4)
    end)
    refuses("no field 'b'", "it has a", function() return rg.packed { a = rg.int(5) }.b end)
    assert.matches("not the type f32", failure(rg.packed, { x = rg.f32 }).message)
    assert.equal("rg.int takes 1 to 64 bits, not 0", failure(rg.int, 0).message)
    assert.equal("rg.fixed takes 1 to 48 bits, not 49", failure(rg.fixed, 49, { 0, 1 }).message)
    assert.equal("rg.float takes 1 to 20 bits of fraction, not 21",
      failure(rg.float, 5, 21, { shared = true }).message)
    refuses("'x' is of type rg.int%(10%), and this value is a float", "math.floor", function()
      rg.kernel(function() x[0] = 1.5 end)()
    end)
    refuses("'x%[i%]' is of type rg.int%(10%), and '%*' with this gives a float", "math.floor",
      rg.kernel(function() for i in x:active() do x[i] = x[i] * 0.5 end end))
    set()
    refuses("which a module cannot contain yet", "plain numbers", function()
      rg.module { set = set }:save(os.tmpname())
    end)
    local y = rg.field(rg.i32, 8)
    y:copy_from(x)
    assert.same({ 0, 1, 2, 3, 4, 5, 6, 7 }, y:to_table())
  end)
end)

describe("a packed array", function()
  after_each(function() rg.reset() end)

  -- Runs the same steps on numbers that are stored as they are, and on packed ones.
  local function compare(packed, plain, shape, steps)
    local results = {}
    for k, T in ipairs { packed, plain } do
      local a, b = rg.field(T, unpack(shape)), rg.field(T, unpack(shape))
      local seed = rg.kernel(function()
        for i, j in a:active() do
          a[i][j] = math.floor((i * 1103 + j * 12345 + i * j * 7919) / 16) % 3 == 0 and 1 or 0
        end
      end)
      seed()
      results[k] = { steps(a, b), b:to_table(), a:to_table() }
    end
    assert.same(results[2], results[1])
  end

  local shapes = { { 9, 64 }, { 5, 33 } }

  it("of bits gives the same as numbers in bytes, for neighbours of all kinds", function()
    for _, shape in ipairs(shapes) do
      local n, m = shape[1], shape[2]
      compare(rg.uint(1), rg.i32, shape, function(a, b)
        local life = rg.kernel(function()
          for i, j in a:active() do
            local c = a[i - 1][j - 1] + a[i - 1][j] + a[i - 1][j + 1] + a[i][j - 1] + a[i][j + 1]
              + a[i + 1][j - 1] + a[i + 1][j] + a[i + 1][j + 1]
            b[i][j] = (c == 3 or (c == 2 and a[i][j] == 1)) and 1 or 0
          end
        end)
        life()
        local torus = rg.kernel(function()
          for i, j in b:active() do
            local l, r = (j - 1) % m, (j + 1) % m
            local u, d = (i + n - 1) % n, (i + 1) % n
            local c = b[u][l] + b[u][j] + b[u][r] + b[i][l] + b[i][r] + b[d][l] + b[d][j] + b[d][r]
            if c > 4 or c < 2 then a[i][j] = 0 elseif c == 3 then a[i][j] = 1 end
          end
        end)
        torus()
        local far = rg.kernel(function(from)
          for i, j in rg.range({ 1, n - 1 }, { from, m - 2 }) do
            local x = a[i][j + 40] + 2 * a[i - 1][j - 33] - a[i + 1][j]
            if x > 1 or j == 17 then
              b[i][j] = 1 - b[i][j]
            elseif j < 5 and x <= 0 then
              b[i][j] = math.max(a[i][j], x)
            end
          end
        end)
        far(3)
        return { a:sum(), b:sum(), a:max() }
      end)
    end
  end)

  it("of bits computes words of bits, however a rule is written #compiled", function()
    local rules = {
      [[function(a, b)
        for i, j in a:active() do
          local c = -a[i][j]
          for u = -1, 1 do for v = -1, 1 do c = c + a[(i + u) % 5][(j + v) % 64] end end
          b[i][j] = (c == 3 or (c == 2 and a[i][j] == 1)) and 1 or 0
        end
      end]],
      [[function(a, b)
        for i, j in a:active() do
          local c = 0
          for u = -1, 1 do for v = -1, 1 do
            if u ~= 0 or v ~= 0 then c = c + a[i + u][j + v] end
          end end
          local born = { 0, 0, 0, 1, 0, 0, 1, 0, 0 }
          b[i][j] = a[i][j] == 1 and bit.band(bit.rshift(13, c), 1) or born[c + 1]
        end
      end]],
      [[function(a, b)
        for I in a:active():vec() do
          local c = 4 * a[I - rg.ivec2(0, 1)] + 2 * a[I] + a[I + rg.ivec2(0, 1)] - 3
          b[I] = math.floor(c / 2) + (c * 0.5 > 1 and 1 or 0) + c % 3
        end
      end]],
    }
    for number, text in ipairs(rules) do
      local sets = {}
      for _, T in ipairs { rg.uint(1), rg.i32 } do
        local a, b = rg.field(T, 5, 64), rg.field(T, 5, 64)
        for i = 0, 4 do
          for j = 0, 63 do a[i][j] = (i * 1103 + j * 12345 + i * j * 79) % 3 % 2 end
        end
        local rule = rg.kernel(text)
        rule(a, b)
        rg.kernel(function() for i, j in b:active() do b[i][j] = b[i][j] > 0 and 1 or 0 end end)()
        sets[#sets + 1] = b:to_table()
        if T ~= rg.i32 then
          assert.matches("the bits of 32 elements at once", rule:explain(a, b), number)
        end
      end
      assert.same(sets[2], sets[1], number)
    end
  end)

  it("of bits can be counted, and used in arithmetic", function()
    compare(rg.uint(1), rg.i32, { 6, 70 }, function(a, b)
      local f = rg.field(rg.f32, 6, 70)
      local mixed = rg.kernel(function()
        for i, j in a:active() do f[i][j] = a[i][j] * 0.5 + j end
        for i, j in a:active() do b[i][j] = f[i][j] > 30 and a[i][j] or 0 end
        local n = 0
        for i, j in a:active() do if a[i][j] ~= 0 and j > 3 then n = n + 2 end end
        return n
      end)
      local column = rg.kernel(function()
        for i, j in rg.range(6, 70) do
          if i == 2 then a[j % 6][i] = 1 end
          b:bxor(i, j, 1)
        end
      end)
      local n = mixed()
      column()
      return { n, f:sum() }
    end)
  end)

  it("of numbers that share words is written word by word", function()
    for k, T in ipairs { rg.int(10), rg.uint(12) } do
      local shape = shapes[k]
      compare(T, rg.i32, shape, function(a, b)
        local step = rg.kernel(function(n)
          for i, j in a:active() do b[i][j] = a[i][j] + a[i][j - 1] * 2 + a[i - 1][j + 1] + 3 end
          for i, j in rg.range({ 1, n }, { 2, n }) do
            b[i][j] = b[i][j] + 1
            if j % 2 == 0 then a[i][j] = b[i][j] - 1 end
          end
        end)
        step(shape[1] - 1)
        return { b:sum() }
      end)
    end
  end)

  it("keeps zeros past its last element, and counts writes there", function()
    local x = rg.field(rg.uint(1), 4, 40)
    local before = rg.stats().out_of_range
    rg.kernel(function() for i, j in rg.range(4, 45) do x[i][j] = 1 end end)()
    rg.kernel(function() for i in rg.range(4) do x[i][41] = 1 end end)()
    assert.equal(160, x:sum())
    rg.sync()
    assert.is_true(rg.stats().out_of_range > before)
    local read = rg.kernel(function()
      local sum = 0
      for i, j in rg.range(4, 64) do sum = sum + x[i][j] end
      return sum
    end)
    assert.equal(160, read())
  end)
end)

describe("a vector of packed numbers", function()
  after_each(function() rg.reset() end)

  it("with one exponent is exact for numbers of similar size, and flushes much smaller \z
    ones", function()
    local v = rg.field(rg.vec(2, rg.float(8, 20, { shared = true })), 4)
    local w = rg.field(rg.vec(2, rg.float(5, 20, { shared = true })), 4)
    local put = rg.kernel(function(i, x, y) v[i] = rg.vec2(x, y) end)
    for _, write in ipairs { function(i, x, y) v[i] = { x, y } end, put } do
      for i, want in ipairs { { 10, 0 }, { 1000, 0 }, { 0, 0 } } do
        write(i, want[1], i == 2 and 1e-6 or want[2])
        assert.same(want, v[i]:to_table())
      end
      write(3, 1e-30, 1e-30)
      assert.is_true(math.abs(v[3].x - 1e-30) < 1e-35)
    end
    w[1] = { 1e-30, 1e-30 }
    assert.same({ 0, 0 }, w[1]:to_table())
    rg.kernel(function() for i in v:active() do v[i].y = 500 end end)()
    assert.same({ 1000, 500 }, v[2]:to_table())
  end)

  it("is written number by number and as a whole", function()
    local m = rg.field(rg.mat(3, 3, rg.fixed(16, { -2, 2 })), 64)
    local p = rg.field(rg.vec(3, rg.fixed(10, { 0, 1 })), 64)
    rg.kernel(function()
      for i in m:active() do
        for k = 0, 2 do m[i][k][k] = k - 1 end
        p[i] = rg.vec3(i / 64, 1, 0.5)
        p[i].z = p[i].z * 0.5
      end
    end)()
    local q = p[32]
    assert.is_true(math.abs(q.x - 0.5) < 1e-3 and q.y == 1 and math.abs(q.z - 0.25) < 1e-3)
    for k = 0, 2 do assert.is_true(math.abs(m[5][k][k] - (k - 1)) < 1e-4) end
  end)
end)

describe("the option check_range", function()
  after_each(function() rg.reset() end)

  it("counts the numbers that kernels store and that a type cannot hold", function()
    rg.init { check_range = true }
    local g = rg.packed { a = rg.uint(4), b = rg.fixed(10, { -1, 1 }), c = rg.int(18) }
    rg.root:dense("i", 32):place(g)
    local a, b, c, bits = g.a, g.b, g.c, rg.field(rg.uint(1), 40)
    local before = rg.stats().out_of_range
    rg.kernel(function()
      for i in a:active() do
        a[i] = i
        b[i] = (i - 8) / 8
        c[i] = i
      end
      for i in bits:active() do bits[i] = i - 20 end
      for i in rg.range(10) do a:add(3, 1) end
    end)()
    rg.sync()
    -- a: 16 .. 31; b: 17 .. 31 are above 1; bits: 20 below 0, 18 above 1
    assert.equal(16 + 15 + 38, rg.stats().out_of_range - before)
    assert.same({ 15, 13, 1, 0, 1 }, { a[20], a[3], b[31], bits[3], bits[30] })
  end)

  it("is off by default", function()
    local a = rg.field(rg.uint(4), 32)
    local before = rg.stats().out_of_range
    rg.kernel(function() for i in a:active() do a[i] = i end end)()
    rg.sync()
    assert.equal(before, rg.stats().out_of_range)
  end)
end)
