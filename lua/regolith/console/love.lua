--- `regolith build --love GAME [-o GAME.love]`: puts what a game of LÖVE needs into its folder, by
--- main.lua:
---
---     *.rgm               what its build.lua, or the script that is named, exports
---     regolith            Regolith's modules in Lua, for `require "regolith"`
---     regolith/libregolith.so.1      the library, without the compiler
---
--- and the whole folder into an archive, which runs by itself: the library and modules are unpacked
--- into the game's save folder, once (regolith/host.lua).
local zip = require "regolith.file.zip"

local love = {}

local io = io

local left_out = { ["build.lua"] = true, ["regolith/bytecode"] = true }

local function is_there(path)
  local file = io.open(path, "rb")
  if file then file:close() end
  return file ~= nil
end

--- Completes what was asked for; `stop(message, hint)` where it cannot be done.
function love.check(asked, stop)
  asked.love = asked.love:gsub("(.)/+$", "%1")
  if asked.main or asked.is_static then
    stop(("--love makes another kind of program than %s"):format(asked.main and "--bundle"
      or "--static"))
  end
  if not is_there(asked.love .. "/main.lua") then
    stop(("there is no '%s/main.lua', with which LÖVE begins"):format(asked.love),
      "--love takes the folder of a game")
  end
  if not asked.script then
    asked.script = asked.love .. "/build.lua"
    if not is_there(asked.script) then
      stop(("there is no '%s', which would export the game's kernels"):format(asked.script),
        ("or name the script: regolith build kernels.lua --love %s"):format(asked.love))
    end
  end
  if asked.out and not asked.out:find "%.love$" then
    stop(("'%s' is no name of a game's archive"):format(asked.out), "-o game.love")
  end
  asked.archive = asked.out
  asked.out = asked.love
end

-- The files of a folder by their names in it, sorted; hidden ones and archives are no part of a
-- game.
local function files_of(folder)
  local names = {}
  local quoted = "'" .. folder:gsub("'", "'\\''") .. "'"
  local pipe = io.popen("cd " .. quoted .. " && find . -name '.?*' -prune -o -type f -print")
  for line in pipe:lines() do
    local name = line:gsub("^%./", "")
    if not left_out[name] and not name:find "%.love$" then names[#names + 1] = name end
  end
  pipe:close()
  table.sort(names)
  return names
end

--- Writes the archive, if one was asked for, and says how to start the game.
function love.pack(asked, read, write, say)
  if not asked.archive then
    print("love " .. asked.love .. " starts it")
    return
  end
  local entries, parts = {}, {}
  for k, name in ipairs(files_of(asked.love)) do
    entries[k] = { name, read(asked.love .. "/" .. name) }
  end
  zip.put(function(bytes) parts[#parts + 1] = bytes end, entries, true, "a game's archive")
  write(asked.archive, table.concat(parts))
  say(asked.archive)
  print("love " .. asked.archive .. " starts it")
end

return love
