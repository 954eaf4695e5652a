--- Pointer nodes: cells exist once they are written, loops visit the cells that exist, and reads of
--- others give zero.
local support = require "support"
local rg, sparse = support.rg, support.sparse

local visits, visits_2d = support.visits, support.visits2

describe("a pointer node over dense cells", function()
  it("is visited cell by cell in the blocks that were written, and only there", function()
    local x = sparse(rg.i32, "i", 128, 128)
    x[0], x[127], x[256] = 1, 1, 1
    assert.equal(256, visits(x))
  end)

  it("tells for every index whether its block exists", function()
    local x, block = sparse(rg.i32, "i", 128, 128)
    x[0], x[127], x[256] = 1, 1, 1
    local active_indices = rg.kernel(function()
      local n = 0
      for i in rg.range(128 * 128) do
        if block:is_active(math.floor(i / 128)) then n = n + 1 end
      end
      return n
    end)
    assert.equal(256, active_indices())
    assert.is_true(block:is_active(2))
    assert.is_false(block:is_active(1))
    assert.equal(2, block:count())
  end)

  it("is visited block by block at its own level", function()
    local x = rg.field(rg.i32)
    local block = rg.root:pointer("ijk", 2)
    block:dense("ijk", 8):place(x)
    x[9][1][14] = 1
    local blocks = rg.kernel(function()
      local n = 0
      for i, j, k in block:active() do n = n + 100 * i + 10 * j + k end
      return n
    end)
    assert.equal(101, blocks())
    assert.equal(1, block:count())
  end)

  it("gives each iteration its own coordinates", function()
    local x = rg.field(rg.i32)
    rg.root:pointer("ij", 3):dense("ij", 8):place(x)
    x[7][7] = 10
    local sum = rg.kernel(function()
      local s = 0
      for i, j in x:active() do s = s + i + 2 * j end
      return s
    end)
    assert.equal(672, sum())
    x[23][8] = 1
    assert.equal(672 + 64 * 16 + 8 * 28 + 2 * (64 * 8 + 8 * 28), sum())
  end)

  it("skips with continue as a loop over a range does", function()
    local x = sparse(rg.i32, "i", 4, 4)
    for i = 0, 3 do x[5 * i] = 1 end
    local zeros = rg.kernel([[function(over_range)
      local n = 0
      if over_range then
        for i in rg.range(16) do
          if x[i] != 0 then continue end
          n += 1
        end
      else
        for i in x:active() do
          if x[i] != 0 then continue end
          n += 1
        end
      end
      return n
    end]], { x = x })
    assert.equal(12, zeros(false))
    assert.equal(12, zeros(true))
  end)

  it("reads zero where nothing was written, and activates nothing by reading", function()
    local x, block = sparse(rg.i32, "i", 64, 16)
    x[5] = 3
    local gather = rg.kernel(function()
      local s = 0
      for i in rg.range(64 * 16) do s = s + x[i] end
      return s
    end)
    assert.equal(3, gather())
    assert.equal(0, x[1000])
    assert.equal(1, block:count())
  end)

  it("runs branches on an empty field", function()
    local x, y = rg.field(rg.i32), rg.field(rg.i32)
    rg.root:pointer("ij", 4):dense("ij", 4):place(x, y)
    local touch = rg.kernel(function()
      local n = 0
      for i, j in x:active() do
        if bit.band(x[i][j], 1) ~= 0 or (y[i][j] > 2 and y[i][j] < 5) then
          y[i][j] = 1
        elseif x[i][j] == 2 then
          n = n + 1
        end
      end
      return n
    end)
    assert.equal(0, touch())
    x[3][3] = 2
    assert.equal(1, touch())
  end)

  it("does not exist before anything is written, neither for its node nor for its \z
    fields", function()
    local x, block = sparse(rg.i32, "i", 8, 8)
    assert.equal(0, x[17])
    assert.is_false(block:is_active(2))
    assert.is_false(x:is_active(17))
    assert.equal(0, block:count())
  end)

  it("may have sizes that are not powers of two", function()
    for _, size in ipairs { 3, 5, 7, 100, 80173 } do
      local x, block = sparse(rg.i32, "i", size, 3)
      block:activate(0)
      block:activate(size - 1)
      assert.equal(6, visits(x))
      local sum = rg.kernel(function()
        local s = 0
        for i in x:active() do s = s + i end
        return s
      end)
      local last = 3 * size - 1
      assert.equal(3 + 3 * last - 3, sum())
    end
  end)
end)

