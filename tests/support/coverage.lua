-- coverage.lua - counts the executed lines of lua/regolith in lcov's format. LUA_INIT loads it if
-- RG_COVERAGE names the prefix of the output, PREFIX.PID.info. It turns the JIT compiler off,
-- because hooks do not fire in compiled traces.
local prefix = os.getenv "RG_COVERAGE"
if not prefix or not jit then return end
jit.off()

local counts = {} -- file -> line -> hits
local function is_ours(source)
  return source:sub(1, 1) == "@" and source:find("lua/regolith/", 1, true)
end

local getinfo, sethook = debug.getinfo, debug.sethook -- a test may remove `debug`

-- Function -> the counts of its file, or false for other functions. Cached, because reading a
-- function's source creates strings.
local counts_of = setmetatable({}, { __mode = "k" })

local function find_counts(fn)
  local source = getinfo(fn, "S").source
  if not is_ours(source) then return false end
  local file = source:sub(2)
  counts[file] = counts[file] or {}
  return counts[file]
end

local function hook(_, line)
  local fn = getinfo(2, "f").func
  local lines = counts_of[fn]
  if lines == nil then
    lines = find_counts(fn)
    counts_of[fn] = lines
  end
  if lines then lines[line] = (lines[line] or 0) + 1 end
end
sethook(hook, "l")

-- A test that sets its own line hook must restore ours when it is done.
function debug.sethook(...)
  if select("#", ...) == 0 then return sethook(hook, "l") end
  return sethook(...)
end

-- All lines with code, from the bytecode's line table.
local jit_util = require "jit.util"

local function code_lines(file)
  local lines, chunk = {}, loadfile(file)
  local function add(proto)
    for pc = 1, 1e6 do
      local info = jit_util.funcinfo(proto, pc)
      if not info.currentline then break end
      if info.currentline > 0 then lines[info.currentline] = true end
      if pc >= (info.bytecodes or 0) - 1 then break end
    end
    for n = -1, -1e5, -1 do
      local child = jit_util.funck(proto, n)
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

local function write_once()
  local last = write
  write = nil
  if last and next(counts) then last() end
end

-- A process ends by os.exit or by closing its state; busted does the latter if every test passed.
local exit = os.exit
function os.exit(...)
  write_once()
  return exit(...)
end
local at_close = newproxy(true)
getmetatable(at_close).__gc = write_once
debug.getregistry()[at_close] = true
