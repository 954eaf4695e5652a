--- contender: one process of a workload, which waits on a pipe for commands.
---
---     driver              contender
---                    <--  ready            initialised, and warm after a first pass
---     go 3           -->                   three passes, each from the first state
---                    <--  12.5             milliseconds per step (or what `measure` returns)
---     checksum       -->
---                    <--  0.123            of the state after the last pass
---
--- Its answers begin with `bench: `; other output of the program is ignored.
local machine = require "machine"
local contender = {}
contender.__index = contender

local count = 0

--- Starts `command` (a shell command) without waiting for it: `ready` waits.
function contender.start(who, command, options)
  count = count + 1
  local self = setmetatable({ who = who, figures = {} }, contender)
  local pipe = ("%s/pipe%d"):format(options.folder, count)
  os.execute(("mkfifo '%s'"):format(pipe))
  self.answers = io.popen(("echo $$; export THREADS=%d STEPS=%d; exec %s <'%s' 2>'%s.err'"):format(
    options.threads, options.steps, command, pipe, pipe))
  self.process = tonumber(self.answers:read())
  self.questions = io.open(pipe, "we") -- "e": the next process does not hold it open
  self.errors = pipe .. ".err"
  return self
end

function contender:answer()
  for line in self.answers:lines() do
    local text = line:match "^bench: (.*)"
    if text then return text end
  end
  local file = io.open(self.errors)
  local errors = file and file:read "*a" or ""
  if file then file:close() end
  -- Lua's message is the first line, Python's the last.
  self.died = errors:match "^luajit: ([^\n]*)" or errors:match "([^\n]*)\n*$"
end

function contender:ready() return self:answer() == "ready" end

--- Returns the number of the answer; an error if the process ended instead.
function contender:ask(question)
  self.questions:write(question, "\n")
  self.questions:flush()
  local text = self:answer()
  if not text then error(("%s ended: %s"):format(self.who, self.died), 0) end
  return tonumber(text)
end

--- Runs one window of passes; returns the figure, and how many processors others used meanwhile.
function contender:window(passes)
  local before = machine.busy(self.process)
  local figure = self:ask("go " .. passes)
  return figure, machine.foreign(before, machine.busy(self.process))
end

function contender:stop()
  self.questions:close()
  self.answers:close()
end

return contender
