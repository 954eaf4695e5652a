-- Taichi's tests of quantised types, with their values, ported to our types. The differences: fixed
-- ranges end at the largest number (Taichi's fixed(8, max 2) ends at 127 / 64), floats have a sign,
-- and assigning a fraction to an integer requires explicit rounding.
local support = require "support"
local rg, failure = support.rg, support.failure

-- Places fields in words of one cell, or of `count`.
local function place(members, count, word)
  local g = rg.packed(members, { word = word })
  if count then rg.root:dense("i", count):place(g) else rg.tree():place(g) end
  return g
end

local function near(wanted, found, by)
  assert(math.abs(wanted - found) <= by, ("%.9g, not %.9g"):format(found, wanted))
end

describe("packed integers, as Taichi's tests have them,", function()
  after_each(function() rg.reset() end)

  it("hold their values side by side, written by kernels and from Lua", function()
    local g = place({ x = rg.int(13), y = rg.uint(19) }, 12)
    local x, y = g.x, g.y
    local function set() for i = 0, 11 do x[i], y[i] = -2 ^ i, 2 ^ i - 1 end end
    local set_in_kernel = rg.kernel [[function(x, y)
      for i in x:active() do
        x[i] = -bit.lshift(1, i)
        y[i] = bit.lshift(1, i) - 1
      end
    end]]
    for _, f in ipairs { set, function() set_in_kernel(x, y) end } do
      x:fill(0)
      f()
      for i = 0, 11 do assert.same({ -2 ^ i, 2 ^ i - 1 }, { x[i], y[i] }) end
    end
  end)

  it("are loaded and stored in words of all sizes", function()
    local rows = { { 8, { 3, 3, 2 }, { 3, 7, -2 } }, { 16, { 4, 7, 5 }, { 7, 127, -16 } },
      { 32, { 17, 11, 4 }, { 65535, 1023, -8 } },
      { 64, { 32, 23, 9 }, { 2147483647, 8388607, -256 } },
      { 32, { 7, 12, 13 }, { 63, 4095, -4096 } },
      { 64, { 18, 22, 24 }, { 131071, 4194303, -8388608 } },
      { 16, { 5, 5, 6 }, { 15, 5, 20 } }, { 32, { 10, 10, 12 }, { 11, 19, 2020 } },
      { 32, { 13, 14, 5 }, { 4095, 16383, -8 } }, { 32, { 13, 14, 5 }, { 123, 4567, 8 } } }
    for _, row in ipairs(rows) do
      local bits, values = row[2], row[3]
      local g = place({ a = rg.int(bits[1]), b = rg.uint(bits[2]), c = rg.int(bits[3]) }, nil,
        row[1])
      g.c[0], g.b[0], g.a[0] = values[3], values[2], values[1]
      assert.same(values, { g.a[0], g.b[0], g.c[0] })
    end
    local full = place({ x = rg.int(32) }, 1, 32).x
    for _, v in ipairs { 15, 12 } do
      full[0] = v
      assert.equal(v, full[0])
    end
  end)

  it("are updated by iterations at once", function()
    local g = place { x = rg.int(13), y = rg.int(5), z = rg.uint(2) }
    local x, y, z = g.x, g.y, g.z
    local many = rg.field(rg.int(13), 4)
    x[0], y[0], z[0] = 3, 2, 0
    many:from_table { 100, 200, 300, 0 }
    rg.kernel(function()
      for i in rg.range(10) do x[0] = x[0] + 4 end
      for i in rg.range(5) do y[0] = y[0] - 1 end
      for i in rg.range(3) do z[0] = z[0] + 1 end
      for i in rg.range(9) do many[i % 3] = many[i % 3] + i end
    end)()
    assert.same({ 43, -3, 3 }, { x[0], y[0], z[0] })
    assert.same({ 109, 212, 315, 0 }, many:to_table())
  end)

  it("are read back between stores to one word", function()
    local g = place({ x = rg.int(16), y = rg.int(16) }, 10)
    local x, y, seen = g.x, g.y, rg.field(rg.ivec4, 10)
    rg.kernel(function()
      for i in rg.range(10):serial() do
        x[i] = i
        seen[i].x = x[i]
        y[i] = i + 1
        seen[i].y = y[i]
        seen[i].zw = rg.ivec2(x[i], y[i])
      end
    end)()
    for i = 0, 9 do assert.same({ i, i + 1, i, i + 1 }, seen[i]:to_table()) end
  end)

  it("refuse a fraction without explicit rounding", function()
    local x = rg.field(rg.int(13), 1)
    assert.matches("this value is a float", failure(rg.kernel("function() x[0] = 10.3 end",
      { x = x })).message)
    rg.kernel(function() x[0] = math.floor(10.3) end)()
    assert.equal(10, x[0])
  end)
end)

describe("packed arrays, as Taichi's tests have them,", function()
  after_each(function() rg.reset() end)

  it("hold bits, negative numbers and halves, in one and two axes", function()
    local bits, pairs_of, small = rg.field(rg.uint(1), 32), rg.field(rg.uint(1), 4, 8),
      rg.field(rg.int(7), 4)
    local halves = rg.field(rg.fixed(8, { -127 / 64, 127 / 64 }), 4)
    local bad = rg.kernel(function()
      for i in bits:active() do bits[i] = i % 2 end
      for i, j in pairs_of:active() do pairs_of[i][j] = (i * 8 + j) % 2 end
      local wrong = 0
      for i in small:active() do
        if small[i] ~= 0 then wrong = wrong + 1 end
        small[i] = -i
        if small[i] ~= -i then wrong = wrong + 1 end
        halves[i] = i * 0.5
      end
      return wrong
    end)()
    assert.equal(0, bad)
    for i = 0, 31 do
      assert.equal(i % 2, bits[i])
      assert.equal(i % 2, pairs_of[math.floor(i / 8)][i % 8])
    end
    for i = 0, 3 do assert.same({ -i, i * 0.5 }, { small[i], halves[i] }) end
  end)

  it("are below sparse nodes, and loops visit their active cells", function()
    local small, wide = rg.field(rg.int(7)), rg.field(rg.fixed(32, { -1024, 1024 }))
    rg.root:pointer("i", 4):dense("i", 16):place(small, wide)
    rg.kernel(function()
      for i in rg.range(64) do
        if math.floor(i / 16) % 2 == 0 then small[i] = i end
      end
      for i in small:active() do
        small[i] = small[i] - 1
        wide[i] = i
      end
    end)()
    for i = 0, 63 do
      local is_active = math.floor(i / 16) % 2 == 0
      assert.equal(is_active and i - 1 or 0, small[i])
      near(is_active and i or 0, wide[i], 1e-3)
    end
  end)

  it("of bits are copied from neighbours, in all eight directions", function()
    local n = 64
    local x, y, z = rg.field(rg.uint(1)), rg.field(rg.uint(1)), rg.field(rg.uint(1))
    rg.root:pointer("ij", 2, 2):dense("ij", n / 2, n / 2):place(x, y, z)
    local copy = rg.kernel(function(dx, dy)
      for i, j in x:active() do
        y[i][j] = x[i + dx][j + dy]
        z[i][j] = x[i + dx][j + dy]
      end
    end)
    local wrong = rg.kernel(function(dx, dy)
      local count = 0
      for i, j in rg.range(n, n) do
        if y[i][j] ~= x[i + dx][j + dy] or z[i][j] ~= y[i][j] then count = count + 1 end
      end
      return count
    end)
    rg.kernel(function() for i, j in rg.range(n, n) do x[i][j] = rg.random(rg.i32, 0, 1) end end)()
    assert.is_true(x:sum() > 1000)
    for dx = -1, 1 do
      for dy = -1, 1 do
        copy(dx, dy)
        assert.equal(0, wrong(dx, dy))
      end
    end
  end)
end)

describe("packed reals, as Taichi's tests have them,", function()
  after_each(function() rg.reset() end)

  it("are summed by steps of their range", function()
    local g = place { x = rg.fixed(13, { -409.5, 409.5 }), y = rg.fixed(19, { 0, 52428.7 }) }
    local x, y = g.x, g.y
    rg.kernel(function()
      x[0] = 0.7
      y[0] = 123.4
      for i in rg.range(10) do
        x[0] = x[0] - 0.4
        y[0] = y[0] + 100.1
      end
    end)()
    near(-3.3, x[0], 1e-4)
    near(1124.4, y[0], 2e-3)
    local wide = place { x = rg.fixed(32, { -2, 2 }) }.x
    rg.kernel(function()
      wide[0] = 0.7
      wide[0] = wide[0] + 0.4
    end)()
    near(1.1, wide[0], 1e-6)
    for _, v in ipairs { 0.64, 0.66 } do
      wide[0] = v
      near(v, wide[0], 1e-6)
    end
    x[0] = 10
    near(10, x[0], 1e-6)
  end)

  it("turn a matrix by five times 18 degrees", function()
    local m = place { m = rg.mat(2, 2, rg.fixed(16, { -1.2, 1.2 })) }.m
    m[0] = { { 1, 0 }, { 0, 1 } }
    local turn = rg.kernel(function()
      local angle = math.pi / 10
      local c, s = math.cos(angle), math.sin(angle)
      m[0] = m[0] * rg.mat2(c, s, -s, c)
    end)
    for _ = 1, 5 do turn() end
    local found = m[0]
    for k, wanted in ipairs { 0, 1, -1, 0 } do
      near(wanted, found[k > 2 and 1 or 0][(k - 1) % 2], 1e-4)
    end
  end)

  it("are floats that keep the digits that fit, and flush numbers that are too small", function()
    local x = place { x = rg.float(6, 12) }.x
    for _, v in ipairs { 0, 1 / 1024, 1.75 / 1024, 0.125, 0.25, 0.5, 0.75, 1, 2, 3, 4, 5, 6, 7, 8,
      9, 128, 256, 512, 1024 } do
      for _, sign in ipairs { 1, -1 } do
        x[0] = sign * v
        assert.equal(sign * v, x[0])
      end
    end
    for _, v in ipairs { 1e-30, 1e-20, 1e-10, 1e-2 } do
      x[0] = v
      near(v, x[0], 1e-5)
      x[0] = -v
      near(-v, x[0], 1e-5)
    end
    local exact = place({ x = rg.float(8, 23) }, nil, 32).x
    local short = place { x = rg.float(8, 22) }.x
    for _, v in ipairs { 3.14159274101257324, 3.14159274101257324 * 2 ^ 100 } do
      exact[0], short[0] = v, v
      assert.equal(v, exact[0])
      assert.is_true(short[0] ~= v)
      near(v, short[0], v * 3e-7)
    end
    local tiny = place { x = rg.float(5, 1) }.x
    for given, kept in pairs { [1] = 1, [1.5] = 1.5, [1.75] = 2, [1.625] = 1.5 } do
      tiny[0] = given
      assert.equal(kept, tiny[0])
    end
    tiny[0] = 0
    local add = rg.kernel(function() for i in rg.range(1) do tiny[0] = tiny[0] + 1 end end)
    add()
    add()
    assert.equal(2, tiny[0])
  end)

  it("share an exponent, which follows the larger number", function()
    for bits = 5, 8 do
      local v = place { v = rg.vec(2, rg.float(bits, 11, { shared = true })) }.v
      local function at(a, b, by_a, by_b)
        near(a, v[0].x, by_a or 0)
        near(b, v[0].y, by_b or 0)
      end
      at(0, 0)
      v[0] = { 10, 0 }
      at(10, 0)
      v[0] = { 3.2, 0.25 }
      at(3.2, 0.25, 3.2e-3, 5e-3)
      v[0] = { 100, 0.25 }
      at(100, 0.25, 0.1, 0.05)
      v[0] = { 1000, 1e-6 }
      at(1000, 0)
      v[0] = { 1000, 1000 }
      at(1000, 1000)
      v[0] = { 37, -123 }
      at(37, -123)
      v[0] = { 1e-30, 1e-30 }
      if bits == 8 then at(1e-30, 1e-30, 1e-33, 1e-33) else at(0, 0) end
    end
    local v = place { v = rg.vec(2, rg.float(5, 11, { shared = true })) }.v
    local step = rg.kernel(function() v[0] = v[0] + rg.vec2(1, -1) end)
    v[0] = { 0, 100 }
    for i = 1, 100 do
      step()
      assert.same({ i, 100 - i }, v[0]:to_table())
    end
  end)

  it("go round a circle in a thousand steps", function()
    for _, T in ipairs { rg.fixed(16, { -2, 2 }), rg.float(6, 13),
      rg.float(6, 13, { shared = true }) } do
      local p = place { p = rg.vec(2, T) }.p
      local advance = rg.kernel(function(dt, count)
        for k = 1, count do
          local at = p[0]
          local half = at + dt * 0.5 * rg.vec2(-at.y, at.x)
          p[0] = p[0] + dt * rg.vec2(-half.y, half.x)
        end
      end)
      p[0] = { 1, 0 }
      advance(2 * math.pi / 1000, 500)
      near(-1, p[0].x, 2e-2)
      near(0, p[0].y, 2e-2)
      advance(2 * math.pi / 1000, 500)
      near(1, p[0].x, 2e-2)
      near(0, p[0].y, 3e-2)
    end
  end)

  it("visit each cell of a group once", function()
    local g = place({ x = rg.int(13), y = rg.uint(3) }, 8)
    local x = g.x
    assert.equal(28, rg.kernel(function()
      local sum = 0
      for i in x:active() do sum = sum + i end
      return sum
    end)())
  end)
end)
