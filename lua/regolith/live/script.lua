--- The script of a live simulation, and the modules that it has loaded: notices that one of their
--- files was saved, and runs it again while the simulation goes on.
---
--- A script is run again from its first line, as a coroutine, up to the same call of rg.live, which
--- yields its options instead of starting; then it is dropped. Its fields and trees are replaced by
--- those of the running simulation that have the same names and declarations (reload.lua).
local fail = require "regolith.error"
local reload = require "regolith.reload"
local disk = require "regolith.file.disk"

local script = {}

local Script = {}
Script.__index = Script

local looked_s = 0.25 -- between two checks of the files

-- While a script runs again: the number of the call of rg.live that is awaited, the calls so far,
-- and the coroutine.
local rerun

-- The chunk that calls rg.live, and its file, or nil for a text.
local function caller()
  local _, _, info = fail.caller()
  local chunk = info and info.source or ""
  return chunk, chunk:match "^@(.*)$"
end

--- The text of an error that a script has raised.
function script.text_of(problem)
  return require("regolith.console.describe").problem(fail.caught(problem), 80)
end

--- Whether a script is being run again; rg.init, which works only once, then does nothing.
function script.is_rerun() return rerun ~= nil end

--- In a script that is run again, hands the options of the `number`th call of rg.live over.
function script.hand_over(options)
  rerun.calls = rerun.calls + 1
  if rerun.calls == rerun.number then coroutine.yield(options) end
end

--- The script that calls rg.live now, for the `number`th time, with these options.
function script.create(options, number)
  local chunk, path = caller()
  local text = path and disk.read(path)
  return setmetatable({ chunk = chunk, path = text and path, text = text, options = options,
    number = number, looked = 0, looked_modules = 0, texts = {} }, Script)
end

-- A copy of the globals, so that a script that fails leaves none of its own.
local function copy_globals()
  local copy = {}
  for name, v in pairs(_G) do copy[name] = v end
  return copy
end

local function restore_globals(copy)
  for name in pairs(_G) do
    if copy[name] == nil then rawset(_G, name, nil) end
  end
  for name, v in pairs(copy) do rawset(_G, name, v) end
end

-- Returns the options that the script now gives to rg.live, or nil and a message.
local function run_again(self)
  local chunk, problem = loadfile(self.path)
  if not chunk then return nil, problem end
  local thread = coroutine.create(chunk)
  rerun = { thread = thread, number = self.number, calls = 0 }
  local ok, options = coroutine.resume(thread, unpack(arg or {}))
  rerun = nil
  if not ok then return nil, script.text_of(options) end
  if coroutine.status(thread) == "dead" then return nil, self.path .. " does not call rg.live" end
  return options
end

--- Whether the text of the file has changed since the last check.
function Script:has_changed(now)
  if not self.path or now - self.looked < looked_s then return false end
  self.looked = now
  local text = disk.read(self.path)
  -- an editor may empty a file before it writes
  if not text or text == "" or text == self.text then return false end
  self.text = text
  return true
end

--- Runs the script again; `prepare(options)` is called with what it gives to rg.live, before its
--- kernels are compiled. Returns the options and the report of reload.adopt, or nil and a message.
function Script:reload(prepare)
  local globals = copy_globals()
  local options, report = run_again(self)
  if options then
    local ok, found = pcall(function()
      prepare(options)
      return reload.adopt(options, self.chunk, self.options)
    end)
    if ok then return options, found end
    options, report = nil, script.text_of(found)
  end
  restore_globals(globals)
  return options, report
end

--- From now on, these options are the simulation's.
function Script:accept(options) self.options = options end

--- The fields, arrays and trees that the simulation refers to, by name.
function Script:data() return reload.data_of(self.options, self.chunk) end

-- -- modules --------------------------------------------------------------------------------------

-- The file of a module that is not ours, or nil.
local function path_of(name, module)
  if type(name) ~= "string" or type(module) ~= "table" or (name .. "."):find "^regolith%." then
    return nil
  end
  return package.searchpath(name, package.path)
end

--- Reloads the modules whose files have changed since the last call. Returns a list of reports,
--- { module =, problem = } for those that stay as they were.
function Script:reload_modules(now)
  if now - self.looked_modules < 2 * looked_s then return {} end
  self.looked_modules = now
  local changed, reports = {}, {}
  for name, module in pairs(package.loaded) do
    local path = path_of(name, module)
    local text = path and disk.read(path)
    if text and text ~= "" then
      if self.texts[name] and self.texts[name] ~= text then changed[#changed + 1] = name end
      self.texts[name] = text
    end
  end
  for k, name in ipairs(changed) do
    local ok, report = pcall(reload.reload, name)
    reports[k] = ok and report or { module = name, problem = script.text_of(report) }
  end
  return reports
end

return script
