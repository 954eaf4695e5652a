-- stream.lua - W1: loops over arrays larger than any cache. usage: stream [phase] [elements]
local rg, bench = require "regolith", require "bench"
local phase, n = bench.arguments("scale", 16777216)

local a = 0.25
local x, y, z = rg.field(rg.f32, n), rg.field(rg.f32, n), rg.field(rg.f32, n)

local fill = rg.kernel(function()
  for i in rg.range(n) do
    x[i] = bench.noise(i)
    y[i] = 1 - x[i]
  end
end)

local phases = {
  scale = rg.kernel(function() for i in rg.range(n) do z[i] = a * x[i] end end),
  copy = rg.kernel(function() for i in rg.range(n) do z[i] = x[i] end end),
  triad = rg.kernel(function() for i in rg.range(n) do z[i] = a * x[i] + y[i] end end),
  axpy = rg.kernel(function() for i in rg.range(n) do y[i] = a * x[i] + y[i] end end),
  sum = rg.kernel(function()
    local s = 0
    for i in rg.range(n) do s = s + x[i] end
    return s
  end),
}

local total = rg.kernel(function(of)
  local s = rg.f64(0)
  for i in rg.range(n) do s = s + of[i] end
  return s / n
end)

local sum
bench.run {
  start = fill,
  step = function() sum = phases[phase]() end,
  checksum = function() return phase == "sum" and sum / n or total(phase == "axpy" and y or z) end,
}
