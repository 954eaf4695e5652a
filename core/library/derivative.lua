-- derivative.lua - the decompositions that replace those of decompose.lua in adjoints and tangents
-- of kernels. Differentiating these step by step would divide by zero where singular values or
-- eigenvalues are equal. The functions here decompose m as a constant, and then take a step of
-- Newton's method towards the decomposition of m: the step is zero, since m equals the constant,
-- but its derivative is the first derivative of the decomposition. A second step, with the same
-- constants, makes the second derivative right, too.
--
-- Where equal values leave vectors undetermined up to a rotation, their derivative is defined as 0.

-- 1 / gap, or 0 if the gap is only a rounding error of a number as large as `size`.
local function inverse_of_gap(gap, size)
  local is_some = size + math.abs(gap) * 0.0625 ~= size
  return is_some and 1 / (is_some and gap or gap * 0 + 1) or gap * 0
end

-- m - rg.stop(m): zero, with the derivatives of m.
local function difference(m)
  return m - rg.stop(m)
end

-- R times the exponential of a small skew matrix, up to the second order.
local function rotated(R, skew)
  return R + R * (skew + skew * skew * 0.5)
end

-- Makes R^T m symmetric. A = R^T dR is skew; since dS is symmetric,
-- S A + A S = R^T dm - dm^T R, where S = V w V^T.
local function step_of_polar(R, m, w, V)
  local p = V:transpose() * difference(R:transpose() * m) * V
  local rotation, size = rg.stop(p) * 0, math.abs(w[#m - 1])
  for i in rg.static(rg.range(#m)) do
    for j in rg.static(rg.range({ i + 1, #m })) do
      local angle = (p[i][j] - p[j][i]) * inverse_of_gap(w[i] + w[j], size)
      rotation[i][j], rotation[j][i] = angle, -angle
    end
  end
  return rotated(R, V * rotation * V:transpose())
end

local function derivative_of_polar(m)
  local x = m * 1.0
  local R, S = rg.polar(rg.stop(x))
  local w, V = rg.sym_eig(S)
  R = step_of_polar(R, x, w, V)
  return R, S + difference(R:transpose() * x)
end

local function second_of_polar(m)
  local x = m * 1.0
  local R, S = rg.polar(rg.stop(x))
  local w, V = rg.sym_eig(S)
  R = step_of_polar(step_of_polar(R, x, w, V), x, w, V)
  return R, S + difference(R:transpose() * x)
end

-- Makes U^T m V diagonal. With skew A = U^T dU and B = V^T dV: U^T dm V = A S + dS - S B.
local function step_of_svd(U, V, m, S)
  local p = difference(U:transpose() * m * V)
  local a, b, size = rg.stop(p) * 0, rg.stop(p) * 0, S[0][0]
  for i in rg.static(rg.range(#m)) do
    for j in rg.static(rg.range({ i + 1, #m })) do
      local antisymmetric = (p[i][j] - p[j][i]) * inverse_of_gap(S[i][i] + S[j][j], size)
      local symmetric = (p[i][j] + p[j][i]) * inverse_of_gap(S[j][j] - S[i][i], size)
      a[i][j], b[i][j] = (symmetric + antisymmetric) * 0.5, (symmetric - antisymmetric) * 0.5
      a[j][i], b[j][i] = -a[i][j], -b[i][j]
    end
  end
  return rotated(U, a), rotated(V, b)
end

local function values_of_svd(U, V, m, S)
  local p, values = difference(U:transpose() * m * V), S * 1.0
  for i in rg.static(rg.range(#m)) do values[i][i] = S[i][i] + p[i][i] end
  return values
end

local function derivative_of_svd(m)
  local x = m * 1.0
  local U, S, V = rg.svd(rg.stop(x))
  local U1, V1 = step_of_svd(U, V, x, S)
  return U1, values_of_svd(U1, V1, x, S), V1
end

local function second_of_svd(m)
  local x = m * 1.0
  local U, S, V = rg.svd(rg.stop(x))
  local U1, V1 = step_of_svd(U, V, x, S)
  local U2, V2 = step_of_svd(U1, V1, x, S)
  return U2, values_of_svd(U2, V2, x, S), V2
end

-- Makes V^T m V diagonal, for symmetric m.
local function step_of_sym_eig(V, m, w)
  local p = difference(V:transpose() * m * V)
  local rotation, size = rg.stop(p) * 0, math.max(math.abs(w[0]), math.abs(w[#m - 1]))
  for i in rg.static(rg.range(#m)) do
    for j in rg.static(rg.range({ i + 1, #m })) do
      local angle = p[i][j] * inverse_of_gap(w[j] - w[i], size)
      rotation[i][j], rotation[j][i] = angle, -angle
    end
  end
  return rotated(V, rotation)
end

local function values_of_sym_eig(V, m, w)
  local p, values = difference(V:transpose() * m * V), w * 1.0
  for k in rg.static(rg.range(#m)) do values[k] = w[k] + p[k][k] end
  return values
end

local function derivative_of_sym_eig(m)
  local x = m * 0.5
  x = x + x:transpose()
  local w, V = rg.sym_eig(rg.stop(x))
  V = step_of_sym_eig(V, x, w)
  return values_of_sym_eig(V, x, w), V
end

local function second_of_sym_eig(m)
  local x = m * 0.5
  x = x + x:transpose()
  local w, V = rg.sym_eig(rg.stop(x))
  V = step_of_sym_eig(step_of_sym_eig(V, x, w), x, w)
  return values_of_sym_eig(V, x, w), V
end
