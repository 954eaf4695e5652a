--- `regolith build script.lua -o FOLDER`: runs the script, and saves what it exports: a module, and
--- its header in C, for each `rg.export`. With --static it also writes an archive of each module,
--- for the linker of a host in C. With --bundle the folder becomes a program that needs nothing but
--- the C library, and with --love a folder becomes a game of LÖVE (love.lua):
---
---     bin/NAME            LuaJIT with Regolith, which runs share/app/main.lua
---     lib                 the library, without the compiler
---     share/lua/5.1       Regolith's modules in Lua
---     share/app           the script, the modules that it requires, and what was built
local fail = require "regolith.error"
local disk = require "regolith.file.disk"
local love = require "regolith.console.love"

local io, os = io, os

local build = {}

local usage = "regolith build script.lua -o FOLDER [--targets x86-64-v3,sm_80] [--static] "
  .. "[--bundle game.lua] [--sign key.pem], or --love GAME [-o GAME.love]"

local function stop(message, hint) return error({ message = message, hint = hint }, 0) end

-- -- files ----------------------------------------------------------------------------------------

local function make_folder(path)
  if os.execute("mkdir -p " .. disk.quote(path)) ~= 0 then
    stop(("cannot create '%s'"):format(path))
  end
end

local function read(path)
  local bytes, why = disk.read(path)
  return bytes or stop("cannot read " .. (why or path))
end

local function write(path, bytes)
  make_folder(path:match "^(.*)/[^/]*$" or ".")
  local file, why = io.open(path, "wb")
  if not file or not file:write(bytes) or not file:close() then
    stop("cannot write " .. (why or path))
  end
end


-- -- the command ----------------------------------------------------------------------------------

