-- one_kernel.lua [TEXT] - the process that cache_spec.lua starts: runs one kernel in a runtime with
-- the options in CACHE_OPTION, requests its TEXT, and prints the result, compiles, cache hits, and
-- whether the codegen library is loaded.
local rg = require "regolith"
if os.getenv "CACHE_OPTION" == "false" then rg.init { cache = false } end
local x = rg.field(rg.f32, 64)
local fill = rg.kernel(function(a)
  for i in rg.range(64) do x[i] = a * i end
  return x[63]
end)
local result, stats = fill(2), rg.stats()
local maps = io.open("/proc/self/maps"):read "*a"
print(result, stats.compiles, stats.cache_hits, maps:find("regolith-codegen", 1, true)
  and "compiler" or "none")
if arg[1] then print(#fill[arg[1]](fill) > 0) end
