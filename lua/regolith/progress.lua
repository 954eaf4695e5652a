--- `for i in rg.progress(1000, "steps") do`, `for row in rg.progress(rows, "rows") do`: shows the
--- progress, the rate and the remaining time in one line on a terminal, or as occasional lines
--- elsewhere.
local ffi = require "ffi"
local lib = require "regolith.lib"
local fail = require "regolith.error"
local log = require "regolith.log"
local json = require "regolith.file.json"

local progress = {}

local io, os = io, os
local redraw_s, quiet_s, width = 0.1, 10, 24

if not pcall(function() return ffi.C.isatty end) then ffi.cdef "int isatty(int file);" end

local function is_terminal()
  local ok, answer = pcall(function() return ffi.C.isatty(2) end)
  return ok and answer == 1 and not log.is_json()
end

local function duration(s)
  if s ~= s or s == math.huge then return "?" end
  if s < 60 then return ("%.0f s"):format(s) end
  if s < 3600 then return ("%d:%02d min"):format(s / 60, s % 60) end
  return ("%d:%02d h"):format(s / 3600, s / 60 % 60)
end

local function rate_of(done, s)
  local rate = s > 0 and done / s or 0
  if rate >= 1000 then return ("%.3gk/s"):format(rate / 1000) end
  return ("%.3g/s"):format(rate)
end

local function bar(part)
  local full = math.floor(part * width + 0.5)
  local is_utf8 = (os.getenv "LC_ALL" or os.getenv "LC_CTYPE" or os.getenv "LANG" or ""):lower()
    :find "utf%-?8"
  if is_utf8 then return ("█"):rep(full) .. ("░"):rep(width - full) end
  return "[" .. ("#"):rep(full) .. ("."):rep(width - full) .. "]"
end

--- Formats the progress; `total` may be nil.
function progress.line(label, done, total, s, without_bar)
  local parts = { label ~= "" and label or nil }
  if total then
    parts[#parts + 1] = ("%3d%%"):format(total > 0 and done / total * 100 or 100)
    if not without_bar then parts[#parts + 1] = bar(total > 0 and done / total or 1) end
    parts[#parts + 1] = ("%d/%d"):format(done, total)
  else
    parts[#parts + 1] = ("%d"):format(done)
  end
  parts[#parts + 1] = rate_of(done, s)
  parts[#parts + 1] = duration(s)
  if total and done > 0 and done < total then
    parts[#parts + 1] = duration((total - done) * s / done) .. " left"
  end
  return table.concat(parts, "  ")
end

local function show(self, is_last)
  local now = lib.C.rg_time()
  local s = now - self.begun
  if self.terminal then
    if not is_last and now - self.shown < redraw_s then return end
    io.stderr:write("\r", progress.line(self.label, self.done, self.total, s), "\27[K",
      is_last and "\n" or "")
    io.stderr:flush()
  else
    if not is_last and now - self.shown < quiet_s then return end
    if log.is_json() then
      io.stderr:write(json.encode { progress = self.label, done = self.done, total = self.total,
        seconds = s, is_last = is_last }, "\n")
    else
      log.info(progress.line(self.label, self.done, self.total, s, true))
    end
  end
  self.shown = now
end

-- Returns the iterator over the argument and the number of its iterations, if known.
local function source_of(what)
  if type(what) == "number" and what % 1 == 0 and what >= 0 then
    local k = 0
    return function()
      k = k + 1
      if k <= what then return k end
    end, what
  end
  if type(what) == "table" and not getmetatable(what) then
    local k = 0
    return function()
      k = k + 1
      if what[k] ~= nil then return what[k] end
    end, #what
  end
  if type(what) == "function" then return what end
  return fail.argument("rg.progress takes a whole number, a list or an iterator, not "
    .. fail.describe(what), "for i in rg.progress(100, \"steps\") do")
end

--- Shows the progress of `total` steps (nil: an unknown number); see progress.advance.
function progress.begin(total, label)
  local now = lib.C.rg_time()
  local self = { label = label or "", done = -1, total = total, begun = now,
    shown = now - redraw_s, terminal = is_terminal() }
  if not self.terminal then self.shown = now end
  return self
end

--- Called when a step begins, or the last one has ended. A label replaces the one that is shown.
function progress.advance(self, is_last, label)
  self.done, self.label = self.done + 1, label or self.label
  show(self, is_last)
end

--- Iterates over the numbers from 1 to n, the elements of a list, or what an iterator returns.
function progress.create(what, label)
  if label ~= nil and type(label) ~= "string" then
    return fail.argument("a label of rg.progress must be a string, got " .. fail.describe(label))
  end
  local step, total = source_of(what)
  local self = progress.begin(total, label)
  local function pass(...)
    progress.advance(self, (...) == nil)
    if (...) ~= nil then return ... end
  end
  return function(_, ...) return pass(step(_, ...)) end
end

return progress
