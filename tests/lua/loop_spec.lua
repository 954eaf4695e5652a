--- Loops: the cells that they visit, their indices, their order, and the values that pass from one
--- loop to the next.
local support = require "support"
local rg, sparse, visits, failure = support.rg, support.sparse, support.visits, support.failure

describe("a loop over the active cells of a dense field", function()
  it("visits every cell of one axis", function()
    local x = rg.field(rg.i32, 128)
    local fill = rg.kernel(function()
      for i in x:active() do x[i] = i end
    end)
    fill()
    for i = 0, 127 do assert.equal(i, x[i]) end
  end)

  it("visits every cell through nested dense levels", function()
    local shapes = { { 4, 16, 8, 4 }, { 3, 5, 7 }, { 1, 9, 1 } }
    for _, sizes in ipairs(shapes) do
      local x, node, count = rg.field(rg.i32), rg.root, 1
      for _, size in ipairs(sizes) do
        node = node:dense("i", size)
        count = count * size
      end
      node:place(x)
      local fill = rg.kernel(function()
        for i in x:active() do x[i] = 3 * i + 1 end
      end)
      fill()
      assert.equal(count, #x)
      for i = 0, count - 1, 5 do assert.equal(3 * i + 1, x[i]) end
    end
  end)

  it("visits five levels of two axes", function()
    local x, node = rg.field(rg.i32), rg.root
    for _ = 1, 5 do node = node:dense("ij", 4) end
    node:place(x)
    local fill = rg.kernel(function()
      for i, j in x:active() do x[i][j] = i + 7 * j end
      local wrong = 0
      for i, j in rg.range(1024, 1024) do
        if x[i][j] ~= i + 7 * j then wrong = wrong + 1 end
      end
      return wrong
    end)
    assert.equal(0, fill())
    assert.equal(1023 * 8, x[1023][1023])
  end)

  it("visits four levels of three axes", function()
    local x, node = rg.field(rg.i32), rg.root
    for _, size in ipairs { 4, 4, 4, 2 } do node = node:dense("ijk", size) end
    node:place(x)
    local fill = rg.kernel(function()
      for i, j, k in x:active() do x[i][j][k] = i + 131 * j + 17 * k end
      local wrong = 0
      for i, j, k in rg.range(128, 128, 128) do
        if x[i][j][k] ~= i + 131 * j + 17 * k then wrong = wrong + 1 end
      end
      return wrong
    end)
    assert.equal(0, fill())
  end)

  it("visits exactly 13 x 17 cells", function()
    local x = rg.field(rg.i32, 13, 17)
    local sum = rg.kernel(function()
      local n, s = 0, 0
      for i, j in x:active() do
        n = n + 1
        s = s + i + j * j
      end
      x[0][0] = n
      return s
    end)
    local expected = 0
    for i = 0, 12 do
      for j = 0, 16 do expected = expected + i + j * j end
    end
    assert.equal(expected, sum())
    assert.equal(221, x[0][0])
  end)

  it("visits the one element of a field without axes once", function()
    local x = rg.field { type = rg.i32, shape = {} }
    local add = rg.kernel(function()
      for i in rg.range(10) do x[0] = x[0] + i end
      for _ in x:active() do x[0] = x[0] + 100 end
    end)
    add()
    assert.equal(145, x:get())
    assert.equal(145, x[0])
  end)

  it("takes a field of one axis that is not the first", function()
    local x = rg.field(rg.i32)
    rg.root:dense("k", 100):place(x)
    local sum = rg.kernel(function()
      local s = 0
      for k in x:active() do s = s + k end
      return s
    end)
    assert.equal(4950, sum())
  end)

  it("orders its indices by axis, not by declaration", function()
    local x = rg.field(rg.i32)
    rg.root:dense("ki", 100, 19):place(x)
    assert.same({ 19, 100 }, { x.shape[0], x.shape[1] })
    local fill = rg.kernel(function()
      local widest, longest = 0, 0
      for i, k in x:active() do
        x[i][k] = 1000 * i + k
        widest = math.max(widest, i)
        longest = math.max(longest, k)
      end
      return 1000 * widest + longest
    end)
    assert.equal(18099, fill())
    assert.equal(18099, x[18][99])
    assert.equal(3042, x[3][42])
  end)

  it("visits the parents of leaves once each", function()
    for _, kind in ipairs { "dense", "pointer" } do
      local x = rg.field(rg.i32)
      local block = rg.root[kind](rg.root, "ij", 3, 7)
      block:dense("ij", 2, 4):place(x)
      for i = 0, 2 do
        for j = 0, 6 do x[2 * i + 1][4 * j + 3] = 5 end
      end
      local corners = rg.kernel(function()
        for i, j in block:active() do x[2 * i][4 * j] = x[2 * i][4 * j] + 1 end
      end)
      corners()
      for i = 0, 5 do
        for j = 0, 27 do
          local expected = 0
          if i % 2 == 0 and j % 4 == 0 then expected = 1 end
          if i % 2 == 1 and j % 4 == 3 then expected = 5 end
          assert.equal(expected, x[i][j])
        end
      end
    end
  end)

  it("is serial inside another parallel loop", function()
    local x, total = rg.field(rg.i32, 20), rg.field(rg.i32, 6)
    local fill = rg.kernel(function()
      for i in x:active() do x[i] = i end
      for k in rg.range(6) do
        local s = 0
        for i in x:active() do s = s + x[i] end
        for i in rg.range(k) do s = s + i end
        total[k] = s
      end
    end)
    fill()
    assert.same({ 190, 190, 191, 193, 196, 200 }, total:to_table())
  end)

  it("visits the cells of a field above the leaves, whose indices are the block's", function()
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

  it("visits leaves of one cell, and blocks of one leaf", function()
    for _, shape in ipairs { { 1, 1 }, { 2, 3 }, { 16, 1 }, { 1, 16 }, { 5, 64 } } do
      local x = sparse(rg.i32, "i", shape[1], shape[2])
      x[0] = 1
      assert.equal(shape[2], visits(x))
    end
  end)
end)

describe("a loop over a range", function()
  it("takes up to four axes, each with its begin and end", function()
    local sum = rg.kernel(function(n)
      local count, weight = 0, 0
      for i, j in rg.range({ 2, 5 }, { -1, 3 }) do
        count = count + 1
        weight = weight + 10 * i + j
      end
      for i, j, k, l in rg.range(2, { 1, 3 }, 2, n) do
        count = count + 1
        weight = weight + i + 10 * j + 100 * k + 1000 * l
      end
      return count * 100000 + weight
    end)
    local weight = 4 * 10 * (2 + 3 + 4) + 3 * (-1 + 0 + 1 + 2) + 12 + 24 * 15 + 24 * 50 + 24 * 1000
    assert.equal((12 + 24) * 100000 + weight, sum(3))
  end)

  it("has no iterations when it ends before it begins", function()
    local x = rg.field(rg.i32, 10)
    x:fill(7)
    local nothing = rg.kernel(function(n)
      for i in rg.range(0) do x[i] = 1 end
      for i in rg.range(-5) do x[i] = 1 end
      for i in rg.range({ 5, 2 }) do x[i] = 1 end
      for i in rg.range({ n, n }) do x[i] = 1 end
      for i, j in rg.range(5, n - 3) do x[i + j] = 1 end
      for i in rg.range(10) do
        for j = 1, 0 do x[i + j] = 1 end
        for j = n, n + 3, -1 do x[i + j] = 1 end
      end
    end)
    nothing(3)
    for i = 0, 9 do assert.equal(7, x[i]) end
  end)

  it("takes its bounds from arguments, locals and fields", function()
    local bounds = rg.field(rg.i32, 2)
    bounds[0], bounds[1] = 10, 20
    local sum = rg.kernel(function(first)
      local s = 0
      for i in rg.range({ bounds[0], bounds[1] }) do s = s + i end
      local last = bounds[1]
      for i in rg.range({ first, last }) do s = s + i end
      return s
    end)
    assert.equal(145 + 145, sum(10))
    assert.equal(145 + 190 - 15, sum(-5))
  end)

  it("takes bounds that an earlier loop of the kernel computed", function()
    local x, length = rg.field(rg.i32, 64), rg.field(rg.i32, 1)
    local chain = rg.kernel(function(n)
      length[0] = 0
      for _ in rg.range(n) do length[0] = length[0] + 1 end
      for i in rg.range(length[0]) do x[i] = i + n end
      local total = 0
      for i in rg.range(64) do total = total + x[i] end
      return total
    end)
    assert.equal(20 * 19 / 2 + 20 * 20, chain(20))
  end)

  it("gives each cell of a coarse grid the cells of a fine one", function()
    local coarse, fine = rg.field(rg.i32, 4, 4), rg.field(rg.i32, 16, 16)
    local gather = rg.kernel(function()
      for i, j in fine:active() do
        local a, b = math.floor(i / 4), math.floor(j / 4) -- the indices of an update call nothing
        coarse[a][b] = coarse[a][b] + 1
      end
      for i, j in coarse:active() do fine[4 * i][4 * j] = 10 * i + j + 1 end
    end)
    gather()
    for i = 0, 15 do
      for j = 0, 15 do
        local corner = i % 4 == 0 and j % 4 == 0
        assert.equal(corner and 10 * i / 4 + j / 4 + 1 or 0, fine[i][j])
      end
    end
    for i = 0, 3 do
      assert.same({ 16, 16, 16, 16 }, { coarse[i][0], coarse[i][1], coarse[i][2], coarse[i][3] })
    end
  end)

  it("has the same result under every adjustment", function()
    local x = rg.field(rg.i32, 1000)
    local variants = {
      rg.kernel(function() for i in rg.range(1000) do x[i] = x[i] + i end end),
      rg.kernel(function() for i in rg.range(1000):serial() do x[i] = x[i] + i end end),
      rg.kernel(function() for i in rg.range(1000):block(7) do x[i] = x[i] + i end end),
      rg.kernel(function() for i in rg.range(1000):independent() do x[i] = x[i] + i end end),
      rg.kernel(function() for i in x:active():block(3) do x[i] = x[i] + i end end),
    }
    for round, variant in ipairs(variants) do
      variant()
      for i = 0, 999, 37 do assert.equal(round * i, x[i]) end
    end
  end)

  it("may have a sum of an earlier loop of the kernel as its bound", function()
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

  it("is serial and in order inside another one", function()
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
end)

describe("serial control flow", function()
  it("leaves numeric loops, whiles and repeats with break", function()
    local found = rg.field(rg.i32, 5)
    local search = rg.kernel(function()
      for k in rg.range(5) do
        local n = 0
        if k == 0 then
          for i = 0, 1000 do
            if i * i >= 10000 then break end
            n = i + 1
          end
        elseif k == 1 then
          while true do
            n = n + 1
            if n == 50 then break end
          end
        elseif k == 2 then
          repeat
            local next_n = n + 7
            n = next_n
          until next_n > 50
        elseif k == 3 then
          for i = 0, 9 do
            for j = 0, 9 do
              if j > i then break end
              n = n + 1
            end
          end
        else
          for i in rg.range(100) do
            if i == 60 then break end
            n = n + 1
          end
        end
        found[k] = n
      end
    end)
    search()
    assert.same({ 100, 50, 56, 55, 60 }, found:to_table())
  end)

  it("breaks out of a loop that is made serial", function()
    local x = rg.field(rg.i32, 100)
    local stop = rg.kernel(function()
      for i in rg.range(100):serial() do
        if i == 50 then break end
        x[i] = x[i] + 1
      end
      local n = 0
      for i in rg.range(100) do n = n + x[i] end
      return n
    end)
    assert.equal(50, stop())
    assert.same({ 1, 0 }, { x[49], x[50] })
  end)

  it("gives the index of one axis by :vec() as a number, whatever it is over", function()
    local x = rg.field(rg.i32, 4)
    rg.kernel([[function()
      for I in x:active():vec() do x[I] = I + 1 end
      for I in rg.range(4):vec() do x[I] += 10 * I end
    end]], { x = x })()
    assert.same({ 1, 12, 23, 34 }, x:to_table())
  end)

  it("accepts each adjustment only once", function()
    for _, twice in ipairs { ":vec():vec()", ":serial():vec():serial()", ":block(2):block(4)" } do
      local ok, e = pcall(rg.kernel("function() for i in rg.range(4)" .. twice .. " do end end"))
      assert.is_false(ok)
      assert.matches("this loop has ':%a+%(%)' twice", e.message)
    end
  end)

  it("refuses break and return in a parallel loop", function()
    for _, word in ipairs { "break", "return", "return 1" } do
      local ok, refused = pcall(function()
        rg.kernel(("function() for i in rg.range(10) do if i == 5 then %s end end end"):format(
          word))()
      end)
      assert.is_false(ok)
      assert.is_truthy(refused.code == "loop.invalid" or refused.code == "return.invalid")
    end
  end)

  it("continues at every depth", function()
    local x = rg.field(rg.i32, 40)
    local odd = rg.kernel([[function()
      for i in rg.range(40) do
        if i % 2 == 0 then continue end
        for j = 0, 5 do
          if j == 1 then continue end
          local k = 0
          while k < 4 do
            k += 1
            if k == 2 then continue end
            x[i] += 1
          end
          local m = 0
          repeat
            m += 1
            if m == 1 then continue end
            x[i] += 100
          until m >= 3
        end
      end
    end]], { x = x })
    odd()
    for i = 0, 39 do assert.equal(i % 2 == 0 and 0 or 5 * (3 + 200), x[i]) end
  end)

  it("takes a goto to the end of a loop's body for 'continue'", function()
    local x = rg.field(rg.i32, 8)
    rg.kernel(function()
      for i in rg.range(8) do
        if i % 2 == 0 then goto continue end
        for j = 0, 3 do
          if j == 1 then goto next end
          x[i] = x[i] + 1
          ::next::
        end
        local m = 0
        repeat
          m = m + 1
          if m == 1 then goto continue end
          x[i] = x[i] + 100
          ::continue::
        until m >= 3
        ::continue::
      end
    end)()
    for i = 0, 7 do assert.equal(i % 2 == 0 and 0 or 203, x[i]) end
    for text, message in pairs {
      ["for k = 1, 2 do for j = 1, 2 do goto out end ::out:: end"] = "goto",
      ["for k = 1, 2 do goto back local a = 1 ::back:: end"] = "nothing may follow 'goto'",
      ["repeat goto on local m = 1 ::on:: until m"] = "nothing may follow 'goto'",
      ["repeat if x[0] > 1 then goto on end local m = 1 ::on:: until m > 0"] = "m",
    } do
      local ok, refused = pcall(function()
        rg.kernel("function() " .. text .. " end", { x = x })()
      end)
      assert.is_false(ok)
      assert.is_truthy(refused.message:find(message, 1, true), refused.message)
    end
  end)

  it("counts as Lua's numeric for does", function()
    local out = rg.field(rg.i32, 7)
    local count = rg.kernel(function(low, high, step)
      for k in rg.range(7) do
        local n = 0
        if k == 0 then for i = low, high do n = n + i end end
        if k == 1 then for i = low, high, step do n = n + i end end
        if k == 2 then for i = high, low, -step do n = n + i end end
        if k == 3 then for i = 2147483645, 2147483647 do n = n + (i - 2147483640) end end
        if k == 4 then for i = -2147483646, -2147483648, -1 do n = n + (i + 2147483640) end end
        if k == 5 then for x = 0.0, 1.0, 0.25 do n = n + rg.i32(x * 4) end end
        if k == 6 then
          local top = 3
          for i = 1, top do
            top = 10
            n = n + i
          end
          n = n + top
        end
        out[k] = n
      end
    end)
    count(1, 10, 3)
    assert.same({ 55, 22, 22, 5 + 6 + 7, -6 - 7 - 8, 10, 16 }, out:to_table())
  end)

  it("keeps the outer variable when an inner one has its name", function()
    local x = rg.field(rg.i32, 4)
    local shadow = rg.kernel([[function()
      for i in rg.range(4) do
        local n = i
        do
          local n = 100
          n = n + 1
        end
        for n = 1, 3 do x[i] += n end
        x[i] += 10 * n
      end
    end]], { x = x })
    shadow()
    assert.same({ 6, 16, 26, 36 }, x:to_table())
  end)

  it("runs ifs and whiles around parallel loops in the host region", function()
    local x, residual = rg.field(rg.f32, 16), rg.field(rg.f32, 1)
    local solve = rg.kernel(function(tolerance)
      local rounds = 0
      for i in rg.range(16) do x[i] = 1024 end
      residual[0] = 1024
      while residual[0] > tolerance do
        for i in rg.range(16) do x[i] = x[i] / 2 end
        local worst = 0
        for i in rg.range(16) do worst = math.max(worst, x[i]) end
        residual[0] = worst
        rounds = rounds + 1
      end
      if rounds % 2 == 0 then
        for i in rg.range(16) do x[i] = -1 end
      end
      return rounds
    end)
    assert.equal(9, solve(2))
    assert.equal(2, x[7])
    assert.equal(10, solve(1))
    assert.equal(-1, x[7])
  end)

  it("runs a numeric for around parallel loops in order", function()
    local x = rg.field(rg.i32, 8)
    local steps = rg.kernel(function(n)
      for step = 1, n do
        for i in rg.range(8) do x[i] = 10 * x[i] + step end
        if step == 4 then break end
      end
    end)
    steps(3)
    assert.equal(123, x[5])
    x:fill(0)
    steps(9)
    assert.equal(1234, x[0])
  end)

  it("repeats parallel loops until their sum is small", function()
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
end)

describe("a numeric for between numbers of the launch", function()
  local count = "local s = 0 for i = lo, hi do s = s + i end return s"

  it("is over integers as long as these are whole, and over floats from then on", function()
    local own = rg.new { arch = rg.info().arch, cache = false }
    local lo, hi = 1, 6000
    local sum = own.kernel("function() " .. count .. " end", setmetatable({},
      { __index = function(_, name) return name == "lo" and lo or name == "hi" and hi or nil end }))
    assert.equal(18003000, sum())
    lo, hi = 3, 4
    assert.equal(7, sum())
    assert.equal(1, own.stats().compiles)
    lo, hi = 0.5, 3
    assert.equal(4.5, sum())
    lo, hi = 1, 3
    assert.equal(6, sum())
    assert.equal(2, own.stats().compiles)
  end)

  it("counts past 2^24 and past 2^31, and stops before an end that is not whole", function()
    local text = "function(lo, hi) local n = 0 for i = lo, hi do n = n + 1 end return n end"
    assert.equal(11, rg.kernel(text)(16777210, 16777220))
    assert.equal(3, rg.kernel(text)(2 ^ 31 + 5, 2 ^ 31 + 7))
    assert.equal(6, rg.kernel(text)(1, 6.5))
  end)

  it("finds its bounds through locals, sums, helpers and loops around it", function()
    local nested = rg.kernel("local function f(u, v) " .. [[local s = 0
        for i = u, v do for j = i + 1, v, 1 do s = s + j end end return s end
      function(lo, hi) local from = lo + 1 return f(from, hi - 1), f(0.5, hi) end]])
    assert.same({ 26, 62.5 }, { nested(1, 5 + 1) })
    local steps = rg.kernel("function(d) local n = 0 for t = 0, 1, d do n = n + 1 end return n end")
    assert.same({ 2, 5, 3 }, { steps(1), steps(0.25), steps(0.5) })
  end)
end)

describe("data that passes from loop to loop", function()
  it("is carried by locals of the kernel", function()
    local out = rg.field(rg.i32, 4)
    local carry = rg.kernel(function()
      local a = 0
      for i in rg.range(10) do a = a + i end
      out[0] = a
      local copy = 1
      for _ in rg.range(21) do out[1] = out[1] + a end
      for _ in rg.range(5) do
        local own = copy
        own = own + 7
        out[2] = math.max(out[2], own - 7)
      end
      a = a + 1
      out[3] = a
      return copy
    end)
    assert.equal(1, carry())
    assert.same({ 45, 45 * 21, 1, 46 }, out:to_table())
  end)

  it("includes everything that the earlier loops wrote", function()
    local x, y = rg.field(rg.i32, 1000), rg.field(rg.i32)
    rg.root:pointer("i", 50):dense("i", 20):place(y)
    local pipeline = rg.kernel(function()
      for i in rg.range(1000) do x[i] = i end
      for i in rg.range(1000) do y[999 - i] = x[i] end
      for i in y:active() do x[i] = y[i] end
      local wrong = 0
      for i in x:active() do
        if x[i] ~= 999 - i then wrong = wrong + 1 end
      end
      return wrong
    end)
    assert.equal(0, pipeline())
  end)

  it("is right for an element that an inner loop changes under another name", function()
    local p, q = rg.field(rg.i32, 4), rg.field(rg.i32, 4)
    local nested = rg.kernel(function(a, b, n)
      for _ in rg.range(1) do
        for _ = 1, 3 do
          a[n] = a[n] + 1
          for _ = 1, 2 do b[n] = b[n] + a[n] end
        end
        a[n] = a[n] + 1
      end
    end)
    nested(p, q, 2)
    assert.same({ 4, 12 }, { p[2], q[2] })
    nested(p, p, 1)
    -- 1+1, then twice doubled, three times over, and one more
    local expected = 0
    for _ = 1, 3 do
      expected = expected + 1
      expected = 4 * expected
    end
    assert.equal(expected + 1, p[1])
  end)

  it("includes what serial loops of an iteration wrote to an element", function()
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
end)

describe("rg.range", function()
  it("iterates in plain Lua too", function()
    local seen = {}
    for i, j in rg.range(2, { 1, 3 }) do seen[#seen + 1] = ("%d%d"):format(i, j) end
    assert.same({ "01", "02", "11", "12" }, seen)
    for _ in rg.range(0) do error "visited" end
    for _ in rg.range({ 3, 1 }, 2) do error "visited" end
  end)

  it("starts over after a break", function()
    local range, n = rg.range(4), 0
    assert.equal(0, (range()))
    for _ in range:serial() do n = n + 1 end
    assert.equal(4, n)
  end)

  it("accepts only whole numbers", function()
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

  it("is accepted if it is whole", function()
    assert.same({ 6, 0, 0 }, { count(with(6), 0), count(with(-3), 0), count(with(-0.0), 0) })
  end)

  it("is an error of the launch that names the use, if it is not whole", function()
    for _, value in ipairs { 2.5, 0 / 0, 1 / 0, -1 / 0, 2 ^ 31, -2 ^ 31 - 1 } do
      local err = failure(count, with(value), 0)
      assert.equal("value.fit", err.code)
      assert.truthy(err.line and err.message:find(value ~= value and "nan" or ("%.14g"):format(
        value), 1, true))
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

  it("is an integer if it is a captured number", function()
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

describe("a serial loop of which only some iterations have an effect", function()
  -- The positive numbers of each block go to its begin.
  local function compact(body)
    local n = 4096
    local x, kept = rg.field(rg.f32, n), rg.field(rg.f32, n)
    for i = 0, n - 1 do x[i] = (i * 7919) % 1009 - 700 end
    local k = rg.kernel(([=[function()
      for b in rg.range(4) do
        local at = b * 1024
        for k = b * 1024, b * 1024 + 1000 do
          if x[k] > 0 then
            BODY
            at = at + 1
          end
        end
      end
    end]=]):gsub("BODY", body), { x = x, kept = kept })
    for _ = 1, 2 do k() end
    return k, x:to_table(), kept:to_table()
  end
  local function expected(shift)
    local x, kept = {}, {}
    for i = 0, 4095 do x[i], kept[i] = (i * 7919) % 1009 - 700, 0 end
    for _ = 1, 2 do
      for b = 0, 3 do
        local at = b * 1024
        for k = b * 1024, b * 1024 + 1000 do
          if x[k] > 0 then
            kept[at] = x[k]
            if shift then x[k + 3] = x[k + 3] - 600 end
            at = at + 1
          end
        end
      end
    end
    return x, kept
  end
  local function same(wanted, got)
    for i = 0, 4095 do assert.equal(wanted[i], got[i + 1]) end
  end

  it("has their effects in order, where lanes find them", function()
    local k, _, kept = compact "kept[at] = x[k]"
    local _, wanted = expected(false)
    same(wanted, kept)
    local is_forced = (os.getenv "RG_STRESS" or ""):find "force_lanes"
    if rg.info().arch == "cpu" and not is_forced then
      assert.matches("take the branch", k:explain())
    end
  end)

  it("compares with what earlier iterations have written", function()
    local k, x, kept = compact "kept[at] = x[k] x[k + 3] = x[k + 3] - 600"
    local changed, wanted = expected(true)
    same(wanted, kept)
    same(changed, x)
    assert.is_nil(k:explain():find("take the branch", 1, true))
  end)
end)

describe("a loop that is never reached", function()
  it("does nothing, although its accesses have bounds", function()
    local x = rg.field(rg.i32, 64)
    assert.equal(11, rg.kernel([=[function()
      local k = 0
      repeat
        k = k + 1
        if k == k then return 11 end
      until k >= 2
      for i in rg.range(64) do x[i] = x[i] + 1 end
      return 12
    end]=], { x = x })())
    assert.equal(0, x[5])
  end)
end)
