local support = require "support"
local rg, failure = support.rg, support.failure

-- A field of 16 x 16 blocks at any coordinates, and the hash.
local function endless(t, size)
  local x = rg.field(t)
  local block = rg.root:hash "ij"
  block:dense("ij", size or 16):place(x)
  return x, block
end

local visits = rg.kernel(function(x)
  local n = 0
  for _ in x:active():vec() do n = n + 1 end
  return n
end)

describe("a hash field", function()
  it("refuses indices from Lua that Lua's numbers cannot distinguish", function()
    local x = rg.field(rg.i32)
    rg.root:hash("i"):dense("i", 4):place(x)
    x[2 ^ 53 - 1] = 1
    x[-2LL ^ 52] = 2
    assert.same({ 1, 2 }, { x[2LL ^ 53 - 1], x[-2 ^ 52] })
    for _, i in ipairs { 2LL ^ 53 + 1, -2LL ^ 62, 0xffffffffffffffffULL } do
      assert.equal("index.range", failure(function() return x[i] end).code)
      assert.equal("index.range", failure(function() x[i] = 1 end).code)
    end
    assert.matches("an index from Lua must be less than 2^53, got 9007199254740993",
      failure(x.get, x, 2LL ^ 53 + 1).message, 1, true)
  end)

  it("has cells at any coordinates, negative ones too", function()
    local x, block = endless(rg.i32)
    assert.equal(0, x[-5][7])
    assert.equal(0, block:count())
    x[-5][7], x[1000000000][-17], x[-1][-1] = 3, 4, 5
    assert.same({ 3, 4, 5 }, { x[-5][7], x[1000000000][-17], x[-1][-1] })
    assert.equal(0, x[11][7])
    assert.equal(3, block:count())
    assert.equal(3 * 256, x:count())
    assert.is_true(block:is_active(-1, 0))
    assert.is_true(block:is_active(62500000, -2))
    assert.is_true(x:is_active(-16, 15))
    assert.is_false(x:is_active(-17, 15))
  end)

  it("is written and read by kernels at coordinates of both signs", function()
    for _, size in ipairs { 16, 5 } do
      local x, block = endless(rg.i32, size)
      rg.kernel(function(n)
        for i, j in rg.range({ -n, n }, { -n, n }) do x[i][j] = i * 1000 + j end
      end)(40)
      local wrong = rg.kernel(function()
        local n = 0
        for i, j in rg.range({ -40, 40 }, { -40, 40 }) do
          if x[i][j] ~= i * 1000 + j then n = n + 1 end
        end
        return n
      end)
      assert.equal(0, wrong())
      assert.equal(-7003, x[-7][-3])
      assert.equal(0, x[-61][0])
      assert.equal(x:count(), visits(x))
      assert.equal((2 * math.ceil(40 / size)) ^ 2, block:count())
    end
  end)

  it("grows while all threads write to it", function()
    local x = rg.field(rg.i32)
    local cell = rg.root:hash "i"
    cell:place(x)
    local n = 100000
    rg.kernel(function()
      for i in rg.range(4 * n) do
        local k = (i % n - 50000) * 7919
        x[k] = x[k] + 1
      end
    end)()
    assert.equal(n, cell:count())
    local sum = rg.kernel(function()
      local s = 0
      for i in x:active() do s = s + x[i] end
      return s
    end)
    assert.equal(4 * n, sum())
  end)

  it("gives loops the neighbours across nodes of any sign", function()
    for _, size in ipairs { 8, 6 } do
      local x, y = rg.field(rg.f32), rg.field(rg.f32)
      rg.root:hash("ij"):dense("ij", size):place(x, y)
      rg.kernel(function()
        for i, j in rg.range({ -20, 20 }, { -20, 20 }) do x[i][j] = i * i + 3 * j * j end
      end)()
      local wrong = rg.kernel(function()
        local n = 0
        for i, j in x:active() do
          y[i][j] = x[i + 1][j] + x[i - 1][j] + x[i][j + 1] + x[i][j - 1] - 4 * x[i][j]
        end
        for i, j in rg.range({ -19, 19 }, { -19, 19 }) do
          if y[i][j] ~= 8 then n = n + 1 end
        end
        return n
      end)
      assert.equal(0, wrong())
      local edge = -size * math.ceil(20 / size)
      assert.equal(0, x[edge - 1][0]) -- beyond the last node there is nothing
      if size == 8 then assert.equal(0, y[-24][0]) end
    end
  end)

  it("deactivates cells, which are zero when they come back", function()
    local x, block = endless(rg.i32)
    rg.kernel(function()
      for i, j in rg.range({ -64, 64 }, { -64, 64 }) do x[i][j] = 1 end
    end)()
    rg.kernel(function()
      for i, j in block:active() do
        if i < 0 then block:deactivate(i, j) end
      end
    end)()
    assert.equal(32, block:count())
    assert.same({ 0, 1 }, { x[-1][0], x[0][-1] })
    block:deactivate(3, -4)
    assert.is_false(block:is_active(3, -4))
    x[-1][0] = 9
    assert.equal(0, x[-2][0])
    assert.equal(32, block:count())
    block:clear()
    assert.equal(0, block:count())
    assert.equal(0, visits(x))
    x[5][5] = 2
    assert.same({ 1, 2, 0 }, { block:count(), x[5][5], x[5][6] })
  end)

  it("has cells at the smallest and largest indices, and visits each once #compiled", function()
    local x, y, half = rg.field(rg.i32), rg.field(rg.f64), rg.field(rg.f16)
    rg.root:hash("i"):place(x, half)
    rg.root:hash("ij"):place(y)
    local last, first = 0x7fffffffffffffffLL, -0x7fffffffffffffffLL - 1
    local far = 2LL ^ 53 + 1 -- as a number it would be the index before it
    local write = rg.kernel([=[function(i: i64, j: i64)
      x[i] = 5
      half[i] = 0.5
      y[i, j] = 6
    end]=], { x = x, y = y, half = half })
    write(last, 3)
    write(far, last)
    write(-2, far)
    write(-2, far + 1)
    write(first, first)
    local seen, pairs_seen, kernel_sum = {}, {}, 0
    for i, v in pairs(x) do seen[#seen + 1] = tostring(i) .. " " .. v end
    for i, j, v in pairs(y) do
      pairs_seen[#pairs_seen + 1] = ("%s %s %s"):format(tostring(i), tostring(j), v)
    end
    assert.same({ tostring(-2 ^ 63) .. " 5", "-2 5", "9007199254740993LL 5",
      "9223372036854775807LL 5" }, seen)
    assert.same({ ("%s %s 6"):format(-2 ^ 63, -2 ^ 63), "-2 9007199254740993LL 6",
      ("-2 %s 6"):format(2 ^ 53 + 2), "9007199254740993LL 9223372036854775807LL 6",
      "9223372036854775807LL 3 6" }, pairs_seen)
    seen = {}
    for i, v in pairs(half) do seen[#seen + 1] = tostring(i) .. " " .. v end -- one call each
    assert.same({ tostring(-2 ^ 63) .. " 0.5", "-2 0.5", "9007199254740993LL 0.5",
      "9223372036854775807LL 0.5" }, seen)
    for _ in y:active() do kernel_sum = kernel_sum + 1 end
    assert.same({ 5, 5, 5 }, { kernel_sum, visits(y), x[-2 ^ 63] })
  end)

  it("refuses numbers that are not 64-bit integers", function()
    local x, y = rg.field(rg.i32), rg.field(rg.f32)
    rg.root:hash("i"):place(x)
    rg.root:hash("ij"):dense("ij", 4):place(y)
    x[0], y[0][0] = 1, 1
    for _, i in ipairs { 2 ^ 63, -2 ^ 63 - 2048, 2 ^ 64, 1e300 } do
      for _, use in ipairs { function() return x[i] end, function() x[i] = 1 end,
        function() return x:get(i) end, function() x:set(i, 1) end,
        function() return y[i][0] end, function() y[0][i] = 1 end,
        function() return y[0][i] end, function() return y:get(0, i) end } do
        assert.equal("index.range", failure(use).code)
      end
    end
    assert.same({ 1, 16 }, { x:count(), y:count() })
  end)

  it("keeps no memory for deactivated cells, however often they come and go", function()
    local x, block = endless(rg.i32)
    local fill = rg.kernel(function(shift)
      for i, j in rg.range(64, 64) do x[i + shift][j - shift] = 1 end
    end)
    local round = 0
    assert.is_true(support.stays(function() return rg.memory().reserved end, 30, function()
      round = round + 1
      fill(round * 1000)
      block:clear()
    end))
  end)

  it("visits active cells in index order from Lua, also while they come and go", function()
    local x, block = endless(rg.i32, 2)
    x[3][-5], x[-4][9], x[3][4], x[-4][-100] = 1, 2, 3, 4
    local met = {}
    for i, j, v in pairs(x) do
      if v > 0 then
        met[#met + 1] = ("%d,%d=%d"):format(i, j, v)
        x[i + 1000][j] = 0 -- a new node, later in order
        if v == 4 then block:deactivate(-2, 4) end -- one that is still to come
      end
    end
    assert.same({ "-4,-100=4", "3,-5=1", "3,4=3" }, met)
    local blocks = {}
    block:clear()
    block:activate(2, 1)
    block:activate(-3, 7)
    block:activate(-3, -7)
    for i, j in block:active() do blocks[#blocks + 1] = ("%d,%d"):format(i, j) end
    assert.same({ "-3,-7", "-3,7", "2,1" }, blocks)
  end)

  it("can be filled and copied, and refuses calls that need bounds", function()
    local x, y = endless(rg.i32), endless(rg.i32)
    x[-1][-1] = 1
    x:fill(7)
    assert.equal(7, x[-16][-2])
    assert.equal(0, x[0][0])
    y:copy_from(x)
    assert.equal(7, y[-16][-2])
    assert.same({ 0, 0 }, { x.shape[0], x.shape[1] })
    for _, f in ipairs { function() return #x end, function() return #x[3] end,
      function() return x:to_table() end,
      function() return x:from_table {} end, function() return x:pointer() end } do
      assert.equal("argument.invalid", failure(f).code)
    end
    for _, f in ipairs { function() return x:to_table() end,
      function() return x:from_table { { 1 } } end } do
      assert.equal("a field of i32 has no number of elements: axis 'i' belongs to a hash and is \z
        unbounded", failure(f).message)
    end
  end)
end)

describe("a hash in a tree", function()
  it("holds fields of its own, and several children", function()
    local age, x, y, far = rg.field(rg.i32), rg.field(rg.vec2), rg.field(rg.i32), rg.field(rg.i32)
    local cell = rg.root:hash("i", { name = "cell" })
    cell:place(age)
    cell:dense("i", 4):place(x)
    cell:pointer("i", 3):dense("i", 2):place(y)
    cell:dense("j", 2):place(far)
    rg.kernel(function()
      for i in rg.range({ -3, 3 }) do
        age[i] = i
        x[i * 4 + 1] = rg.vec2(i, -i)
        y[i * 6 + 5] = 10 * i
        far[i][1] = 100 * i
      end
    end)()
    assert.equal(6, cell:count())
    assert.equal(-3, age[-3])
    assert.equal(rg.vec2(-3, 3), x[-11])
    assert.equal(-30, y[-13])
    assert.equal(0, y[-14])
    assert.equal(-300, far[-3][1])
    assert.equal(6 * 2, visits(y))
    cell:deactivate(-3)
    assert.same({ 0, 0, 0 }, { age[-3], y[-13], far[-3][1] })
    assert.equal(5 * 2, visits(y))
  end)

  it("works below pointer and dense cells, on its own axes, and is deactivated with \z
    them", function()
    local x = rg.field(rg.i32)
    local block = rg.root:pointer("i", 4)
    local row = block:dense("i", 2):hash "j"
    row:dense("j", 8):place(x)
    x[0][-1], x[1][-1], x[7][100] = 1, 2, 3
    assert.same({ 2, 3 }, { block:count(), row:count() })
    assert.equal(3 * 8, visits(x))
    assert.is_true(row:is_active(1, -1))
    assert.is_false(row:is_active(2, -1))
    block:deactivate(0)
    assert.same({ 0, 0, 3 }, { x[0][-1], x[1][-1], x[7][100] })
    assert.equal(1, row:count())
    local again = rg.kernel(function()
      for _ in rg.range(1) do
        block:deactivate(3)
        x[7][99] = 5
      end
    end)
    again()
    assert.same({ 0, 5 }, { x[7][100], x[7][99] })
    assert.same({ 1, 1 }, { block:count(), row:count() })
    assert.equal(0, x[2][-5])
    assert.equal(1, block:count())
  end)

  it("reads neighbours along its own axis and along a bounded one", function()
    local x, y = rg.field(rg.i32), rg.field(rg.i32)
    rg.root:pointer("i", 3):hash("j"):dense("ij", 4):place(x, y)
    rg.kernel(function()
      for i, j in rg.range(12, { -10, 10 }) do x[i][j] = i * 100 + j end
      for i, j in x:active() do y[i][j] = x[i - 1][j] + x[i + 1][j] + x[i][j - 1] + x[i][j + 1] end
    end)()
    for i = 0, 11 do
      for j = -9, 8 do
        local up, down = i > 0 and (i - 1) * 100 + j or 0, i < 11 and (i + 1) * 100 + j or 0
        assert.equal(up + down + 2 * (i * 100 + j), y[i][j])
      end
    end
  end)

  it("works below another hash", function()
    local x = rg.field(rg.i32)
    local outer = rg.root:hash "i"
    local inner = outer:hash "j"
    inner:dense("ij", 2):place(x)
    x[-5][9], x[-5][-9], x[4][9] = 1, 2, 3
    assert.same({ 2, 3 }, { outer:count(), inner:count() })
    outer:deactivate(-3)
    assert.same({ 0, 0, 3 }, { x[-5][9], x[-5][-9], x[4][9] })
    assert.equal(1, inner:count())
  end)

  it("works above masks, whose cells are active one by one", function()
    local x = rg.field(rg.i32)
    local block = rg.root:hash "ij"
    local mask = block:bitmasked("ij", 8)
    mask:place(x)
    rg.kernel(function()
      for i, j in rg.range({ -20, 20 }, { -20, 20 }) do
        if (i + j) % 3 == 0 then x[i][j] = i * 100 + j end
      end
    end)()
    assert.equal(533, mask:count())
    assert.equal(36, block:count())
    assert.is_true(mask:is_active(-20, -19))
    assert.is_false(mask:is_active(-20, -20))
    local wrong = rg.kernel(function()
      local n = 0
      for i, j in x:active() do
        if (i + j) % 3 ~= 0 or x[i][j] ~= i * 100 + j then n = n + 1 end
        local near = x[i + 1][j - 1] -- another iteration may deactivate it at any time
        if x[i + 1][j] ~= 0 or near ~= 0 and near ~= i * 100 + j + 99 then n = n + 1 end
        if i < 0 then mask:deactivate(i, j) end
      end
      return n
    end)
    assert.equal(0, wrong())
    assert.equal(266, mask:count())
    assert.equal(0, x[-20][-19])
  end)

  it("works above lists, one per cell", function()
    local x = rg.field(rg.i32)
    local cell = rg.root:hash "ij"
    local list = cell:dynamic("k", 300, { chunk = 4 })
    list:place(x)
    rg.kernel(function()
      for i in rg.range(1000) do list:append(i % 7 - 3, i % 5 - 2, i) end
    end)()
    assert.same({ 35, 1000, 29 }, { cell:count(), list:count(), list:length(-3, -2) })
    local sum = 0
    for i, j in cell:active() do
      for _, v in list:items(i, j) do sum = sum + v end
    end
    assert.equal(499500, sum)
    cell:deactivate(-3, -2)
    assert.same({ 971, 0 }, { list:count(), list:length(-3, -2) })
  end)

  it("is declared without sizes, on axes that nothing above divides", function()
    assert.matches("takes no sizes", failure(function() rg.root:hash("ij", 4) end).message)
    local message = failure(function() rg.root:pointer("i", 4):hash "i" end).message
    assert.matches("axis 'i' of a hash node is already divided above", message)
  end)

  it("has no length", function()
    local x = endless(rg.i32)
    assert.matches("is unbounded", failure(rg.kernel(function() return #x end)).message)
    assert.equal(0, rg.kernel(function() return x.shape[0] end)())
  end)
end)

-- Trees of 24 rows i in which the cells of a bitmasked node hold hashes along j; rows per cell.
local masked = {
  { "alone", function(x)
    local mask = rg.root:bitmasked("i", 24)
    mask:hash("j"):place(x)
    return mask, 1
  end },
  { "between dense levels", function(x)
    local mask = rg.root:dense("i", 3):bitmasked("i", 4)
    mask:dense("i", 2):hash("j"):dense("j", 4):place(x)
    return mask, 2
  end },
  { "below a pointer", function(x)
    local mask = rg.root:pointer("i", 4):dense("i", 2):bitmasked("i", 3)
    mask:hash("j"):place(x)
    return mask, 1
  end },
  { "below another mask", function(x)
    local mask = rg.root:bitmasked("i", 2)
    mask:bitmasked("i", 4):dense("i", 3):hash("j"):place(x)
    return mask, 12
  end },
  { "beside a field of the cell", function(x)
    local mask = rg.root:bitmasked("i", 8, { layout = "aos" })
    mask:place(rg.field(rg.f32))
    mask:dense("i", 3):hash("j"):place(x)
    return mask, 3
  end },
}

describe("a hash in cells of a bitmasked node", function()
  local columns = { -500, -1, 0, 7 }

  local function fill(x)
    for i = 0, 23 do
      for _, j in ipairs(columns) do x[i][j] = i + 1 end
    end
  end

  -- Only the rows for which `stays(i)` are there.
  local function expect(x, stays)
    local n = 0
    for i = 0, 23 do
      for _, j in ipairs(columns) do
        assert.equal(stays(i) and i + 1 or 0, x[i][j])
        assert.equal(stays(i), x:is_active(i, j))
        n = n + (stays(i) and i + 1 or 0)
      end
    end
    local met = 0
    for _, _, v in pairs(x) do met = met + v end
    assert.equal(n, met)
    assert.equal(n, rg.kernel(function()
      local s = 0
      for i, j in x:active() do s = s + x[i][j] end
      return s
    end)())
  end

  for _, row in ipairs(masked) do
    it("is removed with its cell, and with no other: " .. row[1], function()
      local x = rg.field(rg.i32)
      local mask, rows = row[2](x)
      fill(x)
      assert.equal(24 / rows, mask:count())
      mask:deactivate(0)
      expect(x, function(i) return i >= rows end)
      rg.kernel(function(last)
        for i in rg.range(last) do
          if i % 2 == 1 then mask:deactivate(i) end
        end
      end)(24 / rows)
      local function stays(i) return i >= rows and math.floor(i / rows) % 2 == 0 end
      expect(x, stays)
      rg.gc()
      mask:activate(0)
      expect(x, stays)
      fill(x)
      expect(x, function() return true end)
      mask:clear()
      expect(x, function() return false end)
    end)
  end

  it("exists again if another iteration writes", function()
    local x = rg.field(rg.i32)
    local mask = rg.root:bitmasked("i", 64)
    mask:hash("j"):place(x)
    local both = rg.kernel(function(n)
      for i in rg.range(n) do
        if i % 3 == 0 then mask:deactivate(i % 64) else x[i % 64][i] = 1 end
      end
    end)
    local n = os.getenv "RG_ARCH" and 999 or 4095
    for _ = 1, 5 do both(n) end
    local met = 0
    for i, _, v in pairs(x) do
      assert.equal(1, v)
      assert.is_true(mask:is_active(i))
      met = met + 1
    end
    assert.is_true(met <= n * 2 / 3)
  end)
end)

-- Conditional reads and writes of cells at scattered indices by vectorised iterations.
describe("vectorised iterations in a hash", function()
  local kinds = { ["below the root"] = function() return rg.root:hash "ij" end,
                  ["below a node"] = function() return rg.root:pointer("i", 64):hash "j" end,
                  ["below a hash"] = function() return rg.root:hash "i":hash "j" end }
  for where, hash in pairs(kinds) do
    for _, far in ipairs { 1, 1000003 } do
      it("find and create the cells of scalar ones: " .. where .. ", far " .. far, function()
        local n, out, made = 999, {}, {}
        for run = 1, 2 do
          local x, y = rg.field(rg.i32), rg.field(rg.i32, n)
          local cell = hash()
          cell:dense("j", 4):place(x)
          local loop = [=[
            for i in rg.range(n)LOOP do
              local a, b = i * 7 % 61, (i * 31 % 97 - 40) * far
              if i % 3 > 0 then x[a][b] = i % 5 + a end
              if i % 2 == 0 then x:add(a, b, 1) end
            end
            for i in rg.range(n)LOOP do
              local a, b = i * 11 % 61, (i * 17 % 97 - 40) * far
              y[i] = x[a][b]
              if i % 4 == 1 then y[i] = y[i] + x[a][b + 1] end
              if cell:is_active(a, b // 4) then y[i] = y[i] + 100 end
            end]=]
          local text = loop:gsub("LOOP", run == 1 and ":scalar()" or "")
          local kernel = rg.kernel("function() " .. text .. " end",
            { x = x, y = y, cell = cell, n = n, far = far, rg = rg })
          kernel()
          out[run], made[run] = y:to_table(), cell:count()
        end
        assert.same(out[1], out[2])
        assert.equal(made[1], made[2])
      end)
    end
  end
end)

describe("a hash without memory left", function()
  it("is named in the error, keeps its contents, and works again once memory is freed #compiled",
    function()
    local small = rg.new { memory = "1MiB" }
    local x = small.field(small.f32)
    local block = small.root:hash("ij", { name = "sand" })
    block:dense("ij", 32):place(x)
    local fill = small.kernel([=[function(n)
      for i, j in rg.range({-n, n}, {-n, n}) do x[i * 32][j * 32] = 1 end
    end]=], { x = x, rg = small })
    local problem = failure(fill, 40)
    assert.equal("memory.budget", problem.code)
    assert.matches("node 'sand' %(hash%)", problem.message)
    local kept = block:count()
    assert.is_true(kept > 30)
    local n = 0
    for _, _, v in pairs(x) do n = n + v end
    assert.equal(kept, n)
    block:clear()
    fill(3)
    assert.equal(36, block:count())
  end)
end)

-- Bodies over the cells i, j of c: f32, in the 4 x 8 leaves of a hash; r is in the same leaves; f:
-- f32 is in those of another hash, which has every second leaf, g: f32 in a third, which has few.
local across = {
  ["a finer grid"] = "r[i][j] = f[2 * i][2 * j] + f[2 * i + 1][2 * j] * f[2 * i][2 * j + 1]",
  ["a coarser grid"] = "r[i][j] = f[i // 2][j // 2] + c[i][j]",
  ["some of a finer grid"] = [=[if (i + 2 * j) % 3 == 0 then r[i][j] = f[2 * i][2 * j] end
    if j % 8 > 4 then r[i][j] = r[i][j] + f[2 * i + 1][2 * j] end]=],
  ["what it adds to a grid"] = [=[g[2 * i][2 * j] = c[i][j]
    r[i][j] = g[2 * i][2 * j] + g[2 * i + 1][2 * j]]=],
  ["what it creates under a condition"] = [=[r[i][j] = g[2 * i][2 * j]
    if i > 2 then g[2 * i][2 * j] = c[i][j]; r[i][j] = r[i][j] + g[2 * i][2 * j] end]=],
  ["sums of a coarser grid"] = "g[i // 4][j // 4] = g[i // 4][j // 4] + 1",
  ["questions about a finer grid"] = "if f:is_active(2 * i, 2 * j + 1) then r[i][j] = 2 end",
}

local function step_across(body)
  local c, r, f, g = rg.field(rg.f32), rg.field(rg.f32), rg.field(rg.f32), rg.field(rg.f32)
  rg.root:hash("ij"):dense("ij", 4, 8):place(c, r)
  rg.root:hash("ij"):dense("ij", 4, 8):place(f)
  rg.root:hash("ij"):dense("ij", 4, 8):place(g)
  for i = -8, 7 do
    for j = -16, 15 do
      if (math.floor(i / 4) + math.floor(j / 8)) % 3 > 0 then c[i][j] = i * 7 + j end
    end
  end
  for i = -16, 15 do
    for j = -32, 31 do
      if (math.floor(i / 4) + math.floor(j / 8)) % 2 == 0 then f[i][j] = i + j * 5 end
    end
  end
  g[1][1], g[9][20] = 3, 4
  rg.kernel(("function(c, r, f, g)\n for i, j in c:active() do\n%s\n end\nend"):format(body))(
    c, r, f, g)
  local lines = {}
  for name, x in pairs { r = r, g = g } do
    for i, j, v in pairs(x) do lines[#lines + 1] = ("%s %d %d %.9g"):format(name, i, j, v) end
  end
  table.sort(lines)
  return table.concat(lines, "\n")
end

describe("a loop over leaves of one hash that accesses others", function()
  for name, body in pairs(across) do
    it("gives the same in lanes and in scalar code: " .. name, function()
      local alone = support.with_option("RG_WITHOUT", "lanes", function()
        return step_across(body)
      end)
      assert.equal(alone, step_across(body))
      assert.equal(alone, support.with_stress("guard_pages,force_lanes", function()
        return step_across(body)
      end))
    end)
  end
end)

-- Sums over elements of hashes at places anywhere in a box, in rounds between which cells of it,
-- and far from it, come and go: the second launch of a round may find them by their places there.
local anywhere = { i = { "h % 40 - 17" }, ij = { "h % 9 - 5", "h // 9 % 7 - 3" } }

local function read_anywhere(letters, leaf)
  local at = anywhere[letters]
  local x, seen = rg.field(rg.f32), {}
  local cells, side = rg.root:hash(letters), leaf and 4 or 1
  local block = leaf and cells:dense(letters, side) or cells
  block:place(x)
  local index = "x[" .. table.concat(at, "][") .. "]"
  local look = rg.kernel(([=[function(x, salt)
    local sum, there = rg.f64(0), 0
    for k in rg.range(4000) do
      local h = k * 1181783497 // 512 %% 100003 + salt
      sum = sum + %s
      if x:is_active(%s) then there = there + 1 end
    end
    return sum, there
  end]=]):format(index, table.concat(at, ", ")))
  for round = 1, 4 do
    for h = round * 5, round * 5 + 30 do
      local i, j = h * 7 % 40 - 17, nil
      if letters == "ij" then i, j = h * 7 % 9 - 5, math.floor(h * 7 / 9) % 7 - 3 end
      local value = h + round / 4
      if not j then x[i] = value else x[i][j] = value end
      if h % 4 == 0 then
        cells:deactivate(math.floor(i / side), j and math.floor(j / side))
      end
    end
    if round == 3 then
      if letters == "ij" then x[5000][-9000] = 1 else x[2 ^ 40] = 1 end
    end
    for salt = 0, 2 do
      seen[#seen + 1] = ("%.9g %d"):format(look(x, salt % 2))
    end
  end
  return table.concat(seen, ", ")
end

describe("a hash read anywhere by a loop that changes none of its cells", function()
  for letters in pairs(anywhere) do
    for _, leaf in ipairs { false, true } do
      local what = leaf and "leaves" or "cells"
      it(("finds what is there now: %s, %s"):format(letters, what), function()
        local alone = support.with_option("RG_WITHOUT", "lanes", function()
          return read_anywhere(letters, leaf)
        end)
        assert.equal(alone, read_anywhere(letters, leaf))
      end)
    end
  end
end)
