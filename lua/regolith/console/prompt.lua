--- The prompt: reads a line, runs it, prints what an expression gives. Input that has not ended yet asks for more.
--- Each input is a chunk of its own, "=prompt(3)", whose text regolith.source knows: kernels can be typed here.
local io, table = io, table

local prompt = {}

local texts -- chunk name -> text, shared with regolith.source
local function keep(name, text)
  local registry = debug.getregistry()
  texts = texts or registry["regolith.texts"] or {}
  registry["regolith.texts"] = texts
  texts[name] = text
end

local function is_unfinished(message) return message:find "'<eof>'" ~= nil end

-- An expression, or else a statement; `= expression` as in Lua 5.1.
local function load_line(text, name)
  local expression = "return " .. text:gsub("^%s*=", "")
  local chunk = loadstring(expression, name)
  if chunk then
    keep(name, expression)
    return chunk
  end
  keep(name, text)
  return loadstring(text, name)
end

local function read(mark)
  io.write(mark)
  io.flush()
  return io.read "*l"
end

-- One whole input: its function, or nil and why not; nothing at the end of all input.
local function read_chunk(name)
  local text = read "> "
  if not text then return nil, nil end
  while true do
    local chunk, message = load_line(text, name)
    if chunk or not is_unfinished(message) then return chunk, message end
    local more = read ">> "
    if not more then return nil, message end
    text = text .. "\n" .. more
  end
end

local function show(ok, ...)
  if not ok then
    io.stderr:write((tostring((...)):gsub("\n\t%[C%]: in function 'call'\n.*$", "")), "\n") -- without our own frames
  elseif select("#", ...) > 0 then
    print(...)
  end
end

--- Reads and runs until the input ends. `call` is the host's: a call that Ctrl-C stops, with a traceback.
function prompt.run(call)
  local number = 0
  while true do
    number = number + 1
    local chunk, message = read_chunk(("=prompt(%d)"):format(number))
    if chunk then
      show(call(chunk))
    elseif message then
      show(false, message)
    else
      io.write "\n"
      return
    end
  end
end

return prompt
