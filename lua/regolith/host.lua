--- The program that this Lua state runs in, as far as Regolith treats some of them differently.
--- Looks at globals and loaded modules alone, raw: a host may forbid unknown globals.
local host = {}

local os, debug = os, debug

-- In a thread of LÖVE, `love` is there without its main program.
local function is_love_thread()
  return package.loaded.love ~= nil and package.loaded["love.boot"] == nil
end

--- Does the host lose an error that is no string? RG_ERRORS says; threads of LÖVE and nginx do.
function host.reads_text()
  local given = os and os.getenv and os.getenv "RG_ERRORS"
  if given == "text" or given == "object" then return given == "text" end
  return is_love_thread() or rawget(_G, "ngx") ~= nil
end

local function index(t, name) return t[name] end

--- The value of a name in an environment; nil where that refuses it, as one does that forbids
--- unknown names: then the core reports the name, with its place.
function host.find(environment, name)
  local v = rawget(environment, name)
  if not rawequal(v, nil) or getmetatable(environment) == nil then return v end
  local ok, found = pcall(index, environment, name)
  if ok then return found end
end

-- What LÖVE finds in a game's folder or archive.
local function read_of_love(name)
  return package.loaded.love.filesystem.read(name)
end

--- What finds the sources of scripts where rg.init{ read = .. } does not say; nil: files do.
function host.get_reader()
  local love = package.loaded.love
  local files = type(love) == "table" and rawget(love, "filesystem")
  return type(files) == "table" and rawget(files, "read") and read_of_love or nil
end

--- Leaves `f`, by default the caller, and the functions inside it to LuaJIT's interpreter; but not
--- inside a finalizer, where LuaJIT refuses that, and which may be the first to need a module.
function host.interpret(f)
  f = f or debug and debug.getinfo(2, "f").func
  if jit and f then pcall(jit.off, f, true) end
end

return host
