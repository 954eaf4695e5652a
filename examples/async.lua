-- async.lua - a reaction runs on while pictures of it are written: launches are queued.
-- Running. Run it with:  examples/run async
-- No window: it compares the times of two runs.
--
-- Two substances on a grid react and spread (Gray and Scott). With `async`, a call of a kernel only
-- queues a launch, which another thread runs. For each picture a kernel fills an array, and
-- `read_async` returns a ticket for its contents at that point. While the picture of the last
-- ticket is written, the next hundred steps run. A second run waits after each step instead.
local rg = require "regolith"

local folder = arg and arg[1] or "."
local n, frames, steps = 256, 8, 100

local function simulate(is_async, path)
  local rt = rg.new { async = is_async }
  local c = rt.client()
  local u, v, next_u, next_v
  u, v = rt.field(rt.f32, n, n), rt.field(rt.f32, n, n)
  next_u, next_v = rt.field(rt.f32, n, n), rt.field(rt.f32, n, n)
  local picture = c:empty(rt.f32, n, n)

  local begin = rt.kernel(function()
    for i, j in rt.range(n, n) do
      local is_seed = i % 64 > 24 and i % 64 < 40 and j % 64 > 24 and j % 64 < 40
      u[i][j] = is_seed and 0.5 or 1.0
      v[i][j] = is_seed and 0.25 + 0.001 * ((i * 7 + j * 3) % 11) or 0.0
    end
  end)
  local step = rt.kernel(function()
    for i, j in rt.range(n, n) do
      local a, b = (i + n - 1) % n, (i + 1) % n
      local d, e = (j + n - 1) % n, (j + 1) % n
      local spread_u = u[a][j] + u[b][j] + u[i][d] + u[i][e] - 4 * u[i][j]
      local spread_v = v[a][j] + v[b][j] + v[i][d] + v[i][e] - 4 * v[i][j]
      local reaction = u[i][j] * v[i][j] * v[i][j]
      next_u[i][j] = u[i][j] + 0.16 * spread_u - reaction + 0.035 * (1 - u[i][j])
      next_v[i][j] = v[i][j] + 0.08 * spread_v + reaction - 0.095 * v[i][j]
    end
  end)
  local paint = rt.kernel(function(p)
    for i, j in rt.range(n, n) do p[i][j] = v[i][j] end
  end)

  local function write(ticket, frame) -- waits for the ticket's copy, not for later work
    rt.image.write(("%s/%s_%02d.png"):format(folder, path, frame), ticket.array,
      { low = 0, high = 0.4, palette = "heat" })
  end

  begin()
  step() -- compiles it
  paint(picture)
  rt.sync()
  local before = rt.time()
  local last
  for frame = 1, frames do
    for _ = 1, steps do
      c:execute(step)
      u, next_u, v, next_v = next_u, u, next_v, v
    end
    c:execute(paint, { picture })
    local ticket = c:read_async(picture)
    if last then write(last, frame - 1) end
    last = ticket
  end
  write(last, frames)
  c:sync()
  local seconds, sum = rt.time() - before, 0
  for _, _, value in pairs(picture) do sum = sum + math.floor(value * 4096) end
  rt.reset()
  return seconds, sum
end

local waiting, same = simulate(false, "waiting")
local queued, sum = simulate(true, "async")
print(("%d steps of %d x %d and %d pictures: %.2f s, one after the other %.2f s"):format(
  frames * steps, n, n, frames, queued, waiting))
assert(same == sum, "what is queued gives the same")
print("checksum " .. sum)
