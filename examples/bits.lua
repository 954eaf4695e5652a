-- bits.lua - the Game of Life on a torus of 16.8 million cells of one bit: a long line unfolds.
-- Growth and life. Run it with:  examples/run bits
--
-- A uint(1) field is a packed array: 32 neighbours share a word, so both planes take 4 MiB. The
-- kernel computes one cell; the compiler turns its sums into logic on whole words
-- (bit slicing), and a generation takes less than a millisecond.
local rg = require "regolith"

local folder, last = arg and arg[1] or ".", tonumber(arg and arg[2]) or 960
local n = 4096
local params = { brush = { 40, 5, 200 }, density = { 0.4, 0.02, 0.9 } } -- of sown cells
local now, new = rg.field(rg.uint(1), n, n), rg.field(rg.uint(1), n, n)

local live = rg.kernel(function(a, b)
  for i, j in a:active() do
    local up, down, left, right = (i - 1) % n, (i + 1) % n, (j - 1) % n, (j + 1) % n
    local c = a[up][left] + a[up][j] + a[up][right] + a[i][left] + a[i][right]
      + a[down][left] + a[down][j] + a[down][right]
    b[i][j] = (c == 3 or (c == 2 and a[i][j] == 1)) and 1 or 0
  end
end)

-- A line of cells.
local sow = rg.kernel(function(row, from, to)
  for j in rg.range { from, to } do now[row][j] = 1 end
end)

-- A disc of random cells.
local scatter = rg.kernel(function(row, column)
  local radius = params.brush
  for i, j in rg.range({ row - radius, row + radius }, { column - radius, column + radius }) do
    local di, dj = i - row, j - column
    if di * di + dj * dj < radius * radius and rg.random() < params.density then now[i][j] = 1 end
  end
end)

-- A pixel is a square of cells, as bright as there is life in it.
local side, zoom = 512, 4
local picture = rg.field(rg.f32, side, side)
local first = n / 2 - side * zoom / 2
local paint = rg.kernel(function()
  for p, q in picture:active() do
    local sum = 0
    for k = 0, 3 do
      for l = 0, 3 do sum = sum + now[first + p * 4 + k][first + q * 4 + l] end
    end
    picture[p][q] = math.sqrt(sum / 16)
  end
end)

-- A checksum of the living cells' positions: an integer sum, which does not depend on the order.
local survey = rg.kernel(function()
  local sum = 0LL
  for i, j in now:active() do
    if now[i][j] == 1 then sum = sum + (i * 7919 + j * 104729) % 1000003 end
  end
  return sum
end)

local generation = 0
local function begin()
  generation = 0
  now:fill(0)
  sow(n / 2, n / 2 - 1000, n / 2 + 1000)
end

local function step()
  live(now, new)
  now, new = new, now
  generation = generation + 1
end

local look = { low = 0, high = 0.8, palette = "magma" }
rg.live { params = params, reset = begin, step = step, speed = 4,
  touch = function(x, y) -- sows
    scatter(math.floor(first + x * side * zoom), math.floor(first + y * side * zoom))
  end,
  draw = function(w) paint() w:show(picture, look) end,
  otherwise = function()
    begin()
    local began = rg.time()
    while generation < last do
      step()
      if generation % 240 == 0 then
        paint()
        rg.image.write(("%s/bits_%04d.png"):format(folder, generation), picture, look)
        print(("generation %4d: %6d living"):format(generation, now:sum()))
      end
    end
    print(("%.2f ms a generation, with pictures"):format((rg.time() - began) / last * 1e3))
    print(("checksum %d %d"):format(now:sum(), tonumber(survey())))
  end }