local function split(text)
  local words = {}
  for word in text:gmatch "[^,]+" do words[#words + 1] = word end
  return words
end

local switches = { ["--static"] = "is_static" }
local takes = { ["-o"] = "out", ["--targets"] = "targets", ["--bundle"] = "main",
  ["--sign"] = "key", ["--love"] = "love" }

local function read_words(...)
  local words, request, k = { ... }, { rest = {} }, 1
  while words[k] do
    local word = words[k]
    local is_ours = #request.rest == 0
    local name = is_ours and takes[word]
    if is_ours and switches[word] then
      request[switches[word]] = true
    elseif name then
      request[name] = words[k + 1] or stop(word .. " needs a value", usage)
      k = k + 1
    elseif not request.script and word:sub(1, 1) == "-" then
      stop(("regolith build has no option '%s'"):format(word), usage)
    elseif not request.script then
      request.script = word
    else
      request.rest[#request.rest + 1] = word
    end
    k = k + 1
  end
  if request.love then love.check(request, stop) end
  if not request.script then stop("regolith build needs a script", usage) end
  if not request.out then stop("regolith build needs a folder to build in: -o FOLDER", usage) end
  request.out = request.out:gsub("(.)/+$", "%1")
  request.name = request.script:match "([^/]+)$":gsub("%.lua$", "")
  request.targets = request.targets and split(request.targets)
  return request
end

-- -- modules --------------------------------------------------------------------------------------

local function run_script(request)
  local dialect = require "regolith.kernel.dialect"
  local text = read(request.script):gsub("^#[^\n]*", "")
  local chunk, message = dialect.load(text, "@" .. request.script)
  if not chunk then stop(message) end
  arg = { [0] = request.script, unpack(request.rest) } -- luacheck: ignore 121
  chunk(unpack(request.rest))
end

-- A name for the functions of a header: an identifier of C.
local function prefix_of(name) return (name:gsub("[^%w]", "_"):gsub("^(%d)", "_%1")) end

-- Builds and saves what the script exports; with `has_headers` also headers for hosts in C.
local function save_modules(request, folder, say, has_headers)
  local module = require "regolith.module"
  run_script(request)
  local exported, saved = module.exported, {}
  if #exported == 0 then
    stop(("'%s' exports nothing"):format(request.script), "rg.export{ step = step, x = x }")
  end
  for _, one in ipairs(exported) do
    local name = one.name or request.name
    if saved[name] then
      stop(("two modules are called '%s'"):format(name),
        "give each a name: rg.export({ step = step }, { name = \"sand\" })")
    end
    saved[name] = true
    local path = ("%s/%s.rgm"):format(folder, name)
    make_folder(folder)
    one:save(path, { targets = request.targets, sign = request.key })
    local archive = request.is_static and ("%s/%s.a"):format(request.out, name)
    say(path)
    if has_headers then
      write(("%s/%s.h"):format(request.out, name),
        module.header(one.session, path, prefix_of(name), archive))
      say(("%s/%s.h"):format(request.out, name))
    end
    if archive then say(archive) end
  end
end

-- -- bundles --------------------------------------------------------------------------------------

-- The names of modules that a text requires by a constant name.
local function required(text)
  local names = {}
  for name in text:gmatch "require%s*%(?%s*[\"']([^\"']+)[\"']" do names[#names + 1] = name end
  return names
end

local function is_regolith(name) return (name .. "."):find "^regolith%." end

-- Copies the script, and the modules next to it that it requires.
local function copy_app(request, say)
  local app, folder = request.out .. "/share/app", request.main:match "^(.*)/[^/]*$" or "."
  local search, done = ("%s/?.lua;%s/?/init.lua"):format(folder, folder), {}
  local function copy(from, to)
    local text = read(from)
    write(app .. "/" .. to, text)
    say(app .. "/" .. to)
    for _, name in ipairs(required(text)) do
      local path = not is_regolith(name) and not done[name] and package.searchpath(name, search)
      done[name] = true
      if path then copy(path, path:sub(#folder + 2)) end
    end
  end
  copy(request.main, "main.lua")
end

local function first_of(what, ...)
  for k = 1, select("#", ...) do
    local path = select(k, ...)
    if disk.has(path) then return path end
  end
  return stop(("%s is missing: %s"):format(what, (select(1, ...))),
    "a complete installation of Regolith has it")
end

-- The player library (core/api/CMakeLists.txt), which supports no GPUs; if it is missing, or code
-- for GPUs is built, the complete library.
local function find_library(prefix, targets)
  local has_gpu = false
  for _, target in ipairs(targets or {}) do has_gpu = has_gpu or target:find "^sm_" ~= nil end
  for _, folder in ipairs(has_gpu and {} or { "/libexec/regolith-player", "/player" }) do
    local path = prefix .. folder .. "/libregolith.so.1"
    if disk.has(path) then return path end
  end
  return require "regolith".info().library
end

local function write_library(place, request, library, say)
  write(library, read(find_library(place.prefix, request.targets)))
  if os.execute("command -v strip >/dev/null") == 0 then
    os.execute("strip " .. disk.quote(library))
  end
  say(library)
end

local function copy_program(place, request, say)
  local prefix, name = place.prefix, request.main:match "([^/]+)$":gsub("%.lua$", "")
  local host = first_of("the program of bundles", prefix .. "/libexec/regolith-bundle",
    prefix .. "/bin/regolith-bundle")
  local program = ("%s/bin/%s"):format(request.out, name)
  write(program, read(host))
  if os.execute("chmod 755 " .. disk.quote(program)) ~= 0 then stop("cannot chmod " .. program) end
  say(program)
  write_library(place, request, request.out .. "/lib/libregolith.so.1", say)
end

-- Copies Regolith's own modules, except those of the prompt, and their bytecode if there is any.
local function copy_lua(place, to)
  local from = place.prefix .. "/share/lua/5.1/regolith"
  local function copy(inner)
    for _, name in ipairs(place.list(from .. inner)) do
      if name:find "%.lua$" then
        write(("%s%s/%s"):format(to, inner, name), read(("%s%s/%s"):format(from, inner, name)))
      elseif not name:find "%." and name ~= "console" and name ~= "bytecode" then
        copy(inner .. "/" .. name)
      end
    end
  end
  copy ""
  for _, path in ipairs { from .. "/bytecode", place.prefix .. "/lua/package/bytecode" } do
    if disk.has(path) then
      write(to .. "/bytecode", read(path))
      break
    end
  end
end

-- -- all ------------------------------------------------------------------------------------------

local function run(place, ...)
  local request = read_words(...)
  local function say(path) print("wrote " .. path) end
  if request.main then read(request.main) end
  if request.love then
    save_modules(request, request.love, say, false)
    write_library(place, request, request.love .. "/regolith/libregolith.so.1", say)
    copy_lua(place, request.love .. "/regolith")
    love.pack(request, read, write, say)
    return 0
  end
  make_folder(request.out)
  save_modules(request, request.main and request.out .. "/share/app" or request.out, say, true)
  if request.main then
    copy_app(request, say)
    copy_program(place, request, say)
    copy_lua(place, request.out .. "/share/lua/5.1/regolith")
  end
  return 0
end

--- Returns an exit code.
function build.run(place, ...)
  local ok, result = pcall(run, place, ...)
  if ok then return result end
  result = type(result) == "table" and result.message and result or fail.caught(result)
  io.stderr:write("regolith: ", type(result) == "table" and tostring(result.code and result
    or result.message) or tostring(result), "\n")
  if type(result) == "table" and not result.code and result.hint then
    io.stderr:write("hint: ", result.hint, "\n")
  end
  return 1
end

return build
