-- derivative.lua - decompositions as adjoints and tangents of kernels see them. Their own texts
-- would be differentiated step by step, and divide by zero where singular values or eigenvalues are
-- equal. These decompose a constant, and add what follows from the defining equation to first order
-- in m - rg.stop(m), which is zero.
--
-- Where equal values leave vectors free to turn, their derivative is taken as 0. So what does not
-- depend on that choice, as U V^T and V f(w) V^T, has its right derivative.

-- 1 / gap, or 0 if the gap is only a rounding error of a number as large as `size`.
local function inverse_of_gap(gap, size)
  local is_some = size + math.abs(gap) * 0.0625 ~= size
  return is_some and 1 / (is_some and gap or gap * 0 + 1) or gap * 0
end

-- R^T dR is skew, so dS being symmetric leaves S R^T dR + R^T dR S = R^T dm - dm^T R.
local function derivative_of_polar(m)
  local x = m * 1.0
  local at = rg.stop(x)
  local R, S = rg.polar(at)
  local w, V = rg.sym_eig(S)
  local inner = R:transpose() * (x - at)
  local p, turn, size = V:transpose() * inner * V, at * 0, math.abs(w[#m - 1])
  for i in rg.static(rg.range(#m)) do
    for j in rg.static(rg.range({ i + 1, #m })) do
      local angle = (p[i][j] - p[j][i]) * inverse_of_gap(w[i] + w[j], size)
      turn[i][j], turn[j][i] = angle, -angle
    end
  end
  turn = V * turn * V:transpose()
  return R + R * turn, S + inner - turn * S
end

-- With skew A = U^T dU and B = V^T dV: U^T dm V = A S + dS - S B.
local function derivative_of_svd(m)
  local x = m * 1.0
  local at = rg.stop(x)
  local U, S, V = rg.svd(at)
  local p, a, b, size = U:transpose() * (x - at) * V, at * 0, at * 0, S[0][0]
  for i in rg.static(rg.range(#m)) do
    for j in rg.static(rg.range({ i + 1, #m })) do
      local apart = (p[i][j] - p[j][i]) * inverse_of_gap(S[i][i] + S[j][j], size)
      local along = (p[i][j] + p[j][i]) * inverse_of_gap(S[j][j] - S[i][i], size)
      a[i][j], b[i][j] = (along + apart) * 0.5, (along - apart) * 0.5
      a[j][i], b[j][i] = -a[i][j], -b[i][j]
    end
    S[i][i] = S[i][i] + p[i][i]
  end
  return U + U * a, S, V + V * b
end

-- Of m's symmetric part.
local function derivative_of_sym_eig(m)
  local x = m * 0.5
  x = x + x:transpose()
  local at = rg.stop(x)
  local w, V = rg.sym_eig(at)
  local p, turn, size = V:transpose() * (x - at) * V, at * 0,
    math.max(math.abs(w[0]), math.abs(w[#m - 1]))
  for i in rg.static(rg.range(#m)) do
    for j in rg.static(rg.range({ i + 1, #m })) do
      local angle = p[i][j] * inverse_of_gap(w[j] - w[i], size)
      turn[i][j], turn[j][i] = angle, -angle
    end
  end
  for k in rg.static(rg.range(#m)) do w[k] = w[k] + p[k][k] end
  return w, V + V * turn
end
