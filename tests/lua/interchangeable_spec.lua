-- interchangeable_spec.lua - fields of one type that are adjacent in the cells of one node
-- (interchangeable): a kernel is compiled once for all of them, and each launch says which are
-- meant.
local support = require "support"
local rg = support.rg

local function compiles(f, ...)
  local before = rg.stats()
  f(...)
  local after = rg.stats()
  return after.compiles + after.cache_hits - before.compiles - before.cache_hits
end

local function assert_known(f, ...) assert.equal(0, (compiles(f, ...))) end

local function fields(count, t)
  local list = {}
  for k = 1, count do list[k] = rg.field(t or rg.f32) end
  return unpack(list)
end

describe("interchangeable fields", function()
  it("are swapped without a compile", function()
    local a, b = fields(2)
    rg.root:dense("i", 64):place(a, b)
    local k = rg.kernel(function() for i in rg.range(64) do b[i] = a[i] + a[i - 1] + 1 end end)
    k()
    assert.equal(0, compiles(function()
      a, b = b, a
      k()
    end))
    assert.same({ 2, 3, 3 }, { b[0], b[1], b[63] })
    assert.same({ 1, 1, 1 }, { a[0], a[1], a[63] })
  end)

  it("preserve which fields are identical", function()
    local a, b, c = fields(3, rg.i32)
    rg.root:dense("i", 8):place(a, b, c)
    local add = rg.kernel(function(x, y, z)
      for i in rg.range(8) do x[i] = y[i] + 10 * z[i] end
    end)
    for i = 0, 7 do a[i], b[i], c[i] = 1, 2, 3 end
    add(a, b, c) assert.equal(32, a[5])
    assert_known(add, b, c, a) assert.equal(323, b[5])
    assert_known(add, c, a, b) assert.equal(3262, c[5])
    add(a, a, b) assert.equal(3262, a[5])
    assert_known(add, b, b, c) assert.equal(323 + 32620, b[5])
    add(a, a, a) assert.equal(11 * 3262, a[5])
    assert_known(add, c, c, c) assert.equal(11 * 3262, c[7])
  end)

  it("are interchangeable in sparse trees, in leaves and through neighbours", function()
    local t, n = fields(2)
    local block = rg.root:pointer("ij", 4)
    block:dense("ij", 8):place(t, n)
    local step = rg.kernel(function()
      for i, j in t:active() do
        n[i][j] = t[i - 1][j] + t[i + 1][j] + t[i][j - 1] + t[i][j + 1]
      end
    end)
    local read = rg.kernel(function(i, j) return t[i][j] end)
    t[8][8] = 1
    block:activate(0, 1)
    step() t, n = n, t
    assert.equal(1, read(7, 8))
    assert_known(function() step() t, n = n, t end)
    assert.equal(3, read(8, 8)) -- (8, 7) is in no block
    assert_known(read, 9, 9)
    assert.same({ 2, 0, 1 }, { t[7][9], t[7][8], t[10][8] })
  end)

  it("are interchangeable as vectors, in runs and in records", function()
    for _, layout in ipairs { "soa", "aos" } do
      local a, b, c = fields(3, rg.vec3)
      local other = rg.field(rg.f32)
      rg.root:dense("i", 16, { layout = layout }):place(a, other, b, c)
      local k = rg.kernel(function()
        for i in rg.range(16) do
          b[i] = a[i] * 2 + rg.vec3(i, 0, 1)
          c[i].y = a[i].x
        end
      end)
      k()
      a, b, c = b, c, a
      assert_known(k)
      a, b, c = b, c, a
      assert_known(k)
      assert.equal(rg.vec3(15, 0, 3), a[5])
      assert.equal(rg.vec3(35, 0, 7), b[5])
      assert.equal(rg.vec3(5, 15, 1), c[5])
    end
  end)

  it("are updated in private copies, one for each", function()
    local a, b = fields(2, rg.i32)
    local block = rg.root:pointer("i", 4)
    block:dense("i", 16):place(a, b)
    local count = rg.kernel(function()
      for i in rg.range(100000) do
        a[i % 64] = a[i % 64] + 1
        local k = math.floor(i / 2) % 64
        b[k] = b[k] + 2
      end
    end)
    count()
    local first, second = support.list(a), support.list(b)
    a, b = b, a
    assert_known(count)
    for i = 0, 63 do
      assert.equal(first[i + 1] + second[i + 1], a[i])
      assert.equal(first[i + 1] + second[i + 1], b[i])
    end
  end)

  it("are read by the host region, and with offsets", function()
    local a, b = fields(2)
    rg.root:dense("i", 8):place(a, b)
    a[3], b[3] = 5, 7
    local k = rg.kernel(function(x) local s = x[3] x[4] = s + 1 return s end)
    assert.equal(5, k(a))
    assert_known(function() assert.equal(7, k(b)) end)
    assert.same({ 6, 8 }, { a[4], b[4] })
  end)

  it("are not interchangeable with other types, and many in one launch are constants", function()
    local a, b, c = rg.field(rg.f32), rg.field(rg.i32), rg.field(rg.f32)
    rg.root:dense("i", 8):place(a, b, c)
    local k = rg.kernel(function(x, y) for i in rg.range(8) do x[i] = y[i] + 1 end end)
    k(a, b) k(a, c) k(c, a)
    assert.same({ 2, 0, 1 }, { c[0], b[0], a[0] })
    local many = { fields(12) }
    rg.root:dense("i", 8):place(unpack(many))
    local text = { "function(" }
    local names, terms = {}, {}
    for n = 1, 12 do names[n], terms[n] = "x" .. n, ("x%d[i]"):format(n) end
    text[2] = table.concat(names, ", ") .. ") for i in rg.range(8) do x1[i] = 1 + "
      .. table.concat(terms, " + ") .. " end end"
    local sum = rg.kernel(table.concat(text))
    sum(unpack(many))
    many[1], many[2] = many[2], many[1]
    sum(unpack(many))
    assert.same({ 2, 1, 0 }, { many[1][7], many[2][7], many[3][7] })
  end)
end)
