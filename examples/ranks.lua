-- ranks.lua - heat on a torus that several processes share, each with its own rows.
-- Running. Run it with:  examples/run ranks
-- No window: its processes have no common display.
--
-- On four ranks:  regolith run -n 4 examples/ranks.lua
-- Every rank has two arrays, with the same number of rows. `comm:window(a)` makes a window of one:
-- from then on `window:peer(r)` is rank r's array, which is read in place, also inside a kernel,
-- without a copy. A step reads the last row of the previous rank and the first row of the next
-- one. A barrier follows, where all ranks wait until the others are done. The result is the same to
-- the last bit for any number of ranks. In the picture each rank's rows have a colour of their own.
local rg = require "regolith"

local folder = arg and arg[1] or "."
local n, steps = 384, 400
local comm = rg.comm()
assert(n % comm.size == 0, n .. " rows are not divided evenly by so many ranks")
local rows = n / comm.size
local first = comm.rank * rows -- this rank's first row

local now, new = rg.array(rg.f32, rows, n), rg.array(rg.f32, rows, n)
local windows = { [now] = comm:window(now), [new] = comm:window(new) }
local before, after = (comm.rank - 1) % comm.size, (comm.rank + 1) % comm.size

local begin = rg.kernel(function()
  for i, j in rg.range(rows, n) do
    local x, y = (first + i) / n - 0.5, j / n - 0.5
    local d = math.sqrt(x * x + y * y)
    now[i][j] = math.abs(d - 0.3) < 0.06 and 1.0 or 0.0
  end
end)

-- above, below: the arrays of the ranks before and after
local step = rg.kernel(function(from, above, below, to)
  for i, j in rg.range(rows, n) do
    local up, down = above[rows - 1][j], below[0][j]
    if i > 0 then up = from[i - 1][j] end
    if i < rows - 1 then down = from[i + 1][j] end
    local left, right = from[i][(j + n - 1) % n], from[i][(j + 1) % n]
    to[i][j] = from[i][j] + 0.2 * (up + down + left + right - 4 * from[i][j])
  end
end)

local sum = rg.kernel(function()
  local s = 0
  for i, j in rg.range(rows, n) do s = s + rg.i32(now[i][j] * 4096) end
  return s
end)

begin()
comm:barrier()
local seconds = rg.time()
for _ = 1, steps do
  local window = windows[now]
  step(now, window:peer(before), window:peer(after), new)
  now, new = new, now
  comm:barrier() -- all ranks have written their rows
end
seconds = rg.time() - seconds
local total = comm:all_reduce(sum(), "sum")

-- Rank 0 reads all windows, and draws them.
if comm.rank == 0 then
  local picture = rg.field(rg.vec3, n, n)
  local paint = rg.kernel(function(rows_of, r)
    for i, j in rg.range(rows, n) do
      local hue = 0.6 * (r % 4)
      local tint = rg.vec3(1, 0.75 + 0.25 * math.cos(hue), 0.75 + 0.25 * math.sin(hue))
      picture[r * rows + i][j] = rows_of[i][j] * tint
    end
  end)
  for r = 0, comm.size - 1 do paint(windows[now]:peer(r), r) end
  local path = folder .. "/ranks.png"
  rg.image.write(path, picture)
  print(("%d steps of %d x %d on %d rank%s: %.2f s; picture: %s"):format(steps, n, n, comm.size,
    comm.size > 1 and "s" or "", seconds, path))
  print(("checksum %d"):format(total))
end
comm:barrier() -- until it has read them
