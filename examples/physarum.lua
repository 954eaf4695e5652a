-- physarum.lua - a slime mould spins a net: agents that follow the trails they leave.
-- Growth and life. Run it with:  examples/run physarum
--
-- Jones 2010: an agent smells ahead, to its left and to its right, turns to where the trail is
-- strongest, walks on and adds to it. Trails spread and fade; what all walk on stays: a net that
-- pulls itself together.
local rg = require "regolith"

local folder = arg and arg[1] or "."
local frames, steps = tonumber(arg and arg[2]) or 6, 25
local count, n = 90000, 512
local params = { reach = { 8, 1, 40 }, bend = 0.5, turn = 0.8, speed = { 1, 0.1, 4 }, keep = 0.9 }

local place, heading = rg.array(rg.vec2, count), rg.array(rg.f32, count)
local trail, spread = rg.field(rg.f32, n, n), rg.field(rg.f32, n, n)
local walkers = rg.field(rg.i32, n, n)

local function towards(angle) return rg.vec2(math.cos(angle), math.sin(angle)) end

local start = rg.kernel(function()
  for k in rg.range(count) do
    place[k] = rg.random(rg.vec2, 0, n)
    heading[k] = rg.random(rg.f32, 0, 6.2831853)
  end
end)

local step = rg.kernel(function()
  for k in rg.range(count) do
    local angle = heading[k]
    local function smell(side)
      return trail[rg.floor(place[k] + params.reach * towards(angle + side)) % n]
    end
    local left, ahead, right = smell(params.bend), smell(0), smell(-params.bend)
    if ahead < left and ahead < right then           -- either way is better
      angle = angle + (rg.random() < 0.5 and params.turn or -params.turn)
    elseif left > ahead then
      angle = angle + params.turn
    elseif right > ahead then
      angle = angle - params.turn
    end
    heading[k] = angle
    place[k] = (place[k] + params.speed * towards(angle)) % n
  end
  for k in rg.range(count) do
    local at = rg.floor(place[k]) % n
    walkers[at] = walkers[at] + 1                    -- atomic, as agents may meet
  end
  for i, j in rg.range(n, n) do
    local sum = 0.0
    for a = -1, 1 do
      for b = -1, 1 do
        local p, q = (i + a) % n, (j + b) % n
        sum = sum + trail[p][q] + walkers[p][q]
      end
    end
    spread[i][j] = params.keep * sum / 9
  end
  for i, j in rg.range(n, n) do walkers[i][j] = 0 end
end)

-- Integer sums do not depend on the order, so this number is the same on every run and machine.
local total = rg.kernel(function()
  local sum = 0LL
  for i, j in rg.range(n, n) do sum = sum + rg.i64(trail[i][j] * trail[i][j]) end
  return sum
end)

local feed = rg.kernel(function(at)                  -- attracts all agents
  for I in rg.range(n, n):vec() do
    if (I - at):norm() < 12 then trail[I] = 40.0 end
  end
end)

local function run()
  step()
  trail, spread = spread, trail
end

local look = { low = 0, high = 12, palette = "magma", gamma = 1.4 }
rg.live { params = params, reset = start, step = run, ranges = { keep = { 0.5, 1 } },
  touch = function(x, y) feed(rg.vec2(x * n, y * n)) end,
  draw = function(w) w:show(trail, look) end,
  otherwise = function()
    local begin = rg.time()
    for frame = 1, frames do
      for _ = 1, steps do run() end
      rg.image.write(("%s/physarum_%d.png"):format(folder, frame), trail, look)
    end
    local seconds = rg.time() - begin
    print(("%.1f million agents a second"):format(count * frames * steps / seconds * 1e-6))
    print(("checksum %d"):format(tonumber(total())))
  end }
