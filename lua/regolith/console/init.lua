--- The console's engine: it takes text, runs it, and prints values as text. It knows nothing of
--- terminals, so a game's own console can drive it:
---
---     local console = require("regolith.console").new { write = function(text) .. end }
---     console:feed "x = rg.field(rg.f32, 4)"      --> "complete"
---     console:feed "for i = 0, 3 do"              --> "more"
---     console:complete("x:fi")                    --> { { text = "fill", kind = "method" } }, 3
---     console.commands.hello = { help = "Greets.", run = function(console, argument) .. end }
local input = require "regolith.console.input"
local scope = require "regolith.console.scope"
local scan = require "regolith.console.scan"
local names = require "regolith.console.names"
local describe = require "regolith.console.describe"
local complete = require "regolith.console.complete"
local help = require "regolith.console.help"
local colon = require "regolith.console.colon"
local meter = require "regolith.console.meter"
local handle = require "regolith.console.handle"
local fail = require "regolith.error"

local io, setfenv = io, setfenv -- a sandbox may remove them later

local console = {}

local Console = {}
Console.__index = Console

local options = { "globals", "rg", "write", "write_error", "call", "paint", "width", "height",
  "name", "slow", "list_folder", "leave", "colours", "graphics", "redraw" }

local function plain(_, text) return text end

local function plain_call(f, ...)
  local arguments, count = { ... }, select("#", ...)
  return xpcall(function() return f(unpack(arguments, 1, count)) end, function(problem)
    return problem
  end)
end

--- Creates a console.
---@param given table?
---  globals       where names that are not the console's locals are looked up (_G)
---  rg            the module (require "regolith"); set as the global `rg` unless there is one
---  write(text)   values and answers (io.write); write_error(text): errors (write)
---  call(f, ..)   as pcall: runs the code that was typed
---  paint(kind, text)   colours: kinds number string boolean nil function key handle dim error bar
---  width height  columns of text (80), and rows of grids and pictures (12)
---  slow          inputs that take more seconds report their time; nil: never
---  colours       of pictures: 2^24, 256 or none; graphics(): "kitty", "sixel" or nil
---  list_folder(path)   { name, is_folder } each, to complete files
---  redraw(text)  draws a watched field again over its last picture; nil: never
---  leave()       called by :quit
function console.new(given)
  given = given or {}
  fail.check_options(given, options, "console.new")
  local self = setmetatable({ number = 0, commands = {}, watched = {} }, Console)
  for name, value in pairs(given) do self[name] = value end
  self.globals = given.globals or _G
  self.rg = given.rg or require "regolith"
  if rawget(self.globals, "rg") == nil then rawset(self.globals, "rg", self.rg) end
  self.write = given.write or function(text) io.write(text) end
  self.write_error = given.write_error or self.write
  self.call, self.paint = given.call or plain_call, given.paint or plain
  self.width, self.height = given.width or 80, given.height or 12
  self.name = given.name or "prompt"
  self.list_folder = given.list_folder or function() return {} end
  self.scope = scope.create(self.globals)
  for name, command in pairs(colon.commands) do self.commands[name] = command end
  return self
end

-- -- output ---------------------------------------------------------------------------------------

--- Formats a value as the console prints it.
---@param more table?   options of describe.value
function Console:describe(value, more)
  local o = { width = self.width, height = self.height, paint = self.paint }
  for name, option in pairs(more or {}) do o[name] = option end
  return describe.value(value, o)
end

--- Writes an error: a text or an error object.
function Console:complain(problem, hint)
  local said = describe.problem(problem, self.width)
    :gsub("\n\t%[C%]: at [^\n]*$", "") -- the program's own frame
    :gsub("\nstack traceback:$", "")
  self.write_error(self.paint("error", said) .. "\n" .. (hint and "hint: " .. hint .. "\n" or ""))
  return "error"
end

--- Returns what is known about a name as text, or nil and a reason.
function Console:help(name) return help.about(self, name) end

--- Completes at a position of a text; see complete.lua.
function Console:complete(text, position) return complete.at(self, text, position) end

-- -- running --------------------------------------------------------------------------------------

-- Methods of kernels that return a text to read.
local texts = { explain = true, source = true, ir = true, llvm = true, asm = true, ptx = true }

-- Formats the values of an expression, several on one line if each fits on one.
local function show(self, values, count, is_brief)
  local parts, is_long = {}, false
  for k = 1, count do
    parts[k] = self:describe(values[k], { is_brief = is_brief or nil })
    is_long = is_long or parts[k]:find("\n", 1, true) ~= nil
  end
  self.write(table.concat(parts, is_long and "\n" or "\t") .. "\n")
end

local function is_silenced(text)
  local tokens = scan.tokens(text)
  local k = #tokens
  while k > 0 and tokens[k].kind == "comment" do k = k - 1 end
  return k > 0 and tokens[k].text == ";"
end

local silent = { field = true, array = true, view = true, node = true, tree = true }

-- Stores the results as `_`, `_1`, .., and prints them, except what a setter returns.
local function take_results(self, text, values, count)
  if count == 0 then return end
  self.scope:declare("_", values[1])
  for k = 1, math.max(count, self.kept or 0) do self.scope:declare("_" .. k, values[k]) end
  self.kept = count
  if is_silenced(text) then return end
  local last = scan.last_method(text)
  if texts[last] and count == 1 and type(values[1]) == "string" and values[1]:find "\n" then
    self.write((values[1]:gsub("%s+$", "")) .. "\n")
    return
  end
  local method = handle.kind(values[1]) and last
  if method and silent[handle.kind(values[1])] and names.returns_self(method) then return end
  show(self, values, count, method ~= nil and count == 1 and silent[handle.kind(values[1])])
