--- The prompt without line editing: for input that is not a terminal, or a terminal without
--- features.
local console = require "regolith.console"

local io, os = io, os

local prompt = {}

-- Passes the host the address at which compiled loops exit, so that Ctrl-C also stops loops without
-- checks.
local function pass_exit_address(learn)
  local ok, util = pcall(require, "jit.util")
  if not ok or not jit.status() or not util.traceexitstub then return end
  for _ = 1, 200 do end -- the exit stubs exist once the first trace is compiled
  local found, address = pcall(util.traceexitstub, 0)
  if found and type(address) == "number" then learn(address) end
end

--- Reads and runs input until it ends. The host's `call` can be interrupted by Ctrl-C and shows a
--- traceback; its `read` prints a prompt and returns a line, nil at the end, or false after Ctrl-C.
---@param host table   call, read, learn; is_terminal; found: locals of a script, or nil
function prompt.run(host)
  pass_exit_address(host.learn)
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
    elseif line == nil and host.is_terminal and engine.pending then -- Ctrl-D
      engine:drop()
      io.write "\n"
    else
      engine[line == nil and "finish" or "drop"](engine)
      io.write "\n"
      if line == nil then return end
    end
  end
end

return prompt
