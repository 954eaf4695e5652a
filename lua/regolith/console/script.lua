--- A script that is followed by a prompt: its locals become the prompt's.
local dialect = require "regolith.kernel.dialect"
local disk = require "regolith.file.disk"
local input = require "regolith.console.input"
local scope = require "regolith.console.scope"

local script = {}

--- Returns the script as a chunk that returns its locals for scope.adopt, or nil where that is
--- impossible (it is bytecode, does not load, or has too many locals) and the script runs
--- unchanged.
function script.load(path)
  local text = disk.read(path)
  if not text or text:sub(1, 1) == "\27" then return nil end
  text = text:gsub("^\239\187\191", ""):gsub("^#[^\n]*", "")
  local whole, has_locals = scope.with_locals(text, true)
  local chunk = has_locals and dialect.load(whole, "@" .. path)
  if chunk then input.keep("@" .. path, whole) end
  return chunk or nil
end

return script