describe("a pointer node that holds fields itself", function()
  it("counts single cells under a dense node", function()
    local x = rg.field(rg.i32)
    local slot = rg.root:dense("i", 128):pointer("j", 128)
    slot:place(x)
    x[0][0], x[0][127], x[127][127] = 1, 2, 3
    assert.equal(3, visits_2d(x))
    assert.same({ 3, 3 }, { x:count(), slot:count() })
    assert.same({ 2, 0 }, { x[0][127], x[127][0] })
  end)

  it("may have sizes that are not powers of two, without stray coordinates", function()
    for _, n in ipairs { 1, 3, 5, 7, 100, 80173 } do
      local x = rg.field(rg.i32)
      rg.root:pointer("i", n):place(x)
      local fill = rg.kernel(function()
        for i in rg.range(n) do x[i] = i + 1 end
        local stray = 0
        for i in x:active() do
          if i < 0 or i >= n or x[i] ~= i + 1 then stray = stray + 1 end
        end
        return stray
      end)
      assert.equal(0, fill())
      assert.equal(n, x:count())
      assert.equal(n, visits(x))
    end
  end)
end)

describe("two pointer levels", function()
  local x = rg.field(rg.i32)
  local outer = rg.root:pointer("i", 128)
  local inner = outer:pointer("i", 128)
  inner:dense("i", 128):place(x)

  it("visit the blocks of both, and a far read leaves the count alone", function()
    local block = 128
    for _, i in ipairs { 0, 127, block, 3 * block + 1, 3 * block + 100, 200 * block,
      16383 * block } do
      x[i] = 1
    end
    assert.equal(640, visits(x))
    assert.equal(0, x[128 * 128 * 127 + 5])
    local read = rg.kernel(function(at)
      local s = 0
      for _ in rg.range(1) do s = s + x[at] end
      return s
    end)
    assert.equal(0, read(128 * 128 * 100))
    -- in the host region
    assert.equal(0, rg.kernel(function() return x[128 * 128 * 77 + 5] end)())
    assert.equal(1, read(200 * block))
    assert.equal(640, visits(x))
    assert.equal(3, outer:count())
    assert.equal(5, inner:count())
  end)

  it("may have different axes at each level", function()
    local y = rg.field(rg.i32)
    local rows = rg.root:pointer("i", 9)
    local columns = rows:pointer("j", 11)
    columns:dense("ij", 2, 3):place(y)
    y[17][32], y[0][0], y[1][5] = 1, 2, 3
    assert.equal(2, rows:count())
    assert.equal(3, columns:count())
    local sum = rg.kernel(function()
      local s = 0
      for i, j in y:active() do
        if y[i][j] ~= 0 then s = s + 1000 * i + j end
      end
      return s
    end)
    assert.equal(17032 + 0 + 1005, sum())
  end)

  it("hold fields at both levels", function()
    local mass, position = rg.field(rg.i32), rg.field(rg.f32)
    local top = rg.root:pointer("i", 8)
    top:place(mass)
    local below = top:pointer("i", 4)
    below:place(position)
    mass[2] = 5
    position[13] = 1.5
    assert.same({ 5, 0 }, { mass[2], mass[3] })
    assert.equal(2, top:count())
    assert.equal(1, below:count())
    assert.equal(1.5, position[13])
    assert.equal(0, position[8])
  end)
end)

