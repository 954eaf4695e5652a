--- What a script's syntax error may come from: kernel text in a plain long string, which ends at
--- the `]]` of `a[b[i]]`.
local syntax = {}

local hint = "\nhint: ']]' ends a plain long string: write the kernel between [=[ and ]=]"

local function count(text, bracket) return select(2, text:gsub(bracket, "")) end

--- The message, with a hint if the text up to its line has such a string.
---@param message string   of loadfile
---@param text string?     the script
function syntax.explain(message, text)
  local last, from = tonumber(message:match ":(%d+): "), 1
  while text and last do
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

--- The same of a script's file.
function syntax.explain_file(message, path)
  local file = io.open(path, "rb")
  local text = file and file:read "*a"
  if file then file:close() end
  return syntax.explain(message, text)
end

return syntax
