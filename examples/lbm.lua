-- lbm.lua - a wake of vortices sheds from a cylinder: the lattice Boltzmann method in 2-D.
-- Fluids. Run it with:  examples/run lbm
--
-- A cell has nine populations, one for each direction; they stream to the next cell and relax there
-- to the equilibrium of its density and velocity (Qian, d'Humieres and Lallemand 1992). The
-- cylinder reflects them. The picture shows vorticity: one colour for each sense of rotation.
local rg = require "regolith"

local folder = arg and arg[1] or "."
local steps = tonumber(arg and arg[2]) or 6000
local nx, ny, radius, speed = 420, 120, 11, 0.12
local centre = rg.vec2(85, ny / 2)
local params = { reynolds = { 160, 20, 400 }, brush = { 4, 1, 15 } }
local rate                                           -- of relaxation, by the Reynolds number
local function set_rate() rate = 1 / (3 * speed * 2 * radius / params.reynolds + 0.5) end

local ways = { { 0, 0 }, { 1, 0 }, { -1, 0 }, { 0, 1 }, { 0, -1 }, { 1, 1 }, { -1, -1 }, { 1, -1 },
  { -1, 1 } }
local back = { 0, 2, 1, 4, 3, 6, 5, 8, 7 }           -- the opposite directions, counted from 0
local weights = { 4 / 9, 1 / 9, 1 / 9, 1 / 9, 1 / 9, 1 / 36, 1 / 36, 1 / 36, 1 / 36 }

-- Nine numbers per cell, each in a contiguous array of its own (`soa`).
local Cell = rg.vec(9, rg.f32)
local f = rg.field { type = Cell, shape = { nx, ny }, layout = "soa" }
local g = rg.field { type = Cell, shape = { nx, ny }, layout = "soa" }
local flow = rg.field(rg.vec2, nx, ny)
local solid = rg.field(rg.bool, nx, ny)

local function at_rest(k, density, u)
  local along = 3 * (ways[k][1] * u.x + ways[k][2] * u.y)
  return weights[k] * density * (1 + along + 0.5 * along * along - 1.5 * rg.dot(u, u))
end

local start = rg.kernel(function()
  for i, j in rg.range(nx, ny) do
    solid[i][j] = (rg.vec2(i, j) - centre):norm() < radius
    local u = rg.vec2(speed, 0.3 * speed * math.sin(0.05 * i)) -- makes vortices begin sooner
    for k, _ in ipairs(ways) do f[i][j][k - 1] = at_rest(k, 1, u) end
  end
end)

-- Loops over the list `ways` are unrolled. The channel is periodic from bottom to top.
local step = rg.kernel(function()
  for i, j in rg.range(nx, ny) do
    local h = Cell(0)
    for k, way in ipairs(ways) do
      h[k - 1] = f[math.min(i - way[1], nx - 1)][(j - way[2] + ny) % ny][k - 1]
    end
    local density, u = rg.sum(h), rg.vec2(0)
    for k, way in ipairs(ways) do u = u + h[k - 1] * rg.vec2(way[1], way[2]) end
    u = u / density
    if i == 0 then                                   -- water comes in from the left
      density, u = 1.0, rg.vec2(speed, 0)
      for k, _ in ipairs(ways) do h[k - 1] = at_rest(k, density, u) end
    end
    for k, _ in ipairs(ways) do
      local relaxed = h[k - 1] + rate * (at_rest(k, density, u) - h[k - 1])
      g[i][j][k - 1] = solid[i][j] and h[back[k]] or relaxed
    end
    flow[i][j] = u
  end
end)

local picture = rg.field(rg.f32, nx, ny)
local paint = rg.kernel(function()
  for i, j in rg.range(nx, ny) do
    local curl = flow[i + 1][j].y - flow[i - 1][j].y - flow[i][j + 1].x + flow[i][j - 1].x
    local inside = i > 0 and i < nx - 1 and j > 0 and j < ny - 1
    picture[i][j] = solid[i][j] and 1 or inside and curl or 0
  end
end)

-- How strongly the wake swings up and down, in the middle of the channel.
local mid = ny / 2
local swing = rg.kernel(function()
  local most = 0.0
  for i in rg.range({ 150, nx - 50 }) do
    most = math.max(most, math.abs(flow[i][mid].y))
  end
  return most
end)

local build = rg.kernel(function(a, b, is_more)      -- adds or removes reflecting cells
  for i, j in rg.range(nx, ny) do
    if rg.norm(rg.vec2(i - a, j - b)) < params.brush then solid[i][j] = is_more end
  end
end)

local function run()
  step()
  f, g = g, f
end

local look = { low = -0.06, high = 0.06, palette = "coolwarm" }
rg.live { params = params, width = 3 * nx, height = 3 * ny, speed = 10,
  reset = function() set_rate() start() end,
  step = function() set_rate() run() end,
  touch = function(x, y, _, _, w)                    -- the right button takes away
    build(x * nx, y * ny, not select(3, w:mouse()).right)
  end,
  draw = function(w) paint() w:show(picture, look) w:plot("swing", swing()) end,
  otherwise = function()
    local begin = rg.time()
    for k = 1, steps do
      run()
      if k % 2000 == 0 then
        paint()
        rg.image.write(("%s/lbm_%05d.png"):format(folder, k), picture, look)
      end
    end
    print(("%.0f million cells a second"):format(nx * ny * steps / (rg.time() - begin) * 1e-6))
    print(("checksum %d"):format(math.floor(10 * swing() / speed)))
  end }