describe("trees of many shapes", function()
  it("activate below the first of two dense siblings", function()
    local x, y = rg.field(rg.i32), rg.field(rg.i32)
    local first = rg.root:dense("i", 4)
    first:dense("i", 2):place(y)
    local second = first:dense("i", 2)
    local block = second:pointer("j", 4)
    block:dense("j", 4):place(x)
    x[7][9] = 3
    y[7] = 2
    assert.same({ 3, 0, 2 }, { x[7][9], x[6][9], y[7] })
    assert.equal(4, visits_2d(x))
    assert.is_true(block:is_active(7, 2))
    assert.is_false(block:is_active(6, 2))
  end)

  it("keep several children of one pointer cell separate", function()
    local a, b, c = rg.field(rg.i32), rg.field(rg.f64), rg.field(rg.u8)
    local block = rg.root:pointer("i", 7)
    block:dense("i", 5):place(a, b)
    block:dense("i", 3):place(c)
    local fill = rg.kernel(function()
      for i in rg.range(35) do
        a[i] = i
        b[i] = 0.5 * i
      end
      for i in rg.range(21) do c[i] = 10 * i end
    end)
    fill()
    for _, i in ipairs { 0, 4, 5, 17, 34 } do assert.same({ i, 0.5 * i }, { a[i], b[i] }) end
    for _, i in ipairs { 0, 2, 3, 20 } do assert.equal(10 * i, c[i]) end
    assert.equal(7, block:count())
  end)

  it("reach every corner of sizes that are not powers of two", function()
    local x, y = rg.field(rg.i32), rg.field(rg.i8)
    rg.root:pointer("ij", 5, 7):dense("ij", 3, 2):place(y, x)
    local corners = { { 0, 0 }, { 14, 0 }, { 0, 13 }, { 14, 13 }, { 2, 1 }, { 3, 2 }, { 11, 12 } }
    for number, at in ipairs(corners) do
      x[at[1]][at[2]] = number
      y[at[1]][at[2]] = -number
    end
    for number, at in ipairs(corners) do
      assert.same({ number, -number }, { x[at[1]][at[2]], y[at[1]][at[2]] })
    end
    assert.equal(6 * 6, visits_2d(x))
  end)

  it("work when they are made after kernels have run", function()
    local n = 5
    local function field() return rg.field(rg.i32) end
    local x = field()
    rg.root:pointer("i", n):place(x)
    local triple = rg.kernel(function()
      for i in rg.range(n) do x[i] = 3 * i end
    end)
    triple()
    local y, z = field(), field()
    rg.root:pointer("i", n):place(y)
    rg.root:pointer("i", n):place(z)
    local shift = rg.kernel(function()
      for i in rg.range(n) do
        y[i] = i + 5
        z[i] = i + 10
      end
    end)
    shift()
    local move = rg.kernel(function()
      for i in y:active() do y[i] = y[i] + 5 end
      for i in z:active() do z[i] = z[i] - 5 end
    end)
    move()
    for i = 0, n - 1 do assert.same({ 3 * i, i + 10, i + 5 }, { x[i], y[i], z[i] }) end
  end)

  it("are read and written together in one loop", function()
    local blocks, dense = rg.field(rg.i32), rg.field(rg.f32, 512)
    local other = rg.field(rg.i64)
    rg.root:pointer("i", 32):dense("i", 16):place(blocks)
    rg.root:pointer("i", 512):place(other)
    local copy = rg.kernel(function()
      for i in rg.range(512) do
        blocks[i] = i
        other[i] = blocks[i]
      end
      for i in blocks:active() do dense[i] = other[i] end
    end)
    copy()
    for i = 0, 511 do
      assert.equal(i, dense[i])
      assert.equal(i, blocks[i])
    end
  end)

  it("nest pointer in dense in pointer in dense", function()
    local x = rg.field(rg.i32)
    local top = rg.root:pointer("ij", 2)
    local middle = top:dense("ij", 2, 3):pointer("ij", 2)
    middle:dense("ij", 2):place(x)
    assert.same({ 16, 24 }, { x.shape[0], x.shape[1] })
    local fill = rg.kernel(function()
      for i, j in rg.range(16, 24) do
        if (i + j) % 8 == 0 then x[i][j] = 100 * i + j end
      end
      local wrong = 0
      for i, j in rg.range(16, 24) do
        local expected = 0
        if (i + j) % 8 == 0 then expected = 100 * i + j end
        if x[i][j] ~= expected then wrong = wrong + 1 end
      end
      return wrong
    end)
    assert.equal(0, fill())
    assert.equal(4 * middle:count(), visits_2d(x))
    assert.equal(4, top:count())
  end)

  it("may have leaves of one cell and blocks of one cell", function()
    local x, y = rg.field(rg.f32), rg.field(rg.f32)
    rg.root:pointer("ij", 5):dense("ij", 1):place(x)
    rg.root:pointer("ij", 1):dense("ij", 4):place(y)
    x[2][3], y[3][3] = 2, 3
    local total = rg.kernel(function()
      local n = 0
      for i, j in x:active() do n = n + x[i][j] end
      for i, j in y:active() do n = n + y[i][j] end
      return n
    end)
    assert.equal(5, total())
    assert.same({ 1, 16 }, { visits_2d(x), visits_2d(y) })
  end)

  it("activate below a dense child of the tree that has a sibling", function()
    local x, y = rg.field(rg.i32), rg.field(rg.i32)
    local tree = rg.tree()
    local first, second = tree:dense("i", 4), tree:dense("i", 4)
    first:pointer("i", 4):place(x)
    second:place(y)
    x[9], y[3] = 5, 6
    assert.equal(5, x[9])
    assert.equal(6, y[3])
    assert.equal(1, visits(x))
    assert.equal(4, visits(y))
  end)

  it("keep the corners of odd shapes of three axes separate", function()
    local x = rg.field(rg.i32)
    rg.root:pointer("ijk", 3, 5, 7):dense("ijk", 3, 1, 5):place(x)
    local corners, value = {}, 0
    for _, i in ipairs { 0, 8 } do
      for _, j in ipairs { 0, 4 } do
        for _, k in ipairs { 0, 34 } do
          value = value + 1
          corners[value] = { i, j, k }
          x[i][j][k] = value
        end
      end
    end
    for v, c in ipairs(corners) do assert.equal(v, x[c]) end
    assert.equal(0, x[4][2][17])
  end)

  it("have eight axes and several children per node", function()
    local axes = "ijklmnop"
    local x, y, z = rg.field(rg.i32), rg.field(rg.f64), rg.field(rg.u8)
    local tree = rg.tree()
    local block = tree:pointer(axes, 2, { name = "block" })
    block:dense(axes, 2):place(x, y)
    block:place(z)
    x:set(3, 2, 1, 0, 3, 2, 1, 0, 42)
    assert.equal(42, x[3][2][1][0][3][2][1][0])
    assert.equal(1, block:count())
    assert.equal(0, z:get(1, 1, 0, 0, 1, 1, 0, 0))
    z:set(1, 1, 0, 0, 1, 1, 0, 0, 200)
    assert.equal(200, z:get(1, 1, 0, 0, 1, 1, 0, 0))
    local count = rg.kernel(function()
      local n = 0
      for i, j, k, l, m, a, b, c in x:active() do n = n + 1 end
      return n
    end)
    assert.equal(256, count())
  end)
end)

