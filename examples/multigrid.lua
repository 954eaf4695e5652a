-- multigrid.lua - the potential around charges: conjugate gradients preconditioned by multigrid.
-- Numerics. Run it with:  examples/run multigrid
--
-- McAdams, Sifakis and Teran 2010 (MGPCG): a V-cycle preconditions each step. It smooths,
-- passes the residual to a grid half as fine, and so on, so errors of every scale are reduced at
-- that scale. Plain conjugate gradients, as in cg.lua, take hundreds of steps; these take a dozen.
local rg = require "regolith"

local folder = arg and arg[1] or "."
local n = tonumber(arg and arg[2]) or 512
local params = { smoothing = { 2, 1, 8, 1 }, bands = { 4, 1, 12 } }

-- The grids, finest first: the unknown, the right-hand side, the residual.
local function grid(size) return rg.field(rg.f64, size, size) end
local grids = {}
local size = n
while size >= 8 do
  grids[#grids + 1] = { n = size, x = grid(size), b = grid(size), rest = grid(size) }
  size = size / 2
end
local potential, charge, rest, way, image = grid(n), grid(n), grid(n), grid(n), grid(n)

-- The equation at a point, times the square of its width. Reads outside give zero: the walls.
local function apply(x, i, j)
  return 4 * x[i][j] - x[i - 1][j] - x[i + 1][j] - x[i][j - 1] - x[i][j + 1]
end

-- Red points, then black ones, or in reverse: a V-cycle must be symmetric. Grids are tables.
local smooth = rg.kernel(function(g, first)
  for half = 0, 1 do
    for i, j in rg.range(g.n, g.n) do
      if (i + j + half + first) % 2 == 0 then
        g.x[i][j] = g.x[i][j] + 0.25 * (g.b[i][j] - apply(g.x, i, j))
      end
    end
  end
end)

local restrict = rg.kernel(function(g, coarse)
  for i, j in rg.range(g.n, g.n) do g.rest[i][j] = g.b[i][j] - apply(g.x, i, j) end
  for i, j in rg.range(coarse.n, coarse.n) do
    local r, a, b = g.rest, 2 * i, 2 * j
    coarse.b[i][j] = r[a][b] + r[a + 1][b] + r[a][b + 1] + r[a + 1][b + 1]
    coarse.x[i][j] = 0
  end
end)

local prolong = rg.kernel(function(coarse, g)
  for i, j in rg.range(g.n, g.n) do
    g.x[i][j] = g.x[i][j] + coarse.x[bit.rshift(i, 1)][bit.rshift(j, 1)]
  end
end)

local function cycle(level)
  local g, coarse = grids[level], grids[level + 1]
  for _ = 1, coarse and params.smoothing or 20 do smooth(g, 0) end
  if coarse then
    restrict(g, coarse)
    cycle(level + 1)
    prolong(coarse, g)
  end
  for _ = 1, coarse and params.smoothing or 20 do smooth(g, 1) end
end

local dot = rg.kernel(function(a, b)
  local sum = rg.f64(0)
  for i, j in rg.range(n, n) do sum = sum + a[i][j] * b[i][j] end
  return sum
end)
local advance = rg.kernel(function(length)
  for i, j in rg.range(n, n) do
    potential[i][j] = potential[i][j] + length * way[i][j]
    rest[i][j] = rest[i][j] - length * image[i][j]
  end
end)
local turn = rg.kernel(function(z, keep)
  for i, j in rg.range(n, n) do way[i][j] = z[i][j] + keep * way[i][j] end
  for i, j in rg.range(n, n) do image[i][j] = apply(way, i, j) end
end)

-- The residual after each step, relative to the first one.
local function solve(is_preconditioned)
  local function precondition()
    if not is_preconditioned then return rest end
    grids[1].b:copy_from(rest)
    grids[1].x:fill(0)
    cycle(1)
    return grids[1].x
  end
  potential:fill(0)
  way:fill(0)
  rest:copy_from(charge)
  local first, history, before, z = dot(rest, rest), { 1 }, nil, precondition()
  while history[#history] > 1e-10 and #history < 150 do
    local now = dot(rest, z)
    turn(z, before and now / before or 0)
    advance(now / dot(way, image))
    history[#history + 1] = math.sqrt(dot(rest, rest) / first)
    before, z = now, precondition()
  end
  return history
end

local picture = rg.array(rg.f32, n, n)
local paint = rg.kernel(function()                   -- in bands, thinner near charges
  for i, j in rg.range(n, n) do
    local height = math.log(1 + 40 * math.abs(potential[i][j])) * rg.sign(potential[i][j])
    picture[i][j] = math.floor(params.bands * height) / params.bands
  end
end)

local spots = { { 0.3, 0.6, 1 }, { 0.68, 0.3, -1 }, { 0.75, 0.7, 0.5 } }
local solved                                         -- with so much smoothing; nil: not yet
local function place()
  solved = nil
  charge:fill(0)
  for _, spot in ipairs(spots) do
    charge[math.floor(spot[1] * n)][math.floor(spot[2] * n)] = spot[3]
  end
end

local look, rounds = { palette = "coolwarm", low = -3, high = 3 }, 0
rg.live { params = params, reset = place,
  step = function()
    if solved ~= params.smoothing then rounds = #solve(true) - 1 end
    solved = params.smoothing
  end,
  touch = function(x, y)                             -- moves the first charge
    spots[1][1], spots[1][2] = rg.clamp(x, 0.01, 0.99), rg.clamp(y, 0.01, 0.99)
    place()
  end,
  draw = function(w) paint() w:show(picture, look) w:watch("rounds", rounds) end,
  otherwise = function()
    local plain, multigrid = solve(false), solve(true)
    paint()
    rg.image.write(folder .. "/multigrid.png", picture, look)
    rg.plot.line(folder .. "/convergence.png", { { y = plain, label = "CG" }, { y = multigrid,
      label = "MGPCG" } }, { title = "residual after each step", logy = true })
    print(("checksum %d"):format(#multigrid - 1))
  end }
