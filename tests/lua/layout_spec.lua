--- Layout: the addresses of elements, the shapes that are possible, and accesses out of bounds.
local ffi = require "ffi"
local rg = require "regolith"

local scalars = { "bool", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f16", "f32",
  "f64" }

local function code_of(action, ...)
  local ok, failure = pcall(action, ...)
  assert.is_false(ok)
  return failure.code, tostring(failure)
end

describe("the memory of a dense field #compiled", function()
  it("runs along the last axis #cpu", function()
    local x = rg.field(rg.i32, 3, 5)
    for i = 0, 2 do
      for j = 0, 4 do x[i][j] = 10 * i + j end
    end
    local p = x:pointer()
    for i = 0, 2 do
      for j = 0, 4 do assert.equal(10 * i + j, p[5 * i + j]) end
    end
  end)

  it("follows the nesting of its levels #cpu", function()
    local x = rg.field(rg.i32)
    rg.root:dense("j", 4):dense("i", 3):place(x)
    x[0][1], x[1][1], x[2][3] = 1, 11, 23
    local p = x:pointer()
    local function offset(value)
      for at = 0, 11 * 16 do
        if p[at] == value then return at end
      end
    end
    assert.equal(offset(1) + 1, offset(11))
  end)

  it("gives each element the size of its type #cpu", function()
    local sizes = { bool = 1, i8 = 1, i16 = 2, i32 = 4, i64 = 8, u8 = 1, u16 = 2, u32 = 4, u64 = 8,
      f16 = 2, f32 = 4, f64 = 8 }
    for _, name in ipairs(scalars) do
      local x = rg.field(rg[name], 5)
      local value = name == "bool" or 1
      x[4] = value
      local bytes = ffi.cast("uint8_t *", x:pointer())
      local size = sizes[name]
      for at = 0, 4 * size - 1 do assert.equal(0, bytes[at]) end
      local found = 0
      for at = 4 * size, 5 * size - 1 do found = found + bytes[at] end
      assert.is_true(found > 0)
    end
  end)

  it("gives each field of a node its own run, or a record of all with aos #cpu", function()
    for _, layout in ipairs { "soa", "aos" } do
      local a, b, c = rg.field(rg.f32), rg.field(rg.f64), rg.field(rg.f32)
      rg.root:dense("i", 8, { layout = layout }):place(a, b, c)
      for i = 0, 7 do a[i], b[i], c[i] = i, 10 * i, 100 * i end
      local first = ffi.cast("uint8_t *", a:pointer())
      local distance = tonumber(ffi.cast("uint8_t *", b:pointer()) - first)
      local stride = 4
      if layout == "aos" then
        stride = 0
        repeat stride = stride + 4 until ffi.cast("float *", first + stride)[0] == 1
        assert.is_true(stride <= 24 and stride >= 16)
        assert.is_true(distance < stride)
      else
        assert.is_true(math.abs(distance) >= 8 * 4)
      end
      for i = 0, 7 do assert.equal(i, ffi.cast("float *", first + i * stride)[0]) end
      local scale = rg.kernel(function()
        for i in a:active() do
          a[i] = 2 * a[i]
          b[i] = 2 * b[i]
          c[i] = a[i] + c[i]
        end
      end)
      scale()
      for i = 0, 7 do assert.same({ 2 * i, 20 * i, 102 * i }, { a[i], b[i], c[i] }) end
    end
  end)

  it("is the memory that C reads and writes #cpu", function()
    local x = rg.field(rg.f32, 100)
    local p = x:pointer()
    for i = 0, 99 do p[i] = i end
    local double = rg.kernel(function()
      for i in x:active() do x[i] = 2 * x[i] end
    end)
    double()
    assert.equal(198, x[99])
    assert.equal(198, x:pointer()[99])
  end)

  it("follows the order of the axes in the declaration #cpu", function()
    local x = rg.field(rg.f32)
    rg.root:dense("ji", 4, 8):place(x)
    x[3][2] = 5
    assert.equal(5, x:pointer()[2 * 8 + 3])
    local y = rg.field(rg.i16, 4, 8)
    y[3][2] = -7
    assert.equal(-7, y:pointer()[3 * 8 + 2])
  end)
end)

