--- Failures as Lua error objects: a code, a sentence, the position, and what to do about it. This
--- file finds the line of the user's program that a failure belongs to; it knows nothing of the C
--- library.
local host = require "regolith.host"

local debug = debug -- a sandbox may remove the global later, or never have had it

local fail = {}

--- The `..` of objects that print as text.
function fail.concat(a, b) return tostring(a) .. tostring(b) end

local Failure = { __regolith = "an error" }

-- The folder of our own files: frames in it are not the user's.
local home = debug and debug.getinfo(1, "S").source:match "^(@.*[/\\])error%.lua$"
local own_chunk = "=(regolith)" -- the name of generated code
-- The program `regolith` leaves these out of tracebacks (console/host.c).
if home and debug.getregistry then debug.getregistry()["regolith.home"] = home end

local function is_ours(source)
  return source == own_chunk or (home and source:sub(1, #home) == home)
end

-- `@dir/file.lua` -> `dir/file.lua`; a text chunk -> `[string "..."]`.
local function shown(info)
  return info.source:sub(1, 1) == "@" and info.source:sub(2) or info.short_src
end

--- Returns the frame of the user's code that called into the module, or the `skip`th one above it.
---@return string? file, integer? line, table? info
function fail.caller(skip)
  if not debug then return end
  skip = skip or 0
  for level = 2, 1000 do
    local info = debug.getinfo(level, "Slf")
    if not info then return end
    local is_of_host = info.what == "C" or info.short_src:sub(1, 9) == "[builtin:" -- `math.deg`
    if not is_of_host and not is_ours(info.source) then
      if skip == 0 then return shown(info), info.currentline, info end
      skip = skip - 1
    end
  end
end

--- Returns that position as one text, "script.lua:12".
function fail.place()
  local file, line = fail.caller()
  return file and ("%s:%d"):format(file, line) or "?"
end

-- Carets align with characters, but columns count bytes: UTF-8 continuation bytes have no width.
local function caret(source, column, width)
  local indent = #source:match "^%s*"
  local text = source:sub(indent + 1)
  local before = text:sub(1, math.max(0, column - 1 - indent)):gsub("[\128-\191]", ""):gsub("[^\t]",
    " ")
  width = math.max(1, math.min(width or 1, #text - (column - 1 - indent)))
  return ("    %s\n    %s^%s"):format(text, before, ("~"):rep(width - 1))
end

-- Formats one error or note: position and message, the source line with its caret, the hint.
local function show(record, lines)
  local head = (record.code == "note" and "note: " or "") .. record.message
  if record.file then
    local place = record.file
    if record.line then place = place .. ":" .. record.line end
    if record.column then place = place .. ":" .. record.column end
    head = place .. ": " .. head
  end
  lines[#lines + 1] = head
  if record.source and record.column then
    lines[#lines + 1] = caret(record.source, record.column, record.width)
  end
  if record.hint then lines[#lines + 1] = "hint: " .. record.hint end
  for _, note in ipairs(record.notes or {}) do show(note, lines) end
end

function Failure:__tostring()
  local lines = {}
  for _, record in ipairs(self.errors or { self }) do show(record, lines) end
  if (self.unsaid or 0) > 0 then lines[#lines + 1] = ("and %d more"):format(self.unsaid) end
  return table.concat(lines, "\n")
end

Failure.__concat = fail.concat

-- Whether failures are raised as text. If so, `latest` is the error object whose text is
-- `latest_text`.
local raises_text, latest, latest_text = host.reads_text(), nil, nil
fail.forms = { object = false, text = true }

--- Chooses whether this Lua state raises objects ("object") or their text ("text") from now on.
function fail.raise_as(form) raises_text = fail.forms[form] end

--- Returns the error object of a failure that pcall returned; any other value is returned
--- unchanged.
function fail.caught(problem)
  if latest and problem == latest_text then return latest end
  return problem
end

--- Raises a failure. If it has no position, it gets the position of the caller's line. Call it as
--- `return fail.raise(..)` where possible: a tail call leaves no frame of ours in the traceback of
--- an uncaught error.
---@param failure table  code, message; if known: hint file line column width source index
function fail.raise(failure)
  if not failure.file then failure.file, failure.line = fail.caller() end
  setmetatable(failure, Failure)
  if not raises_text then return error(failure, 0) end
  latest, latest_text = failure, tostring(failure)
  return error(latest_text, 0)
end

--- Returns the text of several failures, as raise_all would raise it.
function fail.text(errors, unsaid)
  return Failure.__tostring { errors = errors, unsaid = unsaid }
end

--- Raises several failures as one: the first, with all of them, itself included, as `.errors`.
---@param errors table    a list; each may have `notes`, also a list
---@param unsaid integer  the number of errors that are not in the list
function fail.raise_all(errors, unsaid)
  local first = errors[1]
  first.errors, first.unsaid = errors, unsaid > 0 and unsaid or nil
  return fail.raise(first)
end

--- Raises an error about an argument: one sentence, at the caller's line.
---@param message string
---@param hint string?
---@param code string?
function fail.argument(message, hint, code)
  return fail.raise { code = code or "argument.invalid", message = message, hint = hint }
end

--- Raises for a feature that is not implemented yet.
function fail.later(what, hint)
  return fail.raise { code = "kernel.not_yet",
    message = what .. " comes in a later version of Regolith",
    hint = hint }
end

--- Returns the index of the name in a list that was probably meant, or nil; lib.lua sets this to a
--- function of the library.
function fail.find_nearest() end

--- Returns "did you mean 'shape'?", or nil if no name is close.
---@param name any
---@param names table   a list
function fail.nearest(name, names)
  local number = type(name) == "string" and fail.find_nearest(name, names)
  return number and ("did you mean '%s'?"):format(names[number])
end

-- Describes a cdata; lib.lua adds the handles.
function fail.describe_cdata() return "a cdata" end

--- Describes a value as messages show it: `"abc"`, `1.5`, `nil`, `a table`.
function fail.describe(value)
  local kind = type(value)
  if kind == "nil" or kind == "number" or kind == "boolean" then return tostring(value) end
  if kind == "string" then
    return ("%q"):format(#value > 40 and value:sub(1, 37) .. "..." or value)
  end
  if kind == "cdata" then return fail.describe_cdata(value) end
  local meta = kind == "table" and getmetatable(value)
  local what = type(meta) == "table" and rawget(meta, "__regolith")
  if what == "a type" or what == "a packed type" then return "the type " .. tostring(value) end
  if what then return what end
  return "a " .. kind
end

--- Returns a type's name with its article: `an f32`, `a u8`.
function fail.a(name) return (name:find "^[fi]" and "an " or "a ") .. name end

--- Raises for a value that does not fit in an element.
function fail.store(value, type_name)
  return fail.argument(("cannot store %s in %s element"):format(fail.describe(value),
    fail.a(type_name)))
end

--- Raises for option names that `what` does not have.
---@param options table
---@param names table   a list
---@param what string   "rg.init"
function fail.check_options(options, names, what)
  for name in pairs(options) do
    local known = false
    for _, other in ipairs(names) do known = known or name == other end
    if type(name) == "number" then
      fail.argument(("%s takes options by name in a table, not a list"):format(what),
        "numbers come one by one: (16, 16) instead of ({16, 16})", "option.invalid")
    elseif not known then
      fail.argument(("%s has no option '%s'"):format(what, tostring(name)),
        fail.nearest(name, names) or "its options: " .. table.concat(names, ", "), "option.invalid")
    end
  end
end

--- Returns the options of `what`, a table with only these names, or {} where none are given.
function fail.options(options, names, what, hint)
  if options == nil then return {} end
  if type(options) ~= "table" then
    return fail.argument(("options of %s must be a table, got %s"):format(what,
      fail.describe(options)), hint)
  end
  fail.check_options(options, names, what)
  return options
end

--- Raises for an option that has an invalid value.
---@param wanted string   what it must be: "a number from 0"
function fail.option(options, name, what, wanted, hint)
  return fail.argument(("option '%s' of %s must be %s, got %s"):format(name, what, wanted,
    fail.describe(options[name])), hint, "option.invalid")
end

local of_type = { boolean = "true or false", number = "a number", string = "a string",
  ["function"] = "a function" }

--- Returns an option of this Lua type, or nil if it is not given.
function fail.typed_option(options, name, kind, what, hint)
  local v = options[name]
  if v == nil or type(v) == kind then return v end
  return fail.option(options, name, what, of_type[kind], hint)
end

--- Returns an option that is a number of at least 0.
function fail.number_option(options, name, default, what)
  local v = options[name]
  if v == nil then return default end
  if type(v) ~= "number" or v ~= v or v < 0 then
    return fail.option(options, name, what, "a number from 0")
  end
  return v
end

--- Lets arithmetic with a kind of object raise this sentence.
function fail.refuse_arithmetic(meta, message, hint)
  local function refuse() return fail.argument(message, hint) end
  for _, name in ipairs { "add", "sub", "mul", "div", "mod", "pow", "unm" } do
    meta["__" .. name] = refuse
  end
end

-- Debian's LuaJIT of 2022 may truncate the address that a compiled `next` returns to 32 bits if its
-- two results arrive in swapped registers (lj_asm.c, ra_destpair). So frequent loops over pairs are
-- not compiled, or avoid pairs.
if jit then jit.off(fail.check_options) end

-- -- the border to the user's code ----------------------------------------------------------------

local is_traced = os and os.getenv and os.getenv "RG_TRACE" == "1"
fail.is_traced = is_traced

local function pass(ok, ...)
  if ok then return ... end
  return error((...), 0)
end

--- Wraps `f` for users: its errors leave by a tail call, so that the traceback of an uncaught one
--- shows none of our frames (RG_TRACE=1 shows all). Launches and element accesses need no wrapper,
--- because their errors are tail calls on the whole way.
function fail.border(f)
  if is_traced then return f end
  return function(...) return pass(pcall(f, ...)) end
end

--- Returns the __index of tables with these methods. Each method is wrapped as above; other names
--- raise an error.
---@param members table   name -> function; changed in place
---@param what string     how the message calls the table
---@param metatable table   of what has them
---@param object string   how the message calls one of those
---@param hints table?   name that others use -> what to write instead
function fail.members(members, what, metatable, object, hints)
  local names = {}
  for name in pairs(members) do names[#names + 1] = name end
  fail.guard(members, function(self) return getmetatable(self) == metatable end, object)
  return function(_, name)
    if members[name] then return members[name] end
    return fail.argument(("%s has no '%s'"):format(what, tostring(name)),
      hints and hints[name] or fail.nearest(name, names))
  end
end

--- Makes methods raise an error when called with a dot; `is_own(self)` says whether self is their
--- object. Each method is wrapped as above, except those in `fast`.
---@param methods table   name -> function; changed in place
---@param object string   how the message calls the object
---@param fast table?   name -> true
function fail.guard(methods, is_own, object, fast)
  for name, inside in pairs(methods) do
    local method = fast and fast[name] and inside or fail.border(inside)
    methods[name] = function(self, ...)
      if is_own(self) then return method(self, ...) end
      return fail.argument(("a method is called with a colon: %s:%s(..)"):format(object, name),
        "a dot does not pass the object")
    end
  end
  return methods
end

fail.own_chunk, fail.is_ours = own_chunk, is_ours

return fail
