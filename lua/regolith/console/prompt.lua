--- The prompt where input is no terminal, or the terminal can do nothing: lines in, text out.
local console = require "regolith.console"

local io, os = io, os

local prompt = {}

-- Tells the host where compiled loops are left, so that Ctrl-C stops those without any guard, too.
local function teach(learn)
  local ok, util = pcall(require, "jit.util")
  if not ok or not jit.status() or not util.traceexitstub then return end
  for _ = 1, 200 do end -- with the first trace come the exits
  local found, address = pcall(util.traceexitstub, 0)
  if found and type(address) == "number" then learn(address) end
end

--- Reads and runs until the input ends. The host's `call` can be stopped by Ctrl-C and shows a
--- traceback; its `read` writes a mark and returns a line, nil at the end, false after Ctrl-C.
---@param host table   call, read, learn; is_terminal; found: locals of a script, or nil
function prompt.run(host)
  teach(host.learn)
  local term = os.getenv "TERM" or "dumb"
  if host.is_terminal and term ~= "dumb" and term ~= "" then
    return require("regolith.console.terminal").run(host)
  end
  local is_left = false
  local engine = console.new {
    call = host.call, write_error = function(text) io.stderr:write(text) end,
    leave = function() is_left = true end,
  }
  if host.found then engine:adopt(host.found) end
  while not is_left do
    local line = host.read(engine.pending and ">> " or "> ")
    if line then
      engine:feed(line)
    else
      engine[line == nil and "finish" or "drop"](engine)
      io.write "\n"
      if line == nil then return end
    end
  end
end

return prompt