describe("a shape", function()
  it("may have eight axes", function()
    local x = rg.field(rg.i32, 2, 2, 3, 1, 2, 1, 2, 2)
    local fill = rg.kernel(function()
      for i, j, k, l, m, n, o, p in x:active() do
        x[i][j][k][l][m][n][o][p] = p + 10 * o + 100 * n + 1000 * m + 10000 * l + 100000 * k
          + 1000000 * j + 10000000 * i
      end
      local s = 0
      for i, j, k, l, m, n, o, p in rg.range(2, 2, 3, 1, 2, 1, 2, 2) do
        s = s + x[i][j][k][l][m][n][o][p]
      end
      return s
    end)
    local count = 2 * 2 * 3 * 2 * 2 * 2
    assert.equal(count / 2 * (1 + 10 + 1000 + 1000000 + 10000000) + count * 100000, fill())
    assert.equal(11201011, x[1][1][2][0][1][0][1][1])
    assert.equal(count, #x:to_table() * 2 * 3 * 2 * 2 * 2)
  end)

  it("may have eight axes of pointers", function()
    local x = rg.field(rg.i32)
    local block = rg.root:pointer("ijklmnop", 2, 1, 3, 1, 1, 2, 1, 2)
    block:dense("ijklmnop", 1, 2, 1, 2, 1, 1, 3, 1):place(x)
    x[1][1][2][1][0][1][2][1] = 5
    local sum = rg.kernel(function()
      local s, cells = 0, 0
      for i, j, k, l, m, n, o, p in x:active() do
        s = s + x[i][j][k][l][m][n][o][p] * (i + 2 * j + 4 * k + 8 * l + 16 * m + 32 * n + 64 * o
          + 128 * p)
        cells = cells + 1
      end
      return 10000 * cells + s
    end)
    assert.equal(12 * 10000 + 5 * (1 + 2 + 8 + 8 + 32 + 128 + 128), sum())
    assert.equal(1, block:count())
  end)

  it("may have sizes that are not powers of two", function()
    for _, n in ipairs { 3, 5, 7, 100, 80173 } do
      local x = rg.field(rg.i32)
      rg.root:dense("i", n):place(x)
      local fill = rg.kernel(function()
        local count = 0
        for i in x:active() do
          x[i] = i
          count = count + 1
        end
        return count
      end)
      assert.equal(n, fill())
      assert.same({ 0, n - 1 }, { x[0], x[n - 1] })
    end
  end)

  it("may mix levels with different axes", function()
    local x = rg.field(rg.i32)
    rg.root:dense("i", 3):dense("j", 5):dense("ik", 7, 2):place(x)
    assert.same({ 21, 5, 2 }, { x.shape[0], x.shape[1], x.shape[2] })
    local fill = rg.kernel(function()
      for i, j, k in x:active() do x[i][j][k] = 100 * i + 10 * j + k end
      local wrong = 0
      for i, j, k in rg.range(21, 5, 2) do
        if x[i][j][k] ~= 100 * i + 10 * j + k then wrong = wrong + 1 end
      end
      return wrong
    end)
    assert.equal(0, fill())
    assert.equal(2041, x[20][4][1])
  end)

  it("places several fields and children in one node", function()
    local a, b, c, d = rg.field(rg.u8), rg.field(rg.f64), rg.field(rg.i16), rg.field(rg.i32)
    local block = rg.root:dense("i", 5)
    block:place(a)
    block:dense("j", 3):place(b, c)
    block:place(d)
    local fill = rg.kernel(function()
      for i in a:active() do
        a[i] = 3 * i
        d[i] = -i
      end
      for i, j in b:active() do
        b[i][j] = i + j / 4
        c[i][j] = -100 * i - j
      end
    end)
    fill()
    for i = 0, 4 do
      assert.same({ 3 * i, -i }, { a[i], d[i] })
      for j = 0, 2 do assert.same({ i + j / 4, -100 * i - j }, { b[i][j], c[i][j] }) end
    end
  end)
end)

describe("fields of every scalar type", function()
  local extremes = {
    bool = { true, false },
    i8 = { -128, 127 }, i16 = { -32768, 32767 }, i32 = { -2147483648, 2147483647 },
    i64 = { -9223372036854775807LL - 1, 9223372036854775807LL },
    u8 = { 0, 255 }, u16 = { 0, 65535 }, u32 = { 0, 4294967295 },
      u64 = { 0ULL, 18446744073709551615ULL },
    f16 = { -65504, 2 ^ -24 }, f32 = { -3.4028234663852886e38, 2 ^ -149 },
      f64 = { -1.7976931348623157e308, 2 ^ -1074 },
  }

  it("keep their extremes from Lua, through kernels and through pointers", function()
    for _, name in ipairs(scalars) do
      local x, y = rg.field(rg[name], 4), rg.field(rg[name])
      rg.root:pointer("i", 2):dense("i", 2):place(y)
      local low, high = extremes[name][1], extremes[name][2]
      x[0], x[3] = low, high
      local copy = rg.kernel(function()
        for i in rg.range(4) do y[i] = x[3 - i] end
        for i in y:active() do x[i] = y[i] end
      end)
      copy()
      assert.equal(high, x[0])
      assert.equal(low, x[3])
      assert.equal(high, y[0])
      assert.equal(low, y[3])
    end
  end)

  it("share a leaf without touching each other", function()
    local fields = {}
    local block = rg.root:pointer("i", 3)
    local leaf = block:dense("i", 5)
    for number, name in ipairs(scalars) do
      fields[number] = rg.field(rg[name])
      leaf:place(fields[number])
    end
    for number = 2, #scalars do
      for i = 0, 14 do fields[number][i] = number + i end
    end
    for i = 0, 14 do fields[1][i] = i % 2 == 1 end
    for number = 2, #scalars do
      for i = 0, 14 do assert.equal(number + i, tonumber(fields[number][i])) end
    end
    for i = 0, 14 do assert.equal(i % 2 == 1, fields[1][i]) end
  end)
end)

describe("outside the shape", function()
  it("a stencil reads zero next to a wide row", function()
    local n = 10007
    local x, y = rg.field(rg.f32, n), rg.field(rg.f32, n)
    x:fill(1)
    local blur = rg.kernel(function()
      for i in x:active() do y[i] = x[i - 1] + x[i] + x[i + 1] + x[i - 2] + x[i + 2] end
    end)
    blur()
    assert.same({ 3, 4, 5, 5 }, { y[0], y[1], y[2], y[3] })
    assert.same({ 5, 4, 3 }, { y[n - 3], y[n - 2], y[n - 1] })
    local wrong = 0
    for i = 2, n - 3 do wrong = wrong + (y[i] == 5 and 0 or 1) end
    assert.equal(0, wrong)
  end)

  it("a stencil reads zero around a plane", function()
    local x, y = rg.field(rg.i32, 37, 53), rg.field(rg.i32, 37, 53)
    local stencil = rg.kernel(function()
      for i, j in x:active() do x[i][j] = 1 end
      for i, j in x:active() do
        y[i][j] = x[i - 1][j] + 10 * x[i + 1][j] + 100 * x[i][j - 1] + 1000 * x[i][j + 1]
      end
    end)
    stencil()
    assert.same({ 1010, 1101, 110, 101 }, { y[0][0], y[36][20] , y[0][52], y[36][52] })
    assert.same({ 1011, 111, 1110, 1111 }, { y[20][0], y[20][52], y[0][20], y[20][20] })
    assert.equal(1001, y[36][0])
  end)

  it("a stencil reads zero around a sparse volume, and between its blocks", function()
    local x, y = rg.field(rg.i32), rg.field(rg.i32)
    local block = rg.root:pointer("ijk", 3)
    block:dense("ijk", 4):place(x, y)
    local fill = rg.kernel(function()
      for i, j, k in rg.range(4, 4, 4) do x[i][j][k] = 1 end
      for i, j, k in rg.range({ 8, 12 }, { 8, 12 }, { 8, 12 }) do x[i][j][k] = 1 end
    end)
    local gather = rg.kernel(function()
      for i, j, k in x:active() do
        y[i][j][k] = x[i - 1][j][k] + x[i + 1][j][k] + x[i][j - 1][k] + x[i][j + 1][k]
          + x[i][j][k - 1] + x[i][j][k + 1]
      end
    end)
    fill()
    gather()
    assert.same({ 3, 6, 4, 5 }, { y[0][0][0], y[1][2][1], y[0][0][2], y[3][1][1] })
    assert.same({ 3, 6, 3 }, { y[8][8][8], y[9][9][9], y[11][11][11] })
    assert.equal(2, block:count())
    x[4][0][0] = 1
    gather()
    assert.equal(4, y[3][0][0])
    assert.equal(1, y[4][0][0])
    assert.equal(1, y[5][0][0])
    assert.equal(3, block:count())
  end)

  it("a stencil crosses the borders of blocks of every size", function()
    for _, leaf in ipairs { 1, 2, 3, 8 } do
      local x, y = rg.field(rg.i64), rg.field(rg.i64)
      rg.root:pointer("ij", 5):dense("ij", leaf):place(x, y)
      local n = 5 * leaf
      local gather = rg.kernel(function()
        for i, j in rg.range(n, n) do x[i][j] = 1000 * i + j end
        for i, j in x:active() do y[i][j] = x[i + 1][j - 2] + x[i - 3][j + 1] end
        local wrong = 0
        for i, j in rg.range(n, n) do
          local expected = rg.i64(0)
          if i + 1 < n and j - 2 >= 0 then expected = expected + 1000 * (i + 1) + j - 2 end
          if i - 3 >= 0 and j + 1 < n then expected = expected + 1000 * (i - 3) + j + 1 end
          if y[i][j] ~= expected then wrong = wrong + 1 end
        end
        return wrong
      end)
      assert.equal(0, gather())
    end
  end)

  it("writes do nothing but are counted", function()
    local x, y = rg.field(rg.i32, 10), rg.field(rg.i32)
    rg.root:pointer("ij", 2):dense("ij", 3):place(y)
    local stray = rg.kernel(function(shift)
      for i in rg.range(10) do x[i + shift] = i + 1 end
      for i in rg.range(10) do x[i + shift] = x[i + shift] + 100 end
      for i, j in rg.range(6, 6) do y[i - 1][j + shift] = 1 end
    end)
    local before = rg.stats().out_of_range
    stray(0)
    assert.equal(6, rg.stats().out_of_range - before)
    stray(3)
    assert.equal(6 + 3 + 3 + 6 + 5 * 3, rg.stats().out_of_range - before)
    stray(-20)
    assert.equal(6 + 27 + 10 + 10 + 36, rg.stats().out_of_range - before)
    assert.same({ 101, 102, 103, 101 }, { x[0], x[1], x[2], x[3] })
    assert.equal(4, y:count() / 9)
  end)
end)

describe("a declaration", function()
  it("is used only once it has a place", function()
    local x = rg.field(rg.i32)
    local use = rg.kernel(function() for i in rg.range(3) do x[i] = i end end)
    assert.equal("field.unplaced", (code_of(use)))
    assert.equal("field.unplaced", (code_of(function() return x[0] end)))
    rg.root:dense("i", 3):place(x)
    use()
    assert.equal(2, x[2])
  end)
end)
