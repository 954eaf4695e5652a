-- fft.lua - radix-2 fast Fourier transforms of many signals: samples are permuted by bit
-- reversal, then combined by butterflies, stage by stage. usage: fft [signals] [log2 of samples]
local rg, bench = require "regolith", require "bench"
local signals, bits = bench.arguments(256, 12)

local n = 2 ^ bits
local input, z = rg.field(rg.vec2, signals, n), rg.field(rg.vec2, signals, n)

local start = rg.kernel(function()
  for s, k in rg.range(signals, n) do
    input[s][k] = rg.vec2(bench.noise(s * n + k) - 0.5 + math.sin(0.1 * k), 0)
  end
end)

local permute = rg.kernel(function()
  for s, k in rg.range(signals, n) do
    local r, v = 0, k
    for _ = 1, bits do
      r = bit.bor(bit.lshift(r, 1), bit.band(v, 1))
      v = bit.rshift(v, 1)
    end
    z[s][r] = input[s][k]
  end
end)

local stage = rg.kernel(function(half)
  for s, k in rg.range(signals, n / 2) do
    local group, j = math.floor(k / half), k % half
    local a, b = group * 2 * half + j, group * 2 * half + j + half
    local angle = -math.pi * j / half
    local w = rg.vec2(math.cos(angle), math.sin(angle))
    local u, t = z[s][a], z[s][b]
    t = rg.vec2(t.x * w.x - t.y * w.y, t.x * w.y + t.y * w.x)
    z[s][a] = u + t
    z[s][b] = u - t
  end
end)

local total = rg.kernel(function()
  local sum = rg.f64(0)
  for s, k in rg.range(signals, n) do sum = sum + z[s][k]:norm() end
  return sum / (signals * n)
end)

bench.run {
  start = start,
  step = function()
    permute()
    for b = 0, bits - 1 do stage(2 ^ b) end
  end,
  checksum = total,
}
