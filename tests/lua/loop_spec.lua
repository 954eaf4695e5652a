local support = require "support"
local rg, sparse, visits, visits2, failure = support.rg, support.sparse, support.visits, support.visits2, support.failure

describe("a parallel loop", function()
  it("visits every cell of nested dense levels once", function()
    local x = rg.field(rg.i32)
    rg.root:dense("i", 4):dense("i", 16):dense("i", 8):dense("i", 4):place(x)
    local count = rg.kernel(function() for i in x:active() do x[i] = x[i] + i end end)
    count()
    for i = 0, 2047 do assert.equal(i, x[i]) end
  end)

  it("sums over 13 x 17", function()
    local x = rg.field(rg.i32, 13, 17)
    local fill = rg.kernel(function() for i, j in x:active() do x[i][j] = i + j * j end end)
    fill()
    local expected, sum = 0, 0
    for i = 0, 12 do
      for j = 0, 16 do
        expected = expected + i + j * j
        sum = sum + x[i][j]
      end
    end
    assert.equal(expected, sum)
    assert.equal(13 * 17, visits2(x))
  end)

  it("goes over a single axis that is not the first letter", function()
    local x = rg.field(rg.i32)
    rg.root:dense("k", 100):place(x)
    local sum = rg.kernel(function()
      local s = 0
      for k in x:active() do s = s + k end
      return s
    end)
    assert.equal(4950, sum())
  end)

  it("orders indices by letter, whatever the order of the axes", function()
    local x = rg.field(rg.i32)
    rg.root:dense("ki", 100, 19):place(x)
    assert.equal(19, x.shape[0])
    assert.equal(100, x.shape[1])
    local fill = rg.kernel(function() for i, k in x:active() do x[i][k] = 1000 * i + k end end)
    fill()
    assert.equal(18099, x[18][99])
    assert.equal(1000, x[1][0])
  end)

  it("goes over blocks, whose indices are the block's", function()
    local x, corner = rg.field(rg.i32), rg.field(rg.i32)
    local block = rg.root:dense("ij", 3, 7)
    block:dense("ij", 2, 4):place(x)
    block:place(corner)
    local mark = rg.kernel(function()
      for i, j in corner:active() do
        corner[i][j] = corner[i][j] + 1
        x[2 * i][4 * j] = x[2 * i][4 * j] + 1
      end
    end)
    mark()
    for i = 0, 5 do
      for j = 0, 27 do assert.equal(i % 2 == 0 and j % 4 == 0 and 1 or 0, x[i][j]) end
    end
    assert.equal(1, corner[2][6])
  end)

  it("follows the memory order of the declaration in x:pointer() #compiled", function()
    local x = rg.field(rg.f32)
    rg.root:dense("ji", 4, 8):place(x)
    x[3][2] = 5
    assert.equal(5, x:pointer()[2 * 8 + 3])
    local y = rg.field(rg.i16, 4, 8)
    y[3][2] = -7
    assert.equal(-7, y:pointer()[3 * 8 + 2])
  end)

  it("does nothing over nothing", function()
    local x = rg.field(rg.i32, 10)
    local run = rg.kernel(function(a, b)
      for i in rg.range({ a, b }) do x[i] = x[i] + 1 end
    end)
    run(0, 0)
    run(5, 3)
    for i = 0, 9 do assert.equal(0, x[i]) end
    run(2, 4)
    assert.same({ 0, 0, 1, 1, 0, 0, 0, 0, 0, 0 }, support.list(x))
  end)

  it("takes begin and end, also negative ones", function()
    local sum = rg.kernel(function(a, b)
      local s = 0
      for i in rg.range({ a, b }) do s = s + i end
      return s
    end)
    assert.equal(145, sum(10, 20))
    assert.equal(-5, sum(-3, 3) - 2)
    local sum2 = rg.kernel(function()
      local s = 0
      for i, j in rg.range({ 1, 3 }, 4) do s = s + 10 * i + j end
      return s
    end)
    assert.equal(4 * 30 + 2 * 6, sum2())
  end)

  it("takes bounds from fields", function()
    local bounds = rg.field(rg.i32, 2)
    bounds[0], bounds[1] = 10, 20
    local sum = rg.kernel(function()
      local s = 0
      for i in rg.range({ bounds[0], bounds[1] }) do s = s + i end
      return s
    end)
    assert.equal(145, sum())
  end)

  it("takes a bound that an earlier loop of the kernel computed", function()
    local run = rg.kernel(function(n)
      local count, total = 0, 0
      for i in rg.range(n) do
        count = count + n
        total = total + i
      end
      for i in rg.range(count) do total = total + 1 end
      return total
    end)
    assert.equal(10 * 9 / 2 + 100, run(10))
  end)

  it("ends iterations with continue at every depth", function()
    local run = rg.kernel([=[function()
      local n = 0
      for i in rg.range(4) do
        if i == 1 then continue end
        for j = 0, 3 do
          if j == 2 then continue end
          local k = 0
          while k < 4 do
            k += 1
            if k == 3 then continue end
            n += 1
          end
        end
      end
      return n
    end]=])
    assert.equal(3 * 3 * 3, run())
  end)

  it("carries locals from one loop to the next", function()
    local run = rg.kernel(function()
      local s = 0
      for i in rg.range(10) do s = s + i end
      local copy = s
      for i in rg.range(21) do s = s + copy end
      local last = s + 1
      return last - copy
    end)
    assert.equal(45 * 21 + 1, run())
  end)

  it("sees in later loops all that earlier ones wrote", function()
    local x, y = rg.field(rg.i32, 1000), rg.field(rg.i32, 1000)
    local run = rg.kernel(function()
      for i in rg.range(1000) do x[i] = i end
      for i in rg.range(1000) do y[i] = x[999 - i] end
      for i in rg.range(1000) do x[i] = y[i] + x[i] end
    end)
    run()
    for i = 0, 999 do assert.equal(999, x[i]) end
  end)

  it("works in host-side control flow", function()
    local x = rg.field(rg.i32, 64)
    local run = rg.kernel(function(rounds, limit)
      local total = 0
      for r = 1, rounds do
        for i in rg.range(64) do x[i] = x[i] + r end
      end
      while total < limit do
        for i in rg.range(64) do total = total + x[i] end
      end
      if total > 1000000 then
        for i in rg.range(64) do x[i] = 0 end
      end
      return total
    end)
    assert.equal(6 * 64 * 3, run(3, 1000))
    assert.equal(6, x[63])
  end)

  it("reads fields and reductions on the host side, until a residual is small", function()
    local x = rg.field(rg.f64, 100)
    x:fill(1)
    local solve = rg.kernel(function(limit)
      local rounds, residual = 0, limit + 1.0
      while residual > limit do
        for i in rg.range(100) do x[i] = 0.5 * x[i] end
        local sum = 0.0
        for i in rg.range(100) do sum = sum + x[i] end
        residual = sum
        rounds = rounds + 1
      end
      return rounds
    end)
    assert.equal(7, solve(1))
    assert.is_near(2 ^ -7, x[50], 1e-12)
  end)

  it("inside another one is serial", function()
    local x = rg.field(rg.i32, 8, 8)
    local run = rg.kernel(function()
      for i in rg.range(8) do
        local s = 0
        for j in rg.range(8) do
          s = s + j
          x[i][j] = s
        end
      end
    end)
    run()
    for i = 0, 7 do
      for j = 0, 7 do assert.equal(j * (j + 1) / 2, x[i][j]) end
    end
  end)

  it("can be serial, with break", function()
    local run = rg.kernel(function()
      local last = 0
      for i in rg.range(100):serial() do
        if i == 50 then break end
        last = last + 1
      end
      return last
    end)
    assert.equal(50, run())
  end)

  it("lets serial loops inside break", function()
    local x = rg.field(rg.i32, 16)
    local run = rg.kernel(function()
      for i in rg.range(16) do
        local n = 0
        for k = 1, 1000 do
          if k > 100 + i then break end
          n = n + 1
        end
        while true do
          n = n + 1
          if n >= 200 then break end
        end
        x[i] = n
      end
    end)
    run()
    for i = 0, 15 do assert.equal(200, x[i]) end
  end)

  it("takes a block size and the promise of independence", function()
    local x = rg.field(rg.i32, 10000)
    local run = rg.kernel(function()
      for i in rg.range(10000):block(128) do x[i] = i end
      for i in x:active():block(7) do x[i] = x[i] + 1 end
      for i in rg.range(10000):independent() do x[9999 - i] = x[9999 - i] + 1 end
    end)
    run()
    for i = 0, 9999, 37 do assert.equal(i + 2, x[i]) end
  end)

  it("keeps updates of one element in serial loops apart from its reads", function()
    local p, q = rg.field(rg.i32, 4), rg.field(rg.i32, 1)
    local run = rg.kernel(function()
      for n in rg.range(4) do
        for _ = 1, 3 do p[n] = p[n] + 1 end
        p[n] = p[n] + 1
      end
      q[0] = p[2]
    end)
    run()
    assert.equal(4, q[0])
  end)

  it("visits a field of another size of leaf and depth alike", function()
    for _, shape in ipairs { { 1, 1 }, { 2, 3 }, { 16, 1 }, { 1, 16 }, { 5, 64 } } do
      local x = sparse(rg.i32, "i", shape[1], shape[2])
      x[0] = 1
      assert.equal(shape[2], visits(x))
    end
  end)

  it("is fine over more cells than 32 bits count, as long as few exist", function()
    local x, block = sparse(rg.u8, "i", 2 ^ 20, 2 ^ 13)
    local far = 2 ^ 33 - 1
    x[far] = 7
    assert.equal(7, x[far])
    assert.equal(1, block:count())
    local sum = rg.kernel(function()
      local s = 0LL
      for i in x:active() do s = s + i end
      return s
    end)
    local first = 2 ^ 33 - 2 ^ 13
    assert.equal(2 ^ 13 * (first + far) / 2, tonumber(sum()))
  end)
end)

