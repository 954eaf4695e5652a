-- eig.lua - eigenvalues and eigenvectors of general matrices, 2 x 2 and 3 x 3.

-- The first and second eigenvalue of [[a, b], [c, d]] as real and imaginary parts: two real ones,
-- ascending, or a conjugate pair, the negative imaginary part first.
local function eigenvalue_pair(a, b, c, d)
  local p = (a - d) * 0.5
  local discriminant = p * p + b * c
  local root = math.sqrt(math.abs(discriminant))
  local far = p + (p < 0 and -root or root) -- without cancellation
  local one, two = d + far, far ~= 0 and d - b * c / far or d
  if discriminant < 0 then one, two = d + p, d + p end
  local imaginary = discriminant < 0 and root or 0.0
  return math.min(one, two), -imaginary, math.max(one, two), imaginary
end

-- A unit vector (x0 + i y0, x1 + i y1): the eigenvector of [[a, b], [c, d]] for re + i im.
local function eigenvector(a, b, c, d, re, im)
  local x0, x1, y0, y1 = re - d, c * 1.0, im * 1.0, im * 0.0
  if (a - re) * (a - re) + b * b > (d - re) * (d - re) + c * c then
    x0, x1, y0, y1 = b * 1.0, re - a, im * 0.0, im * 1.0
  end
  local size = math.sqrt(x0 * x0 + x1 * x1 + y0 * y0 + y1 * y1)
  if size > 0 then return x0 / size, x1 / size, y0 / size, y1 / size end
  return 1.0, 0.0, 0.0, 0.0
end

local function eig_2(m)
  local scale = scale_of(m)
  local a = m * (1 / scale)
  local re, im, X, Y = m[0] * 0.0, m[0] * 0.0, m * 0.0, m * 0.0
  re[0], im[0], re[1], im[1] = eigenvalue_pair(a[0][0], a[0][1], a[1][0], a[1][1])
  for k in rg.static(rg.range(2)) do
    X[0][k], X[1][k], Y[0][k], Y[1][k] =
      eigenvector(a[0][0], a[0][1], a[1][0], a[1][1], re[k], im[k])
  end
  if a[0][1] == 0 and a[1][0] == 0 and re[0] == re[1] then X[0][1], X[1][1] = 0.0, 1.0 end
  return re * scale, im * scale, X, Y
end

-- H, Q with H = Q^T a Q, the real Schur form: upper triangular, except for one 2 x 2 block with a
-- complex pair. By Francis's double steps.
local function schur_3(a)
  local H, Q = a, a * 0
  for k in rg.static(rg.range(3)) do Q[k][k] = 1.0 end
  local I, v = Q, a[0] * 0
  for step = 0, 40 do
    v[0], v[1], v[2] = 0.0, H[1][0], H[2][0] -- to Hessenberg form
    local u, factor = householder(v, 1)
    local P = I - rg.outer(u, u) * factor
    H, Q = P * H * P, Q * P
    H[2][0] = 0.0
    local near = math.abs(H[0][0]) + math.abs(H[1][1])
    local far = math.abs(H[1][1]) + math.abs(H[2][2])
    if near + math.abs(H[1][0]) == near then
      H[1][0] = 0.0
      break
    end
    if far + math.abs(H[2][1]) == far then
      H[2][1] = 0.0
      break
    end
    local s, t = H[1][1] + H[2][2], H[1][1] * H[2][2] - H[1][2] * H[2][1]
    if step == 10 or step == 20 then -- other shifts, to leave a cycle
      s, t = 1.5 * (math.abs(H[1][0]) + math.abs(H[2][1])), 1.0
    end
    v[0] = H[0][0] * H[0][0] + H[0][1] * H[1][0] - s * H[0][0] + t
    v[1] = H[1][0] * (H[0][0] + H[1][1] - s)
    v[2] = H[1][0] * H[2][1]
    u, factor = householder(v, 0)
    P = I - rg.outer(u, u) * factor
    H, Q = P * H * P, Q * P
  end
  return H, Q
end

-- Makes the block of H at k, whose eigenvalues are real, upper triangular.
local function triangularise(H, Q, k)
  local p = (H[k][k] - H[k + 1][k + 1]) * 0.5
  local discriminant = p * p + H[k][k + 1] * H[k + 1][k]
  local root = discriminant > 0 and math.sqrt(discriminant) or 0.0
  local v, G = H[0] * 0, H * 0
  for r in rg.static(rg.range(3)) do G[r][r] = 1.0 end
  v[k], v[k + 1] = p + (p < 0 and -root or root), H[k + 1][k]
  local size = math.sqrt(rg.dot(v, v))
  local c, s = size > 0 and v[k] / size or 1.0, size > 0 and v[k + 1] / size or 0.0
  G[k][k], G[k][k + 1], G[k + 1][k], G[k + 1][k + 1] = c, -s, s, c
  H, Q = G:transpose() * H * G, Q * G
  H[k + 1][k] = 0.0
  return H, Q
end

