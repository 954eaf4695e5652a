--- The prompt: reads a line, runs it, prints the values of an expression. Incomplete input asks for
--- more. Each input is a chunk of its own, "=prompt(3)", whose text regolith.source knows: kernels
--- can be typed here.
local io = io

local prompt = {}

local texts -- chunk name -> text, shared with regolith.source
local function keep(name, text)
  local registry = debug.getregistry()
  texts = texts or registry["regolith.texts"] or {}
  registry["regolith.texts"] = texts
  texts[name] = text
end

local function is_unfinished(message) return message:find "'<eof>'" ~= nil end

-- An expression, or else a statement; `= expression` as in Lua 5.1. The nil before an expression
-- keeps a call from being a tail call, whose errors would not say where they come from.
-- Returns the function, or nil and the reason; then how many leading results are not to be shown.
local function load_line(text, name)
  local expression = "return nil, " .. text:gsub("^%s*=", "")
  local chunk = loadstring(expression, name)
  if chunk then
    keep(name, expression)
    return chunk, nil, 1
  end
  keep(name, text)
  local statement, message = loadstring(text, name)
  return statement, message, 0
end

local function read(mark)
  io.write(mark)
  io.flush()
  return io.read "*l"
end

-- One complete input, as load_line returns it; nothing at the end of all input.
local function read_chunk(name)
  local text = read "> "
  if not text then return nil, nil end
  while true do
    local chunk, message, skip = load_line(text, name)
    if chunk or not is_unfinished(message) then return chunk, message, skip end
    local more = read ">> "
    if not more then return nil, message end -- the input ended in the middle
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

--- Reads and runs until the input ends. `call` is the host's: a call that Ctrl-C can stop, with a
--- traceback.
function prompt.run(call)
  local number = 0
  while true do
    number = number + 1
    local chunk, message, skip = read_chunk(("=prompt(%d)"):format(number))
    if chunk then
      show(skip, call(chunk))
    elseif message then
      show(0, false, message)
    else
      io.write "\n"
      return
    end
  end
end

return prompt
