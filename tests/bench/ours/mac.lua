-- mac.lua - a fluid on a staggered (MAC) grid around a disk: advection, then a projection in place
-- by red-black Gauss-Seidel.
-- usage: mac [cells per axis]
local rg, bench = require "regolith", require "bench"
local n = bench.arguments(256)
local u, u2 = rg.field(rg.f32, n + 1, n), rg.field(rg.f32, n + 1, n)
local v, v2 = rg.field(rg.f32, n, n + 1), rg.field(rg.f32, n, n + 1)
local s = rg.field(rg.i32, n, n) -- 0: solid

local start = rg.kernel(function()
  for i, j in rg.range(n, n) do
    local solid = i == 0 or j == 0 or j == n - 1 or (i - n / 4) ^ 2 + (j - n / 2) ^ 2 < (n / 10) ^ 2
    s[i][j] = solid and 0 or 1
  end
  for i, j in rg.range(n + 1, n) do u[i][j] = i < 2 and 2 or 0 end
  for i, j in rg.range(n, n + 1) do v[i][j] = 0 end
end)

local function at(f, x, y, ni, nj)
  x = rg.clamp(x, 0, ni - 1.001)
  y = rg.clamp(y, 0, nj - 1.001)
  local i, j = math.floor(x), math.floor(y)
  local a, b = x - i, y - j
  return (f[i][j] * (1 - b) + f[i][j + 1] * b) * (1 - a)
    + (f[i + 1][j] * (1 - b) + f[i + 1][j + 1] * b) * a
end

local advect = rg.kernel(function(dt)
  for i, j in rg.range(n + 1, n) do
    if i > 0 and i < n and s[i][j] ~= 0 and s[i - 1][j] ~= 0 then
      local across = 0.25 * (v[i][j] + v[i - 1][j] + v[i][j + 1] + v[i - 1][j + 1])
      local x, y = i - dt * u[i][j], j - dt * across
      u2[i][j] = at(u, x, y, n + 1, n)
    else
      u2[i][j] = u[i][j]
    end
  end
  for i, j in rg.range(n, n + 1) do
    if j > 0 and j < n and s[i][j] ~= 0 and s[i][j - 1] ~= 0 then
      local across = 0.25 * (u[i][j] + u[i + 1][j] + u[i][j - 1] + u[i + 1][j - 1])
      local y, x = j - dt * v[i][j], i - dt * across
      v2[i][j] = at(v, x, y, n, n + 1)
    else
      v2[i][j] = v[i][j]
    end
  end
end)

local relax = rg.kernel(function(colour)
  for i, j in rg.range(n, n) do
    if (i + j) % 2 == colour and i > 0 and i < n - 1 and j > 0 and j < n - 1 and s[i][j] ~= 0 then
      local a, b, c, e = s[i - 1][j], s[i + 1][j], s[i][j - 1], s[i][j + 1]
      local count = a + b + c + e
      if count > 0 then
        local div = u2[i + 1][j] - u2[i][j] + v2[i][j + 1] - v2[i][j]
        local push = -1.9 * div / count
        u2[i][j] = u2[i][j] - a * push
        u2[i + 1][j] = u2[i + 1][j] + b * push
        v2[i][j] = v2[i][j] - c * push
        v2[i][j + 1] = v2[i][j + 1] + e * push
      end
    end
  end
end)

local total = rg.kernel(function()
  local t = rg.f64(0)
  for i, j in rg.range(n, n) do t = t + u[i][j] ^ 2 + v[i][j] ^ 2 end
  return t / n
end)

bench.run {
  start = start,
  step = function()
    advect(0.5)
    for _ = 1, 10 do
      relax(0)
      relax(1)
    end
    u, u2 = u2, u
    v, v2 = v2, v
  end,
  checksum = total,
}
