-- solve.lua - factorisations of square matrices, and linear equations.

-- Q, R with Q R = m: Q orthogonal, R upper triangular, its diagonal not negative. By Householder
-- reflections.
function rg.qr(m)
  local scale = scale_of(m)
  local R, Q = m * (1 / scale), m * 0.0
  for k in rg.static(rg.range(#m)) do Q[k][k] = 1.0 end
  for k in rg.static(rg.range(#m - 1)) do
    local v = R[0] * 0
    for r in rg.static(rg.range({ k, #m })) do v[r] = R[r][k] end
    local u, factor = householder(v, k)
    for c in rg.static(rg.range({ k, #m })) do
      local along = R[0][0] * 0
      for r in rg.static(rg.range({ k, #m })) do along = along + u[r] * R[r][c] end
      for r in rg.static(rg.range({ k, #m })) do R[r][c] = R[r][c] - factor * along * u[r] end
    end
    for r in rg.static(rg.range(#m)) do
      local along = R[0][0] * 0
      for c in rg.static(rg.range({ k, #m })) do along = along + Q[r][c] * u[c] end
      for c in rg.static(rg.range({ k, #m })) do Q[r][c] = Q[r][c] - factor * along * u[c] end
    end
    for r in rg.static(rg.range({ k + 1, #m })) do R[r][k] = 0.0 end
  end
  for k in rg.static(rg.range(#m)) do
    local side = R[k][k] < 0 and -1.0 or 1.0
    for c in rg.static(rg.range({ k, #m })) do R[k][c] = R[k][c] * side * scale end
    for r in rg.static(rg.range(#m)) do Q[r][k] = Q[r][k] * side end
  end
  return Q, R
end

-- Swaps rows of a, and of b with them, until a[k][k] is the largest of column k from row k on.
local function pivot(a, b, k)
  for r in rg.static(rg.range({ k + 1, #a })) do
    if math.abs(a[r][k]) > math.abs(a[k][k]) then
      a[k], a[r] = a[r], a[k]
      b[k], b[r] = b[r], b[k]
    end
  end
  return a, b
end

-- L, U, P with P m = L U: L with ones on its diagonal, P a permutation. Partial pivoting; a column
-- without a pivot leaves a zero on U's diagonal.
function rg.lu(m)
  local U, L, P = m * 1.0, m * 0.0, m * 0.0
  for k in rg.static(rg.range(#m)) do P[k][k] = 1.0 end
  for k in rg.static(rg.range(#m)) do
    for r in rg.static(rg.range({ k + 1, #m })) do
      if math.abs(U[r][k]) > math.abs(U[k][k]) then
        U[k], U[r] = U[r], U[k]
        P[k], P[r] = P[r], P[k]
        L[k], L[r] = L[r], L[k]
      end
    end
    for r in rg.static(rg.range({ k + 1, #m })) do
      local factor = U[k][k] ~= 0 and U[r][k] / U[k][k] or 0.0
      L[r][k] = factor
      for c in rg.static(rg.range({ k + 1, #m })) do U[r][c] = U[r][c] - factor * U[k][c] end
      U[r][k] = 0.0
    end
  end
  for k in rg.static(rg.range(#m)) do L[k][k] = 1.0 end
  return L, U, P
end

-- x with m x = b, for a vector b or a matrix of several. Partial pivoting; if m is singular, x is
-- not finite.
function rg.solve(m, b)
  local a, x = m * 1.0, b * 1.0
  for k in rg.static(rg.range(#m)) do
    a, x = pivot(a, x, k)
    for r in rg.static(rg.range({ k + 1, #m })) do
      local factor = a[r][k] / a[k][k]
      for c in rg.static(rg.range({ k + 1, #m })) do a[r][c] = a[r][c] - factor * a[k][c] end
      x[r] = x[r] - factor * x[k]
    end
  end
  for j in rg.static(rg.range(#m)) do
    local k = rg.static(#m - 1 - j)
    for c in rg.static(rg.range({ k + 1, #m })) do x[k] = x[k] - a[k][c] * x[c] end
    x[k] = x[k] / a[k][k]
  end
  return x
end

-- For more than 4 rows: the product of the pivots.
local function determinant_by_rows(m)
  local a = m * 1.0
  local product = a[0][0] * 0 + 1
  for k in rg.static(rg.range(#m)) do
    for r in rg.static(rg.range({ k + 1, #m })) do
      if math.abs(a[r][k]) > math.abs(a[k][k]) then
        a[k], a[r] = a[r], a[k]
        product = -product
      end
    end
    product = product * a[k][k]
    for r in rg.static(rg.range({ k + 1, #m })) do
      local factor = a[k][k] ~= 0 and a[r][k] / a[k][k] or 0.0
      for c in rg.static(rg.range({ k + 1, #m })) do a[r][c] = a[r][c] - factor * a[k][c] end
    end
  end
  return product
end

local function inverse_by_rows(m)
  local unit = m * 0.0
  for k in rg.static(rg.range(#m)) do unit[k][k] = 1.0 end
  return rg.solve(m, unit)
end

-- The same for fields and arrays, or rows of them, of any size: b becomes x, and a its factors.
local function solve_in_place(a, b)
  for k = 0, #a - 1 do
    local best = k
    for r = k + 1, #a - 1 do
      if math.abs(a[r][k]) > math.abs(a[best][k]) then best = r end
    end
    if best ~= k then
      b[k], b[best] = b[best], b[k]
      for c = k, #a - 1 do a[k][c], a[best][c] = a[best][c], a[k][c] end
    end
    for r = k + 1, #a - 1 do
      local factor = a[r][k] / a[k][k]
      a[r][k] = factor
      for c = k + 1, #a - 1 do a[r][c] = a[r][c] - factor * a[k][c] end
      b[r] = b[r] - factor * b[k]
    end
  end
  for j = 1, #a do
    local k = #a - j
    local x = b[k]
    for c = k + 1, #a - 1 do x = x - a[k][c] * b[c] end
    b[k] = x / a[k][k]
  end
end
