--- Parses the input of a session: decides whether it is complete, and whether it is an expression,
--- statements, or a command of the console. It registers the text with regolith.source, so that
--- kernels can be typed, and splits pasted text into its inputs.
local dialect = require "regolith.kernel.dialect"
local scan = require "regolith.console.scan"
local scope = require "regolith.console.scope"

local debug, loadstring = debug, loadstring -- a sandbox may remove the globals later

local input = {}

--- The texts of chunks by name, shared with regolith.source and the program.
function input.texts()
  local registry = debug.getregistry()
  local texts = registry["regolith.texts"] or {}
  registry["regolith.texts"] = texts
  return texts
end

function input.keep(name, text) input.texts()[name] = text end

local function is_unfinished(message) return message:find "near '<eof>'$" ~= nil end

-- Whether the text ends inside a kernel, whose syntax LuaJIT may have rejected before that end.
local function is_inside_kernel(text)
  for depth = 1, 9 do
    local closed = dialect.translate(text .. (" end"):rep(depth) .. ")")
    if closed and loadstring(closed) then return true end
  end
  return false
end

--- Loads an expression, or else statements; `= expression` as in Lua 5.1. The generated code
--- returns nil before an expression: a call in it is then not a tail call, so that its errors name
--- their line.
---@return table? found   chunk; skip: how many leading results are not values of the input;
---                       has_locals: its result is for scope.adopt
---@return string? reason
---@return boolean? is_open   whether more text could make it valid
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
  if plain then -- there are more locals than a chunk can share
    input.keep(name, text)
    return { chunk = plain, skip = 0 }
  end
  return nil, dialect.explain(message, text),
    is_unfinished(message) or is_unfinished(why_not) or is_inside_kernel(text)
end

-- -- commands -------------------------------------------------------------------------------------

-- Removes a comment at the end of a command. It must follow a blank, because a file name may
-- contain `--`.
local function without_comment(text)
  local tokens = scan.tokens(text)
  local last = tokens[#tokens]
  if not last or last.kind ~= "comment" then return text end
  local before = text:sub(1, last.first - 1)
  return before:find "%S$" and text or before:gsub("%s+$", "")
end

--- Returns the command's name and argument of `?name`, `??f` or `:word argument`, or nil for Lua
--- code.
---@return string? word, string? argument
function input.command(text)
  local marks, about = text:match "^%s*(%?%??)%s*([^\n]*)%s*$"
  if marks then
    about = without_comment(about)
    return marks == "??" and "source" or "help", about ~= "" and about or marks
  end
  local word, argument = text:match "^%s*:(%a[%w_]*)%s*(.-)%s*$"
  if word then return word, without_comment(argument) end
end

-- -- several inputs -------------------------------------------------------------------------------

-- Returns "complete", "more" or "error" for one input. A command with `lua_part` is unfinished as
-- long as the Lua code in its argument is.
local function state_of(text, commands)
  local word, argument = input.command(text)
  local command = word and commands[word]
  if word and not command then return "error" end
  local lua = command and command.lua_part and command.lua_part(argument)
  if command and not lua then return text:find "\n" and "error" or "complete" end
  local found, _, is_open = input.load(lua or text, "=check")
  return found and "complete" or is_open and "more" or "error"
end

-- A line that is not valid by itself may continue the input before it: `:fill(0)`, `+ 1`.
local function joined(list, line, commands)
  local before = list[#list]
  local text = before and not input.command(before) and before .. "\n" .. line
  local state = text and state_of(text, commands)
  if state == "complete" or state == "more" and not input.command(line) then return text, state end
end

-- Splits a text into inputs, each of as few lines as are complete. In a transcript, lines that
-- begin with the prompt are input, and the other lines after the first prompt are output, which is
-- skipped.
local function by_lines(text, commands, is_transcript)
  local list, whole, is_marked = {}, nil, false
  for line in (text .. "\n"):gmatch "(.-)\n" do
    local bare = is_transcript and line:match "^>>? ?(.*)$"
    is_marked = is_marked or bare
    local is_input = whole or (bare or line):find "%S" and (bare or not is_marked)
    if is_input then
      local lines = (whole and whole .. "\n" or "") .. (bare or line)
      local state = state_of(lines, commands)
      if state == "error" and not whole then
        local longer, its_state = joined(list, lines, commands)
        if longer then list[#list], lines, state = nil, longer, its_state end
      end
      whole = state == "more" and lines or nil
      if not whole then list[#list + 1] = lines end
      if state == "error" then return list, state end
    end
  end
  return list, whole and "more" or "complete", whole
end

-- A text of whole statements that ends in an expression, such as the call `f(4)`, as those
-- statements and the expression, whose value is printed; nil for other texts.
local function with_last(text, commands)
  if not text:find "%S%s*\n%s*%S" then return nil end
  local list, status = by_lines(text, commands)
  local last = status == "complete" and #list > 1 and list[#list]
  if not last or input.command(last) then return nil end
  local found = input.load(last, "=check")
  if not found or not found.is_expression then return nil end
  local first = #text - #last - #text:match "%s*$" + 1
  if text:sub(first, first + #last - 1) ~= last then return nil end
  local before = text:sub(1, first - 1)
  return state_of(before, commands) == "complete" and { before, last } or nil
end

-- A text without the lines "```lua" and "```" of a page that it was copied from; nil if it has
-- none.
local function without_fences(text)
  local bare, count = ("\n" .. text):gsub("\n%s*```[^\n]*", "")
  return count > 0 and bare:sub(2) or nil
end

--- Splits a text into its inputs. "complete": nothing follows them; "more": `rest` is unfinished;
--- "error": the last input is wrong, and the text after it was not examined. Runs nothing.
---@param text string
---@param commands table   name -> command, as in colon.lua
---@return string[] inputs, "complete" | "more" | "error" state, string? rest
function input.split(text, commands)
  if not text:find "%S" then return {}, "complete" end
  local state = state_of(text, commands)
  if state == "complete" then return with_last(text, commands) or { text }, state end
  local list, status, rest = by_lines(text, commands)
  -- A last line such as `x` is an expression if everything before it is complete.
  if state == "more" then
    if status == "complete" then return list, status end
    return {}, state, text
  end
  if status == "error" and ("\n" .. text):find "\n>" then
    local inputs, its_status, its_rest = by_lines(text, commands, true)
    if its_status ~= "error" then return inputs, its_status, its_rest end
  end
  local bare = status == "error" and without_fences(text)
  if bare then return input.split(bare, commands) end
  if status == "error" and #list == 1 then return { text }, status end
  return list, status, rest
end

return input
