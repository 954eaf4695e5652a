-- direct_spec.lua - factors of sparse matrices, by SuiteSparse.
local ffi = require "ffi"
local support = require "support"
local rg, failure = support.rg, support.failure
local foreign = require "regolith.toolbox.foreign"

local missing
for _, name in ipairs { "libcholmod.so.3", "libumfpack.so.5" } do
  if not pcall(ffi.load, name) then missing = name end
end

local function test(name, f)
  it(name, function()
    if missing then return pending(missing .. " is not there") end
    f()
  end)
end

-- A plate of n by n points; `wind` makes it unsymmetric.
local function plate(n, t, wind)
  local A = rg.matrix(n * n, n * n, t)
  for i = 0, n - 1 do
    for j = 0, n - 1 do
      local k = i * n + j
      A:add(k, k, 4)
      if i > 0 then A:add(k, k - n, -1 - wind) end
      if i < n - 1 then A:add(k, k + n, -1 + wind) end
      if j > 0 then A:add(k, k - 1, -1) end
      if j < n - 1 then A:add(k, k + 1, -1) end
    end
  end
  return A
end

local function right_side(A)
  local b = A:new_vector "row"
  for k = 0, #b - 1 do b[k] = math.sin(k) end
  return b
end

describe("a direct solver", function()
  it("names the Debian package of a missing library", function()
    local err = failure(foreign.open, { soname = "libnowhere.so.9", package = "libnowhere9",
      what = "this test" })
    assert.equal("library.missing", err.code)
    assert.equal("this test needs libnowhere.so.9, which is not installed", err.message)
    assert.equal("Debian: apt install libnowhere9", err.hint)
  end)

  test("has a Cholesky factor of symmetric matrices, also of one triangle of them", function()
    local upper = rg.matrix { { 4, -1, 0 }, { 0, 4, -1 }, { 0, 0, 4 } }
    local whole = upper + upper:transpose() - 4 * rg.matrix.identity(3)
    for _, A in ipairs { upper, upper:transpose(), whole } do
      local F = A:cholesky()
      assert.is_true((whole * F:solve { 1, 2, 3 }):equals(whole:vector { 1, 2, 3 }, 1e-12))
      local again = F:update(A):solve { 3, 1, 1 }
      assert.is_true((whole * again):equals(whole:vector { 3, 1, 1 }, 1e-12))
    end
    local err = failure(function() return (whole + upper):cholesky() end)
    assert.matches("is not symmetric, so it has no Cholesky factor", err.message)
    assert.matches("A:lu()", err.hint, 1, true)
  end)

  test("solves symmetric and other systems", function()
    for _, wind in ipairs { 0, 0.3 } do
      local A = plate(12, rg.f64, wind)
      local b = right_side(A)
      assert.is_true((A * A:solve(b)):equals(b, 1e-12))
      assert.is_true((A * rg.solve(A, b)):equals(b, 1e-12))
      assert.is_true((A * A:lu():solve(b)):equals(b, 1e-12))
    end
    local A = plate(5, rg.f32, 0)
    assert.equal("f32", A:solve(right_side(A)).type.name)
    assert.is_true((A * A:solve(right_side(A))):equals(right_side(A), 1e-5))
    assert.same({ 1, 2 }, rg.matrix({ { 0, 1 }, { 1, 0 } }):solve({ 2, 1 }):to_table())
  end)

  test("keeps the analysis where values change", function()
    local A = plate(6, rg.f64, 0)
    local b = right_side(A)
    for _, kind in ipairs { "cholesky", "lu" } do
      local F = A[kind](A)
      local x = F:solve(b)
      F:update(A * 4)
      assert.is_true(F:solve(b):equals(x:map(function(v) return v / 4 end), 1e-14))
      assert.matches("differs from that of the factor", failure(function()
        F:update(A + rg.matrix { shape = { 36, 36 }, rows = { 0 }, columns = { 30 },
          values = { 1 } })
      end).message)
    end
  end)

  test("takes several right-hand sides, fields, members and blocks", function()
    local A = plate(4, rg.f64, 0.1)
    local F, many = A:lu(), rg.array(rg.f64, 16, 3)
    for k = 0, 2 do many[5 * k][k] = 1 end
    local x = F:solve(many)
    local one = F:solve(A:vector { 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 })
    for i = 0, 15 do assert.equal(one[i], x[i][1]) end
    local Cell = rg.struct { { "x", rg.f32 }, { "b", rg.f32 } }
    local cells = rg.field(Cell, 16)
    cells.b[5] = 1
    assert.equal(cells.x, F:solve(cells.b, cells.x))
    assert.near(one[7], cells.x[7], 1e-7)
    local B = rg.matrix { shape = { 2, 2 }, block = 2 }
    B:add(0, 0, { { 4, 1 }, { 1, 3 } })
    B:add(1, 1, { { 2, 0 }, { 0, 2 } })
    B:add(0, 1, { { 0, 1 }, { 0, 0 } })
    assert.near(4, B:solve(B * { { 1, 2 }, { 3, 4 } })[1].y, 1e-12)
  end)

  test("finds eigenvalues at both ends, and near a number", function()
    if not pcall(ffi.load, "libarpack.so.2") then return pending "libarpack.so.2 is not there" end
    local n = 60
    local A = rg.matrix(n)
    for i = 0, n - 1 do
      A:add(i, i, 2)
      if i > 0 then
        A:add(i, i - 1, -1)
        A:add(i - 1, i, -1)
      end
    end
    local function exact(k) return 2 - 2 * math.cos(math.pi * k / (n + 1)) end
    for which, first in pairs { smallest = 1, largest = n - 2 } do
      local found = A:eigen { count = 3, which = which }
      for k = 1, 3 do
        assert.near(exact(first + k - 1), found.values[k], 1e-9)
        local v = found.vectors[k]
        assert.near(1, v:norm(), 1e-9)
        assert.is_true((A * v):equals(v:map(function(x) return found.values[k] * x end), 1e-6))
      end
    end
    local near = A:eigen({ count = 2, near = 1 }).values
    assert.is_true(math.abs(near[1] - 1) < 0.1 and math.abs(near[2] - 1) < 0.1)
    assert.near(-exact(n), (-A):eigen({ count = 1, which = "smallest" }).values[1], 1e-9)
    for _, case in ipairs {
      { { count = 60 }, "less than the number of rows" },
      { { which = "most" }, "must be \"largest\"" },
      { { which = "near" }, "must be \"largest\"" }, { { counts = 1 }, "has no option 'counts'" },
    } do
      assert.matches(case[2], failure(A.eigen, A, case[1]).message, 1, true)
    end
    A:add(0, 5, 1)
    assert.matches("takes symmetric matrices", failure(A.eigen, A).message)
    assert.equal(2, #rg.matrix { { 2, 0, 0 }, { 0, 3, 0 }, { 0, 0, 5 } }:eigen().values)
  end)

  test("says what a matrix is not", function()
    local A = rg.matrix { { 1, 2 }, { 2, 1 } }
    assert.equal("solve.indefinite", failure(A.cholesky, A).code)
    local S = rg.matrix { { 1, 1 }, { 1, 1 } }
    assert.equal("solve.singular", failure(S.lu, S).code)
    assert.equal("solve.singular", failure(S.solve, S, { 1, 2 }).code)
    local R = rg.matrix(2, 3)
    assert.matches("only square matrices", failure(R.lu, R).message)
    assert.matches("'b' must have one axis", failure(A.solve, A, { 1 }).message)
    assert.same({ 1, 1 }, A:solve({ 3, 3 }):to_table())
  end)
end)
