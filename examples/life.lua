-- life.lua - Conway's Game of Life on an unbounded plane: five cells grow for 1103 generations.
-- Growth and life. Run it with:  examples/run life
--
-- A cell lives if it is active: blocks of 16 x 16 with a bit per cell, at any coordinates (a hash),
-- created where life appears and freed where it is gone. Only living cells and their neighbours are
-- stored and visited, however far apart.
local rg = require "regolith"

local folder = arg and arg[1] or "."
local params = { zoom = { 3, 1, 12 }, brush = { 2, 1, 20 } } -- pixels of a cell; cells

local alive, near = rg.field(rg.u8), rg.field(rg.i32)
local members = rg.field(rg.i32)
local block = rg.root:hash("ij", { name = "block" })
block:place(members)
block:bitmasked("ij", 16):place(alive, near) -- near: living neighbours

-- Every living cell counts itself at its neighbours, which thereby become active.
local count = rg.kernel(function()
  for i, j in alive:active() do
    if alive[i][j] == 1 then
      for di = -1, 1 do
        for dj = -1, 1 do
          if di ~= 0 or dj ~= 0 then near[i + di][j + dj] = near[i + di][j + dj] + 1 end
        end
      end
    end
  end
end)

-- Born with three neighbours, surviving with two or three; others are deactivated and read zero
-- again.
local judge = rg.kernel(function()
  local living = 0
  for i, j in alive:active() do
    local n = near[i][j]
    if n == 3 or (n == 2 and alive[i][j] == 1) then
      alive[i][j] = 1
      near[i][j] = 0
      living = living + 1
    else
      alive:deactivate(i, j)
    end
  end
  return living
end)

-- A block without active cells is freed.
local tidy = rg.kernel(function()
  for i, j in block:active() do members[i][j] = 0 end
  for i, j in alive:active() do
    local bi, bj = rg.rescale(alive, block, i, j)
    members[bi][bj] = members[bi][bj] + 1
  end
  for i, j in block:active() do
    if members[i][j] == 0 then block:deactivate(i, j) end
  end
end)

-- A checksum of the living cells' positions, and the largest coordinate: in integers, so that the
-- order does not matter.
local survey = rg.kernel(function()
  local sum, far = 0LL, 0
  for i, j in alive:active() do
    sum = sum + (i * 7919 + j * 104729) % 1000003
    far = math.max(far, math.max(math.abs(i), math.abs(j)))
  end
  return sum, far
end)

-- The plane around the origin, `zoom` pixels per cell; existing blocks are grey.
local side = 480
local picture = rg.field { type = rg.f32, shape = { side, side },
  offset = { -side / 2, -side / 2 } }
local paint = rg.kernel(function()
  for p, q in picture:active() do
    local i, j = math.floor(p / params.zoom), math.floor(q / params.zoom)
    local bi, bj = rg.rescale(alive, block, i, j)
    local ground = block:is_active(bi, bj) and 0.25 or 0
    picture[p][q] = alive[i][j] == 1 and 1 or ground
  end
end)

local function begin()
  block:clear()
  -- the R-pentomino
  for _, cell in ipairs { { 0, 1 }, { 0, 2 }, { 1, 0 }, { 1, 1 }, { 2, 1 } } do alive[cell] = 1 end
end

local living = 5
local function run()
  count()
  living = judge()
  tidy()
end

local look = { low = 0, high = 1, palette = "magma" }
local sow = rg.kernel(function(x, y)
  for a, b in rg.range(params.brush, params.brush) do
    local at = rg.floor((rg.vec2(x, y) - 0.5) * (side / params.zoom)) + rg.ivec2(a, b)
    if rg.random() < 0.5 then alive[at] = 1 end
  end
end)

rg.live { params = params, reset = begin, step = run, touch = sow, speed = 0.5,
  draw = function(w) paint() w:show(picture, look) w:plot("living", living) end,
  otherwise = function()
    for generation = 1, 1103 do
      run()
      if generation % 200 == 0 or generation == 1103 then
        paint()
        rg.image.write(("%s/life_%04d.png"):format(folder, generation), picture, look)
        local _, far = survey()
        print(("generation %4d: %3d living, %3d blocks of 256 cells, as far as %d; %s")
          :format(generation, living, block:count(), far, tostring(rg.memory()):match "[^\n]+"))
      end
    end
    print(("checksum %d %d"):format(living, tonumber((survey()))))
  end }
