-- bench.lua - our programs of tests/bench/ours on a GPU, one table: time, cells and bytes per
-- second, and what share of the rate of a copy, measured in the same run, those bytes are: the
-- driver's own copy, or ours where that is faster; beside Taichi's CUDA backend where PYTHON
-- (python3) has it; and what a launch costs beside a bare one.
-- usage: luajit tests/gpu/bench.lua [NAME ..], with RG_ARCH and the paths of tests/run --gpu;
-- SMALL=1: sizes that the driver that executes PTX finishes; LAST_SECOND: what would begin later
-- than so many seconds after the start is left out, and said
local here = arg[0]:match "^(.*)/" or "."
local luajit = arg[-1] or "luajit"
local is_small = os.getenv "SMALL" == "1"
local last_second = os.time() + tonumber(os.getenv "LAST_SECOND" or 1e6)

-- Program and words, the small ones, steps; cells: what one step counts, in units; bytes: read and
-- written per cell if nothing is read twice.
local rows = {
  { "copy", "W1 copy, 256 Mi f32", "stream copy 268435456", "stream copy 1000", 20, 268435456, 8 },
  { "scale", "W1 scale", "stream scale 268435456", "stream scale 1000", 20, 268435456, 8 },
  { "triad", "W1 triad", "stream triad 268435456", "stream triad 1000", 20, 268435456, 12 },
  { "sum", "W1 sum", "stream sum 268435456", "stream sum 1000", 20, 268435456, 4 },
  { "square", "W2 5-point, 16384^2", "stencil 2 16384", "stencil 2 32", 20, 16384 ^ 2, 8 },
  { "cube", "W2 7-point, 640^3", "stencil 3 640", "stencil 3 16", 20, 640 ^ 3, 8 },
  { "lap7", "W3 7-point, sparse 2048^3", "lap7 256", "lap7 16", 20, "active", 8 },
  { "touch", "W4 touches, new leaves", "activate touch dense 128 16777216",
    "activate touch dense 8 4000", 1, 16777216 },
  { "touch-mask", "W4 touches, new leaves, bits", "activate touch bitmasked 128 16777216",
    "activate touch bitmasked 8 4000", 1, 16777216 },
  { "revisit", "W4 revisit", "activate revisit dense 128 16777216",
    "activate revisit dense 8 4000", 4, 16777216 },
  { "revisit-mask", "W4 revisit, bits", "activate revisit bitmasked 128 16777216",
    "activate revisit bitmasked 8 4000", 4, 16777216 },
  { "cycle", "W5 drop, collect, touch", "activate cycle dense 128 16777216",
    "activate cycle dense 8 4000", 2, 16777216 },
  { "append", "W6 append to 65,536 lists", "lists append 65536 16777216", "lists append 64 1000",
    1, 16777216 },
  { "iterate", "W6 sum over 65,536 lists", "lists iterate 65536 16777216",
    "lists iterate 64 1000", 4, 16777216, 4 },
  { "mpm", "W8 MLS-MPM, 1 Mi, dense", "mpm2d 1048576 1024", "mpm2d 512 32", 50, 1048576 },
  { "mpm-sparse", "W8 MLS-MPM, 1 Mi, sparse", "mpm2d 1048576 1024 8", "mpm2d 512 32 8", 50,
    1048576 },
  { "mpm3d", "W9 3-D MLS-MPM, 2 Mi, sparse", "mpm3d 2097152 256", "mpm3d 512 32", 10, 2097152 },
  { "d3q19", "D3Q19, 256^3", "lbm3d 256", "lbm3d 8", 20, 256 ^ 3, 152 },
  { "life", "W14 life on sparse blocks", "life 1024", "life 8", 16, 16384 ^ 2 },
}

-- Answers of a program to five windows and a checksum (tests/bench/driver/contender.lua): the least
-- milliseconds per step, and the checksum; nil, and the last it said, where it failed or hung.
local function answers_of(command, steps)
  local pipe = io.popen(("printf '%schecksum\\n' | STEPS=%d timeout -k 5 100 env %s 2>&1")
    :format(("go 1\\n"):rep(5), is_small and 1 or steps, command))
  local least, figures, last, said = math.huge, 0, nil, "no answer in 100 s"
  for line in pipe:lines() do
    last = tonumber(line:match "^bench: ([%d.e+-]+)$")
    if last then
      figures = figures + 1
      if figures <= 5 then least = math.min(least, last) end
    elseif line ~= "bench: ready" then
      said = line
    end
  end
  pipe:close()
  if figures == 6 then return least, last end
  return nil, said
