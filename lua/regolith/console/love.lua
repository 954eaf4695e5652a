--- `regolith build --love GAME [-o GAME.love]`: puts what a game of LÖVE needs into its folder,
--- next to main.lua:
---
---     *.rgm               what its build.lua, or the given script, exports
---     regolith            Regolith's modules in Lua, for `require "regolith"`
---     regolith/libregolith.so.1      the library, without the compiler
---
--- and, with -o, the whole folder into an archive, which runs by itself: the library and modules
--- are unpacked into the game's save folder, once (regolith/host.lua).
local disk = require "regolith.file.disk"
local zip = require "regolith.file.zip"

local love = {}

local io = io

local left_out = { ["build.lua"] = true, ["regolith/bytecode"] = true }

--- Checks and completes the request; calls `stop(message, hint)` if it is invalid.
function love.check(request, stop)
  request.love = request.love:gsub("(.)/+$", "%1")
  if request.main or request.is_static then
    stop("--love cannot be combined with " .. (request.main and "--bundle" or "--static"))
  end
  if not disk.has(request.love .. "/main.lua") then
    stop(("there is no '%s/main.lua', which LÖVE starts"):format(request.love),
      "--love takes the folder of a game")
  end
  if not request.script then
    request.script = request.love .. "/build.lua"
    if not disk.has(request.script) then
      stop(("there is no '%s' to export the game's kernels"):format(request.script),
        ("or name the script: regolith build kernels.lua --love %s"):format(request.love))
    end
  end
  if request.out and not request.out:find "%.love$" then
    stop(("the name of a game's archive must end in .love, got '%s'"):format(request.out),
      "-o game.love")
  end
  request.archive = request.out
  request.out = request.love
end

-- The files of a game's folder by their names in it, sorted, without hidden ones and archives.
local function files_of(folder)
  local names = {}
  local pipe = io.popen(("cd %s && find . -name '.?*' -prune -o -type f -print"):format(
    disk.quote(folder)))
  for line in pipe:lines() do
    local name = line:gsub("^%./", "")
    if not left_out[name] and not name:find "%.love$" then names[#names + 1] = name end
  end
  pipe:close()
  table.sort(names)
  return names
end

--- Writes the archive, if one was requested, and prints how to start the game.
function love.pack(request, read, write, say)
  if not request.archive then
    print("love " .. request.love .. " starts it")
    return
  end
  local entries, parts = {}, {}
  for k, name in ipairs(files_of(request.love)) do
    entries[k] = { name, read(request.love .. "/" .. name) }
  end
  zip.put(function(bytes) parts[#parts + 1] = bytes end, entries, true, "a game's archive")
  write(request.archive, table.concat(parts))
  say(request.archive)
  print("love " .. request.archive .. " starts it")
end

return love
