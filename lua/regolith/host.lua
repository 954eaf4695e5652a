--- Identifies the program that this Lua state runs in, for those that Regolith treats differently.
--- Reads globals and loaded modules raw, because a host may forbid unknown globals.
local disk = require "regolith.file.disk"

local host = {}

local os, debug = os, debug

-- In a thread of LÖVE, `love` exists without its main program.
local function is_love_thread()
  return package.loaded.love ~= nil and package.loaded["love.boot"] == nil
end

--- Whether the host loses errors that are not strings: as RG_ERRORS says, else threads of LÖVE and
--- nginx do.
function host.reads_text()
  local given = os and os.getenv and os.getenv "RG_ERRORS"
  if given == "text" or given == "object" then return given == "text" end
  return is_love_thread() or rawget(_G, "ngx") ~= nil
end

local function index(t, name) return t[name] end

--- Returns the value of a name in an environment, or nil where the environment raises, as one that
--- forbids unknown names does. The core then reports the name with its position.
function host.find(environment, name)
  local v = rawget(environment, name)
  if not rawequal(v, nil) or getmetatable(environment) == nil then return v end
  local ok, found = pcall(index, environment, name)
  if ok then return found end
end

-- LÖVE's files, those of a game's folder or archive; nil in other hosts.
local function files_of_love()
  local love = package.loaded.love
  local files = type(love) == "table" and rawget(love, "filesystem")
  return type(files) == "table" and rawget(files, "read") and files or nil
end

-- Reads a file of a LÖVE game's folder or archive.
local function read_of_love(name)
  return package.loaded.love.filesystem.read(name)
end

--- Returns the function that reads scripts' sources if rg.init{ read = .. } is not given, or nil to
--- read files.
function host.get_reader() return files_of_love() and read_of_love end

-- A hash of the contents (FNV-1a).
local function hash_of(bytes)
  local hash = 0x811c9dc5
  for k = 1, #bytes do
    hash = bit.bxor(hash, bytes:byte(k))
    hash = bit.tobit(hash + bit.lshift(hash, 1) + bit.lshift(hash, 4) + bit.lshift(hash, 7)
      + bit.lshift(hash, 8) + bit.lshift(hash, 24))
  end
  return bit.tohex(hash)
end


--- The path by which C can open a file of a LÖVE game. A file in the game's archive is unpacked
--- into the save folder first, once for each content. nil in other hosts, and for files that the
--- game does not have.
function host.unpack(name)
  local files = files_of_love()
  if not files or not files.getInfo or not files.getInfo(name, "file") then return nil end
  local own = files.getRealDirectory(name) .. "/" .. name
  if disk.has(own) then return own end
  local bytes = files.read(name)
  local copy = ("regolith/%s-%s"):format(hash_of(bytes), name:match "[^/]*$")
  if not files.getInfo(copy, "file") then
    files.createDirectory "regolith"
    local ok, why = files.write(copy, bytes)
    if not ok then error(("'%s' cannot be unpacked: %s"):format(name, tostring(why)), 0) end
  end
  return files.getSaveDirectory() .. "/" .. copy
end

--- Leaves `f`, by default the caller, and the functions inside it to LuaJIT's interpreter. LuaJIT
--- refuses this inside a finalizer, which may be the first to need a module; it is then skipped.
function host.interpret(f)
  f = f or debug and debug.getinfo(2, "f").func
  if jit and f then pcall(jit.off, f, true) end
end

return host
