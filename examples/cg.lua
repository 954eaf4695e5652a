-- cg.lua - the potential around charges: Poisson's equation by conjugate gradients, in one kernel.
-- Numerics. Run it with:  examples/run cg
--
-- A charged ring and an oppositely charged bar are in a box whose walls are held at zero. At
-- each of the n * n points, four times the potential minus that of the four neighbours is the
-- charge: n * n equations.
local rg = require "regolith"

local folder = arg and arg[1] or "."
local n = 384

local function grid() return rg.field(rg.f64, n, n) end
local charge, potential = grid(), grid()
local residual, direction, image = grid(), grid(), grid()

-- Plain Lua functions are compiled into the kernels that call them. A read outside the grid gives
-- zero, which stands for the walls.
local function apply(f, i, j)
  return 4 * f[i][j] - f[i - 1][j] - f[i + 1][j] - f[i][j - 1] - f[i][j + 1]
end

local function dot(a, b)
  local sum = 0
  for i, j in rg.range(n, n) do sum = sum + a[i][j] * b[i][j] end
  return sum
end

local function distance(x, y) return math.sqrt(x * x + y * y) end

local ring_x, ring_y = 0.36, 0.62
local place = rg.kernel(function()
  for i, j in rg.range(n, n) do
    local x, y = i / n, j / n
    local ring = math.abs(distance(x - ring_x, y - ring_y) - 0.14) < 0.008
    local bar = math.abs(x + y - 1.15) < 0.01 and math.abs(x - y - 0.25) < 0.3
    charge[i][j] = ring and 1 or bar and -1 or 0
  end
end)

-- The host region of a kernel runs once: its `while` depends on the reductions of the parallel
-- loops inside. A step along a conjugate direction undoes no earlier one. It begins with the
-- potential that there is.
local solve = rg.kernel(function(tolerance, most)
  for i, j in rg.range(n, n) do
    residual[i][j] = charge[i][j] - apply(potential, i, j)
    direction[i][j] = residual[i][j]
  end
  local square, steps = dot(residual, residual), 0
  local goal = tolerance * tolerance * dot(charge, charge)
  while square > goal and steps < most do
    for i, j in rg.range(n, n) do image[i][j] = apply(direction, i, j) end
    local length = square / dot(direction, image)
    for i, j in rg.range(n, n) do
      potential[i][j] = potential[i][j] + length * direction[i][j]
      residual[i][j] = residual[i][j] - length * image[i][j]
    end
    local rest = dot(residual, residual)
    local keep = rest / square
    for i, j in rg.range(n, n) do direction[i][j] = residual[i][j] + keep * direction[i][j] end
    square = rest
    steps = steps + 1
  end
  return steps
end)

-- The largest residual of all equations.
local check = rg.kernel(function()
  local worst = 0
  for i, j in rg.range(n, n) do
    worst = math.max(worst, math.abs(charge[i][j] - apply(potential, i, j)))
  end
  return worst
end)

-- Bands of equal potential, ten from zero to the maximum and ten below zero.
local picture, params = rg.field(rg.f32, n, n), { bands = { 10, 2, 30, 1 }, steps = { 40, 1, 200 } }
local paint = rg.kernel(function(highest)
  for i, j in rg.range(n, n) do
    local level = potential[i][j] / highest
    local band = math.floor(params.bands * level)
    picture[i][j] = 0.45 + 0.5 * level + (band % 2 == 0 and 0.06 or 0)
  end
end)

local extremes = rg.kernel(function()
  local highest = 0
  for i, j in rg.range(n, n) do highest = math.max(highest, math.abs(potential[i][j])) end
  return highest
end)

local look, steps = { low = 0, high = 1, palette = "heat" }, 0
rg.live { params = params, reset = place,
  step = function() steps = solve(1e-6, params.steps) end, -- the next frame goes on
  touch = function(x, y)                             -- moves the ring
    ring_x, ring_y = x, y
    place()
  end,
  draw = function(w)
    paint(math.max(extremes(), 1e-9))
    w:show(picture, look)
    w:watch("steps", steps)
    w:plot("largest residual", check())
  end,
  otherwise = function()
    local begin = rg.time()
    steps = solve(1e-12, 5000)
    print(("%d unknowns, %d steps in %.2f s, every equation holds to %.1e"):format(n * n, steps,
      rg.time() - begin, check()))
    local highest = extremes()
    paint(highest)
    rg.image.write(folder .. "/cg.png", picture, look)
    -- Float sums have no fixed order: steps may differ in their last bits; the result does not.
    print(("checksum %.0f"):format(1e3 * highest))
  end }
