-- filters.lua - an equaliser: each audio channel passes through a cascade of biquad filters.
-- usage: filters [channels] [samples] [filters]
local rg, bench = require "regolith", require "bench"
local channels, samples, stages = bench.arguments(256, 8192, 4)

local sound, out = rg.field(rg.f32, channels, samples), rg.field(rg.f32, channels, samples)
local Filter = rg.struct {
  { "b0", rg.f32 }, { "b1", rg.f32 }, { "b2", rg.f32 }, { "a1", rg.f32 }, { "a2", rg.f32 },
}
local filter = rg.field(Filter, stages)

local start = rg.kernel(function()
  for c, t in rg.range(channels, samples) do
    sound[c][t] = bench.noise(c * samples + t) - 0.5
  end
  for s in rg.range(stages) do
    local w, q, gain = 0.05 + 0.4 * s, 1.2, 1.5
    local alpha = math.sin(w) / (2 * q)
    local a0 = 1 + alpha / gain
    filter[s] = {
      b0 = (1 + alpha * gain) / a0,
      b1 = -2 * math.cos(w) / a0,
      b2 = (1 - alpha * gain) / a0,
      a1 = -2 * math.cos(w) / a0,
      a2 = (1 - alpha / gain) / a0,
    }
  end
end)

local step = rg.kernel(function()
  for c in rg.range(channels) do
    for t = 0, samples - 1 do out[c][t] = sound[c][t] end
    for s = 0, stages - 1 do
      local f = filter[s]
      local z1, z2 = 0.0, 0.0
      for t = 0, samples - 1 do
        local x = out[c][t]
        local y = f.b0 * x + z1
        z1 = f.b1 * x - f.a1 * y + z2
        z2 = f.b2 * x - f.a2 * y
        out[c][t] = y
      end
    end
  end
end)

bench.run {
  start = start,
  step = step,
  checksum = function() return out:norm() end,
}