-- x, or a small number of the same sign if x is too close to zero to be a divisor.
local function away_from_zero(x)
  return math.abs(x) < 1e-15 and (x < 0 and -1e-15 or 1e-15) or x
end

-- The eigenvectors of the upper triangular T, in columns.
local function triangular_vectors(T)
  local X = T * 0
  for k in rg.static(rg.range(3)) do
    X[k][k] = 1.0
    for j in rg.static(rg.range(k)) do
      local i = rg.static(k - 1 - j)
      local sum = T[0][0] * 0
      for c in rg.static(rg.range({ i + 1, k + 1 })) do sum = sum + T[i][c] * X[c][k] end
      X[i][k] = sum / away_from_zero(T[k][k] - T[i][i])
    end
  end
  return X
end

-- All eigenvectors of H, whose block at 0 has the complex eigenvalues re[0], re[1] with im.
local function vectors_first(H, re, im)
  local X, Y = H * 0, H * 0
  local a, b, c, d = H[0][0] - re[2], H[0][1], H[1][0], H[1][1] - re[2]
  local size = away_from_zero(a * d - b * c)
  X[0][2], X[1][2], X[2][2] = (b * H[1][2] - d * H[0][2]) / size,
    (c * H[0][2] - a * H[1][2]) / size, 1.0
  for k in rg.static(rg.range(2)) do
    X[0][k], X[1][k], Y[0][k], Y[1][k] =
      eigenvector(H[0][0], H[0][1], H[1][0], H[1][1], re[k], im[k])
  end
  return X, Y
end

-- The same if the block is at 1, with re[1] and re[2].
local function vectors_last(H, re, im)
  local X, Y = H * 0, H * 0
  X[0][0] = 1.0
  for k in rg.static(rg.range({ 1, 3 })) do
    X[1][k], X[2][k], Y[1][k], Y[2][k] =
      eigenvector(H[1][1], H[1][2], H[2][1], H[2][2], re[k], im[k])
    local x, y = H[0][1] * X[1][k] + H[0][2] * X[2][k], H[0][1] * Y[1][k] + H[0][2] * Y[2][k]
    local gap = re[k] - H[0][0]
    local size = math.max(gap * gap + im[k] * im[k], 1e-15)
    X[0][k], Y[0][k] = (x * gap + y * im[k]) / size, (y * gap - x * im[k]) / size
  end
  return X, Y
end

local function eig_3(m)
  local scale = scale_of(m)
  local H, Q = schur_3(m * (1 / scale))
  local re, im, X, Y = H[0] * 0, H[0] * 0, H * 0, H * 0
  local is_first = H[2][1] == 0
  if is_first then
    re[0], im[0], re[1], im[1] = eigenvalue_pair(H[0][0], H[0][1], H[1][0], H[1][1])
    re[2] = H[2][2]
  else
    re[0] = H[0][0]
    re[1], im[1], re[2], im[2] = eigenvalue_pair(H[1][1], H[1][2], H[2][1], H[2][2])
  end
  if im[0] == 0 and im[1] == 0 then -- all are real: H can be made triangular
    if is_first then H, Q = triangularise(H, Q, 0) else H, Q = triangularise(H, Q, 1) end
    for k in rg.static(rg.range(3)) do re[k] = H[k][k] end
    X = triangular_vectors(H)
  elseif is_first then X, Y = vectors_first(H, re, im)
  else X, Y = vectors_last(H, re, im) end
  X, Y = Q * X, Q * Y
  for k in rg.static(rg.range(3)) do
    local largest = math.abs(X[0][k])
    for r in rg.static(rg.range(3)) do
      largest = math.max(largest, math.abs(X[r][k]), math.abs(Y[r][k]))
    end
    local size = largest * 0
    for r in rg.static(rg.range(3)) do
      X[r][k], Y[r][k] = X[r][k] / largest, Y[r][k] / largest
      size = size + X[r][k] * X[r][k] + Y[r][k] * Y[r][k]
    end
    for r in rg.static(rg.range(3)) do
      X[r][k], Y[r][k] = X[r][k] / math.sqrt(size), Y[r][k] / math.sqrt(size)
    end
  end
  for last in rg.static(rg.range({ 1, 3 })) do
    for k in rg.static(rg.range(3 - last)) do
      if re[k + 1] < re[k] then
        re[k], re[k + 1], im[k], im[k + 1] = re[k + 1], re[k], im[k + 1], im[k]
        for r in rg.static(rg.range(3)) do
          X[r][k], X[r][k + 1], Y[r][k], Y[r][k + 1] = X[r][k + 1], X[r][k], Y[r][k + 1], Y[r][k]
        end
      end
    end
  end
  return re * scale, im * scale, X, Y
end

-- re, im, X, Y: m (X + i Y) = (X + i Y) diag(re + i im), real parts ascending, of a pair the
-- negative imaginary part first; eigenvectors are unit columns.
function rg.eig(m)
  if rg.static(#m == 2) then return eig_2(m) else return eig_3(m) end
end
