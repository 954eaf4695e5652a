-- bench.lua - our programs of tests/bench/ours on a GPU, one table: time, cells and bytes per
-- second, and what share of the rate of a copy, measured in the same run, those bytes are.
-- usage: luajit tests/gpu/bench.lua [NAME ..], with RG_ARCH and the paths of tests/run --gpu
local here = arg[0]:match "^(.*)/" or "."
local luajit = arg[-1] or "luajit"

-- cells: what one step counts, in units; bytes: read and written per cell if nothing is read twice
local rows = {
  { "copy", "W1 copy, 256 Mi f32", "stream copy 268435456", 20, 268435456, 8 },
  { "scale", "W1 scale", "stream scale 268435456", 20, 268435456, 8 },
  { "triad", "W1 triad", "stream triad 268435456", 20, 268435456, 12 },
  { "sum", "W1 sum", "stream sum 268435456", 20, 268435456, 4 },
  { "square", "W2 5-point, 16384^2", "stencil 2 16384", 20, 16384 ^ 2, 8 },
  { "cube", "W2 7-point, 640^3", "stencil 3 640", 20, 640 ^ 3, 8 },
  { "lap7", "W3 7-point, sparse 2048^3", "lap7 256", 20, "active", 8 },
  { "touch", "W4 touches, new leaves", "activate touch dense 128 16777216", 1, 16777216 },
  { "revisit", "W4 revisit", "activate revisit dense 128 16777216", 4, 16777216 },
  { "revisit-mask", "W4 revisit, bits", "activate revisit bitmasked 128 16777216", 4, 16777216 },
  { "cycle", "W5 drop, collect, touch", "activate cycle dense 128 16777216", 2, 16777216 },
  { "append", "W6 append to 65,536 lists", "lists append 65536 16777216", 1, 16777216 },
  { "mpm", "W8 MLS-MPM, 1 Mi, dense", "mpm2d 1048576 1024", 50, 1048576 },
  { "mpm-sparse", "W8 MLS-MPM, 1 Mi, sparse", "mpm2d 1048576 1024 8", 50, 1048576 },
  { "mpm3d", "W9 3-D MLS-MPM, 2 Mi, sparse", "mpm3d 2097152 256", 10, 2097152 },
  { "d3q19", "D3Q19, 256^3", "lbm3d 256", 20, 256 ^ 3, 152 },
  { "life", "W14 life on sparse blocks", "life 1024", 16, 16384 ^ 2 },
}

-- Milliseconds per step, the least of five windows, and the program's own count of active cells.
local function measure(row)
  local words = {}
  for word in row[3]:gmatch "%S+" do words[#words + 1] = word end
  local program = table.remove(words, 1)
  local command = ("printf '%schecksum\\n' | STEPS=%d LUA_PATH='%s' '%s' '%s/../bench/ours/%s.lua' "
    .. "%s 2>&1"):format(("go 1\\n"):rep(5), row[4],
    here .. "/../bench/ours/?.lua;" .. (os.getenv "LUA_PATH" or ";"), luajit, here, program,
    table.concat(words, " "))
  local pipe, least, figures, said = io.popen(command), math.huge, 0, ""
  for line in pipe:lines() do
    local value = tonumber(line:match "^bench: ([%d.e+-]+)$")
    if value then
      figures = figures + 1
      if figures <= 5 then least = math.min(least, value) end
    elseif line ~= "bench: ready" then
      said = line
    end
  end
  pipe:close()
  return figures == 6 and least or nil, said
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

local wanted = {}
for _, name in ipairs(arg) do wanted[name] = true end
local copy
print "| workload | ms a step | G cells/s | GB/s | of copy |"
print "| --- | --- | --- | --- | --- |"
local failed = 0
for _, row in ipairs(rows) do
  if not next(wanted) or wanted[row[1]] or row[1] == "copy" then
    local ms, said = measure(row)
    if ms then
      local cells = row[5] == "active" and shell_cells(tonumber(row[3]:match "%d+$")) or row[5]
      local rate = cells / ms / 1e6
      local bytes = row[6] and rate * row[6]
      if row[1] == "copy" then copy = bytes end
      print(("| %s | %.4g | %.3g | %s | %s |"):format(row[2], ms, rate,
        bytes and ("%.0f"):format(bytes) or "", bytes and copy
        and ("%.0f %%"):format(100 * bytes / copy) or ""))
    else
      failed = failed + 1
      print(("| %s | %s | | | |"):format(row[2], said))
    end
    io.flush()
  end
end
os.exit(failed == 0 and 0 or 1)
