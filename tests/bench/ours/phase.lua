-- phase.lua - Kobayashi's phase-field model of a six-armed snowflake that grows in cold water.
-- usage: phase [cells per axis]
local rg, bench = require "regolith", require "bench"
local n = bench.arguments(512)

local dx, dt, tau = 0.03, 1e-4, 3e-4
local width, strength, arms, sharpness, heat = 0.01, 0.04, 6, 10, 1.6
local ice, temperature = rg.field(rg.f32, n, n), rg.field(rg.f32, n, n)
local next_ice, next_temperature = rg.field(rg.f32, n, n), rg.field(rg.f32, n, n)
local flux = rg.field(rg.vec2, n, n) -- of the anisotropic energy
local epsilon = rg.field(rg.f32, n, n)

local start = rg.kernel(function()
  for i, j in rg.range(n, n) do
    local x, y = i - n / 2, j - n / 2
    ice[i][j] = x * x + y * y < 100 and 1 or 0
    temperature[i][j] = 0
    flux[i][j] = rg.vec2(0)
    epsilon[i][j] = 0
    next_ice[i][j] = 0
    next_temperature[i][j] = 0
  end
end)

local step = rg.kernel(function()
  for i, j in rg.range({ 1, n - 1 }, { 1, n - 1 }) do
    local gx = (ice[i + 1][j] - ice[i - 1][j]) / (2 * dx)
    local gy = (ice[i][j + 1] - ice[i][j - 1]) / (2 * dx)
    local angle = math.atan2(gy, gx)
    local e = width * (1 + strength * math.cos(arms * angle))
    local slope = -width * strength * arms * math.sin(arms * angle)
    epsilon[i][j] = e * e
    flux[i][j] = rg.vec2(-e * slope * gy, e * slope * gx)
  end
  for i, j in rg.range({ 1, n - 1 }, { 1, n - 1 }) do
    local p, t = ice[i][j], temperature[i][j]
    local around = ice[i + 1][j] + ice[i - 1][j] + ice[i][j + 1] + ice[i][j - 1] - 4 * p
    local warmer = temperature[i + 1][j] + temperature[i - 1][j] + temperature[i][j + 1]
      + temperature[i][j - 1] - 4 * t
    local bend = (flux[i + 1][j].x - flux[i - 1][j].x + flux[i][j + 1].y - flux[i][j - 1].y)
      / (2 * dx)
    local drive = 0.9 / math.pi * math.atan(sharpness * (1 - t))
    local rate = (bend + epsilon[i][j] * around / (dx * dx) + p * (1 - p) * (p - 0.5 + drive)) / tau
    next_ice[i][j] = p + dt * rate
    next_temperature[i][j] = t + dt * (warmer / (dx * dx) + heat * rate)
  end
end)

local total = rg.kernel(function()
  local s = rg.f64(0)
  for i, j in rg.range(n, n) do s = s + ice[i][j] + 0.1 * temperature[i][j] end
  return s
end)

bench.run {
  start = start,
  step = function()
    step()
    ice, next_ice = next_ice, ice
    temperature, next_temperature = next_temperature, temperature
  end,
  checksum = total,
}
