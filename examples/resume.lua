-- resume.lua - a lichen that grows at random, is stopped, and goes on as if it had not been.
-- Growth and life. Run it with:  examples/run resume
--
-- Halfway a snapshot saves everything: the tree with its active cells, the random state, the step.
-- Another runtime, which could be another process, loads it and goes on. Both end bit-identical.
local rg = require "regolith"

local folder = arg and arg[1] or "."
local steps, size = 120, 96
local around = { { 1, 0 }, { -1, 0 }, { 0, 1 }, { 0, -1 } }
local params = { alone = { 0.03, 0, 0.2 }, neighbour = { 0.1, 0, 0.4 } }

-- A lichen in a runtime: its fields, and a function that takes it one step further. Blocks of 16 x
-- 16 cells exist once something grows there.
local function lichen(runtime)
  local self = { age = runtime.field(runtime.f32), near = runtime.field(runtime.i32) }
  local age, near = self.age, self.near
  self.block = runtime.root:pointer("ij", size / 16)
  self.block:dense("ij", 16):place(age, near)
  local count = runtime.kernel(function()
    for i, j in age:active() do near[i][j] = 0 end
    for i, j in age:active() do
      if age[i][j] > 0 then
        for _, d in ipairs(around) do
          local a, b = rg.clamp(i + d[1], 0, size - 1), rg.clamp(j + d[2], 0, size - 1)
          near[a][b] = near[a][b] + 1
        end
      end
    end
  end)
  local grow = runtime.kernel(function()
    local cells = 0
    for i, j in age:active() do
      local chance = params.alone + params.neighbour * near[i][j]
      if age[i][j] > 0 then age[i][j] = age[i][j] + 1
      elseif near[i][j] > 0 and rg.random(rg.f32) < chance then age[i][j] = 1 end
      if age[i][j] > 0 then cells = cells + 1 end
    end
    return cells
  end)
  function self.step()
    count()
    return grow()
  end
  return self
end

-- Two runs: the reference, which is never stopped, with its size after each step, and the other.
local function compare()
  local first = rg.new { seed = 7 }
  local one, path = lichen(first), folder .. "/lichen.rgs"
  one.age[size / 2][size / 2] = 1
  local cells = {}
  for step in rg.progress(steps, "grows") do
    cells[step] = one.step()
    if step == steps / 2 then first.save(path, { age = one.age, step = step }) end
  end

  -- The run that resumes from the snapshot.
  local second = rg.new { seed = 1 }
  local other = lichen(second)
  local saved = second.load(path, { age = other.age })
  local last = 0
  for _ = saved.step + 1, steps do last = other.step() end
  os.remove(path)

  local same = last == cells[steps]
  for i = 0, size - 1 do
    for j = 0, size - 1 do same = same and one.age[i][j] == other.age[i][j] end
  end
  print(("%d cells after %d steps; the one that went on is %s"):format(last, steps,
    same and "the same" or "another"))

  first.image.write(folder .. "/lichen.png", one.age, { palette = "viridis" })
  rg.plot.line(folder .. "/cells.png", cells, { title = "cells", xlabel = "step" })
  print(("checksum %d %s"):format(last, tostring(same)))
end

-- In a window, f5 keeps the lichen, its random state included, and f9 brings it back.
local own = lichen(rg)
rg.live { params = params, otherwise = compare, step = own.step,
  reset = function()
    own.block:clear()
    own.age[size / 2][size / 2] = 1
  end,
  touch = function(x, y)                             -- sows
    local i, j = math.floor(x * size), math.floor(y * size)
    if i >= 0 and i < size and j >= 0 and j < size then own.age[i][j] = 1 end
  end,
  draw = function(w) w:show(own.age, { palette = "viridis" }) end }
