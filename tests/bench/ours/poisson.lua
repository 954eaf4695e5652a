-- poisson.lua - W11: Poisson's equation in a ball by conjugate gradients, preconditioned by one
-- V-cycle of multigrid; unknowns exist only inside. A step is an iteration.
-- usage: poisson [cells per axis] [levels]
local rg, bench = require "regolith", require "bench"
local n, levels = bench.arguments(256, 4)

local sweeps, bottom_sweeps = 2, 20
local function sparse(cells, ...) rg.root:pointer("ijk", cells / 8):dense("ijk", 8):place(...) end
local x, p, Ap = rg.field(rg.f32), rg.field(rg.f32), rg.field(rg.f32)
local rest, guess = {}, {} -- of each level
sparse(n, x, p, Ap)
for l = 1, levels do
  rest[l], guess[l] = rg.field(rg.f32), rg.field(rg.f32)
  sparse(n / 2 ^ (l - 1), rest[l], guess[l])
end

local begin = rg.kernel(function(r, z)
  for i, j, k in rg.range(n, n, n) do
    local a, b, c = i / n - 0.5, j / n - 0.5, k / n - 0.5
    if a * a + b * b + c * c < 0.04 then
      r[i][j][k] = math.sin(7 * a) * math.sin(9 * b + 1) * math.sin(11 * c + 2)
      z[i][j][k] = 0
      x[i][j][k] = 0
      p[i][j][k] = 0
      Ap[i][j][k] = 0
    end
  end
end)

local coarser = rg.kernel(function(fine, coarse)
  for i, j, k in fine:active() do
    coarse[math.floor(i / 2)][math.floor(j / 2)][math.floor(k / 2)] = 0
  end
end)

local function around(f, i, j, k)
  return f[i - 1][j][k] + f[i + 1][j][k] + f[i][j - 1][k] + f[i][j + 1][k] + f[i][j][k - 1]
    + f[i][j][k + 1]
end

local clear = rg.kernel(function(f) for i, j, k in f:active() do f[i][j][k] = 0 end end)

local smooth = rg.kernel(function(r, z, colour)
  for i, j, k in r:active() do
    if (i + j + k) % 2 == colour then z[i][j][k] = (r[i][j][k] + around(z, i, j, k)) / 6 end
  end
end)

local restrict = rg.kernel(function(r, z, coarse)
  for i, j, k in r:active() do
    local off = r[i][j][k] - (6 * z[i][j][k] - around(z, i, j, k))
    local a, b, c = math.floor(i / 2), math.floor(j / 2), math.floor(k / 2)
    coarse[a][b][c] = coarse[a][b][c] + 0.5 * off
  end
end)

local prolong = rg.kernel(function(z, coarse)
  for i, j, k in z:active() do
    z[i][j][k] = z[i][j][k] + coarse[math.floor(i / 2)][math.floor(j / 2)][math.floor(k / 2)]
  end
end)

local apply = rg.kernel(function()
  for i, j, k in Ap:active() do Ap[i][j][k] = 6 * p[i][j][k] - around(p, i, j, k) end
end)

local dot = rg.kernel(function(a, b)
  local s = 0
  for i, j, k in a:active() do s = s + a[i][j][k] * b[i][j][k] end
  return s
end)

local advance = rg.kernel(function(r, alpha)
  for i, j, k in r:active() do
    x[i][j][k] = x[i][j][k] + alpha * p[i][j][k]
    r[i][j][k] = r[i][j][k] - alpha * Ap[i][j][k]
  end
end)

local direct = rg.kernel(function(z, beta)
  for i, j, k in p:active() do p[i][j][k] = z[i][j][k] + beta * p[i][j][k] end
end)

local function precondition()
  clear(guess[1])
  for l = 1, levels - 1 do
    for _ = 1, sweeps do
      smooth(rest[l], guess[l], 0)
      smooth(rest[l], guess[l], 1)
    end
    clear(guess[l + 1])
    clear(rest[l + 1])
    restrict(rest[l], guess[l], rest[l + 1])
  end
  for _ = 1, bottom_sweeps do
    smooth(rest[levels], guess[levels], 0)
    smooth(rest[levels], guess[levels], 1)
  end
  for l = levels - 1, 1, -1 do
    prolong(guess[l], guess[l + 1])
    for _ = 1, sweeps do
      smooth(rest[l], guess[l], 1)
      smooth(rest[l], guess[l], 0)
    end
  end
end

local total = rg.kernel(function()
  local s = rg.f64(0)
  for i, j, k in x:active() do s = s + x[i][j][k] * x[i][j][k] end
  return s
end)

local before
bench.run {
  start = function()
    begin(rest[1], guess[1])
    for l = 1, levels - 1 do coarser(rest[l], rest[l + 1]) end
    precondition()
    direct(guess[1], 0)
    before = dot(guess[1], rest[1])
  end,
  step = function()
    apply()
    advance(rest[1], before / dot(p, Ap))
    precondition()
    local after = dot(guess[1], rest[1])
    direct(guess[1], after / before)
    before = after
  end,
  checksum = total,
}
