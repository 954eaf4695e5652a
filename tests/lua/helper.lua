-- helper.lua - what every spec starts from: the module loaded once (busted drops what spec files
-- load), and the few functions they share, as `require "support"`. The number of threads comes from
-- RG_THREADS, stress from RG_STRESS.

-- busted's ffi.typeof remembers every value that it was ever asked for, and so holds all fields and
-- vectors: the one beneath it, for us.
local ffi = require "ffi"
for k = 1, 9 do
  local name, value = debug.getupvalue(ffi.typeof, k)
  if name == "original" then ffi.typeof = value break end
end

ffi.cdef "int setenv(const char *, const char *, int); int unsetenv(const char *);"
ffi.C.setenv("RG_ALLOCATIONS", "on", 0)

local rg = require "regolith"
-- what is loaded when it is used, and once per process: busted forgets what a file of tests loads
require "regolith.data.counted"
require "regolith.kernel.tune"

local support = { rg = rg }

--- All bytes of a file.
function support.read_file(path)
  local file = assert(io.open(path, "rb"))
  local bytes = file:read "*a"
  file:close()
  return bytes
end

function support.write_file(path, bytes)
  local file = assert(io.open(path, "wb"))
  file:write(bytes)
  file:close()
end

--- `rg.allocations()` of a runtime in which nothing waits for the collector: what others left would
--- be freed while a test counts.
function support.allocations(runtime)
  for _ = 1, 2 do collectgarbage() end
  runtime.sync()
  return runtime.allocations()
end

--- Whether the processor has what Linux calls `flag`.
local cpuinfo = io.open "/proc/cpuinfo"
local flags = cpuinfo and cpuinfo:read "*a" or ""
if cpuinfo then cpuinfo:close() end
function support.processor_has(flag) return flags:find(" " .. flag .. "[ \n]") ~= nil end

--- The error object that `f` raises.
function support.failure(f, ...)
  local ok, failure = pcall(f, ...)
  assert(not ok, "an error was expected")
  assert(type(failure) == "table" and failure.code, "an error object was expected, got: "
    .. tostring(failure))
  return failure
end

--- A field of `blocks` pointer cells of `size` elements each along every axis, and the pointer
--- node.
function support.sparse(t, axes, blocks, size)
  local x = rg.field(t)
  local block = rg.root:pointer(axes, blocks)
  block:dense(axes, size):place(x)
  return x, block
end

--- What `run` returns with this value of an environment variable, which then is what it was: one
--- that was not set is not set again, as an empty text is a value to who asks.
function support.with_option(name, text, run)
  local before = os.getenv(name)
  ffi.C.setenv(name, text, 1)
  local results = { pcall(run) }
  if before then ffi.C.setenv(name, before, 1) else ffi.C.unsetenv(name) end
  if not results[1] then error(results[2], 0) end
  return unpack(results, 2)
end

ffi.cdef [[
  int setrlimit(int, const uint64_t *); int getrlimit(int, uint64_t *);
  void *signal(int, void *);
]]

--- What `run` returns while files may have so many bytes at most, as on a disk that is full then.
function support.with_small_files(bytes, run)
  local size, ignore, signal, limits = 1, ffi.cast("void *", 1), 25, ffi.new "uint64_t[2]"
  ffi.C.getrlimit(size, limits)
  local before = ffi.C.signal(signal, ignore)
  ffi.C.setrlimit(size, ffi.new("uint64_t[2]", bytes, limits[1]))
  local results = { pcall(run) }
  ffi.C.setrlimit(size, limits)
  ffi.C.signal(signal, before)
  if not results[1] then error(results[2], 0) end
  return unpack(results, 2)
end

function support.with_stress(text, run) return support.with_option("RG_STRESS", text, run) end

--- Whether memory stays the same over `turns` turns in a row, within a thousand: workers that come
--- late take their share once, a leak has no end.
function support.stays(measure, turns, turn)
  local before, same = measure(), 0
  for _ = 1, 1000 do
    turn()
    local now = measure()
    same = now <= before and same + 1 or 0
    before = math.max(before, now)
    if same == turns then return true end
  end
  return false
end

--- What `f(..)` returns while the interpreter runs it. `jit.off` alone only keeps LuaJIT from
--- beginning at hot loops and functions: traces made before run on, call no hook, and grow side
--- traces. So these are dropped, too.
function support.interpreted(f, ...)
  local was_on = jit.status()
  jit.off()
  jit.flush()
  local results = { pcall(f, ...) }
  if was_on then jit.on() end
  if not results[1] then error(results[2], 0) end
  return unpack(results, 2)
end

-- Bytes of garbage that each of `calls` calls of `f` leaves.
local function garbage_each(calls, f)
  collectgarbage()
  collectgarbage()
  collectgarbage "stop"
  local before = collectgarbage "count"
  for _ = 1, calls do f() end
  local bytes = (collectgarbage "count" - before) * 1024 / calls
  collectgarbage "restart"
  return bytes
end

--- Bytes of garbage that a call of `f` leaves, in the interpreter: the traces that LuaJIT makes are
--- garbage, too, and when it makes them is chance. The least of three rounds, since tables grow now
--- and then.
function support.garbage(f)
  return support.interpreted(function()
    local least = math.huge
    for _ = 1, 3 do least = math.min(least, garbage_each(1000, f)) end
    return least
  end)
end

--- How many cells of `x` a kernel visits.
function support.visits(x)
  return rg.kernel([=[function()
    local count = 0
    for i in x:active() do count = count + 1 end
    return count
  end]=], { x = x })()
