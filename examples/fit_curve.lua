-- fit_curve.lua - a small neural network learns a curve from noisy points, by Adam.
-- Gradients. Run it with:  examples/run fit_curve
--
-- One hidden layer of `width` units. The gradient of the loss with respect to every weight comes
-- from the one kernel that computes the loss, run backwards.
local rg = require "regolith"

local folder = arg and arg[1] or "."
local points, width, rounds = 240, 24, 400
local params = { rate = { 0.03, 0, 0.1 }, reach = { 0.15, 0.02, 1 } }

local x, y = rg.field(rg.f32, points), rg.field(rg.f32, points)
local function weights() return rg.field(rg.f32, width, { grad = true }) end
local slope, shift, scale = weights(), weights(), weights()
local offset, loss = rg.field(rg.f32, 1, { grad = true }), rg.field(rg.f32, 1, { grad = true })

rg.seed(1)
local function truth(t) return math.sin(3 * t) * math.exp(-0.4 * t * t) + 0.3 * t end
for i = 0, points - 1 do
  x[i] = 6 * i / points - 3
  y[i] = truth(x[i]) + 0.12 * rg.randn()
end
local function begin()
  for k = 0, width - 1 do
    slope[k], shift[k], scale[k] = 2 * rg.random() - 1, 6 * rg.random() - 3, 0.4 * rg.randn()
  end
end

local function predict(t)
  local sum = offset[0]
  for k = 0, width - 1 do sum = sum + scale[k] * math.tanh(slope[k] * 2 * (t - shift[k])) end
  return sum
end

local measure = rg.kernel(function()
  for i in rg.range(points) do loss[0] = loss[0] + (predict(x[i]) - y[i]) ^ 2 / points end
end)

-- The points, and the curve through a picture of them.
local columns, rows = 480, 240
local picture = rg.field(rg.f32, columns, rows)
local paint = rg.kernel(function()
  for i, j in rg.range(columns, rows) do picture[i][j] = 0 end
  for k in rg.range(points) do
    local i, j = rg.i32((x[k] + 3) / 6 * columns), rg.i32((y[k] + 1.7) / 3.4 * rows)
    for a = -1, 1 do
      for b = -1, 1 do
        picture[math.max(i + a, 0)][math.min(math.max(j + b, 0), rows - 1)] = 0.55
      end
    end
  end
  for i in rg.range(columns) do
    local j = rg.i32((predict(6.0 * i / columns - 3) + 1.7) / 3.4 * rows)
    for b = -2, 2 do picture[i][math.min(math.max(j + b, 0), rows - 1)] = 1 end
  end
end)

-- Points that the mouse passes come along.
local drag = rg.kernel(function(a, b)
  for k in rg.range(points) do
    if math.abs(x[k] - a) < params.reach then y[k] = rg.mix(y[k], b, 0.5) end
  end
end)

local adam = rg.optim.adam { params = { slope, shift, scale, offset }, lr = 0.03 }
local function learn(options)
  adam.lr = params.rate
  return adam:minimize(loss, function()
    loss[0] = 0
    measure()
  end, options)
end

local look = { palette = "magma", high = 1 }
rg.live { params = params, reset = begin, width = 960, height = 480,
  step = function() learn { steps = 1 } end,
  touch = function(a, b) drag(6 * a - 3, 3.4 * b - 1.7) end,
  draw = function(w)
    paint()
    w:show(picture, look)
    w:plot("loss", loss[0])
  end,
  otherwise = function()
    local losses = learn { steps = rounds, each = function(k)
      if k % 40 > 0 then return end
      paint()
      rg.image.write(("%s/fit_curve_%03d.png"):format(folder, k), picture, look)
    end }
    print(("mean square error: %.3f at first, %.4f after %d rounds"):format(losses[1],
      losses[#losses], #losses))
    print(("checksum %d"):format(losses[#losses] < 0.03 and 1 or 0))
  end }
