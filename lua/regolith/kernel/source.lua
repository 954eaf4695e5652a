--- Finds the source text of a kernel: the file of a function, the text its chunk was loaded from,
--- and for kernel text its position in the enclosing file.
--- LuaJIT knows a function's chunk and lines, but no columns; its bytecode tells which of the
--- functions on one line it is. This also detects a file that was edited since it was loaded.
local ffi = require "ffi"
local fail = require "regolith.error"
local dialect = require "regolith.kernel.dialect"
local disk = require "regolith.file.disk"

local debug, dump = debug, string.dump

local source = {}

local function missing(message, hint)
  return fail.raise {
    code = "source.missing", message = message,
    hint = hint or "load it from a file, or unnamed with loadstring(text), pass the kernel as "
      .. "text: rg.kernel([=[function() .. end]=], { x = x }), or use rg.init{ read = f }",
  }
end


-- Calls the function of rg.init{ read = .. }; returns a text, or nil and the reason.
local function call_reader(reader, name)
  local ok, text, reason = pcall(reader, name)
  if not ok then return nil, ("the function read of rg.init failed: %s"):format(tostring(text)) end
  if text == nil or type(text) == "string" then return text, reason and tostring(reason) end
  return nil, ("the function read of rg.init returned %s, not a text"):format(fail.describe(text))
end

-- The text of a chunk with a name: the host's, else the file's. `mark` is `@` for files.
local function read_chunk(name, mark, reader)
  local text, reason
  if reader then text, reason = call_reader(reader, name) end
  if not text and mark == "@" then text = disk.read(name) end
  return text, reason
end

-- -- which function of the text is it? ------------------------------------------------------------
-- string.dump is exact: instructions, constants, the names of upvalues and locals. A dump is a
-- header and then, each with its length, prototypes, those inside a function before its own.

-- A number in a dump (ULEB128), and what follows it.
local function read_number(text, at)
  local number, scale = 0, 1
  while true do
    local byte = text:byte(at)
    number, scale, at = number + byte % 128 * scale, scale * 128, at + 1
    if byte < 128 then return number, at end
  end
end

