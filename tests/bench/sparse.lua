-- sparse.lua - what sparse trees cost: bytes per active cell and per empty tree, nodes that come,
-- go and are collected, look-ups in pointer and hash trees, lists made for loops over what did not
-- change. Best of several rounds each.
local rg = require "regolith"

local function say(what, format, ...) print(("%-52s " .. format):format(what, ...)) end

local function seconds(run)
  local begin = rg.time()
  run()
  return rg.time() - begin
end

local function best(rounds, run, before)
  local least = math.huge
  for _ = 1, rounds do
    if before then before() end
    least = math.min(least, seconds(run))
  end
  return least
end

local function resident() -- bytes of the process in memory
  local file = io.open "/proc/self/statm"
  if not file then return 0 end
  local pages = file:read "*a":match "^%d+ (%d+)"
  file:close()
  return pages * 4096
end

-- -- bytes ----------------------------------------------------------------------------------------

-- A full block of `leaves` leaves, of `cells` cells each.
local function measure_bytes(what, leaves, cells, make)
  local tree = rg.tree()
  local x = rg.field(rg.f32)
  local before = rg.memory().reserved
  local block = make(tree, x)
  rg.kernel(function()
    for i in rg.range(leaves) do block:activate(i) end
  end)()
  local bytes, payload = rg.memory().reserved - before, leaves * cells * 4
  say(what, "%.3f times the payload", bytes / payload)
  tree:destroy()
end

measure_bytes("pointer, leaves of 512 f32: bytes per active cell", 65536, 512, function(tree, x)
  local block = tree:pointer("i", 65536)
  block:dense("i", 512):place(x)
  return block
end)
measure_bytes("pointer, leaves of 256 f32", 131072, 256, function(tree, x)
  local block = tree:pointer("i", 131072)
  block:dense("i", 256):place(x)
  return block
end)
measure_bytes("hash, leaves of 512 f32", 65536, 512, function(tree, x)
  local block = tree:hash "i"
  block:dense("i", 512):place(x)
  return block
end)

local trees, kept = 200, {}
local reserved, rss = rg.memory().reserved, resident()
for k = 1, trees do
  local x = rg.field(rg.f32)
  rg.root:pointer("ij", 16):dense("ij", 16):place(x)
  kept[k] = x[3][3] == 0 and x -- laid out, nothing written
end
assert(#kept == trees)
say("an empty tree, a pointer of 16 x 16", "%.0f bytes of the budget, %.1f KiB resident",
  (rg.memory().reserved - reserved) / trees, (resident() - rss) / trees / 1024)

-- -- nodes and look-ups ---------------------------------------------------------------------------

local nodes, looks = 2 ^ 18, 2 ^ 22

local function measure_nodes(kind, make)
  local x = rg.field(rg.f32)
  local block = make(x)
  local activate = rg.kernel(function()
    for i in rg.range(nodes) do block:activate(i) end
  end)
  local deactivate = rg.kernel(function()
    for i in block:active() do block:deactivate(i) end
  end)
  local visit = rg.kernel(function()
    local n = 0
    for i in block:active() do n = n + i % 2 end
    return n
  end)
  -- Blocks without any order: i times an odd number, in a power of two.
  local look = rg.kernel(function()
    local sum = 0.0
    for i in rg.range(looks) do sum = sum + x[i * 40503 % nodes * 16 + 3] end
    return sum
  end)
  rg.gc "stop"
  local times = { deactivate = math.huge, collect = math.huge, again = math.huge }
  activate()
  deactivate()
  for _ = 1, 3 do
    times.collect = math.min(times.collect, seconds(rg.gc))
    times.again = math.min(times.again, seconds(activate))
    visit()
    times.deactivate = math.min(times.deactivate, seconds(deactivate))
  end
  local names = { "deactivate", "collect", "again" }
  for k, what in ipairs { "deactivated, in parallel", "collected",
    "activated again, in parallel" } do
    say(("%s, nodes %s"):format(kind, what), "%8.2f million per second",
      nodes / times[names[k]] / 1e6)
  end
  rg.gc "restart"
  rg.gc()
  activate()
  say(kind .. ", look-ups anywhere", "%8.2f million per second", looks / best(5, look) / 1e6)
  visit()
  local lists = rg.stats().lists
  for _ = 1, 100 do visit() end
  say(kind .. ", lists made in 100 launches over what is unchanged", "%d", rg.stats().lists - lists)
  block:clear()
end

measure_nodes("pointer", function(x)
  local block = rg.root:pointer("i", nodes)
  block:dense("i", 16):place(x)
  return block
end)
measure_nodes("hash", function(x)
  local block = rg.root:hash "i"
  block:dense("i", 16):place(x)
  return block
end)
