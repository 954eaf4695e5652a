local support = require "support"
local rg, sparse, visits, visits2 = support.rg, support.sparse, support.visits, support.visits2

describe("a pointer field", function()
  it("reads zero where nothing was written", function()
    local x, block = sparse(rg.i32, "i", 8, 8)
    assert.equal(0, x[17])
    assert.is_false(block:is_active(2))
    assert.is_false(x:is_active(17))
    assert.equal(0, block:count())
  end)

  it("visits all cells of the blocks that were written", function()
    local x = sparse(rg.i32, "i", 128, 128)
    x[0], x[127], x[256] = 1, 2, 3
    assert.equal(256, visits(x))
  end)

  it("tells in a kernel which blocks are active", function()
    local x, block = sparse(rg.i32, "i", 128, 128)
    x[0], x[127], x[256] = 1, 2, 3
    local count = rg.kernel(function()
      local n = 0
      for i in rg.range(128 * 128) do
        if block:is_active(math.floor(i / 128)) then n = n + 1 end
      end
      return n
    end)
    assert.equal(256, count())
  end)

  it("may be placed directly under pointer cells, below a dense level", function()
    local x = rg.field(rg.f32)
    local slot = rg.root:dense("i", 128):pointer("j", 128)
    slot:place(x)
    x[0][0], x[0][127], x[127][127] = 1, 2, 3
    assert.equal(3, visits2(x))
    assert.equal(3, slot:count())
    assert.equal(2, x[0][127])
    assert.equal(0, x[127][0])
  end)

  it("counts the cells of two pointer levels, and reading far away changes nothing", function()
    local x = rg.field(rg.i32)
    rg.root:pointer("i", 128):pointer("i", 128):dense("i", 128):place(x)
    local plane = 128 * 128
    for _, i in ipairs { 0, 1, 5 * 128, 5 * 128 + 127, 3 * plane, 3 * plane + 7 * 128, 127 * plane + 127 * 128 } do
      x[i] = 1
    end
    assert.equal(640, visits(x))
    local far = 77 * plane + 5
    local read = rg.kernel(function() return x[far] end)
    assert.equal(0, x[far])
    assert.equal(0, read())
    assert.equal(640, visits(x))
  end)

  it("has zeros in blocks that were activated without a write", function()
    local x, block = sparse(rg.i32, "i", 8, 16)
    block:activate(0)
    block:activate(2)
    assert.equal(32, visits(x))
    for i = 0, 127 do assert.equal(0, x[i]) end
  end)

  it("activates below the first of two dense siblings", function()
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

  it("loses a block by deactivation and gets it back by a write", function()
    local x, block = sparse(rg.i32, "i", 16, 16)
    x[0], x[19] = 1, 2
    assert.equal(32, visits(x))
    block:deactivate(0)
    assert.equal(16, visits(x))
    x[0], x[19], x[20], x[45] = 1, 2, 3, 4
    assert.equal(48, visits(x))
    block:deactivate(0)
    assert.equal(32, visits(x))
  end)

  it("reads zero from recycled memory", function()
    local x, block = sparse(rg.i32, "i", 16, 16)
    local fill = rg.kernel(function() for i in rg.range(256) do x[i] = 1 end end)
    local empty = rg.kernel(function() for i in block:active() do block:deactivate(i) end end)
    fill()
    assert.equal(16, block:count())
    empty()
    assert.equal(0, block:count())
    for i = 0, 255 do assert.equal(0, x[i]) end
    x[10] = 10
    for i = 0, 255 do assert.equal(i == 10 and 10 or 0, x[i]) end
  end)

  it("keeps every value over a hundred rounds of copy and clear", function()
    local x, x_block = sparse(rg.i32, "ij", 16, 16)
    local copy, copy_block = sparse(rg.i32, "ij", 16, 16)
    local fill = rg.kernel(function() for i, j in rg.range(256, 256) do x[i][j] = i + j end end)
    local save = rg.kernel(function() for i, j in x:active() do copy[i][j] = x[i][j] end end)
    local load = rg.kernel(function()
      for i, j in copy:active() do
        if copy[i][j] < 100 then x[i][j] = copy[i][j] end
      end
    end)
    fill()
    for _ = 1, 100 do
      save()
      x_block:clear()
      load()
      copy_block:clear()
    end
    for i = 0, 255, 3 do
      for j = 0, 255, 5 do assert.equal(i + j < 100 and i + j or 0, x[i][j]) end
    end
  end)

  it("counts its blocks by a loop over the node", function()
    local x, block = sparse(rg.f32, "ijk", 2, 8)
    x[3][9][15] = 1
    local count = rg.kernel(function()
      local n = 0
      for i, j, k in block:active() do n = n + 1 end
      return n
    end)
    assert.equal(1, count())
    assert.equal(1, block:count())
  end)

  it("lets iterations end early, in active and in range loops", function()
    local x = sparse(rg.i32, "i", 4, 4)
    for b = 0, 3 do x[4 * b + b] = 1 end
    local kernels = [=[function()
      local n = 0
      for i in HEAD do
        if x[i] ~= 0 then continue end
        n = n + 1
      end
      return n
    end]=]
    assert.equal(12, rg.kernel(kernels:gsub("HEAD", "x:active()"), { x = x })())
    assert.equal(12, rg.kernel(kernels:gsub("HEAD", "rg.range(16)"), { x = x })())
  end)

  it("gives each visit its own coordinates", function()
    local x = sparse(rg.i32, "ij", 3, 8)
    x[7][7] = 1
    local sum = rg.kernel(function()
      local s = 0
      for i, j in x:active() do s = s + i + 2 * j end
      return s
    end)
    assert.equal(672, sum())
  end)

  it("is activated by many iterations at once", function()
    local x = sparse(rg.i32, "i", 128, 128)
    local first = rg.kernel(function() for b in rg.range(128) do x[128 * b] = b end end)
    first()
    assert.equal(128 * 128, visits(x))
    local own = rg.kernel(function() for i in rg.range(16384) do x[i] = i end end)
    local sum = rg.kernel(function()
      local s = 0
      for i in x:active() do s = s + x[i] end
      return s
    end)
    own()
    assert.equal(16384 * 16383 / 2, sum())
  end)

  it("does not grow when filled and cleared again and again #compiled", function()
    local x, block = sparse(rg.i32, "ij", 64, 8)
    local fill = rg.kernel(function() for i, j in rg.range(512, 512) do x[i][j] = 1 end end)
    local clear = rg.kernel(function()
      for i, j in x:active() do block:deactivate(math.floor(i / 8), math.floor(j / 8)) end
    end)
    local after_two
    for round = 1, 10 do
      fill()
      assert.equal(64 * 64, block:count())
      clear()
      assert.equal(0, block:count())
      if round == 2 then after_two = rg.memory().reserved end
    end
    assert.is_true(rg.memory().reserved <= after_two)
  end)

  it("meets dense fields and other trees in one kernel", function()
    local dense, x = rg.field(rg.f32, 512), sparse(rg.i32, "i", 32, 16)
    local other = sparse(rg.f64, "i", 4, 128)
    local copy = rg.kernel(function()
      for i in rg.range(512) do
        dense[i] = i
        other[i] = 2 * i
        x[i] = i
      end
    end)
    copy()
    for i = 0, 511 do
      assert.equal(i, dense[i])
      assert.equal(i, x[i])
      assert.equal(2 * i, other[i])
    end
  end)

  it("may be empty under loops with branches", function()
    local x = sparse(rg.i32, "i", 16, 16)
    local count = rg.kernel(function()
      local n = 0
      for i in x:active() do
        if bit.band(i, 1) == 1 or (bit.band(i, 4) ~= 0 and x[i] > 0) then n = n + 1 elseif i > 100 then n = n + 2 end
      end
      return n
    end)
    assert.equal(0, count())
    x[0] = 1
    assert.equal(8, count())
  end)

  it("may be declared after kernels ran", function()
    local first = sparse(rg.i32, "i", 4, 4)
    first[3] = 7
    assert.equal(4, visits(first))
    local x, y, z = rg.field(rg.i32), rg.field(rg.i32), rg.field(rg.i32)
    for _, f in ipairs { x, y, z } do rg.root:pointer("i", 5):place(f) end
    local set = rg.kernel(function()
      for i in rg.range(5) do
        x[i] = 3 * i
        y[i] = i + 5
        z[i] = i + 10
      end
    end)
    local move = rg.kernel(function()
      for i in y:active() do y[i] = y[i] + 5 end
      for i in z:active() do z[i] = z[i] - 5 end
    end)
    set()
    move()
    for i = 0, 4 do
      assert.equal(3 * i, x[i])
      assert.equal(i + 10, y[i])
      assert.equal(i + 5, z[i])
    end
    assert.equal(7, first[3])
  end)

  it("takes sizes that are not powers of two", function()
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

  it("keeps the corners of odd shapes apart", function()
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

  it("is activated together with its ancestors", function()
    local x = rg.field(rg.i32)
    local outer = rg.root:pointer("i", 8)
    local inner = outer:pointer("i", 8)
    inner:dense("i", 8):place(x)
    inner:activate(9)
    assert.is_true(outer:is_active(1))
    assert.is_true(inner:is_active(9))
    assert.equal(1, outer:count())
    assert.equal(8, visits(x))
    for i = 0, 511 do assert.equal(0, x[i]) end
  end)

  it("is not touched by deactivating what is inactive, nor by doing it twice", function()
    local x, block = sparse(rg.i32, "i", 16, 16)
    block:deactivate(3)
    assert.equal(0, block:count())
    x[40], x[100] = 1, 2
    local twice = rg.kernel(function() for i in rg.range(10000) do block:deactivate(2) end end)
    twice()
    assert.equal(1, block:count())
    assert.equal(2, x[100])
    x[40] = 3
    assert.equal(2, block:count())
  end)

  it("frees the children of a deactivated parent, and leaves the parent of freed children", function()
    local x = rg.field(rg.i32)
    local outer = rg.root:pointer("i", 8)
    local inner = outer:pointer("i", 8)
    inner:dense("i", 8):place(x)
    for i = 0, 63 do x[i] = i end
    assert.equal(8, inner:count())
    outer:deactivate(0)
    assert.equal(0, inner:count())
    assert.equal(0, outer:count())
    for i = 0, 63 do assert.equal(0, x[i]) end
    for i = 0, 63 do x[i] = i end
    for i = 0, 7 do inner:deactivate(i) end
    assert.equal(0, inner:count())
    assert.is_true(outer:is_active(0))
  end)

  it("may deactivate what a loop visits: the visits are those of its beginning", function()
    local x, block = sparse(rg.i32, "i", 64, 4)
    for i = 0, 255 do x[i] = 1 end
    local empty = rg.kernel(function()
      local n = 0
      for i in block:active() do
        block:deactivate(i)
        n = n + 1
      end
      return n
    end)
    assert.equal(64, empty())
    assert.equal(0, empty())
  end)

  it("may activate in a loop: new blocks are visited by the next one", function()
    local x, block = sparse(rg.i32, "i", 64, 4)
    block:activate(0)
    local grow = rg.kernel(function()
      local n = 0
      for i in block:active() do
        block:activate(i + 1)
        n = n + 1
      end
      return n
    end)
    assert.equal(1, grow())
    assert.equal(2, grow())
    assert.equal(3, grow())
    assert.equal(16, visits(x))
  end)

  it("holds only new values after a block was emptied and written in one kernel", function()
    local x, block = sparse(rg.i32, "i", 8, 8)
    for i = 0, 63 do x[i] = 9 end
    local renew = rg.kernel(function()
      for i in block:active() do block:deactivate(i) end
      for i in rg.range(8) do x[8 * i] = i + 1 end
    end)
    renew()
    for i = 0, 63 do assert.equal(i % 8 == 0 and i / 8 + 1 or 0, x[i]) end
  end)

  it("uses one block again and again when one at a time is there", function()
    local x = rg.field(rg.i32)
    local outer = rg.root:pointer("ij", 32)
    outer:pointer("ij", 4):dense("ij", 8):place(x)
    local reserved
    for round = 0, 1023 do
      local i = round % 1024
      x[i][i] = 1
      assert.equal(64, visits2(x))
      outer:clear()
      if round == 15 then reserved = rg.memory().reserved end
    end
    assert.is_true(rg.memory().reserved <= reserved)
  end)

  it("activates in one go exactly what an index pattern asks for, a hundred times over", function()
    local x, block = sparse(rg.i32, "i", 1000, 4)
    local touch = rg.kernel(function() for i in rg.range(4000) do x[(7 * i) % 2000] = 1 end end)
    for _ = 1, 100 do
      touch()
      assert.equal(500, block:count())
      block:clear()
    end
  end)

  it("takes trees of many axes and several children per node", function()
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
