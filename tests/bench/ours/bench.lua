--- bench: what our programs share: arguments, initial numbers, and the answers to the commands of
--- the driver (../driver/contender.lua).
local rg = require "regolith"
local bench = {}

rg.init { threads = tonumber(os.getenv "THREADS" or 0) }

--- Returns the arguments of the command line, each with the type of its default.
function bench.arguments(...)
  local values = { ... }
  for k, default in ipairs(values) do
    local word = arg[k]
    if word then values[k] = type(default) == "number" and tonumber(word) or word end
  end
  return unpack(values)
end

--- In kernels: a number in [0, 1) made from `k`, the same in every language.
function bench.noise(k)
  local h = rg.u32(k) * 2654435761
  h = bit.bxor(h, bit.rshift(h, 15)) * 2246822519
  h = bit.bxor(h, bit.rshift(h, 13))
  return rg.f32(rg.i32(bit.rshift(h, 8))) / 16777216
end

--- Returns seconds: by the clock, or of processor time, for busy machines.
bench.now = os.getenv "BENCH_CLOCK" == "processor" and os.clock or rg.time

local function say(format, value)
  io.write("bench: ", format:format(value), "\n")
  io.flush()
end

--- `program.start` makes the first state, `program.step` is timed, `program.checksum` is computed
--- from the state after STEPS steps. `program.measure`, instead of `step`, returns its own figure.
function bench.run(program)
  local steps = tonumber(os.getenv "STEPS" or 1)
  local function pass()
    if program.start then program.start() end
    if program.measure then return program.measure() end
    rg.sync()
    local begin = bench.now()
    for _ = 1, steps do program.step() end
    rg.sync() -- a GPU's launches are queued
    return (bench.now() - begin) / steps * 1e3
  end
  -- Waits for optimised code, which a thread compiles while baseline code runs.
  local function settle()
    local begin = rg.time()
    while rg.stats().improved < rg.stats().quick and rg.time() - begin < 1 do pass() end
    settle = function() end
  end
  pass()
  say "ready"
  for line in io.lines() do
    local passes = tonumber(line:match "^go (%d+)$")
    if passes then
      local sum = 0
      settle()
      for _ = 1, passes do sum = sum + pass() end
      say("%.9g", sum / passes)
    elseif line == "checksum" then
      say("%.12g", tonumber(program.checksum()))
    else
      return
    end
  end
end

--- Loads other programs of this folder again, with kernels of `runtime`, and returns by name what
--- each passes to `run`. `wanted` has their arguments by name.
function bench.programs(runtime, wanted)
  local words, folder, programs = arg, arg[0]:match "^(.*)/" or ".", {}
  local modules = package.loaded
  local own = modules.regolith
  for name, values in pairs(wanted) do
    arg = values -- luacheck: ignore
    modules.regolith = runtime
    modules.bench = setmetatable({
      run = function(program) programs[name] = program end,
    }, { __index = bench })
    dofile(("%s/%s.lua"):format(folder, name))
  end
  arg, modules.regolith, modules.bench = words, own, bench -- luacheck: ignore
  return programs
end

return bench
