-- ising.lua - the Ising model: Metropolis updates of the black sites of a checkerboard, then of the
-- white ones. usage: ising [sites per axis]
local rg, bench = require "regolith", require "bench"
local n = bench.arguments(1024)

local beta = 1 / 2.6
local spin = rg.field(rg.i32, n, n)

local sweep = rg.kernel(function(colour)
  for i, j in rg.range(n, n) do
    if (i + j) % 2 == colour then
      local around = spin[(i + 1) % n][j] + spin[(i + n - 1) % n][j] + spin[i][(j + 1) % n]
        + spin[i][(j + n - 1) % n]
      local cost = 2 * spin[i][j] * around
      if cost <= 0 or rg.random() < math.exp(-beta * cost) then spin[i][j] = -spin[i][j] end
    end
  end
end)

local energy = rg.kernel(function()
  local s = rg.f64(0)
  for i, j in rg.range(n, n) do
    s = s - spin[i][j] * (spin[(i + 1) % n][j] + spin[i][(j + 1) % n])
  end
  return s / (n * n)
end)

bench.run {
  start = function() spin:fill(1) end,
  step = function()
    sweep(0)
    sweep(1)
  end,
  checksum = energy,
}
