-- decompose.lua - decompositions of square matrices. Each one first divides its matrix by its
-- largest number, so that squares neither overflow nor underflow. Loops end when a rotation changes
-- nothing: there is no tolerance, so the same text serves f32 and f64.

-- x, but not less than the smallest number whose reciprocal is finite.
local function safe_divisor(x)
  local smallest = x
  smallest = 4.6e-308 -- for f64; 0 if it is an f32
  return math.max(x, rg.select(smallest > 0, smallest, 2.4e-38))
end

-- The largest absolute value in m, as a safe divisor.
local function scale_of(m)
  local largest = m[0][0] * 0.0
  for r, c in rg.static(rg.range(#m, #m[0])) do largest = math.max(largest, math.abs(m[r][c])) end
  return safe_divisor(largest)
end

-- Cosine and sine of the smaller rotation that makes [[a, off], [off, b]] diagonal.
local function rotation_of(a, b, off)
  local d = (b - a) * 0.5
  local far = math.abs(d) + math.sqrt(d * d + off * off)
  local t = far > 0 and (d < 0 and -off or off) / far or 0.0
  local c = 1 / math.sqrt(1 + t * t)
  return c, c * t
end

-- The Householder reflection that maps v onto axis k: u, with numbers below 2, and the factor
-- 2 / (u.u), so that x becomes x - factor (u.x) u. The factor is 0 if v is 0.
local function householder(v, k)
  local largest = v[0] * 0
  for r in rg.static(rg.range(#v)) do largest = math.max(largest, math.abs(v[r])) end
  local u = v * (1 / safe_divisor(largest))
  local size = math.sqrt(rg.dot(u, u))
  u[k] = u[k] + (u[k] < 0 and -size or size)
  return u, largest > 0 and 2 / rg.dot(u, u) or 0.0
end

-- R, S with R S = m: R orthogonal, S symmetric and without negative eigenvalues.
function rg.polar(m)
  if rg.static(#m == 2) then
    local a = m * (1 / scale_of(m))
    local is_rotation = a[0][0] * a[1][1] - a[0][1] * a[1][0] >= 0
    local side = is_rotation and 1.0 or -1.0 -- otherwise R is a reflection
    local x, y = a[0][0] + side * a[1][1], a[1][0] - side * a[0][1]
    local size = math.sqrt(x * x + y * y)
    local c, s = size > 0 and x / size or 1.0, size > 0 and y / size or 0.0
    local R = a
    R[0][0], R[0][1], R[1][0], R[1][1] = c, -side * s, s, side * c
    return R, R:transpose() * m
  else
    local U, S, V = rg.svd(m)
    return U * V:transpose(), V * S * V:transpose()
  end
end

-- The root of x^3 - 3 x - 2 r between sqrt(3) and 2, which is 2 cos(acos(r) / 3), for r from 0 to
-- 1: a polynomial within 7e-5, and two steps of Newton, enough for f64.
local function far_root(r)
  local x = ((0.0191391 * r - 0.0821404) * r + 0.3309505) * r + 1.7321158
  for step in rg.static(rg.range(2)) do x = (x * x * x + r) / (1.5 * (x * x - 1)) end
  return x
end

-- For b, symmetric, 3 x 3 and with trace 0: the unit eigenvector v of the eigenvalue farthest from
-- the other two, and the sign of that eigenvalue. If the squares of b sum up to 6, its absolute
-- value is above sqrt(3); so the cofactors of b minus the eigenvalue, a multiple of v v^T, are far
-- from zero.
local function isolated_vector(b)
  local size = math.sqrt(rg.sum(rg.hadamard(b, b)) / 6)
  local a = b * (size > 0 and 1 / size or 0.0)
  local r = rg.determinant(a) * 0.5
  local side = r < 0 and -1.0 or 1.0
  local root = side * far_root(math.min(math.abs(r), 1.0))
  for k in rg.static(rg.range(3)) do a[k][k] = a[k][k] - root end
  local x, y, v = rg.cross(a[1], a[2]), rg.cross(a[2], a[0]), rg.cross(a[0], a[1])
  v = y[1] > v[2] and y[1] >= x[0] and y or x[0] > v[2] and x or v
  return v / rg.norm(v), side
end

-- Two unit vectors that are orthogonal to the unit vector v and to each other.
local function orthogonal_pair(v)
  local side = v[2] < 0 and -1.0 or 1.0
  local f = -1 / (side + v[2])
  local x, y, both = v * 0, v * 0, v[0] * v[1] * f
  x[0], x[1], x[2] = 1 + side * v[0] * v[0] * f, side * both, -side * v[0]
  y[0], y[1], y[2] = both, side + v[1] * v[1] * f, -v[1]
  return x, y
end

-- Without loops: finds one eigenvector, and one rotation in the plane orthogonal to it.
local function sym_eig_3(a)
  local mean = rg.trace(a) / 3
  for k in rg.static(rg.range(3)) do a[k][k] = a[k][k] - mean end
  a[2][2] = -a[0][0] - a[1][1] -- the trace is exactly 0, even if a is nearly the unit matrix
  local v, side = isolated_vector(a)
  local x, y = orthogonal_pair(v)
  local ax, ay = a * x, a * y
  local c, s = rotation_of(rg.dot(x, ax), rg.dot(y, ay), rg.dot(x, ay))
  x, y, ax, ay = c * x - s * y, s * x + c * y, c * ax - s * ay, s * ax + c * ay
  local wx, wy, wv = rg.dot(x, ax), rg.dot(y, ay), rg.dot(v, a * v)
  local swaps, is_last = wy < wx, side > 0
  local low, high = swaps and y or x, swaps and x or y
  local wl, wh = math.min(wx, wy), math.max(wx, wy)
  wv = is_last and math.max(wv, wh) or math.min(wv, wl) -- rounding may reorder nearly equal ones
  local V, w = a, v
  V[0], V[1], V[2] = is_last and low or v, is_last and high or low, is_last and v or high
  w[0], w[1], w[2] = is_last and wl or wv, is_last and wh or wl, is_last and wv or wh
  return w + mean, V:transpose()
end

-- w, V with m V = V diag(w), w ascending, V orthogonal, for the symmetric part of m: by Jacobi
-- rotations.
function rg.sym_eig(m)
  local scale = scale_of(m)
  local a = m * (1 / scale)
  a, scale = a + a:transpose(), scale * 0.5
  local V, w = a * 0, a[0] * 0
  if rg.static(#m == 3) then
    w, V = sym_eig_3(a)
    return w * scale, V
  end
  for k in rg.static(rg.range(#m)) do V[k][k] = 1.0 end
  for sweep = 1, rg.static(#m == 2 and 1 or 12) do -- 2 x 2 needs a single rotation
    local off = a[0][0] * 0
    for p in rg.static(rg.range(#m)) do
      for q in rg.static(rg.range({ p + 1, #m })) do
        off = off + math.abs(a[p][q])
        local c, s = rotation_of(a[p][p], a[q][q], a[p][q])
        local app, apq, aqq = a[p][p], a[p][q], a[q][q]
        a[p][p] = c * c * app - 2 * c * s * apq + s * s * aqq
        a[q][q] = s * s * app + 2 * c * s * apq + c * c * aqq
        a[p][q] = 0.0
        for r in rg.static(rg.range(#m)) do
          if rg.static(r ~= p and r ~= q) then -- only the upper half is kept
            local rp, rq = a[rg.static(math.min(r, p))][rg.static(math.max(r, p))],
              a[rg.static(math.min(r, q))][rg.static(math.max(r, q))]
            a[rg.static(math.min(r, p))][rg.static(math.max(r, p))] = c * rp - s * rq
            a[rg.static(math.min(r, q))][rg.static(math.max(r, q))] = s * rp + c * rq
          end
          V[r][p], V[r][q] = c * V[r][p] - s * V[r][q], s * V[r][p] + c * V[r][q]
        end
      end
    end
    if off + 1 == 1 then break end
  end
  for k in rg.static(rg.range(#m)) do w[k] = a[k][k] * scale end
  for last in rg.static(rg.range({ 1, #m })) do
    for k in rg.static(rg.range(#m - last)) do
      if w[k + 1] < w[k] then
        w[k], w[k + 1] = w[k + 1], w[k]
        for r in rg.static(rg.range(#m)) do V[r][k], V[r][k + 1] = V[r][k + 1], V[r][k] end
      end
    end
  end
  return w, V
end

-- The length of column k.
local function column_norm(u, k)
  local sum = u[0][0] * 0
  for r in rg.static(rg.range(#u)) do sum = sum + u[r][k] * u[r][k] end
  return math.sqrt(sum)
end

-- Subtracts from h its projections on the columns of u before k.
local function orthogonalise(u, h, k)
  for j in rg.static(rg.range(k)) do
    local along = h[0] * 0
    for r in rg.static(rg.range(#u)) do along = along + u[r][j] * h[r] end
    for r in rg.static(rg.range(#u)) do h[r] = h[r] - along * u[r][j] end
  end
  return h
end

-- Without loops: the columns of m V, where V has the eigenvectors of m^T m, are orthogonal, except
-- for the rounding error of the largest number. That error is large relative to the two smaller
-- columns, so one rotation makes these orthogonal.
local function svd_3(m)
  local w, V = sym_eig_3(m:transpose() * m)
  V = V:transpose()
  local x, y, z, v, u = m * V[2], m * V[1], m * V[0], V[2], V[1]
  local c, s = rotation_of(rg.dot(y, y), rg.dot(z, z), rg.dot(y, z))
  y, z, V[1], V[2] = c * y - s * z, s * y + c * z, c * u - s * V[0], s * u + c * V[0]
  local swaps = rg.dot(y, y) < rg.dot(z, z)
  y, z = swaps and z or y, swaps and y or z
  V[0], V[1], V[2] = v, swaps and V[2] or V[1], swaps and V[1] or V[2]
  local U, S, dx, dy = m, m * 0, rg.norm(x), rg.norm(y)
  U[0] = x / dx
  if dx == 0 then U[0][0], U[0][1], U[0][2] = 0.0, 0.0, 1.0 end
  local p, q = orthogonal_pair(U[0])
  y = y / dy
  y = y - U[0] * rg.dot(U[0], y)
  local length = rg.norm(y) -- small if y is only a rounding error
  U[1] = length > 0.5 and y / length or p
  local far = rg.cross(U[0], U[1])
  local dz = rg.dot(far, z)
  U[2] = dz < 0 and -far or far
  S[0][0], S[1][1] = dx, math.min(dx, dy)
  S[2][2] = math.min(S[1][1], math.abs(dz))
  return U:transpose(), S, V:transpose()
end

-- U, S, V with U S V^T = m: U and V orthogonal, S diagonal, descending, not negative. For sizes
-- other than 3 x 3, rotates the columns of m until they are orthogonal (one-sided Jacobi), so small
-- singular values are as exact as large ones.
function rg.svd(m)
  local scale = scale_of(m)
  local U, V, S, d = m * (1 / scale), m * 0.0, m * 0.0, m[0] * 0.0
  if rg.static(#m == 3) then
    U, S, V = svd_3(U)
    return U, S * scale, V
  end
  for k in rg.static(rg.range(#m)) do V[k][k] = 1.0 end
  for sweep = 1, rg.static(#m == 2 and 2 or 12) do
    local moves = false
    for p in rg.static(rg.range(#m)) do
      for q in rg.static(rg.range({ p + 1, #m })) do
        local a, b, off = d[0] * 0, d[0] * 0, d[0] * 0
        for r in rg.static(rg.range(#m)) do
          a, b, off = a + U[r][p] * U[r][p], b + U[r][q] * U[r][q], off + U[r][p] * U[r][q]
        end
        local size = math.sqrt(a) * math.sqrt(b) + 1e-30
        local rotates = size + math.abs(off) * 0.125 ~= size -- false for a rounding error
        moves = moves or rotates
        local c, s = rotation_of(a, b, rotates and off or 0.0)
        for r in rg.static(rg.range(#m)) do
          U[r][p], U[r][q] = c * U[r][p] - s * U[r][q], s * U[r][p] + c * U[r][q]
          V[r][p], V[r][q] = c * V[r][p] - s * V[r][q], s * V[r][p] + c * V[r][q]
        end
      end
    end
    if rg.static(#m > 2) and not moves then break end
  end
  for k in rg.static(rg.range(#m)) do d[k] = column_norm(U, k) end
  for last in rg.static(rg.range({ 1, #m })) do
    for k in rg.static(rg.range(#m - last)) do
      if d[k] < d[k + 1] then
        d[k], d[k + 1] = d[k + 1], d[k]
        for r in rg.static(rg.range(#m)) do
          U[r][k], U[r][k + 1] = U[r][k + 1], U[r][k]
          V[r][k], V[r][k + 1] = V[r][k + 1], V[r][k]
        end
      end
    end
  end
  -- Normalises the columns. A column without a direction of its own gets that of the axis that is
  -- least covered by the columns before it.
  for k in rg.static(rg.range(#m)) do
    local h, axis, largest = d * 0, d * 0, d[0] * 0 - 1
    for r in rg.static(rg.range(#m)) do h[r] = d[k] > 0 and U[r][k] / d[k] or 0.0 end
    for r in rg.static(rg.range(#m)) do
      local left = d[0] * 0 + 1
      for j in rg.static(rg.range(k)) do left = left - U[r][j] * U[r][j] end
      local is_larger = left > largest
      largest = is_larger and left or largest
      for i in rg.static(rg.range(#m)) do
        axis[i] = is_larger and (rg.static(i == r) and 1.0 or 0.0) or axis[i]
      end
    end
    h = orthogonalise(U, h, k)
    h = rg.select(rg.dot(h, h) > 0.5, h, orthogonalise(U, axis, k))
    h = orthogonalise(U, h / h:norm(), k)
    h = h / h:norm()
    for r in rg.static(rg.range(#m)) do U[r][k] = h[r] end
    S[k][k] = d[k] * scale
  end
  return U, S, V
end
