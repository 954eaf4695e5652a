-- figures.lua - what kernels cost on a GPU, as figures that need none: counts of a step of the
-- bench's programs, by the driver that executes PTX, and what the assembler makes of their kernels,
-- where there is one. Numbers that stay the same are constants, as in a simulation that has run for
-- a while; of rows named so, the general code that reads them, with which a simulation begins, and
-- goes on where its numbers change. Holds figures.txt against them; `--bless` renews it.
-- usage: luajit tests/cuda/figures.lua [--bless] [NAME ..], with RG_LIBRARY and LUA_PATH as in
-- tests/run
local here = arg[0]:match "^(.*)/" or "."
local sass = dofile(here .. "/sass.lua")
local golden_path = here .. "/figures.txt"

-- A name; the program of tests/bench/ours and its words; the cells of a step; is it general?
local rows = {
  { "triad", "stream triad 65536", 65536 },
  { "sum", "stream sum 65536", 65536 },
  { "7-point, dense", "stencil 3 32", 32 ^ 3 },
  { "W3 7-point, sparse", "lap7 24", "active" },
  { "W4 new leaves", "activate touch dense 16 16384", 16384 },
  { "W4 new leaves, bits", "activate touch bitmasked 16 16384", 16384 },
  { "W4 new leaves, hash", "activate touch hash 16 16384", 16384 },
  { "W4 revisit", "activate revisit dense 16 16384", 16384 },
  { "W4 revisit, bits", "activate revisit bitmasked 16 16384", 16384 },
  { "W5 drop, collect, touch", "activate cycle dense 16 16384", 16384 },
  { "W5 drop, collect, touch, hash", "activate cycle hash 16 16384", 16384 },
  { "W6 append", "lists append 4096 65536", 65536 },
  { "W8 MLS-MPM, dense", "mpm2d 8192 64", 8192 },
  { "W8 MLS-MPM, sparse", "mpm2d 8192 64 8", 8192 },
  { "D3Q19", "lbm3d 16", 16 ^ 3 },
  { "W14 c histogram", "histogram 256 65536", 65536 },
  { "7-point, dense, general", "stencil 3 32", 32 ^ 3, true },
  { "W4 revisit, general", "activate revisit dense 16 16384", 16384, true },
  { "W4 new leaves, hash, general", "activate touch hash 16 16384", 16384, true },
  { "D3Q19, general", "lbm3d 16", 16 ^ 3, true },
}
local targets = { "sm_80", "sm_90" }

-- In the order of ptxCounts (tests/cuda/driver/exec.h): per step, or per cell. Slots are threads of
-- the warps that run an instruction, so slots / instructions says how far warps diverge.
local counted = {
  { "launches", "step" }, { "slots", "cell", 32 }, { "instructions", "cell" }, { "read", "cell" },
  { "written", "cell" }, { "moved", "cell", 32 }, { "copies", "step" }, { "copied", "step" },
}
-- How far a figure may be from the golden one, as a share of it; where none is named, not at all.
-- Registers are handed out by eights.
local tolerance = { slots = 0.02, instructions = 0.02, read = 0.02, written = 0.02, moved = 0.02,
  copied = 0.02, code = 0.05 }

-- -- one program, in a process of its own --------------------------------------------------------

-- Counts of a call of `work`, once all is done.
local function count(rg, work)
  local ffi = require "ffi"
  ffi.cdef "void ptxCounts(uint64_t counts[8])"
  local driver, counts = ffi.load(os.getenv "RG_CUDA_DRIVER"), ffi.new "uint64_t[8]"
  rg.sync()
  driver.ptxCounts(counts)
  work()
  rg.sync()
  driver.ptxCounts(counts)
  return counts
end

