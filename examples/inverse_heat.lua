-- inverse_heat.lua - finds where heat came from: a plate's first temperatures, from its last ones.
-- Gradients. Run it with:  examples/run inverse_heat
--
-- Heat spreads for `steps` steps over an axis for time. The loss is how far the last temperatures
-- are from those that were seen; rg.grad runs the steps backwards, and L-BFGS moves the first ones.
local rg = require "regolith"

local folder = arg and arg[1] or "."
local n, steps, rounds = 96, 60, 40
local params = { rate = { 0.2, 0.02, 0.24 }, brush = { 4, 1, 12 } }

local heat = rg.field(rg.f32, steps + 1, n, n, { grad = true })
local first, loss = rg.field(rg.f32, n, n, { grad = true }), rg.field(rg.f32, 1, { grad = true })
local truth, seen = rg.field(rg.f32, n, n), rg.field(rg.f32, n, n)

local begin = rg.kernel(function()
  for i, j in rg.range(n, n) do heat[0][i][j] = first[i][j] end
end)

local step = rg.kernel(function(t)
  for i, j in rg.range(n, n) do
    local h = heat[t]
    local around = h[i - 1][j] + h[i + 1][j] + h[i][j - 1] + h[i][j + 1]
    heat[t + 1][i][j] = h[i][j] + params.rate * (around - 4 * h[i][j])
  end
end)

local compare = rg.kernel(function()
  for i, j in rg.range(n, n) do loss[0] = loss[0] + (heat[steps][i][j] - seen[i][j]) ^ 2 end
end)

local function run()
  begin()
  for t = 0, steps - 1 do step(t) end
end

-- A ring and two bars.
local draw = rg.kernel(function()
  for i, j in rg.range(n, n) do
    local r = math.sqrt((i - 32) ^ 2 + (j - 56) ^ 2)
    local is_ring = math.abs(r - 18) < 3
    local is_bar = math.abs(i - 74) < 3 and math.abs(j - 48) < 34
    local is_other = math.abs(j - 20) < 3 and math.abs(i - 48) < 32
    truth[i][j] = (is_ring or is_bar or is_other) and 1 or 0
  end
end)
local keep = rg.kernel(function()
  for i, j in rg.range(n, n) do seen[i][j] = heat[steps][i][j] end
end)

-- Runs the true first temperatures and keeps the last ones; the search starts from zero.
local function observe()
  first:copy_from(truth)
  run()
  keep()
  first:fill(0)
end

-- The true first temperatures, the last ones, and the first ones that were found.
local picture = rg.field(rg.f32, 3 * n, n)
local paint = rg.kernel(function()
  for i, j in rg.range(n, n) do
    picture[i][j], picture[n + i][j], picture[2 * n + i][j] = truth[i][j], seen[i][j], first[i][j]
  end
end)

local opt, rate
local function search(options)
  return opt:minimize(loss, function()
    loss[0] = 0
    run()
    compare()
  end, options)
end

local function restart()
  observe()
  rate = params.rate
  opt = rg.optim.lbfgs { params = { first } }
end

local dot = rg.kernel(function(a, b)
  for i, j in rg.range(n, n) do
    if (i - a) ^ 2 + (j - b) ^ 2 < params.brush ^ 2 then truth[i][j] = 1 end
  end
end)

local look = { palette = "heat", high = 1 }
rg.live { params = params, width = 960, height = 320,
  reset = function() draw() restart() end,
  step = function()
    if rate ~= params.rate then restart() end
    search { steps = 1 }
  end,
  touch = function(x, y)                             -- paints the truth, at the left
    dot(x * 3 * n, y * n)
    restart()
  end,
  draw = function(w)
    paint()
    w:show(picture, look)
    w:plot("loss", loss[0])
  end,
  otherwise = function()
    local losses = search { steps = rounds, each = function(k)
      if k % 4 > 0 then return end
      paint()
      rg.image.write(("%s/inverse_heat_%03d.png"):format(folder, k), picture, look)
    end }
    print(("loss %.3g at first, %.3g after %d rounds"):format(losses[1], losses[#losses], #losses))
    print(("checksum %d"):format(losses[#losses] < 1e-3 * losses[1] and 1 or 0))
  end }
