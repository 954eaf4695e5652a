--- Updates and reductions: sums of many iterations in one place are exact, whatever their order.
local support = require "support"
local rg, sparse = support.rg, support.sparse

local function cells(type, n) return rg.field(rg[type], n or 1) end

describe("updates that return the old value", function()
  it("hand out each intermediate sum once", function()
    for _, case in ipairs { { "i32", 42 }, { "u64", 42 }, { "i64", -42 } } do
      local total, old = cells(case[1]), cells(case[1], 128)
      local by = case[2]
      local add = rg.kernel(function()
        for i in rg.range(128) do old[i] = total:add(0, by) end
      end)
      add()
      assert.equal(128 * by, tonumber(total[0]))
      local sorted = {}
      for i = 0, 127 do sorted[i + 1] = tonumber(old[i]) / by end
      table.sort(sorted)
      for i = 1, 128 do assert.equal(i - 1, sorted[i]) end
    end
  end)

  it("do so for floats and for subtraction", function()
    local total, old = cells "f32", cells("f32", 128)
    local add = rg.kernel(function()
      for i in rg.range(128) do old[i] = total:add(0, 4.2) end
    end)
    add()
    local sorted = {}
    for i = 0, 127 do sorted[i + 1] = old[i] end
    table.sort(sorted)
    for i = 1, 128 do assert.is_near(4.2 * (i - 1), sorted[i], 1e-5 * 4.2 * i) end
    local sub = rg.kernel(function()
      for i in rg.range(128) do old[i] = total:sub(0, 4.2) end
    end)
    sub()
    assert.is_near(0, total[0], 1e-2)
  end)

  it("return the old value of max, min and exchange", function()
    local high, low, last, seen = cells "i32", cells "i32", cells "i32", cells("i32", 129)
    low[0] = 1000
    last[0] = 128
    local run = rg.kernel(function()
      for i in rg.range(128) do
        local before = high:max(0, i)
        if before > i then seen[128] = 1 end
        low:min(0, 900 - i)
        local previous = last:exchange(0, i)
        if previous < 128 then seen[previous] = seen[previous] + 1 end
      end
    end)
    run()
    assert.same({ 127, 773 }, { high[0], low[0] })
    -- every value except the last one has been returned once
    local sum = 0
    for i = 0, 127 do sum = sum + seen[i] end
    assert.equal(127, sum)
    assert.equal(0, seen[last[0]])
  end)

  it("claim a slot once, by compare_exchange", function()
    local owner, wins = cells("i32", 16), cells("i32", 16)
    owner:fill(-1)
    local claim = rg.kernel(function()
      for i in rg.range(4096) do
        local at = i % 16
        if owner:compare_exchange(at, -1, i) == -1 then wins[at] = wins[at] + 1 end
      end
    end)
    claim()
    for at = 0, 15 do
      assert.equal(1, wins[at])
      assert.equal(at, owner[at] % 16)
    end
  end)
end)