local function split(text)
  if not text:find "^\27LJ[\1\2]" then return end
  local list, flags, at = {}, read_number(text, 5)
  if flags % 4 < 2 then -- with debug information, and so with the chunk's name
    local length
    length, at = read_number(text, at)
    at = at + length
  end
  while true do
    local length, first = read_number(text, at)
    if length == 0 then return list end
    list[#list + 1] = text:sub(first, first + length - 1)
    at = first + length
  end
end

-- The prototypes of a function; nil if its host has no string.dump, or its format is unknown.
local function prototypes_of(f)
  local ok, list = pcall(function() return split(dump(f)) end)
  return ok and list or nil
end

-- First line and number of lines of a prototype, as one text.
local function lines_of(prototype)
  local function skip(at) return select(2, read_number(prototype, at)) end
  local debug_size, first = read_number(prototype, skip(skip(skip(5)))) -- after three counts
  return debug_size > 0 and prototype:sub(first, skip(skip(first)) - 1) or ""
end

-- Whether `all` contains the prototypes `own`, the last of them as number `last`.
local function ends_at(own, all, last)
  for k = 0, #own - 1 do
    if own[#own - k] ~= all[last - k] then return false end
  end
  return true
end

-- text -> prototypes: a file's kernels are usually made together
local compiled = setmetatable({}, { __mode = "v" })

local function prototypes_in(text)
  if not compiled[text] then
    local body = text:gsub("^\239\187\191", ""):gsub("^#[^\n]*", "")
    local chunk = dialect.load(body, "=check")
      or dialect.load("return " .. body:gsub("^%s*=", ""), "=check") -- an expression at the prompt
    compiled[text] = chunk and prototypes_of(chunk)
  end
  return compiled[text]
end

-- Finds `f` among the functions of the text that have its lines. Returns a text with a character
-- for each, '1' if it is like `f`; nil if none is, since the text has changed; "" if that is
-- unknown.
local function which(f, text)
  local own = prototypes_of(f)
  if not own then return "" end
  local all, lines, marks, is_there = prototypes_in(text) or {}, lines_of(own[#own]), {}, false
  for number, prototype in ipairs(all) do
    if lines_of(prototype) == lines then
      local is_like = ends_at(own, all, number)
      marks[#marks + 1], is_there = is_like and "1" or "0", is_there or is_like
    end
  end
  return is_there and table.concat(marks) or nil
end

-- -- plain functions ------------------------------------------------------------------------------

local no_text = "the source text of this function is not known: its chunk was loaded under the "
  .. "name '%s', without a file"

-- `local stir = rg.kernel(function`: the kernel's name, if its line has one. Of several functions
-- on the line, number `number` of `count` is meant.
local function guess_name(text, line_defined, number, count)
  local line_number = 0
  for line in (text .. "\n"):gmatch "([^\n]*)\n" do
    line_number = line_number + 1
    if line_number == line_defined then
      local names = {}
      for name in line:gmatch "([%w_]+)%s*=%s*[%w_.]*kernel%s*%(?%s*%f[%w]function" do
        names[#names + 1] = name
      end
      return #names == count and names[number] or nil
    end
  end
end

-- Text that was typed at the prompt, passed with -e or read from standard input; the program keeps
-- it.
local function known_text(chunk_name)
  local texts = debug.getregistry()["regolith.texts"]
  return texts and texts[chunk_name]
end

-- The text that a function's chunk was loaded from, and what errors call it.
local function text_of(info, reader)
  local from, mark, name = info.source, info.source:sub(1, 1), info.source:sub(2)
  if mark ~= "@" and mark ~= "=" then return from, info.short_src end
  local text, reason = known_text(from), nil
  if not text then text, reason = read_chunk(name, mark, reader) end
  if text then return text, name end
  reason = reason and (" (%s)"):format(reason) or ""
  if from == "=stdin" then
    missing("the source text of a script from standard input is not known" .. reason,
      "run it from a file, or by 'regolith - < file', which keeps it")
  end
  if mark == "=" then missing(no_text:format(name) .. reason) end
  missing(("the source file '%s' of this function cannot be read%s"):format(name, reason),
    "rg.init{ read = f } finds scripts that are in no file: f(name) returns a text, or nil and why")
end

--- Returns a table with the text of a function, its chunk (the name in errors), line_defined,
--- last_line, which, and name.
---@param reader function?   of rg.init{ read = .. }
function source.of_function(f, reader)
  if not debug then missing "without the debug library, functions have no source" end
  local info = debug.getinfo(f, "S")
  if info.what == "C" then fail.argument "rg.kernel takes a Lua function, not a C function" end
  local from = info.source
  if info.linedefined == 0 or from:sub(1, 1) == "\27" or from == "=?" then
    missing "this function has been stripped of its source, or is a whole chunk"
  end
  local text, chunk = text_of(info, reader)
  local marks = which(f, text)
  if not marks then
    missing((text == from and no_text
      or "'%s' has changed since this function was loaded from it"):format(chunk))
  end
  return {
    text = text, chunk = chunk, line_defined = info.linedefined, last_line = info.lastlinedefined,
    which = marks ~= "" and marks or nil,
    name = guess_name(text, info.linedefined, marks:find "1" or 1, math.max(1, #marks)),
  }
end

--- The same as options for the core.
function source.options(found)
  local options = ffi.new "RgKernelOptions"
  options.struct_size = ffi.sizeof "RgKernelOptions"
  options.chunk, options.first_line = found.chunk, found.first_line or 1
  options.line_defined, options.last_line = found.line_defined or 0, found.last_line or 0
  options.which = found.which
  return options
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
local function file_around(text, reader)
  local seen = {}
  for skip = 0, 5 do
    local _, call_line, info = fail.caller(skip)
    if not info then return end
    local path = info.source:sub(1, 1) == "@" and info.source:sub(2)
    if path and not seen[path] then
      seen[path] = true
      local file = read_chunk(path, "@", reader)
      local at = file and occurrence(file, text, call_line)
      if at then return path, file, at end
    end
  end
end

--- The same facts for a kernel given as text: positions are those of the enclosing file, if found
--- there.
function source.of_text(text, reader)
  local found = { text = text, chunk = "kernel", first_line = 1 }
  local path, file, at
  if text:find "%S" then path, file, at = file_around(text, reader) end
  if not at then return found end
  found.chunk, found.first_line = path, at.line
  local line_start = file:sub(1, at.first - 1):match "[^\n]*$"
  found.text = (" "):rep(#line_start) .. text -- so that columns of its first line are the file's
  found.name = line_start:match "([%w_]+)%s*=[^=]*kernel%s*%(?%s*%[=*%[$"
    or file:sub(1, at.first - 1):match "([%w_]+)%s*=[^=\n]*kernel%s*%(?%s*%[=*%[\r?\n$"
  return found
end

return source
