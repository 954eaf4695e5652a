-- adaptive.lua - heat from a moving source, with adaptive refinement: blocks of 8 x 8 fine cells
-- exist only where the coarse solution has steep gradients.
-- usage: adaptive [coarse cells per axis]
local rg, bench = require "regolith", require "bench"
local n = bench.arguments(512)

local fine, rate, most, least = 8, 0.2, 0.02, 0.005
local heat, next_heat = rg.field(rg.f32, n, n), rg.field(rg.f32, n, n)
local detail, next_detail = rg.field(rg.f32), rg.field(rg.f32)
local block = rg.root:pointer("ij", n)
block:dense("ij", fine):place(detail, next_detail)
local time = 0.0

local clear = rg.kernel(function()
  for i, j in rg.range(n, n) do heat[i][j] = 0 end
end)

local function slope(i, j)
  return math.abs(heat[i + 1][j] - heat[i - 1][j]) + math.abs(heat[i][j + 1] - heat[i][j - 1])
end

-- Reads the fine cell if its block exists, otherwise the coarse one.
local function at(i, j)
  local ci, cj = math.floor(i / fine), math.floor(j / fine)
  if block:is_active(ci, cj) then return detail[i][j] end
  return heat[ci][cj]
end

local refine = rg.kernel(function()
  for i, j in rg.range(n, n) do
    if slope(i, j) > most and not block:is_active(i, j) then
      for a = 0, fine - 1 do
        for b = 0, fine - 1 do detail[i * fine + a][j * fine + b] = heat[i][j] end
      end
    end
  end
end)

local step = rg.kernel(function()
  local spot = rg.vec2(0.5 + 0.3 * math.cos(time), 0.5 + 0.3 * math.sin(time)) * n
  for i, j in rg.range(n, n) do
    local d = rg.vec2(i, j) - spot
    local warm = math.exp(-rg.dot(d, d) / 60)
    local c = heat[i][j]
    next_heat[i][j] = c + rate / (fine * fine) * (heat[i - 1][j] + heat[i + 1][j] + heat[i][j - 1]
      + heat[i][j + 1] - 4 * c) + 0.1 * warm
  end
  for i, j in detail:active() do
    local d = rg.vec2(i, j) / fine - spot
    local c = detail[i][j]
    local around = at(i - 1, j) + at(i + 1, j) + at(i, j - 1) + at(i, j + 1)
    next_detail[i][j] = c + rate * (around - 4 * c) + 0.1 * math.exp(-rg.dot(d, d) / 60)
  end
  for i, j in block:active() do
    local sum = 0.0
    for a = 0, fine - 1 do
      for b = 0, fine - 1 do sum = sum + next_detail[i * fine + a][j * fine + b] end
    end
    next_heat[i][j] = sum / (fine * fine)
  end
end)

local coarsen = rg.kernel(function()
  for i, j in block:active() do
    if slope(i, j) < least then block:deactivate(i, j) end
  end
end)

local total = rg.kernel(function()
  local s = rg.f64(0)
  for i, j in rg.range(n, n) do s = s + heat[i][j] end
  return s
end)

bench.run {
  start = function()
    block:clear()
    clear()
    time = 0.0
  end,
  step = function()
    refine()
    step()
    heat, next_heat = next_heat, heat
    detail, next_detail = next_detail, detail
    coarsen()
    time = time + 0.02
  end,
  checksum = total,
}