end

local function split(words) return words:match "^(%S+) ?(.*)$" end

local function measure(row)
  local program, words = split(row[is_small and 4 or 3])
  return answers_of(("LUA_PATH='%s' '%s' '%s/../bench/ours/%s.lua' %s"):format(
    here .. "/../bench/ours/?.lua;" .. (os.getenv "LUA_PATH" or ";"), luajit, here, program, words),
    row[5])
end

local python = os.getenv "PYTHON" or "python3"
local has_taichi = not is_small and
  os.execute(("'%s' -c 'import taichi' >/dev/null 2>&1"):format(python)) == 0

-- What Taichi takes, as a share of ours; nothing where it has no such program, or another result.
local function beside(row, ms, sum)
  local program, words = split(row[3])
  local path = ("%s/../bench/peer/%s_taichi.py"):format(here, program)
  local file = has_taichi and io.open(path)
  if not file then return "" end
  file:close()
  local theirs, answer = answers_of(("PEER_ARCH=cuda '%s' '%s' %s"):format(python, path, words),
    row[5])
  if not theirs then return answer end
  local is_equal = math.abs(answer - sum) <= 1e-3 * math.abs(sum)
  return ("%.2f%s"):format(theirs / ms, is_equal and "" or ", another result")
end

-- Leaves that lap7.lua activates, times the cells of one.
local function shell_cells(root)
  local center, count = 0.5 * root - 0.5, 0
  for i = 0, root - 1 do
    for j = 0, root - 1 do
      for k = 0, root - 1 do
        local d = math.sqrt((i - center) ^ 2 + (j - center) ^ 2 + (k - center) ^ 2)
        if math.abs(d - 0.344 * root) < 0.0415 * root then count = count + 1 end
      end
    end
  end
  return count * 512
end

-- -- what the driver alone does -----------------------------------------------------------------

local ffi = require "ffi"
ffi.cdef [[
  int cuInit(unsigned); int cuDeviceGet(int *, int); int cuDevicePrimaryCtxRetain(void **, int);
  int cuDeviceGetName(char *, int, int); int cuDeviceGetAttribute(int *, int, int);
  int cuCtxSetCurrent(void *); int cuModuleLoadData(void **, const char *);
  int cuDevicePrimaryCtxRelease_v2(int);
  int cuModuleGetFunction(void **, void *, const char *); int cuCtxSynchronize(void);
  int cuMemAlloc_v2(uint64_t *, size_t); int cuMemFree_v2(uint64_t);
  int cuMemcpyDtoDAsync_v2(uint64_t, uint64_t, size_t, void *);
  int cuLaunchKernel(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
    void *, void **, void **);
  typedef struct { long seconds, nanoseconds; } Time; int clock_gettime(int, Time *);
]]
local device, slot = ffi.new "int[1]", ffi.new "void *[1]"
local function check(result) assert(result == 0, result) end
local function now()
  local time = ffi.new "Time[1]"
  ffi.C.clock_gettime(1, time)
  return tonumber(time[0].seconds) * 1e6 + tonumber(time[0].nanoseconds) / 1e3
end

local function open_driver()
  local driver = ffi.load(os.getenv "RG_CUDA_DRIVER" or "libcuda.so.1")
  check(driver.cuInit(0))
  check(driver.cuDeviceGet(device, tonumber(os.getenv "RG_GPU" or 0)))
  check(driver.cuDevicePrimaryCtxRetain(slot, device[0]))
  check(driver.cuCtxSetCurrent(slot[0]))
  return driver
end

