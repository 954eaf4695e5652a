-- gray_scott.lua - the Gray-Scott model: two chemicals diffuse and react in a periodic square.
-- usage: gray_scott [cells per axis]
local rg, bench = require "regolith", require "bench"
local n = bench.arguments(1024)

local feed, kill, spread_u, spread_v = 0.055, 0.062, 0.16, 0.08
local u, v = rg.field(rg.f32, n, n), rg.field(rg.f32, n, n)
local next_u, next_v = rg.field(rg.f32, n, n), rg.field(rg.f32, n, n)

local start = rg.kernel(function()
  for i, j in rg.range(n, n) do
    local inside = i % 64 < 20 and j % 64 < 20
    u[i][j] = (inside and 0.5 or 1) + 0.02 * bench.noise(i * n + j)
    v[i][j] = inside and 0.25 or 0
  end
end)

local function spread(f, i, j)
  return f[(i + 1) % n][j] + f[(i - 1) % n][j] + f[i][(j + 1) % n] + f[i][(j - 1) % n] - 4 * f[i][j]
end

local step = rg.kernel(function()
  for i, j in rg.range(n, n) do
    local a, b = u[i][j], v[i][j]
    local react = a * b * b
    next_u[i][j] = a + spread_u * spread(u, i, j) - react + feed * (1 - a)
    next_v[i][j] = b + spread_v * spread(v, i, j) + react - (feed + kill) * b
  end
end)

local total = rg.kernel(function()
  local s = rg.f64(0)
  for i, j in rg.range(n, n) do s = s + u[i][j] + 2 * v[i][j] end
  return s / n / n
end)

bench.run {
  start = start,
  step = function()
    step()
    u, v, next_u, next_v = next_u, next_v, u, v
  end,
  checksum = total,
}
