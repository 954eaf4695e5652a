--- The lines and errors of kernels with arch = "lua", with the same texts as
--- core/kernel/report/message.c makes for compiled kernels.
local ffi = require "ffi"
local lib = require "regolith.lib"
local sink = require "regolith.sink"

local message = {}

local C = lib.C

local nan = 0 / 0
if tostring(nan):sub(1, 1) == "-" then nan = -nan end -- printed NaNs have no sign

local function number_text(format, x)
  if type(x) == "cdata" then return (tostring(x):gsub("U?LL$", "")) end
  return x ~= x and format:format(nan) or format:format(x)
end

--- Formats a value of a type as tostring does.
function message.show(name, v)
  if type(v) == "boolean" then return tostring(v) end
  if type(v) ~= "table" then return number_text("%.14g", v) end
  local is_float = not name:find "^[iu]" and not name:find ",[iu]"
  local parts = {}
  for k, x in ipairs(v) do
    parts[k] = type(x) == "boolean" and tostring(x) or number_text(is_float and "%.7g" or "%d", x)
  end
  return ("%s(%s)"):format(name, table.concat(parts, ", "))
end

--- Formats a value by a format; a string has no type.
function message.form(format, name, v)
  local conversion = format:sub(-1)
  if conversion == "s" then
    return format:format(type(v) == "string" and v or message.show(name, v))
  end
  if conversion:find "[eEfgG]" then
    v = tonumber(v)
    return v ~= v and format:format(nan) or format:format(v)
  end
  return format:format(v)
end

--- Joins pieces of text.
message.text = table.concat

--- Calls the current global `print` with the arguments of a line, which the core joins by tabs.
function message.call(print, line)
  if not line:find("\t", 1, true) then return print(line) end
  local arguments = {}
  for argument in (line .. "\t"):gmatch "([^\t]*)\t" do arguments[#arguments + 1] = argument end
  return print(unpack(arguments))
end

--- Prints a line by the current global `print` of the kernel's environment.
function message.print(run, text) return message.call(run.globals.print, text) end

--- The value that a failed kernel raises. oracle.lua catches it, and the launch raises the error
--- that the core has recorded.
message.failed = {}

--- Ends the launch `run` with message `number` of its kernel, whose text is `text`.
function message.fail(run, number, text, where)
  local numbers = {}
  for _, i in ipairs(type(where[1]) == "table" and where[1] or where) do
    numbers[#numbers + 1] = number_text("%d", i)
  end
  C.rg_kernel_fail(run.kernel, run.emission, number, text, table.concat(numbers, ", "))
  return error(message.failed, 0)
end

--- Ends the launch unless `holds`.
function message.assert(holds, ...) return holds or message.fail(...) end

--- Takes the lines that compiled kernels have printed from the core, for the runtime with this
--- number.
function message.lines(number)
  local lines, length = {}, ffi.new "int64_t[1]"
  local c = lib.runtimes[number].c
  while true do
    local line = C.rg_next_line(c, length)
    if line == nil then return lines end
    local is_warning, bytes = length[0] < 0, tonumber(length[0])
    local text = ffi.string(line, is_warning and -1 - bytes or bytes)
    lines[#lines + 1] = is_warning and { warning = text } or text
  end
end

local lines_quietly = lib.quietly(message.lines)

--- Prints these lines: warnings by rg.log, others by the function that `find_print()` returns.
function message.print_lines(number, find_print)
  for _, line in ipairs(lines_quietly(number)) do
    if type(line) == "table" then sink.warn(line.warning)
    else message.call(find_print(), line) end
  end
end

return message
