--- `rg.log`: writes lines to standard error by level, for scripts and for the module's own
--- messages. With `regolith --json` (RG_JSON=1) each line is a JSON object.
local fail = require "regolith.error"
local json = require "regolith.file.json"
local sink = require "regolith.sink"

local log = {}

local io, os = io, os
local levels = { debug = 1, info = 2, warn = 3, error = 4, off = 5 }
local names = { "debug", "info", "warn", "error", "off" }
local state = { level = "info" }

local function check_level(name)
  if levels[name] then return name end
  return fail.argument(("there is no level %s of rg.log"):format(fail.describe(name)),
    fail.nearest(name, names) or "debug, info, warn, error or off", "option.invalid")
end

--- Whether lines are read by a program.
function log.is_json() return (os.getenv "RG_JSON" or "") ~= "" end

local function put(level, text)
  local to = sink.get()
  if to then return to(level, text) end
  if log.is_json() then
    io.stderr:write(json.encode { level = level, text = text, time = os.time() }, "\n")
  else
    io.stderr:write(level == "info" and "" or level .. ": ", text, "\n")
  end
end

for _, level in ipairs { "debug", "info", "warn", "error" } do
  --- `rg.log.info("step %d", n)`: takes a format and values as string.format does, or one value.
  log[level] = function(format, ...)
    if levels[level] < levels[state.level] then return end
    local text = tostring(format)
    if select("#", ...) > 0 then text = text:format(...) end
    put(level, text)
  end
end

--- Drops lines below this level; returns the previous level.
function log.level(name)
  local before = state.level
  if name ~= nil then state.level = check_level(name) end
  return before
end

--- Reports a warning of the module itself: to the user's function, or unformatted to standard
--- error.
function sink.warn(text)
  if sink.get() then return log.warn("%s", text) end
  io.stderr:write(text, "\n")
end

--- Sends lines to f(level, text) from now on; nil: to standard error.
function log.to(f)
  if f ~= nil and type(f) ~= "function" then
    return fail.argument("rg.log.to takes a function or nil, not " .. fail.describe(f))
  end
  sink.set(f)
end

local given = os and os.getenv and os.getenv "RG_LOG"
if given and levels[given] then state.level = given end

return log
