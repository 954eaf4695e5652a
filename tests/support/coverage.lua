-- coverage.lua - counts the lines of lua/regolith that run, into lcov's format. Loaded by LUA_INIT when
-- RG_COVERAGE names where the counts go: PREFIX.PID.info. Hooks do not fire in compiled traces, so they are off.
local prefix = os.getenv "RG_COVERAGE"
if not prefix or not jit then return end
jit.off()

local counts = {} -- file -> line -> hits
local function is_ours(source) return source:sub(1, 1) == "@" and source:find("lua/regolith/", 1, true) end

local getinfo, sethook = debug.getinfo, debug.sethook -- a test may take `debug` away

local function hook(_, line)
  local info = getinfo(2, "S")
  if not is_ours(info.source) then return end
  local file = info.source:sub(2)
  local lines = counts[file]
  if not lines then
    lines = {}
    counts[file] = lines
  end
  lines[line] = (lines[line] or 0) + 1
end
sethook(hook, "l")

-- Every line that holds code: the bytecode's own line table.
local function code_lines(file)
  local lines, chunk = {}, loadfile(file)
  local function add(proto)
    for pc = 1, 1e6 do
      local info = require "jit.util".funcinfo(proto, pc)
      if not info.currentline then break end
      if info.currentline > 0 then lines[info.currentline] = true end
      if pc >= (info.bytecodes or 0) - 1 then break end
    end
    for n = -1, -1e5, -1 do
      local child = require "jit.util".funck(proto, n)
      if child == nil then break end
      if type(child) == "proto" then add(child) end
    end
  end
  if chunk then add(chunk) end
  return lines
end

local function write()
  sethook()
  local stamp = tostring({}):match "0x(%x+)"
  local out = io.open(("%s.%s%s.info"):format(prefix, os.time(), stamp), "w")
  if not out then return end
  local pwd = os.getenv "PWD" or "."
  for file, hits in pairs(counts) do
    local path = file:sub(1, 1) == "/" and file or pwd .. "/" .. file:gsub("^%./", "")
    out:write("TN:\nSF:", path, "\n")
    local all = code_lines(file)
    for line in pairs(hits) do all[line] = true end
    local numbers = {}
    for line in pairs(all) do numbers[#numbers + 1] = line end
    table.sort(numbers)
    for _, line in ipairs(numbers) do out:write(("DA:%d,%d\n"):format(line, hits[line] or 0)) end
    out:write "end_of_record\n"
  end
  out:close()
end

local exit = os.exit
function os.exit(...)
  if write then write() end
  write = nil
  return exit(...)
end
