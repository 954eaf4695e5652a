--- A script that a prompt follows: its locals become the prompt's.
local dialect = require "regolith.kernel.dialect"
local input = require "regolith.console.input"
local scope = require "regolith.console.scope"

local script = {}

--- The script as a chunk that returns its locals for scope.adopt; nil where that cannot be (it is
--- bytecode, it does not load, it has too many): then it is run as it is.
function script.load(path)
  local file = io.open(path, "rb")
  local text = file and file:read "*a"
  if file then file:close() end
  if not text or text:sub(1, 1) == "\27" then return nil end
  text = text:gsub("^\239\187\191", ""):gsub("^#[^\n]*", "")
  local whole, has_locals = scope.with_locals(text, true)
  local chunk = has_locals and dialect.load(whole, "@" .. path)
  if chunk then input.keep("@" .. path, whole) end
  return chunk or nil
end

return script