end

--- The same for two axes.
function support.visits2(x)
  return rg.kernel([=[function()
    local count = 0
    for i, j in x:active() do count = count + 1 end
    return count
  end]=], { x = x })()
end

--- Numbers 0..count-1 of a field with one axis, as a list.
function support.list(x)
  local t = {}
  for i = 0, #x - 1 do t[i + 1] = x[i] end
  return t
end

local program = os.getenv("RG_LIBRARY"):match "^(.*)/[^/]*$" .. "/bin/regolith"
local mpirun = "OMPI_MCA_btl_vader_single_copy_mechanism=none mpirun --allow-run-as-root "
  .. "--oversubscribe --mca plm isolated --mca pml ob1 --mca btl self,vader"

--- Is there an mpirun, and what speaks to it?
function support.has_mpi()
  local file = io.open((program:gsub("bin/regolith$", "libregolith-mpi.so")), "rb")
  if file then file:close() end
  return file ~= nil and os.execute "command -v mpirun >/dev/null" == 0
end

--- What the ranks of a script print, line by line, sorted, and the exit code. `options`: `mpi`, by
--- mpirun instead of `regolith run`; `hosts`, by mpirun, four ranks on two hosts; `environment`,
--- "NAME=value .."; `before`, what comes before the ranks begin.
function support.run_ranks(ranks, script, options)
  options = options or {}
  local path = os.tmpname()
  support.write_file(path, (options.before or "")
    .. 'local rg = require "regolith"\nlocal comm = rg.comm()\n' .. script)
  local start = options.hosts and ("tests/support/two_hosts '%s'"):format(program)
    or options.mpi and ("%s -n %d '%s'"):format(mpirun, ranks, program)
    or ("'%s' run -n %d"):format(program, ranks)
  local pipe = assert(io.popen(("env %s %s %s 2>&1; echo code $?"):format(options.environment or "",
    start, path)))
  local text = pipe:read "*a"
  pipe:close()
  os.remove(path)
  local code, lines = tonumber(text:match "code (%d+)\n$"), {}
  for line in text:gsub("code %d+\n$", ""):gmatch "[^\n]+" do -- mpirun may be late, and says so
    if not line:find("plm:rsh: Warning: setpgid", 1, true) then lines[#lines + 1] = line end
  end
  table.sort(lines)
  return lines, code
end

--- The CUDA driver of the tests, which executes PTX.
support.cuda_driver = os.getenv("RG_LIBRARY"):match "^(.*/)" .. "tests/cuda/libcuda.so.1"

--- run_ranks for ranks on GPUs of that driver; with RG_GPU_RANKS=device on those of the machine.
function support.run_gpu_ranks(ranks, script, environment, options)
  local driver = os.getenv "RG_GPU_RANKS" == "device" and ""
    or ("RG_CUDA_DRIVER='%s'"):format(support.cuda_driver)
  return support.run_ranks(ranks, script, { before = options and options.before, environment =
    ("RG_ARCH=cuda %s PTX_MEMORY=1024 %s"):format(driver, environment or "") })
end

-- -- assertions that hold -------------------------------------------------------------------------

-- Specs compare elements one by one, and luassert makes several tables for each comparison. What
-- obviously holds is not handed to it; it still words every failure.
local luassert = require "luassert"
local equal, same, is_true = luassert.equal, luassert.same, luassert.is_true

-- Are they one value, or plain tables of such values?
local function are_alike(a, b)
  if rawequal(a, b) then return a ~= nil end
  if type(a) ~= "table" or type(b) ~= "table" or getmetatable(a) or getmetatable(b) then
    return false
  end
  for k, v in pairs(a) do
    if not rawequal(b[k], v) then return false end
  end
  for k in pairs(b) do
    if a[k] == nil then return false end
  end
  return true
end

rawset(luassert, "equal", function(expected, actual, ...)
  if expected ~= nil and rawequal(expected, actual) then return expected, actual, ... end
  return equal(expected, actual, ...)
end)
rawset(luassert, "same", function(expected, actual, ...)
  if are_alike(expected, actual) then return expected, actual, ... end
  return same(expected, actual, ...)
end)
rawset(luassert, "is_true", function(value, ...)
  if value == true then return value, ... end
  return is_true(value, ...)
end)

-- -- after each test: no counted memory is held but by arrays and trees ---------------------------

local lib, busted = require "regolith.lib", require "busted"
local seen = ffi.new "RgAllocations"

-- How many headers nobody knows of; then, what was wrong with some.
local function lost(runtime)
  if lib.C.rg_allocations(runtime.c, seen) ~= 0 then return 0, nil end
  local count = tonumber(seen.header_alloc - seen.header_free - seen.held)
  return count, seen.faults > 0 and ffi.string(seen.fault) or nil
end

busted.subscribe({ "test", "end" }, function(element, parent)
  for _, runtime in pairs(lib.runtimes) do
    if runtime.c then
      local count, fault = lost(runtime)
      if count ~= 0 then -- of values that are garbage by now
        collectgarbage()
        collectgarbage()
        lib.C.rg_sync(runtime.c)
        count, fault = lost(runtime)
      end
      if count ~= 0 or fault then
        busted.publish({ "error", "leak" }, element, parent, fault
          or ("%d counted objects are held by nobody"):format(count), {})
      end
    end
  end
  return nil, true
end)

package.loaded.support = support
