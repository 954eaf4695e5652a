--- The commands of the prompt: `:time`, `:tree`, .. A command is { help, usage, run }; run returns
--- the text to print, or nil, a problem and a hint. A command with `lua_part(argument)`, which
--- returns the Lua code in its argument, may extend over several lines. `console.commands` is a
--- copy of these, to which a user may add.
local help = require "regolith.console.help"
local input = require "regolith.console.input"
local meter = require "regolith.console.meter"
local path = require "regolith.console.path"
local handle = require "regolith.console.handle"
local memory = require "regolith.console.memory"
local picture = require "regolith.console.picture"
local plot = require "regolith.console.plot"
local whole = require "regolith.data.whole"
local fail = require "regolith.error"

local colon = { commands = {} }

local function add(name, usage, text, run)
  colon.commands[name] = { usage = usage ~= "" and usage or nil, help = text, run = run }
end

-- -- help -----------------------------------------------------------------------------------------

add("help", "[name]", "Lists the commands; describes a name, like ?name.", function(console, about)
  if about == "?" then return help.about(console, "") end
  if console.commands[about] then return help.command(console, about) end
  if about ~= "" then
    local text, hint = help.about(console, about)
    if text:find "^nothing is called" then return nil, text, hint end
    return text
  end
  return help.commands(console)
end)

add("docs", "[words]", "Opens the documentation in a browser, or searches it for these words.",
  function(_, words)
    local prefix = debug and debug.getregistry()["regolith.prefix"]
    if not prefix then return nil, "only the program `regolith` can open the documentation" end
    return require("regolith.console.command").open_docs(prefix, words)
  end)

add("source", "f", "The source of a function or kernel, like ??f.", function(console, about)
  if about == "" or about == "??" then return nil, "??f takes a function or kernel" end
  return help.source(console:evaluate(about))
end)

-- -- kernels --------------------------------------------------------------------------------------

local function kernel_of(console, argument, what)
  local example = ("as in ':%s step'"):format(what)
  if argument == "" then
    local list = require("regolith.kernel").all()
    if #list == 1 then return list[1] end
    return nil, (":%s takes a kernel"):format(what), example
  end
  local v = console:evaluate(argument)
  if path.kind(v) == "kernel" then return v end
  return nil, (":%s takes a kernel, not %s"):format(what, fail.describe(v)), example
end

for name, text in pairs { ir = "The IR of a kernel, after the passes.",
  llvm = "A kernel as LLVM IR.", asm = "A kernel's machine code.",
  explain = "How each loop and access of a kernel was compiled." } do
  add(name, "kernel", text, function(console, argument)
    local k, problem, hint = kernel_of(console, argument, name)
    if not k then return nil, problem, hint end
    local ok, shown = pcall(k[name], k)
    if ok then return (shown:gsub("%s+$", "")) end
    local reason = type(shown) == "table" and shown.message or tostring(shown)
    return nil, reason, type(shown) == "table" and shown.hint or nil
  end)
end

add("kernels", "", "The kernels that exist.", function(console)
  local lines = {}
  for k, kernel in ipairs(require("regolith.kernel").all()) do
    lines[k] = console:describe(kernel)
  end
  return #lines > 0 and table.concat(lines, "\n") or "no kernel exists"
end)

-- `100 step()` is a count and a text; `1 + 1` is an expression.
local function counted(argument)
  local count, text = argument:match "^(%d+)%s+(.+)$"
  if not count or input.load(argument, "=check") then return 1, argument end
  return tonumber(count), text
end

add("time", "[count] text", "Runs the text, count times; reports how long that took.",
  function(console, argument)
    local count, text = counted(argument)
    if text == "" then return nil, ":time needs code to run", "as in ':time 100 step()'" end
    local chunk, reason = console:compile(text)
    if not chunk then return nil, reason end
    local garbage, before = collectgarbage "count", meter.read()
    for _ = 1, count do chunk() end
    local spent = meter.since(before)
    garbage = collectgarbage "count" - garbage
    local lines = { meter.text(spent) }
    if count > 1 then
      lines[1] = ("%s each, %s"):format(meter.duration(spent.seconds / count), lines[1])
    end
    lines[2] = ("%d launches, %d compiles, %.1f KiB of Lua's memory"):format(spent.launches,
      spent.compiles, math.max(0, garbage))
    return table.concat(lines, "\n")
  end)

function colon.commands.time.lua_part(argument) return (select(2, counted(argument))) end

-- -- data -----------------------------------------------------------------------------------------

-- The memory reports of all trees that have been laid out.
local function all_trees(console)
  local report = console.rg.memory()
  if #report.trees == 0 then return "no tree is laid out" end
  return memory.draw({ live = report.live, reserved = report.reserved, peak = report.peak,
    trees = report.trees, arrays = {} }, console)
end

add("tree", "[x]", "The tree of a field or node: levels, active cells, bytes; or all trees.",
  function(console, argument)
    if argument == "" then return all_trees(console) end
    local v = console:evaluate(argument)
    local kind = path.kind(v)
    if kind == "field" then
      local shown = handle.tree_of_field(v)
      if not shown then return nil, "this field is not placed in a tree yet" end
      return shown
    end
    if kind ~= "node" and kind ~= "tree" then
      return nil, (":tree takes a field, a node or a tree, not %s"):format(fail.describe(v))
    end
    return console:describe(v)
  end)

add("mem", "", "How much memory is used, by tree, level and array.",
  function(console) return memory.draw(console.rg.memory(), console) end)

