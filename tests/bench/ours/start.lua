-- start.lua - M2: process start to the first result, and exit. A step runs a script of its own,
-- with an empty cache of compiled kernels (cold) or a full one (warm).
-- usage: start hello|fractal|mpm2d cold|warm
local _, bench = require "regolith", require "bench"
local script, heat = bench.arguments("hello", "cold")

local here = arg[0]:match "^(.*)/" or "."
local folder = os.tmpname()
os.remove(folder)

local function run()
  local command = "RG_CACHE='%s' luajit '%s/start/%s.lua' </dev/null >/dev/null"
  assert(0 == os.execute(command:format(folder, here, script)))
end

if heat == "warm" then run() end -- the first process makes code baseline, the second what is kept

bench.run {
  start = function() if heat == "cold" then os.execute(("rm -rf '%s'"):format(folder)) end end,
  step = run,
  checksum = function()
    os.execute(("rm -rf '%s'"):format(folder))
    return 1
  end,
}
