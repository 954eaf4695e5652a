-- decompose.lua - the decomposition of many small matrices of f32, the result stored; the checksum
-- is the mean of all singular values (eigenvalues squared; elements squared, for polar).
-- usage: decompose svd2|svd3|sym_eig3|polar3 [matrices]
local rg, bench = require "regolith", require "bench"
local phase, count = bench.arguments("svd3", 65536)

local n = tonumber(phase:match "%d")
local T = rg.mat(n, n, rg.f32)
local M, U, V = rg.array(T, count), rg.array(T, count), rg.array(T, count)
local S = rg.array(rg.vec(n, rg.f32), count)

local fill = rg.kernel(function()
  for i in rg.range(count) do
    local m = M[i] * 0
    for r, c in rg.static(rg.range(n, n)) do
      local h = rg.u32(i * 16 + r * 4 + c) * 2654435761LL
      m[r][c] = rg.f32(rg.i32(bit.band(bit.rshift(h, 8), 0xffff))) / 32768 - 1
    end
    M[i] = m
  end
end)

local kernels = {
  svd = rg.kernel(function()
    for i in rg.range(count) do
      local u, s, v = rg.svd(M[i])
      local d = S[i] * 0
      for k in rg.static(rg.range(n)) do d[k] = s[k][k] end
      U[i], S[i], V[i] = u, d, v
    end
  end),
  sym_eig = rg.kernel(function()
    for i in rg.range(count) do S[i], V[i] = rg.sym_eig(M[i] + M[i]:transpose()) end
  end),
  polar = rg.kernel(function()
    for i in rg.range(count) do U[i], V[i] = rg.polar(M[i]) end
  end),
}
local step = kernels[phase:match "^%a+_?%a*"]

local is_polar, is_eig = phase == "polar3", phase == "sym_eig3"
local check = rg.kernel(function()
  local sum = rg.f64(0)
  for i in rg.range(count) do
    if rg.static(is_polar) then sum = sum + rg.sum(rg.hadamard(U[i] * V[i], M[i]))
    elseif rg.static(is_eig) then sum = sum + rg.dot(S[i], S[i])
    else sum = sum + rg.dot(S[i], S[i] * 0 + 1) end
  end
  return sum / count
end)

fill()
bench.run { step = step, checksum = check }
