--- Regolith: sparse simulation from Lua. `local rg = require "regolith"`.
--- There is one module per Lua state, even if package.loaded is changed, because the C declarations
--- cannot be repeated. The module itself is main.lua. An installed module has a file `bytecode`
--- next to it: the modules as compiled at build time (package/bytecode.lua). Reading it is 3 ms
--- faster than parsing the sources, which are used if it does not match this LuaJIT or is damaged.
local has_ffi, why = pcall(require, "ffi")
if not has_ffi and jit and not tostring(why):find "^module 'ffi' not found" then
  -- A host may have replaced `require`, as games do for their mods.
  error(("regolith needs LuaJIT's ffi, and require 'ffi' fails: %s"):format(tostring(why)), 0)
elseif not has_ffi then
  error(("regolith needs LuaJIT with its ffi, but this is %s: run the script by luajit or regolith")
    :format(jit and jit.version .. " without it" or _VERSION), 0)
end
local registry = debug and debug.getregistry and debug.getregistry() or package.loaded
local key = "regolith.module"
if registry[key] then return registry[key] end

-- A length in bytecode (ULEB128): seven bits a byte, lowest first.
local function length_bytes(n)
  return n < 128 and string.char(n) or string.char(n % 128 + 128) .. length_bytes(
    (n - n % 128) / 128)
end

-- Makes `require` find the modules in the open file under the names that their sources have here;
-- returns their names.
local function preload(file, folder)
  local names, starts, at = {}, {}, 0
  for row in file:lines() do
    local name, first, count = row:match "^regolith%.(%S+) (%d+) (%d+)$"
    if not name then break end
    names[#names + 1], starts[name] = "regolith." .. name, tonumber(first)
    package.preload["regolith." .. name] = function(...)
      if at ~= starts[name] then file:seek("set", starts[name]) end
      local path, dump = folder .. name:gsub("%.", "/") .. ".lua", file:read(tonumber(count)) or ""
      at = starts[name] + #dump
      local chunk = loadstring(dump:sub(1, 5) .. length_bytes(#path + 1) .. "@" .. path .. dump:sub(
        6))
      return (chunk or assert(loadfile(path)))(...)
    end
  end
  return names
end

local folder = debug and debug.getinfo(1, "S").source:match "^@(.*[/\\])init%.lua$"
local file = folder and io and io.open(folder .. "bytecode", "rb")
local names = file and preload(file, folder) or {}
-- Loading runs code once and leaves little garbage, so neither LuaJIT's traces, some of which would
-- be started, nor a cycle of the collector would pay off.
local is_compiling, is_collecting = jit and jit.status(), collectgarbage "isrunning"
if is_compiling then jit.off() end
if is_collecting then collectgarbage "stop" end
local ok, regolith = pcall(require, "regolith.main")
if is_collecting then collectgarbage "restart" end
if is_compiling then jit.on() end
if not ok then error(regolith, 0) end
for _, name in ipairs(names) do package.preload[name] = nil end
if file then file:close() end

registry[key] = regolith
return regolith
