--- Launches that can be repeated, with the random numbers that they drew.
local ffi = require "ffi"
local lib = require "regolith.lib"
local kernel = require "regolith.kernel"
local uses = require "regolith.kernel.gradient.uses"

local launch = {}

local C = lib.C

local function copy_values(values, count)
  local copy = ffi.new("RgValue[?]", math.max(1, count))
  ffi.copy(copy, values, ffi.sizeof "RgValue" * count)
  return copy
end

--- A copy of the values of the kernel's current launch, for repeating it.
function launch.of(of)
  local count = of.value_count
  local made = { kernel = of, count = count, values = copy_values(of.values, count),
    last = {}, vectors = {} } -- what the values were made from, and point to
  for number = 0, count - 1 do
    made.last[number], made.vectors[number] = of.last[number], of.vectors[number]
  end
  return made
end

-- -- launches of derivatives ----------------------------------------------------------------------

-- Whether both kernels take the same values in the same order, which depends on the paths that each
-- has found in its launches.
local function takes_the_same(of, other)
  if of.path_count ~= other.path_count or of.value_count ~= other.value_count then return false end
  local first, second = ffi.new "const char *[1]", ffi.new "const char *[1]"
  local parameter, parameters = ffi.new "int32_t[1]", ffi.new "int32_t[1]"
  for number = 0, of.path_count - 1 do
    lib.check(C.rg_kernel_path(of.pointer, number, first, parameter), of.runtime)
    lib.check(C.rg_kernel_path(other.pointer, number, second, parameters), other.runtime)
    local is_same = ffi.string(first[0]) == ffi.string(second[0]) and parameter[0] == parameters[0]
      and C.rg_kernel_path_function(of.pointer, number)
        == C.rg_kernel_path_function(other.pointer, number)
    if not is_same then return false end
  end
  return true
end

-- A kernel has one version for all whole numbers that an i32 holds, and one for all fractions.
local function has_one_type(a, b)
  return a == b or (a % 1 == 0) == (b % 1 == 0)
    and (math.abs(a) < 2 ^ 31) == (math.abs(b) < 2 ^ 31)
end

local words = ffi.typeof "const int32_t *" -- an RgValue is four

-- Whether the values of the current launch differ from the latest ones at most in numbers.
local function is_repeated(of, latest)
  if of.value_count ~= latest.count or of.gone ~= latest.gone then return false end
  local values, before = of.values, latest.primal
  local now, was = ffi.cast(words, values), ffi.cast(words, before)
  for k = 0, latest.count - 1 do
    local at = 4 * k
    if now[at] ~= was[at] or now[at + 1] ~= was[at + 1] then return false end
    local is_same = now[at + 2] == was[at + 2] and now[at + 3] == was[at + 3]
    if not is_same and (values[k].kind ~= C.RG_VALUE_NUMBER
      or not has_one_type(values[k].number, before[k].number)) then
      return false
    end
  end
  return true
end

local function repeat_latest(of, latest)
  local made = { kernel = latest.kernel, count = latest.count, last = latest.last,
    vectors = latest.vectors, uses = latest.uses,
    values = copy_values(latest.values, latest.count) }
  for k = 0, made.count - 1 do
    if made.values[k].kind == C.RG_VALUE_NUMBER then made.values[k].number = of.values[k].number end
  end
  uses.move(made.uses, made.values)
  return made
end

--- The launch of the derivative of the current launch, with its `uses`, whose `first` indices are
--- those of this launch until the next one. `latest` keeps the last one of each kernel: the next
--- one mostly differs in numbers alone, and then nothing is compiled.
function launch.derived(latest, of, kind)
  local known = latest[of]
  if known and is_repeated(of, known) then return repeat_latest(of, known) end
  local derived = kernel.compile_derived(of, kind)
  local made = launch.of(derived)
  made.uses = uses.of(derived, made.values)
  if takes_the_same(of, derived) then
    made.primal, made.gone = copy_values(of.values, of.value_count), of.gone
    latest[of] = made
  end
  return made
end

-- -- running them ---------------------------------------------------------------------------------

local result = ffi.new "RgValue"

--- How many streams of random numbers have been drawn.
function launch.streams(runtime)
  local streams = ffi.new "uint64_t[2]"
  C.rg_random_streams(lib.runtimes[runtime].c, streams)
  return streams
end

--- Continues the streams of random numbers after these.
function launch.resume(runtime, streams) C.rg_random_resume(lib.runtimes[runtime].c, streams) end

--- Launches now; returns the core's status, and leaves results in `out`.
function launch.now(of, out) return kernel.run(of.kernel, of.values, of.count, of.last, out) end

-- Calls f as if these streams had been drawn.
local function from_streams(runtime, streams, f, ...)
  if not streams then return f(...) end
  local now = launch.streams(runtime)
  launch.resume(runtime, streams)
  local ok, why = pcall(f, ...)
  launch.resume(runtime, now)
  if not ok then error(why, 0) end
end

local function again(of)
  lib.check(launch.now(of, result), of.kernel.runtime)
end

--- Launches again, with the same random numbers if they are known.
function launch.run(of) return from_streams(of.kernel.runtime, of.streams, again, of) end

return launch
