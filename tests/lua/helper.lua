-- helper.lua - what every spec starts from: it loads the module once (busted unloads what spec
-- files load), and has the functions that specs share, as `require "support"`. RG_THREADS sets the
-- number of threads, RG_STRESS the stress options.

-- busted wraps ffi.typeof and remembers every argument, so it would keep all fields and vectors
-- alive. The specs use the original function.
local ffi = require "ffi"
for k = 1, 9 do
  local name, value = debug.getupvalue(ffi.typeof, k)
  if name == "original" then ffi.typeof = value break end
end

ffi.cdef "int setenv(const char *, const char *, int); int unsetenv(const char *);"
ffi.C.setenv("RG_ALLOCATIONS", "on", 0)
ffi.C.setenv("RG_WINDOW", "off", 0) -- scripts with rg.live, on the desktop of who runs the tests

local rg = require "regolith"
-- Modules that are loaded at first use are loaded here, because busted would unload them again.
require "regolith.data.counted"
require "regolith.kernel.tune"
require "regolith.data.member"
require "regolith.data.reduce"

local support = { rg = rg }

--- Returns all bytes of a file.
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

--- Returns `rg.allocations()` of a runtime after a collection, so that garbage of other tests is
--- not freed while a test counts.
function support.allocations(runtime)
  for _ = 1, 2 do collectgarbage() end
  runtime.sync()
  return runtime.allocations()
end

--- Whether the processor has the feature that Linux calls `flag`.
local cpuinfo = io.open "/proc/cpuinfo"
local flags = cpuinfo and cpuinfo:read "*a" or ""
if cpuinfo then cpuinfo:close() end
function support.processor_has(flag) return flags:find(" " .. flag .. "[ \n]") ~= nil end

--- Returns the error object that `f` raises.
function support.failure(f, ...)
  local ok, failure = pcall(f, ...)
  assert(not ok, "an error was expected")
  assert(type(failure) == "table" and failure.code, "an error object was expected, got: "
    .. tostring(failure))
  return failure
end

