--- Objects of the toolbox, which kernels use as they use the user's: their metatable says
--- `__kernel`, their members are read by path at each launch, and a kernel compiles the text of
--- their methods. From Lua, a member that does not exist is an error with a suggestion.
local fail = require "regolith.error"

local debug = debug

local object = {}

--- A metatable for objects called `name` ("near") in hints and described as `what`.
---@param host table     methods for Lua: name -> function(self, ..)
---@param kernel table   methods for kernels and Lua, and iterators
function object.class(what, name, host, kernel)
  local meta = { __regolith = what, __kernel = true }
  fail.guard(host, function(self) return getmetatable(self) == meta end, name)
  local names = {}
  for _, list in ipairs { host, kernel } do
    for method in pairs(list) do names[#names + 1] = method end
  end
  function meta.__index(_, key)
    local method = host[key] or kernel[key]
    -- a launcher's: the core reports it with its position
    if method or not debug or fail.is_ours(debug.getinfo(2, "S").source) then return method end
    return fail.argument(("%s has no '%s'"):format(what, tostring(key)), fail.nearest(key, names))
  end
  return meta
end

return object
