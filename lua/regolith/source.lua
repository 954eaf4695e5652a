--- Finds the source text of a kernel: the file of a function, the text its chunk was loaded from,
--- and for kernel text its position in the enclosing file.
--- LuaJIT knows a function's chunk and lines, but no columns; the C parser distinguishes two
--- functions on one line. A file edited since it was loaded is noticed: a function on those lines
--- must still have the same bytecode.
local fail = require "regolith.error"

local debug, io, loadstring = debug, io, loadstring

local source = {}

local has_util, util = pcall(require, "jit.util")

local function missing(message)
  return fail.raise {
    code = "source.missing", message = message,
    hint = "load it from a file, or unnamed with loadstring(text), or pass the kernel as text: "
      .. "rg.kernel([=[function() .. end]=], { x = x })",
  }
end

local function read_file(path)
  local file = io.open(path, "rb")
  local text = file and file:read "*a"
  if file then file:close() end
  return text
end

-- -- has the file changed since it was loaded? ----------------------------------------------------

-- LuaJIT rewrites loop instructions in place once they run hot: JFORL for FORL, ILOOP for LOOP.
local function is_patched(a, b)
  local has_vmdef, vmdef = pcall(require, "jit.vmdef") -- large, and rarely wanted
  if not has_vmdef then return a % 256 ~= b % 256 end
  local function name(instruction)
    local opcode = instruction % 256
    return (vmdef.bcnames:sub(opcode * 6 + 1, opcode * 6 + 6):gsub("%s+$", ""):gsub("^[IJ]", ""))
  end
  local x, y = name(a), name(b)
  return x == y and (x == "LOOP" or x == "FORI" or x == "FORL" or x == "ITERL")
end

local function has_same_constants(f, prototype, info)
  for n = -info.gcconsts, info.nconsts - 1 do
    local a, b = util.funck(f, n), util.funck(prototype, n)
    local is_plain = type(a) == "string" or type(a) == "number"
    if type(a) ~= type(b) or (is_plain and a ~= b and a == a) then return false end
  end
  return true
end

local function is_same_code(f, prototype)
  local info, other = util.funcinfo(f), util.funcinfo(prototype)
  for _, name in ipairs { "linedefined", "lastlinedefined", "bytecodes", "gcconsts", "nconsts",
    "params" } do
    if info[name] ~= other[name] then return false end
  end
  for pc = 1, info.bytecodes - 1 do
    local a, b = util.funcbc(f, pc), util.funcbc(prototype, pc)
    if a ~= b and not is_patched(a, b) then return false end
  end
  return has_same_constants(f, prototype, info)
end

-- Is a function like `f` among those inside `prototype`?
local function contains(prototype, f)
  for n = -1, -util.funcinfo(prototype).gcconsts, -1 do
    local child = util.funck(prototype, n)
    if type(child) == "proto" and (is_same_code(f, child) or contains(child, f)) then
      return true
    end
  end
  return false
end

-- text -> chunk: a file's kernels are usually made together
local compiled = setmetatable({}, { __mode = "v" })

local function check_unchanged(f, text, path)
  if not has_util then return end
  local chunk = compiled[text] or loadstring(text:gsub("^\239\187\191", ""):gsub("^#[^\n]*", ""),
    "=check")
  compiled[text] = chunk
  if not chunk or not contains(chunk, f) then
    missing(("'%s' has changed since this function was loaded from it"):format(path))
  end
end

-- -- plain functions ------------------------------------------------------------------------------

local no_text = "the source text of this function is not known: its chunk was loaded under the "
  .. "name '%s', without a file"

-- `local stir = rg.kernel(function`: the kernel's name, if that line has one.
local function guess_name(text, line_defined)
  local number = 0
  for line in (text .. "\n"):gmatch "([^\n]*)\n" do
    number = number + 1
    if number == line_defined then
      return line:match "([%w_]+)%s*=[^=]*kernel%s*%(?%s*%f[%w]function"
    end
  end
end

-- What was typed at the prompt or passed with -e: the console keeps it.
local function known_text(chunk_name)
  local texts = debug.getregistry()["regolith.texts"]
  return texts and texts[chunk_name]
end

--- text, chunk (what errors show), line_defined, last_line, name of a function.
function source.of_function(f)
  if not debug then missing "without the debug library, functions have no source" end
  local info = debug.getinfo(f, "S")
  if info.what == "C" then fail.argument "rg.kernel takes a Lua function, not a C function" end
  local from = info.source
  if info.linedefined == 0 or from:sub(1, 1) == "\27" or from == "=?" then
    missing "this function has been stripped of its source, or is a whole chunk"
  end
  local found = { line_defined = info.linedefined, last_line = info.lastlinedefined }
  local mark = from:sub(1, 1)
  local typed = known_text(from)
  if mark == "=" and not typed then missing(no_text:format(from:sub(2))) end
  if typed then
    found.chunk, found.text = from:sub(2), typed
    check_unchanged(f, typed, found.chunk)
  elseif mark == "@" then
    found.chunk = from:sub(2)
    found.text = read_file(found.chunk)
    if not found.text then
      missing(("the source file '%s' of this function cannot be read"):format(found.chunk))
    end
    check_unchanged(f, found.text, found.chunk)
  else
    found.chunk, found.text = info.short_src, from
    local _, newlines = from:gsub("\n", "")
    if newlines + 1 < info.lastlinedefined then missing(no_text:format(from)) end
  end
  found.name = guess_name(found.text, found.line_defined)
  return found
end

-- -- kernel text ----------------------------------------------------------------------------------

-- Where `text` is in the file: the occurrence whose end is nearest to the line of the call.
local function occurrence(file, text, call_line)
  local best, nearest, from = nil, math.huge, 1
  while true do
    local first, last = file:find(text, from, true)
    if not first then return best end
    local _, lines_before = file:sub(1, first - 1):gsub("\n", "")
    local _, lines_inside = text:gsub("\n", "")
    local away = math.min(math.abs(lines_before + 1 - call_line),
      math.abs(lines_before + 1 + lines_inside - call_line))
    if away < nearest then best, nearest = { first = first, line = lines_before + 1 }, away end
    from = last + 1
  end
end

-- The file that contains the text: the caller's, or that of one of the next few callers, which may
-- have passed the text on.
local function file_around(text)
  local seen = {}
  for skip = 0, 5 do
    local _, call_line, info = fail.caller(skip)
    if not info then return end
    local path = info.source:sub(1, 1) == "@" and info.source:sub(2)
    if path and not seen[path] then
      seen[path] = true
      local file = read_file(path)
      local at = file and occurrence(file, text, call_line)
      if at then return path, file, at end
    end
  end
end

--- The same facts for a kernel given as text: positions are those of the enclosing file, if found
--- there.
function source.of_text(text)
  local found = { text = text, chunk = "kernel", first_line = 1 }
  local path, file, at
  if text:find "%S" then path, file, at = file_around(text) end
  if not at then return found end
  found.chunk, found.first_line = path, at.line
  local line_start = file:sub(1, at.first - 1):match "[^\n]*$"
  found.text = (" "):rep(#line_start) .. text -- so that columns of its first line are the file's
  found.name = line_start:match "([%w_]+)%s*=[^=]*kernel%s*%(?%s*%[=*%[$"
    or file:sub(1, at.first - 1):match "([%w_]+)%s*=[^=\n]*kernel%s*%(?%s*%[=*%[\r?\n$"
  return found
end

return source
