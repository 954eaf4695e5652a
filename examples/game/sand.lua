-- sand.lua - the kernels of a game: sand and water that fall, in a grid whose blocks exist where
-- something is. Made into a module where the compiler is:
--   regolith build sand.lua -o out            out/sand.rgm, out/sand.h
--   regolith build --static sand.lua -o out   and out/sand.a, for a program that loads no code
local rg = require "regolith"

local height, width, leaf = 192, 256, 16
local EMPTY, WATER, SAND, WALL = 0, 1, 2, 3

local cells = rg.field(rg.u8)
local block = rg.root:pointer("ij", height / leaf, width / leaf)
block:dense("ij", leaf):place(cells)
local pixels = rg.field(rg.u32, height, width) -- 0xAABBGGRR, the top row first

local function sinks(upper, lower) return upper < WALL and upper > lower end

-- A cell is of one square of 2 x 2 in each step, so that squares need not know of each other; they
-- move by one cell from step to step.
local step = rg.kernel(function(frame)
  local down, right = frame % 2, (frame // 2) % 2
  for i, j in rg.range(height // 2 - 1, width // 2 - 1) do
    local y, x = 2 * i + down, 2 * j + right
    local a, b, c, d = cells[y][x], cells[y][x + 1], cells[y + 1][x], cells[y + 1][x + 1]
    if a + b + c + d > 0 then
      local na, nb, nc, nd = a, b, c, d
      if sinks(na, nc) then na, nc = nc, na end
      if sinks(nb, nd) then nb, nd = nd, nb end
      if sinks(na, nd) and sinks(na, nb) then na, nd = nd, na end
      if sinks(nb, nc) and sinks(nb, na) then nb, nc = nc, nb end
      local turns = (y * 31 + x * 17 + frame * 7) // 3 % 2 == 0
      if turns and nc + nd == WATER and y + 2 == height then nc, nd = nd, nc end
      if turns and na + nb == WATER and nc > EMPTY and nd > EMPTY then na, nb = nb, na end
      if na ~= a then cells[y][x] = na end
      if nb ~= b then cells[y][x + 1] = nb end
      if nc ~= c then cells[y + 1][x] = nc end
      if nd ~= d then cells[y + 1][x + 1] = nd end
    end
  end
end)

-- Fills a disk, where nothing is yet: what = EMPTY clears it.
local pour = rg.kernel(function(x, y, radius, what)
  for i, j in rg.range({ y - radius, y + radius + 1 }, { x - radius, x + radius + 1 }) do
    local inside = i >= 0 and i < height and j >= 0 and j < width
    if inside and (i - y) * (i - y) + (j - x) * (j - x) <= radius * radius then
      if what == EMPTY or cells[i][j] == EMPTY then cells[i][j] = what end
    end
  end
end)

local draw = rg.kernel(function()
  for i, j in rg.range(height, width) do
    local what, shade = cells[i][j], (i * 31 + j * 17) % 24
    local red, green, blue = 18 + i // 16, 20 + i // 12, 34 + i // 8
    if what == SAND then red, green, blue = 214 + shade, 178 + shade // 2, 104 end
    if what == WATER then red, green, blue = 44, 108 + shade // 2, 196 + shade end
    if what == WALL then red, green, blue = 92 + shade, 88 + shade, 96 + shade end
    pixels[i][j] = red + 256 * green + 65536 * blue + 255 * 16777216
  end
end)

local grains = rg.kernel(function(what)
  local count = 0
  for i, j in cells:active() do
    if cells[i][j] == what then count = count + 1 end
  end
  return count
end)

rg.export {
  step = { step, rg.i32 }, pour = { pour, rg.i32, rg.i32, rg.i32, rg.u8 }, draw = { draw },
  grains = { grains, rg.u8 }, cells = cells, block = block, pixels = pixels,
}
