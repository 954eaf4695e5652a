-- decompose_spec.lua - rg.polar, rg.svd and rg.sym_eig in kernels.
-- luacheck: ignore 512
local support = require "support"
local rg, failure = support.rg, support.failure

local text = [[function(m)
  local R, P = rg.polar(m)
  local U, D, V = m:svd()
  local w, Q = rg.sym_eig(m + m:transpose())
  return R, P, U, D, V, w, Q
end]]

local state = 11
local function random()
  state = (state * 16807) % 2147483647
  return state / 2147483647 - 0.5
end

-- Matrices of n x n: random ones, some of rank 1 and 2, and the special ones.
local function matrices(n, T)
  local list = { T(0), T(1), T(-1) }
  for _ = 1, 5 do
    local full, one, two = {}, {}, {}
    local a, b, c, d = {}, {}, {}, {}
    for i = 1, n do a[i], b[i], c[i], d[i] = random(), random(), random(), random() end
    for i = 1, n do
      for j = 1, n do
        full[#full + 1], one[#one + 1], two[#two + 1] = random(), a[i] * b[j], a[i] * b[j]
          + c[i] * d[j]
      end
    end
    list[#list + 1], list[#list + 2], list[#list + 3] = T(unpack(full)), T(unpack(one)),
      T(unpack(two)) * 1e-6
  end
  return list
end

local function check_all(n, type, tolerance)
  local T, k = rg.mat(n, n, rg[type]), rg.kernel(text)
  local unit = T(1)
  local function is(a, b, what)
    for i = 0, n - 1 do
      for j = 0, n - 1 do assert.is_near(b[i][j], a[i][j], tolerance, what) end
    end
  end
  for _, m in ipairs(matrices(n, T)) do
    local R, P, U, D, V, w, Q = k(m)
    local diagonal = {}
    for i = 0, n - 1 do
      for j = 0, n - 1 do diagonal[#diagonal + 1] = i == j and w[i] or 0 end
    end
    is(R * P, m, "polar")
    is(R * R:transpose(), unit, "R is orthogonal")
    is(P, P:transpose(), "P is symmetric")
    is(U * D * V:transpose(), m, "svd")
    is(U:transpose() * U, unit, "U is orthogonal")
    is(V:transpose() * V, unit, "V is orthogonal")
    is((m + m:transpose()) * Q, Q * T(unpack(diagonal)), "eigenvectors")
    is(Q:transpose() * Q, unit, "Q is orthogonal")
    for i = 0, n - 1 do
      for j = 0, n - 1 do assert.is_true(i == j and D[i][i] >= 0 or i ~= j and D[i][j] == 0) end
      if i > 0 then assert.is_true(D[i - 1][i - 1] >= D[i][i] and w[i - 1] <= w[i]) end
    end
  end
end

describe("a square matrix in a kernel", function()
  it("has a polar, a singular and an eigenvalue decomposition, of doubles", function()
    for n = 2, 4 do check_all(n, "f64", 1e-13) end
  end)

  it("has them of floats", function()
    for n = 2, 3 do check_all(n, "f32", 1e-5) end
  end)

  it("has them in parallel loops, each where it is needed", function()
    local F, stretch = rg.field(rg.mat2, 8), rg.field(rg.f32, 8)
    for i = 0, 7 do F[i] = { { 1, i }, { 0, 2 } } end
    rg.kernel(function()
      for i in rg.range(8) do
        local R, P = rg.polar(F[i])
        stretch[i] = P:determinant()
        F[i] = R
      end
    end)()
    for i = 0, 7 do
      assert.is_near(2, stretch[i], 1e-5)
      assert.is_near(1, F[i][0][0] ^ 2 + F[i][0][1] ^ 2, 1e-6)
    end
  end)

  it("makes floats of integers, and one value where one is taken", function()
    local w = rg.kernel "function() return (rg.sym_eig(rg.mat(2, 2, rg.i32)(2, 1, 1, 2))) end"()
    assert.is_near(1, w[0], 1e-6)
    assert.is_near(3, w[1], 1e-6)
  end)

  it("must be one", function()
    local function fails(e) return failure(rg.kernel("function() return " .. e .. " end")).code end
    assert.equal("type.mismatch", fails "rg.svd(rg.vec2(1))")
    assert.equal("type.mismatch", fails "rg.polar(rg.mat(2, 3, rg.f32)(1))")
    assert.equal("call.count", fails "rg.polar(rg.mat2(1), 2)")
    assert.equal("call.count", fails "rg.mat2(1):sym_eig(2)")
    assert.equal("argument.invalid", failure(rg.polar, rg.mat2(1)).code)
  end)
end)