-- The GPU's name and processors; what its memory's clock and width come to, in GB/s, and what a
-- copy of 2 GiB reaches, read and written.
local function about_gpu()
  local driver, bytes = open_driver(), is_small and 65536 or 2 ^ 31
  local name, number, at = ffi.new "char[100]", ffi.new "int[1]", ffi.new "uint64_t[2]"
  local function attribute(which)
    return driver.cuDeviceGetAttribute(number, which, device[0]) == 0 and number[0] or 0
  end
  check(driver.cuDeviceGetName(name, 100, device[0]))
  local most = 2 * attribute(36) * 1e3 * attribute(37) / 8 / 1e9
  local said = ("%s, %d processors, memory of %.0f GB/s by its clock"):format(ffi.string(name),
    attribute(16), most)
  check(driver.cuMemAlloc_v2(at, bytes))
  check(driver.cuMemAlloc_v2(at + 1, bytes))
  local least = math.huge
  for _ = 1, is_small and 2 or 11 do
    check(driver.cuCtxSynchronize())
    local begin = now()
    check(driver.cuMemcpyDtoDAsync_v2(at[0], at[1], bytes, nil))
    check(driver.cuCtxSynchronize())
    least = math.min(least, now() - begin)
  end
  driver.cuMemFree_v2(at[0])
  driver.cuMemFree_v2(at[1])
  driver.cuDevicePrimaryCtxRelease_v2(device[0])
  return said, 2 * bytes / least / 1e3
end

-- Microseconds per launch of a kernel that does nothing, enqueued by the driver alone.
local function bare_launch()
  local driver = open_driver()
  check(driver.cuModuleLoadData(slot, ".version 6.3\n.target sm_75\n.address_size 64\n"
    .. ".visible .entry nothing()\n{\nret;\n}\n"))
  check(driver.cuModuleGetFunction(slot, slot[0], "nothing"))
  local least = math.huge
  for _ = 1, 5 do
    check(driver.cuCtxSynchronize())
    local begin = now()
    for _ = 1, 1000 do driver.cuLaunchKernel(slot[0], 1, 1, 1, 1, 1, 1, 0, nil, nil, nil) end
    least = math.min(least, (now() - begin) / 1000)
  end
  check(driver.cuCtxSynchronize())
  return least
end

local wanted = {}
for _, name in ipairs(arg) do wanted[name] = true end
local function is_wanted(name) return not next(wanted) or wanted[name] end

local is_known, gpu, copy = pcall(about_gpu)
copy = is_known and not is_small and copy or 0
print(is_known and ("%s; the driver's copy %.0f GB/s\n"):format(gpu, copy) or gpu .. "\n")
print "| workload | ms a step | G cells/s | GB/s | of copy | Taichi / ours |"
print "| --- | --- | --- | --- | --- | --- |"
local failed = 0
for _, row in ipairs(rows) do
  if os.time() >= last_second then
    print(("| %s | left out, as time is over | | | | |"):format(row[2]))
  elseif is_wanted(row[1]) or row[1] == "copy" then
    local ms, sum = measure(row)
    if ms then
      local cells = row[6] == "active" and shell_cells(tonumber(row[3]:match "%d+$")) or row[6]
      local rate = cells / ms / 1e6
      local bytes = row[7] and rate * row[7]
      if row[1] == "copy" then copy = math.max(copy, bytes) end
      if is_small then rate, bytes = 0, nil end -- they are of the large sizes
      print(("| %s | %.4g | %.3g | %s | %s | %s |"):format(row[2], ms, rate,
        bytes and ("%.0f"):format(bytes) or "", bytes and copy > 0
        and ("%.0f %%"):format(100 * bytes / copy) or "", beside(row, ms, sum)))
    else
      failed = failed + 1
      print(("| %s | %s | | | | |"):format(row[2], sum))
    end
    io.flush()
  end
end

if is_wanted "launch" and os.time() < last_second then
  print "\n| launch | us |\n| --- | --- |"
  local is_there, bare = pcall(bare_launch)
  print(("| cuLaunchKernel alone | %s |"):format(is_there and ("%.2f"):format(bare) or bare))
  for _, phase in ipairs { "store", "one", "sixteen", "small", "wide" } do
    local us, said = measure { [3] = "launch " .. phase, [4] = "launch " .. phase, [5] = 1 }
    if not us then failed = failed + 1 end
    print(("| ours, %s | %s |"):format(phase, us and ("%.2f"):format(us) or said))
  end
end
os.exit(failed == 0 and 0 or 1)
