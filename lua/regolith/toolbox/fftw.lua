--- Calls FFTW 3 (Frigo, Johnson 2005): transforms of f32 and f64, of one to three axes, on several
--- threads. Plans are kept for other arrays of the same alignment.
local ffi = require "ffi"
local fail = require "regolith.error"
local lib = require "regolith.lib"
local foreign = require "regolith.toolbox.foreign"

local fftw = {}

local cdef = [[
  void *fftw_plan_dft(int rank, const int *n, void *in, void *out, int sign, unsigned flags);
  void *fftw_plan_dft_r2c(int rank, const int *n, void *in, void *out, unsigned flags);
  void *fftw_plan_dft_c2r(int rank, const int *n, void *in, void *out, unsigned flags);
  void fftw_execute_dft(void *plan, void *in, void *out);
  void fftw_execute_dft_r2c(void *plan, void *in, void *out);
  void fftw_execute_dft_c2r(void *plan, void *in, void *out);
  void fftw_destroy_plan(void *plan);
  void fftw_set_timelimit(double seconds);
  void *fftw_malloc(size_t size);
  void fftw_free(void *p);
]]
local threads_cdef = "int fftw_init_threads(void); void fftw_plan_with_nthreads(int n);"
local measure, unaligned, estimate = 0, 2, 64
local alignment = 16
-- After a plan has run for this long in total, a better one is searched for, for at most as long
-- again. If that time did not suffice, the next search follows after four times as long.
local patience_s = 0.25

-- element type -> the prefix of names, and the libraries
local precisions = {}
for name, row in pairs { f32 = { "f", "single" }, f64 = { "", "double" } } do
  local letter = row[1]
  local function declared(text) return (text:gsub("fftw_", "fftw" .. letter .. "_")) end
  local function library(suffix, text)
    return { soname = ("libfftw3%s%s.so.3"):format(letter, suffix), what = "rg.fft",
      package = "libfftw3-" .. row[2] .. "3", cdef = declared(text) }
  end
  precisions[name] = { prefix = "fftw" .. letter .. "_", main = library("", cdef),
    threads = library("_threads", threads_cdef), plans = {} }
end

local function open(precision)
  if precision.C then return precision end
  precision.C = foreign.open(precision.main)
  local has_threads, T = pcall(foreign.open, precision.threads)
  if has_threads and T[precision.prefix .. "init_threads"]() ~= 0 then precision.T = T end
  return precision
end

local function call(precision, name) return precision.C[precision.prefix .. name] end

-- Makes a plan on memory of its own, since measuring overwrites it.
local function make_plan(precision, kind, extents, bytes, sign, flags, threads)
  if precision.T then precision.T[precision.prefix .. "plan_with_nthreads"](threads) end
  local memory = call(precision, "malloc")(2 * bytes)
  if memory == nil then return nil end
  local from, to = memory, ffi.cast("char *", memory) + bytes
  local sizes = ffi.new("int[?]", #extents, extents)
  local plan
  if kind == "dft" then
    plan = call(precision, "plan_dft")(#extents, sizes, from, to, sign, flags)
  else
    plan = call(precision, "plan_dft_" .. kind)(#extents, sizes, from, to, flags)
  end
  call(precision, "free")(memory)
  return plan ~= nil and ffi.gc(plan, call(precision, "destroy_plan")) or nil
end

local function is_aligned(pointer)
  return tonumber(ffi.cast("uintptr_t", pointer) % alignment) == 0
end

-- Returns a plan; with `known`, a better one than this.
local function find_plan(precision, name, kind, extents, sign, aligned, options, known)
  local measures, begun = known ~= nil or options.measure, lib.C.rg_time()
  local limit = known and not options.measure and known.seconds or -1
  call(precision, "set_timelimit")(limit)
  local flags = (measures and measure or estimate) + (aligned and 0 or unaligned)
  local bytes = 2 * (name == "f32" and 4 or 8)
  for axis = 1, #extents - 1 do bytes = bytes * extents[axis] end
  bytes = bytes * (extents[#extents] + 2)
  bytes = bytes + -bytes % 64
  local plan = make_plan(precision, kind, extents, bytes, sign, flags, options.threads)
  if not plan then
    return fail.raise { code = "solve.failed",
      message = ("FFTW cannot plan a transform of %s numbers"):format(table.concat(extents,
        " x ")) }
  end
  local is_whole = limit < 0 or lib.C.rg_time() - begun < limit
  return { plan = plan, is_measured = measures and is_whole, seconds = 0,
    patience_s = known and 4 * known.patience_s or patience_s }
end

--- Transforms from one memory to another.
---@param name string      the type of the numbers: "f32" or "f64"
---@param kind string      "dft" (complex), "r2c" or "c2r", which overwrites its input
---@param extents table    those of the real or the full complex array
---@param sign integer     -1 forward, 1 backward
---@param options table    { threads = n, measure = boolean, tunes = may change its plan later }
function fftw.run(name, kind, extents, from, to, sign, options)
  local precision = open(precisions[name])
  local aligned = is_aligned(from) and is_aligned(to)
  local key = table.concat({ kind, sign, aligned and 1 or 0, options.threads,
    table.concat(extents, " ") }, ":")
  local known = precision.plans[key]
  local is_slow = known and options.tunes and known.seconds > known.patience_s
  if not known or not known.is_measured and (is_slow or options.measure) then
    known = find_plan(precision, name, kind, extents, sign, aligned, options, known)
    precision.plans[key] = known
  end
  local begun = lib.C.rg_time()
  call(precision, kind == "dft" and "execute_dft" or "execute_dft_" .. kind)(known.plan, from, to)
  known.seconds = known.seconds + lib.C.rg_time() - begun
end

return fftw
