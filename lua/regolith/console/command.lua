--- The commands of the program: `regolith info`, `regolith docs`, `regolith examples`, `regolith
--- new NAME`, `regolith build`, `regolith cache`. Each returns an exit code. A word that is neither
--- a command nor a file is refused, with a suggestion.
local fail = require "regolith.error"
local disk = require "regolith.file.disk"

local io, os, table = io, os, table

local command = {}
local commands = {} -- name -> function(place, words..): exit code
local names = { "run", "info", "docs", "examples", "new", "build", "cache", "help" }

local function complain(message, hint)
  io.stderr:write("regolith: ", message, "\n")
  if hint then io.stderr:write("hint: ", hint, "\n") end
  return 1
end

-- The library's "did you mean" for a misspelt word.
local function nearest(name, known)
  pcall(require, "regolith.lib")
  return fail.nearest(name, known)
end


-- -- run ------------------------------------------------------------------------------------------

local run_usage = "regolith run -n 4 script.lua .."

-- The number of ranks, as text, and the words after it: `-n 4 script.lua ..`, `-n4 script.lua ..`.
local function ranks_of(option, ...)
  local count = (option or ""):match "^%-n(.*)$"
  if count == "" then return ... end
  return count, ...
end

-- Starts this program `count` times, each as one rank.
local function start_ranks(place, count, words)
  local ffi = require "ffi"
  local C = require("regolith.lib").C
  table.insert(words, 1, place.prefix .. "/bin/regolith")
  local argv = ffi.new("const char *[?]", #words + 1) -- the last element stays NULL
  for k, word in ipairs(words) do argv[k - 1] = word end
  local code = ffi.new "int32_t[1]"
  if C.rg_ranks_run(count, argv, code) == 0 then return code[0] end
  return complain((ffi.string(C.rg_error(nil).message):gsub("^rg_ranks_run: ", "")))
end

--- `regolith run -n 4 script.lua ..`
function commands.run(place, option, ...)
  if option == "-h" or option == "--help" then
    print(run_usage .. "\n\nstarts the script as this many processes, the ranks of one simulation, "
      .. "and ends when\nall of them have ended. In the script, rg.comm() connects a rank to the "
      .. "others.")
    return 0
  elseif not option then
    return complain("regolith run needs a number of ranks, and a script", run_usage)
  elseif option:sub(1, 2) ~= "-n" then
    return complain(("regolith run takes the number of ranks first, -n 4, not '%s'"):format(option),
      run_usage)
  end
  local words = { ranks_of(option, ...) }
  local count = table.remove(words, 1)
  local problem
  local ranks = (count or ""):match "^%d+$" and tonumber(count) or 0
  if ranks < 1 or ranks > 256 then
    problem = count and ("-n takes a number of ranks, from 1 to 256, not '%s'"):format(count)
      or "-n takes a number of ranks, from 1 to 256"
  elseif not words[1] then problem = ("regolith run -n %s needs a script"):format(count)
  elseif words[1]:sub(1, 1) ~= "-" then
    local file, why = io.open(words[1], "rb")
    if not file then return complain("cannot open " .. why) end
    file:close()
  end
  if problem then return complain(problem, run_usage) end
  return start_ranks(place, ranks, words)
end

-- -- info -----------------------------------------------------------------------------------------

local function system_name()
  local release = disk.read "/etc/os-release" or ""
  local kernel = disk.read "/proc/sys/kernel/osrelease" or "?"
  return ("%s, kernel %s, %s"):format(release:match 'PRETTY_NAME="([^"]*)"' or jit.os,
    kernel:gsub("%s+$", ""), jit.arch)
end

local function processor_name()
  return (disk.read "/proc/cpuinfo" or ""):match "model name%s*:%s*([^\n]*)" or "?"
end

-- "available", or the reason why not; it opens the device to find out.
local function device_state(rg, arch)
  local ok, problem = pcall(rg.new, { arch = arch, threads = 1 })
  problem = fail.caught(problem)
  return ok and "available" or (type(problem) == "table" and problem.message or tostring(problem))
end

local function show_environment(row)
  local C = require("regolith.lib").C
  for line in require("ffi").string(C.rg_options_help()):gmatch "[^\n]+" do
    local name = line:match "^(RG_[%w_]+)"
    local value = name and os.getenv(name)
    if value then row(name, value) end
  end
end

function commands.info(place)
  local rg = require "regolith"
  local info = rg.info()
  local rows = {}
  local function row(name, value)
    if rg.log.is_json() then rows[name] = tostring(value)
    else print(("%-12s %s"):format(name, tostring(value))) end
  end
  local folder = info.library:match "^(.*)/[^/]*$" or "."
  row("regolith", info.version)
  row("lua", info.lua)
  row("llvm", info.llvm)
  row("system", system_name())
  row("processor", processor_name())
  row("code for", info.cpu)
  row("threads", info.threads)
  row("budget", ("%.1f GiB"):format(info.memory_bytes / 2 ^ 30))
  row("cpu", "available")
  row("cuda", device_state(rg, "cuda"))
  row("program", place.prefix .. "/bin/regolith")
  row("library", info.library)
  local compiler = folder .. "/libregolith-codegen.so"
  row("compiler", disk.has(compiler) and compiler or compiler .. " (missing)")
  row("modules", place.prefix .. "/share/lua/5.1/regolith")
  row("cache", rg.cache.info().folder or "none")
  row("examples", place.prefix .. "/share/regolith/examples")
  row("history", require("regolith.console.history").path() or "none")
  show_environment(row)
  if rg.log.is_json() then print(require("regolith.file.json").encode(rows)) end
  return 0
end

-- -- docs -----------------------------------------------------------------------------------------

-- The folder of the site: where it is installed, or where the build makes it.
local function find_site(prefix)
  for _, folder in ipairs { "/share/doc/regolith/html", "/docs" } do
    if disk.has(prefix .. folder .. "/index.html") then return prefix .. folder end
  end
end

local function encode(text)
  return (text:gsub("[^%w/._~-]", function(c) return ("%%%02X"):format(c:byte()) end))
end

-- Starts a browser and does not wait for it. Returns why none was started.
local function open(address)
  local browser = os.getenv "BROWSER"
  if not browser then
    local display = os.getenv "DISPLAY" or os.getenv "WAYLAND_DISPLAY" or ""
    if display == "" then return "there is no display" end
    if os.execute "command -v xdg-open >/dev/null" ~= 0 then
      return "xdg-open, which starts the browser, is not installed (Debian: xdg-utils)"
    end
    browser = "xdg-open"
  end
  os.execute(("%s '%s' >/dev/null 2>&1 &"):format(browser, address))
end

--- Opens the documentation, or its search for `words`. Returns a text to print, or nil, a problem
--- and a hint.
function command.open_docs(prefix, words)
  local site = find_site(prefix)
  if not site then
    local text = prefix .. "/share/doc/regolith/guide"
    return nil, "the pages of the documentation are missing", disk.has(text .. "/kernels.md")
      and ("they were built without cmark-gfm; their text is in %s"):format(text)
      or "cmake --build build --target docs makes them, by Debian's cmark-gfm"
  end
  local address = "file://" .. encode(site) .. "/index.html"
    .. (words ~= "" and "?q=" .. encode(words) or "")
  local why = open(address)
  return address .. (why and ("\n%s: open it in any browser"):format(why) or "")
end

--- `regolith docs`, `regolith docs WORD ..`
function commands.docs(place, ...)
  local text, problem, hint = command.open_docs(place.prefix, table.concat({ ... }, " "))
  if not text then return complain(problem, hint) end
  print(text)
  return 0
end

-- -- cache ----------------------------------------------------------------------------------------

local cache = {} -- word -> function(rg): exit code

function cache.info(rg)
  local info = rg.cache.info()
  if not info.folder then
    print "none: compiled kernels are not kept (RG_CACHE is off, or this user has no home folder)"
    return 0
  end
  print(("folder       %s"):format(info.folder))
  print(("kernels      %d"):format(info.entries))
  print(("takes        %.1f MiB of %.0f MiB"):format(info.bytes / 2 ^ 20, info.limit_bytes
    / 2 ^ 20))
  return 0
end

function cache.clear(rg)
  local before = rg.cache.info()
  local ok, problem = pcall(rg.cache.clear)
  if not ok then return complain(fail.caught(problem).message or tostring(problem)) end
  print(("deleted %d compiled kernel%s"):format(before.entries, before.entries == 1 and "" or "s"))
  return 0
end

function commands.cache(_, word)
  local run = cache[word or "info"]
  if run then return run(require "regolith") end
  return complain(("regolith cache has no command '%s'"):format(word),
    nearest(word, { "info", "clear" }) or "its commands: info, clear")
end

-- -- examples -------------------------------------------------------------------------------------

-- Examples are listed in this order of kinds; each names its kind before "Run it with:".
local kinds = { "Fluids", "Solids", "Growth and life", "Rendering", "Numerics", "Running" }
local kind_at = { [""] = 0 }
for k, kind in ipairs(kinds) do kind_at[kind] = k end

-- The name, path, first line and kind of each example, sorted by kind and name.
local function list_examples(place)
  local folder, list = place.prefix .. "/share/regolith/examples/", {}
  for _, file in ipairs(place.list(folder)) do
    local name = file:match "^([%w_]+)%.lua$"
    local text = name and disk.read(folder .. file) or ""
    local line = text:match "^%-%-%s*([^\n]*)"
    if line then
      local kind = text:match "\n%-%- ([%a ]+)%. Run it with:" or ""
      list[#list + 1] = { name = name, path = folder .. file, line = line, kind = kind }
    end
  end
  table.sort(list, function(a, b)
    local of_a, of_b = kind_at[a.kind] or #kinds + 1, kind_at[b.kind] or #kinds + 1
    if of_a ~= of_b then return of_a < of_b end
    return a.name < b.name
  end)
  return list
end

local function print_examples(list)
  local kind = ""
  for k, example in ipairs(list) do
    if example.kind ~= kind then print((k > 1 and "\n" or "") .. example.kind) end
    kind = example.kind
    print(example.line)
  end
end

-- Returns the path of an example, or nil and an exit code.
local function find_example(place, name)
  local known = {}
  name = name:gsub("%.lua$", "")
  for _, example in ipairs(list_examples(place)) do
    if example.name == name then return example.path end
    known[#known + 1] = example.name
  end
  return nil, complain(("there is no example '%s'"):format(name),
    nearest(name, known) or "the examples: " .. table.concat(known, ", "))
end

-- An example writes its pictures into the folder that its first argument names.
local function run_example(path, ...)
  if ... then require("regolith.console.folder").create((...)) end
  local chunk, message = loadfile(path)
  if not chunk then return complain(message) end
  arg = { [0] = path, ... } -- luacheck: ignore 121
  chunk(...)
  return 0
end

local function print_example(path)
  io.write(disk.read(path))
  return 0
end

function commands.examples(place, name, ...)
  if not name then
    local list = list_examples(place)
    print_examples(list)
    print("\nregolith examples NAME [FOLDER] runs one and leaves its pictures in the folder; "
      .. "-p NAME prints it.")
    local gallery = require "regolith.console.gallery"
    if gallery.is_possible() then
      gallery.show(list, function(each)
        os.execute(("'%s/bin/regolith' examples %s &"):format(place.prefix, each))
      end)
    end
    return 0
  end
  local action, wanted = run_example, name
  if name == "-p" then action, wanted = print_example, (...) end
  if not wanted then return complain "regolith examples -p takes the name of an example" end
  local path, code = find_example(place, wanted)
  if not path then return code end
  return action(path, ...)
end

-- -- new ------------------------------------------------------------------------------------------

local starter = [==[
-- @NAME@.lua - a drop of heat spreads through a sparse grid.
-- Run it with:  regolith @NAME@.lua
local rg = require "regolith"

local n, leaf = 256, 16
-- Sliders, where there is a window: a value and its ends. A rate above 0.25 is not stable.
local params = { rate = { 0.2, 0, 0.25 }, radius = { 12, 1, 60 } }

-- Data first: two fields (now and next) on a grid of n x n cells, allocated in blocks of 16 x 16. A
-- block is created when something in it is written; reading where there is no block gives zero.
local heat, next_heat = rg.field(rg.f32), rg.field(rg.f32)
local block = rg.root:pointer("ij", n / leaf)
block:dense("ij", leaf):place(heat, next_heat)

-- A kernel is a Lua function that is compiled at its first call. Its outermost loops run in
-- parallel; what it captures (`n`, `heat`, `params`) is read at every call.
local drop = rg.kernel(function(x, y)
  for i, j in rg.range(n, n) do -- all indices, from 0
    if rg.norm(rg.vec2(i - x, j - y)) < params.radius then heat[i][j] = 1.0 end
  end
end)

local clear = rg.kernel(function()
  for i, j in block:active() do block:deactivate(i, j) end
end)

-- Blocks grow with the heat: where a cell is warm, those of its neighbours are created.
local grow = rg.kernel(function(warm)
  for i, j in heat:active() do -- the cells of existing blocks
    if heat[i][j] > warm then
      heat:activate(math.max(i - 1, 0), j)
      heat:activate(math.min(i + 1, n - 1), j)
      heat:activate(i, math.max(j - 1, 0))
      heat:activate(i, math.min(j + 1, n - 1))
    end
  end
end)

-- The heat that flows in from a neighbour: none where there is no cell, so that none is lost.
local function flow(i, j, here)
  if heat:is_active(i, j) then return heat[i][j] - here end
  return 0.0
end

local spread = rg.kernel(function()
  for i, j in heat:active() do
    local here = heat[i][j]
    next_heat[i][j] = here + params.rate * (flow(i - 1, j, here) + flow(i + 1, j, here)
      + flow(i, j - 1, here) + flow(i, j + 1, here))
  end
end)

-- A local that a parallel loop updates is a reduction: a sum over all iterations.
local total = rg.kernel(function()
  local sum = 0.0
  for i, j in heat:active() do sum = sum + heat[i][j] end
  return sum
end)

local function step()
  grow(1e-6)
  spread()
  heat, next_heat = next_heat, heat -- swaps the buffers
end

local function report()
  print(("heat %.0f in %d blocks of %d"):format(total(), block:count(), (n / leaf) ^ 2))
end

-- In a window: drag the sliders, hold the mouse to paint heat, press space to pause. Change this
-- file while it runs, and save it.
rg.live {
  title = "@NAME@", params = params, step = step,
  reset = function() clear() drop(n / 2, n / 2) end,
  draw = function(w)
    w:show(heat, { palette = "heat", low = 0, high = 1 })
    w:plot("heat", total())
  end,
  touch = function(x, y) drop(x * n, y * n) end, -- from 0 to 1
  otherwise = function() -- without a display: a picture
    report()
    for _ = 1, 100 do step() end
    report()
    rg.image.write("@NAME@.png", heat, { palette = "heat" })
    print "see @NAME@.png"
  end,
}

-- Where to go from here:
--   regolith examples         more to read and run
--   regolith -i @NAME@.lua      the same, then a prompt
]==]

local function quoted(word) return word:find "[^%w_./+-]" and "'" .. word .. "'" or word end

commands["new"] = function(place, name)
  if not name or name:find "^%-" then
    return complain("regolith new takes a name", "regolith new drop  writes drop.lua")
  end
  local path = name:match "%.lua$" and name or name .. ".lua"
  local bare = path:match "([^/]+)%.lua$"
  if not bare or bare:find "%c" then
    return complain(("'%s' is not a name for a script"):format(name))
  end
  if disk.has(path) then
    return complain(("'%s' exists already, and was not changed"):format(path))
  end
  local file, problem = io.open(path, "wb")
  if not file then return complain(problem) end
  local text = starter:gsub("@NAME@", function() return bare end)
  local written = file:write(text)
  if not file:close() or not written then
    return complain(("'%s' could not be written"):format(path))
  end
  print(("wrote %s; run it with: %s %s"):format(path, quoted(place.program), quoted(path)))
  return 0
end

-- -- build ----------------------------------------------------------------------------------------

function commands.build(place, ...) return require("regolith.console.build").run(place, ...) end

-- -- all ------------------------------------------------------------------------------------------

commands["help"] = function()
  print "regolith -h lists options and commands; man regolith tells more"
  return 0
end

--- Runs a command.
---@param place table   prefix: where the program is installed; program: as it was called;
---   list(folder): the names in a folder
---@param word string
---@return integer exit_code
function command.run(place, word, ...)
  local run = commands[word]
  local wants_help = (...) == "-h" or (...) == "--help"
  if run and wants_help and word ~= "run" then return commands.help() end
  if run then return run(place, ...) end
  return complain(("there is no command or script '%s'"):format(word),
    nearest(word, names) or "regolith -h lists the commands")
end

return command
