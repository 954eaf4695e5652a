--- The options of LuaJIT itself, -j, -O and -b, as `luajit` reads them. Each function returns an
--- error message, or nothing.
local option = {}

local function words(text)
  local list = {}
  for word in text:gmatch "[^,]+" do list[#list + 1] = word end
  return unpack(list)
end

--- `-jon`, `-jdump=+rs,file`: a function of `jit`, else the module jit.* with a start function.
function option.control(text)
  local name, rest = text:match "^([^=]*)=?(.*)$"
  local f = jit[name]
  if type(f) == "function" then
    f(words(rest))
    return
  end
  local ok, module = pcall(require, "jit." .. name)
  if not ok or type(module) ~= "table" or not module.start then
    return "unknown luaJIT command or jit.* modules not installed"
  end
  module.start(words(rest))
end

--- `-O3`, `-Ohotloop=10`.
function option.optimize(text) require("jit.opt").start(words(text)) end

--- `-b in out`: jit.bcsave with the words that follow.
function option.bytecode(text, ...)
  local first = text ~= "" and "-" .. text or nil
  if first then require("jit.bcsave").start(first, ...) else require("jit.bcsave").start(...) end
end

return option
