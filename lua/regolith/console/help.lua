--- Help about a name or a value: `?rg.field`, `?x`, `?fill`, `??f`. It needs no network.
local names = require "regolith.console.names"
local path = require "regolith.console.path"
local describe = require "regolith.console.describe"
local text = require "regolith.console.text"
local input = require "regolith.console.input"
local fail = require "regolith.error"
local disk = require "regolith.file.disk"
local builtin = require "regolith.kernel.builtin"

local debug = debug -- a sandbox may remove it later

local help = {}

local overview = [[
Lua, line by line. The value of an expression is printed, unless it ends in
`;`. `_` is the last result, or `_1`, `_2`, .. if there are several. Later
lines see the locals of earlier ones. Unfinished input continues on the next
line; a paste is run as a whole at Enter.

  ?name          describes a name: ?rg.field, ?x, ?fill     ??f   its source
  :help          the commands: :time, :tree, :mem, ..
  Tab            completes; Ctrl-R searches earlier inputs
  Ctrl-C         discards the input, or stops running code
  Ctrl-D         leaves, from an empty line; or discards unfinished input

A first kernel:
  x = rg.field(rg.f32, 8)
  k = rg.kernel(function(a) for i in rg.range(8) do x[i] = a * i end end)
  k(0.5)
  x]]

-- Formats names and their meanings in columns, on lines of at most `columns`.
local function rows_text(rows, columns)
  local width, lines = 0, {}
  for _, row in ipairs(rows) do width = math.max(width, math.min(26, #row.signature)) end
  local indent = "\n" .. (" "):rep(width + 4)
  for k, row in ipairs(rows) do
    local gap = #row.signature > width and indent or (" "):rep(width + 2 - #row.signature)
    lines[k] = "  " .. row.signature .. gap
      .. table.concat(text.wrap(row.meaning, math.max(20, columns - width - 5)), indent)
  end
  return table.concat(lines, "\n")
end

-- Puts names that share a row of the table on one line.
local function short(class, columns)
  local rows, by_row = {}, {}
  for _, row in ipairs(class.rows) do
    local shown = by_row[row.group]
    if shown then
      shown.signature = shown.signature .. " " .. row.name
    else
      local head = class.name == "rg" and "rg." or row.is_call and ":" or ""
      shown = { meaning = row.meaning, signature = head .. row.name, is_call = row.is_call }
      rows[#rows + 1], by_row[row.group] = shown, shown
    end
  end
  for _, row in ipairs(rows) do
    if row.is_call then row.signature = row.signature .. "(..)" end
  end
  return rows_text(rows, columns)
end

local function class_text(class, columns)
  return ("%s\n%s"):format(class.title, short(class, columns))
end

local function row_text(row, class)
  return ("%s\n  %s%s"):format(row.signature, row.meaning,
    class.name ~= "rg" and ("   (%s)"):format(class.title) or "")
end

-- The rows named `word`, of all classes or of one.
local function find_rows(word, only)
  local found = {}
  for _, class in ipairs(names.classes()) do
    local row = class.rows[word]
    if row and (not only or class == only) then found[#found + 1] = row_text(row, class) end
  end
  return found
end

local function value_text(v, kind, columns)
  local shown = describe.value(v, { is_brief = true })
  local class = names.class(names.class_of[kind])
  if kind == "module" then return class_text(class, columns) end
  return class and shown .. "\n\n" .. class_text(class, columns) or shown .. "\n  a " .. kind
end

local function all_names()
  local list = {}
  for _, class in ipairs(names.classes()) do
    for _, row in ipairs(class.rows) do list[#list + 1] = row.name end
  end
  return list
end

--- Returns the text about a name, a path or a command.
---@param console table   scope, commands
---@param word string
function help.about(console, word)
  word = word:match "^%s*(.-)%s*$"
  if word == "" then return overview end
  local command = word:match "^:(%w+)$"
  if command and console.commands[command] then return help.command(console, command) end
  local member = word:match "^rg[.:](.+)$"
  local found = member and find_rows(member, names.class "rg") or {}
  if #found > 0 then return table.concat(found, "\n") end
  local owner, name = word:match "^(.+)[.:]([%a_][%w_]*)$"
  if owner then -- a method or member, as in x:fill
    local class = names.class(names.class_of[path.kind((path.resolve(console.scope, owner)))])
    found = class and find_rows(name, class) or {}
    if #found > 0 then return table.concat(found, "\n") end
  end
  local v = path.resolve(console.scope, word)
  if v ~= nil then return value_text(v, path.kind(v), console.width) end
  found = find_rows(word)
  if #found > 0 then return table.concat(found, "\n") end
  return ("nothing is called '%s'"):format(word), fail.nearest(member or word, all_names())
    or word:find "^%a+$" and (":docs %s searches the guide"):format(word) or nil
end

--- Describes one command and its usage.
function help.command(console, name)
  local command = console.commands[name]
  return (":%s%s\n  %s"):format(name, command.usage and " " .. command.usage or "", command.help)
end

--- Lists all commands.
function help.commands(console)
  local rows, sorted = {}, {}
  for name in pairs(console.commands) do sorted[#sorted + 1] = name end
  table.sort(sorted)
  for k, name in ipairs(sorted) do
    local command = console.commands[name]
    rows[k] = { signature = ":" .. name .. (command.usage and " " .. command.usage or ""),
      meaning = command.help }
  end
  return rows_text(rows, console.width)
    .. "\n  ?name, ??f\n?  alone explains the prompt"
end

-- Reads lines of a file or of a remembered text.
local function lines_of(whole, first, last)
  local list, number = {}, 0
  for line in (whole .. "\n"):gmatch "(.-)\n" do
    number = number + 1
    if number >= first and number <= last then list[#list + 1] = line end
  end
  return table.concat(list, "\n")
end

--- Returns the source of a kernel or function, or nil and the reason why there is none.
function help.source(v)
  if path.kind(v) == "kernel" then return v:source() end
  if type(v) ~= "function" then
    return nil, ("%s has no source: ??f is for functions and kernels"):format(fail.describe(v))
  end
  local own = builtin.names[v]
  if own then return nil, own .. " is Regolith's own", ("?%s describes it"):format(own) end
  local info = debug and debug.getinfo(v, "S") or { what = "C" }
  if info.what == "C" then return nil, "this function is built in, or written in C" end
  local kept = input.texts()
  local whole = kept[info.source] or (info.source:sub(1, 1) ~= "@" and info.source)
    or disk.read(info.source:sub(2))
  if not whole then return nil, "its file cannot be read: " .. info.short_src end
  return lines_of(whole, info.linedefined, info.lastlinedefined)
end

return help