add("gc", "", "Collects garbage: Lua's, then freed cells; reports how much was freed.",
  function(console)
    local before, lua_before = console.rg.memory().live, collectgarbage "count"
    collectgarbage()
    collectgarbage()
    console.rg.gc()
    local text = require "regolith.console.text"
    return ("%s of data, %s of Lua's memory freed"):format(
      text.size(math.max(0, before - console.rg.memory().live)),
      text.size(math.max(0, lua_before - collectgarbage "count") * 1024))
  end)

local function has_elements(v)
  local kind = path.kind(v)
  return kind == "field" or kind == "array" or kind == "view"
end

function colon.picture(console, v)
  return picture.draw(whole.plain(v), { width = math.min(console.width - 1, 200),
    height = console.height, colours = console.colours })
end

local function draw(console, v)
  v = whole.plain(v)
  local graphics = console.graphics and console.graphics()
  local pixels = graphics and picture[graphics]
  local axes = 0
  for _ in pairs(v.shape) do axes = axes + 1 end
  local extents = pixels and axes >= 2 and picture.extents(v)
  if not extents then return colon.picture(console, v) end
  local n, m = extents[1], extents[2]
  local scale = math.min(400 / n, 300 / m)
  if scale > 1 then scale = math.max(1, math.floor(200 / math.max(n, m))) end
  return pixels(v, math.max(1, math.floor(n * scale)), math.max(1, math.floor(m * scale)))
end

-- Splits `x 'file.png'` or `x, file.png` into an expression and a path.
local function split_path(argument)
  local text, file = argument:match "^(.-)[%s,]+[\"']?([%w_./~-]+%.%a+)[\"']?$"
  if not text then return argument end
  return text, file
end

add("show", "x [file]", "A field or array as a picture, here or in a file; of one axis, as a line.",
  function(console, argument)
    local text, file = split_path(argument)
    if text == "" then return nil, ":show takes a field or an array" end
    local v = console:evaluate(text)
    if not has_elements(v) then
      return nil, (":show takes a field or an array, not %s"):format(fail.describe(v))
    end
    if not file then return draw(console, v) end
    console.rg.image.write(file, v, { palette = "viridis" })
    return "wrote " .. file
  end)

add("watch", "[x]", "Shows a field while kernels run; without one, ends that for all.",
  function(console, argument)
    if argument == "" then
      local count = #console.watched
      console.watched = {}
      return count > 0 and "nothing is watched now" or "nothing is watched: write ':watch x'"
    end
    local v = console:evaluate(argument)
    if not has_elements(v) then
      return nil, (":watch takes a field or an array, not %s"):format(fail.describe(v))
    end
    table.insert(console.watched, { name = argument, value = v })
    if not console.redraw then
      return "watched, but only a terminal can redraw it while kernels run"
    end
    return ("%s is shown while kernels run; ':watch' ends it"):format(argument)
  end)

add("plot", "x [file]", "Numbers as a line, here; in a file (PNG, SVG) by rg.plot.",
  function(console, argument)
    local text, file = split_path(argument)
    if text == "" then return nil, ":plot takes a field, an array or a table of numbers" end
    local v = console:evaluate(text)
    if type(v) ~= "table" and not has_elements(v) then
      return nil, (":plot takes numbers, not %s"):format(fail.describe(v))
    end
    if not file then
      return plot.draw(whole.plain(v), { width = math.min(console.width - 1, 120),
        height = console.height })
    end
    console.rg.plot.line(file, v)
    return "wrote " .. file
  end)

-- -- sessions -------------------------------------------------------------------------------------

add("save", "file name ..", "Saves fields and arrays of these names in a file, by rg.save.",
  function(console, argument)
    local file, list = argument:match "^(%S+)%s+(.+)$"
    if not file then
      return nil, ":save takes a file and names", "as in ':save state.rg x velocity'"
    end
    local data, count = {}, 0
    for name in list:gmatch "[%a_][%w_.]*" do
      data[name], count = console:evaluate(name), count + 1
      if data[name] == nil then return nil, ("'%s' is nil"):format(name) end
    end
    console.rg.save(file, data)
    return ("saved %d %s in %s"):format(count, count == 1 and "object" or "objects", file)
  end)

add("load", "file", "Declares variables for the objects in a saved file, by rg.load.",
  function(console, argument)
    if argument == "" then return nil, ":load takes a file" end
    local data, problem = console.rg.load(argument)
    if not data then return nil, problem end
    local found = {}
    for name, v in pairs(data) do
      console.scope:declare(name, v)
      found[#found + 1] = name
    end
    table.sort(found)
    return "loaded " .. table.concat(found, ", ")
  end)

add("reset", "", "Ends the runtime and forgets the locals; globals stay.",
  function(console)
    console.rg.reset()
    console.scope:clear()
    console.watched = {}
    collectgarbage()
    return "restarted: fields and kernels made before this raise errors"
  end)

add("locals", "", "The locals of this session.", function(console)
  local list, lines = {}, {}
  for name in pairs(console.scope.cells) do
    if not name:find "^_%d*$" then list[#list + 1] = name end
  end
  table.sort(list)
  for k, name in ipairs(list) do
    lines[k] = ("%s = %s"):format(name, console:describe(console.scope:find(name),
      { is_brief = true, depth = 1 }))
  end
  return #lines > 0 and table.concat(lines, "\n") or "no locals"
end)

add("quit", "", "Leaves, as Ctrl-D does.", function(console)
  if not console.leave then return nil, "only the program around this console can end it" end
  console.leave()
end)

return colon
