-- guess.lua - what the guesses of core/device/guess.def should be on this GPU: times of small
-- programs, each with several values of the guess that it is about; the default is in brackets.
-- usage: luajit tests/gpu/guess.lua [NAME ..], with RG_ARCH and the paths of tests/run --gpu;
-- SMALL=1: sizes that the driver that executes PTX finishes; LAST_SECOND: as in bench.lua
local here = arg[0]:match "^(.*)/" or "."
local luajit = arg[-1] or "luajit"
local is_small = os.getenv "SMALL" == "1"
local function size(large, little) return is_small and little or large end

-- -- programs: each makes a step, and says how many to time ---------------------------------------

local programs = {}

-- A launch; then the host writes cells one by one, each of another block, and reads one.
function programs.visits(rg, cells)
  local x, blocks = rg.field(rg.f32), size(16384, 64)
  rg.tree():pointer("i", blocks):dense("i", 64):place(x)
  local all = blocks * 64
  rg.kernel(function() for i in rg.range(all) do x[i] = i end end)()
  local add = rg.kernel(function() for i in x:active() do x[i] = x[i] + 1 end end)
  return function()
    add()
    for k = 0, cells - 1 do x[k * 64 * 7 % all] = k end
    return x[0]
  end, size(20, 2)
end

-- A launch; then the host reads and writes elements that lie so far apart.
function programs.looks(rg, apart)
  local x = rg.field(rg.f32, size(2 ^ 24, 2 ^ 16))
  local add = rg.kernel(function() for i in rg.range(#x) do x[i] = x[i] + 1 end end)
  return function()
    add()
    for k = 0, #x - 1, apart do x[k] = x[k] * 2 end
  end, size(20, 2)
end

-- So many of a list's nodes are freed and others activated, then it is walked.
function programs.changes(rg, changes)
  local x, blocks = rg.field(rg.f32), size(2 ^ 20, 256)
  local block = rg.tree():pointer("i", 2 * blocks)
  block:dense("i", 4):place(x)
  rg.kernel(function() for i in rg.range(blocks) do x[i * 4] = i end end)()
  local move = rg.kernel(function(k)
    for i in rg.range(changes) do
      block:deactivate((k * changes + i) % blocks)
      x[(blocks + (k * changes + i) % blocks) * 4] = i
    end
  end)
  local walk = rg.kernel(function() for i in block:active() do x[i * 4] = x[i * 4] + 1 end end)
  local turn = 0
  return function() move(turn) walk() turn = turn + 1 end, size(50, 2)
end

-- A serial loop of short tasks.
function programs.turns(rg, turns)
  local x = rg.field(rg.f32, 4096)
  local work = rg.kernel(function(n)
    for t in rg.range(n):serial() do
      for i in rg.range(4096) do x[i] = x[i] + t end
      for i in rg.range(4096) do x[i] = x[i] * 0.5 end
    end
  end)
  return function() work(turns) end, size(50, 2)
end

-- Cells that are all alike.
function programs.triad(rg, cells)
  local x, y = rg.field(rg.f32, cells), rg.field(rg.f32, cells)
  local triad = rg.kernel(function() for i in rg.range(cells) do x[i] = x[i] * 0.5 + y[i] end end)
  return triad, size(100, 2)
end

-- A cell and 124 around it, whose numbers would all have registers.
function programs.points(rg, n)
  local x, y, around = rg.field(rg.f32, n, n, n), rg.field(rg.f32, n, n, n), {}
  for a = -2, 2 do
    for b = -2, 2 do
      for c = -2, 2 do around[#around + 1] = { a, b, c } end
    end
  end
  return rg.kernel(function()
    for i, j, k in rg.range(n, n, n) do
      local least, sum = x[i][j][k], 0.0
      for _, d in ipairs(around) do
        least = math.min(least, x[i + d[1]][j + d[2]][k + d[3]])
      end
      for _, d in ipairs(around) do sum = sum + (x[i + d[1]][j + d[2]][k + d[3]] - least) ^ 2 end
      y[i][j][k] = sum
    end
  end), size(20, 1)
end

-- Leaves of 512 cells, in a list.
function programs.leaves(rg, root)
  local x, y = rg.field(rg.f32), rg.field(rg.f32)
  rg.tree():pointer("ijk", root):dense("ijk", 8):place(x, y)
  local n = root * 8
  rg.kernel(function() for i, j, k in rg.range(n, n, n) do x[i][j][k] = i end end)()
  return rg.kernel(function()
    for i, j, k in x:active() do
      y[i][j][k] = x[i - 1][j][k] + x[i + 1][j][k] + x[i][j - 1][k] + x[i][j + 1][k]
    end
  end), size(50, 2)
end

-- A guess, what it is about and with which number, and values to try.
local rows = {
  { "visits", "visits", { 1, 8, 64, 512 }, { 0, 16, 1000000 } },
  { "registers", "points", { size(256, 8) }, { 64, 96, 128, 168, 255 } },
  { "registers", "leaves", { size(64, 4) }, { 32, 64, 128, 255 } },
  { "page", "looks", { 4096, 65536, 1048576 }, { 4, 16, 64, 256, 1024 } },
  { "nodes_per_change", "changes", { 1, 16, 256, 4096 }, { 1, 4096, 65536, 1000000000 } },
  { "repeats", "turns", { 10, 100, 1000 }, { 2, 8, 16, 32, 1000000 } },
  { "blocks", "triad", { 2 ^ 16, 2 ^ 20, 2 ^ 26 }, { 4, 8, 16, 32, 64 } },
  { "blocks", "leaves", { 8, 32 }, { 4, 8, 16, 32, 64 } },
}

-- -- one of them, in a process of its own ---------------------------------------------------------

if arg[1] == "--one" then
  local rg = require "regolith"
  rg.init { arch = os.getenv "RG_ARCH" or "cuda" }
  local step, steps = programs[arg[2]](rg, tonumber(arg[3]))
  step()
  local least = math.huge
  for _ = 1, size(5, 1) do
    rg.sync()
    local begin = rg.time()
    for _ = 1, steps do step() end
    rg.sync()
    least = math.min(least, (rg.time() - begin) / steps)
  end
  print(("least %.3f"):format(least * 1e6))
  return
end

-- -- the table ------------------------------------------------------------------------------------

local defaults = {}
for line in io.lines(here .. "/../../core/device/guess.def") do
  local name, default = line:match "^GUESS%((%w[%w_]*), (%d+)"
  if name then defaults[name] = tonumber(default) end
end

local function measure(program, number, guess, value)
  local pipe = io.popen(("RG_TUNE=off RG_GUESS=%s:%d timeout -k 5 60 '%s' '%s' --one %s %d 2>&1")
    :format(guess, value, luajit, arg[0], program, number))
  local said = pipe:read "*a"
  pipe:close()
  return tonumber(said:match "least ([%d.]+)"), said
end

local wanted, failed = {}, 0
local last_second = os.time() + tonumber(os.getenv "LAST_SECOND" or 1e6)
for _, name in ipairs(arg) do wanted[name] = true end
print "| guess | program | us a step |\n| --- | --- | --- |"
for _, row in ipairs(rows) do
  local guess, program, numbers, values = unpack(row)
  local is_wanted = not next(wanted) or wanted[guess]
  for k = 1, is_wanted and (is_small and 1 or #numbers) or 0 do
    if os.time() >= last_second then break end
    local number = is_small and program ~= "visits" and 8 or numbers[k]
    local figures = {}
    for _, value in ipairs(values) do
      local us, said = measure(program, number, guess, value)
      if not us then
        failed = failed + 1
        io.stderr:write(said)
      end
      local name = value == defaults[guess] and ("[%d]"):format(value) or tostring(value)
      figures[#figures + 1] = ("%s: %s"):format(name, us and ("%.4g"):format(us) or "failed")
    end
    print(("| %s | %s %d | %s |"):format(guess, program, number, table.concat(figures, ", ")))
    io.flush()
  end
end
os.exit(failed == 0 and 0 or 1)
