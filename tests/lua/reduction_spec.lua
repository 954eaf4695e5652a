local support = require "support"
local rg, sparse = support.rg, support.sparse

local function sorted(t)
  table.sort(t)
  return t
end

describe("an atomic update", function()
  it("returns the old value when called as a method", function()
    local x, old = rg.field(rg.i32, 1), rg.field(rg.i32, 128)
    local add = rg.kernel(function() for i in rg.range(128) do old[i] = x:add(0, 42) end end)
    add()
    assert.equal(128 * 42, x[0])
    local seen = sorted(support.list(old))
    for k = 1, 128 do assert.equal(42 * (k - 1), seen[k]) end
    local sub = rg.kernel(function() for i in rg.range(128) do old[i] = x:sub(0, 42) end end)
    sub()
    assert.equal(0, x[0])
  end)

  it("adds floats", function()
    local x = rg.field(rg.f32, 1)
    local add = rg.kernel(function() for i in rg.range(128) do x[0] = x[0] + 4.2 end end)
    add()
    assert.is_near(128 * 4.2, x[0], 1e-2)
  end)

  it("multiplies, takes extremes and combines bits", function()
    local x = rg.field(rg.i32, 6)
    x[0], x[1], x[2], x[3], x[4], x[5] = 1, 1000, -1000, 1023, 0, 0
    local run = rg.kernel(function()
      for i in rg.range(16) do x[0] = x[0] * 2 end
      for i in rg.range(128) do
        x[1] = math.min(x[1], 42 * i)
        x[2] = math.max(x[2], 42 * i)
      end
      for i in rg.range(10) do
        x:band(3, bit.bnot(bit.lshift(1, i)))
        x:bor(4, bit.lshift(1, i))
        x:bxor(5, bit.lshift(3, i))
      end
    end)
    run()
    assert.same({ 65536, 0, 127 * 42, 0, 1023, 1 + 1024 }, support.list(x))
  end)

  it("is unsigned on unsigned elements, and of floats on floats", function()
    local u, f = rg.field(rg.u64, 2), rg.field(rg.f32, 2)
    u[1] = 0xffffffffffffffffULL
    f[0], f[1] = -100, 1
    local big = 2 ^ 63
    local run = rg.kernel(function()
      for i in rg.range(100) do
        u:max(0, 0x8000000000000000ULL)
        u:min(1, rg.u64(i + 100))
        f:max(0, -1.0 - i)
      end
      for i in rg.range(7) do f[1] = f[1] * (i + 1.0) end
    end)
    run()
    assert.equal(big, tonumber(u[0]))
    assert.equal(100, tonumber(u[1]))
    assert.equal(-1, f[0])
    assert.equal(5040, f[1])
  end)

  it("keeps old values apart inside branches", function()
    local x, y = rg.field(rg.i32, 64), rg.field(rg.i32, 64)
    local run = rg.kernel(function()
      for i in rg.range(64) do
        x[i] = i
        if bit.band(i, 1) == 0 then
          local old = x:add(i, 42)
          y[i] = x[i]
          x[i] = old
        end
      end
    end)
    run()
    for i = 0, 63 do
      assert.equal(i, x[i])
      assert.equal(i % 2 == 0 and i + 42 or 0, y[i])
    end
  end)

  it("exchanges and compares", function()
    local x, won = rg.field(rg.i32, 2), rg.field(rg.i32, 1)
    local run = rg.kernel(function()
      for i in rg.range(1000) do
        if x:compare_exchange(0, 0, i + 1) == 0 then won[0] = won[0] + 1 end
        x:exchange(1, 7)
      end
    end)
    run()
    assert.equal(1, won[0])
    assert.is_true(x[0] >= 1 and x[0] <= 1000)
    assert.equal(7, x[1])
  end)

  it("counts exactly where many iterations meet", function()
    local x = rg.field(rg.i32, 7)
    local hit = rg.kernel([=[function(n)
      for i in rg.range(n) do x[i % 7] += 1 end
    end]=], { x = x })
    hit(700000)
    for i = 0, 6 do assert.equal(100000, x[i]) end
  end)

  it("scatters to neighbours like the plain result", function()
    local x = sparse(rg.i32, "ij", 8, 8)
    local scatter = rg.kernel(function()
      for i, j in rg.range({ 1, 63 }, { 1, 63 }) do
        x[i - 1][j] = x[i - 1][j] + 1
        x[i + 1][j] = x[i + 1][j] + 2
        x[i][j - 1] = x[i][j - 1] + 3
        x[i][j + 1] = x[i][j + 1] + 4
      end
    end)
    scatter()
    local function inside(i, j) return i >= 1 and i < 63 and j >= 1 and j < 63 end
    for i = 0, 63 do
      for j = 0, 63 do
        local expected = (inside(i + 1, j) and 1 or 0) + (inside(i - 1, j) and 2 or 0)
          + (inside(i, j + 1) and 3 or 0) + (inside(i, j - 1) and 4 or 0)
        assert.equal(expected, x[i][j])
      end
    end
  end)

  it("on a node that holds one value per block counts cells", function()
    local x, n = rg.field(rg.i32), rg.field(rg.i32)
    local block = rg.root:pointer("ij", 4)
    block:dense("ij", 4):place(x)
    block:place(n)
    x[0][0], x[15][15] = 1, 1
    local count = rg.kernel(function()
      for i, j in x:active() do
        local a, b = math.floor(i / 4), math.floor(j / 4)
        n[a][b] = n[a][b] + 1
      end
    end)
    count()
    assert.equal(16, n[0][0])
    assert.equal(16, n[3][3])
    assert.equal(0, n[1][1])
  end)
end)

