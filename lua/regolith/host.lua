--- Identifies the program that this Lua state runs in, for those that Regolith treats differently.
--- Reads globals and loaded modules raw, because a host may forbid unknown globals.
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

-- Reads a file of a LÖVE game's folder or archive.
local function read_of_love(name)
  return package.loaded.love.filesystem.read(name)
end

--- Returns the function that reads scripts' sources if rg.init{ read = .. } is not given, or nil to
--- read files.
function host.get_reader()
  local love = package.loaded.love
  local files = type(love) == "table" and rawget(love, "filesystem")
  return type(files) == "table" and rawget(files, "read") and read_of_love or nil
end

--- Leaves `f`, by default the caller, and the functions inside it to LuaJIT's interpreter. LuaJIT
--- refuses this inside a finalizer, which may be the first to need a module; it is then skipped.
function host.interpret(f)
  f = f or debug and debug.getinfo(2, "f").func
  if jit and f then pcall(jit.off, f, true) end
end

return host