end

local function pack(...) return { n = select("#", ...), ... } end

-- Everything that waits for kernels runs inside `call`, where Ctrl-C can stop it.
local function measured(self, before, f, ...)
  local results = pack(f(...))
  meter.sync()
  self.last = meter.since(before)
  return unpack(results, 1, results.n)
end

-- Calls f and measures its time; returns true and its results, or false.
local function run(self, f, ...)
  local before = meter.read()
  self.last = nil
  self:watch_begins()
  local results = pack(self.call(measured, self, before, f, ...))
  if not results[1] then self.call(meter.forget) end
  self.last = self.last or meter.since(before)
  self:watch_ends()
  if not results[1] then self:complain(results[2]) end
  return results
end

local function report_time(self)
  local last = self.last
  if not self.slow or not last or last.seconds < self.slow then return end
  self.write(self.paint("dim", meter.text(last)) .. "\n")
end

local function run_chunk(self, found, text)
  setfenv(found.chunk, self.scope.environment)
  local results = run(self, found.chunk)
  if results[1] then
    if found.has_locals and type(results[2]) == "table" then
      self.scope:adopt(results[2])
    elseif not found.has_locals then
      local values, count = {}, results.n - 1 - found.skip
      for k = 1, count do values[k] = results[k + 1 + found.skip] end
      local shown = pack(self.call(take_results, self, text, values, count))
      if not shown[1] then self:complain(shown[2]) end
    end
  end
  report_time(self)
  return results[1] and "complete" or "error"
end

local function run_command(self, word, argument)
  local command = self.commands[word]
  if not command then
    local known = {}
    for name in pairs(self.commands) do known[#known + 1] = name end
    return self:complain(("there is no command ':%s'"):format(word), fail.nearest(word, known)
      or ":help lists the commands")
  end
  local results = run(self, command.run, self, argument)
  if not results[1] then return "error" end
  if results[2] == nil and results[3] then return self:complain(results[3], results[4]) end
  if type(results[2]) == "string" then self.write(results[2] .. "\n") end
  return "complete"
end

local function next_name(self)
  self.number = self.number + 1
  return ("=%s(%d)"):format(self.name, self.number)
end

-- What people type to leave or to get help, unless a variable has that name.
local words = { exit = "quit", quit = "quit", help = "help" }

local function take_word(self, text)
  local word = text:match "^%s*(%a+)%s*%(?%s*%)?%s*;?%s*$"
  local known = word and words[word]
  if not known or self.scope:find(word) ~= nil then return false end
  if known == "help" then
    self.write "? explains the prompt, :help lists its commands, ?rg.field describes a name\n"
  else
    self.write(self.leave and "Ctrl-D or :quit leaves\n" or "this console is left by its program\n")
  end
  return true
end

-- Runs one input, and reports its errors.
local function take(self, text)
  if take_word(self, text) then return "complete" end
  local word, argument = input.command(text)
  if word then return run_command(self, word, argument) end
  local found, reason = input.load(text, next_name(self))
  if found then return run_chunk(self, found, text) end
  return self:complain(reason)
end

local function with_pending(self, text)
  return self.pending and self.pending .. "\n" .. text or text
end

--- Takes one or more lines and runs every complete input. Unfinished input waits for the next call.
---@return "complete" | "more" | "error"
function Console:feed(text)
  local inputs, status, rest = input.split(with_pending(self, text), self.commands)
  self.pending = nil
  for _, one in ipairs(inputs) do
    if take(self, one) == "error" then return "error" end
  end
  self.pending = rest
  return status
end

--- Returns what feed would return, without running anything.
function Console:check(text)
  local _, status = input.split(with_pending(self, text), self.commands)
  return status
end

--- Whether feed would run something, with or without unfinished input after it.
function Console:has_whole_input(text)
  return #input.split(with_pending(self, text), self.commands) > 0
end

--- Discards unfinished input.
function Console:drop() self.pending = nil end

--- Ends the input: unfinished text is reported as an error.
function Console:finish()
  local text = self.pending
  self.pending = nil
  if text then take(self, text) end
end

--- Evaluates an expression as if it were typed; raises its errors.
function Console:evaluate(text)
  local found, reason = input.load(text, next_name(self))
  if not found or not found.is_expression then
    return error(reason or ("'%s' is not an expression"):format(text), 0)
  end
  return select(2, setfenv(found.chunk, self.scope.environment)())
end

--- Compiles text to a function that returns the values of an expression; returns nil and a reason
--- if it cannot.
function Console:compile(text)
  local found, reason = input.load(text, next_name(self))
  if not found then return nil, reason end
  return setfenv(found.chunk, self.scope.environment)
end

--- Adopts the locals of a script, as returned by a chunk from scope.with_locals.
function Console:adopt(found) self.scope:adopt(found) end

-- -- watching -------------------------------------------------------------------------------------

function Console:watch_begins()
  if self.redraw and #self.watched > 0 then meter.on_launch(function() self:tick() end) end
end

function Console:watch_ends()
  meter.on_launch(nil)
  if self.redraw and #self.watched > 0 and self.last.launches > 0 then
    self.call(self.tick, self, true)
  end
end

--- Draws the watched fields, at most twenty times a second.
function Console:tick(is_last)
  local now = meter.now()
  if not is_last and self.drawn and now - self.drawn < 0.05 then return end
  self.drawn = now
  local parts = {}
  for k, watched in ipairs(self.watched) do
    local ok, picture = pcall(colon.picture, self, watched.value)
    parts[k] = watched.name .. "\n" .. (ok and picture or tostring(picture))
  end
  self.redraw(table.concat(parts, "\n"), is_last)
end

return console
