--- One input of a session: is it whole, and what is it? An expression, statements, or both to be
--- taken line by line. Its text stays known to regolith.source, so kernels can be typed.
local dialect = require "regolith.dialect"
local scope = require "regolith.console.scope"

local debug, loadstring = debug, loadstring -- a sandbox may remove the globals later

local input = {}

--- Texts of chunks, by their names, shared with regolith.source and the program.
function input.texts()
  local registry = debug.getregistry()
  local texts = registry["regolith.texts"] or {}
  registry["regolith.texts"] = texts
  return texts
end

function input.keep(name, text) input.texts()[name] = text end

local function is_unfinished(message) return message:find "near '<eof>'$" ~= nil end

-- Does the text end inside a kernel, which LuaJIT does not read up to there?
local function is_inside_kernel(text)
  for depth = 1, 9 do
    local closed = dialect.translate(text .. (" end"):rep(depth) .. ")")
    if closed and loadstring(closed) then return true end
  end
  return false
end

--- Loads an expression, or else statements; `= expression` as in Lua 5.1. The nil before an
--- expression keeps a call from being a tail call, whose errors would not say where they come from.
---@return table? found   chunk; skip: how many leading results are not values of the input;
---                       has_locals: its result is for scope.adopt
---@return string? reason
---@return boolean? is_open   could more text make it right?
function input.load(text, name)
  local expression, why_not = dialect.load("return nil, " .. text:gsub("^%s*=", "") .. "\n", name)
  if expression then
    input.keep(name, text)
    return { chunk = expression, skip = 1, is_expression = true }
  end
  local whole, has_locals = scope.with_locals(text)
  local statement = dialect.load(whole .. "\n", name)
  if statement then
    input.keep(name, whole)
    return { chunk = statement, skip = 0, has_locals = has_locals }
  end
  local plain, message = dialect.load(text .. "\n", name)
  if plain then -- more locals than a chunk may share
    input.keep(name, text)
    return { chunk = plain, skip = 0 }
  end
  return nil, dialect.explain(message, text),
    is_unfinished(message) or is_unfinished(why_not) or is_inside_kernel(text)
end

return input
