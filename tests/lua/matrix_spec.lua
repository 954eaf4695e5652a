-- matrix_spec.lua - rg.matrix: sparse matrices, from Lua and from kernels.
local support = require "support"
local rg, failure = support.rg, support.failure

local state = 7
local function random(n)
  state = (state * 16807) % 2147483647
  return state % n
end

-- A matrix of small whole numbers, and the same as a table of rows.
local function random_matrix(n, m, count)
  local A, rows = rg.matrix(n, m), {}
  for i = 1, n do
    rows[i] = {}
    for j = 1, m do rows[i][j] = 0 end
  end
  for _ = 1, count do
    local i, j, v = random(n), random(m), random(9) + 1
    A:add(i, j, v)
    rows[i + 1][j + 1] = rows[i + 1][j + 1] + v
  end
  return A, rows
end

local function product(a, b)
  local c = {}
  for i = 1, #a do
    c[i] = {}
    for j = 1, #b[1] do
      local sum = 0
      for k = 1, #b do sum = sum + a[i][k] * b[k][j] end
      c[i][j] = sum
    end
  end
  return c
end

describe("a sparse matrix", function()
  it("is made from rows, triplets and compressed rows", function()
    local rows = { { 4, 0, 1 }, { 0, 0, 2 } }
    assert.same(rows, rg.matrix(rows):to_table())
    assert.same(rows, rg.matrix { shape = { 2, 3 }, rows = { 1, 0, 0, 1 }, columns = { 2, 2, 0, 2 },
      values = { 1.5, 1, 4, 0.5 } }:to_table())
    assert.same(rows, rg.matrix { shape = { 2, 3 }, starts = { 0, 2, 3 }, columns = { 2, 0, 2 },
      values = { 1, 4, 2 }, type = rg.f32 }:to_table())
    local A = rg.matrix { shape = { 2, 3 }, rows = rg.array(rg.i64, 1), type = rg.f32, name = "A",
      columns = rg.array(rg.i32, 1), values = rg.array(rg.f64, 1):fill(3) }
    assert.equal('matrix f32 "A" [2 x 3], 1 element', tostring(A))
    assert.same({ { 1, 0 }, { 0, 1 } }, rg.matrix.identity(2):to_table())
    assert.equal("matrix f32 [2 x 2], 0 elements", tostring(rg.matrix(2, rg.f32)))
    assert.same({ { 3, 0 }, { 0, 5 } }, rg.matrix.diagonal({ 3, 5 }):to_table())
  end)

  it("sums up what parallel loops add, in a fixed order #compiled", function()
    local n = 700
    local function build()
      local A = rg.matrix(n, n)
      rg.kernel(function()
        for t in rg.range(20 * n) do
          local i, j = (t * 7919) % n, (t * t) % 13
          A:add(i, j, 1 / (1 + rg.f64(t)))
          A:add(i, i, 1)
        end
      end)()
      return A
    end
    local A, B = build(), build()
    local is_same, sum = true, 0
    for k = 0, A:count() - 1 do sum = sum + A.values[k] end
    for k = 0, B:count() - 1 do is_same = is_same and A.values[k] == B.values[k] end
    assert.is_true(is_same and A:count() == B:count())
    local expected = 0
    for t = 0, 20 * n - 1 do expected = expected + 1 / (1 + t) + 1 end
    assert.near(expected, sum, 1e-9)
    assert.is_true(A:get(3, 3) >= 20)
    rg.kernel(function() A:add(n, 0, 1) end)()
    local warning
    rg.log.to(function(_, text) warning = text end)
    assert.equal(B:count(), A:count())
    rg.log.to()
    assert.matches("1 element outside, as (700, 0), was dropped", warning, 1, true)
  end)

  it("sorts long rows as well as short ones", function()
    local n = 900
    local A = rg.matrix(2, n)
    for k = n, 1, -1 do
      A:add(0, (k * 577) % n, k)
      A:add(0, (k * 577) % n, 0.25)
    end
    assert.equal(n, A:count())
    for k = 1, n do assert.equal(k + 0.25, A:get(0, (k * 577) % n)) end
    for k = 1, n - 1 do assert.is_true(A.columns[k - 1] < A.columns[k]) end
  end)

  it("adds to what was assembled before, and can be emptied", function()
    local A = rg.matrix { { 1, 0 }, { 0, 2 } }
    A:add(0, 1, 5)
    A:add(1, 1, 5)
    assert.equal("matrix f64 [2 x 2], 2 elements, 2 to be added", tostring(A))
    assert.same({ { 1, 5 }, { 0, 7 } }, A:to_table())
    A:add(0, 0, 1)
    assert.equal(0, A:clear():count())
  end)

  it("multiplies vectors, numbers and matrices, as tables would", function()
    local A, a = random_matrix(17, 23, 90)
    local B, b = random_matrix(23, 11, 80)
    assert.same(product(a, b), (A * B):to_table())
    local wide = rg.matrix { shape = { 23, 1e6 }, rows = { 3, 3, 7 }, columns = { 9e5, 2, 2 },
      values = { 5, 3, 2 } }
    local of_wide = A * wide -- whose rows have too many columns for a row of sums
    assert.equal(5 * a[1][4], of_wide:get(0, 9e5))
    assert.equal(3 * a[17][4] + 2 * a[17][8], of_wide:get(16, 2))
    local x, column = {}, {}
    for k = 1, 23 do
      x[k] = random(5)
      column[k] = { x[k] }
    end
    local y, expected = A * x, product(a, column)
    for k = 1, 17 do assert.equal(expected[k][1], y[k - 1]) end
    local moved = rg.field { type = rg.f32, shape = { 23 }, offset = { -4 } }
    local unmoved = rg.array(rg.f32, 23)
    for k = 1, 23 do moved[k - 5], unmoved[k - 1] = x[k], x[k] end
    for _ = 1, 2 do -- texts of kernels are kept by where indices begin
      assert.equal(expected[9][1], (A * unmoved)[8])
      assert.equal(expected[9][1], (A * moved)[8])
    end
    assert.equal(2.5 * a[3][4], (2.5 * A):get(2, 3))
    assert.same((A + A):to_table(), (A * 2):to_table())
    assert.same((A - A:copy()):to_table(), (0 * A):to_table())
    assert.same((-A):to_table(), (A / -1):to_table())
  end)

  it("has gradients of what it is multiplied by", function()
    local A, a = random_matrix(9, 7, 30)
    local x = rg.field(rg.f64, 7, { grad = true })
    local y, z = rg.field(rg.f64, 9, { grad = true }), rg.field(rg.f64, 7, { grad = true })
    local loss = rg.field(rg.f64, 1, { grad = true })
    local T = A:transpose()
    local measure = rg.kernel(function()
      for i in rg.range(7) do loss[0] = loss[0] + z[i] * z[i] end
    end)
    local function run()
      A:apply(x, y)
      A:apply(x, y) -- which repeats the same product
      T:apply(y, z)
      measure()
    end
    local vector = {}
    for k = 1, 7 do vector[k] = random(5) end
    x:from_table(vector)
    rg.grad(loss, run)
    local images = T * (A * (T * (A * vector))) -- of loss = |T A x|^2
    for k = 0, 6 do assert.near(2 * images[k], x.grad[k], 1e-9) end
    local X = rg.field(rg.f64, 7, 2, { grad = true })
    local Y = rg.field(rg.f64, 9, 2, { grad = true })
    X:fill(1)
    rg.grad(loss, function()
      A:apply(X, Y)
      rg.kernel(function() for i in rg.range(9) do loss[0] = loss[0] + Y[i][1] end end)()
    end)
    local column = 0
    for i = 1, 9 do column = column + a[i][3] end
    assert.near(column, X.grad[2][1], 1e-12)
    assert.equal(0, X.grad[2][0])
  end)

  it("multiplies several vectors at once", function()
    local A = rg.matrix { { 4, -1 }, { 0, 2 }, { 1, 1 } }
    local X = rg.field { type = rg.f64, shape = { 2, 3 }, offset = { 0, -1 } }
    X:from_table { { 1, 2, 3 }, { 4, 5, 6 } }
    assert.same({ { 0, 3, 6 }, { 8, 10, 12 }, { 5, 7, 9 } }, (A * X):to_table())
  end)

  it("has a transpose, slices and a diagonal", function()
    local A, a = random_matrix(17, 23, 120)
    local t, s, d = A:transpose():to_table(), A:slice(3, 5, 7, 9):to_table(), A:diagonal()
    for i = 1, 17 do
      for j = 1, 23 do assert.equal(a[i][j], t[j][i]) end
      assert.equal(a[i][i], d[i - 1])
    end
    for i = 1, 5 do for j = 1, 9 do assert.equal(a[3 + i][7 + j], s[i][j]) end end
    assert.is_false(A:is_symmetric())
    assert.is_true((A * A:transpose()):is_symmetric())
  end)

  it("is read in kernels, by elements and by rows", function()
    local A, a = random_matrix(9, 9, 30)
    A:assemble()
    local differing = rg.kernel(function(dense)
      local count = 0
      for i, j in rg.range(9, 9) do
        if A:get(i, j) ~= dense[i][j] then count = count + 1 end
      end
      return count
    end)
    assert.equal(0, differing(rg.array(rg.f64, 9, 9):from_table(a)))
    local total = rg.kernel(function()
      local sum = 0
      for i in rg.range(A.row_count) do
        for j, v in A:row(i) do sum = sum + v * (j + 1) end
      end
      return sum
    end)
    local sum, walked = 0, 0
    for i = 1, 9 do
      for j = 1, 9 do sum = sum + a[i][j] * j end
      for j, v in A:row(i - 1) do walked = walked + v * (j + 1) end
    end
    assert.same({ sum, sum }, { total(), walked })
  end)

  it("has blocks", function()
    local A = rg.matrix { shape = { 2, 2 }, block = 2 }
    local m = rg.mat(2, 2, rg.f64)
    local function fill()
      for i in rg.range(2) do A:add(i, i, m(1, 2, 3, 4)) end
      A:add(0, 1, m(0, 1, 0, 0))
      A:add(0, 0, m(1, 0, 0, 0))
    end
    if os.getenv "RG_ARCH" ~= "lua" then fill = rg.kernel(fill) end
    fill()
    assert.same({ { 2, 2, 0, 1 }, { 3, 4, 0, 0 }, { 0, 0, 1, 2 }, { 0, 0, 3, 4 } },
      A:scalar():to_table())
    local y = A * { { 1, 10 }, { 100, 1000 } }
    assert.equal(rg.dvec2(1022, 43), y[0])
    assert.equal(rg.dvec2(2100, 4300), y[1])
    assert.same(A:scalar():transpose():to_table(), A:transpose():scalar():to_table())
    assert.same((A:scalar() * A:scalar()):to_table(), (A * A):scalar():to_table())
  end)

  it("shows its pattern as a picture", function()
    local A = rg.matrix.identity(1000)
    A:add(0, 999, 1)
    local p = A:pattern(10)
    assert.equal(100, p[0][9]) -- the first rows are at the top
    assert.equal(1, p[9][9])
    assert.equal(1001, p:sum())
  end)

  it("has the operations of Taichi's matrices", function()
    local function filled(n, f)
      local A = rg.matrix(n, n, rg.f32)
      for i = 0, n - 1 do for j = 0, n - 1 do A:add(i, j, f(i, j)) end end
      return A
    end
    local function plus(i, j) return i + j end
    local function minus(i, j) return i - j end
    local A, B = filled(8, plus), filled(8, minus)
    local sum, difference, tripled = A + B, A - B, 3 * A
    for i = 0, 7 do
      for j = 0, 7 do
        assert.same({ 2 * i, 2 * j, 3 * (i + j) }, { sum:get(i, j), difference:get(i, j),
          tripled:get(i, j) })
        assert.equal(B:get(j, i), B:transpose():get(i, j))
      end
    end
    assert.same({ 28, 36, 44, 52, 60, 68, 76, 84 },
      (A * rg.array(rg.f32, 8):fill(1)):to_table())
    assert.same({ { 1, 0 }, { 2, -1 } }, (filled(2, plus) * filled(2, minus)):to_table())
  end)

  it("is written to files, and read from them", function()
    local A, a = random_matrix(9, 6, 20)
    for _, ending in ipairs { ".mtx", ".npz" } do
      local path = os.tmpname() .. ending
      A:write(path)
      assert.same(a, rg.matrix.read(path):to_table())
      os.remove(path)
    end
    local path = os.tmpname() .. ".mtx"
    local function read(text)
      support.write_file(path, text)
      return rg.matrix.read(path):to_table()
    end
    local head = "%%MatrixMarket matrix coordinate "
    assert.same({ { 2, 1 }, { 1, 0 } }, read(head .. "real symmetric\n% a\n2 2 2\n1 1 2\n2 1 1\n"))
    assert.same({ { 0, -3 }, { 3, 0 } }, read(head .. "integer skew-symmetric\n2 2 1\n2 1 3\n"))
    assert.same({ { 0, 1 } }, read(head .. "pattern general\n1 2 1\n1 2\n"))
    assert.same({ { 1, 3 }, { 2, 4 } },
      read "%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n4\n")
    for _, text in ipairs { "", "2 2 1", head .. "complex general\n1 1 1\n1 1 1 1\n",
      head .. "real general\n2 2 1\n3 1 1\n", head .. "real general\n2 2 2\n1 1 1\n",
      head .. "real general\n2 x\n", head .. "real symmetric\n2 3 0\n" } do
      support.write_file(path, text)
      assert.equal("io.failed", failure(rg.matrix.read, path).code, text)
    end
    os.remove(path)
    assert.matches("does not end with", failure(A.write, A, "a.txt").message)
  end)

  it("reports each mistake in one sentence", function()
    local A = rg.matrix(3, 4)
    for _, case in ipairs {
      { function() rg.matrix(0) end, "must be a whole number from 1, got 0" },
      { function() rg.matrix(3, 3, rg.i32) end, "f32 or f64, not i32" },
      { function() rg.matrix { shape = 3 } end, "needs its shape" },
      { function() rg.matrix { shape = { 2, 2 }, block = 9 } end, "must be 1 to 4, got 9" },
      { function() rg.matrix { { 1, 2 }, { 3 } } end, "row 1 must have 2 numbers" },
      { function() rg.matrix { { 1, "a" } } end, "must be a number, got \"a\"" },
      { function()
        rg.matrix { shape = { 2, 2 }, rows = { 0, 1 }, columns = { 0 }, values = { 1 } }
      end, "'rows' has 2 elements, but 'columns' has 1" },
      { function() rg.matrix { shape = { 2, 2 }, starts = { 0, 1, 1 }, columns = { 2 },
        values = { 1 } } end, "not the compressed rows" },
      { function() return A * A end, "as many columns as the second has rows" },
      { function() return A + A:transpose() end, "the shapes differ" },
      { function() return A + 1 end, "is not defined" },
      { function() return A * { 1, 2, 3 } end, "an element for each of 4 columns" },
      { function() return A * rg.array(rg.i32, 4) end, "must be f64, not i32" },
      { function() A:slice(2, 2) end, "has 3 rows" },
      { function() A:add(3, 0, 1) end, "has no row 3" },
      { function() return A:get(0, 4) end, "has no column 4" },
      { function() A:add(0, 0, "x") end, "a number as its last argument, not \"x\"" },
      { function() A:transpos() end, "a matrix has no 'transpos'" },
      { function() return A ^ 2 end, "^ 2 is not defined" },
      { function() return 2 / A end, "2 / matrix f64 [3 x 4], 0 elements is not defined" },
      { function() A.transpose() end, "called with a colon" },
      { function() return A[0][1] end, "cannot be indexed by brackets" },
      { function() A.vlues = 3 end, "'vlues' of a matrix cannot be set" },
      { function() return A * rg.array(rg.f64, 3, 2) end, "a row of numbers for each of 4 col" },
    } do
      assert.matches(case[2], failure(case[1]).message, 1, true)
    end
    assert.equal("'A' is a matrix and cannot be used as a value in a kernel",
      failure(rg.kernel("function() print(A * 2) end", { A = A })).message)
    assert.equal("A:add(i, j, v) adds to an element", failure(function() A:set(0, 0, 1) end).hint)
    assert.equal("A:transpose()", failure(function() return A.T end).hint)
  end)
end)