-- Runs the program with a `bench` and an `rg.kernel` of ours, which see what its second step does.
local function measure(program, cells, name)
  local rg = require "regolith"
  local make, made, used, first_field = rg.kernel, {}, {}, nil
  function rg.kernel(...)
    made[#made + 1] = make(...)
    return made[#made]
  end
  local function watch(kernel)
    local meta = getmetatable(kernel)
    local call = meta.__call
    function meta.__call(...)
      if not used[kernel] then used[#used + 1] = kernel end
      used[kernel] = true
      return call(...)
    end
  end
  local field = rg.field
  function rg.field(...)
    local one = field(...)
    first_field = first_field or one
    return one
  end
  local bench = setmetatable({}, { __index = dofile(here .. "/../bench/ours/bench.lua") })
  package.loaded.bench = bench
  function bench.run(hot)
    for _ = 1, 2 do
      if hot.start then hot.start() end
      hot.step()
    end
    if hot.start then hot.start() end
    for _, kernel in ipairs(made) do watch(kernel) end
    local counts = count(rg, hot.step)
    local per = { step = 1, cell = cells == "active" and tonumber(first_field:count()) or cells }
    local figures = {}
    for k, one in ipairs(counted) do
      figures[k] = ("%s %.4g"):format(one[1], tonumber(counts[k - 1]) * (one[3] or 1) / per[one[2]])
    end
    print(("%s: %s"):format(name, table.concat(figures, ", ")))
    for _, target in ipairs(sass.version and targets or {}) do
      for _, kernel in ipairs(used) do
        for _, entry in ipairs(assert(sass.assemble(kernel:ptx(target), target))) do
          print(("%s / %s, %s, %s: registers %d, code %d, spilled %d, stack %d"):format(name,
            tostring(kernel):match "kernel (%S+)", (entry.name:gsub("rg_task_", "task ")), target,
            entry.registers, entry.instructions, entry.spilled, entry.stack))
        end
      end
    end
  end
  dofile(here .. "/../bench/ours/" .. program .. ".lua")
end

if arg[1] == "--one" then
  local row, words = rows[tonumber(arg[2])], {}
  for word in row[2]:gmatch "%S+" do words[#words + 1] = word end
  for k = 1, math.max(#arg, #words) do rawset(arg, k, words[k + 1]) end
  return measure(words[1], row[3], row[1])
end

-- -- all, held against the file ------------------------------------------------------------------

local blesses, wanted = false, {}
for _, word in ipairs(arg) do
  if word == "--bless" then blesses = true else wanted[#wanted + 1] = word end
end

local function is_wanted(name)
  for _, word in ipairs(wanted) do
    if name:find(word, 1, true) then return true end
  end
  return #wanted == 0
end

-- Lines of a row as { key, text }, in their order; nil where the program failed.
local function lines_of(k)
  local driver = os.getenv "RG_LIBRARY":match "^(.*/)" .. "tests/cuda/libcuda.so.1"
  local pipe = io.popen(("RG_ARCH=cuda RG_ASYNC=on RG_CUDA_DRIVER='%s' PTX_COUNT=2 RG_VERIFY=0 "
    .. "RG_SPECIALISE=%s "
    .. "'%s' '%s' --one %d 2>&1; echo status $?"):format(driver, rows[k][4] and "off" or "always",
    arg[-1], arg[0], k))
  local lines, said = {}, {}
  for line in pipe:lines() do
    said[#said + 1] = line
    local key = line:match("^(" .. rows[k][1]:gsub("%p", "%%%0") .. "[^:]*): ")
    if key then lines[#lines + 1] = { key, line:sub(#key + 3) } end
  end
  pipe:close()
  if said[#said] ~= "status 0" then
    print(("not ok: %s: %s"):format(rows[k][1], table.concat(said, "\n")))
    return nil
  end
  return lines
end

local function is_near(figure, value, golden)
  if figure == "registers" then return math.ceil(value / 8) == math.ceil(golden / 8) end
  return math.abs(value - golden) <= (tolerance[figure] or 0) * math.abs(golden)
end

-- What differs by more than it may, in words; nil where nothing does.
local function difference(text, golden)
  local before, differing = {}, {}
  for figure, value in golden:gmatch "(%a+) ([%d.e+-]+)" do before[figure] = tonumber(value) end
  for figure, value in text:gmatch "(%a+) ([%d.e+-]+)" do
    local was = before[figure]
    if not was or not is_near(figure, tonumber(value), was) then
      differing[#differing + 1] = ("%s %s, was %s"):format(figure, value, was or "nothing")
    end
  end
  return differing[1] and table.concat(differing, "; ")
end

-- -- the file ------------------------------------------------------------------------------------

-- golden[key]; and under each row's name its keys, in their order. Before the rows comes `head`.
local golden, keys_of, assembler, head = {}, {}, "none", ""
for line in io.lines(golden_path) do
  local key, text = line:match "^([^#:]+): (.*)"
  if key == "assembler" then
    assembler = text
  elseif key then
    local name = key:match "^(.-) / " or key
    golden[key], keys_of[name] = text, keys_of[name] or {}
    table.insert(keys_of[name], key)
  else
    head = head .. line .. "\n"
  end
end

-- What was measured, in place of what was there; code is kept where there is no assembler.
local function renew(name, lines)
  local keys = {}
  for _, line in ipairs(lines) do
    keys[#keys + 1], golden[line[1]] = line[1], line[2]
  end
  for _, key in ipairs(sass.version and {} or keys_of[name] or {}) do
    if key ~= name then keys[#keys + 1] = key end
  end
  keys_of[name] = keys
end

local function write_golden()
  local file = assert(io.open(golden_path, "w"))
  file:write(head, "assembler: ", sass.version or assembler, "\n")
  for _, row in ipairs(rows) do
    for _, key in ipairs(keys_of[row[1]] or {}) do file:write(key, ": ", golden[key], "\n") end
  end
  file:close()
end

-- -- all rows ------------------------------------------------------------------------------------

-- What is wrong with a line, in words; nil if nothing is.
local function fault(key, text)
  local is_code = text:find "registers" ~= nil
  if is_code and not text:find "spilled 0" then return "spills registers" end
  if is_code and sass.version ~= assembler and not blesses then return nil end
  if not golden[key] then return "is new" end
  return difference(text, golden[key])
end

if not sass.version then
  print "skipped: no ptxas here: nothing is said about registers and code"
elseif sass.version ~= assembler and not blesses then
  print(("skipped: registers and code are of ptxas %s, this is %s"):format(assembler, sass.version))
end
local passed, failed = 0, 0
for k, row in ipairs(rows) do
  local lines = is_wanted(row[1]) and lines_of(k)
  if lines == nil then failed = failed + 1 end
  for _, line in ipairs(lines or {}) do
    local wrong = fault(line[1], line[2])
    if wrong then print(("%s: %s: %s"):format(blesses and "now" or "not ok", line[1], wrong)) end
    if wrong and not blesses then failed = failed + 1 else passed = passed + 1 end
  end
  if lines and blesses then renew(row[1], lines) end
end
if blesses then write_golden() end
if failed > 0 and not blesses then print "if that is meant: tests/run --bless cuda" end
print(("%d passed, %d failed"):format(passed, failed))
os.exit(failed == 0 and 0 or 1)