describe("concurrent activation", function()
  it("makes each block once when its cells are written from many iterations", function()
    local x, block = sparse(rg.i32, "i", 128, 128)
    local first_cells = rg.kernel(function()
      for i in rg.range(128) do x[128 * i] = 1 end
    end)
    first_cells()
    assert.equal(16384, visits(x))
    block:clear()
    local own_index = rg.kernel(function()
      for i in rg.range(16384) do x[i] = i end
      local s = 0
      for i in x:active() do s = s + x[i] end
      return s
    end)
    assert.equal(16384 * 16383 / 2, own_index())
    assert.equal(128, block:count())
  end)

  it("is the same for scattered writes into two levels", function()
    local x = rg.field(rg.i32)
    local outer = rg.root:pointer("i", 64)
    local inner = outer:pointer("i", 16)
    inner:dense("i", 16):place(x)
    local scatter = rg.kernel(function()
      for i in rg.range(65536) do
        local at = (i * 7919) % 16384
        x[at] = x[at] + 1
      end
      local wrong = 0
      for i in rg.range(16384) do
        if x[i] ~= 4 then wrong = wrong + 1 end
      end
      return wrong
    end)
    assert.equal(0, scatter())
    assert.same({ 64, 1024 }, { outer:count(), inner:count() })
  end)
end)
