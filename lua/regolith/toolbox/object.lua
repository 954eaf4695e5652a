--- Objects of the toolbox, which kernels use like objects of the user: their metatable has
--- `__kernel`, a launch reads their members by path, and a kernel compiles the text of their
--- methods. In Lua, an unknown member is an error with a suggestion.
local fail = require "regolith.error"

local matrix = require "regolith.data.matrix"

local debug = debug

local object = {}

--- A vector argument of `count` components: v itself, or the vector of type t that is made from a
--- list of numbers. Returns nil for other values.
function object.vector(v, count, t)
  local of = matrix.type_of(v)
  if of and of.count == count then return v end
  if type(v) ~= "table" or getmetatable(v) or #v ~= count then return nil end
  for k = 1, count do
    if type(v[k]) ~= "number" then return nil end
  end
  return t(unpack(v))
end

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
    -- If the caller is a kernel's launcher, the core reports the name with its position.
    if method or not debug or fail.is_ours(debug.getinfo(2, "S").source) then return method end
    return fail.argument(("%s has no '%s'"):format(what, tostring(key)), fail.nearest(key, names))
  end
  return meta
end

return object