--- Returns the lines that `f(..)` prints, and what pcall does.
function support.printed(f, ...)
  local lines, before = {}, _G.print
  _G.print = function(...)
    lines[#lines + 1] = select("#", ...) > 0 and table.concat({ ... }, "\t") or "?"
  end
  local ok, message = pcall(f, ...)
  _G.print = before
  return lines, ok, message
end

--- Makes a field of `blocks` pointer cells of `size` elements each along every axis; returns it and
--- the pointer node.
function support.sparse(t, axes, blocks, size)
  local x = rg.field(t)
  local block = rg.root:pointer(axes, blocks)
  block:dense(axes, size):place(x)
  return x, block
end

--- Returns the results of `run` with this value of an environment variable, which is restored
--- afterwards. A variable that was not set is unset again, because an empty value has a meaning of
--- its own.
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

--- Returns the results of `run` while files may have at most this many bytes, which simulates a
--- full disk.
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

--- Whether memory stays the same for `count` steps in a row, within a thousand steps. Workers that
--- start late allocate once, but a leak grows forever.
function support.stays(measure, count, step)
  local before, same = measure(), 0
  for _ = 1, 1000 do
    step()
    local now = measure()
    same = now <= before and same + 1 or 0
    before = math.max(before, now)
    if same == count then return true end
  end
  return false
end

--- Returns the results of `f(..)` in the interpreter. `jit.off` only keeps LuaJIT from compiling
--- hot loops and functions: existing traces would still run, call no hook, and grow side traces. So
--- they are dropped, too.
function support.interpreted(f, ...)
  local was_on = jit.status()
  jit.off()
  jit.flush()
  local results = { pcall(f, ...) }
  if was_on then jit.on() end
  if not results[1] then error(results[2], 0) end
  return unpack(results, 2)
end

-- Returns the bytes of garbage that each of `calls` calls of `f` leaves.
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

--- Returns the bytes of garbage that a call of `f` leaves in the interpreter: the traces that
--- LuaJIT compiles are garbage, too, and when it compiles them is unpredictable. Takes the least of
--- three rounds, since tables grow now and then.
function support.garbage(f)
  return support.interpreted(function()
    local least = math.huge
    for _ = 1, 3 do least = math.min(least, garbage_each(1000, f)) end
    return least
  end)
end

--- Returns how many cells of `x` a kernel visits.
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

--- Returns elements 0 to count - 1 of a field with one axis, as a list.
function support.list(x)
  local t = {}
  for i = 0, #x - 1 do t[i + 1] = x[i] end
  return t
end

local program = os.getenv("RG_LIBRARY"):match "^(.*)/[^/]*$" .. "/bin/regolith"
local mpirun = "OMPI_MCA_btl_vader_single_copy_mechanism=none mpirun --allow-run-as-root "
  .. "--oversubscribe --mca plm isolated --mca pml ob1 --mca btl self,vader"

--- Whether mpirun and libregolith-mpi.so are available.
function support.has_mpi()
  local file = io.open((program:gsub("bin/regolith$", "libregolith-mpi.so")), "rb")
  if file then file:close() end
  return file ~= nil and os.execute "command -v mpirun >/dev/null" == 0
end

--- Returns what the ranks of a script print, line by line, sorted, and the exit code. `options`:
--- `mpi`, start them by mpirun instead of `regolith run`; `hosts`, by mpirun, four ranks on two
--- hosts; `environment`, "NAME=value .."; `before`, Lua code that runs before rg.comm().
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
  -- mpirun may print a message about late processes.
  for line in text:gsub("code %d+\n$", ""):gmatch "[^\n]+" do
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

-- Specs compare elements one by one, and luassert makes several tables for each comparison. So
-- assertions that hold are decided here, and luassert only formats the failures.
local luassert = require "luassert"
local equal, same, is_true = luassert.equal, luassert.same, luassert.is_true

-- Whether two values are equal: one value, or plain tables of equal values.
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

-- -- before each test: note which suite runs, and its time ----------------------------------------

local busted = require "busted"
local progress = os.getenv "TEST_PROGRESS"
progress = progress and assert(io.open(progress, "a"))

-- Returns the processor time of this process and its ended children, in seconds.
local function used()
  local file = assert(io.open "/proc/self/stat")
  local fields, ticks, n = file:read "*a":match "%) (.*)", 0, 0
  file:close()
  for field in fields:gmatch "%S+" do
    n = n + 1
    if n >= 12 and n <= 15 then ticks = ticks + tonumber(field) end
  end
  return ticks / 100
end

if progress then
  busted.subscribe({ "test", "start" }, function(element)
    local name, context = element.name, busted.parent(element)
    while context and context.descriptor == "describe" do
      name, context = context.name .. " " .. name, busted.parent(context)
    end
    progress:write(("%.2f\t%s:%d: %s\n"):format(used(), element.trace.short_src,
      element.trace.currentline, name))
    progress:flush()
    return nil, true
  end)
  busted.subscribe({ "suite", "end" }, function()
    progress:write(("%.2f\n"):format(used()))
    progress:flush()
    return nil, true
  end)
end

-- -- after each test: only arrays and trees may hold counted memory -------------------------------

local lib = require "regolith.lib"
local seen = ffi.new "RgAllocations"

-- The number of headers without an owner, and a description of faulty ones.
local function lost(runtime)
  if lib.C.rg_allocations(runtime.c, seen) ~= 0 then return 0, nil end
  local count = tonumber(seen.header_alloc - seen.header_free - seen.held)
  return count, seen.faults > 0 and ffi.string(seen.fault) or nil
end

busted.subscribe({ "test", "end" }, function(element, parent)
  for _, runtime in pairs(lib.runtimes) do
    if runtime.c then
      local count, fault = lost(runtime)
      if count ~= 0 then -- the values may be garbage by now
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
