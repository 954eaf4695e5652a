-- reaction.lua - spots, worms and mazes from two chemicals: a map of the Gray-Scott reaction.
-- Growth and life. Run it with:  examples/run reaction
--
-- Pearson 1993: one chemical feeds the other, which dies off; both spread. The supply grows from
-- the left to the right, the death rate from the bottom to the top, so each place has a pattern of
-- its own. Without the other chemical a place is at rest: what is left alone stays dark.
local rg = require "regolith"

local folder = arg and arg[1] or "."
local n, frames, steps = 320, tonumber(arg and arg[2]) or 8, 1000
local params = { feed = 0.05, kill = 0.009 }         -- how much they grow over the square
local u, next_u = rg.field(rg.f32, n, n), rg.field(rg.f32, n, n)
local v, next_v = rg.field(rg.f32, n, n), rg.field(rg.f32, n, n)

local start = rg.kernel(function()
  for i, j in rg.range(n, n) do
    local drop = rg.random() < 0.02
    u[i][j] = drop and 0.5 or 1
    v[i][j] = drop and 0.5 or 0
  end
  for i, j in rg.range(n, n) do                      -- drops of a few cells each
    for a = -2, 2 do
      for b = -2, 2 do
        if u[i + a][j + b] == 0.5 and (i + a) % 8 == 0 and (j + b) % 8 == 0 then v[i][j] = 0.5 end
      end
    end
  end
end)

-- The square is periodic: its first cell follows its last.
local function spread(x, i, j)
  local left, right, down, up = (i + n - 1) % n, (i + 1) % n, (j + n - 1) % n, (j + 1) % n
  return 0.2 * (x[left][j] + x[right][j] + x[i][down] + x[i][up])
    + 0.05 * (x[left][down] + x[left][up] + x[right][down] + x[right][up]) - x[i][j]
end

local step = rg.kernel(function()
  for i, j in rg.range(n, n) do
    local a, b = u[i][j], v[i][j]
    local feed = 0.015 + params.feed * i / n
    local kill = 0.5 * math.sqrt(feed) - feed + params.kill * j / n - 0.0025
    local eaten = a * b * b
    next_u[i][j] = a + spread(u, i, j) - eaten + feed * (1 - a)
    next_v[i][j] = b + 0.5 * spread(v, i, j) + eaten - (feed + kill) * b
  end
end)

-- Integer sums do not depend on the order, so this number is the same on every run and machine.
local total = rg.kernel(function()
  local sum = 0LL
  for i, j in rg.range(n, n) do sum = sum + rg.i64(1000 * v[i][j]) end
  return sum
end)

local drop = rg.kernel(function(a, b)
  for i, j in rg.range(n, n) do
    if rg.norm(rg.vec2(i - a, j - b)) < 4 then v[i][j] = 0.5 end
  end
end)

local function run(count)
  for _ = 1, count do
    step()
    u, v, next_u, next_v = next_u, next_v, u, v      -- captures are read at every launch
  end
end

local look = { low = 0, high = 0.4, palette = "viridis" }
rg.live { params = params, reset = start,
  step = function() run(20) end,
  touch = function(x, y) drop(x * n, y * n) end,
  draw = function(w) w:show(v, look) end,
  otherwise = function()
    for frame = 1, frames do
      run(steps)
      rg.image.write(("%s/reaction_%d.png"):format(folder, frame), v, look)
    end
    print(("checksum %d"):format(tonumber(total())))
  end }
