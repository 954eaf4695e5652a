--- Measures a command: its seconds, and the parts of them that compiles and kernels took, over all
--- runtimes. It starts no runtime.
local ffi = require "ffi"
local lib = require "regolith.lib"

local meter = {}

function meter.now() return lib.C.rg_time() end

--- Returns the totals so far.
function meter.read()
  local stats, sums = ffi.new "RgStats", { compile_ms = 0, run_ms = 0, launches = 0, compiles = 0 }
  for _, runtime in pairs(lib.runtimes) do
    if runtime.c then
      lib.C.rg_stats(runtime.c, stats)
      for name in pairs(sums) do sums[name] = sums[name] + tonumber(stats[name]) end
    end
  end
  sums.time = meter.now()
  return sums
end

--- Returns { seconds, compile_ms, run_ms, launches, compiles } since an earlier reading.
function meter.since(before)
  local now = meter.read()
  local spent = { seconds = now.time - before.time }
  for name, value in pairs(now) do
    if name ~= "time" then spent[name] = math.max(0, value - before[name]) end
  end
  return spent
end

--- Waits for queued launches; raises their errors.
function meter.sync()
  for number, runtime in pairs(lib.runtimes) do
    if runtime.c then lib.check(lib.C.rg_sync(runtime.c), number) end
  end
end

--- Waits for queued launches and ignores their errors, which belong to an input that has already
--- failed.
function meter.forget()
  for _, runtime in pairs(lib.runtimes) do
    if runtime.c then lib.C.rg_sync(runtime.c) end
  end
end

local function duration(seconds)
  if seconds < 1e-3 then return ("%.3g us"):format(seconds * 1e6) end
  if seconds < 1 then return ("%.3g ms"):format(seconds * 1e3) end
  return seconds < 100 and ("%.3g s"):format(seconds) or ("%.0f s"):format(seconds)
end

--- "0.53 s: compiling 0.21 s, running 0.3 s".
function meter.text(spent)
  local parts = {}
  if spent.compile_ms > 0 then
    parts[1] = "compiling " .. duration(spent.compile_ms / 1000)
  end
  if spent.launches > 0 then
    parts[#parts + 1] = ("running %s"):format(duration(spent.run_ms / 1000))
  end
  return duration(spent.seconds) .. (#parts > 0 and ": " .. table.concat(parts, ", ") or "")
end
meter.duration = duration

-- -- launches -------------------------------------------------------------------------------------

local wrapped = {} -- metatable of a kernel -> { our call, its own call }

local wrap

-- A kernel's first launch replaces its __call, so it must be wrapped again.
local function wrap_again(meta, f, ...)
  if wrapped[meta] and meta.__call ~= wrapped[meta][1] then wrap(meta, f) end
  return ...
end

function wrap(meta, f)
  local own = meta.__call
  local function ours(...)
    f()
    return wrap_again(meta, f, own(...))
  end
  wrapped[meta], meta.__call = { ours, own }, ours
end

--- Calls f at the start of every launch of the existing kernels; nil ends that.
function meter.on_launch(f)
  for meta, pair in pairs(wrapped) do
    if meta.__call == pair[1] then meta.__call = pair[2] end
    wrapped[meta] = nil
  end
  for _, kernel in ipairs(f and require("regolith.kernel").all() or {}) do
    wrap(getmetatable(kernel), f)
  end
end

return meter