describe("rg.range", function()
  it("iterates in plain Lua too", function()
    local seen = {}
    for i, j in rg.range(2, { 1, 3 }) do seen[#seen + 1] = ("%d%d"):format(i, j) end
    assert.same({ "01", "02", "11", "12" }, seen)
    for _ in rg.range(0) do error "visited" end
    for _ in rg.range({ 3, 1 }, 2) do error "visited" end
  end)

  it("starts anew after a break", function()
    local range, n = rg.range(4), 0
    assert.equal(0, (range()))
    for _ in range:serial() do n = n + 1 end
    assert.equal(4, n)
  end)

  it("takes whole numbers only", function()
    assert.equal("argument.invalid", failure(rg.range, 1.5).code)
    assert.equal("argument.invalid", failure(rg.range, "ten").code)
    assert.equal("argument.invalid", failure(rg.range).code)
  end)
end)

describe("a bound of a range that is a float", function()
  local function count(x, i)
    return rg.kernel(function()
      local s = 0
      for _ in rg.range(x[i]) do s = s + 1 end
      return s
    end)()
  end

  local function with(...)
    local x = rg.field(rg.f64, select("#", ...))
    for k, v in ipairs { ... } do x[k - 1] = v end
    return x
  end

  it("is taken where it is whole", function()
    assert.same({ 6, 0, 0 }, { count(with(6), 0), count(with(-3), 0), count(with(-0.0), 0) })
  end)

  it("is an error of the launch, which names the use, where it is not", function()
    for _, value in ipairs { 2.5, 0 / 0, 1 / 0, -1 / 0, 2 ^ 31, -2 ^ 31 - 1 } do
      local err = failure(count, with(value), 0)
      assert.equal("value.fit", err.code)
      assert.truthy(err.line and err.message:find(value ~= value and "nan" or ("%.14g"):format(value), 1, true))
    end
    assert.equal(0, count(with(-2 ^ 31), 0))
  end)

  it("ends the launch inside a parallel loop too, and the next one runs", function()
    local x, y = with(2, 3, 0.5, 4), rg.field(rg.i32, 4)
    local k = rg.kernel(function()
      for i in rg.range(4) do
        for _ in rg.range({ 1, x[i] }) do y[i] = y[i] + 1 end
      end
    end)
    assert.equal("value.fit", failure(k).code)
    x[2] = 5
    y:fill(0)
    k()
    assert.same({ 1, 2, 4, 3 }, y:to_table())
  end)

  it("is an integer where it is a live number", function()
    local n = 4
    local k = rg.kernel(function()
      local s = 0
      for _ in rg.range(n) do s = s + 1 end
      return s
    end)
    assert.equal(4, k())
    n = 4.5
    assert.equal("value.fit", failure(k).code)
  end)
end)
