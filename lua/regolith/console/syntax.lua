--- Loads chunks that LuaJIT could not load, with stubs for their kernels, or adds a hint about the
--- likely cause to the error. One such cause is kernel text in a plain long string, which the `]]`
--- of `a[b[i]]` ends.
local dialect = require "regolith.kernel.dialect"
local disk = require "regolith.file.disk"

local syntax = {}

local hint = "\nhint: ']]' ends a plain long string: write the kernel between [=[ and ]=]"

local function count(text, bracket) return select(2, text:gsub(bracket, "")) end

local function explain_brackets(message, text)
  local last, from = tonumber(message:match ":(%d+): "), 1
  while last do
    local first, past = text:find("[[", from, true)
    local stop = past and text:find("]]", past, true)
    if not stop or count(text:sub(1, first), "\n") >= last then break end
    local inside = text:sub(past + 1, stop - 1)
    local is_cut = count(inside, "%[") >= count(inside, "%]") + 2
    if is_cut and inside:find "function%s*%(" then return message .. hint end
    from = stop + 2
  end
  return message
end

--- Returns the chunk, or an error message.
---@param message string   of loadstring
---@param text string?     of the chunk
---@param name string      of the chunk, as loadstring takes it
---@return function | string
function syntax.load(message, text, name)
  if not text or text:sub(1, 1) == "\27" then return message end
  local chunk, second = dialect.load(text, name)
  if chunk then return chunk end
  local explained = explain_brackets(second, text)
  return explained == second and dialect.explain(second, text) or explained
end

--- The same for a file.
function syntax.load_file(message, path)
  return syntax.load(message, (disk.read(path)), "@" .. path)
end

--- The same for a module that LuaJIT's own loader could not load: returns the chunk, or an error.
function syntax.load_module(message)
  local path, reason = tostring(message):match "^error loading module .- from file '(.-)':\n\t(.*)$"
  local result = path and syntax.load_file(reason, path)
  if type(result) == "function" then return result end
  return error(path and message:sub(1, #message - #reason) .. result or message, 0)
end

return syntax
