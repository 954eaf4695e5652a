-- decompose_spec.lua - rg.polar, rg.svd and rg.sym_eig in kernels.
-- luacheck: ignore 512
local support = require "support"
local rg, failure = support.rg, support.failure

-- Lists of n * n numbers, row by row, in doubles.
local state = 11
local function random()
  state = (state * 16807) % 2147483647
  return state / 2147483647 - 0.5
end

local function list_of(n, number)
  local list = {}
  for i = 0, n - 1 do
    for j = 0, n - 1 do list[#list + 1] = number(i, j) end
  end
  return list
end

local function product(n, a, b)
  return list_of(n, function(i, j)
    local sum = 0
    for k = 0, n - 1 do sum = sum + a[i * n + k + 1] * b[k * n + j + 1] end
    return sum
  end)
end

local function diagonal(n, ...)
  local numbers = { ... }
  return list_of(n, function(i, j) return i == j and numbers[i + 1] or 0 end)
end

-- A random orthogonal matrix: turns in every plane.
local function turns(n)
  local all = diagonal(n, 1, 1, 1, 1)
  for p = 0, n - 2 do
    for q = p + 1, n - 1 do
      local angle, one = random() * 6, diagonal(n, 1, 1, 1, 1)
      one[p * n + p + 1], one[q * n + q + 1] = math.cos(angle), math.cos(angle)
      one[p * n + q + 1], one[q * n + p + 1] = -math.sin(angle), math.sin(angle)
      all = product(n, all, one)
    end
  end
  return all
end

local function between(n, ...)
  return product(n, product(n, turns(n), diagonal(n, ...)), turns(n))
end
local function similar(n, ...)
  local q = turns(n)
  local back = list_of(n, function(i, j) return q[j * n + i + 1] end)
  return product(n, product(n, q, diagonal(n, ...)), back)
end
local function above(n, value)
  return list_of(n, function(i, j) return j == i + 1 and 1 or i == j and value or 0 end)
end
local function times(n, factor) return list_of(n, function() return random() * factor end) end

local kinds = {
  random = function(n) return times(n, 1) end,
  huge = function(n) return times(n, 1e35) end,
  tiny = function(n) return times(n, 1e-35) end,
  ["at the end of floats"] = function(n) return diagonal(n, 3e38, -1e38, 2e38, 1) end,
  subnormal = function(n, least) return times(n, least * 0.01) end,
  ["subnormal but for a number"] = function(n, least)
    return diagonal(n, 1, least * 0.01, least * 0.001, least * 0.01)
  end,
  zero = function(n) return times(n, 0) end,
  ["of rank 1"] = function(n) return between(n, 1, 0, 0, 0) end,
  ["of rank 2"] = function(n) return between(n, 1, 0.5, 0, 0) end,
  graded = function(n) return between(n, 1, 1e-4, 1e-7, 1e-9) end,
  ["with repeated eigenvalues"] = function(n) return similar(n, 2, 2, 1, 1) end,
  ["with near eigenvalues"] = function(n) return similar(n, 1, 1 + 1e-6, 1 - 1e-6, 1) end,
  ["a multiple of the unit matrix"] = function(n) return similar(n, 2, 2, 2, 2) end,
  orthogonal = turns,
  ["a mirror"] = function(n) return product(n, turns(n), diagonal(n, -1, 1, 1, 1)) end,
  ["a Jordan block"] = function(n) return above(n, 1) end,
  nilpotent = function(n) return above(n, 0) end,
  ["a cycle"] = function(n)
    return list_of(n, function(i, j) return j == (i + 1) % n and 1 or 0 end)
  end,
}

local text = [[function(m)
  local R, P = rg.polar(m)
  local U, D, V = m:svd()
  local s = m * 0.5 + m:transpose() * 0.5
  local w, W = rg.sym_eig(s)
  local Q, T = rg.qr(m)
  local L, H, I = rg.lu(m)
  return R, P, U, D, V, s, w, W, Q, T, L, H, I
end]]

-- luassert's own assertions would take most of the time.
local function expect(condition, what) return condition or error(what) end

-- Checks every decomposition of m by its equation, in doubles; deviations are at most 64 units of
-- rounding of the largest number.
local function check(n, kernel, unit, m, largest)
  local Double = rg.mat(n, n, rg.f64)
  local function wide(a) return Double(unpack(list_of(n, function(i, j) return a[i][j] end))) end
  local one = Double(1)
  local function is(a, b, what, size)
    for i = 0, n - 1 do
      for j = 0, n - 1 do
        expect(math.abs(a[i][j] - b[i][j]) <= 64 * unit * (size or largest), what)
      end
    end
  end
  local results = { kernel(m) }
  local w = table.remove(results, 7)
  for k, a in ipairs(results) do results[k] = wide(a) end
  local R, P, U, D, V, s, W, Q, T, L, H, I = unpack(results)
  m = wide(m)
  is(R * P, m, "polar")
  is(R:transpose() * R, one, "R is orthogonal", 1)
  is(P, P:transpose(), "P is symmetric")
  is(U * D * V:transpose(), m, "svd")
  is(U:transpose() * U, one, "U is orthogonal", 1)
  is(V:transpose() * V, one, "V is orthogonal", 1)
  is(s * W, W * Double(unpack(list_of(n, function(i, j) return i == j and w[i] or 0 end))),
    "eigenvectors")
  is(W:transpose() * W, one, "W is orthogonal", 1)
  is(Q * T, m, "qr")
  is(Q:transpose() * Q, one, "Q is orthogonal", 1)
  is(I * m, L * H, "lu")
  for i = 0, n - 1 do
    expect(D[i][i] >= 0 and T[i][i] >= 0 and L[i][i] == 1, "diagonals")
    for j = 0, n - 1 do
      expect(i == j or D[i][j] == 0, "S is diagonal")
      expect(i <= j or T[i][j] == 0 and H[i][j] == 0, "R and U are upper triangular")
      expect(i >= j and math.abs(L[i][j]) <= 1 or L[i][j] == 0, "L is lower triangular")
    end
    expect(i == 0 or D[i - 1][i - 1] >= D[i][i] and w[i - 1] <= w[i], "in order")
  end
end

-- m (X + i Y) = (X + i Y) diag(re + i im)
local function check_eig(n, kernel, unit, m, largest)
  local re, im, X, Y = kernel(m)
  for c = 0, n - 1 do
    local size = 0
    for r = 0, n - 1 do
      local x, y = -re[c] * X[r][c] + im[c] * Y[r][c], -re[c] * Y[r][c] - im[c] * X[r][c]
      for k = 0, n - 1 do x, y = x + m[r][k] * X[k][c], y + m[r][k] * Y[k][c] end
      expect(math.abs(x) <= 64 * unit * largest and math.abs(y) <= 64 * unit * largest, "eig")
      size = size + X[r][c] ^ 2 + Y[r][c] ^ 2
    end
    expect(math.abs(size - 1) <= 64 * unit, "unit eigenvectors")
    expect(c == 0 or re[c - 1] <= re[c], "ascending")
  end
end

local function check_kinds(n, type, unit, least)
  local T = rg.mat(n, n, rg[type])
  local kernel = rg.kernel(text)
  local eig = rg.kernel "function(m) local re, im, X, Y = rg.eig(m) return re, im, X, Y end"
  for name, make in pairs(kinds) do
    for _ = 1, 2 do
      local numbers = make(n, least)
      local largest, m = least, T(unpack(numbers)) -- below the least normal one rounding is its
      for i = 0, n - 1 do
        for j = 0, n - 1 do largest = math.max(largest, math.abs(m[i][j])) end
      end
      local ok, why = pcall(check, n, kernel, unit, m, largest)
      if ok and n < 4 then ok, why = pcall(check_eig, n, eig, unit, m, largest) end
      if not ok then
        error(("%s, %d x %d: %s\n%s"):format(name, n, n, tostring(m), tostring(why)))
      end
    end
  end
end

describe("a square matrix in a kernel", function()
  it("has decompositions that hold to rounding, of doubles", function()
    for n = 2, 4 do check_kinds(n, "f64", 2 ^ -53, 2 ^ -1022) end
  end)

  it("has them of floats", function()
    for n = 2, 4 do check_kinds(n, "f32", 2 ^ -24, 2 ^ -126) end
  end)

  it("gives NaNs if it is not finite, and the loops end", function()
    local k = rg.kernel "function(m) local U, S, V = m:svd() return S[0][0], (rg.sym_eig(m))[0] end"
    for _, number in ipairs { 0 / 0, 1 / 0 } do
      local s, w = k(rg.mat3(number, 1, 0, 0, 1, 0, 0, 0, 1))
      assert.is_true(s ~= s and w ~= w)
    end
  end)

  it("has its eigenvalues in order even where rounding decides", function()
    local k = rg.kernel "function(m) return (rg.sym_eig(m)) end"
    local e = 2 ^ -24
    local w = k(rg.mat3(1 + 2 * e, e, -2 * e, e, 1 - e, 0, -2 * e, 0, 1))
    assert.is_true(w[0] <= w[1] and w[1] <= w[2])
  end)

  it("solves linear equations, for a vector and for several", function()
    local k = rg.kernel "function(m, b, c) return rg.solve(m, b), m:solve(c) end"
    for n = 2, 4 do
      local M, V = rg.mat(n, n, rg.f64), rg.vec(n, rg.f64)
      for _ = 1, 20 do
        local m, b, c = M(unpack(times(n, 1))), V(unpack(times(n, 1), 1, n)), M(unpack(times(n, 1)))
        local x, y = k(m, b, c)
        local back, backs = m * x, m * y
        for i = 0, n - 1 do
          assert.is_near(b[i], back[i], 1e-10)
          for j = 0, n - 1 do assert.is_near(c[i][j], backs[i][j], 1e-10) end
        end
      end
    end
    local x = rg.solve(rg.mat2(1, 2, 2, 4), rg.vec2(1, 1))
    assert.is_true(x[0] ~= x[0] or math.abs(x[0]) == math.huge)
  end)

  it("solves large systems in place, many at once", function()
    local n, many = 32, 5
    for _, make in ipairs { rg.array, rg.field } do
      local a, b = make(rg.f64, many, n, n), make(rg.f64, many, n)
      for p = 0, many - 1 do
        for i = 0, n - 1 do
          local sum = 0
          for j = 0, n - 1 do
            local v = random()
            a[p][i][j] = v
            sum = sum + v * (j + 1 + p)
          end
          b[p][i] = sum
        end
      end
      rg.kernel(function() for p in rg.range(many) do rg.solve(a[p], b[p]) end end)()
      for p = 0, many - 1 do
        for j = 0, n - 1 do assert.is_near(j + 1 + p, b[p][j], 1e-8) end
      end
    end
    local x, y = rg.array(rg.f32, 2, 2), rg.array(rg.f32, 2, 2)
    local failed = failure(rg.kernel(function() rg.solve(x, y) end))
    assert.equal("index.count", failed.code)
    assert.matches("one of one axis, and this has 2", failed.message, 1, true)
  end)

  it("has the same decompositions from Lua, before there is a runtime", function()
    local U, S, V = rg.svd(rg.mat2(1, 2, 3, 4))
    local k = rg.kernel "function(m) local U, S, V = rg.svd(m) return U, S, V end"
    local A, B, C = k(rg.mat2(1, 2, 3, 4))
    assert.is_true(U == A and S == B and V == C)
    assert.is_near(5.4649857, S[0][0], 1e-6)
    local failed = failure(rg.svd, 3)
    assert.equal("type.mismatch", failed.code)
    assert.matches("takes a square matrix of at most 6 x 6, but this is a number",
      failed.message, 1, true)
    assert.equal("rg.svd takes numbers, vectors and matrices, not a table",
      failure(rg.svd, { { 1, 2 }, { 3, 4 } }).message)
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

  it("gives floats for integers, and only the first result if one is taken", function()
    local w = rg.kernel "function() return (rg.sym_eig(rg.mat(2, 2, rg.i32)(2, 1, 1, 2))) end"()
    assert.is_near(1, w[0], 1e-6)
    assert.is_near(3, w[1], 1e-6)
  end)

  it("must be square", function()
    local function fails(e) return failure(rg.kernel("function() return " .. e .. " end")).code end
    assert.equal("type.mismatch", fails "rg.svd(rg.vec2(1))")
    assert.equal("type.mismatch", fails "rg.polar(rg.mat(2, 3, rg.f32)(1))")
    assert.equal("call.count", fails "rg.polar(rg.mat2(1), 2)")
    assert.equal("call.count", fails "rg.mat2(1):sym_eig(2)")
    assert.equal("type.mismatch", fails "rg.eig(rg.mat4(1))")
    assert.equal("type.mismatch", fails "rg.svd(rg.mat(7, 7, rg.f32)(1))")
    assert.equal("type.mismatch", fails "rg.solve(rg.mat3(1), rg.vec2(1))")
  end)
end)
