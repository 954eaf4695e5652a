-- collect.lua - a blob wanders over an unbounded plane: blocks come, go and are reused.
-- Running. Run it with:  examples/run collect
--
-- The blob's trail fades, and a block that has faded is deactivated. At first
-- garbage collection is stopped, so every block is newly allocated and memory grows. Then it runs
-- after each frame, and memory stays constant; at the end unused memory returns to the system.
local rg = require "regolith"

local folder = arg and arg[1] or "."
local frames, stopped_until = 600, 280
local params = { radius = { 110, 20, 200 }, keep = { 0.86, 0.5, 0.95 } }
local width, height = frames, 200

local glow, fading = rg.field(rg.f32), rg.field(rg.i32)
local block = rg.root:hash("ij", { name = "block" })
block:place(fading)
block:dense("ij", 16):place(glow)

-- The loops of a kernel run in order, and each sees what earlier ones wrote.
local move = rg.kernel(function(ci, cj)
  for i, j in block:active() do fading[i][j] = 1 end
  for i, j in glow:active() do
    glow[i][j] = params.keep * glow[i][j]
    if glow[i][j] > 0.05 then fading[math.floor(i / 16)][math.floor(j / 16)] = 0 end
  end
  for i, j in block:active() do
    if fading[i][j] == 1 then block:deactivate(i, j) end
  end
  local r = params.radius
  for i, j in rg.range({ -r, r + 1 }, { -r, r + 1 }) do
    if i * i + j * j <= r * r then glow[ci + i][cj + j] = 1 end
  end
end)

-- A sum of integers, which does not depend on the order.
local total = rg.kernel(function()
  local sum = 0LL
  for i, j in glow:active() do sum = sum + rg.i64(1000 * glow[i][j]) end
  return sum
end)

local picture = rg.field(rg.f32, width, height)
local sky = rg.field(rg.f32, 400, 400)

-- One column of the curve: live bytes as an area, reserved bytes as a line; the background is dark
-- while collection is stopped.
local column = rg.kernel(function(frame, live, before, reserved, most)
  for j in rg.range(height) do
    local level, thick = (j + 0.5) / height * most, most / height
    local is_line = level > math.min(before, reserved) - thick and level < math.max(
      before, reserved) + thick
    local ground = frame < stopped_until and 0 or 0.15
    picture[frame][j] = is_line and 1 or (level < live and 0.5 or ground)
  end
end)

local look = rg.kernel(function(ci, cj)
  for i, j in rg.range(400, 400) do sky[i][j] = glow[i + ci - 200][j + cj - 200] end
end)

local function path(frame)
  local t = frame / frames * 2 * math.pi
  return math.floor(1500 * math.sin(2 * t) + 0.5), math.floor(1500 * math.sin(3 * t) + 0.5)
end

local function curve()                               -- of the memory, over all frames
  rg.gc "stop"
  local live, reserved, most = {}, {}, 0
  for frame = 0, frames - 1 do
    if frame == stopped_until then rg.gc "restart" end
    if frame == frames - 80 then rg.gc "trim" end
    move(path(frame))
    local memory = rg.memory()
    live[frame], reserved[frame] = memory.live, memory.reserved
    most = math.max(most, memory.reserved)
  end
  for frame = 0, frames - 1 do
    column(frame, live[frame], reserved[math.max(frame - 1, 0)], reserved[frame], 1.1 * most)
  end
  return live, reserved
end

local function mib(bytes) return bytes / 2 ^ 20 end
local here, frame = { 0, 0 }, 0                      -- in a window: what is in the middle
rg.live { params = params,
  step = function()
    local x, y = path(frame)
    frame = frame + 1
    local next_x, next_y = path(frame)
    here = { here[1] + next_x - x, here[2] + next_y - y }
    move(here[1], here[2])
  end,
  touch = function(x, y)                             -- the blob flies where the mouse is
    here = { here[1] + math.floor(60 * (x - 0.5)), here[2] + math.floor(60 * (y - 0.5)) }
  end,
  draw = function(w)
    look(here[1], here[2])
    w:show(sky, { low = 0, high = 1, palette = "heat" })
    w:watch("blocks", block:count())
    w:plot("MiB", mib(rg.memory().live))
  end,
  otherwise = function()
    local live, reserved = curve()
    print(("frame %3d, the last without collection: %.1f MiB"):format(stopped_until - 1,
      mib(reserved[stopped_until - 1])))
    print(("frame %3d, with it: %.1f MiB, of them %.1f in use"):format(frames - 81,
      mib(reserved[frames - 81]), mib(live[frames - 81])))
    print(("frame %3d, trimmed: %.1f MiB"):format(frames - 1, mib(reserved[frames - 1])))
    look(path(frames - 1))
    rg.image.write(folder .. "/collect_memory.png", picture, { low = 0, high = 1 })
    rg.image.write(folder .. "/collect_trail.png", sky, { low = 0, high = 1, palette = "heat" })
    print(("checksum %d"):format(tonumber(total()) + block:count()))
  end }
