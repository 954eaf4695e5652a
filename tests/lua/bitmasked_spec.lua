--- Bitmasked nodes: dense cells that are always allocated, and that become active one by one.
local rg = require "regolith"
local support = require "support"

local visits = support.visits

local sum_and_visits = rg.kernel(function(x)
  local s, n = 0, 0
  for i in x:active() do
    s = s + x[i]
    n = n + 1
  end
  return s, n
end)

local function under(node, t)
  local x = rg.field(t or rg.i32)
  node:place(x)
  return x
end

describe("a bitmasked node", function()
  it("is counted by kernels, also in loops and conditions, below any other level", function()
    local function check(node, last, step)
      local x, expected = under(node), 0
      for i = 0, last, step do x[i], expected = 1, expected + 1 end
      local found, all, more = rg.kernel(function(m)
        local n, sum, more = node:count(), 0, false
        for _ = 1, m do sum = sum + node:count() end
        if node:count() > 3 then more = true end
        return n, sum, more
      end)(3)
      assert.same({ expected, 3 * expected, true },
        { tonumber(found), tonumber(all), more })
    end
    check(rg.tree():bitmasked("i", 1000), 999, 7)
    check(rg.tree():pointer("i", 10):bitmasked("i", 100), 999, 7)
    check(rg.tree():bitmasked("i", 10):bitmasked("i", 100), 999, 7)
    check(rg.tree():dense("i", 10):bitmasked("i", 100), 999, 7)
    check(rg.tree():hash("i"):bitmasked("i", 8), 999, 7)
  end)

  it("shows a number that another iteration deactivates either whole or as zero", function()
    local x = under(rg.root:pointer("ij", 8):bitmasked("ij", 8))
    local fill = rg.kernel(function() for i, j in rg.range(64, 64) do x[i][j] = -1 end end)
    local broken = rg.kernel(function()
      local n = 0
      for i, j in x:active() do
        for k = 1, 4 do
          local other = x[(i + k) % 64][(j - 1) % 64]
          if other ~= 0 and other ~= -1 then n = n + 1 end
        end
        x:deactivate(i, j)
      end
      return n
    end)
    for _ = 1, 2 do
      fill()
      assert.equal(0, broken())
      assert.equal(0, x:count())
    end
  end)

  it("visits the cells that were written, in every nesting", function()
    for _, declare in ipairs {
      function() return rg.root:bitmasked("i", 300) end,
      function() return rg.root:pointer("i", 10):bitmasked("i", 30) end,
      function() return rg.root:bitmasked("i", 10):bitmasked("i", 30) end,
      function() return rg.root:bitmasked("i", 3):pointer("i", 5):bitmasked("i", 20) end,
      function() return rg.root:dense("i", 3):bitmasked("i", 100, { layout = "aos" }) end,
    } do
      local x = under(declare())
      x[0], x[63], x[64], x[299] = 1, 2, 3, 4
      assert.same({ 10, 4 }, { sum_and_visits(x) })
      assert.equal(4, x:count())
      local met = {}
      for i, v in pairs(x) do met[#met + 1] = i .. "=" .. v end
      assert.equal("0=1 63=2 64=3 299=4", table.concat(met, " "))
    end
  end)

  it("has cells of many shapes below each of its cells", function()
    local node = rg.root:bitmasked("ij", 3, 6)
    local x = under(node:bitmasked("i", 8))
    x[5][1], x[9][4], x[0][3] = 2, 20, 20
    local sum, count, asked = rg.kernel(function()
      local s, c, a = 0, 0, 0
      for i, j in x:active() do
        s = s + x[i][j]
        c = c + 1
        if x:is_active(i, j) then a = a + 1 end
      end
      return s, c, a
    end)()
    assert.same({ 42, 3, 3 }, { sum, count, asked })
    assert.equal(3, node:count())
  end)

  it("activates and deactivates the dense cells below it together", function()
    local node = rg.root:bitmasked("i", 128)
    local x = under(node:dense("i", 128))
    x[0], x[127], x[256], x[257] = 1, 1, 1, 1
    assert.equal(256, visits(x))
    assert.equal(256, x:count())
    local y = under(rg.root:bitmasked("i", 128):bitmasked("i", 128))
    y[0], y[127], y[256], y[257] = 1, 1, 1, 1
    assert.equal(4, visits(y))
  end)

  it("visits every 32nd of a million cells", function()
    local x = under(rg.root:bitmasked("ij", 32, 64):bitmasked("ij", 32))
    rg.kernel(function()
      for i, j in rg.range(1024, 2048) do
        if (i * 2048 + j) % 32 == 0 then x[i][j] = 1 end
      end
    end)()
    assert.equal(65536, support.visits2(x))
    assert.equal(65536, x:count())
  end)

  it("ends at its size, also in the middle of a word", function()
    local x = under(rg.root:dense("ij", 80, 173):bitmasked("ij", 1))
    rg.kernel(function() for i, j in rg.range(80, 173) do x[i][j] = i + j end end)()
    assert.equal(80 * 173, support.visits2(x))
    local y = under(rg.root:bitmasked("ij", 10))
    rg.kernel(function() for i, j in rg.range(10, 10) do y[i][j] = 1 end end)()
    assert.equal(100, support.visits2(y))
  end)

  it("toggles bits without disturbing their neighbours on many threads", function()
    local node = rg.root:bitmasked("i", 256)
    local x = under(node)
    local toggle = rg.kernel(function(on)
      for i in rg.range(256):block(1) do
        if i % 2 == on then x[i] = i else node:deactivate(i) end
      end
    end)
    for round = 1, 50 do
      toggle(round % 2)
      for _, i in ipairs { 31, 32, 63, 64, 254, 255 } do
        assert.equal(i % 2 == round % 2, x:is_active(i))
        assert.equal(i % 2 == round % 2 and i or 0, x[i])
      end
      assert.equal(128, x:count())
    end
  end)

  it("updates the cells that loops visit after each change", function()
    local x = under(rg.root:bitmasked("i", 5):bitmasked("i", 4))
    x[3], x[19] = 3, 19
    assert.same({ 22, 2 }, { sum_and_visits(x) })
    x[7], x[13] = 7, 13
    assert.same({ 42, 4 }, { sum_and_visits(x) })
  end)

  it("holds several children, each at its own place", function()
    local node = rg.root:bitmasked("i", 4)
    local a, b = rg.field(rg.i8), rg.field(rg.f64)
    node:place(a)
    node:bitmasked("i", 4):place(b)
    local x = under(node:bitmasked("i", 30))
    for _, i in ipairs { 0, 1, 29, 30, 60, 118, 119 } do x[i] = i end
    a[3], b[0] = -5, 2.5
    assert.same({ 0 + 1 + 29 + 30 + 60 + 118 + 119, 7 }, { sum_and_visits(x) })
    assert.equal(4, node:count())
    node:deactivate(3)
    assert.same({ 0 + 1 + 29 + 30 + 60, 5 }, { sum_and_visits(x) })
    assert.equal(0, a[3])
    assert.equal(2.5, b[0])
  end)

  it("is visited where it was active when the loop began, also where the loop appends below others",
    function()
    local node = rg.root:bitmasked("i", 1024)
    local tag, x = under(node), rg.field(rg.i32)
    node:dynamic("j", 32):place(x)
    local append_ahead = rg.kernel(function()
      local n = 0
      for i in tag:active() do
        x:append((i + 64) % 1024, i)
        n = n + 1
      end
      return n
    end)
    for i = 0, 63 do tag[i] = 1 end
    for round = 1, 15 do
      assert.equal(64 * round, append_ahead())
      assert.equal(64 * (round + 1), node:count())
    end
  end)
end)

describe("a deactivated bitmasked cell", function()
  it("reads zero, and stays zero when it comes back", function()
    local node = rg.root:bitmasked("i", 128)
    local x, y = under(node), under(node, rg.f32)
    x[40], y[40], x[41] = 7, 1.5, 8
    assert.is_true(node:is_active(40))
    node:deactivate(40)
    assert.is_false(node:is_active(40))
    assert.same({ 0, 0, 8 }, { x[40], y[40], x[41] })
    node:activate(40)
    assert.same({ 0, 0 }, { x[40], y[40] })
    assert.equal(2, node:count())
    node:clear()
    assert.equal(0, node:count())
    assert.same({ 0, 0 }, { x[41], visits(x) })
  end)

  it("deactivates everything below it, and frees its nodes", function()
    local node = rg.root:bitmasked("i", 8)
    local block = node:pointer("i", 4)
    local x = under(block:dense("i", 2))
    rg.kernel(function() for i in rg.range(64) do x[i] = i end end)()
    assert.same({ 8, 32 }, { node:count(), block:count() })
    rg.kernel(function() for i in node:active() do if i % 2 == 0 then node:deactivate(
      i) end end end)()
    assert.same({ 4, 16, 32 }, { node:count(), block:count(), x:count() })
    assert.same({ 0, 8 }, { x[7], x[8] })
    node:clear()
    assert.same({ 0, 0 }, { node:count(), block:count() })
    x[9] = 1
    assert.same({ 1, 1, 2 }, { node:count(), block:count(), visits(x) })
  end)

  it("loses a concurrent write or is activated again by it, never by half", function()
    local node = rg.root:bitmasked("i", 64)
    local x = under(node:bitmasked("i", 4))
    local fight = rg.kernel(function()
      for i in rg.range(4096):block(8) do
        local k = i % 256
        if math.floor(i / 256) % 2 == 0 then
          x[k] = 1
        else
          node:deactivate(math.floor(k / 4))
        end
      end
    end)
    local inactive = rg.kernel(function()
      local wrong = 0
      for i in rg.range(256) do
        if not x:is_active(i) and x[i] ~= 0 then wrong = wrong + 1 end
        if x:is_active(i) and not node:is_active(math.floor(i / 4)) then wrong = wrong + 1 end
      end
      return wrong
    end)
    for _ = 1, 100 do
      fight()
      assert.equal(0, inactive())
    end
  end)

  it("frees its list, also while others append to it", function()
    local node = rg.root:bitmasked("i", 64)
    local x = rg.field(rg.i32)
    node:dynamic("j", 2000, { chunk = 8 }):place(x) -- more than all fights append to one
    local fight = rg.kernel(function()
      for i in rg.range(8192):block(16) do
        local k = i % 64
        if math.floor(i / 64) % 4 == 0 then node:deactivate(k) else x:append(k, i) end
      end
    end)
    for _ = 1, 20 do
      fight()
      for i = 0, 63 do assert.is_true(node:is_active(i) or x:length(i) == 0) end
    end
    node:clear()
    x:append(3, 5)
    assert.same({ 1, 1, 5 }, { x:count(), node:count(), x[3][0] })
    node:deactivate(3)
    assert.same({ 0, 0, 0 }, { x:length(3), node:count(), x[3][0] })
  end)

  it("may be written again by the iteration that deactivated it", function()
    local node = rg.root:pointer("i", 2):bitmasked("i", 64)
    local x, y = under(node), under(node)
    rg.kernel(function() for i in rg.range(128) do x[i] = i y[i] = i end end)()
    rg.kernel(function()
      for i in node:active() do
        node:deactivate(i)
        if i % 2 == 0 then x[i] = 9 end
      end
    end)()
    assert.equal(64, node:count())
    assert.same({ 9, 0, 0, 0 }, { x[4], y[4], x[5], y[5] })
  end)

  it("is not visited by the next loop, nor are cells that are activated during one", function()
    local node = rg.root:pointer("i", 4):bitmasked("i", 64)
    local x = under(node)
    for i = 0, 63 do x[i] = 1 end
    local met = rg.kernel(function()
      local n, m = 0, 0
      for i in x:active() do
        n = n + 1
        if i % 4 == 0 then node:deactivate(i) end
      end
      for _ in x:active() do m = m + 1 end
      return n, m
    end)
    assert.same({ 64, 48 }, { met() })
    local grown = rg.kernel(function()
      local n = 0
      for i in x:active() do
        n = n + 1
        x[i + 128] = 1
      end
      return n
    end)
    assert.equal(48, grown())
    assert.equal(96, visits(x))
  end)
end)

describe("what is below a deactivated bitmasked cell", function()
  it("is created again by a write of the same iteration", function()
    local x = rg.field(rg.i32)
    local mask = rg.root:bitmasked("i", 64)
    local block = mask:pointer("i", 1)
    block:dense("i", 1):place(x)
    rg.kernel([=[function()
      for i in rg.range(64) do
        x[i] = 1
        mask:deactivate(i)
        x[i] = i + 5
      end
    end]=], { x = x, mask = mask })()
    for i = 0, 63 do assert.equal(i + 5, x[i]) end
    assert.equal(64, block:count())
  end)
end)

describe("masks", function()
  it("are walked in index order by a serial loop", function()
    for _, axes in ipairs { "ij", "ji" } do
      local x = under(rg.root:dense("ij", 2):bitmasked(axes, 3, 70))
      local n, m = x.shape[0], x.shape[1]
      local expected = {}
      for _, at in ipairs { { 0, 0 }, { 0, m - 1 }, { 1, 3 }, { n - 1, 0 }, { n - 1, 5 } } do
        x[at] = 1
        expected[#expected + 1] = at[1] * m + at[2]
      end
      local order = rg.field(rg.i32, 8)
      rg.kernel(function()
        local k = 0
        for i, j in x:active():serial() do
          order[k] = i * x.shape[1] + j
          k = k + 1
        end
      end)()
      for k, number in ipairs(expected) do assert.equal(number, order[k - 1]) end
    end
  end)

  it("of rows that share a word are visited completely, however many cells they have", function()
    for _, shape in ipairs { { 8, 8 }, { 4, 4 }, { 16, 4 }, { 3, 16 }, { 2, 32 }, { 5, 2 },
      { 6, 8 }, { 16, 16 } } do
      for _, depth in ipairs { 1, 4 } do
        local a, b = shape[1], shape[2]
        local x = under(rg.root:pointer("ijk", 3):bitmasked("ijk", depth, a, b))
        local seen = rg.field(rg.i32, 3 * depth, 3 * a, 3 * b)
        local i_end, j_end, k_end = 3 * depth, 3 * a, 3 * b
        local turn = rg.kernel(function(every)
          for i, j, k in rg.range(i_end, j_end, k_end) do
            if ((i * 31 + j) * 17 + k * 5) % every == 0 then
              x[i][j][k] = i * 10000 + j * 100 + k
            end
          end
          for i, j, k in x:active() do
            seen[i][j][k] = seen[i][j][k] + 1 + (x[i][j][k] == i * 10000 + j * 100 + k and 0 or 9)
          end
          local wrong = 0
          for i, j, k in rg.range(i_end, j_end, k_end) do
            local one = ((i * 31 + j) * 17 + k * 5) % every == 0 and 1 or 0
            if seen[i][j][k] ~= one then wrong = wrong + 1 end
          end
          return wrong
        end)
        for _, every in ipairs { 1, 2, 5, 13, 61 } do
          x:clear()
          seen:fill(0)
          assert.equal(0, turn(every))
        end
      end
    end
  end)

  it("are left by break, and skipped by continue", function()
    local x = under(rg.root:bitmasked("i", 200))
    for i = 0, 199, 3 do x[i] = i end
    local first = rg.kernel([=[function()
      local last, odd = -1, 0
      for i in x:active():serial() do
        if i > 100 then break end
        last = i
        if i % 2 == 0 then continue end
        odd += 1
      end
      return last, odd
    end]=], { x = x })
    assert.same({ 99, 17 }, { first() })
  end)

  it("make inactive neighbours zero for a stencil", function()
    local node = rg.root:pointer("ij", 2):bitmasked("ij", 32)
    local x, y = under(node), under(node)
    x[31][31], x[32][32], x[31][32] = 1, 10, 100
    rg.kernel(function()
      for i, j in x:active() do
        y[i][j] = x[i - 1][j] + x[i + 1][j] + x[i][j - 1] + x[i][j + 1] + x[i + 1][j + 1]
      end
    end)()
    assert.same({ 110, 100, 11 }, { y[31][31], y[32][32], y[31][32] })
    assert.equal(3, y:count())
  end)

  it("let a row run in lanes, without the inactive cells", function()
    for _, size in ipairs { 4, 8, 16, 64 } do
      for _, gap in ipairs { 1, 2, 7, 33 } do
        local node = rg.root:pointer("ij", 3):bitmasked("ij", size)
        local x, y, z = under(node, rg.f32), under(node, rg.f32), under(node, rg.i32)
        local n = 3 * size
        local a, b = rg.field(rg.f32, n, n), rg.field(rg.f32, n, n) -- the same, densely
        rg.kernel(function(every)
          for i, j in rg.range(n, n) do
            if (i * 5 + j * 3) % every == 0 then
              x[i][j] = i + 0.5 * j
              a[i][j] = i + 0.5 * j
            end
          end
        end)(gap)
        local sum, visited = rg.kernel(function()
          local s, m = 0, 0
          for i, j in x:active() do
            local lap = x[i - 1][j] + x[i + 1][j] + x[i][j - 1] + x[i][j + 1] - 4 * x[i][j]
            if lap < 0 then y[i][j] = lap else y[i][j] = 2 * lap end
            z[i][j] = z[i][j] + j
            s = s + z[i][j]
            m = m + 1
          end
          return s, m
        end)()
        local wrong, expected, cells = rg.kernel(function(every)
          local w, s, m = 0, 0, 0
          for i, j in rg.range(n, n) do
            local lap = a[i - 1][j] + a[i + 1][j] + a[i][j - 1] + a[i][j + 1] - 4 * a[i][j]
            if lap < 0 then b[i][j] = lap else b[i][j] = 2 * lap end
            if (i * 5 + j * 3) % every == 0 then
              if y[i][j] ~= b[i][j] then w = w + 1 end
              s = s + j
              m = m + 1
            elseif y[i][j] ~= 0 or z[i][j] ~= 0 or x:is_active(i, j) then
              w = w + 1
            end
          end
          return w, s, m
        end)(gap)
        assert.same({ 0, expected, cells }, { wrong, sum, visited })
      end
    end
  end)

  it("are set by writes outside a loop's own level", function()
    local block = rg.root:pointer("i", 4)
    local x = under(block:dense("i", 16))
    local node = block:bitmasked("i", 16)
    local y = under(node)
    for i = 16, 31 do x[i] = i end
    rg.kernel(function() for i in x:active() do if i % 2 == 0 then y[i] = x[i] end end end)()
    assert.equal(8, node:count())
    assert.same({ 16, 0, 30 }, { y[16], y[17], y[30] })
  end)

  it("are filled, copied and read as a whole", function()
    local x, y = under(rg.root:bitmasked("i", 100)),
      under(rg.root:pointer("i", 10):bitmasked("i", 10), rg.f32)
    for i = 1, 99, 7 do x[i] = i end
    y:copy_from(x)
    assert.equal(x:count(), y:count())
    y:fill(2)
    local t = y:to_table()
    assert.same({ 0, 2, 0 }, { t[1], t[2], t[3] })
    t[3] = 5
    y:from_table(t)
    assert.same({ 5, true }, { y[2], y:is_active(2) })
    assert.equal(x:count() + 1, y:count())
    assert.has_error(function() x:pointer() end)
  end)

  -- Runs of active cells are walked without a call for each.
  local function masked_trees() -- masked node, its leaf, cells of the leaf in a cell of the node
    local plain, below = rg.root:bitmasked("i", 64), rg.root:pointer("i", 4):bitmasked("i", 16)
    local hash, coarse = rg.root:hash("i"):bitmasked("i", 16), rg.root:bitmasked("i", 4)
    local both = rg.root:pointer("i", 4):bitmasked("i", 4)
    return { { plain, plain, 1 }, { below, below, 1 }, { hash, hash, 1 },
      { coarse, coarse:dense("i", 16), 16 }, { both, both:dense("i", 4), 4 } }
  end
  local function walked(x, change)
    local met = {}
    for i, v in pairs(x) do
      met[#met + 1] = i
      assert.equal(i + 1, v)
      if change and i == 0 then change() end
    end
    return met
  end
  local function all_but(first, last)
    local list = {}
    for i = 0, 63 do if i < first or i > last then list[#list + 1] = i end end
    return list
  end

  it("are visited from Lua in the state they have when they are reached", function()
    for _, row in ipairs(masked_trees()) do
      local node, leaf, cells = unpack(row)
      local x, first = under(leaf), cells == 1 and 2 or 1
      local rest = all_but(first * cells, (first + 1) * cells - 1)
      local off = rg.kernel(function(k)
        for i in rg.range({ k, k + 1 }) do node:deactivate(i) end
      end)
      local function refill() for i = 0, 63 do x[i] = i + 1 end end
      refill()
      assert.same(all_but(64, 64), walked(x))
      assert.same(rest, walked(x, function() node:deactivate(first) end))
      refill()
      assert.same(rest, walked(x, function() off(first) end))
      refill()
      assert.same({ 0 }, walked(x, function() x:clear() end))
    end
  end)

  it("are walked to the end of an active run, and no further", function()
    local random = 7
    for k = 1, 3 do
      local x, expected = under(masked_trees()[k][2]), {}
      for i = 0, 63 do
        random = (random * 1103515245 + 12345) % 2147483648
        if random > 900000000 then
          x[i] = i + 1
          expected[#expected + 1] = i
        end
      end
      assert.same(expected, walked(x))
      local again = {}
      for i in x:active() do again[#again + 1] = i end
      assert.same(expected, again)
    end
  end)
end)

describe("cells of masks longer than a word", function()
  for name, node in pairs {
    ["rows of 256"] = function(r) return r.root:pointer("ij", 8, 2):bitmasked("j", 256) end,
    ["leaves of 25 x 36"] = function(r) return r.root:pointer("j", 3):bitmasked("ij", 25, 36) end,
    ["no leaves"] = function(r) return r.root:bitmasked("ij", 8, 150) end,
  } do
    it("are visited, written, queried and deactivated in lanes: " .. name .. " #compiled #cpu",
      function()
      local a, b = rg.field(rg.f32), rg.field(rg.f32)
      local level = node(rg)
      level:place(a, b)
      local n, m = 8, 100
      local touch = rg.kernel(function()
        for i, j in rg.range(n, m) do if (i + j) % 7 ~= 1 then a[i][j] = 100 * i + j end end
      end)
      local visit = rg.kernel(function()
        for i, j in a:active() do
          local left = a[i][j]
          while left > 1 do left = left * 0.5 end
          b[i][j] = left
        end
      end)
      local ask = rg.kernel(function()
        local found = 0
        for i, j in rg.range(n, m) do if a:is_active(i, j) then found = found + 1 end end
        return found
      end)
      local drop = rg.kernel(function()
        for i, j in rg.range(n, m) do if (i + j) % 3 == 0 then a:deactivate(i, j) end end
      end)
      local expected, left = 0, 0
      for i = 0, n - 1 do
        for j = 0, m - 1 do
          if (i + j) % 7 ~= 1 then
            expected = expected + 1
            if (i + j) % 3 ~= 0 then left = left + 1 end
          end
        end
      end
      support.with_stress("force_lanes", function() -- whatever lanes cost on this processor
        touch()
        visit()
        assert.equal(expected, ask())
        assert.equal(expected, level:count())
        drop()
        assert.equal(left, ask())
        assert.equal(left, level:count())
        for _, kernel in ipairs { touch, visit, ask, drop } do
          assert.matches("%d+ %a+ at a time, in vector lanes", kernel:explain())
        end
      end)
      assert.same({ 0, 0, 703 / 1024 }, { a[0][3], b[0][3], b[7][3] })
    end)
  end
end)