describe("a reduction", function()
  for _, n in ipairs { 1, 10, 60, 1024, 100000, 1048576 } do
    it(("over %d iterations is exact for integers"):format(n), function()
      local run = rg.kernel(function(count)
        local sum, low, high = 0, 1000000000, -1
        for i in rg.range(count) do
          sum = sum + bit.band(i, 7)
          low = math.min(low, i)
          high = math.max(high, i)
        end
        return 100 * (sum + low) + high
      end)
      local sum = 0
      for i = 0, n - 1 do sum = sum + i % 8 end
      assert.equal(bit.tobit(100 * sum + n - 1), run(n))
    end)
  end

  it("wraps in 32 bits, and does not in 64", function()
    local narrow = rg.kernel(function()
      local s = 0
      for i in rg.range(1048576) do s = s + i end
      return s
    end)
    local wide = rg.kernel(function()
      local s = 0LL
      for i in rg.range(1048576) do s = s + i end
      return s
    end)
    local exact = 1048576 * 1048575 / 2
    assert.equal(exact % 2 ^ 32 >= 2 ^ 31 and exact % 2 ^ 32 - 2 ^ 32 or exact % 2 ^ 32, narrow())
    assert.equal(exact, tonumber(wide()))
  end)

  it("sums floats #compiled", function()
    local x, y = rg.field(rg.f32, 1048576), rg.field(rg.f64, 1048576)
    x:fill(0.1)
    y:fill(0.1)
    local single = rg.kernel(function()
      local s = 0.0
      for i in rg.range(1048576) do s = s + x[i] end
      return s
    end)
    local double = rg.kernel(function()
      local s = 0.0
      for i in rg.range(1048576) do s = s + y[i] end
      return s
    end)
    assert.is_near(104857.6, single(), 104857.6 * 3e-4)
    assert.is_near(104857.6, double(), 104857.6 * 1e-12)
  end)

  it("combines bits, multiplies and takes extremes", function()
    local run = rg.kernel([=[function()
      local all, any, odd = 1023, 0, 0
      for i in rg.range(10) do
        all &= ~(1 << i)
        any = any | 1 << i
        odd ~= 3 << i
      end
      return 1000000 * all + 2000 * any + odd
    end]=])
    assert.equal(2000 * 1023 + 1025, run())
    local product = rg.kernel(function()
      local p = 1.0
      for i in rg.range(7) do p = p * (i + 1) end
      return p
    end)
    assert.equal(5040, product())
    local highest = rg.kernel(function()
      local m = -1000.0
      for i in rg.range(100) do m = math.max(m, -1.0 - i) end
      return m
    end)
    assert.equal(-1, highest())
  end)

  it("goes on from the value before the loop", function()
    local run = rg.kernel(function(start)
      local s = start
      for i in rg.range(10) do s = s + 1.5 end
      for i in rg.range(10) do s = s - 0.5 end
      return s
    end)
    assert.equal(110, run(100))
  end)

  it("over active cells leaves inactive ones out", function()
    local x = sparse(rg.f64, "ij", 16, 4)
    x[3][5], x[60][61] = 2, 5
    local run = rg.kernel(function()
      local sum, count = 0.0, 0
      for i, j in x:active() do
        sum = sum + x[i][j]
        count = count + 1
      end
      return 1000 * sum + count
    end)
    assert.equal(7032, run())
  end)

  it("may be conditional", function()
    local x = rg.field(rg.i32, 1000)
    for i = 0, 999 do x[i] = (i * 37) % 1000 end
    local run = rg.kernel(function(limit)
      local n, most = 0, -1
      for i in rg.range(1000) do
        if x[i] < limit then
          n = n + 1
          most = math.max(most, x[i])
        end
      end
      return 1000 * n + most
    end)
    assert.equal(250249, run(250))
    assert.equal(-1, run(0))
  end)

  it("of booleans and bits follows the operators of text kernels", function()
    local run = rg.kernel([=[function()
      local mask, n = 0, 0
      for i in rg.range(8) do
        mask |= 1 << i
        n += 1
      end
      return mask * 10 + n
    end]=])
    assert.equal(2558, run())
  end)
end)