describe("update statements", function()
  it("add, subtract, multiply, and take minimum and maximum", function()
    local x = cells("i32", 5)
    x[2], x[3] = 1, 100
    local update = rg.kernel(function()
      for i in rg.range(128) do
        x[0] = x[0] + 42
        x[1] = x[1] - 42
        x[3] = math.min(x[3], i)
        x[4] = math.max(x[4], 42 * i)
      end
      for _ in rg.range(16) do x[2] = x[2] * 2 end
    end)
    update()
    assert.same({ 5376, -5376, 65536, 0, 5334 }, x:to_table())
  end)

  it("set, clear and flip bits", function()
    local x = cells("i32", 3)
    x[0], x[2] = -1, 5
    local update = rg.kernel([[function()
      for i in rg.range(10) do x[1] |= 1 << i end
      for i in rg.range(32) do x[0] &= ~(1 << i) end
      for i in rg.range(1024) do x[2] ~= i end
    end]], { x = x })
    update()
    assert.same({ 0, 1023, 5 }, x:to_table())
  end)

  it("may be spelled in every way that the language has", function()
    local x = cells("i32", 8)
    local update = rg.kernel([[function()
      for i in rg.range(100) do
        x[0] += i
        x[1] = x[1] + i
        x[2] = i + x[2]
        x[3] = x[3] + i - 1
        x[4] = 2 * i + x[4] - i
        x[5] -= i
        x[6] = math.max(i, x[6])
        x[7] = x[7] + (i % 2 == 0 and 1 or 3)
      end
    end]], { x = x })
    update()
    assert.same({ 4950, 4950, 4950, 4850, 4950, -4950, 99, 200 }, x:to_table())
  end)

  it("do not affect neighbours in one word, for the narrow types", function()
    for _, type in ipairs { "i8", "u8", "i16", "u16", "f16" } do
      local x = cells(type, 8)
      local update = rg.kernel(function()
        for i in rg.range(800) do x[i % 8] = x[i % 8] + 1 end
      end)
      update()
      for i = 0, 7 do assert.equal(100, x[i]) end
    end
  end)

  it("wrap in the type of the element", function()
    local a, b, c = cells "u8", cells "i16", cells "u64"
    local update = rg.kernel(function()
      for _ in rg.range(300) do
        a[0] = a[0] + 1
        b[0] = b[0] - 200
        c[0] = c[0] - 1
      end
    end)
    update()
    assert.equal(44, a[0])
    assert.equal(-60000 + 65536, b[0])
    assert.equal(0ULL - 300ULL, c[0])
  end)

  it("are unsigned where the element is, and order negative floats", function()
    local big, small, best, product = cells "u64", cells "u64", cells "f32", cells "f64"
    big[0], small[0], best[0], product[0] = 100, 9223372036854775808ULL, -1000, 1
    local values = cells("u64", 2)
    values[0], values[1] = 9223372036854775808ULL, 100
    local update = rg.kernel(function()
      for i in rg.range(2) do
        big[0] = math.max(big[0], values[i])
        small[0] = math.min(small[0], values[i])
      end
      for i in rg.range(7) do
        best[0] = math.max(best[0], -1.0 - i)
        product[0] = product[0] * (i + 1)
      end
    end)
    update()
    assert.equal(9223372036854775808ULL, big[0])
    assert.equal(100ULL, small[0])
    assert.equal(-1, best[0])
    assert.equal(5040, product[0])
  end)

  it("activate what they add to", function()
    local x = rg.field(rg.f32)
    local block = rg.root:pointer("ij", 16)
    block:dense("ij", 4):place(x)
    local scatter = rg.kernel(function()
      for p in rg.range(10000) do
        local i = (p * 37) % 64
        x[i][i] = x[i][i] + 0.5
      end
    end)
    scatter()
    local total = 0
    for i = 0, 63 do total = total + x[i][i] end
    assert.equal(5000, total)
    assert.equal(16, block:count())
  end)

  it("are atomic in branches and in nested loops", function()
    local x = cells("i32", 4)
    local update = rg.kernel(function()
      for i in rg.range(1000) do
        if i % 3 == 0 then
          x[0] = x[0] + 1
        elseif i % 3 == 1 then
          x[1] = x[1] + 2
        else
          for j = 1, 3 do x[2] = x[2] + j end
        end
        local k = 0
        while k < 2 do
          k = k + 1
          x[3] = x[3] + k
        end
      end
    end)
    update()
    assert.same({ 334, 666, 333 * 6, 3000 }, x:to_table())
  end)

  it("leave an iteration's own reads and writes in order", function()
    local x, y = cells("i32", 64), cells("i32", 64)
    local run = rg.kernel(function()
      for i in rg.range(64) do
        x[i] = i
        local old = x[i]
        x[i] = x[i] + 42
        y[i] = x[i]
        x[i] = old
      end
    end)
    run()
    for i = 0, 63 do assert.same({ i, i + 42 }, { x[i], y[i] }) end
  end)

  it("are plain accesses if they are not updates", function()
    local x = cells("i32", 10)
    local run = rg.kernel(function()
      for i in rg.range(10) do
        x[i] = i
        x[i] = 100 - x[i]
        x[i] = x[i] + x[i]
        x[i] = x[i] * 2 + 1
      end
    end)
    run()
    for i = 0, 9 do assert.equal((100 - i) * 4 + 1, x[i]) end
  end)

  it("have methods with the same results, also where iterations meet", function()
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

  it("by method are unsigned where the element is, and of floats on floats", function()
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

  it("by method return the right old values inside branches", function()
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

  it("count exactly where very many iterations meet", function()
    local x = rg.field(rg.i32, 7)
    local hit = rg.kernel([=[function(n)
      for i in rg.range(n) do x[i % 7] += 1 end
    end]=], { x = x })
    hit(700000)
    for i = 0, 6 do assert.equal(100000, x[i]) end
  end)

  it("scatter to neighbours across blocks", function()
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

  it("of one value per block count the block's cells", function()
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

describe("independent loops", function()
  local function scattered()
    local from, to = rg.field(rg.i32), rg.field(rg.i32)
    rg.root:pointer("i", 16):place(from)
    rg.root:pointer("i", 16):place(to)
    from[1], from[2], from[5], from[6] = 2, 3, 4, 5
    return from, to
  end
  local function contents(x)
    local t = {}
    for i, v in pairs(x) do t[i] = v end
    return t
  end

  it("update through distinct values", function()
    local from, to = scattered()
    local run = rg.kernel(function()
      for i in from:active():independent() do to[from[i]] = to[from[i]] + i end
    end)
    run()
    assert.same({ [2] = 1, [3] = 2, [4] = 5, [5] = 6 }, contents(to))
  end)

  it("update through distinct values more than once an iteration", function()
    local from, to = scattered()
    local run = rg.kernel(function()
      for i in from:active():independent() do
        for k = 1, 3 do to[from[i]] = to[from[i]] + k end
        if i > 2 then to[from[i]] = to[from[i]] + 1 end
      end
    end)
    run()
    assert.same({ [2] = 6, [3] = 6, [4] = 7, [5] = 7 }, contents(to))
  end)

  it("need no promise: shared elements are exact without one", function()
    local from, to = scattered()
    from[7], from[8] = 3, 3
    local run = rg.kernel(function()
      for i in from:active() do to[from[i]] = to[from[i]] + 1 end
      for i in from:active() do to[i + 1] = to[i + 1] + 10 end
    end)
    run()
    assert.same({ [2] = 11, [3] = 13, [4] = 1, [5] = 1, [6] = 10, [7] = 10, [8] = 10, [9] = 10 },
      contents(to))
  end)
end)

describe("reductions", function()
  it("reduce by bit.band, bit.bor and bit.bxor, and by 'and' and 'or' of booleans", function()
    local x, flags = rg.field(rg.i32, 1000), rg.field(rg.bool, 1000)
    local low, high, odd = -1, 0, 0
    for i = 0, 999 do
      local v = bit.bor(bit.lshift(i * 7919, 3), 4)
      x[i], flags[i] = v, i ~= 617
      low, high, odd = bit.band(low, v), bit.bor(high, v), bit.bxor(odd, v)
    end
    local reduce = rg.kernel([[function(n)
      local low, high, odd = -1, 0, 0
      local all, any, none, most = true, false, false, true
      for i in rg.range(n) do
        low = bit.band(low, x[i])
        high = bit.bor(x[i], high)
        if i >= 0 then odd = bit.bxor(odd, x[i]) end
        all = all and flags[i]
        any = not flags[i] or any
        none = none or x[i] == 0
        if i ~= 617 then most = most and flags[i] end
      end
      return low, high, odd, all, any, none, most
    end]], { x = x, flags = flags })
    assert.same({ low, high, odd, false, true, false, true }, { reduce(1000) })
    assert.same({ bit.band(x[0], x[1]), bit.bor(x[0], x[1]), bit.bxor(x[0], x[1]), true, false,
      false, true }, { reduce(2) })
    local x0 = rg.field(rg.i32, 4)
    rg.kernel("function() for i in rg.range(1000) do x0[i % 4] = bit.bxor(x0[i % 4], x[i]) end end",
      { x0 = x0, x = x })()
    assert.equal(odd, bit.bxor(bit.bxor(x0[0], x0[1]), bit.bxor(x0[2], x0[3])))
  end)

  it("of a million elements are exact for integers and close for floats #compiled", function()
    local n = 1048576
    for _, type in ipairs { "i32", "u32", "i64", "u64", "f32", "f64" } do
      local x, out = cells(type, n), cells(type, 3)
      local reduce = rg.kernel(function()
        for i in rg.range(n) do x[i] = (i * 7919) % 65536 + 10 end
        local sum, low, high = x[0], x[0], x[0]
        for i in rg.range(n) do
          sum = sum + x[i]
          low = math.min(low, x[i])
          high = math.max(high, x[i])
        end
        out[0] = sum
        out[1] = low
        out[2] = high
      end)
      reduce()
      local exact = n / 65536 * (65535 * 65536 / 2) + 10 * n + 10
      if type == "i32" then exact = (exact + 2 ^ 31) % 2 ^ 32 - 2 ^ 31 end
      if type == "u32" then exact = exact % 2 ^ 32 end
      local near = type == "f32" and 3e-4 * exact or type == "f64" and 1e-12 * exact or 0
      assert.is_near(exact, tonumber(out[0]), near)
      assert.equal(10, tonumber(out[1]))
      assert.equal(65545, tonumber(out[2]))
    end
  end)

  it("take every length of loop", function()
    local reduce = rg.kernel(function(n)
      local count, sum, high = 0, 0, -1
      for i in rg.range(n) do
        count = count + 1
        sum = sum + i % 7
        high = math.max(high, i)
      end
      return count + 1000000 * (high - count) + sum
    end)
    for _, n in ipairs { 0, 1, 10, 60, 1024, 100000, 1048576 } do
      local sum = math.floor(n / 7) * 21
      for k = 0, n % 7 - 1 do sum = sum + k end
      assert.equal(n - 1000000 + sum, reduce(n))
    end
  end)

  it("keep small blocks separate", function()
    local x = cells("i32", 1000)
    local reduce = rg.kernel(function()
      for i in rg.range(1000) do x[i] = (i * 7919) % 1000 + 5 end
      local low, high = 10000, 0
      for i in rg.range(1000):block(8) do
        low = math.min(low, x[i])
        high = math.max(high, x[i])
      end
      return 10000 * high + low
    end)
    assert.equal(10040005, reduce())
  end)

  it("multiply, subtract and count under conditions", function()
    local reduce = rg.kernel([[function(n)
      local product, difference, evens = 1.0, 100, 0
      for i in rg.range(n) do
        if i > 0 then product *= i end
        difference -= i
        if i % 2 == 0 then evens += 1 end
      end
      return product + 10000 * evens + 100000 * (100 - difference)
    end]])
    assert.equal(5040 + 40000 + 2800000, reduce(8))
  end)

  it("reduce bits", function()
    local reduce = rg.kernel([[function(n)
      local set, cleared, flipped = 0, -1, 0
      for i in rg.range(n) do
        set |= 1 << i
        cleared &= ~(1 << i)
        flipped ~= i
      end
      return set + 1000 * (cleared + 32) + 100000 * flipped
    end]])
    assert.equal(31 + 1000 * (-32 + 32) + 100000 * 4, reduce(5))
  end)

  it("run over active cells, blocks, and serial loops inside", function()
    local x = rg.field(rg.i32)
    local block = rg.root:pointer("ij", 16)
    block:dense("ij", 4):place(x)
    for k = 0, 15 do x[4 * k][4 * (15 - k)] = k + 1 end
    local reduce = rg.kernel(function()
      local sum, blocks, inner = 0, 0, 0
      for i, j in x:active() do sum = sum + x[i][j] end
      for i, j in block:active() do
        blocks = blocks + 1
        for a = 0, 3 do
          for b = 0, 3 do inner = inner + x[4 * i + a][4 * j + b] end
        end
      end
      return sum + 1000 * blocks + 1000000 * (inner - sum)
    end)
    assert.equal(16136, reduce())
  end)

  it("start from the value of the local, and continue in the next loop", function()
    local reduce = rg.kernel(function(start)
      local s = start + 0.5
      for i in rg.range(10) do s = s + i end
      s = s * 2
      for i in rg.range(10) do s = s - i end
      return s
    end)
    assert.equal(2 * (3.5 + 45) - 45, reduce(3))
  end)

  it("return 64-bit integers exactly", function()
    local x = cells("i64", 100)
    local reduce = rg.kernel(function()
      for i in rg.range(100) do x[i] = i end
      local s = x[0]
      for i in rg.range(100) do s = s + x[i] * 1000000000000 end
      return s
    end)
    assert.equal(4950000000000000LL, reduce())
  end)

  it("cannot be read or assigned inside the loop", function()
    for _, body in ipairs { "s = i", "s = s + 1 x[i] = s", "s = s + 1 s = i" } do
      local x = cells("i32", 4)
      local ok, failure = pcall(function()
        rg.kernel("function() local s = 0 for i in rg.range(4) do " .. body .. " end return s end",
          { x = x })()
      end)
      assert.is_false(ok)
      assert.equal("reduction.invalid", failure.code)
    end
  end)

  it("wrap in 32 bits, and do not in 64", function()
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

  it("of extremes may be conditional", function()
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
end)

describe("the same program", function()
  it("gives the same integers under every option", function()
    local function run(options)
      local own = rg.new(options)
      local x, hits = own.field(own.i32), own.field(own.i64, 97)
      local block = own.root:pointer("ij", 16)
      block:dense("ij", 8):place(x)
      local step = own.kernel(function(n)
        for p in own.range(n) do
          local i, j = (p * 31) % 128, (p * p) % 128
          x[i][j] = x[i][j] + p
          hits[p % 97] = hits[p % 97] + 1
        end
        for i, j in x:active() do
          if x[i][j] % 5 == 1 then x[i][j] = math.floor(x[i][j] / 3) end
        end
        for i, j in block:active() do
          if x[8 * i][8 * j] % 7 == 2 then block:deactivate(i, j) end
        end
        local s = 0
        for i, j in x:active() do s = s + x[i][j] * (i - j) end
        return s
      end)
      local results = {}
      for round = 1, 3 do results[round] = step(2000 * round) end
      results[4] = block:count()
      for at = 0, 96 do results[5 + at] = tonumber(hits[at]) end
      own.reset()
      return results
    end
    local expected = run {}
    assert.are_not.equal(0, expected[1])
    for _, options in ipairs { { threads = 1 }, { threads = 3 }, { fast_math = true },
      { unchecked = true }, { debug = true } } do
      assert.same(expected, run(options))
    end
  end)
end)

describe("a counter that iterations take numbers from", function()
  local n = 5000
  local function hits(i) return (i * 7919) % 13 < 4 end

  it("gives each number once, to the iteration that stores by it", function()
    local x, count = rg.field(rg.f32, n), rg.field(rg.i32, 3)
    local from, what = rg.field(rg.i32, 4 * n), rg.field(rg.f32, 4 * n)
    for i = 0, n - 1 do x[i] = hits(i) and i % 3 or -1 end
    local compact = rg.kernel(function(base --[[: i32]])
      count[1] = base
      for i in rg.range(n) do
        if x[i] >= 0 then
          for k = 1, x[i] do
            local at = count:add(1, 2)
            from[at], what[at] = i, k
            from[at + 1], what[at + 1] = i, -k
          end
        end
      end
      return count[1]
    end)
    for _, base in ipairs { 0, 6 } do
      from:fill(-1)
      local total, expected = compact(base), base
      for i = 0, n - 1 do expected = expected + (hits(i) and 2 * (i % 3) or 0) end
      assert.equal(expected, total)
      local seen = {}
      for at = base, total - 1, 2 do
        local i, k = from[at], what[at]
        assert.is_true(i >= 0 and hits(i) and k >= 1 and k <= i % 3)
        assert.same({ i, -k }, { from[at + 1], what[at + 1] })
        assert.is_nil(seen[i * 4 + k])
        seen[i * 4 + k] = true
      end
      for at = 0, base - 1 do assert.equal(-1, from[at]) end
      assert.equal(-1, from[total])
    end
    assert.equal(0, count[0] + count[2])
  end)

  it("also gives each once where the number, or an element that is written, decides", function()
    local x, out, count = rg.field(rg.i32, n), rg.field(rg.i32, n), rg.field(rg.i64, 1)
    local most = 100
    rg.kernel(function()
      count[0] = 0
      for i in rg.range(n) do
        local at = count:add(0, 1)
        if at < most then out[at] = i + 1 end
      end
    end)()
    assert.equal(n, tonumber(count[0]))
    for at = 0, n - 1 do assert.equal(at < most, out[at] > 0) end
    x:fill(1)
    rg.kernel(function()
      count[0] = 0
      for i in rg.range(n) do
        if x[i] == 1 then
          x[i] = 2
          out[count:add(0, 1)] = i
        end
      end
    end)()
    assert.equal(n, tonumber(count[0]))
    local sum = 0
    for at = 0, n - 1 do sum = sum + out[at] end
    assert.equal(n * (n - 1) / 2, sum)
  end)

  it("keeps the effects of iterations that take none", function()
    local x, y, out, count = rg.field(rg.f32, n), rg.field(rg.f32, n), rg.field(rg.i32, n),
      rg.field(rg.i32, 1)
    for i = 0, n - 1 do x[i] = hits(i) and i or -1 end
    local take = rg.kernel(function()
      for i in rg.range({ 1, n }) do
        y[i] = x[i - 1] + 1
        if x[i] >= 0 then out[count:add(0, 1)] = i end
      end
    end)
    local never = rg.kernel(function()
      for i in rg.range(n) do
        if x[i] > n then
          out[count:add(0, 1)] = -7
          y[i] = -7
        end
      end
    end)
    take()
    local before = count[0]
    never()
    local found = 0
    for i = 1, n - 1 do
      assert.equal(x[i - 1] + 1, y[i])
      if hits(i) then found = found + 1 end
    end
    assert.same({ found, found }, { before, count[0] })
    for at = 0, found - 1 do assert.is_true(hits(out[at])) end
    assert.equal(0, out[found])
  end)

  it("does not affect the loop's own sums", function()
    local out, count = rg.field(rg.i32, n), rg.field(rg.i32, 1)
    local sums = rg.kernel(function()
      local all, odd = rg.i32(0), rg.i64(0)
      for i in rg.range(n) do
        all = all + i
        if i % 3 == 0 then out[count:add(0, 1)] = 1 end
        odd = odd + i % 2
      end
      return all, odd
    end)
    local all, odd = sums()
    assert.equal(n * (n - 1) / 2, all)
    assert.equal(math.floor(n / 2), tonumber(odd))
    assert.equal(math.ceil(n / 3), count[0])
  end)

  it("lets the last iteration see what all others wrote before", function()
    local size = os.getenv "RG_ARCH" and 1024 or 65536
    local v, count, ends = rg.field(rg.i32, size), rg.field(rg.i32, 1), rg.field(rg.i32, 4)
    local k = rg.kernel([[function(round: i32)
      for i in rg.range(size) do
        v[i] = round
        if count:add(0, 1) == size - 1 then
          ends[0], ends[1], ends[2], ends[3] = v[0], v[size // 4], v[size // 2], v[size - 1]
        end
      end
    end]], { rg = rg, v = v, count = count, ends = ends, size = size })
    for round = 1, os.getenv "RG_ARCH" and 2 or 200 do
      count[0] = 0
      k(round)
      assert.same({ round, round, round, round }, ends:to_table())
    end
  end)

  it("lets the second of two children see what the first wrote", function()
    local size = os.getenv "RG_ARCH" and 256 or 4096
    local v, seen, bad = rg.field(rg.i32, 2 * size), rg.field(rg.i32, size), rg.field(rg.i32, 1)
    local fit = rg.kernel([[function(round: i32)
      for i in rg.range(size) do seen[i] = 0 end
      for i in rg.range(size) do
        local p = i + size
        v[p] = round
        p = p // 2
        while p >= 1 do
          if seen:add(p, 1) == 0 then break end
          local a, b = v[2 * p], v[2 * p + 1]
          if a ~= round or b ~= round then bad[0] += 1 end
          v[p] = math.max(a, b)
          p = p // 2
        end
      end
    end]], { rg = rg, v = v, seen = seen, bad = bad, size = size })
    for round = 1, 20 do
      fit(round)
      assert.equal(round, v[1])
    end
    assert.equal(0, bad[0])
  end)

  it("orders earlier writes, where that is observable, in LLVM's text #compiled #cpu",
    function()
      local own = rg.new { threads = 2 }
      local v, count = own.field(own.i32, 8), own.field(own.i32, 8)
      local function text(source)
        local k = own.kernel(source, { rg = own, v = v, count = count })
        k()
        return k:llvm()
      end
      local ordered = text [[function()
        for i in rg.range(8) do
          v[i] = i
          if count:add(i // 2, 1) == 1 then v[i // 2] = v[i // 2 * 2 + 1] end
        end
      end]]
      assert.matches("atomicrmw add[^\n]* acq_rel", ordered)
      local update = text [=[function()
        for i in rg.range(8) do count[v[i]] += 1 end
      end]=]
      assert.matches("atomicrmw add[^\n]* monotonic", update)
      assert.is_nil(update:find "acq_rel")
    end)

  it("is not atomic in a tree if one worker runs all tasks, with the same results #compiled #cpu",
    function()
      if (os.getenv "RG_STRESS" or ""):find "shuffle" then return end -- parts run in any order
      local own = rg.new { threads = 1 }
      local at, x, y = own.field(own.i32, n), own.field(own.f32, 16), own.field(own.i32, 16)
      local counts = own.array(own.i32, 16)
      local k = own.kernel(function()
        for i in own.range(n) do
          local j = at[i]
          x[j] = x[j] + 0.5
          if y:compare_exchange(j, 0, i + 1) == 0 then x[j] = x[j] + 100 end
          x[15] = x[15] + y:max(j, i)
        end
      end)
      for i = 0, n - 1 do at[i] = i * i % 15 end
      k()
      local sums, seen, last = {}, {}, 0
      for j = 0, 15 do sums[j], seen[j] = 0, 0 end
      for i = 0, n - 1 do
        local j = i * i % 15
        sums[j] = sums[j] + 0.5
        if seen[j] == 0 then seen[j], sums[j] = i + 1, sums[j] + 100 end
        last, seen[j] = last + seen[j], math.max(seen[j], i)
      end
      for j = 0, 14 do assert.same({ sums[j], seen[j] }, { x[j], y[j] }) end
      assert.equal(last, x[15])
      assert.is_nil(k:llvm():find "atomicrmw" or k:llvm():find "cmpxchg")
      local of_array = own.kernel(function()
        for i in own.range(n) do counts[at[i]] = counts[at[i]] + 1 end
      end)
      of_array()
      assert.matches("atomicrmw", of_array:llvm())
    end)

  it("is counted first, and says so #compiled #cpu", function()
    local x, out, count = rg.field(rg.f32, n), rg.field(rg.i32, n), rg.field(rg.i32, 1)
    local k = rg.kernel(function()
      for i in rg.range(n) do
        if x[i] >= 0 then out[count:add(0, 1)] = i end
      end
    end)
    k()
    assert.equal(n, count[0])
    assert.matches("aggregated atomics", k:explain(), 1, true)
  end)

  it("is staged if other iterations write what decides, each value under its own number", function()
    local size = 3000
    local parent, frontier = rg.field(rg.i32, size), rg.field(rg.i32, size)
    local found, twice = rg.field(rg.i32, size), rg.field(rg.f64, size)
    local count = rg.field(rg.i32, 1)
    local k = rg.kernel(function(many)
      for i in rg.range(many) do
        local u = frontier[i]
        for e = 1, 5 do
          local v = (u * e + 7 * e) % size
          if parent[v] < 0 and parent:compare_exchange(v, -1, u) == -1 then
            local at = count:add(0, 1)
            found[at] = v
            if v % 3 ~= 0 then twice[at] = 2 * v end
          end
        end
      end
    end)
    for i = 0, size - 1 do frontier[i] = i * 17 % size end
    parent:fill(-1)
    k(size)
    local reached, seen = 0, {}
    for v = 0, size - 1 do
      if parent[v] >= 0 then reached = reached + 1 end
    end
    assert.is_true(reached > size / 2)
    assert.equal(reached, count[0])
    for at = 0, reached - 1 do
      local v = found[at]
      assert.is_true(parent[v] >= 0)
      assert.is_nil(seen[v])
      seen[v] = true
      assert.equal(v % 3 ~= 0 and 2 * v or 0, twice[at])
    end
  end)

  it("past the end of the field stores nothing and is counted, also if staged", function()
    local first, out, count = rg.field(rg.i32, 64), rg.field(rg.i32, 10), rg.field(rg.i32, 1)
    local k = rg.kernel(function()
      for i in rg.range(64) do
        if first:max(i, 1) == 0 then out[count:add(0, 1)] = i + 1 end
      end
    end)
    local before = rg.stats().out_of_range
    k()
    assert.equal(64, count[0])
    assert.equal(before + 54, rg.stats().out_of_range)
    for at = 0, 9 do assert.is_true(out[at] >= 1 and out[at] <= 64) end
  end)

  it("is staged by several workers, and says so #compiled #cpu", function()
    local own = rg.new { threads = 4 }
    local best, out, count = own.field(own.i32, 64), own.field(own.i32, n), own.field(own.i32, 1)
    local k = own.kernel(function()
      for i in own.range(n) do
        if best:max(i % 64, i) < i then out[count:add(0, 1)] = i end
      end
    end)
    k()
    assert.matches("stages what it stores", k:explain(), 1, true)
    local seen = {}
    for at = 0, count[0] - 1 do
      assert.is_nil(seen[out[at]])
      seen[out[at]] = true
    end
    own.reset()
  end)
end)

describe("updates under a condition on the colour of the iteration", function()
  -- Each cell of one colour gives 3 to the next row and 1 to the next column.
  it("do not lose a number at the borders between threads", function()
    local n = 96
    local x = rg.field(rg.i32, n, n)
    local fill = rg.kernel(function()
      for i, j in rg.range(n, n) do x[i][j] = 4 * ((i * 31 + j * 17) % 23) end
    end)
    local spread = rg.kernel(function(colour)
      for i, j in rg.range(n, n) do
        if (i + j) % 2 == colour and i > 0 and i < n - 1 and j > 0 and j < n - 1 then
          x[i][j] = x[i][j] - 4
          x[i + 1][j] = x[i + 1][j] + 3
          x[i][j + 1] = x[i][j + 1] + 1
        end
      end
    end)
    local expected = {}
    for i = 0, n - 1 do
      for j = 0, n - 1 do expected[i * n + j] = 4 * ((i * 31 + j * 17) % 23) end
    end
    fill()
    for step = 1, 20 do
      local colour = step % 2
      spread(colour)
      for i = 1, n - 2 do
        for j = 1, n - 2 do
          if (i + j) % 2 == colour then
            local at = i * n + j
            expected[at] = expected[at] - 4
            expected[at + n] = expected[at + n] + 3
            expected[at + 1] = expected[at + 1] + 1
          end
        end
      end
    end
    for i = 0, n - 1 do
      for j = 0, n - 1 do assert.equal(expected[i * n + j], x[i][j]) end
    end
  end)
end)
