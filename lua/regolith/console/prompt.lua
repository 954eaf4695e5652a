--- The prompt: reads a line, runs it, prints the values of an expression. Incomplete input asks
--- for more; Ctrl-C drops it. Each input is a chunk of its own, "=prompt(3)", whose text
--- regolith.source knows: kernels can be typed here.
local dialect = require "regolith.dialect"

local io = io

local prompt = {}

local texts -- chunk name -> text, shared with regolith.source
local function keep(name, text)
  local registry = debug.getregistry()
  texts = texts or registry["regolith.texts"] or {}
  registry["regolith.texts"] = texts
  texts[name] = text
end

local function is_unfinished(message) return message:find "near '<eof>'$" ~= nil end

-- Does the text end inside a kernel, which LuaJIT does not read up to there?
local function is_inside_kernel(text)
  for depth = 1, 9 do
    local closed = dialect.translate(text .. (" end"):rep(depth) .. ")")
    if closed and loadstring(closed) then return true end
  end
  return false
end

-- An expression, or else a statement; `= expression` as in Lua 5.1. The nil before an expression
-- keeps a call from being a tail call, whose errors would not say where they come from.
-- Returns the function and how many leading results are not to be shown; or nil, the reason, and
-- whether more text could make it right.
local function load_line(text, name)
  keep(name, text)
  local expression, why_not = dialect.load("return nil, " .. text:gsub("^%s*=", "") .. "\n", name)
  if expression then return expression, 1 end
  local statement, message = dialect.load(text .. "\n", name)
  if statement then return statement, 0 end
  return nil, dialect.explain(message, text),
    is_unfinished(message) or is_unfinished(why_not) or is_inside_kernel(text)
end

-- One complete input: a function and how many of its results are not to be shown, or nil and what
-- is wrong; nil at the end of all input, false where Ctrl-C dropped what was there.
local function read_chunk(name, read)
  local text = read "> "
  if not text then return text end
  while true do
    local chunk, result, is_open = load_line(text, name)
    if chunk or not is_open then return chunk, result end
    local more = read ">> "
    if more == false then return false end
    if not more then return nil, result end -- the input ended in the middle
    text = text .. "\n" .. more
  end
end

local function show(skip, ok, ...)
  if not ok then
    -- without the program's own frame at the bottom; the host left the others out
    io.stderr:write((tostring((...)):gsub("\n\t%[C%]: at [^\n]*$", "")), "\n")
  elseif select("#", ...) > skip then
    print(select(skip + 1, ...))
  end
end

--- Reads and runs until the input ends. The host's `call` can be stopped by Ctrl-C and shows a
--- traceback; its `read` writes a mark and returns a line, nil at the end, false after Ctrl-C.
function prompt.run(call, read)
  local number = 0
  while true do
    number = number + 1
    local chunk, result = read_chunk(("=prompt(%d)"):format(number), read)
    if chunk then
      show(result, call(chunk))
    elseif result then
      show(0, false, result)
    else
      io.write "\n"
      if chunk == nil then return end
    end
  end
end

return prompt
