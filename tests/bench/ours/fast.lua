-- fast.lua - the speedup by fast_math: ten programs run with and without it, alternately; the
-- figure is the lowest of their speedups. usage: fast [seconds per program]
local rg, bench = require "regolith", require "bench"
local seconds = bench.arguments(1) -- below 1: to try whether all run

-- Programs whose work does not depend on the last bits of their numbers.
local sizes = { grains = { 8192, 128 }, agents = { 32768, 256 }, flock = { 4096, 32 },
  contacts = { 4096, 96 }, bilateral = { 128, 4 }, phase = { 128 }, mac = { 64 },
  nbody = { 1024, "exact" }, median = { 128 }, lbm = { "soa", 128 } }
local rounds = 12

local function runtime(fast_math)
  return rg.new { threads = tonumber(os.getenv "THREADS" or 0), fast_math = fast_math }
end
local runtimes = { runtime(false), runtime(true) }
local sides = { bench.programs(runtimes[1], sizes), bench.programs(runtimes[2], sizes) }

--- Seconds of `count` steps, from the first state.
local function window(program, count)
  if program.start then program.start() end
  local begin = bench.now()
  for _ = 1, count do program.step() end
  return bench.now() - begin
end

local function has_baseline()
  for _, one in ipairs(runtimes) do
    if one.stats().improved < one.stats().quick then return true end
  end
  return false
end

local counts = {} -- steps in a window, by program: those that are warm

--- Runs until optimised code is in use, and some time longer, until it is tuned.
local function warm(name)
  local count = math.max(1, math.ceil(seconds / 50 / window(sides[1][name], 1)))
  local begin, passed = bench.now(), 0
  while passed < seconds or (passed < 4 * seconds and has_baseline()) do
    for k = 1, 2 do window(sides[k][name], count) end
    passed = bench.now() - begin
  end
  counts[name] = count
end

local function compare(name)
  if not counts[name] then warm(name) end
  local best = { math.huge, math.huge }
  for _ = 1, rounds do
    for k = 1, 2 do best[k] = math.min(best[k], window(sides[k][name], counts[name])) end
  end
  return best[1] / best[2]
end

local compared

local function measure()
  local least = math.huge
  compared = 0
  for name in pairs(sizes) do
    local ratio = compare(name)
    if seconds >= 1 then print(("%-10s %.3f"):format(name, ratio)) end
    least = math.min(least, ratio)
    compared = compared + 1
  end
  return least
end

bench.run { measure = measure, checksum = function() return compared end }
